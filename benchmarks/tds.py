# SPDX-License-Identifier: Apache-2.0
"""TDS and TDR: seconds and memory by the number of rows; on Adult also what a C4.5 tree learns from their tables.

python benchmarks/tds.py [--rows 100000 300000 1000000] [-k 100] [--adult FOLDER]

Every size runs in a process of its own, so that its peak memory is its own; kernels are loaded before. Seconds are
CPU seconds of one process, from an encoded table to an audited release. `--adult` names the folder of benchmark data.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from people import CATEGORICAL, NUMERIC, TARGET, people
from shoal import AnonymousTreeClassifier, to_table
from shoal.anonymize import TopDownRefinement, TopDownSpecialization
from shoal.papers.adult import CATEGORICAL as FIGURE_6
from shoal.papers.adult import TARGET as INCOME
from shoal.papers.adult import Adult

METHODS = {"TDS": TopDownSpecialization, "TDR": TopDownRefinement}
QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
EIGHT = (*list(CATEGORICAL)[:6], "age", "hours")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 300_000, 1_000_000])
    parser.add_argument("-k", type=int, default=100)
    parser.add_argument("--adult", type=Path)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        method, n_columns, n_rows = options.one
        print(json.dumps(measure(method, int(n_columns), int(n_rows), options.k)))
        return
    for method in METHODS if options.rows else ():
        for n_columns in (8, 14):
            grow(method, n_columns, options.rows, options.k)
    if options.adult:
        adult(Adult.read(options.adult))


def grow(method: str, n_columns: int, sizes: list[int], k: int) -> None:
    """Seconds and memory of one method, size after size."""
    found = []
    for n_rows in sizes:
        command = [sys.executable, __file__, "--one", method, str(n_columns), str(n_rows), "-k", str(k)]
        one = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        found.append(one)
        print(
            f"{method}, {n_columns} columns, {n_rows:>9,} rows: {one['seconds']:6.2f} s "
            f"(the method alone {one['method']:.2f}), peak {one['peak_gb']:.2f} GB, {one['steps']} steps, "
            f"smallest group {one['smallest']}"
        )
    if len(sizes) > 1:
        times = math.log(sizes[-1] / sizes[0])
        whole, alone = (math.log(found[-1][name] / found[0][name]) / times for name in ("seconds", "method"))
        print(
            f"{method}, {n_columns} columns: to the power of {whole:.2f} with the rows (the method alone {alone:.2f})"
        )


def measure(method: str, n_columns: int, n_rows: int, k: int) -> dict[str, float]:
    """One fit on so many rows."""
    names = EIGHT if n_columns == 8 else (*CATEGORICAL, *NUMERIC)
    METHODS[method](100).fit(people(20_000).select([*names, TARGET]), TARGET)  # loads the kernels
    table = to_table(people(n_rows).select([*names, TARGET]))
    inside = 0.0

    class Timed(METHODS[method]):  # type: ignore[name-defined,misc]
        def _recode(self, task):
            nonlocal inside
            start = time.process_time()
            made = super()._recode(task)
            inside = time.process_time() - start
            return made

    anonymizer = Timed(k)
    start = time.process_time()
    anonymizer.fit(table, TARGET)
    return {
        "seconds": time.process_time() - start,
        "method": inside,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2,
        "steps": len(anonymizer.steps_),
        "smallest": anonymizer.release_.verdict.smallest_group,
    }


def adult(data: Adult) -> None:
    """Seconds with eight quasi-identifiers, and the error of C4.5 on test rows, beside the k-anonymous tree."""
    for columns, what in ((QUASI, "8 quasi-identifiers"), (FIGURE_6, "8 categories"), (None, "14 columns")):
        own = [name for name in data.train.names if name != INCOME] if columns is None else list(columns)
        for k in (10, 50, 100, 500):
            told = [f"k-anonymous tree {100 * data.error(k_anonymous(data, own, k)):.2f} %"]
            for name, taxonomies in (("TDS", True), ("TDR", True), ("TDR", False)):
                error, seconds = learned(data, own, METHODS[name](k, hierarchies=given(data, own, taxonomies)))
                kind = "" if taxonomies else " without taxonomies"
                told.append(f"{name}{kind} {100 * error:.2f} % in {seconds:.2f} s")
            print(f"Adult, {what}, k = {k}: error " + ", ".join(told))


def given(data: Adult, columns: list[str], taxonomies: bool) -> dict[str, object]:
    return {name: data.hierarchies[name] for name in columns if taxonomies and name in data.hierarchies}


def k_anonymous(data: Adult, columns: list[str], k: int):
    """Of all columns a C4.5 tree, of the categories the ID3 tree of the paper."""
    variant = "id3" if columns == list(FIGURE_6) else "c45"
    tree = AnonymousTreeClassifier(privacy=k, variant=variant, hierarchies=given(data, columns, True))
    return tree.fit(data.train.select([*columns, INCOME]), INCOME).release_


def learned(data: Adult, columns: list[str], anonymizer: TopDownSpecialization) -> tuple[float, float]:
    """The error on recoded test rows of a C4.5 tree learned from the recoded training rows, and the fit's seconds."""
    start = time.process_time()
    rows = anonymizer.fit_transform(data.train.select([*columns, INCOME]), INCOME)
    seconds = time.process_time() - start
    tree = AnonymousTreeClassifier(privacy=2, variant="c45").fit(rows, INCOME)
    test = to_table(anonymizer.transform(data.test.select(columns)))
    truth = np.array(data.test[INCOME].names)[data.test[INCOME].codes]
    return float((tree.release_.predict(test, unknown="ancestor") != truth).mean()), seconds


if __name__ == "__main__":
    main()
