# SPDX-License-Identifier: Apache-2.0
"""Rows of a Spark DataFrame as codes on the cluster: dictionaries reach the driver, rows do not.

One aggregation finds the different entries of all columns. Then every row becomes a few bytes of codes, in blocks that
the cluster keeps (see `blocks.py`).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data.blocks import BLOCKS, BYTES, Different, Entries, OverTables, Task, run_task, to_blocks
from shoal.data.coarse import Keep
from shoal.data.counted import Counted
from shoal.data.encode import encode
from shoal.data.grouped import too_many
from shoal.data.spark_numbers import some_numbers
from shoal.data.spark_session import guarded
from shoal.data.spark_source import spark_source
from shoal.data.table import Codes, Column, Kind, Table, smallest_dtype
from shoal.errors import DataError, closest

FEW = 1 << 16  # numbers of a column that are all kept
MOST_ENTRIES = 1 << 22  # different entries of a column that the driver takes
_NUMBERS = {"tinyint": pa.int8(), "smallint": pa.int16(), "int": pa.int32(), "bigint": pa.int64()}
_FRACTIONS = {"float": pa.float32(), "double": pa.float64()}
Join = Callable[[pa.Table], pa.Table]
_SINCE = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"


@dataclass(frozen=True)
class _Plain:
    """How a column is looked at: as numbers, whole numbers or texts."""

    name: str
    form: str  # "d", "l" or "s"
    sql: str
    type: pa.DataType  # of its entries
    kind: Kind | None


class SparkCoded:
    """Some columns of a Spark DataFrame, as codes on the cluster.

    `columns` has one code an entry (see `Counted`).

    Parameters
    ----------
    source
        A Spark DataFrame, a path, the name of a table, or a `SparkSource`.
    names
        The columns to read; no other is looked at.
    keep
        For number columns of which some numbers may be taken together: what must stay apart.
    kinds
        As in `read_table`; what the source says of a column comes first.
    """

    def __init__(
        self,
        source: Any,
        names: Sequence[str],
        *,
        keep: Mapping[str, Keep] | None = None,
        kinds: Mapping[str, Kind] | None = None,
    ) -> None:
        opened = spark_source(source)
        frame, kinds = opened.frame, {**(kinds or {}), **opened.kinds}
        types = dict(frame.dtypes)
        for name in names:
            if name not in types:
                raise DataError("no-column", f"No column {name!r}.{closest(name, list(types))}")
        self._blocks: Any = None
        self._place = {name: place for place, name in enumerate(names)}
        plain = [_plain(name, types[name], kinds.get(name)) for name in names]
        with guarded():
            rows = frame.selectExpr(*(f"{each.sql} AS c{place}" for place, each in enumerate(plain)))
            entries, columns, n_rows = _Dictionaries(rows, plain, keep or {}, opened.missing).found()
            self.columns = Counted(columns, n_rows)
            self._dtypes = [own.dtype for own in entries]
            self._blocks = rows.mapInArrow(partial(to_blocks, entries), BLOCKS).persist()
            found = self._blocks.selectExpr("spark_partition_id() AS task", "n").groupBy("task").sum("n").toArrow()
        self.n_tasks = len(found)
        if sum(found.column(1).to_pylist()) != n_rows:
            raise DataError(
                "spark-rows-change", "The rows are others whenever Spark reads them. Write them down first."
            )

    def found(self, task: Task, schema: str) -> pa.Table:
        """What workers make of the blocks."""
        with guarded():
            return self._run(task, schema).toArrow()

    def found_by(self, task: Task, schema: str, by: str, join: Join, joined: str) -> pa.Table:
        """The same, and then what other workers make of all that has the same value of a column."""

        def joining(parts: Any) -> Any:  # Spark counts the arguments of a plain function
            return join(parts)

        with guarded():
            return self._run(task, schema).groupBy(by).applyInArrow(joining, joined).toArrow()

    def _run(self, task: Task, schema: str) -> Any:
        """What workers make of the blocks, as a Spark DataFrame."""
        return self._blocks.mapInArrow(partial(run_task, task, self._dtypes), schema)

    def place(self, name: str) -> int:
        """Where a column is in a block."""
        return self._place[name]

    def rename(self, old: str, new: str) -> None:
        """Call a column otherwise."""
        self._place[new] = self._place.pop(old)
        self.columns = self.columns.like(
            replace(column, name=new) if name == old else column for name, column in self.columns.items()
        )

    def mapped(self, function: Callable[[Iterator[Table]], Any], columns: Mapping[str, Column]) -> list[Any]:
        """What a function makes of the tables of each partition, over dictionaries that came of those of `columns`."""
        task = OverTables([(self._place[name], column) for name, column in columns.items()], function)
        found = self.found(task, BYTES)
        return [pickle.loads(each) for each in found.column(0).to_pylist()]  # of our own workers

    def grouped(
        self, columns: Sequence[tuple[str, Codes]], most: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]] | None:
        """The different rows of some columns (rows × columns), given a code for every entry, and how many have each.

        None where they are more than `most`.
        """
        from pyspark.sql import functions as F

        with guarded():
            task = Different([(self._place[name], code_of) for name, code_of in columns])
            each = self._run(task, "key binary, n bigint").groupBy("key").agg(F.sum("n").alias("n"))
            found = each.limit(most + 1).toArrow()
        if len(found) > most:
            return None
        keys = b"".join(found.column("key").to_pylist())
        rows = np.frombuffer(keys, dtype=np.int32).reshape(len(found), len(columns))
        order = np.lexsort(rows.T[::-1]) if len(columns) else np.arange(len(found))
        return rows[order], found.column("n").to_numpy()[order].astype(np.int64)

    def different(self, columns: Mapping[str, Column], most: int) -> Table:
        """The different rows over dictionaries that came of those of `columns`, with `weights`.

        More than `most` are refused.
        """
        found = self.grouped([(name, column.codes) for name, column in columns.items()], most)
        if found is None:
            raise too_many(columns.values(), most)
        rows, n = found
        return Table(
            replace(column, codes=rows[:, i].astype(smallest_dtype(column.n_codes)), weights=n)
            for i, column in enumerate(columns.values())
        )

    def close(self) -> None:
        """Give the room back."""
        if self._blocks is not None:
            with suppress(Exception):  # a session that is gone has given everything back
                self._blocks.unpersist()
            self._blocks = None

    def __enter__(self) -> SparkCoded:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def named_columns(source: Any, names: Collection[str]) -> list[str]:
    """Those of some columns that a source has, or its first."""
    own = spark_source(source).names
    return [name for name in own if name in names] or own[:1]


def _plain(name: str, of: str, kind: Kind | None) -> _Plain:
    """How to look at a column, by Spark's name of its type."""
    own = "`" + name.replace("`", "``") + "`"
    number = f"nullif(CAST({own} AS DOUBLE), DOUBLE('NaN'))"
    if of in _NUMBERS:
        if kind == "categorical":
            return _Plain(name, "l", f"CAST({own} AS BIGINT)", _NUMBERS[of], kind)
        return _Plain(name, "d", f"CAST({own} AS DOUBLE)", pa.float64(), kind)
    if of in _FRACTIONS or of.startswith("decimal"):
        return _Plain(name, "d", number, _FRACTIONS.get(of, pa.float64()), kind)
    if of == "boolean":
        return _Plain(name, "l", f"CAST({own} AS BIGINT)", pa.bool_(), kind)
    if of == "date":
        return _Plain(name, "l", f"CAST(unix_date({own}) AS BIGINT)", pa.date32(), kind)
    if of == "timestamp":
        return _Plain(name, "l", f"unix_micros({own})", pa.timestamp("us", "UTC"), kind)
    if of == "timestamp_ntz":
        return _Plain(name, "l", f"timestampdiff(MICROSECOND, {_SINCE}, {own})", pa.timestamp("us"), kind)
    if of == "string" or of.startswith(("varchar", "char")):
        return _Plain(name, "s", f"CAST({own} AS STRING)", pa.string(), kind)
    raise DataError(
        "unsupported-column",
        f"Column {name!r} holds {of.split('<')[0]}, which Shoal cannot use. Make it numbers or strings, or drop it.",
    )


class _Dictionaries:
    """The different entries of all columns, and how many rows have each."""

    def __init__(self, rows: Any, plain: Sequence[_Plain], keep: Mapping[str, Keep], missing: Sequence[str]) -> None:
        from pyspark.sql import functions as F

        self._plain, self._keep, self._missing = plain, keep, missing
        types = {"d": "double", "l": "bigint", "s": "string"}
        cells = [
            F.struct(
                F.lit(place).alias("c"),
                *(
                    (F.col(f"c{place}") if form == each.form else F.lit(None)).cast(of).alias(form)
                    for form, of in types.items()
                ),
            )
            for place, each in enumerate(plain)
        ]
        found = rows.select(F.inline(F.array(*cells))).groupBy("c", *types).agg(F.count("*").alias("n"))
        # what is kept stays in as many parts as a shuffle makes, by default 200: more tasks than there is to do
        with suppress(Exception):  # a session of Spark Connect does not tell
            found = found.coalesce(rows.sparkSession.sparkContext.defaultParallelism)
        self._cells = found.persist()

    def found(self) -> tuple[list[Entries], list[Column], int]:
        """The entries, the columns by their entries, and how many rows there are."""
        try:
            return self._found()
        finally:
            self._cells.unpersist()

    def _found(self) -> tuple[list[Entries], list[Column], int]:
        from pyspark.sql import functions as F

        totals = self._cells.groupBy("c").agg(F.count("*").alias("m"), F.sum("n").alias("n")).collect()
        if not totals:
            raise DataError("no-rows", "There are column names, but no rows.")
        n_rows = int(totals[0]["n"])
        many = []
        for place, different in sorted((int(row["c"]), int(row["m"])) for row in totals):
            each = self._plain[place]
            keep = self._keep.get(each.name)
            coarse = keep is not None and 8 * keep.quantiles <= FEW  # of many more quantiles, all numbers are kept
            if coarse and each.form == "d" and each.kind != "categorical" and different > FEW:
                many.append((place, different))
            elif different > MOST_ENTRIES:
                raise DataError(
                    "too-many-values",
                    f"Column {each.name!r} has {different:,} different values. Leave it out, or group them first.",
                )
        some = some_numbers(self._cells, [(place, n, self._keep[self._plain[place].name]) for place, n in many])
        whole = [place for place in range(len(self._plain)) if place not in some]
        cells = self._cells.filter(F.col("c").isin(whole)).toArrow()
        entries, columns = [], []
        where = cells.column("c").to_numpy()
        for place, each in enumerate(self._plain):
            if place in some:
                values, counts, integer = some[place]
                _refuse_infinite(each.name, values, counts)
                own = Entries(each.name, values, bool(counts[-1]), exact=False)
                columns.append(_numeric(each.name, values, counts, integer))
            else:
                own_cells = cells.take(pa.array(np.flatnonzero(where == place)))
                own, column = self._whole(each, own_cells.column(each.form).combine_chunks(), own_cells.column("n"))
                columns.append(column)
            entries.append(own)
        return entries, columns, n_rows

    def _whole(self, each: _Plain, values: pa.Array, people: pa.ChunkedArray) -> tuple[Entries, Column]:
        """A column of which all entries are here."""
        order = np.asarray(pa.compute.sort_indices(values, null_placement="at_end"))
        values, counts = values.take(pa.array(order)), people.to_numpy()[order].astype(np.int64)
        null = bool(values.null_count)
        known = values.slice(0, len(values) - values.null_count)
        if each.form == "d" and each.kind != "categorical":
            numbers = np.array(known.to_numpy(zero_copy_only=False)) + 0.0
            _refuse_infinite(each.name, numbers, counts)
            integer = len(numbers) > 0 and bool(np.all(np.floor(numbers) == numbers))
            counts = counts if null else np.append(counts, 0)
            return Entries(each.name, numbers, null), _numeric(each.name, numbers, counts, integer)
        typed = _typed(values, each)
        column = encode(each.name, typed, kind=each.kind, missing=self._missing, weights=counts)
        held = known if each.form == "s" else np.array(known.to_numpy(zero_copy_only=False))
        return Entries(each.name, held, null), column


def _typed(values: pa.Array, each: _Plain) -> pa.Array:
    """Entries in the type that the column has."""
    if each.form == "s" or values.type == each.type:
        return values
    if pa.types.is_date(each.type):
        return values.cast(pa.int32()).cast(each.type)
    if pa.types.is_boolean(each.type):
        return pa.compute.not_equal(values, 0)
    return values.cast(each.type)


def _refuse_infinite(name: str, values: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
    ends = np.flatnonzero(np.isinf(values))
    if len(ends):
        encode(name, pa.array(values[ends]), weights=counts[ends])  # says so


def _numeric(name: str, values: NDArray[np.float64], counts: NDArray[np.int64], integer: bool) -> Column:
    """A column of numbers by its entries; the last count is of missing."""
    codes = np.arange(len(values) + 1, dtype=smallest_dtype(len(values) + 1))
    return Column(name, "numeric", codes, values, missing=bool(counts[-1]), integer=integer, weights=counts)
