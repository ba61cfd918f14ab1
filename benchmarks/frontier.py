# SPDX-License-Identifier: Apache-2.0
"""Fig. 12 of Matatov, Rokach and Maimon (2010): Adult's frontier of accuracy and level, from independent searches.

python benchmarks/frontier.py --data FOLDER --json FILE [--tops 5 9] [--runs 5]
python benchmarks/frontier.py --json FILE --plots FOLDER

C4.5, all complete training rows, 50 × 100 partitionings a run. Every run is written when it is done; one that was cut
goes on with those that are missing. ``--plots`` draws what the file has.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from shoal.papers.dmpd import make_judge
from shoal.papers.dmpd_data import read_study
from shoal.papers.dmpd_tables import versions
from shoal.partition.options import GeneticOptions
from shoal.partition.pareto import Corner, frontier


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("SHOAL_DATA"), help="the benchmark data, or SHOAL_DATA"
    )
    parser.add_argument("--table", default="adult-train")
    parser.add_argument("--tops", type=int, nargs="*", default=[5, 9])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--plots", type=Path, help="a folder for the pictures")
    options = parser.parse_args()
    found = json.loads(options.json.read_text()) if options.json.exists() else {"versions": versions(), "fronts": {}}
    if options.plots is not None:
        plot(found, options.plots)
        return
    if options.data is None:
        parser.error("give --data, or set SHOAL_DATA")
    study = read_study(Path(options.data), options.table)
    for top in options.tops:
        judge = make_judge(study, study.rows, study.public(top), "c45", seed=0)
        for run in range(options.runs):
            name = f"{options.table}-{top}-{run}"
            if name in found["fronts"]:
                continue
            front = frontier(judge, options=GeneticOptions(seed=run))
            found["fronts"][name] = [[point.level, round(point.accuracy, 5)] for point in front.points]
            fronts = ",\n".join(f"{json.dumps(name)}: {json.dumps(own)}" for name, own in found["fronts"].items())
            options.json.write_text(f'{{"versions": {json.dumps(found["versions"])},\n"fronts": {{\n{fronts}\n}}}}\n')
            print(name, len(front.points), "points", flush=True)


def plot(found: dict, folder: Path) -> None:
    """One picture for each set of public features."""
    from matplotlib import pyplot as plt

    from shoal.report.plot_frontier import plot_frontier

    plt.rcParams["svg.hashsalt"] = "shoal"  # the same bytes every time
    for setting in dict.fromkeys(name.rsplit("-", 1)[0] for name in found["fronts"]):
        fronts = [
            [Corner(accuracy, level) for level, accuracy in own]
            for name, own in found["fronts"].items()
            if name.rsplit("-", 1)[0] == setting
        ]
        axes = plot_frontier(*fronts)
        table, top = setting.rsplit("-", 1)
        axes.set_title(f"{table}, top {top} public, {len(fronts)} searches")
        axes.figure.savefig(folder / f"partitioning-{setting}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
