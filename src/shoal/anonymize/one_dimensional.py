# SPDX-License-Identifier: Apache-2.0
"""One-Dimensional: public columns as one line, cut where it costs least (Ghinita et al. 2007)."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from shoal.anonymize.line import Ids, Line, line_of, mixed, mixed_line, windows
from shoal.anonymize.method import Recoding, RecodingAnonymizer
from shoal.anonymize.ranges import cells_of_groups
from shoal.anonymize.task import Task
from shoal.data.domain import Domain
from shoal.errors import RequirementError
from shoal.privacy import (
    Confidence,
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
    Requirement,
    SimpleDiversity,
    needs_values,
    parts_of,
)
from shoal.release.numbers import Numbers

# what is asked of values that the least mixed group keeps if no value has more than some share of it
OF_SHARES = (Confidence, DistinctDiversity, EntropyDiversity, RecursiveDiversity, SimpleDiversity)
SIZES = 64  # of such groups that are looked at


class OneDimensional(RecodingAnonymizer):
    """Put people with like public values next to each other on one line, and cut it into groups at the least loss.

    A local recoding: two people with the same values may be published differently, groups overlap, and what becomes of
    a value depends on the other rows. So it keeps more than methods that recode each value in one way, and cannot be
    applied to new rows.

    Parameters
    ----------
    privacy
        What every group must satisfy: a requirement such as ``KAnonymity(50)``, or a whole number k. One of several
        requirements at once is fine, too; one of the user's own must be `monotone`.
    order
        ``"hilbert"``: the order of a Hilbert curve through the ranks of the public values. ``"idistance"``: people by
        their nearest reference point, from there outwards.
    public
        The columns an attacker may know; None: every column but the target.
    sensitive
        Private columns besides the target that requirements about values are asked of.
    domain
        The values or bounds of columns that are known beforehand, by column.
    person
        The column that tells people apart. People may have one row each only: groups overlap, so nobody could check
        how many people with several rows are in one.
    hierarchies
        A folder, or a dict from column to path, nested dict or `Hierarchy`. They are optional: without one a cell is an
        interval, or a set of values.
    numbers
        How `fit_transform` writes generalised numbers: ``"intervals"`` (texts), ``"ends"`` (two columns) or
        ``"midpoints"``.
    reproducible
        Sort the published rows by what is published of them. By default their order is drawn from the operating system.

    Attributes
    ----------
    release_ : TableRelease
        All that may leave the house, with the audit's verdict.
    n_features_in_ : int
        How many columns it was given.
    feature_names_in_ : ndarray
        Their names, where they had any.

    Notes
    -----
    *Order.* A value's place in its column is its rank; categories are in the order of their hierarchy, or, where there
    is none, of how often the target's first class goes with them. Columns are stretched to the same length.

    *k-anonymity.* The cheapest cut of the line into groups of k to 2k - 1 people, found by dynamic programming; a
    larger group could always be cut in two at no cost. What it minimises is the loss metric: the share of its column
    that each published cell leaves open, over all cells.

    *Requirements about private values.* Three ways are tried, and the groups that lose least are taken. (1) Pieces of
    the line: from each place on longer and longer ones are tried until one keeps the requirement, up to twice as many
    people, and the cheapest that make up the line are found by the same dynamic programming. (2) The same on a line on
    which everybody stands where he stands among those of his own private value, so that neighbours are mixed. (3) For
    l-diversity and confidence limits of one private column the heuristic of Ghinita et al.: a group takes the next
    people of the line, of each value no more than it may have, and first of all so many of a frequent value that the
    rest can be grouped as well: that is so when no value has more than its share of the rest (the eligibility
    condition). A table that breaks this condition as a whole is refused before anything is done.

    Differs from Ghinita et al.: there a group that cannot be made in the order of the line takes one person of each of
    the most frequent values, and here only as many of them as it must; shares other than one in l, group sizes, and
    ways 1 and 2 for requirements that the paper does not have. The reference points of ``"idistance"`` are rows at
    equal steps along the Hilbert curve. Cells are generalised to a hierarchy's nodes; intervals end at round numbers
    between two values of the column.

    References
    ----------
    G. Ghinita, P. Karras, P. Kalnis, N. Mamoulis, "Fast data anonymization with low information loss", VLDB
    2007, 758-769 (no DOI).

    J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707 (2004), 381-387,
    doi:10.1063/1.1751381.

    H. V. Jagadish, B. C. Ooi, K.-L. Tan, C. Yu, R. Zhang, "iDistance: an adaptive B+-tree based indexing method
    for nearest neighbor search", ACM Transactions on Database Systems 30 (2005), 364-397,
    doi:10.1145/1071610.1071612.

    Examples
    --------
    >>> from shoal import load_sample
    >>> from shoal.anonymize import OneDimensional
    >>> people = load_sample().to_arrow().select(["age", "sex", "education", "diabetes"])
    >>> method = OneDimensional(privacy=50)
    >>> method.fit_transform(people, "diabetes").column_names
    ['age', 'sex', 'education', 'diabetes']
    >>> method.release_.verdict.smallest_group >= 50
    True
    """

    def __init__(
        self,
        privacy: Requirement | int = 10,
        *,
        order: Literal["hilbert", "idistance"] = "hilbert",
        public: Sequence[str] | None = None,
        sensitive: Sequence[str] = (),
        domain: Domain | None = None,
        person: str | None = None,
        hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        numbers: Numbers = "intervals",
        reproducible: bool = False,
    ) -> None:
        self.privacy = privacy
        self.order = order
        self.public = public
        self.sensitive = sensitive
        self.domain = domain
        self.person = person
        self.hierarchies = hierarchies
        self.numbers = numbers
        self.reproducible = reproducible

    def _recode(self, task: Task) -> Recoding:
        if self.order not in ("hilbert", "idistance"):
            raise RequirementError(
                "parameter", f"OneDimensional: order must be 'hilbert' or 'idistance'; got {self.order!r}."
            )
        check_local(type(self).__name__, task)
        if not task.public:
            return Recoding({})
        group, n_groups = _groups(task, line_of(task, self.order))
        return Recoding(cells_of_groups(task, group, n_groups))


def check_local(method: str, task: Task) -> None:
    """Refuse what a method with overlapping groups cannot serve."""
    if not task.requirement.monotone:
        raise RequirementError(
            "not-monotone",
            f"{method} cannot serve this requirement, because two of its groups that are published alike are one, and "
            "two groups that keep it may be one that does not. Use one that is monotone.",
        )
    if task.whose is not None:
        raise RequirementError(
            "overlapping-groups",
            f"{method} publishes groups that overlap, so nobody could check how many different people are in one where "
            "people have several rows. Use TreeAnonymizer or another method, or one row a person.",
        )


def _groups(task: Task, line: Line) -> tuple[Ids, int]:
    """The group of each row, and how many there are."""
    if task.sizes_decide:
        k = max(task.least, 1)
        return line.cut(np.arange(k, 2 * k))[:2]
    found = [each.cut(*windows(task, each)) for each in (line, mixed_line(task, line))]
    for size, most in _shares(task):
        joined, lengths, offsets = mixed(task, line, size, most)
        found.append(joined.cut(lengths, offsets))
    return min(found, key=lambda each: each[2])[:2]


def _shares(task: Task) -> Iterator[tuple[int, int]]:
    """Sizes of groups, and how many people of one value they may have so that any such group keeps the promise.

    Only sizes that allow a larger share than all smaller ones do, and a share that no value of the table exceeds: the
    paper's eligibility condition.
    """
    asked = [part for part in parts_of(task.requirement) if needs_values(part)]
    if len(task.sensitive) > 1 or not all(isinstance(part, OF_SHARES) for part in asked):
        return
    most_frequent = int(task.totals[task.sensitive[0]].max())
    best = (1, 0)  # size, most
    for size in range(task.least, min(task.least + SIZES, task.n_rows + 1)):
        most = bisect_left(range(1, size), True, key=lambda most: not _any_keeps(task.requirement, size, most))
        if most * best[0] > best[1] * size and size * most_frequent <= most * task.n_rows:
            yield size, most
        if most * best[0] > best[1] * size:
            best = (size, most)


def _any_keeps(requirement: Requirement, size: int, most: int) -> bool:
    """Whether every group of a size keeps a requirement if no value has more than `most` people of it.

    The worst such group has as few values as can be, all but one of them `most` times: it is the least mixed.
    """
    worst = np.full((1, -(-size // most)), most, dtype=np.int64)
    worst[0, -1] = size - most * (worst.shape[1] - 1)
    return bool(requirement.holds(worst)[0])
