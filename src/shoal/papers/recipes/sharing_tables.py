# SPDX-License-Identifier: Apache-2.0
"""What the tables of Tian et al. are like (their Table 1), as the experiments of Fig. 10 to 16 read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from shoal.papers.data import Data
from shoal.papers.recipes.sharing import NAMES, tables_of
from shoal.papers.registry import Measured, Parameters, Point, Unit, recipe
from shoal.papers.sharing_data import read_sharing


@recipe("sharing-tables")
class SharingTables:
    """Rows, columns and classes; parameters of experiments: `tables`."""

    sources = ("shoal.papers.sharing_data", "shoal.papers.dmpd_data")

    def units(self, parameters: Parameters) -> Iterator[Unit]:
        """One table each."""
        for table in parameters["tables"]:
            yield Unit({"table": table}, tables_of(table))

    def measure(self, options: Parameters, data: Data) -> Any:
        """Complete rows, nominal and numeric columns, the class among them, and classes."""
        task = read_sharing(data.folder, options["table"])
        kinds = [column.kind for column in task.rows.values()]
        return {
            "rows": task.rows.n_rows,
            "nominal columns": kinds.count("categorical"),
            "numeric columns": kinds.count("numeric"),
            "classes": len(task.rows[task.target].values),
        }

    def points(self, parameters: Parameters, measured: Sequence[Measured]) -> Iterator[Point]:
        """A series for each column of the paper's table."""
        for each in measured:
            for series, value in each.result.items():
                yield Point(series, NAMES[each.options["table"]], value)
