# SPDX-License-Identifier: Apache-2.0
"""From untrusted JSON and the file beside it to a `TableRelease`: every statement and every cell is checked."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.grouped import Repeated
from shoal.data.table import Column, Table, smallest_dtype
from shoal.errors import ReleaseError
from shoal.release import checks
from shoal.release.domain import Attribute
from shoal.release.generalised import Generalised, atoms_of, runs_of
from shoal.release.parse import parse_attribute, parse_verdict
from shoal.release.parse_claims import parse_claims
from shoal.release.parse_node import parse_parts
from shoal.release.table import TableRelease
from shoal.release.table_file import Cells, check_name, read_cells

Times = NDArray[np.int64] | None  # how many rows each stands for, where that is not one
_KEYS = {"format", "kind", "target", "attributes", "claims", "columns", "generalised", "files"}


def parse_table(body: dict[str, Any], folder: Path) -> TableRelease:
    """Build the release that a JSON body and its file of rows describe, or say what is wrong and where."""
    checks.keys(body, "release", _KEYS, {"sensitive", "people", "left_out", "audit"})
    attributes = tuple(
        parse_attribute(entry, f"attributes[{i}]")
        for i, entry in enumerate(checks.items(body["attributes"], "attributes", checks.MAX_ATTRIBUTES))
    )
    by_name = {attribute.name: attribute for attribute in attributes}
    if len(by_name) < len(attributes):
        checks.refuse("attributes", "name every attribute once")
    target = None if body["target"] is None else by_name.get(checks.text(body["target"], "target"))
    if body["target"] is not None and (target is None or target.type != "categorical" or target.missing):
        checks.refuse("target", "must be null or name a categorical attribute without missing values")
    claims = parse_claims(body["claims"])
    columns = [checks.text(name, "columns") for name in checks.items(body["columns"], "columns", checks.MAX_ATTRIBUTES)]
    if sorted(columns) != sorted(by_name):
        checks.refuse("columns", "must name every attribute, and nothing else, once each")
    generalised = parse_generalised(body["generalised"], by_name)
    file = checks.items(body["files"], "files", 1)[0]
    checks.keys(file, "files[0]", {"name", "sha256", "rows"}, ())
    rows = read_rows(file, "files[0]", folder, columns, by_name, generalised)
    return TableRelease(
        None if target is None else target.name,
        attributes,
        claims,
        rows,
        generalised,
        parse_sensitive(body, by_name, target),
        _people(body, rows.n_rows),
        checks.count(body.get("left_out", 0), "left_out"),
        parse_verdict(body.get("audit")),
    )


def _people(body: dict[str, Any], n_rows: int) -> int | None:
    if "people" not in body:
        return None
    people = checks.count(body["people"], "people")
    if not 0 < people < n_rows:
        checks.refuse("people", "must be at least 1, and fewer than rows")
    return people


def parse_sensitive(body: dict[str, Any], by_name: dict[str, Attribute], target: Attribute | None) -> tuple[str, ...]:
    """Private columns besides the target that claims are about, as a file states them."""
    if "sensitive" not in body:
        return ()
    names = checks.texts(body["sensitive"], "sensitive", checks.MAX_ATTRIBUTES)
    private = {each.name for each in by_name.values() if each.role == "private" and each is not target}
    if len(set(names)) < len(names) or not set(names) <= private:
        checks.refuse("sensitive", "must name private attributes other than the target, each once")
    return names


def parse_generalised(entry: Any, by_name: dict[str, Attribute]) -> dict[str, tuple[Generalised, ...]]:
    """For each public column what its labels mean, as a file states it."""
    public = {name for name, attribute in by_name.items() if attribute.role == "public"}
    checks.keys(entry, "generalised", public, ())
    return {name: _values(values, f"generalised[{name!r}]", by_name[name]) for name, values in entry.items()}


def _values(entry: Any, at: str, attribute: Attribute) -> tuple[Generalised, ...]:
    found = tuple(
        _value(value, f"{at}[{i}]", attribute) for i, value in enumerate(checks.items(entry, at, checks.MAX_VALUES))
    )
    if len({value.label for value in found}) < len(found):
        checks.refuse(at, "must state every label once")
    atoms = atoms_of(attribute, found)
    runs = runs_of(atoms, found).within(atoms.possible)
    if not np.diff(runs.start).all():
        checks.refuse(at, "has a label that no value of the domain can have")
    # groups are rows with the same labels, so one meaning must have one label
    if len(np.unique(runs.kinds)) < len(found):
        checks.refuse(at, "has two labels that mean the same")
    return found


def _value(entry: Any, at: str, attribute: Attribute) -> Generalised:
    ways = {"values"} if attribute.type == "categorical" else {"above", "at_most", "intervals"}
    checks.keys(entry, at, {"label"}, ways | {"missing"})
    label, missing = checks.text(entry["label"], f"{at}.label"), checks.flag(entry, "missing", at)
    if missing and not attribute.missing:
        checks.refuse(at, "takes missing values, which the attribute's domain does not have")
    values, intervals = parse_parts(entry, at, attribute)
    value = Generalised(label, values, intervals, missing)
    only_missing = missing and not values and not intervals
    # what a reader takes an asterisk and an empty cell for must be what they mean
    if (label == "*") != value.is_all or (label == "") != only_missing:
        checks.refuse(at, "must be '*' exactly where it means everything, and '' exactly where it means missing")
    return value


def read_rows(
    entry: dict[str, Any],
    at: str,
    folder: Path,
    columns: list[str],
    by_name: dict[str, Attribute],
    generalised: dict[str, tuple[Generalised, ...]],
) -> Table:
    """The rows in the file that an entry names, every cell checked."""
    name, sha256 = (checks.text(entry[key], f"{at}.{key}") for key in ("name", "sha256"))
    if not re.fullmatch("[0-9a-f]{64}", sha256):
        checks.refuse(f"{at}.sha256", "must be 64 hexadecimal digits")
    n_rows = checks.count(entry["rows"], f"{at}.rows")
    if not n_rows:
        checks.refuse(f"{at}.rows", "must be at least 1")
    cells, times = read_cells(folder / check_name(name), columns, sha256, n_rows)
    stored = Table(
        _public(by_name[name], generalised[name], cells[name], times)
        if name in generalised
        else _private(by_name[name], cells[name], times)
        for name in columns
    )
    return stored if times is None else Repeated(stored)


def _public(attribute: Attribute, found: tuple[Generalised, ...], cells: Cells, times: Times) -> Column:
    position = {value.label: code for code, value in enumerate(found)}
    code_of = [*(position.get(text, -1) if text else -1 for text in cells.entries), position.get("", -1)]
    codes = np.array(code_of, dtype=np.int64)[cells.index]
    _check_cells(attribute.name, codes, times, "is not a label that the release explains")
    labels = tuple(value.label for value in found)
    return Column(attribute.name, "categorical", codes.astype(smallest_dtype(len(labels))), labels, weights=times)


def _private(attribute: Attribute, cells: Cells, times: Times) -> Column:
    values: tuple[str, ...] | NDArray[np.float64]
    if attribute.type == "categorical":
        values = attribute.values
        position = {value: code for code, value in enumerate(values)}
        known = [position.get(text, -1) for text in cells.entries]
    else:
        numbers = np.array([_number(attribute, text) for text in cells.entries], dtype=np.float64)
        values = np.unique(numbers[~np.isnan(numbers)])
        known = np.where(np.isnan(numbers), -1, np.searchsorted(values, numbers)).tolist()
    codes = np.array([*known, len(values) if attribute.missing else -1], dtype=np.int64)[cells.index]
    _check_cells(attribute.name, codes, times, "is not in the domain that the release states")
    return Column(
        attribute.name,
        attribute.type,
        codes.astype(smallest_dtype(len(values) + attribute.missing)),
        values,
        missing=attribute.missing,
        integer=attribute.integer,
        bounds=attribute.bounds,
        labels=attribute.labels,
        weights=times,
    )


def _number(attribute: Attribute, text: str) -> float:
    """A cell as a number of the domain, or NaN."""
    assert attribute.bounds is not None
    try:
        number = float(text) if re.fullmatch(r"-?[0-9.]+(e[-+]?[0-9]+)?", text) else math.nan
    except ValueError:
        return math.nan
    inside = attribute.bounds[0] <= number <= attribute.bounds[1]
    return number if inside and (not attribute.integer or number.is_integer()) else math.nan


def _check_cells(name: str, codes: NDArray[np.int64], times: Times, what: str) -> None:
    bad = codes < 0
    wrong = int(bad.sum() if times is None else times[bad].sum())
    if wrong:
        raise ReleaseError(
            "bad-release", f"The release is not valid: column {name!r} has {wrong:,} cell(s) with what {what}."
        )
