# SPDX-License-Identifier: Apache-2.0
"""A cluster of one process: the Spark engine without Spark, so that many small tables can be tried."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pyarrow as pa

from shoal.data.blocks import Different, OverTables, run_task, to_blocks
from shoal.data.counted import Counted
from shoal.data.pieces import Pieces
from shoal.data.table import Table, smallest_dtype
from shoal.engines.spark import SparkEngine


class InProcess:
    """Stands for `SparkCoded`: the rows of a table in partitions, in any order."""

    def __init__(self, table: Table, n_tasks: int = 3, seed: int = 0) -> None:
        self.n_tasks, self.jobs = n_tasks, 0
        self._names = table.names
        self.columns = Counted(
            (
                replace(column, codes=np.arange(column.n_codes, dtype=np.int32), weights=column.counts())
                for column in table.values()
            ),
            table.n_rows,
        )
        self._dtypes = [smallest_dtype(column.n_codes) for column in table.values()]
        of_row = np.random.default_rng(seed).integers(0, n_tasks, table.n_rows)
        self._partitions = []
        for task in range(n_tasks):
            rows = np.flatnonzero(of_row == task)[::-1]
            batches = [
                pa.record_batch(
                    [pa.array(column.codes[some].astype(np.int32)) for column in table.values()], self._names
                )
                for some in np.array_split(rows, 2)
            ]
            self._partitions.append(list(to_blocks(self._dtypes, batches)))

    def place(self, name: str) -> int:
        return self._names.index(name)

    def found(self, task, schema: str) -> pa.Table:
        self.jobs += 1
        task = pickle.loads(pickle.dumps(task))
        return pa.Table.from_batches(
            [batch for blocks in self._partitions for batch in run_task(task, self._dtypes, blocks)]
        )

    def found_by(self, task, schema: str, by: str, join, joined: str) -> pa.Table:
        found = self.found(task, schema)
        keys = found.column(by)
        return pa.concat_tables([join(found.filter(pa.compute.equal(keys, key))) for key in keys.unique()])

    def grouped(self, columns, most: int):
        found = self.found(Different([(self.place(name), code_of) for name, code_of in columns]), "")
        found = found.group_by("key").aggregate([("n", "sum")])
        if len(found) > most:
            return None
        rows = np.frombuffer(b"".join(found.column("key").to_pylist()), dtype=np.int32).reshape(len(found), -1)
        return rows, found.column("n_sum").to_numpy()

    def mapped(self, function, columns):
        task = OverTables([(self.place(name), column) for name, column in columns.items()], function)
        return [pickle.loads(each) for each in self.found(task, "").column(0).to_pylist()]


class RowsInProcess:
    """Stands for `SparkRows`."""

    def __init__(self, table: Table, *, n_tasks: int = 3, seed: int = 0, most_groups: int = 1 << 20) -> None:
        self.rows = InProcess(table, n_tasks, seed)
        self._table, self._most_groups = table, most_groups
        self.names = table.names

    def count(self, names, **_):
        return self.rows.columns.like(self.rows.columns[name] for name in names)

    def engine(self, made, target, sensitive):
        return SparkEngine(self.rows, made, target, sensitive, self._most_groups)

    def settled(self, columns):
        return Pieces(self.rows, columns)

    def __enter__(self):
        return self

    def __exit__(self, *exception: object) -> None:
        pass
