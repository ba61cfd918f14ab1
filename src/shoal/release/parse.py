# SPDX-License-Identifier: Apache-2.0
"""From untrusted JSON to a `TreeRelease`: every statement is checked, and the first wrong one is named by its place."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ReleaseError, RequirementError
from shoal.privacy import claims as claims_of
from shoal.privacy import requirement_from_claims
from shoal.privacy.conjunction import MOST_PARTS
from shoal.release.domain import Attribute, Interval
from shoal.release.node import Branch, Node, renumber
from shoal.release.tree import TreeRelease
from shoal.release.verdict import Verdict

MAX_NODES = 1_000_000
MAX_ATTRIBUTES = 10_000
MAX_VALUES = 1_000_000
MAX_DEPTH = 400
MAX_COUNT = 2**53
LABELS = {"string": str, "integer": int, "number": float, "boolean": {"True": True, "False": False}.__getitem__}


def parse_tree(body: dict[str, Any]) -> TreeRelease:
    """Build the release that a JSON body describes, or say what is wrong and where."""
    needed = {"format", "kind", "target", "attributes", "claims", "nodes"}
    _keys(body, "release", needed, {"sensitive", "unused", "audit"})
    attributes = tuple(
        _attribute(entry, f"attributes[{i}]")
        for i, entry in enumerate(_list(body["attributes"], "attributes", MAX_ATTRIBUTES))
    )
    by_name = {attribute.name: attribute for attribute in attributes}
    if len(by_name) < len(attributes):
        _refuse("attributes", "name every attribute once")
    target = by_name.get(_text(body["target"], "target"))
    if target is None or target.type != "categorical" or target.missing:
        _refuse("target", "must name a categorical attribute without missing values")
    try:
        claims = tuple(claims_of(requirement_from_claims(_list(body["claims"], "claims", MOST_PARTS))))
    except RequirementError as error:
        _refuse("claims", f"cannot be read: {error}")
    sensitive = _sensitive(body, by_name, target)
    nodes = tuple(
        _node(entry, f"nodes[{i}]", by_name, target) for i, entry in enumerate(_list(body["nodes"], "nodes", MAX_NODES))
    )
    _check_shape(nodes)
    nodes = renumber(nodes)
    people = sum(sum(node.counts) for node in nodes if node.counts is not None)
    if not 0 < people <= MAX_COUNT:
        _refuse("nodes", "count no people at all" if not people else "count more people than any table has")
    unused, verdict = _unused(body, by_name), _verdict(body.get("audit"))
    release = TreeRelease(target.name, attributes, claims, nodes, sensitive, unused, verdict)
    _check_total(release)
    return release


def _attribute(entry: Any, at: str) -> Attribute:
    _keys(entry, at, {"name", "role", "type"}, {"values", "bounds", "integer", "missing", "labels"})
    name, role, kind = (_text(entry[key], f"{at}.{key}") for key in ("name", "role", "type"))
    if role not in ("public", "private"):
        _refuse(f"{at}.role", "must be 'public' or 'private'")
    missing = _flag(entry, "missing", at)
    if kind == "categorical":
        if "values" not in entry or "bounds" in entry or "integer" in entry:
            _refuse(at, "is categorical, so it must state values, and neither bounds nor integer")
        values = tuple(_text(value, f"{at}.values") for value in _list(entry["values"], f"{at}.values", MAX_VALUES))
        labels = _text(entry.get("labels", "string"), f"{at}.labels")
        if len(set(values)) < len(values):
            _refuse(f"{at}.values", "must state every value once")
        if labels not in LABELS:
            _refuse(f"{at}.labels", "must be 'string', 'integer', 'number' or 'boolean'")
        _check_labels(values, labels, at)
        return Attribute(name, role, "categorical", values=values, missing=missing, labels=labels)  # type: ignore[arg-type]
    if kind != "numeric" or "values" in entry or "labels" in entry or "bounds" not in entry:
        _refuse(at, "must be 'categorical' with values, or 'numeric' with bounds")
    ends = _list(entry["bounds"], f"{at}.bounds", 2)
    if len(ends) != 2:
        _refuse(f"{at}.bounds", "must be two numbers")
    low, high = (_number(end, f"{at}.bounds") for end in ends)
    if low > high:
        _refuse(f"{at}.bounds", "must not end below their start")
    integer = _flag(entry, "integer", at)
    return Attribute(name, role, "numeric", bounds=(low, high), integer=integer, missing=missing)  # type: ignore[arg-type]


def _unused(body: dict[str, Any], attributes: dict[str, Attribute]) -> dict[str, Any]:
    unused = body.get("unused", {})
    if not isinstance(unused, dict) or len(unused) > MAX_ATTRIBUTES or set(unused) & set(attributes):
        _refuse("unused", "must be an object from further columns to roles")
    for name, role in unused.items():
        if _text(name, "unused") and role not in ("public", "private"):
            _refuse("unused", "must give each column the role 'public' or 'private'")
    return dict(unused)


def _check_labels(values: tuple[str, ...], labels: str, at: str) -> None:
    """Every value is written as Shoal writes a label of that type, so that no two are the same one."""
    try:
        own = [LABELS[labels](value) for value in values]  # type: ignore[operator]
    except (ValueError, KeyError):
        own = []
    numbers = labels in ("integer", "number")
    if len(set(own)) < len(values) or (numbers and not all(math.isfinite(label) for label in own)):
        _refuse(f"{at}.labels", f"says {labels}, but not every value is one, written as usual and once")


def _sensitive(body: dict[str, Any], attributes: dict[str, Attribute], target: Attribute) -> tuple[str, ...]:
    if "sensitive" not in body:
        return ()
    names = tuple(_text(name, "sensitive") for name in _list(body["sensitive"], "sensitive", MAX_ATTRIBUTES))
    private = {name for name, attribute in attributes.items() if attribute.role == "private"} - {target.name}
    if len(set(names)) < len(names) or not set(names) <= private:
        _refuse("sensitive", "must name private attributes other than the target, each once")
    return names


def _node(entry: Any, at: str, attributes: dict[str, Attribute], target: Attribute) -> Node:
    _keys(entry, at, set(), {"attribute", "branches", "counts"})
    if set(entry) == {"counts"}:
        counts = entry["counts"]
        if not isinstance(counts, dict) or not set(counts) <= set(target.values):
            _refuse(f"{at}.counts", "must be an object from values of the target to numbers of people")
        return Node(counts=tuple(_count(counts.get(value, 0), f"{at}.counts") for value in target.values))
    if set(entry) != {"attribute", "branches"}:
        _refuse(at, "must have either counts, or an attribute and branches")
    attribute = attributes.get(_text(entry["attribute"], f"{at}.attribute"))
    if attribute is None or attribute is target:
        _refuse(f"{at}.attribute", "must be one of the attributes, and not the target")
    branches = _list(entry["branches"], f"{at}.branches", MAX_NODES)
    return Node(
        attribute=attribute.name,
        branches=tuple(_branch(branch, f"{at}.branches[{j}]", attribute) for j, branch in enumerate(branches)),
    )


def _branch(entry: Any, at: str, attribute: Attribute) -> Branch:
    ways = {"values"} if attribute.type == "categorical" else {"above", "at_most", "intervals"}
    _keys(entry, at, {"node"}, ways | {"missing", "label"})
    missing = _flag(entry, "missing", at)
    if missing and not attribute.missing:
        _refuse(at, "takes missing values, which the attribute's domain does not have")
    label = _text(entry["label"], f"{at}.label") if "label" in entry else None
    values: tuple[str, ...] = ()
    intervals: tuple[Interval, ...] = ()
    if "values" in entry:
        values = tuple(_text(value, f"{at}.values") for value in _list(entry["values"], f"{at}.values", MAX_VALUES))
        if len(set(values)) < len(values) or not set(values) <= set(attribute.values):
            _refuse(f"{at}.values", "must be values of the attribute, each once")
    elif "intervals" in entry:
        if "above" in entry or "at_most" in entry:
            _refuse(at, "must have either intervals, or above and at_most")
        intervals = tuple(
            _interval(part, f"{at}.intervals[{j}]")
            for j, part in enumerate(_list(entry["intervals"], f"{at}.intervals", MAX_VALUES))
        )
    elif "above" in entry or "at_most" in entry:
        intervals = (_interval({key: entry[key] for key in ("above", "at_most") if key in entry}, at),)
    if not (values or intervals or missing):
        _refuse(at, "leads nowhere: it names no value and no interval")
    return Branch(_count(entry["node"], f"{at}.node"), values, intervals, missing, label)


def _interval(entry: Any, at: str) -> Interval:
    _keys(entry, at, set(), {"above", "at_most"})
    ends = {key: _number(value, f"{at}.{key}") for key, value in entry.items()}
    interval = Interval(ends.get("above"), ends.get("at_most"))
    if interval.above is not None and interval.at_most is not None and interval.above >= interval.at_most:
        _refuse(at, "is empty: above must be less than at_most")
    return interval


def _verdict(entry: Any) -> Verdict | None:
    if entry is None:
        return None
    _keys(entry, "audit", {"holds", "smallest_group", "sha256"}, set())
    smallest = entry["smallest_group"]
    if not re.fullmatch("[0-9a-f]{64}", _text(entry["sha256"], "audit.sha256")):
        _refuse("audit.sha256", "must be 64 hexadecimal digits")
    return Verdict(
        holds=_flag(entry, "holds", "audit"),
        smallest_group=None if smallest is None else _count(smallest, "audit.smallest_group"),
        sha256=entry["sha256"],
        stated=True,
    )


def _check_shape(nodes: tuple[Node, ...]) -> None:
    """One tree: every node but the root has one parent, all hang on the root, none too deep."""
    depth = np.full(len(nodes), -1, dtype=np.int64)
    depth[0] = 0
    order = [0]
    for number in order:
        for branch in nodes[number].branches:
            if branch.node >= len(nodes):
                _refuse(f"nodes[{number}]", f"leads to node {branch.node}, which does not exist")
            if depth[branch.node] >= 0:
                _refuse(f"nodes[{number}]", f"leads to node {branch.node} a second time: this is no tree")
            depth[branch.node] = depth[number] + 1
            if depth[branch.node] > MAX_DEPTH:
                _refuse(f"nodes[{number}]", f"is more than {MAX_DEPTH} levels deep")
            order.append(branch.node)
    if len(order) < len(nodes):
        _refuse("nodes", f"hold {len(nodes) - len(order)} node(s) that do not hang on the root")


def _check_total(release: TreeRelease) -> None:
    """Every value that can reach a node takes exactly one branch there, so that the tree is a function."""
    routing = release.routing
    stack: list[tuple[int, dict[int, NDArray[np.bool_]]]] = [(0, {})]
    while stack:
        number, allowed = stack.pop()
        test = int(routing.tests[number])
        if test < 0:
            continue
        atoms = routing.atoms[test]
        here = allowed.get(test)
        here = atoms.possible if here is None else here
        taken = np.zeros(atoms.n, dtype=np.int64)
        for branch in release.nodes[number].branches:
            own = atoms.of_branch(branch)
            np.add.at(taken, own, 1)
            mask = np.zeros(atoms.n, dtype=bool)
            mask[own] = True
            stack.append((branch.node, {**allowed, test: here & mask}))
        if (taken > 1).any():
            _refuse(f"nodes[{number}]", f"has branches that overlap on {release.nodes[number].attribute!r}")
        if (taken[here] == 0).any():
            _refuse(f"nodes[{number}]", f"has no branch for some values of {release.nodes[number].attribute!r}")


# -------------------------------------------------------------------- small checks


def _refuse(at: str, what: str) -> NoReturn:
    raise ReleaseError("bad-release", f"The release is not valid: {at} {what}.")


def _keys(entry: Any, at: str, needed: Collection[str], allowed: Collection[str]) -> None:
    if not isinstance(entry, dict):
        _refuse(at, "must be an object")
    for key in needed:
        if key not in entry:
            _refuse(at, f"lacks {key!r}")
    if not set(entry) <= {*needed, *allowed}:
        _refuse(at, f"has keys that this format does not know; known are {sorted({*needed, *allowed})}")


def _list(value: Any, at: str, most: int) -> list[Any]:
    if not isinstance(value, list) or not value:
        _refuse(at, "must be a list that is not empty")
    if len(value) > most:
        _refuse(at, f"is longer than {most:,}")
    return list(value)


def _text(value: Any, at: str) -> str:
    if not isinstance(value, str) or len(value) > 10_000 or any("\ud800" <= c <= "\udfff" for c in value):
        _refuse(at, "must be a text")
    return str(value)


def _flag(entry: dict[str, Any], key: str, at: str) -> bool:
    value = entry.get(key, False)
    if not isinstance(value, bool):
        _refuse(f"{at}.{key}", "must be true or false")
    return bool(value)


def _count(value: Any, at: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_COUNT:
        _refuse(at, "must be a whole number, not negative")
    return int(value)


def _number(value: Any, at: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) > 1e300 or not math.isfinite(value):
        _refuse(at, "must be a finite number")
    return float(value)
