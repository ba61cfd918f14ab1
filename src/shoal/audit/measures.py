# SPDX-License-Identifier: Apache-2.0
"""What the groups of a table reach, in every measure of anonymity that people ask for.

`shoal.privacy` knows most of them as requirements; here each is the strictest that would still hold for all groups.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.audit.finding import Finding
from shoal.audit.groups import Groups, Ids
from shoal.data.table import Column
from shoal.privacy import Closeness, Confidence, DistinctDiversity, EntropyDiversity, RecursiveDiversity

AT_ONCE = 2**21  # cells of a table of counts in memory at a time


@dataclass(frozen=True)
class Measures:
    """What every group keeps, of one sensitive column.

    Attributes
    ----------
    column
        The sensitive column.
    k
        People in the smallest group.
    alpha
        The largest share of one value in a group: (α, k)-anonymity.
    distinct_l
        The fewest different values in a group.
    entropy_l
        The least 2 to the entropy of a group's values: entropy ℓ-diversity.
    recursive_c
        Recursive (c, ℓ)-diversity, with ℓ as `distinct_l`, holds for every c above it; None where ℓ is 1, when it
        holds for none.
    basic_beta
        The most by which a value's share in a group exceeds its share p in the table, in parts of p.
    enhanced_beta
        The largest of the bounds min(β, −ln p) on that excess, with β as `basic_beta`.
    keeps_enhanced
        Whether no group exceeds −ln p for any value, which enhanced β-likeness asks for whatever β is.
    delta
        The largest abs(ln(q / p)) of a value with share q in a group, over the values that the group has.
    lacking
        Groups without some value of the table: by the letter of δ-disclosure, which takes the logarithm of their 0
        too, no δ is enough for them.
    t
        The largest distance of a group from the whole table: t-closeness.
    distance
        ``"ordered"`` for numbers, ``"equal"`` for categories.
    certain
        People whose value is certain, as all of their group have it (homogeneity).

    References
    ----------
    R. Wong et al., "(α, k)-anonymity", KDD 2006, doi:10.1145/1150402.1150499.

    J. Brickell and V. Shmatikov, "The cost of privacy", KDD 2008, doi:10.1145/1401890.1401904 (δ).

    J. Cao and P. Karras, "Publishing microdata with a robust privacy guarantee", PVLDB 5(11), 2012,
    doi:10.14778/2350229.2350255 (β).
    """

    column: str
    k: int
    alpha: float
    distinct_l: int
    entropy_l: float
    recursive_c: float | None
    basic_beta: float
    enhanced_beta: float
    keeps_enhanced: bool
    delta: float
    lacking: int
    t: float
    distance: str
    certain: int

    def __str__(self) -> str:
        sure = f"certain for {self.certain:,} people" if self.certain else "certain for nobody"
        c = "" if self.recursive_c is None else f", c above {self.recursive_c:.4g}"
        return (
            f"{self.column}: {sure}; l {self.distinct_l} (entropy {self.entropy_l:.4g}{c}), alpha {self.alpha:.4g}, "
            f"t {self.t:.4g}, beta {self.basic_beta:.4g} (enhanced {self.enhanced_beta:.4g}), delta {self.delta:.4g}"
        )

    def to_json(self) -> dict[str, Any]:
        """The measures as plain JSON."""
        return asdict(self)


def measure(groups: Groups, column: Column) -> Measures:
    """Everything that can be said of one sensitive column and some groups. A missing value counts as a value.

    >>> from shoal.data.frames import to_table
    >>> groups = Groups(np.array([0, 0, 1, 1]), np.array([2, 2]), np.array([2, 2]), np.array([0, 2]))
    >>> print(measure(groups, to_table({"ill": ["flu", "cold", "flu", "flu"]})["ill"]))
    ill: certain for 2 people; l 1 (entropy 1), alpha 1, t 0.25, beta 1 (enhanced 1), delta 0.6931
    """
    column = column.compact()
    distance: Any = "ordered" if column.kind == "numeric" else "equal"
    total = np.sum([counts.sum(axis=0) for counts in _counts(groups, column)], axis=0)
    closeness = Closeness(0.5, distance)
    found = [_of_some(counts, total, closeness) for counts in _counts(groups, column)]
    distinct = min(int(part["distinct"]) for part in found)
    recursive = None
    if distinct > 1:
        strictest = RecursiveDiversity(1, distinct)
        recursive = max(float(strictest.measure(counts).max()) for counts in _counts(groups, column))
    excess = np.max([part["excess"] for part in found], axis=0)
    beta = float(excess.max())
    bound = -np.log(total[total > 0] / total.sum())
    return Measures(
        column=column.name,
        k=int(groups.people.min()),
        alpha=max(float(part["alpha"]) for part in found),
        distinct_l=distinct,
        entropy_l=min(float(part["entropy"]) for part in found),
        recursive_c=recursive,
        basic_beta=beta,
        enhanced_beta=float(np.minimum(beta, bound).max()),
        keeps_enhanced=bool((excess <= bound).all()),
        delta=max(float(part["delta"]) for part in found),
        lacking=sum(int(part["lacking"]) for part in found),
        t=max(float(part["t"]) for part in found),
        distance=distance,
        certain=groups.people_in(np.concatenate([part["pure"] for part in found])),
    )


def certain_values(measured: Sequence[Measures], n_people: int) -> list[Finding]:
    """A warning for each sensitive column that is certain for somebody."""
    return [
        Finding(
            "value-certain",
            "warning",
            f"{each.certain:,} of {n_people:,} people are in a group that is all of one {each.column!r}: their value "
            "is certain, and group sizes do not stop that. A requirement such as DistinctDiversity(2) would.",
            each.certain,
        )
        for each in measured
        if each.certain
    ]


def _of_some(counts: Ids, total: Ids, closeness: Closeness) -> dict[str, Any]:
    """What some of the groups reach."""
    people = counts.sum(axis=1)
    distinct = DistinctDiversity(2).measure(counts)
    had = np.flatnonzero(total)  # somebody with several rows counts with one value, which may leave another to nobody
    # how many times as frequent as in the table
    times = counts[:, had] / people[:, None] * (total.sum() / total[had])
    most, least = times.max(axis=0), np.where(times > 0, times, math.inf).min(axis=0)
    return {
        "pure": counts.max(axis=1) == people,
        "alpha": Confidence(0.5).measure(counts).max(),
        "distinct": distinct.min(),
        "entropy": EntropyDiversity(2).measure(counts).min(),
        "excess": most - 1,
        "delta": max(np.log(most.max()), -np.log(least.min())),
        "lacking": (distinct < len(had)).sum(),
        "t": closeness.measure(counts, total).max(),
    }


def _counts(groups: Groups, column: Column) -> Iterator[Ids]:
    """How many people of each group have each value, some groups at a time."""
    step = max(1, AT_ONCE // column.n_codes)
    if step >= len(groups):
        yield groups.by_value(column)
        return
    order = np.argsort(groups.of_row, kind="stable")
    starts = np.arange(0, len(groups), step)
    for start, rows in zip(starts, np.split(order, np.searchsorted(groups.of_row[order], starts[1:])), strict=True):
        some = slice(start, start + step)
        part = Groups(
            groups.of_row[rows] - start,
            groups.people[some],
            groups.n_bins[some],
            groups.example[some],
            None if groups.person is None else groups.person[rows],
        )
        yield part.by_value(column.take(rows))
