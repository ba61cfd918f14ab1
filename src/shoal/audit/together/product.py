# SPDX-License-Identifier: Apache-2.0
"""The product of several releases: people are told apart by what all of them say.

Where a bin of each is a set of public values times a set of private ones, which tuples of bins a person can reach
follows from which bins of each he can reach. So people are grouped by the vector of their spans, and no tuple is made.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shoal.audit.groups import Ids, Spans, numbered
from shoal.audit.subject import Subject
from shoal.audit.together.released import Released
from shoal.data.table import Table
from shoal.release import Attribute

Rows = NDArray[np.bool_]


def _same_values(first: Attribute, second: Attribute) -> bool:
    """Whether two releases state the same values of a column."""
    one, other = ((set(each.values), each.bounds, each.integer, each.missing) for each in (first, second))
    return one == other


def _in_it(subject: Subject, table: Table, public: Collection[str], rows: Rows | None) -> Rows | None:
    """The rows that a subject may tell of, of those that it was learned from."""
    told = subject.in_it(table, public) if isinstance(subject, Released) else None
    return rows if told is None else told if rows is None else told & rows


class Product:
    """Several subjects of one table, of which any may be taken together.

    Parameters
    ----------
    subjects
        What was released.
    table
        The people.
    public
        The columns an attacker knows.
    present
        For each subject the rows that it was learned from; None for all. Whoever is not among them is known not to be.
    """

    def __init__(
        self, subjects: Sequence[Subject], table: Table, public: Collection[str], present: Sequence[Rows | None]
    ) -> None:
        self.subjects, self.table, self.public = subjects, table, public
        self.present = [_in_it(subject, table, public, rows) for subject, rows in zip(subjects, present, strict=True)]
        found = [self._span(subject, rows) for subject, rows in zip(subjects, self.present, strict=True)]
        self._key = [key for key, _ in found]
        self._single = [single for _, single in found]

    @property
    def telling(self) -> list[int]:
        """The places of the subjects that tell something private: not every span is a single bin."""
        return [i for i, single in enumerate(self._single) if not single.all()]

    def spans(self, which: Sequence[int]) -> Spans:
        """The joint spans of some of the subjects: equal numbers, equal spans; targets are part of them."""
        keys = [self._cells(i) if self._mixes(i, which) else self._key[i] for i in which]
        single = np.all([self._single[i] for i in which], axis=0)
        return Spans.numbered(numbered(keys, self.table.n_rows), single, disjoint=False)

    def exact(self, which: Sequence[int]) -> bool:
        """Whether these are the spans of the definition, and not a finer grouping of people."""
        subjects = [self.subjects[i] for i in which]
        same = all(
            _same_values(first.domain[name], second.domain[name])
            for first, second in combinations(subjects, 2)
            for name in first.domain
            if name in second.domain and name not in self.public
        )
        return same and all(each.exact for each in subjects) and not any(self._mixes(i, which) for i in which)

    def _span(self, subject: Subject, rows: Rows | None) -> tuple[Ids, Rows]:
        """A number for each row's span, the target included, and whether it is a single bin."""
        n_rows = self.table.n_rows
        table = self.table if rows is None else self.table.take(rows)
        key, single = np.zeros(n_rows, dtype=np.int64), np.ones(n_rows, dtype=bool)
        if not table.n_rows:
            return key, single
        spans = subject.spans(table, self.public)
        alone = (spans.n_bins[spans.of_row] == 1) & subject.one_target
        own = [spans.of_row]
        if subject.target is not None and subject.target in self.public:
            own.append(table[subject.target].codes)
        elif subject.target is not None:
            alone = alone & (self._n_classes(subject) == 1)
        here = slice(None) if rows is None else rows
        key[here], single[here] = 1 + numbered(own, table.n_rows), alone  # 0 is: not in it, and known not to be
        return key, single

    def _n_classes(self, subject: Subject) -> int:
        assert subject.target is not None
        if isinstance(subject, Released) and not subject.numeric_target:
            return len(subject.release.attribute(subject.target).values)
        # no span counts as single while it is private: nobody knows it beforehand, though everybody may have the same
        return 2

    def _cells(self, i: int) -> Ids:
        """People who are alike in every public column that a subject looks at, and in the target if it is public."""
        names = [*self.subjects[i].domain, self.subjects[i].target]
        codes = [self.table[name].codes for name in names if name is not None and name in self.public]
        return numbered([self._key[i], *codes], self.table.n_rows)

    def _mixes(self, i: int, which: Sequence[int]) -> bool:
        """Whether a subject's spans do not tell which private values lead where, and another asks for those too."""
        subject = self.subjects[i]
        if subject.separable:
            return False
        own = set(subject.domain) - set(self.public)
        return any({*self.subjects[j].domain, self.subjects[j].target} & own for j in which if j != i)
