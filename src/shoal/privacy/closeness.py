# SPDX-License-Identifier: Apache-2.0
"""t-closeness: every group's values are distributed nearly as the whole table's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import RequirementError, closest
from shoal.privacy._counts import check_counts, check_total, ratio, safe_type, sizes, top
from shoal.privacy._parameters import fraction, plain, real, shown
from shoal.privacy.base import RequirementBase

Distance = Literal["equal", "ordered", "hierarchical"]
Levels = tuple[tuple[int, ...], ...]

# A claim may come from a stranger's file; real hierarchies are far smaller.
_MOST_LEVELS = 32
_MOST_VALUES = 10_000


@dataclass(frozen=True)
class Closeness(RequirementBase):
    """The earth mover's distance from every group's distribution to the whole table's is at most `t`.

    Parameters
    ----------
    t
        The largest distance, from 0 to 1.
    distance
        How far apart two of the m values are:

        ``"equal"``
            1 for any two, so the distance is the total variation ½ Σ abs(p_i - q_i).
        ``"ordered"``
            abs(i - j) / (m - 1), in the order of the columns of the counts: for numbers and grades.
        ``"hierarchical"``
            the height of their lowest common ancestor over the height of the root.
    hierarchy
        For ``"hierarchical"`` only: for each level, finest first, root left out, the group that each value
        belongs to, as an integer. Groups of one level may only be joined, never divided, by the next.

    Notes
    -----
    With group counts g_i of n people and table counts T_i of N, each distance is a whole number over (n · N ·
    a constant), so it is compared with t, as the decimal number that was typed, in integers.

    The hierarchical distance of Li et al. sums, over the inner nodes of the tree, height/H · min(surplus,
    deficit) among the node's children. As min(surplus, deficit) is half of (Σ over children of abs(extra)
    less the node's own abs(extra)), the sum telescopes to the mean, over the H levels below the root, of the
    total variation between the two distributions seen at that level.

    Every column counts as a value, whether or not anybody has it: m matters to ``"ordered"``.

    Monotone, as long as the table stays the same: each distance is a norm of the difference, hence convex,
    and a merged group's distribution is a mixture of its two parts'.

    References
    ----------
    N. Li, T. Li and S. Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity", ICDE
    2007, doi:10.1109/ICDE.2007.367856.

    Examples
    --------
    Nine salaries, 3000 to 11000, one person each. The poorest three give more away than a mixed three do:

    >>> table = [1, 1, 1, 1, 1, 1, 1, 1, 1]
    >>> groups = [[1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0, 1]]
    >>> Closeness(0.2, "ordered").measure(groups, table).round(3)
    array([0.375, 0.167])
    >>> Closeness(0.2, "ordered").holds(groups, table)
    array([False,  True])
    """

    t: float
    distance: Distance = "equal"
    hierarchy: Levels | None = None
    name: ClassVar[str] = "t-closeness"

    def __post_init__(self) -> None:
        needed = "a number from 0 to 1"
        object.__setattr__(self, "t", real("Closeness", "t", self.t, needed, least=0, most=1))
        known = get_args(Distance)
        if not isinstance(self.distance, str) or self.distance not in known:
            # Only a short name is compared: the search takes time that grows with the square of its length.
            near = isinstance(self.distance, str) and len(self.distance) <= 40
            raise RequirementError(
                "parameter",
                "Closeness: distance must be 'equal', 'ordered' or 'hierarchical'; "
                f"got {shown(self.distance)}.{closest(self.distance, known) if near else ''}",
            )
        if self.distance == "hierarchical":
            object.__setattr__(self, "hierarchy", _check_levels(self.hierarchy))
        elif self.hierarchy is not None:
            raise RequirementError(
                "parameter",
                f"Closeness: the {self.distance} distance has no use for a hierarchy. Try distance='hierarchical'.",
            )

    def holds(self, counts: ArrayLike, total: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Whether each group is within t of the table."""
        p, q = fraction(self.t).as_integer_ratio()
        work, most = self._work(counts, total, q)
        return np.asarray(work * q <= most * p, dtype=np.bool_)

    def measure(self, counts: ArrayLike, total: ArrayLike | None = None) -> NDArray[np.float64]:
        """The distance of each group from the table."""
        return ratio(*self._work(counts, total, 1))

    def describe(self) -> str:
        """The requirement as a fragment of a plain English sentence."""
        return f"every group's values are within {plain(self.t)} of the whole table's ({self.distance} distance)"

    def to_claim(self) -> dict[str, Any]:
        """The requirement as a release states it."""
        claim: dict[str, Any] = {"requirement": self.name, "t": self.t, "distance": self.distance}
        if self.hierarchy is not None:
            claim["hierarchy"] = [list(level) for level in self.hierarchy]
        return claim

    def _work(self, counts: ArrayLike, total: ArrayLike | None, factor: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """The distance as two integers, over and under the line, both with room for a `factor`."""
        counts = check_counts(counts)
        m = counts.shape[1]
        if self.hierarchy is not None and len(self.hierarchy[0]) != m:
            raise RequirementError(
                "counts",
                f"Closeness: the hierarchy has {len(self.hierarchy[0])} values, the counts have {m}.",
            )
        table = counts.sum(axis=0) if total is None else check_total(total, m)
        people, everybody = sizes(counts), int(table.sum())
        if everybody == 0 and people.any():
            raise RequirementError("counts", "Closeness: the whole table has nobody in it, but some groups have.")
        scale = max(m - 1, 1) if self.distance == "ordered" else 2 * (1 + len(self.hierarchy or ()))
        # No partial sum exceeds the largest distance, 1, times the denominator.
        exact = safe_type(factor * scale * everybody * top(people))
        people_, table_ = people.astype(exact), table.astype(exact)
        extra = counts.astype(exact) * everybody - people_[:, None] * table_
        return self._moved(extra), people_ * (scale * everybody)

    def _moved(self, extra: NDArray[Any]) -> NDArray[Any]:
        """The work of moving what each value has too much to where it is lacking, times a constant."""
        if self.distance == "ordered":
            # What crosses from a value to the next is what all up to it have too much; none crosses the end.
            return _size(np.cumsum(extra, axis=1)[:, :-1])
        moved = _size(extra)
        for level in self.hierarchy or ():
            # Values of one group side by side, then added up from each group's first.
            order = np.argsort(level, kind="stable")
            _, first = np.unique(np.asarray(level)[order], return_index=True)
            moved = moved + _size(np.add.reduceat(extra[:, order], first, axis=1))
        return moved


def _size(extra: NDArray[Any]) -> NDArray[Any]:
    """The sum of absolute values of each row."""
    total: NDArray[Any] = np.einsum("ij->i", np.abs(extra))  # faster than sum(axis=1) on narrow rows
    return total


def _check_levels(hierarchy: object) -> Levels:
    """The hierarchy as tuples of ints, or a refusal."""

    def refuse(why: str) -> RequirementError:
        return RequirementError("parameter", f"Closeness: {why}")

    wanted = "hierarchy must be one tuple of integers a level, finest first, with one integer a value"
    if not isinstance(hierarchy, (tuple, list)) or not hierarchy:
        raise refuse(f"{wanted}; got {'nothing' if hierarchy is not None and not hierarchy else shown(hierarchy)}.")
    if len(hierarchy) > _MOST_LEVELS:
        raise refuse(f"hierarchy may have at most {_MOST_LEVELS} levels; got {len(hierarchy)}.")
    levels: list[tuple[int, ...]] = []
    for number, level in enumerate(hierarchy, start=1):
        if not isinstance(level, (tuple, list)) or not level:
            raise refuse(f"{wanted}; level {number} is {'empty' if level in ((), []) else shown(level)}.")
        if len(level) > _MOST_VALUES:
            raise refuse(f"hierarchy may have at most {_MOST_VALUES} values; level {number} has {len(level)}.")
        if not all(_is_group(group) for group in level):
            raise refuse(f"{wanted}; level {number} has something that is no integer from 0 to 2**31 - 1.")
        levels.append(tuple(int(group) for group in level))
        if len(level) != len(levels[0]):
            raise refuse(f"all levels must have {len(levels[0])} values; level {number} has {len(level)}.")
        if number > 1 and not _coarser(levels[-2], levels[-1]):
            raise refuse(f"a hierarchy only joins groups; level {number} divides a group of level {number - 1}.")
    return tuple(levels)


def _is_group(group: object) -> bool:
    return isinstance(group, (int, np.integer)) and not isinstance(group, bool) and bool(0 <= group < 2**31)


def _coarser(fine: Sequence[int], coarse: Sequence[int]) -> bool:
    """Whether values together in `fine` are together in `coarse`."""
    return len(set(zip(fine, coarse, strict=True))) == len(set(fine))
