# SPDX-License-Identifier: Apache-2.0
"""Hierarchies from files and nested dicts, read as data from a stranger: sizes limited, every problem named.

A value hierarchy is a tuple of rows, one a value: the value, its groups from narrow to wide, the root.
Messages give positions and counts, not values: a file of values may be as private as the column behind it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.errors import HierarchyError

Row = tuple[str, ...]

MAX_VALUES = 1_000_000
MAX_DEPTH = 64
MAX_BYTES = 256 * 2**20
SUFFIXES = (".csv", ".txt", ".json")
ROOT = "*"


def read_file(path: Path, given: str) -> tuple[Row, ...]:
    """The rows of a hierarchy file: nested JSON if it ends in ``.json``, otherwise semicolon-separated.

    `given` is the path as the user wrote it, for messages.
    """
    name = f"Hierarchy file {given!r}"
    text = _text(path, name)
    if path.suffix.lower() == ".json":
        return tree_rows(_json(text, name), name)
    return check_rows(_csv(text, name), name)


def tree_rows(tree: Any, name: str = "The hierarchy") -> tuple[Row, ...]:
    """The rows of a nested dict or list.

    >>> tree_rows({"*": {"Low": ["1st", "2nd"], "High": {"Uni": ["BSc"]}}})
    (('1st', '1st', 'Low', '*'), ('2nd', '2nd', 'Low', '*'), ('BSc', 'Uni', 'High', '*'))
    """
    if not isinstance(tree, (Mapping, list, tuple)):
        raise _error("bad-tree", name, "must be a dict or list of values and groups.")
    paths: list[Row] = []
    for path in _paths(tree, (), name):
        paths.append(path)
        if len(paths) > MAX_VALUES:
            raise _too_large(name)
    rooted = isinstance(tree, Mapping) and len(tree) == 1 and all(len(path) > 1 for path in paths)
    if not rooted:
        paths = [(ROOT, *path) for path in paths]
    depth = max(map(len, paths), default=0)
    # a value that hangs higher than others is repeated, so that every row has the same levels
    return check_rows([(path[-1],) * (depth - len(path)) + path[::-1] for path in paths], name)


def check_rows(rows: Sequence[Row], name: str = "The hierarchy") -> tuple[Row, ...]:
    """The rows as given, with a root on top if they share none; raises if they are no hierarchy."""
    if not rows:
        raise _error("empty", name, "is empty: it needs one line a value.")
    width = len(rows[0])
    for i, row in enumerate(rows, 1):
        if len(row) != width:
            raise _error(
                "ragged",
                name,
                f"has {width} fields in row 1 and {len(row)} in row {i}: every row needs as many; "
                "repeat a value that hangs higher.",
            )
        if not all(row):
            raise _error("empty-field", name, f"has an empty field in row {i}.")
    if width > MAX_DEPTH + 1:
        raise _too_deep(name)
    try:
        "".join(map("".join, rows)).encode()
    except UnicodeEncodeError:
        raise _error("not-utf8", name, "has a value that cannot be written as UTF-8.") from None
    if width == 1 or any(row[-1] != rows[0][-1] for row in rows):
        rows = [(*row, ROOT) for row in rows]
    _check_values(rows, name)
    _check_groups(rows, name)
    if any(ROOT in row[:-1] for row in rows):
        raise _error(
            "no-root",
            name,
            "has '*' below its root: '*' stands for everything and may only be the last field.",
        )
    return tuple(rows)


def files_by_column(folder: Path, columns: Iterable[str], given: str) -> dict[str, Path]:
    """Which file of a folder belongs to which column; files that fit no column are passed over."""
    if not folder.is_dir():
        raise HierarchyError("hierarchy-no-folder", f"There is no folder of hierarchies {given!r}.")
    by_length = sorted(columns, key=len, reverse=True)
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() not in SUFFIXES or path.name.startswith(".") or not path.is_file():
            continue
        stem = path.stem
        # the longest name that fits: adult_marital_status is of "marital_status", not of "status"
        column = next((c for c in by_length if stem == c or stem.endswith("_" + c)), None)
        if column is None:
            continue
        if column in found:
            raise HierarchyError(
                "hierarchy-two-files",
                f"Folder {given!r} has two hierarchies for column {column!r}: {found[column].name!r} and "
                f"{path.name!r}. Remove one, or give a dict from column to file.",
            )
        found[column] = path
    return found


def _error(code: str, name: str, problem: str) -> HierarchyError:
    return HierarchyError(f"hierarchy-{code}", f"{name} {problem}")


def _too_large(name: str) -> HierarchyError:
    return _error("too-large", name, f"is too large: at most {MAX_VALUES:,} values and {MAX_BYTES:,} bytes.")


def _too_deep(name: str) -> HierarchyError:
    return _error("too-deep", name, f"is nested deeper than {MAX_DEPTH} levels.")


def _check_values(rows: Sequence[Row], name: str) -> None:
    first: dict[str, int] = {}
    for i, row in enumerate(rows):
        j = first.setdefault(row[0], i)
        if j == i:
            continue
        where = f"lists the same value at positions {j + 1} and {i + 1}"
        if rows[j] == row:
            raise _error("value-twice", name, f"{where}: every value must be listed exactly once.")
        raise _error("two-parents", name, f"{where}, in different groups: a value has one place only.")


def _check_groups(rows: Sequence[Row], name: str) -> None:
    for level in range(1, len(rows[0]) - 1):
        parents: dict[str, str] = {}
        for i, row in enumerate(rows, 1):
            if parents.setdefault(row[level], row[level + 1]) != row[level + 1]:
                raise _error(
                    "not-nested",
                    name,
                    f"does not nest: at position {i} a group of level {level} is in another group of level "
                    f"{level + 1} than before.",
                )


def _text(path: Path, name: str) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _too_large(name)
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise _error("no-file", name, "does not exist.") from None
    except OSError as problem:
        raise _error("no-file", name, f"cannot be read: {problem.strerror}.") from None
    except UnicodeDecodeError:
        raise _error("not-utf8", name, "is not UTF-8 text: save it as UTF-8.") from None


def _csv(text: str, name: str) -> list[Row]:
    rows: list[Row] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=";", strict=True)
    try:
        for row in reader:
            if row:
                rows.append(tuple(row))
            if len(rows) > MAX_VALUES:
                raise _too_large(name)
    except csv.Error:
        raise _error("broken-csv", name, f"has broken quotes or too long a field at line {reader.line_num}.") from None
    for separator, word in ((",", "commas"), ("\t", "tabs")):
        if rows and all(len(row) == 1 and separator in row[0] for row in rows):
            raise _error("separator", name, f"seems to be separated by {word}: fields are separated by semicolons.")
    return rows


def _json(text: str, name: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise _error("value-twice", name, "has the same key twice in one group: every value must be listed once.")
        return found

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as problem:
        where = f"line {problem.lineno}, column {problem.colno}"
        raise _error("broken-json", name, f"is not valid JSON at {where}.") from None
    except HierarchyError:
        raise
    except ValueError:  # a number of thousands of digits
        raise _error("broken-json", name, "is not valid JSON.") from None
    except RecursionError:
        raise _too_deep(name) from None


def _paths(node: Any, above: Row, name: str) -> Iterator[Row]:
    """All ways from the top to a value, in reading order."""
    if len(above) > MAX_DEPTH:
        raise _too_deep(name)
    if isinstance(node, Mapping):
        for key, below in node.items():
            here = (*above, _label(key, name))
            if not isinstance(below, (Mapping, list, tuple)):
                raise _error(
                    "bad-tree",
                    name,
                    "must be a dict of groups: each key needs a dict or a list of what is in it.",
                )
            if below:
                yield from _paths(below, here, name)
            else:
                yield here
        return
    for item in node:
        if isinstance(item, Mapping):
            yield from _paths(item, above, name)
        else:
            yield (*above, _label(item, name))


def _label(value: Any, name: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise _error("bad-tree", name, f"must hold strings; found {type(value).__name__}.")
    return value
