# SPDX-License-Identifier: Apache-2.0
"""The classification metric of k-anonymous ID3 trees on Adult (VLDB'08, Table 6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from shoal.papers.adult import CATEGORICAL, Adult, classification_metric
from shoal.papers.data import Data
from shoal.papers.registry import Measured, Parameters, Point, Unit, recipe


@recipe("table6")
class Table6:
    """A tree for each k, of the seven columns that K-Optimize used as well."""

    sources = ("shoal.papers.adult",)

    def units(self, parameters: Parameters) -> Iterable[Unit]:
        """One for each k."""
        return [Unit({"k": k}, ("adult", "adult-taxonomies"), weight=1) for k in parameters["k"]]

    def measure(self, options: Parameters, data: Data) -> Any:
        """The metric of one tree."""
        columns = [name for name in CATEGORICAL if name != "relationship"]
        return classification_metric(Adult.read(data.folder).mine(columns, options["k"]))

    def points(self, parameters: Parameters, measured: Sequence[Measured]) -> Iterable[Point]:
        """The column of our tree."""
        return [Point("Anonymous-DT", each.options["k"], each.result) for each in measured]
