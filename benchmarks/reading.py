# SPDX-License-Identifier: Apache-2.0
"""How fast files become encoded tables, against Arrow's own reader in the same run.

Usage: python benchmarks/reading.py [--rows 1000000] [--parquet-rows 10000000] [--repeat 3]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from shoal.data.read import read_table


def words(rng: np.random.Generator, n_rows: int, n_values: int) -> pa.Array:
    """A string column of `n_values` words, frequent and rare ones."""
    codes = (n_values * rng.random(n_rows) ** 2).astype(np.int32)
    values = pa.array([f"value-{i:04d}"[: 6 + i % 5] + str(i) for i in range(n_values)])
    return pa.DictionaryArray.from_arrays(codes, values)


def write_csv(path: Path, n_rows: int) -> None:
    """Six columns of numbers and eight of strings."""
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {
        "age": rng.integers(18, 95, n_rows),
        "hours": rng.integers(0, 99, n_rows),
        "income": rng.integers(0, 200_000, n_rows),
        "weight": np.round(rng.normal(75, 12, n_rows), 1),
        "score": np.round(rng.random(n_rows), 4),
        "amount": np.round(rng.lognormal(5, 2, n_rows), 2),
    }
    for i, n_values in enumerate([2, 3, 5, 9, 16, 40, 120, 500]):
        columns[f"c{i}"] = words(rng, n_rows, n_values).dictionary_decode()
    pacsv.write_csv(pa.table(columns), path)


def write_parquet(path: Path, n_rows: int) -> None:
    """Eight categorical columns, a million rows at a time."""
    rng = np.random.default_rng(2)
    sizes = [2, 3, 5, 9, 16, 40, 120, 500]
    writer = None
    for start in range(0, n_rows, 1_000_000):
        n = min(1_000_000, n_rows - start)
        table = pa.table({f"c{i}": words(rng, n, size).dictionary_decode() for i, size in enumerate(sizes)})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def best(work: Callable[[], object], repeat: int) -> float:
    """The shortest of some runs, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def peak_rss() -> float:
    """Of this process so far, in GB."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux hands ru_maxrss of the parent on to a child, but not this
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the CSV file")
    parser.add_argument("--parquet-rows", type=int, help="rows of the Parquet file; ten times --rows by default")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--read", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:  # the child process: one file, so that the peak is its own
        before = peak_rss()
        seconds = best(lambda: read_table(options.read), 1)
        print(f"shoal {seconds:.2f} s, peak RSS {peak_rss():.2f} GB ({before:.2f} GB before reading)")
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.csv")
        write_csv(file, options.rows)
        theirs = best(lambda: pacsv.read_csv(file), options.repeat)
        ours = best(lambda: read_table(file), options.repeat)
        print(f"CSV, {options.rows:,} rows x 14 columns, {file.stat().st_size / 2**20:.0f} MB:")
        print(f"  pyarrow.csv.read_csv {theirs:.2f} s, shoal {ours:.2f} s, ratio {ours / theirs:.2f}")
        file = Path(folder, "rows.parquet")
        n_rows = options.parquet_rows or 10 * options.rows
        write_parquet(file, n_rows)
        print(f"Parquet, {n_rows:,} rows x 8 columns, {file.stat().st_size / 2**20:.0f} MB:", flush=True)
        theirs = best(lambda: pq.read_table(file), 1)
        print(f"  pyarrow.parquet.read_table {theirs:.2f} s; in a process of its own: ", end="", flush=True)
        subprocess.run([sys.executable, __file__, "--read", str(file)], check=True)


if __name__ == "__main__":
    main()
