# SPDX-License-Identifier: Apache-2.0
"""The engine for rows on a Spark cluster: each round is one job, and only counts reach the driver."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property, partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.coarse import Keep
from shoal.data.counted import Counted
from shoal.data.pieces import Pieces
from shoal.data.spark_rows import SparkCoded
from shoal.data.spark_source import spark_source
from shoal.data.table import Codes, Column, Table, count_codes
from shoal.engines.base import Counts, Feature, Ids, Price, Way
from shoal.engines.known import MOST_CELLS, Known
from shoal.engines.outlook import Outlook
from shoal.engines.spark_tasks import COSTS, FOUND, PEOPLE, Ask, Count, Foresee, PeopleOf, Recode, add_up, unpacked
from shoal.engines.splits import Splits
from shoal.errors import RequirementError

MERGED = 64  # tasks whose counts the driver adds up; of more, workers do it first
MOST_GROUPS = 1 << 20  # different public rows that the driver takes, to test spans by itself


class SparkRows:
    """Rows of a Spark DataFrame, of a path, or of a table that Spark knows.

    Parameters
    ----------
    source
        Where the rows are.
    most_groups
        How many different public rows the driver takes where there are private columns besides the target; of more,
        spans are counted by jobs. None: what the environment's ``SHOAL_SPARK_GROUPS`` says, or 1,048,576.
    """

    def __init__(self, source: Any, *, most_groups: int | None = None) -> None:
        self._source = spark_source(source)
        self._most_groups = _most_groups() if most_groups is None else most_groups
        self._coded: SparkCoded | None = None
        self.names = self._source.names

    def count(self, names: Sequence[str], *, coarse: Sequence[str], people: int, max_codes: int) -> Counted:
        """See `RowsElsewhere`."""
        keep = dict.fromkeys(coarse, Keep(max_codes, people))
        self._coded = SparkCoded(self._source, names, keep=keep)
        return self._coded.columns

    def engine(self, made: Sequence[tuple[Feature, Codes]], target: Column, sensitive: Sequence[Column]) -> SparkEngine:
        """See `RowsElsewhere`."""
        assert self._coded is not None
        return SparkEngine(self._coded, made, target, sensitive, self._most_groups)

    def settled(self, columns: Counted) -> Pieces:
        """See `RowsElsewhere`."""
        assert self._coded is not None
        return Pieces(self._coded, columns)

    def grouped(self, columns: Counted, most: int) -> Table:
        """See `RowsElsewhere`."""
        assert self._coded is not None
        return Pieces(self._coded, columns).grouped(most)

    def __enter__(self) -> SparkRows:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._coded is not None:
            self._coded.close()


def _most_groups() -> int:
    text = os.environ.get("SHOAL_SPARK_GROUPS", str(MOST_GROUPS))
    if not text.isdecimal():
        raise RequirementError("parameter", f"SHOAL_SPARK_GROUPS must be a whole number; got {text!r}.")
    return int(text)


class SparkEngine:
    """Counts from blocks of codes on a cluster.

    Splits are only noted. What is known of a node tells the classes of its parts, so that nothing is counted until
    somebody asks for a column of nodes that are new: then all columns of all nodes that were announced are counted in
    one job.

    Parameters
    ----------
    rows
        The coded rows.
    made
        Each feature, and its code for every entry of the column of its name.
    target, sensitive
        Columns by their entries.
    most_groups
        As in `SparkRows`.
    """

    def __init__(
        self,
        rows: SparkCoded,
        made: Sequence[tuple[Feature, Codes]],
        target: Column,
        sensitive: Sequence[Column],
        most_groups: int = MOST_GROUPS,
    ) -> None:
        self.features: Sequence[Feature] = [feature for feature, _ in made]
        self.n_people = self.n_different = rows.columns.n_rows
        self.n_classes = target.n_codes
        self._rows = rows
        self._made = made
        self._most_groups = most_groups
        self._n_values = [column.n_codes for column in sensitive]
        coded = [(feature.name, codes) for feature, codes in made]
        self._coded = [*coded, *((column.name, column.codes) for column in (target, *sensitive))]
        # one more column, in which all are alike
        self._all = len(self._coded)
        self._coded.append((target.name, np.zeros(len(target.codes), dtype=np.uint8)))
        self._target = len(self.features)
        self._nodes = Splits(target.counts())
        self._spans = Splits(np.array([self.n_people]))
        self._node_counts = Known(
            range(len(self.features)), [feature.n_codes for feature in self.features], self._target, self.n_classes
        )
        self._public = [f for f, feature in enumerate(self.features) if feature.public]
        self._span_counts: dict[int | None, Known] = {}
        self._lock = Lock()

    @property
    def different(self) -> None:
        """See `Engine`; everybody has one row here."""
        return None

    # ------------------------------------------------------------------ nodes

    def expect(self, nodes: Ids, spans: Ids) -> None:
        """See `Engine`."""
        with self._lock:
            self._count(nodes, spans, None)

    def node_classes(self, nodes: Ids) -> Counts:
        """See `Engine`."""
        found = [self._nodes.totals[one] for one in nodes.tolist()]
        return np.stack(found) if found else np.zeros((0, self.n_classes), dtype=np.int64)

    def node_counts(self, nodes: Ids, feature: int) -> Counts:
        """See `Engine`."""
        with self._lock:
            self._count(nodes, nodes[:0], None)
            return self._node_counts.get(nodes, feature)

    def split_nodes(self, nodes: Ids, feature: int, branch_of: NDArray[np.int32], n_branches: int) -> Ids:
        """See `Engine`."""
        counts = self.node_counts(nodes, feature)
        return self._nodes.split(nodes, feature, branch_of, counts, n_branches)

    def outlooks(self, nodes: Sequence[int], ways: Sequence[Sequence[Way]], price: Price) -> list[Counts]:
        """See `Engine`."""
        columns = [*range(len(self.features)), self._target]
        people = PeopleOf(self._recode(columns), self._nodes.routes(np.array(nodes)), len(nodes))
        foresee = Foresee(self._outlook, ways, price, len(columns))
        # a node's people go to one worker, which looks at some of them
        found = self._rows.found_by(people, PEOPLE, "node", foresee.costs, COSTS)
        costs = {
            node: np.frombuffer(cell, dtype=np.int64)
            for node, cell in zip(found.column("node").to_pylist(), found.column("costs").to_pylist(), strict=True)
        }
        return [costs[place] for place in range(len(nodes))]

    # ------------------------------------------------------------------ spans

    def class_spans(self) -> Ids:
        """See `Engine`."""
        everybody = np.zeros(1, dtype=np.int64)
        branch_of = np.arange(self.n_classes, dtype=np.int32)[None]
        counts = self._nodes.totals[0][None, :, None]
        new: Ids = self._spans.split(everybody, self._target, branch_of, counts, self.n_classes)[0]
        return new

    def span_counts(self, spans: Ids, feature: int | None, by: int | None) -> Counts:
        """See `Engine`."""
        if feature is None and by is None:
            return np.array([self._spans.totals[one] for one in spans.tolist()], dtype=np.int64).reshape(-1, 1, 1)
        with self._lock:
            known = self._known(by)
            self._count(spans[:0], spans, by)
            return known.get(spans, 0 if feature is None else 1 + self._public.index(feature))

    def split_spans(self, spans: Ids, feature: int, branch_of: NDArray[np.int32], n_branches: int) -> Ids:
        """See `Engine`."""
        counts = self.span_counts(spans, feature, None)
        return self._spans.split(spans, feature, branch_of, counts, n_branches)

    # ------------------------------------------------------------------ how

    def _known(self, by: int | None) -> Known:
        if by not in self._span_counts:
            columns = [self._all, *self._public]
            n_codes = [1, *(self.features[f].n_codes for f in self._public)]
            value = -1 if by is None else self._target + 1 + by
            self._span_counts[by] = Known(columns, n_codes, value, 1 if by is None else self._n_values[by])
        return self._span_counts[by]

    @cached_property
    def _outlook(self) -> Outlook:
        counts = [
            count_codes(codes, feature.n_codes, self._rows.columns[feature.name].weights)
            for feature, codes in self._made
        ]
        return Outlook(self.features, counts, self.n_people, self.n_classes)

    @cached_property
    def _groups(self) -> tuple[NDArray[np.int32], Counts] | None:
        """What spans are told apart by (columns × different rows), and how many have each; None: too many."""
        used = [*self._public, *range(self._target, self._all)]
        found = self._rows.grouped([self._coded[number] for number in used], self._most_groups)
        if found is None:
            return None
        codes = np.zeros((self._all + 1, len(found[0])), dtype=np.int32)
        codes[used] = found[0].T
        return codes, found[1]

    def _recode(self, columns: Sequence[int]) -> Recode:
        return [(self._rows.place(self._coded[number][0]), self._coded[number][1]) for number in columns]

    def _count(self, nodes: Ids, spans: Ids, by: int | None) -> None:
        """Count what is not known yet of nodes, and of spans by one more question, in as few jobs as can be."""
        nodes = self._node_counts.lacks(nodes)
        todo: list[tuple[Known, Splits, Ids]] = []
        todo += [
            (self._node_counts, self._nodes, piece) for piece in _pieces(self._nodes, nodes, self._node_counts.width)
        ]
        questions = dict.fromkeys([*self._span_counts, by]) if len(spans) else {}
        for question in questions:
            known = self._known(question)
            own = [(known, self._spans, piece) for piece in _pieces(self._spans, known.lacks(spans), known.width)]
            if own and self._groups is not None:
                codes, people = self._groups
                for _, splits, piece in own:
                    found = np.zeros((len(piece), known.width), dtype=np.int64)
                    _ask(known, splits, piece).count(codes, people, found)
                    known.enter(piece, found)
            else:
                todo += own
        while todo:
            size = 0
            now: list[tuple[Known, Splits, Ids]] = []
            while todo and (not now or size + len(todo[0][2]) * todo[0][0].width <= MOST_CELLS):
                now.append(todo.pop(0))
                size += len(now[-1][2]) * now[-1][0].width
            self._job(now)

    def _job(self, parts: Sequence[tuple[Known, Splits, Ids]]) -> None:
        asks = [_ask(*part) for part in parts]
        size = sum(ask.size for ask in asks)
        many = self._rows.n_tasks > MERGED
        count = Count(self._recode(range(len(self._coded))), asks, round(self._rows.n_tasks**0.5) if many else 1)
        if many:
            found = self._rows.found_by(count, FOUND, "part", partial(add_up, size), FOUND)
        else:
            found = self._rows.found(count, FOUND)
        counts = unpacked(size, found)
        start = 0
        for (known, _, ids), ask in zip(parts, asks, strict=True):
            known.enter(ids, counts[start : start + ask.size].reshape(ask.n_sets, ask.width))
            start += ask.size


def _ask(known: Known, splits: Splits, ids: Ids) -> Ask:
    return Ask(splits.routes(ids), len(ids), known.width, known.columns, known.first, known.by, known.n_values)


def _pieces(splits: Splits, ids: Ids, width: int) -> list[Ids]:
    """Sets that can be counted together: none is a part of another, and their counts fit one job."""
    step = max(1, MOST_CELLS // max(width, 1))
    return [own[first : first + step] for own in splits.apart(ids) if len(own) for first in range(0, len(own), step)]
