# SPDX-License-Identifier: Apache-2.0
"""`variant="c45"` with k = 1 beside Weka's J48 without subtree raising, on the same folds.

python benchmarks/c45.py --data FOLDER [--weka weka.jar] [--repeats 10] [--only car,crx]

Weka is a comparison by hand and no part of the project: without a jar (``--weka`` or WEKA_JAR) only our own column is
printed. It needs Java.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from shoal import AnonymousTreeClassifier
from tables import TABLES, folds, read

ONCE = 20_000  # a table with more rows is cut into folds once: chance has little say in it
J48 = ["weka.classifiers.trees.J48", "-S", "-C", "0.25", "-M", "2", "-v"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("SHOAL_DATA"), help="the benchmark data, or SHOAL_DATA"
    )
    parser.add_argument("--weka", type=Path, default=os.environ.get("WEKA_JAR"), help="weka.jar, or WEKA_JAR")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--only", default=",".join(TABLES))
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data, or set SHOAL_DATA")
    print("| table | rows | ten-folds | Shoal | J48 | difference | leaves | J48's |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name in options.only.split(","):
        table, target = read(options.data, name)
        repeats = 1 if table.n_rows > ONCE else options.repeats
        ours = np.mean([our_fold(table, target, *fold) for fold in folds(table, target, 10, repeats)], axis=0)
        row = f"| {name} | {table.n_rows:,} | {repeats} | {ours[0]:.1f} "
        if options.weka is None:
            print(f"{row}| | | {ours[1]:.0f} | |", flush=True)
            continue
        with tempfile.TemporaryDirectory() as folder:
            theirs = np.mean(
                [weka_fold(options.weka, Path(folder), table, *fold) for fold in folds(table, target, 10, repeats)],
                axis=0,
            )
        print(f"{row}| {theirs[0]:.1f} | {ours[0] - theirs[0]:+.1f} | {ours[1]:.0f} | {theirs[1]:.0f} |", flush=True)


def our_fold(table, target: str, train, test) -> tuple[float, int]:
    """Test accuracy in percent, and leaves that somebody is in."""
    tree = AnonymousTreeClassifier(privacy=1, variant="c45", unknown="ancestor").fit(table.take(train), target)
    truth = np.array(table[target].names)[table[target].codes[test]]
    leaves = tree.release_.counts[list(tree.release_.leaves)].sum(axis=1)
    return 100 * float((tree.predict(table.take(test)).astype(str) == truth).mean()), int((leaves > 0).sum())


def weka_fold(jar: Path, folder: Path, table, train, test) -> tuple[float, int]:
    """The same of J48."""
    for part, rows in (("train", train), ("test", test)):
        write_arff(table.take(rows), folder / f"{part}.arff")
    files = ["-t", str(folder / "train.arff"), "-T", str(folder / "test.arff")]
    answer = subprocess.run(["java", "-cp", str(jar), *J48, *files], capture_output=True, text=True, check=True).stdout
    # counts, not the percentage, which is rounded; leaves end in "(people/errors)"
    right = int(re.search(r"Correctly Classified Instances\s+(\d+)", answer)[1])
    leaves = [float(people) for people in re.findall(r": .*\(([\d.]+)(?:/[\d.]+)?\)$", answer, flags=re.M)]
    return 100 * right / len(test), sum(people > 0 for people in leaves)


def write_arff(table, path: Path) -> None:
    """Weka's own format, with the values of the whole table declared."""
    lines = ["@relation people"]
    columns = []
    for name, column in table.items():
        numeric = column.kind == "numeric"
        words = [repr(float(v)) for v in column.numbers] if numeric else [quoted(v) for v in column.names]
        lines.append(f"@attribute {quoted(name)} " + ("numeric" if numeric else "{" + ",".join(words) + "}"))
        columns.append(np.array([*words, "?"], dtype=object)[column.codes])
    lines += ["@data", *map(",".join, zip(*columns, strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


if __name__ == "__main__":
    main()
