# SPDX-License-Identifier: Apache-2.0
"""Definition 5 of VLDB'08 by enumeration, from the released JSON and plain rows.

Nothing here is shared with the library: no atoms, no codes, no routing. A row is a dict from column to value (None is
missing); the whole domain of the private columns is walked for every person.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

Row = dict[str, Any]
Body = dict[str, Any]


def domain(body: Body, attribute: dict[str, Any]) -> list[Any]:
    """Every value of an attribute; of a real number, one in each piece that any threshold makes."""
    if attribute["type"] == "categorical":
        values = list(attribute["values"])
    else:
        low, high = attribute["bounds"]
        if attribute.get("integer"):
            values = list(range(int(-(-low // 1)), int(high // 1) + 1))
        else:
            ends = {low, high}
            for node in body["nodes"]:
                if node.get("attribute") == attribute["name"]:
                    for branch in node["branches"]:
                        for part in branch.get("intervals", [branch]):
                            ends |= {part[key] for key in ("above", "at_most") if key in part}
            points = sorted(end for end in ends if low <= end <= high)
            values = points + [(a + b) / 2 for a, b in itertools.pairwise(points)]
    return values + ([None] if attribute.get("missing") else [])


def model(body: Body, row: Row) -> tuple[int, Any]:
    """The bin of a row: its leaf and its class."""
    number = 0
    while "branches" in body["nodes"][number]:
        node = body["nodes"][number]
        taken = [branch["node"] for branch in node["branches"] if _takes(branch, row[node["attribute"]])]
        assert len(taken) == 1, "a released tree is a function"
        number = taken[0]
    return number, row[body["target"]]


def _takes(branch: dict[str, Any], value: Any) -> bool:
    if value is None:
        return bool(branch.get("missing", False))
    if "values" in branch:
        return value in branch["values"]
    if "intervals" in branch:
        return any(_inside(part, value) for part in branch["intervals"])
    return ("above" in branch or "at_most" in branch) and _inside(branch, value)


def _inside(part: dict[str, Any], value: float) -> bool:
    return part.get("above", float("-inf")) < value <= part.get("at_most", float("inf"))


def span(body: Body, row: Row, public: set[str]) -> frozenset[tuple[int, Any]]:
    """All bins of tuples of the domain that agree with the row on the public attributes."""
    asked = {node["attribute"] for node in body["nodes"] if "attribute" in node} | {body["target"]}
    hidden = [a for a in body["attributes"] if a["name"] not in public and a["name"] in asked]
    bins = set()
    for values in itertools.product(*(domain(body, attribute) for attribute in hidden)):
        guess = {**row, **dict(zip([a["name"] for a in hidden], values, strict=True))}
        bins.add(model(body, guess))
    return frozenset(bins)


def groups(body: Body, rows: list[Row], public: set[str]) -> list[frozenset[tuple[int, Any]]]:
    """The span of every person."""
    cache: dict[tuple[Any, ...], frozenset[tuple[int, Any]]] = {}
    names = [a["name"] for a in body["attributes"] if a["name"] in public]
    answer = []
    for row in rows:
        key = tuple(row[name] for name in names)
        if key not in cache:
            cache[key] = span(body, row, public)
        answer.append(cache[key])
    return answer


def sizes(spans: list[frozenset[tuple[int, Any]]]) -> Counter[frozenset[tuple[int, Any]]]:
    """How many people share each span."""
    return Counter(spans)


def holds(body: Body, rows: list[Row], public: set[str], k: int) -> bool:
    """Claim 3: every span is shared by k people, or is a single bin."""
    return all(n >= k or len(bins) == 1 for bins, n in sizes(groups(body, rows, public)).items())


def people(spans: list[Any], whose: list[Any]) -> dict[Any, int]:
    """How many different people share each span, where `whose` says whose row each is."""
    return {each: len({who for own, who in zip(spans, whose, strict=True) if own == each}) for each in set(spans)}


def by_value(values: list[Any], whose: list[Any], order: list[Any]) -> Counter[Any]:
    """The people of one group by value, each once: with the one of his values that most people of the group have.

    Of several such, the first in `order`.
    """
    own: dict[Any, set[Any]] = {}
    for value, who in zip(values, whose, strict=True):
        own.setdefault(who, set()).add(value)
    have = {value: sum(value in each for each in own.values()) for value in order}
    return Counter(min(each, key=lambda value: (-have[value], order.index(value))) for each in own.values())
