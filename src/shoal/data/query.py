# SPDX-License-Identifier: Apache-2.0
"""The rows of a database query.

Who may read a database is said by the environment or by the database's own files, never by Shoal's; and what a database
answers may quote cells, so its own words are never passed on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError

POSTGRESQL = ("postgresql://", "postgres://")
DUCKDB = "duckdb:"
BATCH_BYTES = 16 * 2**20  # that PostgreSQL's rows are fetched in


class Query:
    """The rows of a query to PostgreSQL or DuckDB.

    Parameters
    ----------
    source
        ``postgresql://host/database``, or ``duckdb:`` and the path of a database; without a path, queries are about
        files. User and password come from the environment (``PGUSER``, ``PGPASSWORD``), ``~/.pgpass`` or a service file
        (``postgresql:///?service=clinic``).
    sql
        A ``SELECT``.

    Examples
    --------
    >>> Query("postgresql://db.example.org/clinic", "SELECT age, sex, diabetes FROM patients")
    <Query of postgresql>
    """

    def __init__(self, source: str, sql: str) -> None:
        if not is_database(source):
            raise DataError("database", "The source of a query is 'postgresql://…' or 'duckdb:…'.")
        if not isinstance(sql, str) or not sql.strip():
            raise DataError("no-query", "A database needs a query: which rows to read, such as SELECT * FROM people.")
        self._duckdb = source.startswith(DUCKDB)
        if _tells_password(source):
            raise DataError(
                "password-in-source",
                "A password stands in the source of a database. Set PGPASSWORD, or use ~/.pgpass or a service file, "
                "and take it out.",
            )
        self._source = source
        self._sql = sql.strip().rstrip(";")

    def __repr__(self) -> str:
        return f"<Query of {'duckdb' if self._duckdb else 'postgresql'}>"

    def names(self) -> list[str]:
        """The columns of the query's rows."""
        with self._rows(f"SELECT * FROM ({self._sql}\n) AS q LIMIT 0", 1) as rows:
            return list(rows.schema.names)

    def batches(self, names: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """Some of the columns, in batches; the database sends no other."""
        chosen = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        with self._rows(f"SELECT {chosen} FROM ({self._sql}\n) AS q", rows) as reader:
            for batch in reader:
                yield _as_numbers(batch)

    @contextmanager
    def _rows(self, sql: str, rows: int) -> Iterator[pa.RecordBatchReader]:
        with self._duckdb_rows(sql, rows) if self._duckdb else self._postgresql_rows(sql) as reader:
            yield reader

    @contextmanager
    def _duckdb_rows(self, sql: str, rows: int) -> Iterator[pa.RecordBatchReader]:
        duckdb = _driver("duckdb", "sql")
        path = self._source.removeprefix(DUCKDB)
        try:
            connection = duckdb.connect(path or ":memory:", read_only=bool(path))
        except duckdb.Error:
            raise _unreachable("Is the path right, and no other program writing to it?") from None
        try:
            yield connection.sql(sql).to_arrow_reader(rows)
        except (duckdb.Error, pa.ArrowException, OSError) as error:  # as below
            raise _refused(type(error).__name__) from None
        finally:
            connection.close()

    @contextmanager
    def _postgresql_rows(self, sql: str) -> Iterator[pa.RecordBatchReader]:
        driver = _driver("adbc_driver_postgresql.dbapi", "postgres")
        size = {"adbc.postgresql.batch_size_hint_bytes": str(BATCH_BYTES)}
        try:
            connection = driver.connect(self._source)
        except driver.Error:
            raise _unreachable("Look at host and database, and at PGUSER, PGPASSWORD or the service file.") from None
        try:
            with connection.cursor(adbc_stmt_kwargs=size) as cursor:
                cursor.execute(sql)
                yield cursor.fetch_record_batch()
        except (driver.Error, pa.ArrowException, OSError) as error:  # Arrow's reader hands the server's words on
            raise _refused(f"SQLSTATE {getattr(error, 'sqlstate', None) or 'unknown'}") from None
        finally:
            connection.close()


def is_database(source: Any) -> bool:
    """Whether a source is a database, which needs a query."""
    return isinstance(source, str) and source.startswith((*POSTGRESQL, DUCKDB))


def _tells_password(source: str) -> bool:
    """Whether something in a source may be a secret: what stands between user and host, or a setting by its name."""
    pattern = r"//[^/@]*:[^/@]*@|(?i:password|secret|token|_key)[^=&]*="
    return any(re.search(pattern, text) for text in (source, unquote(source)))


def _as_numbers(batch: pa.RecordBatch) -> pa.RecordBatch:
    """PostgreSQL's exact numbers come as strings: as numbers, and NaN as missing."""
    columns = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        kind = (field.metadata or {}).get(b"ADBC:postgresql:typname")
        columns.append(pc.cast(_storage(column), pa.float64()) if kind == b"numeric" else _storage(column))
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _storage(column: pa.Array) -> pa.Array:
    return column.storage if isinstance(column, pa.ExtensionArray) else column


def _driver(module: str, extra: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise DataError(
            "no-driver", f"This database needs a driver that is not installed. Try: pip install 'shoal[{extra}]'."
        ) from None


def _unreachable(hint: str) -> DataError:
    return DataError("database", f"The database cannot be opened. {hint}")


def _refused(code: str) -> DataError:
    return DataError("query-failed", f"The database did not answer the query to its end ({code}). Try it there.")
