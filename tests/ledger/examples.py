# SPDX-License-Identifier: Apache-2.0
"""Eleven people, and trees that split them once: each keeps k = 5, two of them together give one person away."""

from __future__ import annotations

from typing import Any

from shoal import audit
from shoal.release import TreeRelease
from shoal.release.parse import parse_tree

PEOPLE: dict[str, list[str]] = {
    "street": ["north"] * 6 + ["south"] * 5,
    "school": ["old"] * 5 + ["new"] * 6,
    "sex": ["f", "m"] * 5 + ["f"],
    "ill": ["yes", "yes", "no", "no", "no", "no", "yes", "no", "no", "yes", "no"],
    "job": ["a", "b", "a", "b", "a", "b", "a", "b", "a", "b", "a"],
}
LONELY = 5  # the only one of the north who goes to the new school


def stump(
    column: str | None,
    target: str = "ill",
    *,
    people: dict[str, list[str]] = PEOPLE,
    k: int = 5,
    private: tuple[str, ...] = ("ill", "job"),
    claims: tuple[dict[str, Any], ...] = (),
) -> TreeRelease:
    """A tree that asks for one column, or for none, with the counts of these people and a verdict."""
    classes = sorted(set(PEOPLE[target]))
    values = [] if column is None else sorted(set(people[column]))

    def counts(value: str | None) -> dict[str, int]:
        own = [people[target][i] for i in range(len(people[target])) if value in (None, value and people[column][i])]
        return {each: own.count(each) for each in classes}

    branches = [{"values": [value], "node": 1 + i} for i, value in enumerate(values)]
    leaves: list[dict[str, Any]] = [{"counts": counts(value)} for value in values]
    nodes = [{"attribute": column, "branches": branches}, *leaves] if column else [{"counts": counts(None)}]
    asked = dict.fromkeys([*([column] if column else []), target])
    release = parse_tree(
        {
            "format": "shoal-release/1",
            "kind": "tree",
            "target": target,
            "attributes": [
                {
                    "name": name,
                    "role": "private" if name in private else "public",
                    "type": "categorical",
                    "values": sorted({*people[name], *PEOPLE[name]}),
                }
                for name in asked
            ],
            "claims": [{"requirement": "k-anonymity", "k": k}, *claims],
            "nodes": nodes,
        }
    )
    return release.with_audit(audit(release, people))
