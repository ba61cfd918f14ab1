# SPDX-License-Identifier: Apache-2.0
"""The engine for a table in memory: its columns sorted by node and, where spans are asked for, by span."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal._kernels import counts as kernels
from shoal._kernels import people as people_kernels
from shoal._threads import side_by_side
from shoal.data.table import Codes, smallest_dtype
from shoal.engines.base import Counts, Feature, Ids, Price, Way
from shoal.engines.outlook import Outlook

Keys = NDArray[Any]  # whole numbers of any size


class Sorted:
    """Columns of one table, all sorted by the same disjoint sets of people, so that counting a set reads one stretch.

    A set is a segment of every column. It begins as one set of everybody; splitting a set sorts its segment further.
    Small columns lie side by side in words of eight bytes, since moving a word takes no longer than moving a byte.

    With `by_person`, the last column says whose row each is, and the rows of a person come side by side. They stay so
    in every set that has not been split, because splitting keeps the order within a part.
    """

    def __init__(self, columns: Sequence[Keys], *, by_person: bool = False) -> None:
        n_rows = len(columns[0])
        self._by_person = by_person
        self._was_split = np.zeros(64, dtype=bool)
        self._words, self._columns = _packed(columns)
        self._branch = np.empty(n_rows, dtype=np.uint8)  # of every person, while a set is split
        self._n = 1
        # the ends of all sets so far, with room for more
        self._starts = np.zeros(64, dtype=np.int64)
        self._ends = np.zeros(64, dtype=np.int64)
        self._ends[0] = n_rows

    def sizes(self, ids: Ids) -> Counts:
        """People of each set."""
        return self._ends[ids] - self._starts[ids]

    def count(self, ids: Ids, column: int, n_keys: int) -> Counts:
        """People of each set by key of a column (sets × keys)."""
        counts = np.zeros((len(ids), n_keys), dtype=np.int64)
        kernels.count_keys(self._columns[column], self._starts[ids], self._ends[ids], counts)
        return counts

    def count_pairs(self, ids: Ids, column: int, n_keys: int, other: int, n_others: int) -> Counts:
        """People of each set by key of one column and key of another (sets × keys × keys)."""
        counts = np.zeros((len(ids), n_keys, n_others), dtype=np.int64)
        columns = self._columns[column], self._columns[other]
        kernels.count_pairs(*columns, self._starts[ids], self._ends[ids], counts)
        return counts

    def people(
        self,
        ids: Ids,
        column: int,
        per_code: int,
        branch_of: NDArray[np.int32],
        n_branches: int,
        values: tuple[int, int] | None,
    ) -> Counts:
        """Different people of each set by branch and, where a column and its number of values are given, by value."""
        columns = [self._columns[-1], self._columns[column], *([] if values is None else [self._columns[values[0]]])]
        starts, ends = self._starts[ids], self._ends[ids]
        if self._was_split[ids].any():
            columns, starts, ends = self._side_by_side(ids, columns)
        if values is None:
            counts = np.zeros((len(ids), n_branches), dtype=np.int64)
            people_kernels.people_by_branch(columns[0], columns[1], per_code, branch_of, starts, ends, counts)
            return counts[:, :, None]
        by_value = np.zeros((len(ids), n_branches, values[1]), dtype=np.int64)
        people_kernels.people_by_value(columns[0], columns[1], per_code, branch_of, columns[2], starts, ends, by_value)
        return by_value

    def _side_by_side(self, ids: Ids, columns: list[Keys]) -> tuple[list[Keys], Ids, Ids]:
        """Some columns of sets that may have been split, the rows of a person side by side; where each set begins and
        ends."""
        which, number = np.unique(ids, return_inverse=True)
        rows = [np.arange(self._starts[one], self._ends[one]) for one in which]
        ordered = np.concatenate([own[np.argsort(self._columns[-1][own], kind="stable")] for own in rows])
        ends = np.cumsum([len(own) for own in rows])
        starts = ends - np.array([len(own) for own in rows])
        return [column[ordered] for column in columns], starts[number.reshape(-1)], ends[number.reshape(-1)]

    def keys(self, one: int, column: int) -> Keys:
        """The keys of a set's people."""
        return self._columns[column][self._starts[one] : self._ends[one]]

    def split(self, ids: Ids, column: int, per_code: int, branch_of: NDArray[np.int32], n_branches: int) -> Ids:
        """Split sets by branch_of[set, key // per_code]; numbers of the new sets, −1 for an empty one."""
        starts, ends = self._starts[ids], self._ends[ids]
        if self._by_person:
            for one in ids[self._was_split[ids]]:  # its former parts are void, so their order need not be kept
                segment = slice(self._starts[one], self._ends[one])
                order = np.argsort(self._columns[-1][segment], kind="stable")
                for word in self._words:
                    word[segment] = word[segment][order]
            self._was_split[ids] = True
        sizes = np.zeros((len(ids), n_branches), dtype=np.int64)
        if n_branches > np.iinfo(self._branch.dtype).max:
            self._branch = self._branch.astype(np.int32)
        kernels.branches(self._columns[column], per_code, branch_of, starts, ends, self._branch, sizes)
        people = int(sizes.sum())
        side_by_side(
            lambda word: kernels.sort_by_branch(word, self._branch, starts, ends, sizes), self._words, rows=people
        )
        return self._number(starts, sizes)

    def _number(self, starts: Ids, sizes: Counts) -> Ids:
        new_ends = starts[:, None] + np.cumsum(sizes, axis=1)
        used = sizes > 0
        new = np.full(sizes.shape, -1, dtype=np.int64)
        first, self._n = self._n, self._n + int(used.sum())
        new[used] = np.arange(first, self._n)
        if self._n > len(self._starts):
            more = np.zeros(self._n, dtype=np.int64)  # doubles, so that many small splits cost no more than one large
            self._starts, self._ends = (np.concatenate([ends, more]) for ends in (self._starts, self._ends))
            self._was_split = np.concatenate([self._was_split, more > 0])
        self._starts[first : self._n] = (new_ends - sizes)[used]
        self._ends[first : self._n] = new_ends[used]
        return new


def _packed(columns: Sequence[Keys]) -> tuple[list[NDArray[np.uint64]], list[Keys]]:
    """Copies of columns in words, and each column as it lies there."""
    words: list[NDArray[np.uint64]] = []
    room: dict[np.dtype[Any], list[Keys]] = {}  # places of each type that are still free
    placed = []
    for column in columns:
        if not room.get(column.dtype):
            words.append(np.zeros(len(column), dtype=np.uint64))
            room[column.dtype] = list(words[-1].view(column.dtype).reshape(len(column), -1).T)
        place = room[column.dtype].pop()
        place[:] = column
        placed.append(place)
    return words, placed


class SortedColumns(Protocol):
    """Columns sorted by disjoint sets of people, in memory or on disk; see `Sorted`."""

    def sizes(self, ids: Ids) -> Counts: ...

    def count(self, ids: Ids, column: int, n_keys: int) -> Counts: ...

    def count_pairs(self, ids: Ids, column: int, n_keys: int, other: int, n_others: int) -> Counts: ...

    def keys(self, one: int, column: int) -> Keys: ...

    def split(self, ids: Ids, column: int, per_code: int, branch_of: NDArray[np.int32], n_branches: int) -> Ids: ...


class SortedEngine(ABC):
    """Counts from columns that are sorted by node and, where spans are asked for, by span."""

    features: Sequence[Feature]
    n_people: int
    n_classes: int
    n_different: int
    _n_values: Sequence[int]  # of each sensitive column

    @property
    @abstractmethod
    def _nodes(self) -> SortedColumns:
        """The features, each code with the person's class in one key; then the class alone."""

    @property
    @abstractmethod
    def _spans(self) -> SortedColumns:
        """The target, the sensitive columns, then the public features: nothing else splits spans."""

    @property
    @abstractmethod
    def _outlook(self) -> Outlook:
        """How trees below splits would turn out."""

    def _public(self, feature: int) -> int:
        """Where a public feature stands among the columns of the spans."""
        return 1 + len(self._n_values) + sum(each.public for each in self.features[:feature])

    def expect(self, nodes: Ids, spans: Ids) -> None:  # noqa: B027  # not abstract: nothing is to be done
        """See `Engine`: counting when asked takes no longer."""

    def node_classes(self, nodes: Ids) -> Counts:
        """See `Engine`."""
        return self._nodes.count(nodes, len(self.features), self.n_classes)

    def node_counts(self, nodes: Ids, feature: int) -> Counts:
        """See `Engine`."""
        n_codes = self.features[feature].n_codes
        return self._nodes.count(nodes, feature, n_codes * self.n_classes).reshape(-1, n_codes, self.n_classes)

    def split_nodes(self, nodes: Ids, feature: int, branch_of: NDArray[np.int32], n_branches: int) -> Ids:
        """See `Engine`."""
        return self._nodes.split(nodes, feature, self.n_classes, branch_of, n_branches)

    def outlooks(self, nodes: Sequence[int], ways: Sequence[Sequence[Way]], price: Price) -> list[Counts]:
        """See `Engine`."""
        return [self._outlook_of(node, own, price) for node, own in zip(nodes, ways, strict=True)]

    def _outlook_of(self, node: int, ways: Sequence[Way], price: Price) -> Counts:
        columns = range(len(self.features))
        codes = side_by_side(lambda f: self._nodes.keys(node, f) // self.n_classes, columns, rows=self.n_people)
        return self._outlook.costs(codes, self._nodes.keys(node, len(self.features)), ways, price)

    def class_spans(self) -> Ids:
        """See `Engine`."""
        branch_of = np.arange(self.n_classes, dtype=np.int32)[None]
        everybody = np.zeros(1, dtype=np.int64)
        new: Ids = self._spans.split(everybody, 0, 1, branch_of, self.n_classes)[0]
        return new

    def span_counts(self, spans: Ids, feature: int | None, by: int | None) -> Counts:
        """See `Engine`."""
        if feature is None:
            if by is None:
                return self._spans.sizes(spans)[:, None, None]
            return self._spans.count(spans, 1 + by, self._n_values[by])[:, None]
        column, n_codes = self._public(feature), self.features[feature].n_codes
        if by is None:
            return self._spans.count(spans, column, n_codes)[:, :, None]
        return self._spans.count_pairs(spans, column, n_codes, 1 + by, self._n_values[by])

    def split_spans(self, spans: Ids, feature: int, branch_of: NDArray[np.int32], n_branches: int) -> Ids:
        """See `Engine`."""
        return self._spans.split(spans, self._public(feature), 1, branch_of, n_branches)


class MemoryEngine(SortedEngine):
    """Counts from encoded columns.

    Parameters
    ----------
    features, codes
        The columns a grower may split on, and their codes.
    target, n_classes
        The target's codes and how many there are.
    sensitive
        Codes and number of values of each column that a requirement is about.
    person
        Whose row each is, where people have several; None: every row is a person.
    """

    def __init__(
        self,
        features: Sequence[Feature],
        codes: Sequence[Codes],
        target: Codes,
        n_classes: int,
        sensitive: Sequence[tuple[Codes, int]] = (),
        person: Ids | None = None,
    ) -> None:
        self.features = features
        self.n_people = len(target)
        self.n_classes = n_classes
        self.n_different = self.n_people if person is None else int(person.max()) + 1
        self._whose: list[Keys] = []  # one more column, or none
        if person is not None:  # the rows of a person side by side, so that people can be counted in passing
            order = np.argsort(person, kind="stable")
            self._whose = [person[order].astype(np.int32)]
            codes, target = [column[order] for column in codes], target[order]
            sensitive = [(column[order], n_values) for column, n_values in sensitive]
        self._codes = codes
        self._target = target
        self._sensitive = sensitive
        self._n_values = [n_values for _, n_values in sensitive]

    @cached_property
    def _nodes(self) -> Sorted:
        """The features, each code with the person's class in one key; then the class alone."""

        def with_class(feature: int) -> Keys:
            codes, n_codes = self._codes[feature], self.features[feature].n_codes
            dtype = smallest_dtype(n_codes * self.n_classes)
            keys: Keys = codes.astype(dtype) * dtype.type(self.n_classes) + self._target.astype(dtype)
            return keys

        found = side_by_side(with_class, range(len(self.features)), rows=self.n_people)
        return Sorted(
            [*found, self._target.astype(smallest_dtype(self.n_classes)), *self._whose], by_person=bool(self._whose)
        )

    @cached_property
    def _spans(self) -> Sorted:
        """The target, the sensitive columns, then the public features: nothing else splits spans."""
        # one type for what is counted by, so that a kernel is compiled once per type of code
        values = (codes.astype(np.int32) for codes, _ in self._sensitive)
        public = (codes for feature, codes in zip(self.features, self._codes, strict=True) if feature.public)
        return Sorted([self._target, *values, *public, *self._whose], by_person=bool(self._whose))

    @cached_property
    def _outlook(self) -> Outlook:
        counts = [
            np.bincount(codes, minlength=feature.n_codes)
            for feature, codes in zip(self.features, self._codes, strict=True)
        ]
        return Outlook(self.features, counts, self.n_people, self.n_classes)

    @property
    def different(self) -> MemoryEngine | None:
        """See `Engine`."""
        return self if self._whose else None

    def node_people(
        self, nodes: Ids, feature: int, branch_of: NDArray[np.int32], n_branches: int, by: int | None
    ) -> Counts:
        """See `DifferentPeople`."""
        values = None if by is None else (len(self.features), self.n_classes)
        return self._nodes.people(nodes, feature, self.n_classes, branch_of, n_branches, values)

    def span_people(
        self, spans: Ids, feature: int | None, branch_of: NDArray[np.int32] | None, n_branches: int, by: int | None
    ) -> Counts:
        """See `DifferentPeople`."""
        values = None if by is None else (1 + by, self._n_values[by])
        if feature is None or branch_of is None:
            all_in_one = np.zeros((len(spans), self.n_classes), dtype=np.int32)
            return self._spans.people(spans, 0, 1, all_in_one, 1, values)
        return self._spans.people(spans, self._public(feature), 1, branch_of, n_branches, values)
