# SPDX-License-Identifier: Apache-2.0
"""From a Parquet file to an audited tree: seconds, memory, and how both grow with the rows.

python benchmarks/scale.py [--rows 100000 1000000 10000000] [-k 100]

Every size runs in a process of its own, so that its peak memory is its own; kernels are compiled before.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

from people import TARGET, people
from shoal import AnonymousTreeClassifier, read_table

PIECE = 1_000_000  # rows made at once


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("-k", type=int, default=100)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(measure(options.one, options.k)))
        return
    AnonymousTreeClassifier(privacy=options.k).fit(people(220_000), TARGET)  # compiles the kernels
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for n_rows in options.rows:
            path = Path(folder) / f"{n_rows}.parquet"
            write(path, n_rows)
            command = [sys.executable, __file__, "--one", str(path), "-k", str(options.k)]
            one = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            found.append((n_rows, one["seconds"]))
            print(
                f"{n_rows:>11,} rows: {one['seconds']:7.2f} s (reading {one['reading']:.2f}), "
                f"peak {one['peak_gb']:.2f} GB, {one['leaves']} leaves, {one['verdict']}"
            )
            path.unlink()
    (fewest, quickest), (most, slowest) = found[0], found[-1]
    if most > fewest:
        exponent = math.log(slowest / quickest) / math.log(most / fewest)
        print(f"seconds grow with rows to the power of {exponent:.2f}")


def measure(path: Path, k: int) -> dict[str, object]:
    """Read, mine and audit one file; the fit ends with its own audit."""
    start = time.perf_counter()
    table = read_table(path)
    reading = time.perf_counter() - start
    tree = AnonymousTreeClassifier(privacy=k).fit(table, TARGET)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    release = tree.release_
    return {
        "seconds": seconds,
        "reading": reading,
        "peak_gb": peak,
        "leaves": len(release.leaves),
        "verdict": f"smallest group {release.verdict.smallest_group}",
    }


def write(path: Path, n_rows: int) -> None:
    """People in a Parquet file, piece by piece."""
    writer = None
    for number, first in enumerate(range(0, n_rows, PIECE)):
        piece = people(min(PIECE, n_rows - first), seed=number)
        writer = writer or pq.ParquetWriter(path, piece.schema)
        writer.write_table(piece)
    assert writer is not None
    writer.close()


if __name__ == "__main__":
    main()
