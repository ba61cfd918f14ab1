# SPDX-License-Identifier: Apache-2.0
"""The numbers of a Spark column of very many that a cut may be next to: the twin of `coarse.py`.

The numbers are cut into parts. Spark counts the rows of each part; where a cut may be in a part, all its numbers come
to the driver, and of any other part the lowest and the highest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data.coarse import BUCKETS, Keep, ranks
from shoal.data.spark_codes import with_places

Values = NDArray[np.float64]
Ids = NDArray[np.int64]
ONE_IN = 64  # different numbers are drawn, to tell how many there are and how to cut them into parts


def drawn_numbers(rows: Any, places: Sequence[int]) -> dict[int, Values]:
    """One in 64 of the different numbers of some columns, ascending: whether it is drawn depends on its hash alone.

    Parameters
    ----------
    rows
        A Spark DataFrame.
    places
        Its columns to draw from, by their place: ``c0``, ``c1``, …
    """
    from pyspark.sql import functions as F

    cells = [F.struct(F.lit(place).alias("c"), F.col(f"c{place}").alias("d")) for place in places]
    chosen = F.col("d").isNotNull() & (F.pmod(F.xxhash64("d"), F.lit(ONE_IN)) == 0)
    drawn = rows.select(F.inline(F.array(*cells))).filter(chosen).distinct().toArrow()
    return {place: np.sort(_of(drawn, place, "d")) + 0.0 for place in places}


def splitters_of(drawn: Values) -> Values:
    """Numbers that cut a column into parts of about equally many numbers; a splitter is the last of its part."""
    return np.unique(drawn[np.arange(1, BUCKETS) * len(drawn) // BUCKETS])


def some_numbers(
    rows: Any, splitters: Mapping[int, Values], keep: Mapping[int, Keep]
) -> dict[int, tuple[Values, Ids, bool]]:
    """For columns with very many numbers: those that must stay apart, how many rows have each, and if all are whole.

    A number that is left out counts for the next larger one; the last count is of missing.

    Parameters
    ----------
    rows
        A Spark DataFrame.
    splitters, keep
        Such columns by their place: numbers that cut them into parts, and what must stay apart.
    """
    if not splitters:
        return {}
    parts = _found(rows, splitters, _count_parts)
    marked = {}
    for place, own in splitters.items():
        rows_of = np.zeros(len(own) + 2, dtype=np.int64)  # the last part is of missing
        rows_of[_of(parts, place, "part")] = _of(parts, place, "n")
        reached = np.cumsum(rows_of[:-1])
        held = np.zeros(len(rows_of), dtype=bool)
        held[np.searchsorted(reached, ranks(keep[place], int(reached[-1])))] = True
        marked[place] = held
    changes = {place: own[marked[place][1:-1] != marked[place][:-2]] for place, own in splitters.items()}
    inside = _found(
        rows, changes, lambda frame, place, own: _count_inside(frame, place, own, first=bool(marked[place][0]))
    )
    found = {}
    for place in splitters:
        part, people = _of(parts, place, "part"), _of(parts, place, "n")
        missing = part == len(splitters[place]) + 1
        outer = ~marked[place][part] & ~missing
        low, high = _of(parts, place, "low")[outer], _of(parts, place, "high")[outer]
        values = np.unique(np.concatenate([low, high, _of(inside, place, "d")])) + 0.0
        counts = np.zeros(len(values) + 1, dtype=np.int64)
        np.add.at(counts, np.searchsorted(values, _of(inside, place, "d")), _of(inside, place, "n"))
        # how many have the lowest number of a part, and how many another, no cut asks: there is none in this part
        np.add.at(counts, np.searchsorted(values, high), people[outer])
        lone = low < high
        at = np.searchsorted(values, low[lone])
        counts[at] += 1
        np.subtract.at(counts, np.searchsorted(values, high[lone]), 1)
        counts[-1] = people[missing].sum()
        found[place] = values, counts, bool(_of(parts, place, "whole")[~missing].all())
    return found


def _found(rows: Any, numbers: Mapping[int, Values], count: Callable[[Any, int, Values], Any]) -> pa.Table:
    """What is counted of some columns, each by numbers of its own; a file is read column by column."""
    from pyspark.sql import functions as F

    each = [count(rows.select(F.col(f"c{place}").alias("d")), place, own) for place, own in numbers.items()]
    return reduce(lambda one, other: one.unionAll(other), each).toArrow()


def _count_parts(frame: Any, place: int, splitters: Values) -> Any:
    """How many rows each part has, its lowest and highest number, and whether all are whole."""
    from pyspark.sql import functions as F

    part = F.coalesce(F.col("part"), F.lit(len(splitters) + 1)).alias("part")
    whole = F.min(F.floor("d") == F.col("d")).alias("whole")
    counted = with_places(frame, "d", splitters, "part").groupBy(part)
    return counted.agg(
        F.lit(place).alias("c"), F.count("*").alias("n"), F.min("d").alias("low"), F.max("d").alias("high"), whole
    )


def _count_inside(frame: Any, place: int, changes: Values, first: bool) -> Any:
    """How many rows have each number of the parts that are marked, given where these begin or end."""
    from pyspark.sql import functions as F

    if len(changes):
        frame = with_places(frame, "d", changes, "at").filter(F.col("at") % 2 == (0 if first else 1))
    counted = frame.filter(F.col("d").isNotNull()).groupBy("d").agg(F.count("*").alias("n"))
    return counted.select(F.lit(place).alias("c"), "d", "n")


def _of(table: pa.Table, place: int, name: str) -> NDArray[Any]:
    chosen = table.filter(pa.compute.equal(table.column("c"), place))
    return np.asarray(chosen.column(name).to_numpy())
