# SPDX-License-Identifier: Apache-2.0
"""From a folder of Parquet files to an audited table, in memory and in batches: seconds, peak memory and their ratios.

python benchmarks/stream_tables.py [--rows 1000000 10000000] [--methods tree tds tdr mondrian] [-k 100] [--limit 900]

Every run is a process of its own, so that its peak memory is its own (`ru_maxrss`); kernels are compiled before. Both
engines must give the same release. Five public columns and a private target are published. `--limit` is the seconds
after which a run is given up.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from people import TARGET, people
from stream import ENGINES, PIECE, compare

METHODS = ("tree", "tds", "tdr", "mondrian")
PUBLIC = ["age", "sex", "region", "education", "job"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("-k", type=int, default=100)
    parser.add_argument("--limit", type=int, default=900)
    parser.add_argument("--folder", type=Path, help="where files are made; the folder for temporary files by default")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(measure(*options.one, options.k)))
        return
    for n_rows in options.rows:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            write(Path(folder), min(n_rows, 20_000))
            for method in options.methods:
                run(method, "memory", folder, options)  # compiles the kernels, which are those of both engines
            write(Path(folder), n_rows)
            for method in options.methods:
                found = {}
                for engine in ENGINES:
                    one = run(method, engine, folder, options)
                    print(f"{n_rows:>12,} rows, {method}, {engine}: {told(one, options.limit)}", flush=True)
                    if one is not None:
                        found[engine] = one
                if len(found) == len(ENGINES):
                    compare(found)


def told(one: dict[str, Any] | None, limit: int) -> str:
    """A run in words."""
    if one is None:
        return f"given up after {limit} s"
    seconds = f"{one['seconds']:.1f} s ({one['cpu']:.1f} s of processors)"
    return f"{seconds}, peak {one['peak_gb']:.2f} GB, {one['groups']} groups"


def run(method: str, engine: str, folder: str, options: argparse.Namespace) -> dict[str, Any] | None:
    """One fit in a process of its own; None where it takes too long."""
    command = [sys.executable, __file__, "--one", method, engine, folder, "-k", str(options.k)]
    try:
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=options.limit).stdout
    except subprocess.TimeoutExpired:
        return None
    found: dict[str, Any] = json.loads(done)
    return found


def measure(method: str, engine: str, folder: str, k: int) -> dict[str, Any]:
    """Read, generalise and audit a folder."""
    from shoal.anonymize.methods import make_method

    start, cpu = time.perf_counter(), time.process_time()
    common = {"privacy": k, "public": PUBLIC, "reproducible": True, "engine": engine}
    release = make_method(method, common, {}).fit(folder, TARGET).release_
    assert release.verdict is not None
    return {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2,
        "groups": release.n_groups,
        "release": hashlib.sha256(json.dumps(release.to_json()).encode()).hexdigest(),
    }


def write(folder: Path, n_rows: int) -> None:
    """People in Parquet files."""
    for number, first in enumerate(range(0, n_rows, PIECE)):
        table = people(min(PIECE, n_rows - first), seed=number).select([*PUBLIC, TARGET])
        pq.write_table(table, folder / f"{number:05d}.parquet")


if __name__ == "__main__":
    main()
