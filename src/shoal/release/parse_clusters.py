# SPDX-License-Identifier: Apache-2.0
"""From untrusted JSON to a `ClustersRelease`."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.release import checks
from shoal.release.clusters import ClustersRelease
from shoal.release.domain import Attribute
from shoal.release.encoding import Scale
from shoal.release.parse import parse_attribute, parse_verdict
from shoal.release.parse_claims import parse_claims

MAX_CLUSTERS = 100_000
MAX_NUMBERS = 10_000_000
MAX_LEVELS = 100


def parse_clusters(body: dict[str, Any]) -> ClustersRelease:
    """Build the release that a JSON body describes, or say what is wrong and where."""
    needed = {"format", "kind", "attributes", "claims", "encoding", "clusters"}
    checks.keys(body, "release", needed, {"sensitive", "small", "people", "audit"})
    attributes = tuple(
        parse_attribute(entry, f"attributes[{i}]")
        for i, entry in enumerate(checks.items(body["attributes"], "attributes", checks.MAX_ATTRIBUTES))
    )
    by_name = {each.name: each for each in attributes}
    numeric = [each for each in attributes if each.type == "numeric"]
    if len(by_name) < len(attributes) or any(each.missing or each.quantiles for each in numeric):
        checks.refuse("attributes", "name every attribute once, no numeric one with missing values or quantiles")
    claims = parse_claims(body["claims"])
    checks.keys(body["encoding"], "encoding", set(by_name), ())
    scales = {name: _scale(body["encoding"][name], each, f"encoding.{name}") for name, each in by_name.items()}
    entries = checks.items(body["clusters"], "clusters", MAX_CLUSTERS)
    # features: each level of a hierarchy has at most as many groups as there are values
    width = sum((len(each.values) or 1) * (1 + len(scales[each.name].levels)) for each in attributes)
    if len(entries) * width > MAX_NUMBERS:
        checks.refuse("clusters", f"state more than {MAX_NUMBERS:,} numbers")
    people, means = [], []
    for i, entry in enumerate(entries):
        checks.keys(entry, f"clusters[{i}]", {"people", "centroid"}, {"missing"})
        people.append(checks.count(entry["people"], f"clusters[{i}].people"))
        missing = entry.get("missing", {})
        checks.keys(missing, f"clusters[{i}].missing", (), {each.name for each in attributes if each.missing})
        means.append(_means(entry["centroid"], missing, attributes, f"clusters[{i}].centroid"))
    return ClustersRelease(
        attributes,
        claims,
        scales,
        np.array(means, dtype=np.float64),
        tuple(people),
        sensitive=_sensitive(body, by_name),
        small=checks.flag(body, "small", "release"),
        total=_total(body, people),
        verdict=parse_verdict(body.get("audit")),
    )


def _scale(entry: Any, attribute: Attribute, at: str) -> Scale:
    numeric = attribute.type == "numeric"
    checks.keys(entry, at, {"centre", "scale"} if numeric else {"scale"}, () if numeric else {"levels"})
    centre = checks.number(entry["centre"], f"{at}.centre") if numeric else 0.0
    scale = checks.number(entry["scale"], f"{at}.scale")
    if not 1e-150 < scale < 1e150 or abs(centre) > 1e150:
        checks.refuse(at, "must be a scale above 0 and a centre, neither of them beyond reason")
    return Scale(centre, scale, _levels(entry, attribute, at))


def _levels(entry: Any, attribute: Attribute, at: str) -> tuple[tuple[str, ...], ...]:
    if "levels" not in entry:
        return ()
    levels: list[tuple[str, ...]] = []
    for i, level in enumerate(checks.items(entry["levels"], f"{at}.levels", MAX_LEVELS)):
        groups = checks.texts(level, f"{at}.levels[{i}]", len(attribute.values))
        if len(groups) != len(attribute.values):
            checks.refuse(f"{at}.levels[{i}]", "must name the group of every value, in their order")
        if levels and len(set(zip(levels[-1], groups, strict=True))) > len(set(levels[-1])):
            checks.refuse(f"{at}.levels[{i}]", "must keep every group of the level before together")
        levels.append(groups)
    return tuple(levels)


def _means(entry: Any, missing: Any, attributes: tuple[Attribute, ...], at: str) -> list[float]:
    """The numbers of one centroid, in the order of features."""
    checks.keys(entry, at, {each.name for each in attributes}, ())
    means: list[float] = []
    for each in attributes:
        stated = entry[each.name]
        if each.type == "numeric":
            mean = checks.number(stated, f"{at}.{each.name}")
            assert each.bounds is not None
            low, high = each.bounds
            if not low <= mean <= high:
                checks.refuse(f"{at}.{each.name}", "must be a mean within the stated bounds")
            means.append(mean)
            continue
        checks.keys(stated, f"{at}.{each.name}", (), each.values)
        shares = [checks.number(stated.get(value, 0), f"{at}.{each.name}") for value in each.values]
        if each.missing:
            shares.append(checks.number(missing.get(each.name, 0), f"{at}.{each.name}"))
        # each share is rounded by itself, at the fifth decimal
        if min(shares) < 0 or abs(sum(shares) - 1) > 1e-5 * len(shares):
            checks.refuse(f"{at}.{each.name}", "must be shares that add up to 1")
        means += shares
    return means


def _sensitive(body: dict[str, Any], attributes: dict[str, Attribute]) -> tuple[str, ...]:
    if "sensitive" not in body:
        return ()
    names = checks.texts(body["sensitive"], "sensitive", checks.MAX_ATTRIBUTES)
    private = {name for name, each in attributes.items() if each.role == "private"}
    if len(set(names)) < len(names) or not set(names) <= private:
        checks.refuse("sensitive", "must name private attributes, each once")
    return names


def _total(body: dict[str, Any], people: list[int]) -> int | None:
    if "people" not in body:
        if not 0 < sum(people) <= checks.MAX_COUNT:
            checks.refuse("clusters", "must count some people, and no more than any table has")
        return None
    total = checks.count(body["people"], "people")
    if not 0 < max(people) <= total <= sum(people):
        checks.refuse("people", "must be at least as many as in any cluster, and at most as many as in all")
    return total
