# SPDX-License-Identifier: Apache-2.0
"""From untrusted JSON to the nodes of a tree."""

from __future__ import annotations

from typing import Any

from shoal.release import checks
from shoal.release.domain import Attribute, Interval
from shoal.release.node import Branch, Node


def parse_node(entry: Any, at: str, attributes: dict[str, Attribute], target: Attribute) -> Node:
    """A split or a leaf."""
    checks.keys(entry, at, set(), {"attribute", "branches", "counts"})
    if set(entry) == {"counts"}:
        counts = entry["counts"]
        if not isinstance(counts, dict) or not set(counts) <= set(target.values):
            checks.refuse(f"{at}.counts", "must be an object from values of the target to numbers of people")
        return Node(counts=tuple(checks.count(counts.get(value, 0), f"{at}.counts") for value in target.values))
    if set(entry) != {"attribute", "branches"}:
        checks.refuse(at, "must have either counts, or an attribute and branches")
    attribute = attributes.get(checks.text(entry["attribute"], f"{at}.attribute"))
    if attribute is None or attribute is target:
        checks.refuse(f"{at}.attribute", "must be one of the attributes, and not the target")
    branches = checks.items(entry["branches"], f"{at}.branches", checks.MAX_NODES)
    return Node(
        attribute=attribute.name,
        branches=tuple(_branch(branch, f"{at}.branches[{j}]", attribute) for j, branch in enumerate(branches)),
    )


def _branch(entry: Any, at: str, attribute: Attribute) -> Branch:
    ways = {"values"} if attribute.type == "categorical" else {"above", "at_most", "intervals"}
    checks.keys(entry, at, {"node"}, ways | {"missing", "label"})
    missing = checks.flag(entry, "missing", at)
    if missing and not attribute.missing:
        checks.refuse(at, "takes missing values, which the attribute's domain does not have")
    label = checks.text(entry["label"], f"{at}.label") if "label" in entry else None
    values: tuple[str, ...] = ()
    intervals: tuple[Interval, ...] = ()
    if "values" in entry:
        values = checks.texts(entry["values"], f"{at}.values", checks.MAX_VALUES)
        if len(set(values)) < len(values) or not set(values) <= set(attribute.values):
            checks.refuse(f"{at}.values", "must be values of the attribute, each once")
    elif "intervals" in entry:
        if "above" in entry or "at_most" in entry:
            checks.refuse(at, "must have either intervals, or above and at_most")
        intervals = tuple(
            parse_interval(part, f"{at}.intervals[{j}]")
            for j, part in enumerate(checks.items(entry["intervals"], f"{at}.intervals", checks.MAX_VALUES))
        )
    elif "above" in entry or "at_most" in entry:
        intervals = (parse_interval({key: entry[key] for key in ("above", "at_most") if key in entry}, at),)
    if not (values or intervals or missing):
        checks.refuse(at, "leads nowhere: it names no value and no interval")
    return Branch(checks.count(entry["node"], f"{at}.node"), values, intervals, missing, label)


def parse_interval(entry: Any, at: str) -> Interval:
    """Numbers above one end and at most the other."""
    checks.keys(entry, at, set(), {"above", "at_most"})
    ends = {key: checks.number(value, f"{at}.{key}") for key, value in entry.items()}
    interval = Interval(ends.get("above"), ends.get("at_most"))
    if interval.above is not None and interval.at_most is not None and interval.above >= interval.at_most:
        checks.refuse(at, "is empty: above must be less than at_most")
    return interval
