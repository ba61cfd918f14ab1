# SPDX-License-Identifier: Apache-2.0
"""The different entries of the columns of a Spark DataFrame, and how many rows have each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data.coarse import Keep
from shoal.data.encode import encode
from shoal.data.spark_codes import Entries
from shoal.data.spark_numbers import ONE_IN, drawn_numbers, some_numbers, splitters_of
from shoal.data.table import Column, Kind, smallest_dtype
from shoal.errors import DataError

FEW = 1 << 16  # numbers of a column that are all kept
MOST_ENTRIES = 1 << 22  # different entries of a column that the driver takes
_NUMBERS = {"tinyint": pa.int8(), "smallint": pa.int16(), "int": pa.int32(), "bigint": pa.int64()}
_FRACTIONS = {"float": pa.float32(), "double": pa.float64()}
_SINCE = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
_FORMS = {"d": "double", "l": "bigint", "s": "string"}


@dataclass(frozen=True)
class Plain:
    """How a column is looked at: as numbers, whole numbers or texts."""

    name: str
    form: str  # "d", "l" or "s"
    sql: str
    type: pa.DataType  # of its entries
    kind: Kind | None


class Dictionaries:
    """The different entries of all columns, and how many rows have each.

    A column of very many numbers is told from the others first, since to count each of them would take longer than all
    the rest.

    Parameters
    ----------
    rows
        A Spark DataFrame.
    plain
        Its columns, which are called ``c0``, ``c1``, … there.
    keep
        For number columns of which some numbers may be taken together: what must stay apart.
    missing
        As in `read_table`.
    """

    def __init__(self, rows: Any, plain: Sequence[Plain], keep: Mapping[str, Keep], missing: Sequence[str]) -> None:
        self._rows, self._plain, self._keep, self._missing = rows, plain, keep, missing

    def found(self) -> tuple[list[Entries], list[Column], int]:
        """The entries, the columns by their entries, and how many rows there are."""
        some = self._some()
        cells = self._cells([place for place in range(len(self._plain)) if place not in some])
        entries, columns = [], []
        for place, each in enumerate(self._plain):
            if place in some:
                values, counts, integer = some[place]
                _refuse_infinite(each.name, values, counts)
                own = Entries(pa.array(values), bool(counts[-1]), exact=False)
                column = _numeric(each.name, values, counts, integer)
            else:
                own_cells = cells.filter(pa.compute.equal(cells.column("c"), place))
                own, column = self._whole(each, own_cells.column(each.form).combine_chunks(), own_cells.column("n"))
            entries.append(own)
            columns.append(column)
        return entries, columns, int(columns[0].counts().sum())

    def _some(self) -> dict[int, tuple[NDArray[np.float64], NDArray[np.int64], bool]]:
        """The numbers that must stay apart, of columns of very many."""
        keep = {}
        for place, each in enumerate(self._plain):
            own = self._keep.get(each.name)
            # of many more quantiles, all numbers are kept
            if own is not None and 8 * own.quantiles <= FEW and each.form == "d" and each.kind != "categorical":
                keep[place] = own
        if not keep:
            return {}
        drawn = drawn_numbers(self._rows, list(keep))
        many = {place: splitters_of(own) for place, own in drawn.items() if ONE_IN * len(own) > FEW}
        return some_numbers(self._rows, many, keep)

    def _cells(self, places: Sequence[int]) -> pa.Table:
        """The different entries of columns, each with its column's place ``c`` and how many rows have it."""
        from pyspark.sql import functions as F

        structs = [
            F.struct(
                F.lit(place).alias("c"),
                *(
                    (F.col(f"c{place}") if form == self._plain[place].form else F.lit(None)).cast(of).alias(form)
                    for form, of in _FORMS.items()
                ),
            )
            for place in places
        ]
        found = self._rows.select(F.inline(F.array(*structs))).groupBy("c", *_FORMS).agg(F.count("*").alias("n"))
        # what is kept stays in as many parts as a shuffle makes, by default 200: more tasks than there is to do
        with suppress(Exception):  # a session of Spark Connect does not tell
            found = found.coalesce(self._rows.sparkSession.sparkContext.defaultParallelism)
        found = found.persist()
        try:
            totals = found.groupBy("c").agg(F.count("*").alias("m")).collect()
            if not totals:
                raise DataError("no-rows", "There are column names, but no rows.")
            for place, different in sorted((int(row["c"]), int(row["m"])) for row in totals):
                if different > MOST_ENTRIES:
                    raise DataError(
                        "too-many-values",
                        f"Column {self._plain[place].name!r} has {different:,} different values. Leave it out, or "
                        "group them first.",
                    )
            return found.toArrow()
        finally:
            found.unpersist()

    def _whole(self, each: Plain, values: pa.Array, people: pa.ChunkedArray) -> tuple[Entries, Column]:
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
            return Entries(pa.array(numbers), null), _numeric(each.name, numbers, counts, integer)
        typed = _typed(values, each)
        column = encode(each.name, typed, kind=each.kind, missing=self._missing, weights=counts)
        return Entries(known, null), column


def plain_column(name: str, own: str, of: str, kind: Kind | None) -> Plain:
    """How to look at a column, which has a name of its own in Spark's expressions, by Spark's name of its type."""
    number = f"nullif(CAST({own} AS DOUBLE), DOUBLE('NaN'))"
    if of in _NUMBERS:
        if kind == "categorical":
            return Plain(name, "l", f"CAST({own} AS BIGINT)", _NUMBERS[of], kind)
        return Plain(name, "d", f"CAST({own} AS DOUBLE)", pa.float64(), kind)
    if of in _FRACTIONS or of.startswith("decimal"):
        return Plain(name, "d", number, _FRACTIONS.get(of, pa.float64()), kind)
    if of == "boolean":
        return Plain(name, "l", f"CAST({own} AS BIGINT)", pa.bool_(), kind)
    if of == "date":
        return Plain(name, "l", f"CAST(unix_date({own}) AS BIGINT)", pa.date32(), kind)
    if of == "timestamp":
        return Plain(name, "l", f"unix_micros({own})", pa.timestamp("us", "UTC"), kind)
    if of == "timestamp_ntz":
        return Plain(name, "l", f"timestampdiff(MICROSECOND, {_SINCE}, {own})", pa.timestamp("us"), kind)
    if of == "string" or of.startswith(("varchar", "char")):
        return Plain(name, "s", f"CAST({own} AS STRING)", pa.string(), kind)
    raise DataError(
        "unsupported-column",
        f"Column {name!r} holds {of.split('<')[0]}, which Shoal cannot use. Make it numbers or strings, or drop it.",
    )


def _typed(values: pa.Array, each: Plain) -> pa.Array:
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
