# SPDX-License-Identifier: Apache-2.0
"""From untrusted JSON to the nodes of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.release import checks
from shoal.release.answers import LEAST_WEIGHT, are_weights
from shoal.release.domain import Attribute, Interval
from shoal.release.node import Branch, Node
from shoal.release.statement import PARTS

SLACK = 1e-9  # so that no sum of floats refuses what rounding explains


def parse_node(entry: Any, at: str, attributes: dict[str, Attribute], target: Attribute) -> Node:
    """A split or a leaf."""
    checks.keys(entry, at, set(), {"attribute", "branches", "counts", "shares", "predict"})
    said = set(entry)
    answer = _class(entry["predict"], f"{at}.predict", target) if "predict" in entry else None
    if said == {"counts"}:
        counts = _by_class(entry["counts"], f"{at}.counts", target, "numbers of people")
        return Node(counts=tuple(checks.count(count, f"{at}.counts") for count in counts))
    if said == {"shares", "predict"}:
        return Node(shares=_shares(entry["shares"], f"{at}.shares", target), answer=answer)
    if said == {"predict"}:
        return Node(answer=answer)
    if said - {"predict"} != {"attribute", "branches"}:
        checks.refuse(at, "must have counts, or shares and predict, or predict alone, or an attribute and branches")
    attribute = attributes.get(checks.text(entry["attribute"], f"{at}.attribute"))
    if attribute is None or attribute is target:
        checks.refuse(f"{at}.attribute", "must be one of the attributes, and not the target")
    branches = checks.items(entry["branches"], f"{at}.branches", checks.MAX_BRANCHES)
    return Node(
        attribute=attribute.name,
        branches=tuple(_branch(branch, f"{at}.branches[{j}]", attribute) for j, branch in enumerate(branches)),
        answer=answer,
    )


def parse_weights(entry: Any, target: Attribute) -> tuple[float, ...]:
    """A weight for every class."""
    checks.keys(entry, "weights", target.values, ())
    weights = tuple(checks.number(entry[value], "weights") for value in target.values)
    if not are_weights(weights, len(target.values)):
        checks.refuse("weights", f"must be numbers from {LEAST_WEIGHT:g} to {1 / LEAST_WEIGHT:g}")
    return weights


def check_predicted(nodes: Sequence[Node], weights: tuple[float, ...] | None) -> None:
    """No leaf predicts a class whose share, rounded as it is, cannot be the largest by the weights."""
    for number, node in enumerate(nodes):
        if node.shares is not None and node.answer is not None:
            heavy = weights or [1.0] * len(node.shares)
            least = [weight * (share - 1 / PARTS) for weight, share in zip(heavy, node.shares, strict=True)]
            if max(least) >= heavy[node.answer] * (node.shares[node.answer] + 1 / PARTS) * (1 + SLACK):
                checks.refuse(f"nodes[{number}].predict", "must be the class with the largest share, by its weight")


def _by_class(entry: Any, at: str, target: Attribute, what: str) -> list[Any]:
    """What is said of each class; one that is left out has none."""
    if not isinstance(entry, dict) or not set(entry) <= set(target.values):
        checks.refuse(at, f"must be an object from values of the target to {what}")
    return [entry.get(value, 0) for value in target.values]


def _shares(entry: Any, at: str, target: Attribute) -> tuple[float, ...]:
    shares = [checks.number(share, at) for share in _by_class(entry, at, target, "shares")]
    parts = [round(share * PARTS) if 0 <= share <= 1 else -1 for share in shares]
    if any(part < 0 or part / PARTS != share for part, share in zip(parts, shares, strict=True)):
        checks.refuse(at, "must be thousandths from 0 to 1, such as 0.125")
    if sum(parts) != PARTS:
        checks.refuse(at, "must add up to 1")
    return tuple(shares)


def _class(entry: Any, at: str, target: Attribute) -> int:
    if checks.text(entry, at) not in target.values:
        checks.refuse(at, "must be a value of the target")
    return target.values.index(entry)


def _branch(entry: Any, at: str, attribute: Attribute) -> Branch:
    ways = {"values"} if attribute.type == "categorical" else {"above", "at_most", "intervals"}
    checks.keys(entry, at, {"node"}, ways | {"missing", "label"})
    missing = checks.flag(entry, "missing", at)
    if missing and not attribute.missing:
        checks.refuse(at, "takes missing values, which the attribute's domain does not have")
    label = checks.text(entry["label"], f"{at}.label") if "label" in entry else None
    values, intervals = parse_parts(entry, at, attribute)
    if not (values or intervals or missing):
        checks.refuse(at, "leads nowhere: it names no value and no interval")
    return Branch(checks.count(entry["node"], f"{at}.node"), values, intervals, missing, label)


def parse_parts(entry: Any, at: str, attribute: Attribute) -> tuple[tuple[str, ...], tuple[Interval, ...]]:
    """The values, or the intervals, of an attribute that an entry names."""
    values: tuple[str, ...] = ()
    intervals: tuple[Interval, ...] = ()
    if "values" in entry:
        values = checks.texts(entry["values"], f"{at}.values", checks.MAX_VALUES)
        if len(set(values)) < len(values) or not attribute.value_set.issuperset(values):
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
    return values, intervals


def parse_interval(entry: Any, at: str) -> Interval:
    """Numbers above one end and at most the other."""
    checks.keys(entry, at, set(), {"above", "at_most"})
    ends = {key: checks.number(value, f"{at}.{key}") for key, value in entry.items()}
    interval = Interval(ends.get("above"), ends.get("at_most"))
    if interval.above is not None and interval.at_most is not None and interval.above >= interval.at_most:
        checks.refuse(at, "is empty: above must be less than at_most")
    return interval
