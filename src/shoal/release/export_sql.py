# SPDX-License-Identifier: Apache-2.0
"""A released tree as SQL: a CASE expression that answers as the release does.

A value that no branch takes, because it is outside the declared domain or missing where nothing may be missing, gets
the answer of the node that asks for it. That is ``predict(..., unknown="ancestor")``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from shoal.errors import DataError, ReleaseError
from shoal.release.domain import MOMENT, Attribute, Interval, plain

if TYPE_CHECKING:
    from shoal.release.node import Branch
    from shoal.release.tree import TreeRelease

Dialect = Literal["ansi", "mysql", "spark"]
_QUOTE = {"ansi": '"', "mysql": "`", "spark": "`"}


@overload
def to_sql(release: TreeRelease, dialect: Dialect = "ansi", proba: Literal[False] = False) -> str: ...


@overload
def to_sql(release: TreeRelease, dialect: Dialect = "ansi", *, proba: Literal[True]) -> dict[str, str]: ...


@overload
def to_sql(release: TreeRelease, dialect: Dialect, proba: Literal[True]) -> dict[str, str]: ...


def to_sql(release: TreeRelease, dialect: Dialect = "ansi", proba: bool = False) -> str | dict[str, str]:
    """The prediction as a CASE expression, or with `proba` one expression for the share of each class.

    Splits that do not change the answer are left out. Shares are by the weights of the classes, if there are any. A
    release that states shares has none for a value that no branch takes: that is NULL.

    Parameters
    ----------
    dialect
        ``"ansi"`` writes names in double quotes (PostgreSQL, SQLite, DuckDB, Oracle, SQL Server and others),
        ``"mysql"`` in backticks, with backslashes doubled in texts (MySQL and MariaDB). ``"spark"`` is for Spark SQL:
        NaN is missing too, and a cell of another type than the release's is no error that would quote it.
    proba
        Give a dict from each class to the expression of its share.

    Examples
    --------
    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> release = AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes").release_
    >>> print(release.to_sql(proba=True)["yes"])
    CASE
      WHEN "age" <= 47.5 THEN 0.04644...
      WHEN "age" > 47.5 THEN 0.36195...
      ELSE 0.203
    END
    """
    if dialect not in _QUOTE:
        raise DataError("unknown-option", f"to_sql: dialect must be 'ansi', 'mysql' or 'spark'; got {dialect!r}.")
    target = release.attribute(release.target)
    if proba:
        shares = release.shares
        return {
            value: _case(release, dialect, [_number(share) for share in shares[:, position].tolist()])
            for position, value in enumerate(release.classes)
        }
    words = [_literal(target, value, dialect) for value in release.classes]
    return _case(release, dialect, [words[answer] for answer in release.answers])


def _case(release: TreeRelease, dialect: Dialect, answers: Sequence[str]) -> str:
    """One flat CASE: nested ones overflow the parsers of SQLite and SQL Server after a few levels.

    Nodes come after all that is below them, so the first WHEN that is true is that of the deepest node a row reaches. A
    node that answers as its parent does needs none.
    """
    lines = [
        f"\n  WHEN {_path(release, number, dialect)} THEN {answers[number]}"
        for number in _children_first(release)
        if number and answers[number] != answers[int(release.parents[number])]
    ]
    return f"CASE{''.join(lines)}\n  ELSE {answers[0]}\nEND" if lines else answers[0]


def _children_first(release: TreeRelease) -> list[int]:
    order, stack = [], [0]
    while stack:
        number = stack.pop()
        order.append(number)
        stack += [branch.node for branch in release.nodes[number].branches]
    return order[::-1]


def _path(release: TreeRelease, number: int, dialect: Dialect) -> str:
    """All tests between the root and a node, without those that a later one implies."""
    kept: list[tuple[str, Branch]] = []
    for name, branch in release.path(number):
        kept = [step for step in kept if step[0] != name or not _implies(branch, step[1])]
        kept.append((name, branch))
    return " AND ".join(
        _condition(release.attribute(name), branch, dialect, alone=len(kept) == 1) for name, branch in kept
    )


def _implies(later: Branch, earlier: Branch) -> bool:
    """Whether everything that takes one branch takes the other."""

    def within(inner: Interval, outer: Interval) -> bool:
        above = outer.above is None or (inner.above is not None and inner.above >= outer.above)
        at_most = outer.at_most is None or (inner.at_most is not None and inner.at_most <= outer.at_most)
        return above and at_most

    return (
        set(later.values) <= set(earlier.values)
        and all(any(within(inner, outer) for outer in earlier.intervals) for inner in later.intervals)
        and later.missing <= earlier.missing
    )


def _condition(attribute: Attribute, branch: Branch, dialect: Dialect, *, alone: bool) -> str:
    """A branch's test. Comparisons with NULL are never true in SQL, so missing is asked for by name."""
    name = _name(attribute.name, dialect)
    missing = f"{name} IS NULL"
    if dialect == "spark":
        if attribute.type == "numeric" or attribute.labels == "number":
            missing += f" OR isnan(try_cast({name} AS DOUBLE))"
        name = _spark_cell(name, attribute)
    values = [_literal(attribute, value, dialect) for value in branch.values]
    tests = [_interval(name, interval) for interval in branch.intervals]
    if len(values) == 1:
        tests.append(f"{name} = {values[0]}")
    elif values:
        tests.append(f"{name} IN ({', '.join(values)})")
    if branch.missing:
        tests.append(missing)
    if len(tests) == 1:
        return tests[0]
    either = " OR ".join(f"({test})" if " AND " in test else test for test in tests)
    return either if alone else f"({either})"


def _interval(name: str, interval: Interval) -> str:
    ends = [] if interval.above is None else [f"{name} > {plain(interval.above)}"]
    if interval.at_most is not None:
        ends.append(f"{name} <= {plain(interval.at_most)}")
    return " AND ".join(ends) or f"{name} IS NOT NULL"


def _spark_cell(name: str, attribute: Attribute) -> str:
    """A column as the release's values are, whatever its type in Spark; what cannot be converted takes no branch."""
    if attribute.type == "numeric":
        return f"nullif(try_cast({name} AS DOUBLE), DOUBLE('NaN'))"
    if attribute.labels == "number":  # by way of its text: that of a float is shorter than that of the same double
        return f"nullif(try_cast(CAST({name} AS STRING) AS DOUBLE), DOUBLE('NaN'))"
    if attribute.labels == "integer":
        return f"try_cast({name} AS DECIMAL(38, 9))"
    if attribute.labels == "boolean":
        return f"try_cast({name} AS BOOLEAN)"
    if all(map(MOMENT.fullmatch, attribute.values)):
        if not any("T" in value for value in attribute.values):
            return _spark_day(name)
        return name  # Spark compares a timestamp with such a text as moments, and a text as texts
    return f"CAST({name} AS STRING)"


def _spark_day(name: str) -> str:
    """A column of days, which may be timestamps at midnight: of UTC in a release, of the session's zone in Spark."""
    micros = {
        "timestamp": f"unix_micros(try_cast({name} AS TIMESTAMP))",
        "timestamp_ntz": f"timestampdiff(MICROSECOND, TIMESTAMP_NTZ'1970-01-01', try_cast({name} AS TIMESTAMP_NTZ))",
    }
    whens = [
        f"WHEN typeof({name}) = '{of}' AND {at} % 86400000000 = 0 "
        f"THEN CAST(date_from_unix_date(CAST({at} DIV 86400000000 AS INT)) AS STRING)"
        for of, at in micros.items()
    ]
    return f"CASE {' '.join(whens)} ELSE CAST({name} AS STRING) END"


def _name(name: str, dialect: Dialect) -> str:
    quote = _QUOTE[dialect]
    if dialect == "spark" and "${" in name:  # Spark would put a setting, or what the environment holds, in its place
        raise ReleaseError("cannot-export", f"to_sql: Spark cannot name column {name!r}. Rename it before mining.")
    return quote + _checked(name, name).replace(quote, 2 * quote) + quote


def _number(share: float) -> str:
    return "NULL" if math.isnan(share) else repr(share)


def _literal(attribute: Attribute, value: str, dialect: Dialect) -> str:
    """A value in the type its column had before its values became texts."""
    if attribute.labels == "boolean":
        return value.upper()
    if attribute.labels == "integer":
        return str(int(value))
    if attribute.labels == "number":
        return str(plain(float(value)))
    text = _checked(value, attribute.name)
    if dialect == "spark" and re.search(r"[\\'$]", text):
        # how Spark reads these depends on its settings, and ${...} it would fill from the environment
        return f"decode(X'{text.encode().hex()}', 'UTF-8')"
    if dialect == "mysql":
        text = text.replace("\\", "\\\\")
    return "'" + text.replace("'", "''") + "'"


def to_spark(release: TreeRelease, proba: bool = False) -> Any:
    """The prediction as a Spark column, or with `proba` a dict from each class to the column of its share.

    It is an expression of Spark's own, so no row goes through Python. Values that no branch takes are answered as by
    `to_sql`. Columns must have the types that were mined from, or texts. See the how-to about Spark.
    """
    from pyspark.sql import functions as F

    if proba:
        return {value: F.expr(sql).cast("double") for value, sql in to_sql(release, "spark", proba=True).items()}
    return F.expr(to_sql(release, "spark"))


def _checked(text: str, name: str) -> str:
    if re.search("[\x00\ud800-\udfff]", text):
        raise ReleaseError(
            "cannot-export", f"to_sql: the name or a value of column {name!r} holds a character that SQL cannot."
        )
    return text
