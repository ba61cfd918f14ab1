# SPDX-License-Identifier: Apache-2.0
"""Predictions for rows on a Spark cluster, which its workers write down."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from shoal.data.spark_session import guarded
from shoal.data.spark_source import quoted, spark_source
from shoal.errors import ReleaseError
from shoal.release.tree import TreeRelease


def predict_spark(release: TreeRelease, rows: Any, path: str | os.PathLike[str], *, proba: bool = False) -> int:
    """Write rows and what a tree predicts of each as a folder of Parquet files.

    Rows on a cluster have no order, so they are written with their prediction. That stands in the column of the target,
    whatever was in it.

    Parameters
    ----------
    release
        A released tree.
    rows
        A Spark DataFrame, a path, or the name of a table.
    path
        The folder to write, which must not be there. It is there when all rows are done, or not at all.
    proba
        Add the share of each class, in columns such as ``income=high``.

    Returns
    -------
    int
        How many rows were predicted.
    """
    target = Path(path)
    if target.exists():
        raise ReleaseError("cannot-write", f"Cannot write {str(target)!r}: it is there already.")
    source = spark_source(rows)
    source.check(release.routing.names)
    answers = {release.target: release.to_spark()}
    if proba:
        answers |= {f"{release.target}={value}": share for value, share in release.to_spark(proba=True).items()}
    kept = [quoted(name) for name in source.names if name not in answers]
    with guarded():
        try:
            frame = source.with_nulls(release.routing.names)
            frame = frame.select(*kept, *(column.alias(name) for name, column in answers.items()))
            frame.write.parquet(str(target.absolute()))
            return int(frame.sparkSession.read.parquet(str(target.absolute())).count())
        except BaseException:
            shutil.rmtree(target, ignore_errors=True)
            raise
