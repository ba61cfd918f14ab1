# SPDX-License-Identifier: Apache-2.0
"""From untrusted JSON to a `TreeRelease`: every statement is checked, and the first wrong one is named by its place."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.release import checks
from shoal.release.domain import Attribute
from shoal.release.marginal import Marginal, parse_marginals
from shoal.release.node import Node, renumber
from shoal.release.parse_claims import parse_claims
from shoal.release.parse_node import check_predicted, parse_node, parse_weights
from shoal.release.statement import statement_of
from shoal.release.tree import TreeRelease
from shoal.release.verdict import Verdict

MAX_DEPTH = 400
MAX_WORK = 2**30  # atoms looked at to see that a tree is a function: some seconds
LABELS = {"string": str, "integer": int, "number": float, "boolean": {"True": True, "False": False}.__getitem__}


def parse_tree(body: dict[str, Any], *, several: bool = False) -> TreeRelease:
    """Build the release that a JSON body describes, or say what is wrong and where; `several`: one of many trees."""
    needed = {"format", "kind", "target", "attributes", "claims", "nodes"}
    checks.keys(body, "release", needed, {"sensitive", "unused", "weights", "people", "marginals", "audit"})
    attributes = tuple(
        parse_attribute(entry, f"attributes[{i}]")
        for i, entry in enumerate(checks.items(body["attributes"], "attributes", checks.MAX_ATTRIBUTES))
    )
    by_name = {attribute.name: attribute for attribute in attributes}
    if len(by_name) < len(attributes):
        checks.refuse("attributes", "name every attribute once")
    target = by_name.get(checks.text(body["target"], "target"))
    if target is None or target.type != "categorical" or target.missing:
        checks.refuse("target", "must name a categorical attribute without missing values")
    claims = parse_claims(body["claims"], several=several)
    sensitive = _sensitive(body, by_name, target)
    nodes = tuple(
        parse_node(entry, f"nodes[{i}]", by_name, target)
        for i, entry in enumerate(checks.items(body["nodes"], "nodes", checks.MAX_NODES))
    )
    _check_shape(nodes)
    weights = parse_weights(body["weights"], target) if "weights" in body else None
    counted, people = statement_of(nodes) == "counts", 0
    if counted:
        people = sum(sum(node.counts) for node in nodes if node.counts is not None)
        if not 0 < people <= checks.MAX_COUNT:
            checks.refuse("nodes", "count no people at all" if not people else "count more people than any table has")
    check_predicted(nodes, weights)
    release = TreeRelease(
        target=target.name,
        attributes=attributes,
        claims=claims,
        nodes=renumber(nodes),
        sensitive=sensitive,
        unused=_unused(body, by_name),
        weights=weights,
        several_rows="people" in body,
        people=_people(body, nodes, counted=counted),
        marginals=_marginals(body, by_name, target.name, people if counted else None),
        verdict=parse_verdict(body.get("audit"), sizes=counted),
    )
    _check_total(release)
    return release


def _marginals(
    body: dict[str, Any], by_name: dict[str, Attribute], target: str, people: int | None
) -> dict[str, Marginal]:
    if "marginals" not in body:
        return {}
    if people is None:
        checks.refuse("marginals", "count people, and the leaves of this release do not")
    return parse_marginals(body["marginals"], by_name, target, people=None if "people" in body else people)


def _people(body: dict[str, Any], nodes: tuple[Node, ...], *, counted: bool) -> int | None:
    """How many people there are, where they have several rows each: null where no numbers are stated."""
    if "people" not in body:
        return None
    if not counted:
        if body["people"] is not None:
            checks.refuse("people", "must be null where leaves state no counts")
        return None
    people = checks.count(body["people"], "people")
    counts = [n for node in nodes if node.counts is not None for n in node.counts]
    if not max(counts) <= people <= sum(counts):
        checks.refuse("people", "must be at least as many as in any leaf and class, and at most as many as in all")
    return people


def parse_attribute(entry: Any, at: str) -> Attribute:
    """A column as a file states it."""
    checks.keys(entry, at, {"name", "role", "type"}, {"values", "bounds", "integer", "missing", "labels", "quantiles"})
    name, role, kind = (checks.text(entry[key], f"{at}.{key}") for key in ("name", "role", "type"))
    if role not in ("public", "private"):
        checks.refuse(f"{at}.role", "must be 'public' or 'private'")
    missing = checks.flag(entry, "missing", at)
    if kind == "categorical":
        if "values" not in entry or not {"bounds", "integer", "quantiles"}.isdisjoint(entry):
            checks.refuse(at, "is categorical, so it must state values, and neither bounds nor integer nor quantiles")
        values = checks.texts(entry["values"], f"{at}.values", checks.MAX_VALUES)
        labels = checks.text(entry.get("labels", "string"), f"{at}.labels")
        if len(set(values)) < len(values):
            checks.refuse(f"{at}.values", "must state every value once")
        if labels not in LABELS:
            checks.refuse(f"{at}.labels", "must be 'string', 'integer', 'number' or 'boolean'")
        _check_labels(values, labels, at)
        return Attribute(name, role, "categorical", values=values, missing=missing, labels=labels)  # type: ignore[arg-type]
    if kind != "numeric" or "values" in entry or "labels" in entry or "bounds" not in entry:
        checks.refuse(at, "must be 'categorical' with values, or 'numeric' with bounds")
    ends = checks.items(entry["bounds"], f"{at}.bounds", 2)
    if len(ends) != 2:
        checks.refuse(f"{at}.bounds", "must be two numbers")
    low, high = (checks.number(end, f"{at}.bounds") for end in ends)
    if low > high:
        checks.refuse(f"{at}.bounds", "must not end below their start")
    integer = checks.flag(entry, "integer", at)
    quantiles = checks.flag(entry, "quantiles", at)
    return Attribute(name, role, "numeric", (), (low, high), integer, missing, quantiles)  # type: ignore[arg-type]


def _unused(body: dict[str, Any], attributes: dict[str, Attribute]) -> dict[str, Any]:
    unused = body.get("unused", {})
    if not isinstance(unused, dict) or len(unused) > checks.MAX_ATTRIBUTES or set(unused) & set(attributes):
        checks.refuse("unused", "must be an object from further columns to roles")
    for name, role in unused.items():
        if checks.text(name, "unused") and role not in ("public", "private"):
            checks.refuse("unused", "must give each column the role 'public' or 'private'")
    return dict(unused)


def _check_labels(values: tuple[str, ...], labels: str, at: str) -> None:
    """Every value is written as Shoal writes a label of that type, so that no two are the same one."""
    try:
        own = [LABELS[labels](value) for value in values]  # type: ignore[operator]
    except (ValueError, KeyError):
        own = []
    numbers = labels in ("integer", "number")
    if len(set(own)) < len(values) or (numbers and not all(math.isfinite(label) for label in own)):
        checks.refuse(f"{at}.labels", f"says {labels}, but not every value is one, written as usual and once")


def _sensitive(body: dict[str, Any], attributes: dict[str, Attribute], target: Attribute) -> tuple[str, ...]:
    if "sensitive" not in body:
        return ()
    names = checks.texts(body["sensitive"], "sensitive", checks.MAX_ATTRIBUTES)
    private = {name for name, attribute in attributes.items() if attribute.role == "private"} - {target.name}
    if len(set(names)) < len(names) or not set(names) <= private:
        checks.refuse("sensitive", "must name private attributes other than the target, each once")
    return names


def parse_verdict(entry: Any, *, sizes: bool = True) -> Verdict | None:
    """The audit's word as a file states it."""
    if entry is None:
        return None
    checks.keys(entry, "audit", {"holds", "sha256", *(["smallest_group"] if sizes else [])}, set())
    smallest = entry.get("smallest_group")
    if not re.fullmatch("[0-9a-f]{64}", checks.text(entry["sha256"], "audit.sha256")):
        checks.refuse("audit.sha256", "must be 64 hexadecimal digits")
    return Verdict(
        holds=checks.flag(entry, "holds", "audit"),
        smallest_group=None if smallest is None else checks.count(smallest, "audit.smallest_group"),
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
                checks.refuse(f"nodes[{number}]", f"leads to node {branch.node}, which does not exist")
            if depth[branch.node] >= 0:
                checks.refuse(f"nodes[{number}]", f"leads to node {branch.node} a second time: this is no tree")
            depth[branch.node] = depth[number] + 1
            if depth[branch.node] > MAX_DEPTH:
                checks.refuse(f"nodes[{number}]", f"is more than {MAX_DEPTH} levels deep")
            order.append(branch.node)
    if len(order) < len(nodes):
        checks.refuse("nodes", f"hold {len(nodes) - len(order)} node(s) that do not hang on the root")


def _check_total(release: TreeRelease) -> None:
    """Every value that can reach a node takes exactly one branch there, so that the tree is a function."""
    routing = release.routing
    stack: list[tuple[int, dict[int, NDArray[np.bool_]]]] = [(0, {})]
    work = 0
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
            if routing.tests[branch.node] < 0:
                continue
            work += atoms.n
            if work > MAX_WORK:
                checks.refuse("nodes", "have too many branches with too many values each")
            mask = np.zeros(atoms.n, dtype=bool)
            mask[own] = True
            stack.append((branch.node, {**allowed, test: here & mask}))
        if (taken > 1).any():
            checks.refuse(f"nodes[{number}]", f"has branches that overlap on {release.nodes[number].attribute!r}")
        if (taken[here] == 0).any():
            checks.refuse(f"nodes[{number}]", f"has no branch for some values of {release.nodes[number].attribute!r}")
