# SPDX-License-Identifier: Apache-2.0
"""From a folder of Parquet files to an audited tree, in memory and in batches: seconds, peak memory and their ratios.

python benchmarks/stream.py [--rows 1000000 10000000] [-k 100] [--only stream] [--folder FOLDER]

Every run is a process of its own, so that its peak memory is its own (`ru_maxrss`); kernels are compiled before. Both
engines must give the same release. `--rows 100_000_000 --only stream` is for data larger than memory.
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

PIECE = 1_000_000  # rows of a file
ENGINES = ("memory", "stream")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("-k", type=int, default=100)
    parser.add_argument("--only", choices=ENGINES, help="run one engine only")
    parser.add_argument("--variant", choices=["id3", "c45"], help="grow as the papers do")
    parser.add_argument("--folder", type=Path, help="where files are made; the folder for temporary files by default")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(measure(options.one[0], options.one[1], options.k, options.variant)))
        return
    for n_rows in options.rows:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            start = time.perf_counter()
            write(Path(folder), min(n_rows, 220_000))
            for engine in ENGINES:
                run(engine, folder, options)  # compiles the kernels
            write(Path(folder), n_rows)
            print(f"{n_rows:,} rows made in {time.perf_counter() - start:.0f} s", flush=True)
            found = {}
            for engine in ENGINES:
                if options.only in (None, engine):
                    found[engine] = one = run(engine, folder, options)
                    print(
                        f"  {engine}: {one['seconds']:7.1f} s ({one['cpu']:.1f} s of processors), peak "
                        f"{one['peak_gb']:.2f} GB, {one['leaves']} leaves, {one['verdict']}",
                        flush=True,
                    )
            if len(found) == len(ENGINES):
                compare(found)


def compare(found: dict[str, dict[str, Any]]) -> None:
    """Print how the engines stand to each other; their releases must be the same."""
    memory, stream = (found[engine] for engine in ENGINES)
    assert memory["release"] == stream["release"], "the releases differ"
    print(
        f"  stream / memory: {stream['seconds'] / memory['seconds']:.2f} of the seconds, "
        f"{stream['cpu'] / memory['cpu']:.2f} of the processors, "
        f"{stream['peak_gb'] / memory['peak_gb']:.2f} of the memory; the same release",
        flush=True,
    )


def run(engine: str, folder: str, options: argparse.Namespace) -> dict[str, Any]:
    """One fit in a process of its own."""
    command = [sys.executable, __file__, "--one", engine, folder, "-k", str(options.k)]
    command += [] if options.variant is None else ["--variant", options.variant]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, Any] = json.loads(done)
    return found


def measure(engine: str, folder: str, k: int, variant: str | None) -> dict[str, Any]:
    """Read, mine and audit a folder."""
    from shoal import AnonymousTreeClassifier

    start, cpu = time.perf_counter(), time.process_time()
    release = AnonymousTreeClassifier(k, variant=variant, engine=engine).fit(folder, TARGET).release_
    assert release.verdict is not None
    return {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2,
        "leaves": len(release.leaves),
        "verdict": f"smallest group {release.verdict.smallest_group}",
        "release": hashlib.sha256(json.dumps(release.to_json()).encode()).hexdigest(),
    }


def write(folder: Path, n_rows: int) -> None:
    """People in Parquet files."""
    for number, first in enumerate(range(0, n_rows, PIECE)):
        pq.write_table(people(min(PIECE, n_rows - first), seed=number), folder / f"{number:05d}.parquet")


if __name__ == "__main__":
    main()
