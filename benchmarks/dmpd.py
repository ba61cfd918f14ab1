# SPDX-License-Identifier: Apache-2.0
"""Matatov, Rokach and Maimon (2010), Sect. 5: accuracy by level of nine tables, beside TDS and TDR, 5 × 2 cv.

python benchmarks/dmpd.py --data FOLDER --parts FOLDER [--only german,pima] [--tops 9] [--jobs 2] [--json FILE]

Every repetition of a table, a learner and a set of quasi-identifiers is a file in the folder of parts; a run that was
cut goes on with those that are not there. ``--json`` merges all that are there. Adult takes hours.
"""

from __future__ import annotations

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

from shoal.papers.dmpd import METHOD, Unit
from shoal.papers.dmpd_data import MOST_PUBLIC
from shoal.papers.dmpd_published import LEARNERS, LEVELS
from shoal.papers.dmpd_tables import Measured, merge_parts, versions, write_page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("SHOAL_DATA"), help="the benchmark data, or SHOAL_DATA"
    )
    parser.add_argument("--parts", type=Path, required=True, help="a folder for what is measured, unit by unit")
    parser.add_argument("--only", default=",".join(LEVELS))
    parser.add_argument("--tops", default="9,5,7", help="how many features are public; 9 means 8 where there are eight")
    parser.add_argument("--learners", default=",".join(LEARNERS))
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--variant", choices=tuple(METHOD), default="own", help="how to search; see `Unit`")
    parser.add_argument("--jobs", type=int, default=2, help="processes beside each other; 0: only merge")
    parser.add_argument("--json", type=Path, help="where to write all that was measured")
    parser.add_argument("--page", type=Path, help="a page whose tables are brought up to date")
    options = parser.parse_args()
    options.parts.mkdir(parents=True, exist_ok=True)
    if options.jobs:
        if options.data is None:
            parser.error("give --data, or set SHOAL_DATA")
        units = [
            Unit(table, min(top, MOST_PUBLIC.get(table, 9)), learner, repetition, options.variant)
            for repetition in range(options.repetitions)
            for top in map(int, options.tops.split(","))
            for table in options.only.split(",")
            for learner in options.learners.split(",")
        ]
        run([unit for unit in units if not part(options.parts, unit).exists()], options)
    if options.json is not None:
        merge_parts(options.parts, options.json)
        if options.page is not None:
            write_page(Measured.read(options.json), options.page)


def part(folder: Path, unit: Unit) -> Path:
    return folder / f"{unit.name}.json"


def measure(unit: Unit, data: Path, folder: Path) -> None:
    """Run a unit and keep what it measured."""
    found = {"versions": versions(), "lines": unit.run(data)}
    # written aside first: a part that is there is whole
    aside = part(folder, unit).with_suffix(".part")
    aside.write_text(json.dumps(found))
    aside.rename(part(folder, unit))


def run(units: list[Unit], options: argparse.Namespace) -> None:
    """All units, with a bar of how far they are."""
    bar = Progress(
        "{task.description}",
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    with bar, ProcessPoolExecutor(options.jobs) as pool:
        shown = bar.add_task("Partitioning", total=len(units))
        waiting = [pool.submit(measure, unit, Path(options.data), options.parts) for unit in units]
        try:
            for each in as_completed(waiting):
                each.result()
                bar.advance(shown)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


if __name__ == "__main__":
    main()
