# SPDX-License-Identifier: Apache-2.0
"""Options of growing beside the default, in one table of errors.

python benchmarks/options.py --data FOLDER [--repeats 3] [--only adult,car]

Adult is measured by five-folds of its training part and on its test part, with all columns public; the other tables by
ten-folds, `repeats` times. A star marks what differs from the default ("c45, merge": from "c45") by more than two
standard errors, counted over people. The last two columns are balanced errors (the average of the classes' own),
without and with ``class_weight="balanced"``.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np

from shoal import AnonymousTreeClassifier
from shoal.data import Table
from tables import TABLES, folds, read

ADULT_KS, KS = (10, 50, 100, 500, 1000), (5, 10)
OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "no search": {"search": False},
    "merge": {"grouping": "merge"},
    "min_gain 0.001": {"min_gain": 0.001},
    "min_gain 0.005": {"min_gain": 0.005},
    "lookahead": {"lookahead": 1},
    "c45": {"variant": "c45"},
    "c45, merge": {"variant": "c45", "grouping": "merge"},
    "balanced": {"class_weight": "balanced"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("SHOAL_DATA"), help="the benchmark data, or SHOAL_DATA"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default=",".join(TABLES))
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data, or set SHOAL_DATA")
    data = Path(options.data)
    print("| table | k | " + " | ".join(list(OPTIONS)[:-1]) + " | balanced error | with class_weight |")
    print("|---|" + "---:|" * (len(OPTIONS) + 2), flush=True)
    for name in options.only.split(","):
        table, target = read(data, name)
        if name != "adult":
            parts = [(table.take(a), table.take(b)) for a, b in folds(table, target, 10, options.repeats)]
            for k in KS:
                compare(name, k, parts, target, repeats=options.repeats)
            continue
        table, test = table.complete(), read(data, name, test=True)[0].complete()
        parts = [(table.take(a), table.take(b)) for a, b in folds(table, target, 5, 1)]
        for k in ADULT_KS:
            compare("adult, five-fold", k, parts, target)
        for k in ADULT_KS:
            compare("adult, test", k, [(table, test)], target)


def compare(name: str, k: int, parts: list[tuple[Table, Table]], target: str, *, repeats: int = 1) -> None:
    """Print one line: the errors of every option on the same parts."""
    truth = np.concatenate([np.array(test[target].names)[test[target].codes] for _, test in parts])
    wrong = {}
    for option, given in OPTIONS.items():
        tree = AnonymousTreeClassifier(privacy=k, unknown="ancestor", **given)
        answers = [tree.fit(train, target).predict(test).astype(str) for train, test in parts]
        wrong[option] = np.concatenate(answers) != truth
    cells = []
    for option in list(OPTIONS)[:-1]:
        difference = wrong[option].astype(float) - wrong["c45" if option == "c45, merge" else "default"]
        # whoever is asked in every repeat is still one person
        far = abs(difference.mean()) > 2 * difference.std() / np.sqrt(len(truth) / repeats)
        cells.append(f"{wrong[option].mean():.2%}{'*' if far else ''}")
    for option in ("default", "balanced"):
        cells.append(f"{np.mean([wrong[option][truth == label].mean() for label in np.unique(truth)]):.2%}")
    print(f"| {name} | {k} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
