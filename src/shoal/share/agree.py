# SPDX-License-Identifier: Apache-2.0
"""Whether the files of several owners are about the same columns, and what to do where they are not."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from shoal.errors import DataError
from shoal.release import Attribute, TreeRelease
from shoal.release.domain import plain
from shoal.release.statement import WORDS

UNITS = 5  # times as wide: perhaps other units
MOST_CLASSES = 1_000
MOST_SAID = 10  # disagreements in one error
MOST_VALUES = 10  # of one column of which it is said where they are lacking
MOST_NAMED = 4  # owners or values in one list
MOST_LETTERS = 100  # of a name or a value

Severity = Literal["conflict", "differs", "note"]
Stated = TypeVar("Stated", bound=Hashable)
Columns = Mapping[str, Attribute]  # one column as each owner states it


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
    severity: Severity
    message: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.message}"


def disagreements(owners: Mapping[str, TreeRelease]) -> list[Disagreement]:
    """All that owners' files state differently, column by column, worst first.

    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> north = AnonymousTreeClassifier(privacy=500, domain={"age": [0, 120]}).fit(people, "diabetes").release_
    >>> south = AnonymousTreeClassifier(privacy=500, domain={"age": [0, 110]}).fit(people, "diabetes").release_
    >>> print(*disagreements({"north": north, "south": south}), sep="\\n")
    differs: 'age' goes from 0 to 120 at north, from 0 to 110 at south. Declare the same bounds, or accept the widest.
    """
    if not owners:
        raise DataError("no-owners", "No owner's file was given.")
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
    targets = _by({name: repr(release.target) for name, release in owners.items()})
    if len(targets) > 1:
        return [*found, Disagreement(None, "conflict", f"The target is {_where(targets)}. Agree on one.")]
    stated = {name: {each.name: each for each in release.attributes} for name, release in owners.items()}
    for column in dict.fromkeys(column for columns in stated.values() for column in columns):
        own = {name: columns[column] for name, columns in stated.items() if column in columns}
        found += [Disagreement(column, severity, message) for severity, message in _of_column(column, own, owners)]
    found += [Disagreement(None, "note", message) for message in _of_files(owners)]
    order = {"conflict": 0, "differs": 1, "note": 2}
    return sorted(found, key=lambda each: order[each.severity])


def agree(owners: Mapping[str, TreeRelease], *, widen: bool = False) -> tuple[Attribute, ...]:
    """The columns that all owners state, in the order of the first; the wider domain where `widen` accepts it.

    Raises
    ------
    DataError
        With the disagreements that stand in the way, if there are some.
    """
    found = disagreements(owners)
    blocking = [each for each in found if each.severity == "conflict" or (each.severity == "differs" and not widen)]
    if blocking:
        said = [each.message for each in blocking[:MOST_SAID]]
        if len(blocking) > MOST_SAID:
            said.append(f"There are {len(blocking) - MOST_SAID:,} more disagreements.")
        if all(each.severity == "differs" for each in blocking):
            said.append("Where the widest is meant, say widen=True.")
        raise DataError("owners-differ", f"The owners' files do not fit together. {' '.join(said)}")
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


def _of_files(owners: Mapping[str, TreeRelease]) -> Iterator[str]:
    """What is good to know of whole files: one that is there twice, and promises that differ."""
    for names in _by({name: release.sha256 for name, release in owners.items()}).values():
        if len(names) > 1:
            yield f"{_listed(names)} published the very same: if it is one owner, its people count {len(names)} times."
    promises = _by({name: release.requirement.describe() for name, release in owners.items()})
    if len(promises) > 1:
        yield f"Promises differ: {_where(promises)}."


def _of_column(name: str, own: Columns, owners: Mapping[str, TreeRelease]) -> Iterator[tuple[Severity, str]]:
    """What owners state differently of one column."""
    column = _short(repr(name))
    if len(own) < len(owners):
        idle = [each for each, release in owners.items() if name in release.unused and each not in own]
        lack = [each for each in owners if each not in own and each not in idle]
        said = [f"{column} is stated by {_listed(list(own))}"]
        said += [f"not by {_listed(lack)}"] if lack else []
        said += [f"never asked for by {_listed(idle)}"] if idle else []
        yield "conflict", f"{', '.join(said)}. Publish again with the same columns, all declared."
        return
    types = _by({name: str(each.type) for name, each in own.items()})
    if len(types) > 1:
        yield "conflict", f"{column} is {_where(types)}. Read it alike everywhere."
        return
    roles = _by({name: str(each.role) for name, each in own.items()})
    if len(roles) > 1:
        yield "note", f"{column} is {_where(roles)}."
    labels = _by({name: f"of type {each.labels}" for name, each in own.items()})
    if len(labels) > 1:
        yield "conflict", f"{column} has values {_where(labels)}."
    missing = [name for name, each in own.items() if each.missing]
    if 0 < len(missing) < len(own):
        yield "note", f"{column} can be missing at {_listed(missing)} only."
    yield from _of_values(column, own) if "categorical" in types else _of_bounds(column, own)


def _of_values(column: str, own: Columns) -> Iterator[tuple[Severity, str]]:
    shared = frozenset.intersection(*(each.value_set for each in own.values()))
    open_to_some = dict.fromkeys(value for each in own.values() for value in each.values if value not in shared)
    if not open_to_some:
        return
    some = list(open_to_some)[:MOST_VALUES]
    lacking = _by({value: tuple(name for name, each in own.items() if value not in each.value_set) for value in some})
    said = [f"{_listed(list(map(repr, values)), 'or')} at {_listed(names)}" for names, values in lacking.items()]
    said += [f"{len(open_to_some) - len(some):,} more values at some"] if len(open_to_some) > len(some) else []
    yield "differs", f"{column} cannot be {'; '.join(said)}. Declare the same values, or accept all of them."


def _of_bounds(column: str, own: Columns) -> Iterator[tuple[Severity, str]]:
    bounds = _by({name: each.bounds for name, each in own.items() if each.bounds is not None})
    if len(bounds) > 1:
        said = _where({f"from {plain(low)} to {plain(high)}": names for (low, high), names in bounds.items()})
        hint = " Are these the same units?" if _other_units(list(bounds)) else ""
        yield "differs", f"{column} goes {said}.{hint} Declare the same bounds, or accept the widest."
    whole = [name for name, each in own.items() if each.integer]
    if 0 < len(whole) < len(own):
        yield "note", f"{column} has only whole numbers at {_listed(whole)}."


def _other_units(bounds: Sequence[tuple[float, float]]) -> bool:
    """Whether some ranges are so different that they may be measured otherwise."""
    apart = min(high for _, high in bounds) < max(low for low, _ in bounds)
    widths = [high - low for low, high in bounds]
    return apart or max(widths) > UNITS * max(min(widths), 1e-300)


def _by(stated: Mapping[str, Stated]) -> dict[Stated, list[str]]:
    """The names by what is stated of them."""
    names: dict[Stated, list[str]] = {}
    for name, what in stated.items():
        names.setdefault(what, []).append(name)
    return names


def _where(groups: Mapping[str, list[str]]) -> str:
    """
    >>> _where({"public": ["north", "west"], "private": ["south"]})
    'public at north and west, private at south'
    """
    said = [f"{_short(what)} at {_listed(names)}" for what, names in list(groups.items())[:MOST_NAMED]]
    return ", ".join([*said, f"and {len(groups) - MOST_NAMED:,} more"] if len(groups) > MOST_NAMED else said)


def _listed(names: Sequence[str], last: str = "and") -> str:
    """
    >>> _listed(["north"]), _listed(["north", "south", "west"])
    ('north', 'north, south and west')
    """
    said = [_short(name) for name in names[:MOST_NAMED]]
    if len(names) > MOST_NAMED:
        said[-1] = f"{len(names) - MOST_NAMED + 1:,} more"
    return f" {last} ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)


def _short(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}…"
