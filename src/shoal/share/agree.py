# SPDX-License-Identifier: Apache-2.0
"""Whether the files of several owners are about the same columns, and what to do where they are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shoal.errors import DataError
from shoal.release import Attribute, TreeRelease
from shoal.release.domain import plain
from shoal.release.statement import WORDS

UNITS = 5  # times as wide: perhaps other units
MOST_CLASSES = 1_000


@dataclass(frozen=True)
class Disagreement:
    """Something that owners state differently.

    Attributes
    ----------
    column
        The column, or None where it is about the whole files.
    severity
        ``"conflict"``: nothing can be learned together. ``"differs"``: it can once somebody says that the wider domain
        is meant. ``"note"``: good to know.
    message
        What differs between whom, and what to do.
    """

    column: str | None
    severity: Literal["conflict", "differs", "note"]
    message: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.message}"


def disagreements(owners: Mapping[str, TreeRelease]) -> list[Disagreement]:
    """All that some owners' files state differently from the first one's, worst first.

    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> north = AnonymousTreeClassifier(privacy=500, domain={"age": [0, 120]}).fit(people, "diabetes").release_
    >>> south = AnonymousTreeClassifier(privacy=500, domain={"age": [0, 110]}).fit(people, "diabetes").release_
    >>> print(*disagreements({"north": north, "south": south}), sep="\\n")
    differs: 'age' goes from 0 to 120 at north, from 0 to 110 at south. Declare the same bounds, or accept the widest.
    """
    if not owners:
        raise DataError("no-owners", "No owner's file was given.")
    (first, one), *others = owners.items()
    found = [
        Disagreement(
            None,
            "conflict",
            f"{name} states only {WORDS[release.statement]}, and this needs numbers of people. Publish with counts.",
        )
        for name, release in owners.items()
        if release.statement != "counts"
    ]
    found += [
        Disagreement(None, "conflict", f"{name} has {len(release.classes):,} classes; at most {MOST_CLASSES:,} can be.")
        for name, release in owners.items()
        if len(release.classes) > MOST_CLASSES
    ]
    found += [
        Disagreement(None, "conflict", f"{name} tells of no people at all, so there is nothing to learn from it.")
        for name, release in owners.items()
        if release.statement == "counts" and not release.n_people
    ]
    first_of: dict[str, str] = {}
    for name, release in owners.items():
        same = first_of.setdefault(release.sha256, name)
        if same != name:
            twice = f"{name} states exactly what {same} does. Is it one file twice? Its people count twice."
            found.append(Disagreement(None, "note", twice))
    for name, other in others:
        found += _between(first, one, name, other)
    order = {"conflict": 0, "differs": 1, "note": 2}
    return sorted(dict.fromkeys(found), key=lambda each: order[each.severity])


def agree(owners: Mapping[str, TreeRelease], *, widen: bool = False) -> tuple[Attribute, ...]:
    """The columns that all owners state, in the order of the first; the wider domain where `widen` accepts it.

    Raises
    ------
    DataError
        With every disagreement that stands in the way, if there is one.
    """
    blocking = [
        each
        for each in disagreements(owners)
        if each.severity == "conflict" or (each.severity == "differs" and not widen)
    ]
    if blocking:
        listed = " ".join(each.message for each in blocking)
        raise DataError("owners-differ", f"The owners' files do not fit together. {listed}")
    releases = list(owners.values())
    return tuple(_widest([release.attribute(each.name) for release in releases]) for each in releases[0].attributes)


def _widest(attributes: Sequence[Attribute]) -> Attribute:
    first = attributes[0]
    missing = any(each.missing for each in attributes)
    if first.type == "categorical":
        values = tuple(dict.fromkeys(value for each in attributes for value in each.values))
        return replace(first, values=values, missing=missing)
    bounds = [each.bounds for each in attributes if each.bounds is not None]
    widest = min(low for low, _ in bounds), max(high for _, high in bounds)
    return replace(first, bounds=widest, missing=missing, integer=all(each.integer for each in attributes))


def _between(first: str, one: TreeRelease, name: str, other: TreeRelease) -> list[Disagreement]:
    found: list[Disagreement] = []

    def add(column: str | None, severity: Literal["conflict", "differs", "note"], message: str) -> None:
        found.append(Disagreement(column, severity, message))

    if one.target != other.target:
        add(None, "conflict", f"{first} predicts {one.target!r}, {name} {other.target!r}. Agree on one target.")
        return found
    ours = {attribute.name: attribute for attribute in one.attributes}
    theirs = {attribute.name: attribute for attribute in other.attributes}
    for column in [*ours, *(column for column in theirs if column not in ours)]:
        mine, its = ours.get(column), theirs.get(column)
        if mine is None or its is None:
            has, lacks, release = (name, first, one) if mine is None else (first, name, other)
            why = "never asks for it" if column in release.unused else "does not have it"
            add(
                column,
                "conflict",
                f"{has} states {column!r}, and {lacks} {why}. Publish again with the same columns, all declared.",
            )
            continue
        for severity, message in _columns(first, mine, name, its):
            add(column, severity, message)
    if one.requirement.describe() != other.requirement.describe():
        add(
            None,
            "note",
            f"{first} promises that {one.requirement.describe()}; {name} that {other.requirement.describe()}.",
        )
    return found


def _columns(
    first: str, mine: Attribute, name: str, its: Attribute
) -> list[tuple[Literal["conflict", "differs", "note"], str]]:
    """What two owners state differently of one column."""
    column = repr(mine.name)
    found: list[tuple[Literal["conflict", "differs", "note"], str]] = []
    if mine.type != its.type:
        return [("conflict", f"{column} is {mine.type} at {first} and {its.type} at {name}. Read it alike at both.")]
    if mine.role != its.role:
        found.append(("note", f"{column} is {mine.role} at {first} and {its.role} at {name}."))
    if mine.labels != its.labels:
        found.append(
            ("conflict", f"{column} has values of type {mine.labels} at {first}, of type {its.labels} at {name}.")
        )
    if mine.missing != its.missing:
        where = first if mine.missing else name
        found.append(("note", f"{column} can be missing at {where} only."))
    if mine.type == "categorical":
        for owner, has, lacks in ((name, mine, its), (first, its, mine)):
            lacking = [value for value in has.values if value not in lacks.value_set]
            if lacking:
                more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
                some = ", ".join(map(repr, lacking[:3])) + more
                what = f"{column} cannot be {some} at {owner}. Declare the same values, or accept all of them."
                found.append(("differs", what))
        return found
    assert mine.bounds is not None
    assert its.bounds is not None
    if mine.bounds != its.bounds:
        said = [f"from {plain(low)} to {plain(high)}" for low, high in (mine.bounds, its.bounds)]
        hint = " Are these the same units?" if _other_units(mine.bounds, its.bounds) else ""
        found.append(
            (
                "differs",
                f"{column} goes {said[0]} at {first}, {said[1]} at {name}.{hint} Declare the same bounds, or accept "
                "the widest.",
            )
        )
    if mine.integer != its.integer:
        found.append(("note", f"{column} has only whole numbers at {first if mine.integer else name}."))
    return found


def _other_units(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two ranges are so different that they may be measured otherwise."""
    apart = one[1] < other[0] or other[1] < one[0]
    widths = sorted([one[1] - one[0], other[1] - other[0]])
    return apart or widths[1] > UNITS * max(widths[0], 1e-300)
