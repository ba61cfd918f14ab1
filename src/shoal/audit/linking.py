# SPDX-License-Identifier: Apache-2.0
"""The linking attack on any model: whom its spans put together, and what the rows of such a group have in common.

A released tree states counts, and `attack` works out what follows from them. Other models state less, or state it in
ways of their own, so here the attacker is given more: he knows the histogram of every group. What he is certain of, and
his highest confidence, are therefore upper bounds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.foreign import read_model
from shoal.audit.groups import Ids
from shoal.audit.subject import Subject, known_columns
from shoal.audit.together.released import Released
from shoal.audit.together.rows_read import read_rows
from shoal.audit.together.subjects import as_subject
from shoal.data.frames import Backend, from_columns, to_table
from shoal.data.stack import stack
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical
from shoal.errors import DataError
from shoal.release import EnsembleRelease, ModelRelease, ProjectionsRelease, TableRelease, TreeRelease


@dataclass(frozen=True, eq=False)
class Belief:
    """What the attacker believes of one private column.

    Attributes
    ----------
    column
        Its name.
    values
        Its values.
    shares
        For each group and value the share of the rows behind the model; NaN for a group that none of them is in.
    """

    column: str
    values: NDArray[Any]
    shares: NDArray[np.float64]

    @property
    def confidence(self) -> NDArray[np.float64]:
        """For each group the share of its most frequent value; NaN where nobody is."""
        return np.asarray(self.shares.max(axis=1))


@dataclass(frozen=True, eq=False)
class Link:
    """The people of a public table, linked to the groups of a model.

    Attributes
    ----------
    what
        What was attacked.
    group_of_person
        Each person's group.
    group_sizes
        How many people of the public table are in each group.
    rows
        How many of the rows behind the model are in each group.
    beliefs
        What the attacker believes of the target, where it is private, and of the columns named as sensitive.
    """

    what: str
    group_of_person: Ids
    group_sizes: Ids
    rows: Ids
    beliefs: tuple[Belief, ...]

    def __repr__(self) -> str:
        return f"<Link: {len(self.group_of_person)} people in {len(self.group_sizes)} groups>"

    def __str__(self) -> str:
        n, sizes = len(self.group_of_person), self.group_sizes
        lines = [
            f"{n:,} people linked to {len(sizes):,} group(s) of {self.what}; smallest {int(sizes.min()):,}, "
            f"{int(sizes[sizes == 1].sum()):,} people alone"
        ]
        nowhere = int(sizes[self.rows == 0].sum())
        if nowhere:
            lines.append(f"{nowhere:,} people are in a group that no row behind the model is in")
        for belief in self.beliefs:
            for level, words in ((1.0, "certain for"), (0.95, "at least 95% for"), (0.9, "at least 90% for")):
                people = int(sizes[belief.confidence >= level].sum())
                lines.append(f"{belief.column}: {words} {people:,} people ({people / n:.1%})")
        lines.append("for an attacker who knows the histogram of every group: an upper bound")
        return "\n".join(lines)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """One row a person, in the order of the public table: group, its size, and what is believed."""
        columns: dict[str, Any] = {
            "group": self.group_of_person,
            "group_size": self.group_sizes[self.group_of_person],
        }
        for belief in self.beliefs:
            guess = belief.values[np.nan_to_num(belief.shares, nan=-1.0).argmax(axis=1)]
            columns[f"{belief.column}: guess"] = guess[self.group_of_person].tolist()
            columns[f"{belief.column}: confidence"] = belief.confidence[self.group_of_person]
        return from_columns(columns, backend)

    def to_json(self) -> dict[str, Any]:
        """The attack in numbers."""
        sizes = self.group_sizes
        return {
            "what": self.what,
            "people": len(self.group_of_person),
            "groups": len(sizes),
            "smallest_group": int(sizes.min()),
            "alone": int((sizes == 1).sum()),
            "beliefs": {
                belief.column: {
                    "certain": int(sizes[belief.confidence >= 1].sum()),
                    "highest_confidence": float(np.nanmax(belief.confidence)),
                }
                for belief in self.beliefs
            },
        }


def link(
    model: Any,
    public_table: Any,
    X: Any,
    y: Any = None,
    *,
    public: Collection[str] | None = None,
    domain: Mapping[str, Sequence[Any]] | None = None,
    sensitive: Sequence[str] = (),
) -> Link:
    """Link the people of a public table to the groups of any model, as an attacker would.

    Parameters
    ----------
    model
        Anything that `audit` takes but tables of others. Of the release of one tree `attack` knows more.
    public_table
        One row a person, with the public columns that the model looks at; other columns are not.
    X, y
        The rows behind the model and their target, as for `audit`.
    public, domain, sensitive
        As for `audit`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = np.arange(40).reshape(-1, 1), np.arange(40) >= 10
    >>> model = DecisionTreeClassifier().fit(X, y)
    >>> print(link(model, X[8:12], X, y))
    4 people linked to 2 group(s) of a decision tree of 2 leaves; smallest 2, 0 people alone
    target: certain for 4 people (100.0%)
    target: at least 95% for 4 people (100.0%)
    target: at least 90% for 4 people (100.0%)
    for an attacker who knows the histogram of every group: an upper bound
    """
    subject, table = _read(model, X, y, domain, sensitive)
    if public is None and isinstance(subject, Released):
        public = [name for name, role in subject.roles.items() if role == "public"]
    known = known_columns(subject, table, public, sensitive, None)
    asked = [name for name in subject.domain if name in known]
    if subject.target is not None and subject.target in known:
        asked.append(subject.target)
    people = to_table(public_table, kinds={name: table[name].kind for name in asked}, only=asked)
    absent = [name for name in asked if name not in people]
    if absent:
        raise DataError("no-column", f"The public table lacks column(s) {', '.join(map(repr, absent))}.")
    n = table.n_rows
    # private columns are not looked at for spans, so the people below may have anybody's
    filled = Table(
        [people[name] if name in asked else table[name].take(np.zeros(people.n_rows, dtype=np.int64)) for name in table]
    )
    both = stack(table, filled, table.names)
    spans = subject.spans(both, known)
    group = spans.of_row
    if subject.target in known:
        column = both[str(subject.target)]
        group = group * column.n_codes + column.codes
    present, of_person = np.unique(group[n:], return_inverse=True)
    place = np.minimum(np.searchsorted(present, group[:n]), len(present) - 1)
    inside = np.flatnonzero(present[place] == group[:n])
    columns = [table[name] for name in sensitive]
    if subject.target is not None and subject.target not in known and not subject.numeric_target:
        columns.insert(0, as_categorical(table[subject.target]))
    return Link(
        what=subject.what,
        group_of_person=of_person.reshape(-1),
        group_sizes=np.bincount(of_person.reshape(-1)),
        rows=np.bincount(place[inside], minlength=len(present)),
        beliefs=tuple(_belief(column, place[inside], inside, len(present)) for column in columns),
    )


def _read(
    model: Any, X: Any, y: Any, domain: Mapping[str, Sequence[Any]] | None, sensitive: Sequence[str]
) -> tuple[Subject, Table]:
    """What is attacked, and the rows behind it."""
    release = getattr(model, "release_", model)
    if not isinstance(release, EnsembleRelease | ModelRelease | ProjectionsRelease | TableRelease | TreeRelease):
        return read_model(model, X, y, domain=domain, also=sensitive)
    if domain is not None:
        raise DataError("stated-already", "A release states its own domain: leave out domain=.")
    return as_subject(release), read_rows([release], X, y)


def _belief(column: Column, group: Ids, rows: Ids, n_groups: int) -> Belief:
    n = column.n_codes
    counts = np.bincount(group * n + column.codes[rows], minlength=n_groups * n).reshape(n_groups, n)
    people = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, people, out=np.full(counts.shape, np.nan), where=people > 0)
    values = np.array(list(column.values) + ["(missing)"] * column.missing, dtype=object)
    return Belief(column.name, values, shares)
