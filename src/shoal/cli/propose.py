# SPDX-License-Identifier: Apache-2.0
"""A first guess at roles and hierarchies from a look at the columns. Column names leave, cells never do."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.data import Hierarchy, read_table
from shoal.data.hierarchy import MISSING
from shoal.errors import DataError, HierarchyError, closest

if TYPE_CHECKING:
    from shoal.data import Column, Table

ALWAYS_MISSING = ("", "?")
MAYBE_MISSING = ("NA", "N/A", "n/a", "NaN", "nan", "NULL", "null")  # only between numbers: NA may be Namibia
MOST_CLASSES = 20
NEARLY = 0.95  # share of distinct values from which a column is taken to name people
USUAL_K = 10
WHOLE_K = 200  # people from which k = 10 leaves something to learn
FEW = 20  # people below which all values may differ by chance
NUMBER = r"^\s*[-+]?[0-9]*[.,]?[0-9]+([eE][-+]?[0-9]+)?\s*$"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"

NAMING = frozenset(
    {"id", "ids", "uid", "uuid", "guid", "mrn", "ssn", "iban", "passport", "account", "key"}
    | {"name", "names", "surname", "firstname", "lastname", "fullname", "username", "email", "mail"}
    | {"phone", "mobile", "telephone", "tel", "patient", "person", "user", "customer", "client", "member"}
)
# of these, one row a person or several
PEOPLE = frozenset({"mrn", "ssn", "patient", "person", "user", "customer", "client", "member", "subject"})
NUMBERING = frozenset({"nbr", "no", "nr", "num", "number", "code"})
POSTAL = frozenset({"zip", "zipcode", "postcode", "postal", "postalcode", "plz"})


@dataclass(frozen=True)
class Proposal:
    """What is proposed for one column, and why."""

    name: str
    kind: Literal["numeric", "categorical"]
    role: Literal["identifier", "public", "target"]
    why: str
    hierarchy: dict[str, Any] | None = None
    intervals: list[float] | None = None  # only suggested: a tree finds thresholds of its own


@dataclass(frozen=True)
class Proposals:
    """What is proposed for a table."""

    columns: tuple[Proposal, ...]
    missing: tuple[str, ...]
    read_as_text: tuple[str, ...]
    people: int
    k: int
    person: str | None = None  # the column that tells people apart, where they have several rows

    def of(self, role: str) -> list[str]:
        """The columns of a role."""
        return [column.name for column in self.columns if column.role == role]


def propose(source: Path, *, target: str | None, missing: tuple[str, ...] | None) -> Proposals:
    """Look at a table and propose."""
    tokens = find_missing(source) if missing is None else missing
    table = read_table(source, missing=tokens or ALWAYS_MISSING)
    # whole numbers of one width that are called zip are names of places
    codes = tuple(name for name, column in table.items() if _words(name) & POSTAL and _digits_of_number(column))
    if codes:
        table = read_table(source, missing=tokens or ALWAYS_MISSING, kinds=dict.fromkeys(codes, "categorical"))
    identifiers = {name: why for name, column in table.items() if name != target and (why := _names_people(column))}
    person = next((name for name, column in table.items() if name != target and _several_rows(column)), None)
    if person is not None:
        identifiers[person] = "called like an id of people, who have several rows each"
    target, reason = _target(table, target, identifiers)
    columns = []
    for name, column in table.items():
        if name == target:
            columns.append(Proposal(name, column.kind, "target", reason))
        elif name in identifiers:
            columns.append(Proposal(name, column.kind, "identifier", identifiers[name]))
        else:
            why = "an attacker may know it, unless you say otherwise"
            columns.append(Proposal(name, column.kind, "public", why, _hierarchy(column), _intervals(column)))
    people = table.n_rows if person is None else _distinct(table[person])[0]
    k = USUAL_K if people >= WHOLE_K else max(2, people // 20)
    return Proposals(tuple(columns), tokens, codes, people, k, person)


def find_missing(source: Path) -> tuple[str, ...]:
    """The texts that stand for a missing value in a file."""
    # nothing counts as missing here, so a number column with holes comes as text
    raw = read_table(source, missing=())
    found: set[str] = set()
    for column in raw.values():
        if column.kind != "categorical":
            continue
        names = set(column.names)
        found |= names & set(ALWAYS_MISSING)
        maybe = names & set(MAYBE_MISSING)
        rest = names - maybe - set(ALWAYS_MISSING)
        if maybe and rest and _all_match(rest, NUMBER):
            found |= maybe
    return tuple(token for token in (*ALWAYS_MISSING, *MAYBE_MISSING) if token in found)


def _all_match(texts: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(pa.array(list(texts), pa.string()), pattern)).as_py())


def _words(name: str) -> set[str]:
    """The words of a column name: patientId and patient_id are two each."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return set(re.findall(r"[a-z]+", spaced.lower()))


def _distinct(column: Column) -> tuple[int, int]:
    """Distinct values, and people who have one."""
    counts = column.counts()[: len(column.values)]
    return int((counts > 0).sum()), int(counts.sum())


def _names_people(column: Column) -> str | None:
    """Why a column seems to name people, or None."""
    distinct, people = _distinct(column)
    if distinct < 2:
        return None
    named = bool(_words(column.name) & NAMING)
    if column.kind == "numeric":
        return (
            "called like an id, and every number is different"
            if named and column.integer and distinct == people
            else None
        )
    if named and distinct >= people / 2:
        return "called like an id, and most values are different"
    # dates and codes differ from one another without naming anybody
    if people >= FEW and distinct >= NEARLY * people and _hierarchy(column) is None:
        return "nearly every value is different"
    return None


def _several_rows(column: Column) -> bool:
    """Whether a column seems to tell people apart who have several rows each."""
    distinct, rows = _distinct(column)
    words = _words(column.name)
    called = bool(words & PEOPLE) and words <= NAMING | PEOPLE | NUMBERING
    whole = column.kind == "categorical" or column.integer
    return called and whole and FEW <= distinct < rows == len(column)


def _target(table: Table, target: str | None, identifiers: dict[str, str]) -> tuple[str, str]:
    if target is not None:
        if target not in table:
            raise DataError("no-column", f"No column {target!r} (named as target).{closest(target, table)}")
        return target, "named by --target"
    for kind, what in (("categorical", "categorical column"), ("numeric", "column of whole numbers")):
        for name in reversed(table.names):
            column = table[name]
            whole = column.kind == "categorical" or column.integer
            if column.kind == kind and whole and name not in identifiers and 2 <= _distinct(column)[0] <= MOST_CLASSES:
                return name, f"the last {what} with 2 to {MOST_CLASSES} values"
    raise DataError(
        "no-target",
        f"No column looks like a target: none has 2 to {MOST_CLASSES} values. Name one with --target.",
    )


def _hierarchy(column: Column) -> dict[str, Any] | None:
    """Prefixes for codes of digits, parts for dates."""
    if column.kind != "categorical" or _distinct(column)[0] < 2:
        return None
    names = [name for name in column.names if name != MISSING]
    length = len(names[0])
    if 3 <= length <= 12 and all(len(name) == length for name in names) and _all_match(names, "^[0-9]+$"):
        return {"prefix": list(range(length - 1, max(length - 6, 0), -1))}
    if _all_match(names, DATE):
        parts = ["month", "quarter", "year", "decade"]
        try:
            Hierarchy.dates(parts).bind(column)
        except HierarchyError:
            return None
        return {"dates": parts}
    return None


def _digits_of_number(column: Column) -> int:
    """The number of digits that all numbers of a column have, or 0."""
    if column.kind != "numeric" or not column.integer or not len(column.numbers) or column.numbers[0] < 100:
        return 0
    low, high = (len(str(int(number))) for number in (column.numbers[0], column.numbers[-1]))
    return low if low == high else 0


def _intervals(column: Column) -> list[float] | None:
    """Round widths that cut what most people have into about sixteen, eight and four."""
    if column.kind != "numeric":
        return None
    numbers, counts = column.numbers, column.counts()[: len(column.numbers)]
    # not from the smallest to the largest: those are somebody's own
    below = np.cumsum(counts) / max(int(counts.sum()), 1)
    low, high = (
        (float(numbers[min(int(np.searchsorted(below, q)), len(numbers) - 1)]) for q in (0.02, 0.98))
        if len(numbers)
        else (0.0, 0.0)
    )
    if not high > low:
        return None
    aim = (high - low) / 16
    power = 10.0 ** math.floor(math.log10(aim))
    step = min((1, 2, 5, 10), key=lambda factor: abs(math.log(factor * power / aim))) * power
    if column.integer:
        step = max(1.0, round(step))
    return [float(f"{step * factor:.6g}") for factor in (1, 2, 4)]
