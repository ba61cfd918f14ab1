# SPDX-License-Identifier: Apache-2.0
"""The counting protocol between miners and engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from shoal.data.counted import Counted
from shoal.data.hierarchy import Levels
from shoal.data.table import Codes, Column, Table

Counts = NDArray[np.int64]
Ids = NDArray[np.int64]
Way = tuple[int, NDArray[np.int32]]  # to split a node: a feature, and the branch that each of its codes takes


@dataclass(frozen=True)
class Price:
    """What trees below a split cost that are grown for nothing else.

    They grow greedily, by Gini or information gain, into parts of at least `least_people`, and are pruned. They cost
    the bits that are left to tell of the class, and `bits_a_leaf` for every leaf.
    """

    least_people: int
    bits_a_leaf: float
    gini: bool


@dataclass(frozen=True, eq=False)
class Feature:
    """A column as a grower sees it: no rows, only how its codes may be grouped.

    Attributes
    ----------
    name, public
        The column and whether an attacker may know it.
    n_codes
        How many codes it has; missing, if any, is the last.
    missing
        Whether the last code means missing.
    levels
        The groupings of a hierarchy, finest first; None for a numeric column without one.
    cuts
        For a numeric column without a hierarchy: code j holds the numbers above cuts[j-1] and at most cuts[j].
    quantiles
        Whether these cuts are at quantiles, since the column has too many numbers for a cut between any two.
    """

    name: str
    public: bool
    n_codes: int
    missing: bool = False
    levels: Levels | None = None
    cuts: NDArray[np.float64] | None = None
    quantiles: bool = False

    @property
    def n_known(self) -> int:
        """How many codes are not missing."""
        return self.n_codes - self.missing


class RowsElsewhere(Protocol):
    """A table that is not in memory, as an engine holds it open.

    Use it in a `with`: leaving that frees what it took.
    """

    @property
    def names(self) -> Sequence[str]:
        """All columns there are."""
        ...

    def count(self, names: Sequence[str], *, coarse: Sequence[str], people: int, max_codes: int) -> Counted:
        """Dictionaries of the columns named, and how many rows have each entry; others are never looked at.

        Where a number column is in `coarse`, numbers may be taken together that no cut will tell apart: neither one of
        the `max_codes` quantiles, nor a bound that `people` stand behind.
        """
        ...

    def engine(self, made: Sequence[tuple[Feature, Codes]], target: Column, sensitive: Sequence[Column]) -> Engine:
        """Counts from these rows.

        A column is the one of its name that was counted; its codes are those of the same entries, so they say how to
        recode the rows.
        """
        ...

    def grouped(self, columns: Counted, most: int) -> Table:
        """The different rows over some columns, or what became of them, each with how many rows it stands for.

        The columns of the answer have the dictionaries of `columns`, and `weights`; its rows are in any order. More
        than `most` different rows are refused (see `shoal.data.grouped.too_many`).
        """
        ...

    def settled(self, columns: Counted) -> Any:
        """The rows over settled domains, in a form that `audit` takes."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


class DifferentPeople(Protocol):
    """Counts of different people, where they may have several rows."""

    def node_people(
        self, nodes: Ids, feature: int, branch_of: NDArray[np.int32], n_branches: int, by: int | None
    ) -> Counts:
        """Different people of each node in each branch that branch_of[node, code] makes, by class unless `by` is None.

        Nodes × branches × values. A person is in every branch that a row of his takes; with several values there, he
        counts once, with the one of them that most people of that branch have (the lowest of several such). A node may
        be asked about several times.
        """
        ...

    def span_people(
        self, spans: Ids, feature: int | None, branch_of: NDArray[np.int32] | None, n_branches: int, by: int | None
    ) -> Counts:
        """The same for spans and the values of a sensitive column; without a feature each span is one branch."""
        ...


class Engine(Protocol):
    """Answers in counts of people. Nodes and spans are numbered from 0; each begins as one that holds everybody.

    Where people have several rows, a row is what a tree learns from: `n_people` and all counts are those of rows, as if
    each were a person, but for those of `different`.
    """

    features: Sequence[Feature]
    n_people: int
    n_classes: int
    n_different: int  # different people; as many as `n_people` where everybody has one row

    @property
    def different(self) -> DifferentPeople | None:
        """Counts different people, where somebody has several rows; None where everybody has one."""
        ...

    def expect(self, nodes: Ids, spans: Ids) -> None:
        """Says that all features of some nodes, and all public ones of some spans, will be asked for.

        An engine that takes long to answer may count them all at once.
        """
        ...

    def node_classes(self, nodes: Ids) -> Counts:
        """People of each node by class (nodes × classes)."""
        ...

    def node_counts(self, nodes: Ids, feature: int) -> Counts:
        """People of each node by code of a feature and class (nodes × codes × classes)."""
        ...

    def split_nodes(self, nodes: Ids, feature: int, branch_of: NDArray[np.int32], n_branches: int) -> Ids:
        """Split each node by branch_of[node, code]; the new nodes' numbers (nodes × branches), −1 where nobody is.

        A node may be split again, to try something else: then its former parts are void.
        """
        ...

    def outlooks(self, nodes: Sequence[int], ways: Sequence[Sequence[Way]], price: Price) -> list[Counts]:
        """For each node and each way to split it: what the trees below it would cost, in any unit.

        An estimate, by fewer people and coarser values (see `Outlook`), but the same in every engine, whatever order
        the rows are in.
        """
        ...

    def class_spans(self) -> Ids:
        """Split the first span by class (the target is public); the new spans' numbers, −1 where nobody is."""
        ...

    def span_counts(self, spans: Ids, feature: int | None, by: int | None) -> Counts:
        """People of each span by code of a feature and value of a sensitive column; None puts all in one."""
        ...

    def split_spans(self, spans: Ids, feature: int, branch_of: NDArray[np.int32], n_branches: int) -> Ids:
        """Split each span by branch_of[span, code]; the new spans' numbers (spans × branches), −1 where nobody is.

        A span may be split again, as a node may.
        """
        ...
