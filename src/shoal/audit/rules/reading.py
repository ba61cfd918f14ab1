# SPDX-License-Identifier: Apache-2.0
"""Rules from the frames of mlxtend and Spark and from CSV files. Nothing in a file is ever run."""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import narwhals as nw

from shoal.audit.rules.figures import Share, interval
from shoal.audit.rules.transactions import item_name
from shoal.errors import DataError

# what the columns are called: by mlxtend and in CSV files, and by Spark
SIDES = (("antecedents", "antecedent"), ("consequents", "consequent"))
LONGEST_SET = 10_000  # characters of one side of a rule
MOST_BYTES = 100_000_000
SHOWN = 3  # bad rows that a message describes
OPENINGS = ("frozenset(", "set(", "{", "[", "(")

Row = tuple[frozenset[str], frozenset[str], Share | None, Share, Share | None]


def rows_of_frame(frame: Any, decimals: int | None) -> list[Row]:
    """The rules of a frame: sides, support, confidence and the support of the consequent."""
    return _rows(_columns(frame), frozenset_of, decimals)


def rows_of_csv(path: Path, separator: str, decimals: int | None) -> list[Row]:
    """The rules of a CSV file."""
    if path.stat().st_size > MOST_BYTES:
        raise DataError("bad-rules", f"The file of rules is larger than {MOST_BYTES // 10**6} MB.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = list(csv.reader(file))
    except (UnicodeDecodeError, csv.Error):
        raise DataError("bad-rules", "The file of rules is no CSV text in UTF-8.") from None
    lines = [line for line in lines if line]
    if not lines:
        raise DataError("bad-rules", "The file of rules is empty.")
    header = [name.strip() for name in lines[0]]
    uneven = [number for number, line in enumerate(lines[1:], start=1) if len(line) != len(header)]
    if uneven:
        raise DataError(
            "bad-rules",
            f"Row {uneven[0]} has another number of fields than the header. Quote what has commas in it.",
        )
    cells = list(zip(*lines[1:], strict=True)) or [()] * len(header)
    columns = {name: list(column) for name, column in zip(header, cells, strict=True)}
    return _rows(columns, lambda text: parse_items(text, separator), decimals)


def frozenset_of(items: Any) -> frozenset[str]:
    """One side of a rule as it stands in a frame: a set, list or array of items, or the text of one."""
    if isinstance(items, str):
        return parse_items(items, ",")
    if items is None or isinstance(items, Mapping | bytes) or not hasattr(items, "__iter__"):
        raise ValueError
    return frozenset(item_name(item) for item in items)


def parse_items(text: str, separator: str) -> frozenset[str]:
    """One side of a rule as it stands in a file; `ValueError` if it is none.

    >>> sorted(parse_items("frozenset({'milk', 'rye, dark'})", ","))
    ['milk', 'rye, dark']
    >>> sorted(parse_items("milk, bread", ",")), sorted(parse_items('["milk"]', ","))
    (['bread', 'milk'], ['milk'])
    """
    text = text.strip()
    if len(text) > LONGEST_SET:
        raise ValueError
    if text.startswith("["):
        try:
            return frozenset(item_name(item) for item in _scalars(json.loads(text)))
        except (json.JSONDecodeError, RecursionError):
            pass  # the list of Python, with single quotes
    if text.startswith(OPENINGS):
        try:
            return frozenset(item_name(item) for item in _literal(ast.parse(text, mode="eval").body))
        except (SyntaxError, RecursionError, MemoryError):
            raise ValueError from None
    items = [item.strip() for item in text.split(separator)] if text else []
    if not all(items):
        raise ValueError
    return frozenset(items)


def _scalars(items: Any) -> list[Any]:
    if not isinstance(items, list) or not all(isinstance(item, str | int | float) for item in items):
        raise ValueError
    return items


def _literal(node: ast.expr) -> list[Any]:
    """The items of a set, list or tuple of constants, or of ``frozenset(...)`` of one; looked at, never run."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("frozenset", "set"):
        if node.keywords or len(node.args) > 1:
            raise ValueError
        return _literal(node.args[0]) if node.args else []
    if not isinstance(node, ast.Set | ast.List | ast.Tuple):
        raise ValueError
    return [_constant(element) for element in node.elts]


def _constant(node: ast.expr) -> str | int | float:
    # NumPy 2 writes np.str_('milk') and np.int64(7) for its own scalars
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
        owner = node.func.value
        if not node.keywords and isinstance(owner, ast.Name) and owner.id in ("np", "numpy"):
            return _constant(node.args[0])
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _constant(node.operand)
        if not isinstance(number, str):
            return -number
    raise ValueError


def _columns(frame: Any) -> dict[str, list[Any]]:
    if isinstance(frame, Mapping):
        return {str(name): list(values) for name, values in frame.items()}
    if hasattr(frame, "toPandas"):  # of Spark; a set of rules is small
        frame = frame.toPandas()
    try:
        wide = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise DataError("bad-rules", f"Cannot read rules from {type(frame).__name__!r}. Give a data frame.") from None
    wanted = {name for names in SIDES for name in names} | {"support", "confidence", "lift", "consequent support"}
    return {name: wide.get_column(name).to_list() for name in wide.columns if name in wanted}


def _rows(
    columns: Mapping[str, Sequence[Any]], side: Callable[[Any], frozenset[str]], decimals: int | None
) -> list[Row]:
    left, right = (_side(columns, names) for names in SIDES)
    confidence = columns.get("confidence")
    if confidence is None:
        raise DataError("bad-rules", f"Rules need a column 'confidence'; there are {', '.join(map(repr, columns))}.")
    nothing = [None] * len(left)
    support, lift = columns.get("support", nothing), columns.get("lift", nothing)
    consequent = columns.get("consequent support", nothing)
    if not len(left):
        raise DataError("bad-rules", "There are no rules.")
    rows: list[Row] = []
    bad: list[str] = []
    figures = zip(left, right, support, confidence, consequent, lift, strict=True)
    for number, (before, after, *shares) in enumerate(figures, start=1):
        try:
            rows.append(_row(side, before, after, shares, decimals))
        except ValueError as error:
            bad.append(f"row {number}: {error}")
    if bad:
        more = f"; and {len(bad) - SHOWN} more" if len(bad) > SHOWN else ""
        raise DataError("bad-rules", f"{len(bad)} row(s) are no rules. {'; '.join(bad[:SHOWN])}{more}.")
    return rows


def _row(
    side: Callable[[Any], frozenset[str]], before: Any, after: Any, shares: list[Any], decimals: int | None
) -> Row:
    antecedent, consequent = _items(side, before, SIDES[0][0]), _items(side, after, SIDES[1][0])
    if not consequent:
        raise ValueError("there are no consequents")
    if antecedent & consequent:
        raise ValueError("an item is on both sides")
    support, confidence, of_consequent = (
        _share(value, name, decimals)
        for value, name in zip(shares[:3], ("support", "confidence", "consequent support"), strict=True)
    )
    if confidence is None:
        raise ValueError("there is no confidence")
    if of_consequent is None:
        of_consequent = _from_lift(confidence, shares[3], decimals)
    return antecedent, consequent, support, confidence, of_consequent


def _items(side: Callable[[Any], frozenset[str]], value: Any, name: str) -> frozenset[str]:
    try:
        return side(value)
    except ValueError:
        raise ValueError(f"{name} is no set of items") from None


def _share(value: Any, name: str, decimals: int | None) -> Share | None:
    if _absent(value):
        return None
    try:
        return Share.of(value, decimals)
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{name} is no share between 0 and 1") from None


def _from_lift(confidence: Share, lift: Any, decimals: int | None) -> Share | None:
    """The support of a consequent, which is the confidence divided by the lift."""
    if _absent(lift):
        return None
    try:
        low, high = interval(lift, decimals)
    except (ValueError, ZeroDivisionError):
        raise ValueError("lift is no number from 0 on") from None
    if not low:
        return None
    return Share(confidence.low / high, min(Fraction(1), confidence.high / low))


def _absent(value: Any) -> bool:
    return value is None or value == "" or bool(value != value)  # only NaN differs from itself


def _side(columns: Mapping[str, Sequence[Any]], names: Collection[str]) -> Sequence[Any]:
    for name in names:
        if name in columns:
            return columns[name]
    raise DataError(
        "bad-rules",
        f"Rules need a column {' or '.join(map(repr, names))}; there are {', '.join(map(repr, columns))}.",
    )
