# SPDX-License-Identifier: Apache-2.0
"""A released tree as SQL: one CASE expression that answers as the release does.

A value that no branch takes, because it is outside the declared domain or missing where nothing may be missing, gets
the answer of the node that asks for it. That is ``predict(..., unknown="ancestor")``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, overload

from shoal.errors import DataError, ReleaseError
from shoal.release.domain import Attribute, Interval, plain

if TYPE_CHECKING:
    from shoal.release.node import Branch
    from shoal.release.tree import TreeRelease

Dialect = Literal["ansi", "mysql"]
_QUOTE = {"ansi": '"', "mysql": "`"}


@overload
def to_sql(release: TreeRelease, dialect: Dialect = "ansi", proba: Literal[False] = False) -> str: ...


@overload
def to_sql(release: TreeRelease, dialect: Dialect = "ansi", *, proba: Literal[True]) -> dict[str, str]: ...


@overload
def to_sql(release: TreeRelease, dialect: Dialect, proba: Literal[True]) -> dict[str, str]: ...


def to_sql(release: TreeRelease, dialect: Dialect = "ansi", proba: bool = False) -> str | dict[str, str]:
    """The prediction as a CASE expression, or with `proba` one expression for the share of each class.

    Branches and splits that do not change the answer are left out.

    Parameters
    ----------
    dialect
        ``"ansi"`` writes names in double quotes (PostgreSQL, SQLite, DuckDB, Oracle, SQL Server and others),
        ``"mysql"`` in backticks, with backslashes doubled in texts (MySQL and MariaDB).
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
        raise DataError("unknown-option", f"to_sql: dialect must be 'ansi' or 'mysql'; got {dialect!r}.")
    target = release.attribute(release.target)
    if proba:
        shares = release.shares
        return {
            value: _case(release, dialect, [repr(share) for share in shares[:, position].tolist()])
            for position, value in enumerate(release.classes)
        }
    words = [_literal(target, value, dialect) for value in release.classes]
    return _case(release, dialect, [words[answer] for answer in release.answers])


def _case(release: TreeRelease, dialect: Dialect, answers: Sequence[str]) -> str:
    """The tree as nested CASE expressions, without recursion: a tree may be deep."""
    nodes = release.nodes
    settled = [True] * len(nodes)
    for number in range(len(nodes) - 1, -1, -1):
        settled[number] = all(
            settled[branch.node] and answers[branch.node] == answers[number] for branch in nodes[number].branches
        )
    written: list[str] = []
    stack: list[str | tuple[int, int]] = [(0, 0)]
    while stack:
        step = stack.pop()
        if isinstance(step, str):
            written.append(step)
            continue
        number, depth = step
        if settled[number]:
            written.append(answers[number])
            continue
        attribute = release.attribute(nodes[number].attribute or "")
        line = "\n" + "  " * (depth + 1)
        steps: list[str | tuple[int, int]] = ["CASE"]
        for branch in nodes[number].branches:
            if settled[branch.node] and answers[branch.node] == answers[number]:
                continue  # ELSE says the same
            steps += [f"{line}WHEN {_condition(attribute, branch, dialect)} THEN ", (branch.node, depth + 1)]
        steps.append(f"{line}ELSE {answers[number]}\n{'  ' * depth}END")
        stack += reversed(steps)
    return "".join(written)


def _condition(attribute: Attribute, branch: Branch, dialect: Dialect) -> str:
    """A branch's test. Comparisons with NULL are never true in SQL, so missing is asked for by name."""
    name = _name(attribute.name, dialect)
    values = [_literal(attribute, value, dialect) for value in branch.values]
    tests = [_interval(name, interval, alone=len(branch.intervals) == 1) for interval in branch.intervals]
    if len(values) == 1:
        tests.append(f"{name} = {values[0]}")
    elif values:
        tests.append(f"{name} IN ({', '.join(values)})")
    if branch.missing:
        tests.append(f"{name} IS NULL")
    return " OR ".join(tests)


def _interval(name: str, interval: Interval, *, alone: bool) -> str:
    ends = [] if interval.above is None else [f"{name} > {plain(interval.above)}"]
    if interval.at_most is not None:
        ends.append(f"{name} <= {plain(interval.at_most)}")
    if not ends:
        return f"{name} IS NOT NULL"
    return " AND ".join(ends) if alone or len(ends) == 1 else f"({' AND '.join(ends)})"


def _name(name: str, dialect: Dialect) -> str:
    quote = _QUOTE[dialect]
    return quote + _checked(name, name).replace(quote, 2 * quote) + quote


def _literal(attribute: Attribute, value: str, dialect: Dialect) -> str:
    """A value in the type its column had before its values became texts."""
    if attribute.labels == "boolean":
        return value.upper()
    if attribute.labels == "integer":
        return str(int(value))
    if attribute.labels == "number":
        return str(plain(float(value)))
    text = _checked(value, attribute.name).replace("'", "''")
    return "'" + (text.replace("\\", "\\\\") if dialect == "mysql" else text) + "'"


def _checked(text: str, name: str) -> str:
    if re.search("[\x00\ud800-\udfff]", text):
        raise ReleaseError(
            "cannot-export", f"to_sql: the name or a value of column {name!r} holds a character that SQL cannot."
        )
    return text
