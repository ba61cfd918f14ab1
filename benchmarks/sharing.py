# SPDX-License-Identifier: Apache-2.0
"""Tian et al. (2012), Sect. 7: what is learned together from published trees, and from published tables.

python benchmarks/sharing.py --data FOLDER [--quick] [--only adult,car] [--jobs 2] [--json FILE] [--plots FOLDER]
python benchmarks/sharing.py --data FOLDER --income [--json FILE]

The quick sweep has one pass of two folds (of Adult one, with a fifth of its rows), 1, 2, 5 and 10 owners and some of
the requirements; the whole one has ten folds of five passes and takes a day. ``--from FILE`` prints the tables of a run
again. ``--income`` is the other question: ten owners of Adult with income as the class, k = 50 each.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

from shoal.papers.sharing_data import TARGETS
from shoal.papers.sharing_income import compare_settings
from shoal.papers.sharing_sweep import Job, averages, sweep

Line = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("SHOAL_DATA"), help="the benchmark data, or SHOAL_DATA"
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--income", action="store_true")
    parser.add_argument("--only", default=",".join(TARGETS))
    parser.add_argument("--jobs", type=int, default=2, help="processes beside each other")
    parser.add_argument("--json", type=Path, help="where to write what was measured")
    parser.add_argument("--from", dest="earlier", type=Path, help="a file that --json wrote")
    parser.add_argument("--plots", type=Path, help="a folder for the figures")
    options = parser.parse_args()
    if options.earlier is not None:
        found = json.loads(options.earlier.read_text())
    elif options.data is None:
        parser.error("give --data, or set SHOAL_DATA")
    elif options.income:
        found = compare_settings(Path(options.data), lambda told: print(told, file=sys.stderr, flush=True))
    else:
        jobs = sweep(quick=options.quick, tables=options.only.split(","))
        found = averages(run(jobs, Path(options.data), options.jobs))
    if options.json is not None:
        options.json.write_text("[\n" + ",\n".join(map(json.dumps, found)) + "\n]\n")
    show(found)
    if options.plots is not None:
        plot(found, options.plots)


def run(jobs: list[Job], data: Path, processes: int) -> list[Line]:
    """Everything that the jobs measure, in their order, with a bar of how far they are."""
    done: dict[int, list[Line]] = {}
    bar = Progress(
        "{task.description}",
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    with bar, ProcessPoolExecutor(processes) as pool:
        shown = bar.add_task("Learning together", total=len(jobs))
        waiting = {pool.submit(partial(job.run, data)): number for number, job in enumerate(jobs)}
        for each in as_completed(waiting):
            done[waiting[each]] = each.result()
            bar.advance(shown)
    return [line for number in range(len(jobs)) for line in done[number]]


def show(found: list[Line]) -> None:
    """Every figure as a table."""
    for figures, rows, column in (
        ("10-13", ("method", "learner"), "owners"),
        ("14-15", ("method",), "requirement"),
        ("16", ("method", "learner"), "requirement"),
    ):
        for table in dict.fromkeys(line["table"] for line in found if line.get("figures") == figures):
            lines = [line for line in found if line["table"] == table and line["figures"] == figures]
            for measure in ("accuracy", "class_match", "path_match", "cm"):
                if any(measure in line for line in lines):
                    print(f"\n**{table}, Fig. {figures}: {measure}**\n")
                    # what is published costs the same whoever learns from it
                    print_table(lines, ("method",) if measure == "cm" else rows, column, measure)
    plain = [line for line in found if "figures" not in line]
    if plain:
        header = list(dict.fromkeys(key for line in plain for key in line))
        print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
        for line in plain:
            print("| " + " | ".join(cell(line.get(key, "")) for key in header) + " |")


def print_table(lines: list[Line], rows: tuple[str, ...], column: str, measure: str) -> None:
    columns = list(dict.fromkeys(name(line[column]) for line in lines if line[column] != 0))
    by_row: dict[str, dict[str, Line]] = {}
    failed = {(line["method"], name(line[column])) for line in lines if "why" in line}
    for line in lines:
        if measure in line:
            by_row.setdefault(", ".join(line[key] for key in rows), {})[name(line[column])] = line
    print("| | " + " | ".join(columns) + " |\n|---|" + "---:|" * len(columns))
    for label, own in by_row.items():
        # what does not depend on owners (the pooled rows) is the same in every column
        same = own.get(name(0))
        cells = []
        for each in columns:
            line = same or own.get(each)
            missing = "none" if (label.split(",")[0], each) in failed else ""
            cells.append(missing if line is None else cell(line[measure]))
        print(f"| {label} | " + " | ".join(cells) + " |")


def name(value: Any) -> str:
    """A requirement or a number of owners in short."""
    if not isinstance(value, dict):
        return str(value)
    return f"({value['c']:g}, {value['l']:g})" if "c" in value else f"l = {value['l']:g}"


def cell(value: Any) -> str:
    return f"{100 * value:.1f} %" if isinstance(value, float) else str(value)


def plot(found: list[Line], folder: Path) -> None:
    """Accuracy by owners, and by requirement, as the paper draws them."""
    from matplotlib import pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    plt.rcParams["svg.hashsalt"] = "shoal"  # the same bytes every time
    for figures, column in (("10-13", "owners"), ("14-15", "requirement"), ("16", "requirement")):
        for table in dict.fromkeys(line["table"] for line in found if line.get("figures") == figures):
            figure, axes = plt.subplots(figsize=(6, 4))
            lines = [line for line in found if line["table"] == table and line["figures"] == figures]
            lines = [line for line in lines if line.get("learner", "tree") == "tree"]
            ticks = list(dict.fromkeys(name(line[column]) for line in lines if line[column] != 0))
            for method in dict.fromkeys(line["method"] for line in lines):
                own = {name(line[column]): line for line in lines if line["method"] == method and "accuracy" in line}
                if "0" in own:
                    axes.axhline(own["0"]["accuracy"], color="0.5", linestyle="--", label=method)
                elif own:
                    places = [tick for tick in ticks if tick in own]
                    where = [ticks.index(tick) for tick in places]
                    axes.plot(where, [own[tick]["accuracy"] for tick in places], marker="o", label=method)
            axes.set_xticks(range(len(ticks)), ticks, rotation=30 if column == "requirement" else 0)
            axes.set(xlabel=column, ylabel="accuracy", title=f"{table}, Fig. {figures}, joint tree")
            axes.legend()
            figure.tight_layout()
            figure.savefig(folder / f"sharing-{table}-{figures}.svg", metadata={"Date": None})
            plt.close(figure)


if __name__ == "__main__":
    main()
