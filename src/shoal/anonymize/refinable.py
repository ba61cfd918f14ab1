# SPDX-License-Identifier: Apache-2.0
"""How one column is refined, from ``*`` downwards: by a taxonomy, by cuts of numbers, or by telling value after value.

Such a column has *values of its cut* (what its cells can say so far) and *candidates*: the next steps. What one tells
about the classes depends on this column alone, so it is counted once, by code and class; rows are never looked at here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import gains as kernels
from shoal.anonymize.cells import ColumnMap
from shoal.anonymize.ladder import Ladder
from shoal.data.discretize import interval_labels, roundest
from shoal.data.table import Column
from shoal.release.generalised import ALL

Counts = NDArray[np.int64]
Slots = NDArray[np.integer]
OTHER = "(other)"  # what the values are called that are not told
UNSEEN = np.iinfo(np.int64).max  # people in the smallest of no groups


class Bits:
    """Information gain of rows by class, in bits a row."""

    def __init__(self, n_rows: int) -> None:
        self._scale = float(2 ** kernels.scale_for(n_rows))
        self._table = kernels.log_table(min(n_rows + 1, kernels.TABLE), self._scale)

    def gains(self, parts: Counts) -> NDArray[np.float64]:
        """What each of some splits gains, from counts by split, part and class."""
        out = np.empty(len(parts), dtype=np.int64)
        kernels.gains(parts, False, self._table, self._scale, out)
        out[out <= parts.shape[1] * (parts.shape[2] + 1)] = 0  # that is only rounding
        bits: NDArray[np.float64] = out / self._scale / np.maximum(parts.sum(axis=(1, 2)), 1)
        return bits

    def best_cut(self, counts: Counts) -> int:
        """After which code to cut neighbouring ones in two, from counts by code and class; the first where none gains.

        -1 where at most one code has rows.
        """
        held = np.flatnonzero(counts.sum(axis=1))
        if len(held) < 2:
            return -1
        gain, position = np.empty(1, dtype=np.int64), np.empty(1, dtype=np.int64)
        kernels.best_cuts(counts[None], len(counts), 1, False, self._table, self._scale, gain, position)
        return int(position[0]) if gain[0] > 0 else int(held[0])


class Refinable(ABC):
    """A column on its way down.

    Attributes
    ----------
    node_of
        For each code the number of the cut's value that stands for it.
    slot_of, n_slots
        For each code its part, if the value that stands for it is refined, and how many parts there are at most.
    gain, live, least
        Of each candidate: what it tells (bits a row), whether it can still be taken, and how many people are in the
        smallest group that it would make. Candidates are numbered like the values that they refine.
    """

    one_way = True  # whether a value of the cut can be refined in one way only
    n_slots: int

    def __init__(self, column: Column, counts: Counts, bits: Bits, most: int) -> None:
        self.column, self.counts, self.bits = column, counts, bits
        self.node_of = np.zeros(column.n_codes, dtype=np.int32)
        self.slot_of: Slots = np.zeros(column.n_codes, dtype=np.int32)
        self.gain = np.zeros(most)
        self.live = np.zeros(most, dtype=bool)
        self.least = np.full(most, UNSEEN)

    @abstractmethod
    def parting(self, candidate: int) -> tuple[int, Slots, int]:
        """The value of the cut that a candidate refines, the part of each of its codes, and how many parts."""

    @abstractmethod
    def refine(self, candidate: int) -> None:
        """Take a candidate: new values of the cut, new candidates."""

    @abstractmethod
    def told(self, candidate: int) -> tuple[str, tuple[str, ...]]:
        """What a candidate refines, and into what, in words."""

    @abstractmethod
    def recoding(self) -> ColumnMap:
        """The recoding to the values of the cut."""

    def _beneficial(self, counts: Counts) -> bool:
        """Whether there are rows of more than one class, from rows by class."""
        return int((counts > 0).sum()) > 1


@dataclass(frozen=True, eq=False)
class Node:
    """A value of a taxonomy: its codes, what it is called, and where in the levels (or numbers) it is."""

    codes: NDArray[np.intp]
    label: str
    level: int = 0
    ends: tuple[float, float] = (-np.inf, np.inf)  # of a value that is an interval


class _Tree(Refinable):
    """A column whose values have parts, each of them a value itself."""

    def __init__(self, column: Column, counts: Counts, bits: Bits, most: int, root: Node) -> None:
        super().__init__(column, counts, bits, most)
        self.nodes: list[Node] = []
        self.parts: list[Sequence[Node]] = []
        self.cuts: list[float] = []
        self._add(root)

    @abstractmethod
    def _parts(self, node: Node) -> Sequence[Node]:
        """What a value is refined into; nothing if it cannot be."""

    def _add(self, node: Node) -> None:
        number = len(self.nodes)
        parts = self._parts(node) if self._beneficial(self.counts[node.codes].sum(axis=0)) else ()
        self.nodes.append(node)
        self.parts.append(parts)
        self.node_of[node.codes] = number
        if not parts:
            return
        for slot, part in enumerate(parts):
            self.slot_of[part.codes] = slot
        self.n_slots = max(self.n_slots, len(parts))
        counts = np.stack([self.counts[part.codes].sum(axis=0) for part in parts])
        self.gain[number], self.live[number] = self.bits.gains(counts[None])[0], True

    def parting(self, candidate: int) -> tuple[int, Slots, int]:
        return candidate, self.slot_of, len(self.parts[candidate])

    def refine(self, candidate: int) -> None:
        self.live[candidate] = False
        self.cuts += self._cuts(candidate)
        for part in self.parts[candidate]:
            self._add(part)

    def _cuts(self, candidate: int) -> list[float]:
        """The cuts that a refinement of numbers makes."""
        return []

    def told(self, candidate: int) -> tuple[str, tuple[str, ...]]:
        return self.nodes[candidate].label, tuple(part.label for part in self.parts[candidate])

    def recoding(self) -> ColumnMap:
        if self.column.kind == "numeric" and self.node_of[0] > 0:
            return ColumnMap.of_cuts(self.column, self.cuts)
        numbers, group = np.unique(self.node_of, return_inverse=True)
        return ColumnMap.of_groups(self.column, group, [self.nodes[number].label for number in numbers])


class Taxonomy(_Tree):
    """A column that goes down the levels of its ladder; a value that is its own parent is stepped over."""

    def __init__(self, ladder: Ladder, counts: Counts, bits: Bits) -> None:
        self.ladder, self.n_slots = ladder, 1
        root = Node(np.arange(ladder.column.n_codes), ALL, len(ladder) - 1)
        super().__init__(ladder.column, counts, bits, sum(len(labels) for labels in ladder.labels), root)

    def _parts(self, node: Node) -> Sequence[Node]:
        for level in range(node.level - 1, -1, -1):
            groups = self.ladder.maps[level][node.codes]
            found = np.unique(groups)
            if len(found) > 1 or self._cuts_between(node, level):
                labels = self.ladder.labels[level]
                return [
                    Node(node.codes[groups == group], labels[group], level, self._ends(level, int(group)))
                    for group in found
                ]
        return ()

    def _ends(self, level: int, group: int) -> tuple[float, float]:
        if self.ladder.cuts is None:
            return -np.inf, np.inf
        cuts = self.ladder.cuts[level]
        assert cuts is not None  # exact numbers are no level of a hierarchy that somebody gave
        if group > len(cuts):
            return np.inf, np.inf  # missing
        return -np.inf if group == 0 else float(cuts[group - 1]), np.inf if group == len(cuts) else float(cuts[group])

    def _cuts_between(self, node: Node, level: int) -> list[float]:
        """The cuts of a level that part an interval, also where all its rows are on one side."""
        if self.ladder.cuts is None:
            return []
        cuts = self.ladder.cuts[level]
        assert cuts is not None
        return [float(cut) for cut in cuts[(cuts > node.ends[0]) & (cuts < node.ends[1])]]

    def _cuts(self, candidate: int) -> list[float]:
        parts = self.parts[candidate]
        return self._cuts_between(self.nodes[candidate], parts[0].level)


class Ranges(_Tree):
    """A column of numbers, cut in two where it tells most about the classes; missing comes apart first."""

    def __init__(self, column: Column, counts: Counts, bits: Bits) -> None:
        self.n_slots = 2
        super().__init__(column, counts, bits, 2 * column.n_codes + 1, Node(np.arange(column.n_codes), ALL))

    def _parts(self, node: Node) -> Sequence[Node]:
        known = len(self.column.numbers)
        if len(node.codes) and node.codes[-1] == known:  # the last code: missing
            if len(node.codes) == 1:
                return ()
            return self._interval(0, known, node.ends), Node(np.array([known]), "")
        if len(node.codes) < 2:
            return ()
        first, end = int(node.codes[0]), int(node.codes[-1]) + 1
        own = self.counts[first:end]
        after = self.bits.best_cut(own)
        if after < 0:
            return ()
        above = after + 1 + int(np.flatnonzero(own[after + 1 :].any(axis=1))[0])  # the next number that somebody has
        cut = roundest(float(self.column.numbers[first + after]), float(self.column.numbers[first + above]))
        middle = first + after + 1
        return self._interval(first, middle, (node.ends[0], cut)), self._interval(middle, end, (cut, node.ends[1]))

    def _interval(self, first: int, end: int, ends: tuple[float, float]) -> Node:
        cuts = np.array([side for side in ends if np.isfinite(side)])
        labels = interval_labels(cuts, whole=self.column.integer) if len(cuts) else ("any number",)
        return Node(np.arange(first, end), labels[int(np.isfinite(ends[0]))], 0, ends)

    def _cuts(self, candidate: int) -> list[float]:
        cut = self.parts[candidate][0].ends[1]
        return [cut] if np.isfinite(cut) else []


class Values(Refinable):
    """A column whose values are all kept back at first, and told one at a time."""

    one_way = False

    def __init__(self, column: Column, counts: Counts, bits: Bits) -> None:
        super().__init__(column, counts, bits, column.n_codes)
        self.n_slots, self.slot_of = column.n_codes, np.arange(column.n_codes, dtype=np.int32)
        self.live = counts.sum(axis=1) > 0
        self._score()

    def _score(self) -> None:
        kept_back = self.node_of == 0
        whole = self.counts[kept_back].sum(axis=0)
        self.gain = self.bits.gains(np.stack([self.counts, whole - self.counts], axis=1) * kept_back[:, None, None])
        if kept_back.sum() < 2 or not self._beneficial(whole):
            self.live[:] = False

    def parting(self, candidate: int) -> tuple[int, Slots, int]:
        slots = np.zeros(self.column.n_codes, dtype=np.int32)
        slots[candidate] = 1
        return 0, slots, 2

    def refine(self, candidate: int) -> None:
        self.live[candidate] = False
        self.node_of[candidate] = candidate + 1
        self._score()

    def _label(self, code: int) -> str:
        return self.column.names[code] if code < len(self.column.names) else ""

    def told(self, candidate: int) -> tuple[str, tuple[str, ...]]:
        return OTHER if self.node_of.any() else ALL, (self._label(candidate), OTHER)

    def recoding(self) -> ColumnMap:
        numbers, group = np.unique(self.node_of, return_inverse=True)
        labels = [OTHER if number == 0 else self._label(int(number) - 1) for number in numbers]
        return ColumnMap.of_groups(self.column, group, labels)
