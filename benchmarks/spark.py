# SPDX-License-Identifier: Apache-2.0
"""From a folder of Parquet files to an audited tree, in memory and on Spark with two cores.

python benchmarks/spark.py [--rows 1000000 10000000] [-k 1000] [--variant id3] [--max-depth 8]

Prints the seconds of each part and of a round, how much longer Spark takes than the memory engine in the same run, the
bytes that reach the driver in a round beside the formula of docs/explanation/scale.md, and the driver's peak memory
(the Python process; the JVM's is given beside it). Every run is a process of its own. The tree is bounded by its depth,
so that its size does not grow with the rows. Both engines must give the same release.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from people import TARGET
from stream import write

ENGINES = ("memory", "spark")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("-k", type=int, default=1000)
    parser.add_argument("--variant", choices=["id3", "c45"], help="grow as the papers do")
    parser.add_argument("--max-depth", type=int, default=8)
    parser.add_argument("--folder", type=Path, help="where files are made; the folder for temporary files by default")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(measure(options.one[0], options.one[1], options)))
        return
    peaks = []
    for n_rows in options.rows:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            write(Path(folder), n_rows)
            print(f"{n_rows:,} rows", flush=True)
            found = {engine: run(engine, folder, options) for engine in ENGINES}
        memory, spark = (found[engine] for engine in ENGINES)
        assert memory["release"] == spark["release"], "the releases differ"
        peaks.append(spark["peak_mb"])
        print(f"  memory: {memory['seconds']:.1f} s, {memory['leaves']} leaves")
        print(
            f"  spark: {spark['seconds']:.1f} s in {spark['jobs']} jobs: "
            f"dictionaries and codes {spark['coding']:.1f} s, {spark['rounds']} rounds of {spark['a_round']:.2f} s "
            f"each, search {spark['searching']:.1f} s"
        )
        overhead = 1 - memory["seconds"] / spark["seconds"]
        print(
            f"  spark / memory: {spark['seconds'] / memory['seconds']:.1f} of the seconds, "
            f"so {overhead:.0%} of Spark's are overhead; the same release"
        )
        print(
            f"  a round brings at most {spark['most_bytes']:,} bytes to the driver "
            f"(formula: no more than {spark['bound']:,}); driver's peak {spark['peak_mb']:.0f} MB, "
            f"its JVM {spark['jvm_mb']:.0f} MB"
        )
    if len(peaks) > 1:
        print(f"driver's peak at {options.rows[-1]:,} rows / at {options.rows[0]:,}: {peaks[-1] / peaks[0]:.2f}")


def run(engine: str, folder: str, options: argparse.Namespace) -> dict[str, Any]:
    """One fit in a process of its own."""
    command = [sys.executable, __file__, "--one", engine, folder, "-k", str(options.k)]
    command += ["--max-depth", str(options.max_depth)]
    command += [] if options.variant is None else ["--variant", options.variant]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, Any] = json.loads(done.splitlines()[-1])
    return found


def measure(engine: str, folder: str, options: argparse.Namespace) -> dict[str, Any]:
    """Read, mine and audit a folder; kernels are compiled, and on Spark workers started, by a small one before."""
    from shoal import AnonymousTreeClassifier

    def fit(path: str) -> Any:
        tree = AnonymousTreeClassifier(
            privacy=options.k, engine=engine, variant=options.variant, max_depth=options.max_depth
        )
        return tree.fit(path, TARGET)

    if engine == "spark":
        from shoal.data import spark_session

        spark_session.MASTER = "local[2]"
    with tempfile.TemporaryDirectory() as small:
        write(Path(small), 20_000)
        fit(small)
    spent = watch() if engine == "spark" else {}
    start = time.perf_counter()
    release = fit(folder).release_
    seconds = time.perf_counter() - start
    found = {
        "seconds": seconds,
        "leaves": len(release.leaves),
        "release": hashlib.sha256(json.dumps(release.to_json()).encode()).hexdigest(),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    if engine == "spark":
        rounds = spent["rounds"]
        found |= {
            "coding": sum(spent["coding"]),
            "rounds": len(rounds),
            "a_round": sum(each[0] for each in rounds) / max(len(rounds), 1),
            "most_bytes": max(each[1] for each in rounds),
            "bound": max(each[2] for each in rounds),
            "searching": sum(spent["searching"]),
            "jobs": spent["jobs"](),
            "jvm_mb": jvm_peak(),
        }
    return found


def watch() -> dict[str, Any]:
    """Note what the Spark engine spends its time on, from now on."""
    from shoal.data.spark_rows import SparkCoded
    from shoal.data.spark_session import spark_session
    from shoal.engines.spark import SparkEngine
    from shoal.engines.spark_tasks import Count

    spent: dict[str, Any] = {"coding": [], "rounds": [], "searching": []}
    tracker = spark_session().sparkContext.statusTracker()
    before = len(tracker.getJobIdsForGroup(None))
    spent["jobs"] = lambda: len(tracker.getJobIdsForGroup(None)) - before
    coded, found, outlooks = SparkCoded.__init__, SparkCoded.found, SparkEngine.outlooks

    def coding(self: Any, *args: Any, **more: Any) -> None:
        start = time.perf_counter()
        coded(self, *args, **more)
        spent["coding"].append(time.perf_counter() - start)

    def finding(self: Any, task: Any, schema: str) -> Any:
        start = time.perf_counter()
        table = found(self, task, schema)
        if isinstance(task, Count):
            bound = 12 * self.n_tasks * sum(ask.size for ask in task.asks)
            spent["rounds"].append((time.perf_counter() - start, table.nbytes, bound))
        return table

    def searching(*args: Any) -> Any:
        start = time.perf_counter()
        costs = outlooks(*args)
        spent["searching"].append(time.perf_counter() - start)
        return costs

    SparkCoded.__init__, SparkCoded.found, SparkEngine.outlooks = coding, finding, searching  # type: ignore[method-assign]
    return spent


def jvm_peak() -> float:
    """The peak memory of the JVM that this process started, in MB; 0 where there is no /proc."""
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        except OSError:
            continue
        if lines["Name"].strip() == "java" and int(lines["PPid"]) == os.getpid():
            return int(lines["VmHWM"].split()[0]) / 1024
    return 0.0


if __name__ == "__main__":
    main()
