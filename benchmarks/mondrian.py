# SPDX-License-Identifier: Apache-2.0
"""Mondrian on tables of growing size, and what it costs to publish regions instead of ranges of values.

python benchmarks/mondrian.py [--rows 100000 300000 1000000] [-k 10] [--relaxed] [--criterion gain]

Every size runs in a process of its own, so that its peak memory is its own; kernels are compiled before. Seconds are
of CPU time, with and without the closing audit. Where SHOAL_DATA names the folder of benchmark data, Adult's eight
quasi-identifiers are generalised too.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from people import TARGET, people
from shoal.anonymize import Mondrian, base
from shoal.data import Table, to_table
from shoal.evaluate import measure_table
from shoal.evaluate.losses import cell_losses
from shoal.papers.adult import Adult
from shoal.release import TableRelease

COLUMNS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 300_000, 1_000_000])
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--relaxed", action="store_true")
    parser.add_argument("--criterion", default="width")
    parser.add_argument("--columns", type=int, default=14)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    method = Mondrian(options.k, relaxed=options.relaxed, criterion=options.criterion)
    measure(method, 2_000, options.columns)  # compiles the kernels
    if options.one is not None:
        print(json.dumps(measure(method, options.one, options.columns)))
        return
    if "SHOAL_DATA" in os.environ:
        adult(Path(os.environ["SHOAL_DATA"]))
    found = []
    for n_rows in options.rows:
        command = [sys.executable, __file__, *sys.argv[1:], "--one", str(n_rows)]
        one = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        found.append((n_rows, one["recoding"], one["all"]))
        print(
            f"{n_rows:>11,} rows: {one['recoding']:6.2f} s to recode and publish, {one['all']:6.2f} s with the audit, "
            f"peak {one['peak_gb']:.2f} GB ({one['rows_gb']:.2f} before), {one['audit_gb']:.2f} GB with the audit, "
            f"{one['groups']:,} groups, {one['verdict']}"
        )
    (fewest, *least), (most, *longest) = found[0], found[-1]
    if most > fewest:
        grows = [math.log(b / a) / math.log(most / fewest) for a, b in zip(least, longest, strict=True)]
        print(f"seconds grow with rows to the power of {grows[0]:.2f}, with the audit of {grows[1]:.2f}")


def measure(method: Mondrian, n_rows: int, n_columns: int) -> dict[str, Any]:
    """Fit one table; the time of the audit is taken apart."""
    table = to_table(people(n_rows))
    table = table.select([*[name for name in table.names if name != TARGET][:n_columns], TARGET])
    before = peak()
    auditing: list[float] = []
    peaks: list[float] = []

    def timed(*args: Any, **options: Any) -> Any:
        peaks.append(peak())
        start = time.process_time()
        verdict = audit(*args, **options)
        auditing.append(time.process_time() - start)
        return verdict

    audit, base.audit = base.audit, timed
    start = time.process_time()
    release = method.fit(table, TARGET).release_
    seconds = time.process_time() - start
    base.audit = audit
    return {
        "all": seconds,
        "recoding": seconds - sum(auditing),
        "rows_gb": before,
        "peak_gb": max(peaks),
        "audit_gb": peak(),
        "groups": int(release.groups.max()) + 1,
        "verdict": f"smallest group {release.verdict.smallest_group}",
    }


def adult(folder: Path) -> None:
    """Adult, by every way of cutting: seconds, and loss by region and by the range of values in it."""
    train = Adult.read(folder).train
    files = folder / "hierarchies" / "arx"
    hierarchies = {name: files / f"adult_hierarchy_{name}.csv" for name in COLUMNS if name != "age"}
    for names in (COLUMNS, [name for name in train.names if name != "income"]):
        table = train.select([*names, "income"])
        for options in ({}, {"relaxed": True}, {"criterion": "gain"}):
            for k in (10, 100):
                method = Mondrian(k, hierarchies=hierarchies, reproducible=True, **options)
                recoded = method.fit_transform(table, "income")
                start = time.process_time()
                method.fit(table, "income")
                seconds = time.process_time() - start
                measured = measure_table(method.release_)
                told = ", ".join(f"{name}={value}" for name, value in options.items()) or "strict"
                print(
                    f"Adult, {len(names)} columns, k = {k}, {told}: {seconds:.2f} s, {measured.n_groups} groups, "
                    f"CM {measured.cm}, LM {measured.lm:.3f}, "
                    f"by ranges of values {measured.lm - gap(method.release_, recoded, table):.3f}"
                )


def gap(release: TableRelease, recoded: Any, table: Table) -> float:
    """How much lower LM would be with numbers from the lowest to the highest of a group, which are never published."""
    texts = [recoded[name].fill_null("").to_numpy(zero_copy_only=False).astype(str) for name in release.public]
    _, group = np.unique(np.stack(texts), axis=1, return_inverse=True)
    gaps = []
    for name in release.public:
        column = table[name]
        if column.kind == "categorical" or release.attribute(name).type == "categorical":
            continue
        numbers, group = column.numbers[column.codes], group.reshape(-1)
        low, high = np.full(group.max() + 1, np.inf), np.full(group.max() + 1, -np.inf)
        np.minimum.at(low, group, numbers)
        np.maximum.at(high, group, numbers)
        wide = cell_losses(release.attribute(name), release.generalised[name])[release.rows[name].codes].mean()
        gaps.append(float(wide) - float((high - low)[group].mean()) / (column.numbers[-1] - column.numbers[0]))
    return sum(gaps) / len(release.public)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


if __name__ == "__main__":
    main()
