# SPDX-License-Identifier: Apache-2.0
"""``shoal bench``: accuracy and speed on public data, measured here and now."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import output
from shoal.cli.options import Json, Usage
from shoal.errors import ShoalError


class Benchmark(StrEnum):
    """The benchmarks there are."""

    adult = "adult"
    adult14 = "adult14"


def bench(
    name: Annotated[
        Benchmark, typer.Argument(metavar="NAME", help="adult: 8 columns, as in the paper; adult14: all of them.")
    ],
    data: Annotated[
        Path | None, typer.Option(envvar="SHOAL_DATA", metavar="DIR", help="The folder of benchmark data.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a benchmark on public data and print its table."""
    if data is None:
        raise Usage("No benchmark data: name its folder with --data DIR, or in the environment as SHOAL_DATA.")
    if not data.is_dir():
        raise ShoalError("no-benchmark-data", f"There is no folder of benchmark data {str(data)!r}.")
    from shoal.papers.adult import bench_adult, bench_adult14

    measure = {Benchmark.adult: bench_adult, Benchmark.adult14: bench_adult14}[name]
    with output.busy("Measuring"):
        rows: list[dict[str, Any]] = measure(data)
    if as_json:
        output.say_json(rows)
        return
    header = list(dict.fromkeys(key for row in rows for key in row))
    numbers = [key for key in header if all(isinstance(row.get(key, 0), (int, float)) for row in rows)]
    output.say_table(header, [[row.get(key) for key in header] for row in rows], right=numbers)
