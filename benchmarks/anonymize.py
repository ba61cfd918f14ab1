# SPDX-License-Identifier: Apache-2.0
"""Table anonymisers on Adult: time beside anjana and anonypy, and what a C4.5 tree learns from each result.

The peers are installed for this benchmark only: pip install anjana anonypy

python benchmarks/anonymize.py peers --data FOLDER [--k 10 100]
python benchmarks/anonymize.py accuracy --data FOLDER [--k 10 50 100 500] [--plot FILE]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from shoal import AnonymousTreeClassifier
from shoal.anonymize.methods import METHODS, make_method
from shoal.data import Table, read_table
from shoal.errors import ShoalError
from shoal.evaluate import learned_accuracy, measure_table

COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
TARGET = "income"
QUICK = {"k-optimize": {"max_seconds": 10.0}}


def adult(data: Path, part: str) -> Table:
    """The complete rows of a part of Adult."""
    table = read_table(data / f"adult_{part}.csv.gz", missing=["?"], kinds={TARGET: "categorical"})
    return table.complete()


def hierarchies(data: Path, columns: list[str]) -> dict[str, Path]:
    """ARX's hierarchies, but for age: numbers are cut freely."""
    files = {name: data / "hierarchies" / "arx" / f"adult_hierarchy_{name}.csv" for name in columns}
    return {name: path for name, path in files.items() if path.exists() and name != "age"}


def cpu(work: Any, repeats: int = 3) -> tuple[float, Any]:
    """The least CPU seconds of some runs, and the result."""
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def anjana_run(rows: pd.DataFrame, data: Path, k: int) -> pd.DataFrame:
    """anjana's k-anonymity over the same hierarchies."""
    from anjana.anonymity import k_anonymity

    levels = {}
    for name in COLUMNS:
        path = data / "hierarchies" / "arx" / f"adult_hierarchy_{name}.csv"
        frame = pd.read_csv(path, sep=";", header=None, dtype=str)
        levels[name] = {level: frame[level].to_numpy() for level in frame}
    own = rows.astype(dict.fromkeys(COLUMNS, str))
    return k_anonymity(own, [], COLUMNS, k, 0, levels)


def anonypy_run(rows: pd.DataFrame, k: int) -> Any:
    """anonypy's Mondrian; its categories are ordered by code."""
    import anonypy

    own = rows.copy()
    for name in COLUMNS:
        if name != "age":
            own[name] = own[name].astype("category")
    return anonypy.Preserver(own, COLUMNS, TARGET).anonymize_k_anonymity(k)


def fitted(name: str, common: dict[str, Any], train: Table) -> Any:
    """One of our methods, audit included."""
    return make_method(name, common, QUICK.get(name)).fit(train, TARGET)


def peers(data: Path, ks: list[int]) -> None:
    """CPU seconds of every method, closing audit included, and of the peers in the same run."""
    train, test = adult(data, "train").select([*COLUMNS, TARGET]), adult(data, "test").select([*COLUMNS, TARGET])
    frame = pd.read_csv(data / "adult_train.csv.gz", na_values=["?"]).dropna()[[*COLUMNS, TARGET]]
    given = hierarchies(data, COLUMNS)
    for k in ks:
        print(f"k = {k}, {train.n_rows:,} rows, {len(COLUMNS)} quasi-identifiers; CPU seconds, audit included")
        theirs: dict[str, float] = {}
        runs = {"anjana": partial(anjana_run, frame, data, k), "anonypy": partial(anonypy_run, frame, k)}
        for name, run in runs.items():
            try:
                with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    theirs[name], _ = cpu(run, 1)
            except ImportError:
                print(f"  {name} is not installed: left out")
        for name, seconds in theirs.items():
            print(f"  {name:16s} {seconds:8.2f} s")
        for name in METHODS:
            common = {"privacy": k, "hierarchies": given}
            repeats = 1 if name in ("k-optimize", "clusters") else 3
            seconds, method = cpu(partial(fitted, name, common, train), repeats)
            release = method.release_
            ratios = "  ".join(f"{other} / ours {each / seconds:6.1f}" for other, each in theirs.items())
            accuracy = learned_accuracy(release, test)
            print(
                f"  {name:16s} {seconds:8.2f} s  {ratios}  LM {measure_table(release).lm:.3f}  "
                f"learned accuracy {accuracy:.3f}"
            )


def accuracy(data: Path, ks: list[int], methods: list[str], plot: Path | None) -> None:
    """What a C4.5 tree learned from each result answers right on raw test rows, beside the k-anonymous tree."""
    train, test = adult(data, "train"), adult(data, "test")
    given = hierarchies(data, train.names)
    truth = np.array(test[TARGET].names)[test[TARGET].codes]
    lines: dict[str, list[float]] = {}
    raw = AnonymousTreeClassifier(privacy=1, variant="c45", unknown="ancestor").fit(train, TARGET)
    print(f"C4.5 on untouched rows: {(raw.predict(test) == truth).mean():.4f}")
    for k in ks:
        tree = AnonymousTreeClassifier(privacy=k, unknown="ancestor").fit(train, TARGET)
        lines.setdefault("k-anonymous tree", []).append(float((tree.predict(test) == truth).mean()))
        for name in methods:
            try:
                method = make_method(name, {"privacy": k, "hierarchies": given}, QUICK.get(name)).fit(train, TARGET)
            except ShoalError as refusal:
                lines.setdefault(name, []).append(np.nan)
                print(f"k = {k:4d}  {name:16s} refused: {refusal}", flush=True)
                continue
            lines.setdefault(name, []).append(learned_accuracy(method.release_, test))
            print(f"k = {k:4d}  {name:16s} {lines[name][-1]:.4f}", flush=True)
    print("| method | " + " | ".join(f"k = {k}" for k in ks) + " |")
    print("|---|" + "---:|" * len(ks))
    for name, values in lines.items():
        print(f"| {name} | " + " | ".join("–" if np.isnan(value) else f"{100 * value:.1f}" for value in values) + " |")
    if plot is not None:
        _draw(lines, ks, plot)


def _draw(lines: dict[str, list[float]], ks: list[int], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.6), layout="constrained")
    ax = figure.subplots()
    drawn = {name: values for name, values in lines.items() if not np.isnan(values).all()}
    for number, (name, values) in enumerate(drawn.items()):
        ax.plot(ks, [100 * value for value in values], marker="osD^v<>*P"[number % 9], label=name)
    ax.set_xscale("log")
    ax.set_xticks(ks, [str(k) for k in ks])
    ax.minorticks_off()
    ax.set_xlabel("k")
    ax.set_ylabel("right on raw test rows, %")
    ax.legend(fontsize=8, ncols=2, frameon=False)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["peers", "accuracy"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--k", type=int, nargs="+")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    if given.what == "peers":
        peers(given.data, given.k or [10, 100])
    else:
        accuracy(given.data, given.k or [10, 50, 100, 500], given.methods, given.plot)


if __name__ == "__main__":
    main()
