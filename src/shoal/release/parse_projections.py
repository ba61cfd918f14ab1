# SPDX-License-Identifier: Apache-2.0
"""From untrusted JSON and the files beside it to a `ProjectionsRelease`: every statement and every cell is checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.privacy import NOT_K_ANONYMITY, KAnonymity, partal_asked, requirement_from_claims
from shoal.privacy import claims as claims_of
from shoal.release import checks
from shoal.release.domain import Attribute
from shoal.release.generalised import Generalised
from shoal.release.parse import parse_attribute, parse_verdict
from shoal.release.parse_claims import Claims, parse_claims
from shoal.release.parse_table import parse_generalised, parse_sensitive, read_rows
from shoal.release.projections import ProjectionsRelease
from shoal.release.table import TableRelease

MAX_PROJECTIONS = 1_000
_KEYS = {"format", "kind", "notice", "target", "attributes", "claims", "generalised", "projections"}


def parse_projections(body: dict[str, Any], folder: Path) -> ProjectionsRelease:
    """Build the release that a JSON body and its files of rows describe, or say what is wrong and where."""
    checks.keys(body, "release", _KEYS, {"sensitive", "left_out", "overlapping", "audit"})
    if body["notice"] != NOT_K_ANONYMITY:
        checks.refuse("notice", "must be the sentence that says what PartAL is not")
    attributes = tuple(
        parse_attribute(entry, f"attributes[{i}]")
        for i, entry in enumerate(checks.items(body["attributes"], "attributes", checks.MAX_ATTRIBUTES))
    )
    by_name = {each.name: each for each in attributes}
    if len(by_name) < len(attributes):
        checks.refuse("attributes", "name every attribute once")
    target = by_name.get(checks.text(body["target"], "target"))
    if target is None or target.type != "categorical" or target.missing or target.role != "private":
        checks.refuse("target", "must name a private categorical attribute without missing values")
    claims = parse_claims(body["claims"], several=True, projections=True)
    k = partal_asked(requirement_from_claims([dict(claim) for claim in claims]))
    if k is None:
        checks.refuse("claims", "must state partal, whatever else they state")
    sensitive = parse_sensitive(body, by_name, target)
    generalised = parse_generalised(body["generalised"], by_name)
    entries = checks.items(body["projections"], "projections", MAX_PROJECTIONS)
    overlapping = checks.flag(body, "overlapping", "release")
    columns = _columns(entries, by_name, target.name, overlapping=overlapping)
    alone = tuple(claims_of(KAnonymity(k)))
    tables = tuple(
        _table(entry, i, folder, names, by_name, generalised, target.name, alone, sensitive)
        for i, (entry, names) in enumerate(zip(entries, columns, strict=True))
    )
    return ProjectionsRelease(
        tables,
        claims,
        checks.count(body.get("left_out", 0), "left_out"),
        overlapping,
        parse_verdict(body.get("audit"), sizes=False),
    )


def _columns(
    entries: list[Any], by_name: dict[str, Attribute], target: str, *, overlapping: bool
) -> list[tuple[str, ...]]:
    """The columns of each projection; nothing is read from a file before they are right."""
    found: list[tuple[str, ...]] = []
    files: set[str] = set()
    seen: set[str] = set()
    for i, entry in enumerate(entries):
        at = f"projections[{i}]"
        checks.keys(entry, at, {"columns", "name", "sha256", "rows"}, ())
        names = checks.texts(entry["columns"], f"{at}.columns", checks.MAX_ATTRIBUTES)
        if len(set(names)) < len(names) or not set(names) <= set(by_name) or target not in names or len(names) < 2:
            checks.refuse(f"{at}.columns", "must name attributes, each once: the target, and at least one other")
        if not overlapping and not seen.isdisjoint(set(names) - {target}):
            checks.refuse(f"{at}.columns", "has a column that another projection has, and no overlap is stated")
        seen |= set(names)
        name = checks.text(entry["name"], f"{at}.name")
        if name in files:
            checks.refuse(f"{at}.name", "is the file of another projection")
        files.add(name)
        found.append(names)
    if seen != set(by_name):
        checks.refuse("attributes", "must all be in a projection")
    return found


def _table(
    entry: dict[str, Any],
    number: int,
    folder: Path,
    names: tuple[str, ...],
    by_name: dict[str, Attribute],
    generalised: dict[str, tuple[Generalised, ...]],
    target: str,
    claims: Claims,
    sensitive: tuple[str, ...],
) -> TableRelease:
    own = {name: generalised[name] for name in names if name in generalised}
    rows = read_rows(entry, f"projections[{number}]", folder, list(names), by_name, own)
    attributes = tuple(by_name[name] for name in names)
    return TableRelease(target, attributes, claims, rows, own, tuple(name for name in sensitive if name in names))
