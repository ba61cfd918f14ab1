# SPDX-License-Identifier: Apache-2.0
"""What a published cell of a public column says: a set of values or of numbers, and how it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.release.domain import MISSING, Atoms, Attribute, Interval, plain

ALL = "*"
LONGEST = 200  # characters of a label that lists values; the release states them in full anyway

Mask = NDArray[np.bool_]
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Generalised:
    """Some values, or some intervals, perhaps with missing. One that states nothing stands for everything.

    `label` is what the cell says in the file: ``*`` for everything, nothing at all for missing.

    >>> Generalised("(20, 30]", intervals=(Interval(20, 30),)).to_json()
    {'label': '(20, 30]', 'above': 20, 'at_most': 30}
    >>> Generalised("*").to_json()
    {'label': '*'}
    """

    label: str
    values: tuple[str, ...] = ()
    intervals: tuple[Interval, ...] = ()
    missing: bool = False

    @property
    def is_all(self) -> bool:
        """Whether it stands for every value of the domain, missing included."""
        return not (self.values or self.intervals or self.missing)

    def to_json(self) -> dict[str, Any]:
        """The label and what it means, in the words of a branch."""
        entry: dict[str, Any] = {"label": self.label}
        if self.values:
            entry["values"] = list(self.values)
        ends = [_ends(interval) for interval in self.intervals]
        if len(ends) == 1 and ends[0]:
            entry.update(ends[0])
        elif ends:
            entry["intervals"] = ends
        if self.missing:
            entry["missing"] = True
        return entry


def _ends(interval: Interval) -> dict[str, Any]:
    ends = {"above": interval.above, "at_most": interval.at_most}
    return {key: plain(end) for key, end in ends.items() if end is not None}


def atoms_of(attribute: Attribute, found: Sequence[Generalised]) -> Atoms:
    """The finest pieces of a column that some of its generalised values tell apart."""
    ends = {end for value in found for part in value.intervals for end in (part.above, part.at_most)}
    return Atoms(attribute, np.array(sorted(end for end in ends if end is not None), dtype=np.float64))


def cover(atoms: Atoms, value: Generalised) -> Mask:
    """Which atoms a generalised value stands for."""
    if value.is_all:
        return np.ones(atoms.n, dtype=bool)
    mask = np.zeros(atoms.n, dtype=bool)
    if value.values:
        mask[atoms.of_values(value.values)] = True
    for interval in value.intervals:
        mask[atoms.of_interval(interval)] = True
    if value.missing:
        mask[-1] = True
    return mask


def covers(atoms: Atoms, found: Sequence[Generalised]) -> Mask:
    """Which atoms each of some generalised values stands for (values × atoms); `runs_of` says it in less room."""
    return np.stack([cover(atoms, value) for value in found])


@dataclass(frozen=True, eq=False)
class Runs:
    """The atoms that each of some generalised values stands for, as runs of neighbours.

    The runs of value v are those from `start[v]` to `start[v + 1]`: each the atoms from `first` to before `end`. They
    ascend, and no two of a value touch, so equal runs mean equal atoms.
    """

    start: Ids
    first: Ids
    end: Ids

    def __len__(self) -> int:
        return len(self.start) - 1

    @classmethod
    def merged(cls, n_values: int, value: Ids, first: Ids, end: Ids) -> Runs:
        """Runs from any stretches of atoms, `value` saying whose each is."""
        inside = end > first
        order = np.lexsort((first[inside], value[inside]))
        value, first, end = value[inside][order], first[inside][order], end[inside][order]
        # value by value the furthest end so far: a stretch that begins after it begins a run
        far = int(end.max(initial=0)) + 1
        reached = np.maximum.accumulate(value * far + end)
        begins = np.ones(len(value), dtype=bool)
        begins[1:] = value[1:] * far + first[1:] > reached[:-1]
        begins[1:] |= value[1:] != value[:-1]
        ends = np.ones(len(value), dtype=bool)
        ends[:-1] = begins[1:]
        start = np.searchsorted(value[begins], np.arange(n_values + 1))
        return cls(start.astype(np.int64), first[begins], (reached - value * far)[ends])

    def within(self, kept: Mask) -> Runs:
        """The same values where only some atoms are looked at, numbered anew."""
        place = np.concatenate([[0], np.cumsum(kept)])
        value = np.repeat(np.arange(len(self)), np.diff(self.start))
        return Runs.merged(len(self), value, place[self.first], place[self.end])

    @property
    def kinds(self) -> Ids:
        """A number for each value, equal where they stand for the same atoms."""
        both = np.column_stack([self.first, self.end])
        number: dict[bytes, int] = {}
        keys = (both[a:b].tobytes() for a, b in pairwise(self.start.tolist()))
        return np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int64)


def runs_of(atoms: Atoms, found: Sequence[Generalised], *, outside: bool = False) -> Runs:
    """The atoms of some generalised values; with `outside` there is one more, of which only an asterisk takes hold.

    >>> degree = Attribute("degree", "public", "categorical", values=("1st", "2nd", "BSc"))
    >>> runs = runs_of(Atoms(degree), [Generalised("", values=("1st", "2nd")), Generalised("*")])
    >>> runs.start.tolist(), runs.first.tolist(), runs.end.tolist()
    ([0, 1, 2], [0, 0], [2, 3])
    """
    stretches: list[tuple[int, int, int]] = []
    for number, value in enumerate(found):
        if value.is_all:
            stretches.append((number, 0, atoms.n + outside))
        for atom in atoms.of_values(value.values).tolist() if value.values else ():
            stretches.append((number, atom, atom + 1))
        for interval in value.intervals:
            part = atoms.of_interval(interval)
            stretches.append((number, part.start, part.stop))
        if value.missing:
            stretches.append((number, atoms.n - 1, atoms.n))
    value_of, first, end = np.array(stretches, dtype=np.int64).reshape(-1, 3).T
    return Runs.merged(len(found), value_of, first, end)


def from_mask(atoms: Atoms, mask: Mask) -> Generalised:
    """The generalised value that stands for some atoms, without a label yet."""
    if mask[atoms.possible].all():
        return Generalised(ALL)
    known, missing = mask[: atoms.n_known], bool(atoms.attribute.missing and mask[-1])
    if atoms.attribute.type == "categorical":
        values = tuple(atoms.attribute.values[i] for i in np.flatnonzero(known))
        return Generalised("", values=values, missing=missing)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(np.int8)))
    cuts = atoms.thresholds
    intervals = tuple(
        Interval(None if first == 0 else float(cuts[first - 1]), None if end == len(known) else float(cuts[end - 1]))
        for first, end in edges.reshape(-1, 2)
    )
    return Generalised("", intervals=intervals, missing=missing)


def with_labels(
    attribute: Attribute, found: Sequence[Generalised], names: Mapping[Generalised, set[str]] | None = None
) -> tuple[Generalised, ...]:
    """Write a label on each of a column's generalised values, so that no two read the same.

    Parameters
    ----------
    names
        What a hierarchy calls some of them. Such a name is used where it can mean nothing else in this column.

    Examples
    --------
    >>> low = Generalised("", values=("1st", "2nd"))
    >>> degree = Attribute("degree", "public", "categorical", values=("1st", "2nd", "BSc"))
    >>> [value.label for value in with_labels(degree, [low, Generalised("*")], {low: {"Low"}})]
    ['Low', '*']
    >>> [value.label for value in with_labels(degree, [low, Generalised("", values=("BSc",))])]
    ['{1st, 2nd}', 'BSc']
    """
    names = names or {}
    told: dict[str, int] = {}
    for called in names.values():
        for name in called:
            told[name] = told.get(name, 0) + 1
    used = {ALL, "", *attribute.values}
    answer: list[Generalised] = []
    for value in found:
        label = usual_label(value)
        if (len(value.values) == 1 and label == value.values[0]) or label in (ALL, ""):
            answer.append(replace(value, label=label))
            continue
        called = names.get(value, set())
        name = next(iter(called)) if len(called) == 1 else ""
        if name and told[name] == 1 and name not in used:
            label = name
        tried, n = label, 1
        while tried in used:
            n += 1
            tried = f"{label} ({n})"
        used.add(tried)
        answer.append(replace(value, label=tried))
    return tuple(answer)


def usual_label(value: Generalised) -> str:
    """How a generalised value is written when no hierarchy has a name for it.

    >>> usual_label(Generalised("", intervals=(Interval(None, 19.5), Interval(65, None)), missing=True))
    '<=19.5 or >65 or (missing)'
    """
    if value.is_all:
        return ALL
    gap = [MISSING] if value.missing else []
    if value.intervals:
        return " or ".join([*map(_interval_label, value.intervals), *gap])
    if not value.values:
        return ""
    if len(value.values) == 1 and not gap and value.values[0] not in (ALL, ""):
        return value.values[0]
    label = "{" + ", ".join([*value.values, *gap]) + "}"
    if len(label) > LONGEST:
        first = ", ".join(each[:50] for each in value.values[:2])
        label = f"{{{first}, … {len(value.values) + len(gap) - 2} more}}"
    return label


def _interval_label(interval: Interval) -> str:
    if interval.above is None:
        return "any number" if interval.at_most is None else f"<={plain(interval.at_most)}"
    if interval.at_most is None:
        return f">{plain(interval.above)}"
    return f"({plain(interval.above)}, {plain(interval.at_most)}]"
