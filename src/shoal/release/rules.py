# SPDX-License-Identifier: Apache-2.0
"""Association rules as they leave the house: items with roles, rules with counts of people, and what is claimed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from shoal.data.table import Kind
from shoal.privacy import Requirement, requirement_from_claims
from shoal.release.domain import Attribute, plain
from shoal.release.files import FORMAT, write_json
from shoal.release.verdict import Verdict, check_writable, fingerprint, verdict_of

NO_YES = ("False", "True")


def listed(items: Iterable[str]) -> str:
    """Items with a comma between them; one that has such a thing in its name is in quotes.

    >>> print(listed(["bread", "eggs, fresh"]))
    bread, "eggs, fresh"
    """
    odd = re.compile(r'[,"⇒]|^\s|\s$|^$|[\x00-\x1f\x7f]')
    return ", ".join(json.dumps(item, ensure_ascii=False) if odd.search(item) else item for item in items)


@dataclass(frozen=True)
class Item:
    """Something that a person has or not: a thing in a basket, a value of a column, or any thing of a category.

    `members` are the items of which a category is one; it is empty for an item itself. All have the category's role.
    `column` is that of a value of a column.
    """

    name: str
    role: Literal["public", "private"]
    members: tuple[str, ...] = ()
    column: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The item as plain JSON."""
        more: dict[str, Any] = {"members": list(self.members)} if self.members else {}
        return {"name": self.name, "role": self.role, **more, **({"column": self.column} if self.column else {})}


@dataclass(frozen=True)
class CountedRule:
    """Of the `antecedent_people` who have all of `antecedent`, `people` have all of `consequent`, too."""

    antecedent: tuple[str, ...]
    consequent: tuple[str, ...]
    people: int
    antecedent_people: int

    def __str__(self) -> str:
        return (
            f"{listed(self.antecedent)} ⇒ {listed(self.consequent)}: "
            f"{self.people:,} of {self.antecedent_people:,} people"
        )

    def to_json(self) -> dict[str, Any]:
        """The rule as plain JSON."""
        return {
            "antecedent": list(self.antecedent),
            "consequent": list(self.consequent),
            "people": self.people,
            "antecedent_people": self.antecedent_people,
        }


@dataclass(frozen=True, eq=False)
class RulesRelease:
    """Association rules, how many people are behind each, and what is claimed of all of them together.

    Parameters
    ----------
    items
        The items that rules name, each once, and the sensitive ones.
    rules
        The rules. Numbers are counts of people, never shares.
    n_people
        How many people the rules were mined from.
    claims
        What is promised, as requirements state it.
    sensitive
        Private items that requirements about values are asked of.
    rows
        ``"baskets"``: an item is a thing that a transaction has. ``"table"``: an item is ``column=value``.
    cuts
        Where columns of numbers were cut, so that an item is a class of numbers.
    several_rows
        Whether people have several transactions each, so that every number is one of different people.
    verdict
        The audit's word on exactly this content. `save` refuses to write without it.
    """

    items: tuple[Item, ...]
    rules: tuple[CountedRule, ...]
    n_people: int
    claims: tuple[Mapping[str, Any], ...]
    sensitive: tuple[str, ...] = ()
    rows: Literal["baskets", "table"] = "baskets"
    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    several_rows: bool = False
    verdict: Verdict | None = None

    kind = "rules"

    @cached_property
    def requirement(self) -> Requirement:
        """What the release claims, as a requirement."""
        return requirement_from_claims([dict(claim) for claim in self.claims])

    @property
    def public(self) -> tuple[str, ...]:
        """The items an attacker is taken to know of everybody."""
        return tuple(item.name for item in self.items if item.role == "public")

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """The members of every item that stands for several."""
        return {item.name: item.members for item in self.items if item.members}

    @property
    def target(self) -> None:
        """None: rules have no target."""
        return

    @property
    def kinds(self) -> dict[str, Kind]:
        """How the columns of a table are read that items are cells of; of baskets every column is an item."""
        columns = [item.column for item in self.items if item.column is not None]
        return {name: "numeric" if name in self.cuts else "categorical" for name in columns}

    def attribute(self, name: str) -> Attribute:
        """An item as a column of yes and no, or a column that items are cells of, with the values that are named."""
        for item in self.items:
            if item.column == name:
                values = tuple(each.name.removeprefix(f"{name}=") for each in self.items if each.column == name)
                bounds = (self.cuts[name][0], self.cuts[name][-1]) if name in self.cuts else None
                return Attribute(name, item.role, self.kinds[name], values=() if bounds else values, bounds=bounds)
        role = next(item.role for item in self.items if name in (item.name, *item.members))
        return Attribute(name, role, "categorical", values=NO_YES, labels="boolean")

    def __len__(self) -> int:
        return len(self.rules)

    def __str__(self) -> str:
        words = f"{len(self.rules):,} rule{'' if len(self.rules) == 1 else 's'} about {self.n_people:,} people"
        return "\n".join([f"{words}; claimed: {self.requirement.describe()}", *map(str, self.rules)])

    def __repr__(self) -> str:
        return f"<RulesRelease: {len(self.rules)} rules over {len(self.items)} items>"

    def to_json(self) -> dict[str, Any]:
        """The release as plain JSON, without the audit's verdict."""
        body: dict[str, Any] = {
            "format": FORMAT,
            "kind": self.kind,
            "rows": self.rows,
            "people": self.n_people,
            "items": [item.to_json() for item in self.items],
            "claims": [dict(claim) for claim in self.claims],
            "rules": [rule.to_json() for rule in self.rules],
        }
        if self.sensitive:
            body["sensitive"] = list(self.sensitive)
        if self.cuts:
            body["cuts"] = {name: [plain(cut) for cut in cuts] for name, cuts in self.cuts.items()}
        if self.several_rows:
            body["several_rows"] = True
        return body

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of everything the release says."""
        return fingerprint(self.to_json())

    def with_audit(self, audit: Any) -> RulesRelease:
        """The same release carrying the verdict of an audit that looked at exactly this content, claims and roles."""
        verdict = verdict_of(audit, sha256=self.sha256, claims=self.claims, public=self.public)
        return replace(self, verdict=verdict)

    def save(self, path: str | Path) -> None:
        """Write the release; refuse unless its own audit holds for exactly this content."""
        check_writable(self.verdict, self.sha256)
        assert self.verdict is not None
        write_json({**self.to_json(), "audit": self.verdict.to_json()}, path)
