# SPDX-License-Identifier: Apache-2.0
"""Codes for the rows of a Spark DataFrame, by Spark itself: no Python worker ever sees a value.

Columns come as ``c0``, ``c1``, … and leave as codes under the same names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data.table import smallest_dtype


@dataclass(frozen=True)
class Entries:
    """The different entries of a column; a row's code is the place of its entry, and null comes after the last.

    Attributes
    ----------
    values
        Sorted numbers, or texts in any order.
    null
        Whether some row has none.
    exact
        Whether these are all. If not, a number has the place of the next larger one.
    """

    values: pa.Array
    null: bool
    exact: bool = True

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of codes."""
        return smallest_dtype(len(self.values) + 1)


def coded(rows: Any, entries: Sequence[Entries]) -> Any:
    """A Spark DataFrame of codes. A job over it fails where a row has an entry that was not counted."""
    from pyspark.sql import functions as F

    others = F.raise_error(F.lit("The rows are others than those that were counted.")).cast("int")
    frame, codes = rows, []
    for place, own in enumerate(entries):
        cell, code, n_values = F.col(f"c{place}"), f"code{place}", len(own.values)
        if own.exact:
            places = pa.array(np.arange(n_values, dtype=np.int32))
            book = rows.sparkSession.createDataFrame(pa.table({f"entry{place}": own.values, code: places}))
            frame = frame.join(F.broadcast(book), cell == F.col(f"entry{place}"), "left")
            known = F.col(code)
        else:
            frame = with_places(frame, f"c{place}", own.values.to_numpy(), code)
            known = F.when(F.col(code) < n_values, F.col(code))
        missing = F.when(cell.isNull(), F.lit(n_values)) if own.null else F.lit(None)
        codes.append(F.coalesce(known, missing.cast("int"), others).alias(f"c{place}"))
    return frame.select(*codes)


def with_places(frame: Any, column: str, values: NDArray[np.float64], name: str) -> Any:
    """A frame with one more column: how many of some sorted numbers are below the number of a column; null of null.

    Spark's language has no binary search, but its library for machine learning has one.
    """
    from pyspark.ml.feature import Bucketizer
    from pyspark.sql import functions as F
    from pyspark.sql.utils import is_remote

    # a bucket has its lower bound and not its upper one, and here it is the other way round
    inner = np.nextafter(values[values < np.finfo(np.float64).max], np.inf)
    splits = np.concatenate([[-np.inf], inner, [np.inf]])
    found = name + "_bucket"
    buckets: Any = Bucketizer(inputCol=column, outputCol=found, handleInvalid="keep")
    if is_remote():
        buckets.setSplits(splits.tolist())
    else:
        buckets._java_obj.setSplits(_java_doubles(frame.sparkSession, splits))
    return buckets.transform(frame).withColumn(name, F.col(found).cast("int")).drop(found)


def _java_doubles(session: Any, values: NDArray[np.float64]) -> Any:
    """An array of Java; handed over number by number, a hundred thousand would take seconds."""
    context = session.sparkContext
    array = context._gateway.new_array(context._jvm.double, len(values))
    context._jvm.java.nio.ByteBuffer.wrap(bytearray(values.astype(">f8").tobytes())).asDoubleBuffer().get(array)
    return array
