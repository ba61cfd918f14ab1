# SPDX-License-Identifier: Apache-2.0
"""How the values of one column are distributed, as a release states it beside its model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.release import checks
from shoal.release.domain import Attribute
from shoal.release.generalised import Generalised, atoms_of, covers
from shoal.release.parse_node import parse_parts

MAX_CELLS = 10_000


@dataclass(frozen=True)
class Marginal:
    """How many people have each of some cells of a column. Cells are disjoint, and everybody is in one of them.

    >>> Marginal((Generalised("", values=("f",)), Generalised("", values=("m",))), (120, 80)).to_json()
    [{'values': ['f'], 'people': 120}, {'values': ['m'], 'people': 80}]
    """

    cells: tuple[Generalised, ...]
    counts: tuple[int, ...]

    def to_json(self) -> list[dict[str, Any]]:
        """One entry a cell, in the words of a branch."""
        entries = []
        for cell, n in zip(self.cells, self.counts, strict=True):
            entry = cell.to_json()
            del entry["label"]
            entries.append({**entry, "people": n})
        return entries


def parse_marginals(
    entry: Any, by_name: Mapping[str, Attribute], target: str, *, people: int | None
) -> dict[str, Marginal]:
    """The marginals that a file states, every cell checked; with one row a person they all count `people`."""
    if not isinstance(entry, dict) or not entry or len(entry) > checks.MAX_ATTRIBUTES:
        checks.refuse("marginals", "must be an object from columns to lists, and not empty")
    found = {}
    for name, cells in entry.items():
        attribute = by_name.get(name)
        if attribute is None or name == target:
            checks.refuse("marginals", "must be of columns that the release states, and not of its target")
        at = f"marginals[{name!r}]"
        parts = [_cell(part, f"{at}[{i}]", attribute) for i, part in enumerate(checks.items(cells, at, MAX_CELLS))]
        marginal = Marginal(tuple(cell for cell, _ in parts), tuple(n for _, n in parts))
        atoms = atoms_of(attribute, marginal.cells)
        masks = covers(atoms, marginal.cells) & atoms.possible
        if not masks.any(axis=1).all() or (np.sum(masks, axis=0) > 1).any():
            checks.refuse(at, "must have cells that share no value, each with one of the domain")
        found[name] = marginal
        if people is not None and sum(marginal.counts) != people:
            checks.refuse(at, "must count as many people as the leaves")
    return found


def _cell(entry: Any, at: str, attribute: Attribute) -> tuple[Generalised, int]:
    ways = {"values"} if attribute.type == "categorical" else {"above", "at_most", "intervals"}
    checks.keys(entry, at, {"people"}, ways | {"missing"})
    missing = checks.flag(entry, "missing", at)
    if missing and not attribute.missing:
        checks.refuse(at, "takes missing values, which the attribute's domain does not have")
    values, intervals = parse_parts(entry, at, attribute)
    return Generalised("", values, intervals, missing), checks.count(entry["people"], f"{at}.people")
