# SPDX-License-Identifier: Apache-2.0
"""The numbers of a Spark column of very many that a cut may be next to: the twin of `coarse.py`.

The numbers are cut into parts. Workers count the rows of each part; where a cut may be in a part, all its numbers come
to the driver, and of any other part the lowest and the highest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data.coarse import BUCKETS, SAMPLE, Keep, ranks

Values = NDArray[np.float64]
Ids = NDArray[np.int64]
_PARTS = "c int, part int, n bigint, low double, high double, whole boolean"
_CELLS = "c int, d double, n bigint"


def some_numbers(cells: Any, many: Sequence[tuple[int, int, Keep]]) -> dict[int, tuple[Values, Ids, bool]]:
    """For columns with very many numbers: those that must stay apart, how many rows have each, and if all are whole.

    A number that is left out counts for the next larger one; the last count is of missing.

    Parameters
    ----------
    cells
        A Spark DataFrame of a column's number ``c``, its numbers ``d`` and how many rows have each, ``n``.
    many
        Such columns: their number, how many numbers they have, and what must stay apart.
    """
    if not many:
        return {}
    from pyspark.sql import functions as F

    known = cells.filter(F.col("c").isin([place for place, _, _ in many])).select("c", "d", "n")
    chosen = F.lit(False)
    for place, different, _ in many:
        one_in = max(1, different // SAMPLE)
        chosen = chosen | ((F.col("c") == place) & (F.pmod(F.xxhash64("d"), F.lit(one_in)) == 0))
    sample = known.filter(chosen & F.col("d").isNotNull()).toArrow()
    splitters = {place: _splitters(_of(sample, place, "d")) for place, _, _ in many}
    parts = (
        known.mapInArrow(partial(_count_parts, splitters), _PARTS)
        .groupBy("c", "part")
        .agg(
            F.sum("n").alias("n"), F.min("low").alias("low"), F.max("high").alias("high"), F.min("whole").alias("whole")
        )
        .toArrow()
    )
    marked = {}
    for place, _, keep in many:
        rows = np.zeros(len(splitters[place]) + 2, dtype=np.int64)  # the last part is of missing
        rows[_of(parts, place, "part")] = _of(parts, place, "n")
        reached = np.cumsum(rows[:-1])
        held = np.zeros(len(rows), dtype=bool)
        held[np.searchsorted(reached, ranks(keep, int(reached[-1])))] = True
        marked[place] = held
    inside = known.mapInArrow(partial(_inside_parts, splitters, marked), _CELLS).toArrow()
    found = {}
    for place, _, _ in many:
        part, rows = _of(parts, place, "part"), _of(parts, place, "n")
        missing = part == len(splitters[place]) + 1
        outer = ~marked[place][part] & ~missing
        low, high = _of(parts, place, "low")[outer], _of(parts, place, "high")[outer]
        values = np.unique(np.concatenate([low, high, _of(inside, place, "d")])) + 0.0
        counts = np.zeros(len(values) + 1, dtype=np.int64)
        np.add.at(counts, np.searchsorted(values, _of(inside, place, "d")), _of(inside, place, "n"))
        # how many have the lowest number of a part, and how many another, no cut asks: there is none in this part
        np.add.at(counts, np.searchsorted(values, high), rows[outer])
        lone = low < high
        at = np.searchsorted(values, low[lone])
        counts[at] += 1
        np.subtract.at(counts, np.searchsorted(values, high[lone]), 1)
        counts[-1] = rows[missing].sum()
        found[place] = values, counts, bool(_of(parts, place, "whole")[~missing].all())
    return found


def _of(table: pa.Table, place: int, name: str) -> NDArray[Any]:
    chosen = table.filter(pa.compute.equal(table.column("c"), place))
    return np.asarray(chosen.column(name).to_numpy())


def _splitters(sample: Values) -> Values:
    """Numbers that cut a column into parts of about equally many numbers; a splitter is the last of its part."""
    ordered = np.sort(sample)
    return np.unique(ordered[np.arange(1, BUCKETS) * len(ordered) // BUCKETS])


def _each(splitters: dict[int, Values], batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Ids, Values, Ids]]:
    """Numbers of one column at a time: which it is, the part of each (missing is the last), they, and their rows."""
    for batch in batches:
        where = batch.column(0).to_numpy(zero_copy_only=False)
        for place, own in splitters.items():
            rows = batch.take(pa.array(np.flatnonzero(where == place)))
            numbers = rows.column(1).to_numpy(zero_copy_only=False)
            part = np.where(np.isnan(numbers), len(own) + 1, np.searchsorted(own, numbers))
            yield place, part, numbers, rows.column(2).to_numpy(zero_copy_only=False)


def _count_parts(splitters: dict[int, Values], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    rows = {place: np.zeros(len(own) + 2, dtype=np.int64) for place, own in splitters.items()}
    low = {place: np.full(len(own) + 2, np.inf) for place, own in splitters.items()}
    high = {place: np.full(len(own) + 2, -np.inf) for place, own in splitters.items()}
    whole = {place: np.ones(len(own) + 2, dtype=bool) for place, own in splitters.items()}
    for place, part, numbers, people in _each(splitters, batches):
        np.add.at(rows[place], part, people)
        np.minimum.at(low[place], part, numbers)
        np.maximum.at(high[place], part, numbers)
        whole[place][part[np.floor(numbers) != numbers]] = False
    for place, own in rows.items():
        part = np.flatnonzero(own)
        columns = [np.full(len(part), place, dtype=np.int32), part.astype(np.int32), own[part]]
        columns += [low[place][part], high[place][part], whole[place][part]]
        yield pa.record_batch(
            [pa.array(column) for column in columns], names=["c", "part", "n", "low", "high", "whole"]
        )


def _inside_parts(
    splitters: dict[int, Values], marked: dict[int, NDArray[np.bool_]], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for place, part, numbers, people in _each(splitters, batches):
        held = marked[place][part]
        columns = [np.full(int(held.sum()), place, dtype=np.int32), numbers[held], people[held]]
        yield pa.record_batch([pa.array(column) for column in columns], names=["c", "d", "n"])
