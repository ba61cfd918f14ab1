# SPDX-License-Identifier: Apache-2.0
"""Predictions for more rows than fit into memory, written to a file as they are made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from shoal.data.coded import CodedRows
from shoal.data.sources import open_source
from shoal.release.files import written_whole
from shoal.release.tree import TreeRelease, Unknown


def predict_file(release: TreeRelease, rows: Any, path: str | os.PathLike[str], *, unknown: Unknown = "error") -> int:
    """Predict the rows of a source a batch at a time, into a Parquet file or, by any other name, a CSV file.

    Parameters
    ----------
    release
        A released tree.
    rows
        A path, a PyArrow dataset, a `Query` or a table; only columns that the tree asks for are read.
    path
        The file to write: one column, called as the target, in the order of the rows. It is there when all rows are
        done, or not at all.
    unknown
        As for `predict`.

    Returns
    -------
    int
        How many rows were predicted.

    Examples
    --------
    >>> import tempfile
    >>> from shoal import AnonymousTreeClassifier, load_sample, read_table
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> tree = AnonymousTreeClassifier(privacy=100).fit(people, "diabetes").release_
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     n = predict_file(tree, people, Path(folder, "answers.parquet"))
    ...     n, read_table(Path(folder, "answers.parquet")).names
    (5000, ['diabetes'])
    """
    target = Path(path)
    kinds = {name: kind for name, kind in release.kinds.items() if name != release.target}
    source = open_source(rows, kinds=kinds, only=kinds)
    labels = release.labels.astype(str) if release.labels.dtype.kind == "b" else release.labels
    schema = pa.schema([(release.target, pa.array(labels[:0]).type)])
    with CodedRows(source, source.names) as coded, written_whole(target) as beside:
        with _writer(beside, schema, parquet=target.suffix.lower() == ".parquet") as writer:
            for table in coded.tables(coded.columns):
                answers = labels[release.answers[release.apply(table, unknown=unknown)]]
                writer.write_table(pa.table([pa.array(answers)], schema=schema))
        return coded.columns.n_rows


def _writer(path: Path, schema: pa.Schema, *, parquet: bool) -> Any:
    if parquet:
        return pq.ParquetWriter(path, schema)
    return pacsv.CSVWriter(path, schema, write_options=pacsv.WriteOptions(quoting_style="needed"))
