# SPDX-License-Identifier: Apache-2.0
"""The columns of an audit: who knows each, what it is used for and what its domain is taken to be."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from shoal.data.table import Kind
from shoal.release import Attribute

Use = Literal["target", "person", "sensitive", "asked", "not used"]


@dataclass(frozen=True)
class AuditColumn:
    """A column as an audit took it.

    Attributes
    ----------
    name, role
        Its name, and whether the attacker knows it.
    use
        ``"target"``, ``"person"`` (tells people apart), ``"sensitive"`` (requirements about values are asked of it),
        ``"asked"`` (what was audited looks at it) or ``"not used"``.
    type
        Numeric or categorical; None where a release names the column and says no more.
    declared
        The domain that was declared or that the release states. None where it was taken from the rows: then it is
        in no text, because the smallest and largest number of a column are somebody's.
    """

    name: str
    role: Literal["public", "private"]
    use: Use
    type: Kind | None = None
    declared: Attribute | None = None

    def to_json(self) -> dict[str, Any]:
        """The column as plain JSON."""
        return {
            "name": self.name,
            "role": self.role,
            "use": self.use,
            "type": self.type,
            "domain": "from the rows" if self.declared is None else "declared",
        }


def stated_columns(
    attributes: Iterable[Attribute],
    known: Collection[str],
    *,
    target: str | None,
    sensitive: Collection[str],
    asked: Collection[str],
    unused: Iterable[str] = (),
) -> tuple[AuditColumn, ...]:
    """The columns of a release, which states all their domains, and those it only names."""
    stated = [
        AuditColumn(each.name, _role(each.name, known), _use(each.name, target, sensitive, asked), each.type, each)
        for each in attributes
    ]
    return (*stated, *(AuditColumn(name, _role(name, known), "not used") for name in unused))


def _role(name: str, known: Collection[str]) -> Literal["public", "private"]:
    return "public" if name in known else "private"


def _use(name: str, target: str | None, sensitive: Collection[str], asked: Collection[str]) -> Use:
    if name == target:
        return "target"
    if name in sensitive:
        return "sensitive"
    return "asked" if name in asked else "not used"


def rows_columns(
    domain: Iterable[Attribute],
    known: Collection[str],
    *,
    target: Attribute | None,
    sensitive: Iterable[Attribute],
    person: str | None,
    declared: Collection[str],
) -> tuple[AuditColumn, ...]:
    """The columns of something that states nothing: their domains are declared, or those of the rows."""
    said: dict[str, AuditColumn] = {}

    def add(each: Attribute, use: Use) -> None:
        told = each if each.name in declared else None
        said[each.name] = AuditColumn(each.name, _role(each.name, known), use, each.type, told)

    for each in domain:
        add(each, "asked")
    for each in sensitive:
        add(each, "sensitive")
    if target is not None:
        add(target, "target")
    if person is not None:
        said[person] = AuditColumn(person, "private", "person")
    return tuple(said.values())
