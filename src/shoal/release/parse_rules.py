# SPDX-License-Identifier: Apache-2.0
"""From untrusted JSON to a `RulesRelease`: every statement is checked, the first wrong one is named."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from shoal.release import checks
from shoal.release.parse import parse_verdict
from shoal.release.parse_claims import parse_claims
from shoal.release.rules import CountedRule, Item, RulesRelease

MAX_RULES = 1_000_000


def parse_rules(body: dict[str, Any]) -> RulesRelease:
    """Build the release that a JSON body describes, or say what is wrong and where."""
    needed = {"format", "kind", "rows", "people", "items", "claims", "rules"}
    checks.keys(body, "release", needed, {"sensitive", "cuts", "several_rows", "audit"})
    if body["rows"] not in ("baskets", "table"):
        checks.refuse("rows", "must be 'baskets' or 'table'")
    people = checks.count(body["people"], "people")
    items = _items(body["items"], of_table=body["rows"] == "table")
    claims = parse_claims(body["claims"])
    rules = tuple(
        _rule(entry, f"rules[{i}]", items, people)
        for i, entry in enumerate(checks.items(body["rules"], "rules", MAX_RULES))
    )
    if len({(rule.antecedent, rule.consequent) for rule in rules}) < len(rules):
        checks.refuse("rules", "must state every rule once")
    _check_counts(rules)
    sensitive = checks.texts(body["sensitive"], "sensitive", len(items)) if "sensitive" in body else ()
    if len(set(sensitive)) < len(sensitive) or not all(
        name in items and items[name].role == "private" for name in sensitive
    ):
        checks.refuse("sensitive", "must name private items, each once")
    return RulesRelease(
        items=tuple(items.values()),
        rules=rules,
        n_people=people,
        claims=claims,
        sensitive=sensitive,
        rows=body["rows"],
        cuts=_cuts(body["cuts"]) if "cuts" in body else {},
        several_rows=checks.flag(body, "several_rows", "release"),
        verdict=parse_verdict(body.get("audit")),
    )


def _items(entries: Any, *, of_table: bool) -> dict[str, Item]:
    items: dict[str, Item] = {}
    for i, entry in enumerate(checks.items(entries, "items", checks.MAX_VALUES)):
        at = f"items[{i}]"
        checks.keys(entry, at, {"name", "role"}, {"members", "column"})
        name, role = checks.text(entry["name"], f"{at}.name"), checks.text(entry["role"], f"{at}.role")
        if role not in ("public", "private"):
            checks.refuse(f"{at}.role", "must be 'public' or 'private'")
        if name in items:
            checks.refuse(at, "names an item that was named before")
        members = checks.texts(entry["members"], f"{at}.members", checks.MAX_VALUES) if "members" in entry else ()
        if name in members or len(set(members)) < len(members):
            checks.refuse(f"{at}.members", "must name other items, each once")
        column = checks.text(entry["column"], f"{at}.column") if "column" in entry else None
        if of_table != (column is not None):
            checks.refuse(at, "must name the column that it is a value of, of a table and only there")
        items[name] = Item(name, role, members, column)  # type: ignore[arg-type]
    roles = {(item.column, item.role) for item in items.values() if item.column is not None}
    if len(roles) > len({column for column, _ in roles}):
        checks.refuse("items", "give a column two roles")
    for item in items.values():
        for member in item.members:
            if member in items and (items[member].members or items[member].role != item.role):
                checks.refuse("items", "have a category with a member of another role, or that is a category itself")
    return items


def _cuts(entries: Any) -> dict[str, tuple[float, ...]]:
    if not isinstance(entries, dict):
        checks.refuse("cuts", "must be an object from columns to numbers")
    cuts = {}
    for name, given in entries.items():
        at = f"cuts[{name!r}]"
        numbers = [checks.number(number, at) for number in checks.items(given, at, checks.MAX_VALUES)]
        if any(low >= high for low, high in pairwise(numbers)):
            checks.refuse(at, "must be in ascending order")
        cuts[name] = tuple(numbers)
    return cuts


def _rule(entry: Any, at: str, items: dict[str, Item], n_people: int) -> CountedRule:
    checks.keys(entry, at, {"antecedent", "consequent", "people", "antecedent_people"}, ())
    sides = [checks.texts(entry[side], f"{at}.{side}", len(items)) for side in ("antecedent", "consequent")]
    named = [name for side in sides for name in side]
    if len(set(named)) < len(named) or not set(named) <= items.keys():
        checks.refuse(at, "must name items of the release, each once")
    people, antecedent = (checks.count(entry[key], f"{at}.{key}") for key in ("people", "antecedent_people"))
    if not people <= antecedent <= n_people or not antecedent:
        checks.refuse(at, "must count at most as many people as have its antecedent, and these are some of all")
    before, after = (tuple(sorted(side)) for side in sides)
    return CountedRule(before, after, people, antecedent)


def _check_counts(rules: tuple[CountedRule, ...]) -> None:
    """The same people are counted the same in every rule."""
    counts: dict[frozenset[str], int] = {}
    for i, rule in enumerate(rules):
        before = frozenset(rule.antecedent)
        for items, people in ((before, rule.antecedent_people), (before | set(rule.consequent), rule.people)):
            if counts.setdefault(items, people) != people:
                checks.refuse(f"rules[{i}]", "counts the people of some items otherwise than a rule before it")
