# SPDX-License-Identifier: Apache-2.0
"""Five ways to count a round on Spark, side by side: the same codes, the same counts.

python benchmarks/spark_counting.py [--rows 10000000] [--times 3]

A round counts 8 open nodes by 14 columns of codes, all values and 2 classes. The codes are in Spark's cache, once as a
table of 15 small numbers a row, once as the blocks of bytes that the Spark engine keeps. Where a row is in the tree is
found in the round itself. Printed are the seconds of the fastest of several rounds on two cores, those of processors in
it (of the JVM and its Python workers: these count on a busy machine), and the ratio to the engine's own way.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data import spark_session
from shoal.data.blocks import BLOCKS, run_task, to_blocks
from shoal.data.table import smallest_dtype
from shoal.engines.known import Known
from shoal.engines.spark_tasks import FOUND, Ask, Count, unpacked
from shoal.engines.splits import Splits

N_CODES = (2, 16, 8, 30, 12, 6, 5, 40, 72, 1024, 90, 1024, 20, 1024)  # of benchmarks/people.py, numbers cut
N_CLASSES = 2
N_NODES = 8
FIRST = np.cumsum([0, *N_CODES])[:-1]
WIDTH = sum(N_CODES)
Counts = NDArray[np.int64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--times", type=int, default=3, help="rounds of each way")
    options = parser.parse_args()
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", "--driver-memory 4g pyspark-shell")
    spark_session.MASTER = "local[2]"
    spark = spark_session.spark_session()
    spark.sparkContext.setLogLevel("OFF")
    spark.conf.set("spark.sql.shuffle.partitions", "2")  # with the 200 of default, native ways would pay for tasks
    codes = codes_of(spark, options.rows).persist()
    assert codes.count() == options.rows
    dtypes = [smallest_dtype(n) for n in (*N_CODES, N_CLASSES)]
    blocks = codes.mapInArrow(partial(to_blocks, dtypes), BLOCKS).persist()
    blocks.count()
    ways: dict[str, Callable[[], Counts]] = {
        "blocks of bytes, our kernel": lambda: by_blocks(blocks, dtypes),
        "UNION ALL of native aggregations": lambda: dense(union_all(codes)),
        "unpivot and one native aggregation": lambda: dense(unpivot(codes)),
        "GROUPING SETS": lambda: dense(grouping_sets(spark, codes)),
        "mapInArrow with NumPy": lambda: in_numpy(codes),
    }
    print(f"{options.rows:,} rows; load of the machine {os.getloadavg()[0]:.1f}", flush=True)
    wanted, own = None, 0.0
    for name, way in ways.items():
        way()  # compiles
        spent = []
        for _ in range(options.times):
            start, before = time.perf_counter(), processors()
            counts = way()
            spent.append((time.perf_counter() - start, processors() - before))
            wanted = counts if wanted is None else wanted
            assert (counts == wanted).all(), f"{name} counts otherwise"
        seconds, busy = min(spent)
        own = own or seconds
        print(f"  {name:36}{seconds:7.2f} s ({busy:.1f} s of processors), ratio {seconds / own:.2f}", flush=True)
    spark.stop()


def codes_of(spark: Any, n_rows: int) -> Any:
    """Codes ``c0``, ``c1``, … and the class ``y``; the same in every run."""
    from pyspark.sql import functions as F

    drawn = [
        F.pmod(F.xxhash64("id", F.lit(number)), F.lit(n)).cast("smallint").alias(f"c{number}")
        for number, n in enumerate((*N_CODES, N_CLASSES))
    ]
    return spark.range(n_rows, numPartitions=8).select(*drawn).withColumnRenamed(f"c{len(N_CODES)}", "y")


def at_node() -> Any:
    """Where a row is: the root is split by the first column, its parts by halves of the second and of the third."""
    from pyspark.sql import functions as F

    return (F.col("c0") * 4 + F.when(F.col("c1") < 8, 0).otherwise(2) + F.when(F.col("c2") < 4, 0).otherwise(1)).alias(
        "node"
    )


def union_all(codes: Any) -> Any:
    from pyspark.sql import functions as F

    each = [
        codes.groupBy(at_node(), F.col(f"c{f}").alias("code"), "y")
        .agg(F.count("*").alias("n"))
        .select(F.lit(f).alias("f"), "node", "code", "y", "n")
        for f in range(len(N_CODES))
    ]
    return reduce(lambda one, other: one.unionAll(other), each)


def unpivot(codes: Any) -> Any:
    from pyspark.sql import functions as F

    cells = F.array(*(F.struct(F.lit(f).alias("f"), F.col(f"c{f}").alias("code")) for f in range(len(N_CODES))))
    each = codes.select(at_node(), "y", F.inline(cells))
    return each.groupBy("f", "node", "code", "y").agg(F.count("*").alias("n"))


def grouping_sets(spark: Any, codes: Any) -> Any:
    names = [f"c{f}" for f in range(len(N_CODES))]
    codes.select("*", at_node()).createOrReplaceTempView("codes")
    sets = ", ".join(f"(node, y, {name})" for name in names)
    which = " ".join(f"WHEN grouping({name}) = 0 THEN {f}" for f, name in enumerate(names))
    return spark.sql(
        f"SELECT CASE {which} END AS f, node, coalesce({', '.join(names)}) AS code, y, count(*) AS n "
        f"FROM codes GROUP BY GROUPING SETS ({sets})"
    )


def dense(found: Any) -> Counts:
    """Counts as the engine has them."""
    table = found.toArrow()
    f, node, code, y, n = (table.column(name).to_numpy() for name in ("f", "node", "code", "y", "n"))
    counts = np.zeros((N_NODES, WIDTH, N_CLASSES), dtype=np.int64)
    counts[node, FIRST[f] + code, y] = n
    return counts


def in_numpy(codes: Any) -> Counts:
    found = codes.mapInArrow(numpy_counts, "counts binary").toArrow().column(0).to_pylist()
    return np.sum([np.frombuffer(each, dtype=np.int64) for each in found], axis=0).reshape(N_NODES, WIDTH, N_CLASSES)


def numpy_counts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What a worker does: a cell of Spark for every code."""
    counts = np.zeros((N_NODES, WIDTH, N_CLASSES), dtype=np.int64)
    for batch in batches:
        *columns, y = (column.to_numpy().astype(np.int64) for column in batch.columns)
        node = columns[0] * 4 + np.where(columns[1] < 8, 0, 2) + np.where(columns[2] < 4, 0, 1)
        for column, first, n in zip(columns, FIRST, N_CODES, strict=True):
            places = np.bincount((node * n + column) * N_CLASSES + y, minlength=N_NODES * n * N_CLASSES)
            counts[:, first : first + n] += places.reshape(N_NODES, n, N_CLASSES)
    yield pa.record_batch([pa.array([counts.tobytes()], pa.binary())], names=["counts"])


def by_blocks(blocks: Any, dtypes: list[np.dtype[Any]]) -> Counts:
    """As `SparkEngine` counts."""
    splits = Splits(np.array([1, 1]))
    halves = {f: (np.arange(N_CODES[f]) >= N_CODES[f] // 2).astype(np.int32) for f in (0, 1, 2)}
    nodes = np.zeros(1, dtype=np.int64)
    for f in (0, 1, 2):
        some = np.ones((len(nodes), N_CODES[f], N_CLASSES), dtype=np.int64)
        nodes = splits.split(nodes, f, np.tile(halves[f], (len(nodes), 1)), some, 2).reshape(-1)
    known = Known(range(len(N_CODES)), N_CODES, len(N_CODES), N_CLASSES)
    ask = Ask(splits.routes(nodes), N_NODES, known.width, known.columns, known.first, known.by, known.n_values)
    recode = [(place, np.arange(n, dtype=smallest_dtype(n))) for place, n in enumerate((*N_CODES, N_CLASSES))]
    found = blocks.mapInArrow(partial(run_task, Count(recode, [ask], 1), dtypes), FOUND).toArrow()
    return unpacked(ask.size, found).reshape(N_NODES, WIDTH, N_CLASSES)


def processors() -> float:
    """Seconds that processors have worked for this process and all that it started; 0 where there is no /proc."""
    of: dict[int, tuple[int, int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        fields = text.rsplit(")", 1)[1].split()
        of[int(text.split(" ", 1)[0])] = int(fields[1]), sum(map(int, fields[11:15]))
    own = {os.getpid()}
    while new := {process for process, (parent, _) in of.items() if parent in own} - own:
        own |= new
    return sum(of[process][1] for process in own if process in of) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
