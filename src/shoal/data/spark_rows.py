# SPDX-License-Identifier: Apache-2.0
"""Rows of a Spark DataFrame as codes on the cluster: dictionaries reach the driver, rows do not.

Spark finds the different entries of all columns (see `spark_dictionaries.py`) and makes codes of all cells (see
`spark_codes.py`). Then every row is a few bytes, in blocks that the cluster keeps (see `blocks.py`).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data.blocks import BLOCKS, BYTES, Different, OverTables, Task, run_task, to_blocks
from shoal.data.coarse import Keep
from shoal.data.counted import Counted
from shoal.data.grouped import too_many
from shoal.data.spark_codes import coded
from shoal.data.spark_dictionaries import Dictionaries, plain_column
from shoal.data.spark_session import guarded
from shoal.data.spark_source import quoted, spark_source
from shoal.data.table import Codes, Column, Kind, Table, smallest_dtype
from shoal.errors import DataError, closest

Join = Callable[[pa.Table], pa.Table]


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
        from pyspark.sql import functions as F

        opened = spark_source(source)
        frame, kinds = opened.frame, {**(kinds or {}), **opened.kinds}
        types = dict(frame.dtypes)
        for name in names:
            if name not in types:
                raise DataError("no-column", f"No column {name!r}.{closest(name, list(types))}")
        self._blocks: Any = None
        self._place = {name: place for place, name in enumerate(names)}
        plain = [plain_column(name, f"c{place}", types[name], kinds.get(name)) for place, name in enumerate(names)]
        with guarded():
            # names first: within an expression Spark would fill ${...} from its settings
            rows = frame.select(*(F.col(quoted(name)).alias(f"c{place}") for place, name in enumerate(names)))
            rows = rows.selectExpr(*(f"{each.sql} AS c{place}" for place, each in enumerate(plain)))
            entries, columns, n_rows = Dictionaries(rows, plain, keep or {}, opened.missing).found()
            self.columns = Counted(columns, n_rows)
            self._dtypes = [own.dtype for own in entries]
            self._blocks = coded(rows, entries).mapInArrow(partial(to_blocks, self._dtypes), BLOCKS).persist()
            try:
                self.n_tasks = self._made(n_rows)
            except Exception:
                self.close()
                raise

    def _made(self, n_rows: int) -> int:
        """Make the blocks, of so many rows; how many tasks that took."""
        found = self._blocks.selectExpr("spark_partition_id() AS task", "n").groupBy("task").sum("n").toArrow()
        if sum(found.column(1).to_pylist()) != n_rows:
            raise DataError(
                "spark-rows-change", "The rows are others whenever Spark reads them. Write them down first."
            )
        return len(found)

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
    """Those of some columns that a source has: at least one."""
    own = spark_source(source).names
    found = [name for name in own if name in names]
    if not found:
        raise DataError("no-column", f"None of the release's columns is there.{closest(next(iter(names)), own)}")
    return found
