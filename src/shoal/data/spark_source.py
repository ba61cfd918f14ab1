# SPDX-License-Identifier: Apache-2.0
"""Where Spark finds rows: a frame, a path or a table's name, and what is said when it finds none."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any

from shoal.data.frames import PANDAS_INDEX
from shoal.data.spark_session import guarded, is_spark_frame, of_spark, reason, spark_session
from shoal.data.table import Kind
from shoal.errors import DataError, closest

MISSING = ("", "?")  # as in every file that is read
_OTHER_FILES = (".csv", ".tsv", ".txt", ".gz", ".arff", ".json", ".feather", ".arrow", ".ipc", ".xlsx")
_MARKS = {"delta": ("_delta_log",), "iceberg": ("metadata", "data")}  # folders of a table


class SparkSource:
    """Rows of a Spark DataFrame, and how to read their columns.

    Parameters
    ----------
    frame
        The rows.
    kinds, missing
        As in `read_table`.
    """

    def __init__(self, frame: Any, *, kinds: Mapping[str, Kind] | None = None, missing: Collection[str] = ()) -> None:
        self.frame = frame
        self.kinds: Mapping[str, Kind] = kinds or {}
        self.missing = tuple(missing)

    @property
    def names(self) -> list[str]:
        """All columns there are; where pandas kept its row labels is none."""
        return [name for name in self.frame.columns if not name.startswith(PANDAS_INDEX)]

    def drop(self, names: Collection[str]) -> None:
        """Leave some columns alone, from now on."""
        kept = [name for name in self.names if name not in names]
        self.frame = self.frame.select(*map(quoted, kept))

    def check(self, names: Sequence[str]) -> None:
        """Refuse columns that are not there."""
        own = self.names
        for name in names:
            if name not in own:
                raise DataError("no-column", f"No column {name!r}.{closest(name, own)}")

    def with_nulls(self, names: Collection[str]) -> Any:
        """The frame, with nothing in place of what stands for a missing value in some columns."""
        from pyspark.sql import functions as F

        columns = {
            name: F.when(~F.col(quoted(name)).isin(list(self.missing)), F.col(quoted(name)))
            for name, of in self.frame.dtypes
            if name in names and of == "string"
        }
        return self.frame.withColumns(columns) if self.missing and columns else self.frame


def quoted(name: str) -> str:
    """A column's name, as Spark takes it for nothing else."""
    return "`" + name.replace("`", "``") + "`"


def spark_source(source: Any, *, missing: Collection[str] | None = None) -> SparkSource:
    """Anything that Spark can read: a frame, a path, the name of a table, or what this gave before."""
    if isinstance(source, SparkSource):
        return source
    if is_spark_frame(source):
        return SparkSource(source, missing=missing or ())
    if not isinstance(source, (str, os.PathLike)):
        raise DataError(
            "spark-source", "engine='spark' takes a Spark DataFrame, the path of Parquet files, or a table's name."
        )
    return SparkSource(_frame(source), missing=MISSING if missing is None else missing)


def _frame(source: str | os.PathLike[str]) -> Any:
    name = os.fspath(source)
    suffix = PurePath(name).suffix.lower()
    if suffix in _OTHER_FILES and ("/" in name or Path(name).exists()):
        raise DataError(
            "spark-source",
            f"engine='spark' reads Parquet, Delta and Iceberg; {name!r} ends in {suffix}. Try engine='stream', or "
            "write it as Parquet first.",
        )
    with guarded():
        session = spark_session()
        if isinstance(source, str) and "/" not in name and not Path(name).exists():
            if not _is_table(session, name):
                raise DataError("no-file", f"There is no file and no Spark table {name!r}.")
            return session.table(name)
        path = _as_spark_finds_it(name)
        with _told(name):
            how = _format_of(session, path)
        with _told(name, how.capitalize()):
            reader = session.read.format(how)
            if how == "parquet" and Path(name).is_dir():  # whatever else is there, as the other engines do
                reader = reader.option("pathGlobFilter", "*.parquet")
            frame = reader.load(path)
            _ = frame.columns  # a session of Spark Connect looks only now
        return frame


def _as_spark_finds_it(name: str) -> str:
    """A path that does not depend on where Spark was started; one that is there has no pattern in it."""
    local = Path(name)
    if "://" in name or not local.exists():
        return name
    exactly = re.sub(r"([*?\[\]{}\\])", r"\\\1", local.absolute().as_posix())
    return "file:///" + exactly.lstrip("/")


def _is_table(session: Any, name: str) -> bool:
    try:
        return bool(session.catalog.tableExists(name))
    except Exception as error:
        if any(each.__name__ == "AnalysisException" for each in type(error).__mro__):
            return False  # no name that a table could have
        raise


def _format_of(session: Any, path: str) -> str:
    """How the rows of a folder are kept. Only Spark can look where it will read."""
    for how, folders in _MARKS.items():
        if all(_is_there(session, f"{path.rstrip('/')}/{folder}") for folder in folders):
            return how
    return "parquet"


def _is_there(session: Any, path: str) -> bool:
    local = path.removeprefix("file://")
    if "://" not in local and Path(local).parent.is_dir():
        return Path(local).is_dir()
    try:
        _ = session.read.format("binaryFile").load(path).columns
    except Exception as error:
        if of_spark(error) and "PATH_NOT_FOUND" in reason(error):
            return False
        raise
    return True


@contextmanager
def _told(name: str, how: str = "") -> Iterator[None]:
    """What Spark says of a path, in words that help."""
    try:
        yield
    except Exception as error:
        if not of_spark(error):
            raise
        found = _in_words(reason(error), name, how)
        if found is None:
            raise
        raise found from None


def _in_words(why: str, name: str, how: str) -> DataError | None:
    told = {
        "PATH_NOT_FOUND": DataError("no-file", f"There is no file {name!r}."),
        "DATA_SOURCE_NOT_FOUND": DataError(
            "spark-format",
            f"{name!r} is a table of {how}, which the Spark session does not know: add the package of {how} to the "
            "session (spark.jars.packages).",
        ),
        "ConnectException": DataError("cannot-read", f"Spark cannot reach {name!r}."),
        "UNABLE_TO_INFER_SCHEMA": DataError("spark-format", f"There are no Parquet files in {name!r}."),
        "FAILED_READ_FILE": DataError(
            "damaged-file", f"Spark found something in {name!r} that is no complete Parquet file."
        ),
        "UnsupportedFileSystemException": DataError(
            "spark-format", f"The Spark session does not know the store of {name!r}: add its package to the session."
        ),
        "ClassNotFoundException": DataError(
            "spark-format", f"The Spark session lacks the package that reads {name!r}: add it to the session."
        ),
    }
    return next((refusal for key, refusal in told.items() if key in why), None)
