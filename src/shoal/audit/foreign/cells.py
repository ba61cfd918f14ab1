# SPDX-License-Identifier: Apache-2.0
"""What a generalised cell of somebody else's table stands for: intervals, sets, masked text, labels of a hierarchy."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.data.encode import number_text
from shoal.data.hierarchy import Hierarchy
from shoal.data.table import Column
from shoal.errors import DataError
from shoal.release.domain import Interval
from shoal.release.generalised import Generalised

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_END = rf"{_NUMBER}|[-+]?(?:inf(?:inity)?|∞)"
_ONE = re.compile(_NUMBER)
_BRACKETED = re.compile(rf"([\[(\]])\s*({_END})\s*(?:,|;|-|–|\.\.|to)\s*({_END})\s*([\])\[])", re.IGNORECASE)
_BARE = re.compile(rf"({_NUMBER})\s*(?:-|–|\.\.|to)\s*({_NUMBER})", re.IGNORECASE)
_SIDE = re.compile(rf"(<=|>=|≤|≥|<|>)\s*({_NUMBER})")
_OR_MORE = re.compile(rf"({_NUMBER})\s*\+")
_SET = re.compile(r"\{(.*)\}", re.DOTALL)
ANY = ord("*")


def read_range(text: str) -> Interval | None:
    """The numbers that a cell stands for, where it is written as a number or an interval; None where it is not.

    Brackets say whether an end belongs to it, as in ``[20, 30)`` or ``[20, 30[``; a bare ``20-29`` has both ends. An
    end that does not belong to the interval is moved to the next number that a computer knows.

    >>> read_range("(20, 30]"), read_range("20-29"), read_range("<=30"), read_range("young")
    (Interval(above=20.0, at_most=30.0), Interval(above=19.999999999999996, at_most=29.0),
     Interval(above=None, at_most=30.0), None)
    >>> read_range("30+") == read_range("[30, inf)") == read_range(">=30")
    True
    """
    text = text.strip()
    if _ONE.fullmatch(text):
        return _interval(text, text, True, True)
    if found := _BRACKETED.fullmatch(text):
        opens, low, high, closes = found.groups()
        return _interval(low, high, opens == "[", closes == "]")
    if found := _BARE.fullmatch(text):
        return _interval(found[1], found[2], True, True)
    if found := _OR_MORE.fullmatch(text):
        return _interval(found[1], "inf", True, True)
    if found := _SIDE.fullmatch(text):
        sign, end = found.groups()
        below = sign in ("<", "<=", "≤")
        return _interval("-inf" if below else end, end if below else "inf", sign in (">=", "≥"), sign in ("<=", "≤"))
    return None


def _interval(low: str, high: str, with_low: bool, with_high: bool) -> Interval | None:
    first, last = (float(end.replace("∞", "inf")) for end in (low, high))
    if not last >= first or math.inf in (first, -last):
        return None
    above = None if first == -math.inf else math.nextafter(first, -math.inf) if with_low else first
    at_most = None if last == math.inf else last if with_high else math.nextafter(last, -math.inf)
    return None if above is not None and at_most is not None and above >= at_most else Interval(above, at_most)


def read_set(text: str) -> tuple[str, ...] | None:
    """The members of a set such as ``{a, b}``; None where it is none.

    >>> read_set("{1st, 2nd}"), read_set("BSc")
    (('1st', '2nd'), None)
    """
    found = _SET.fullmatch(text.strip())
    if found is None:
        return None
    return tuple(dict.fromkeys(each for part in re.split(r"[,;]", found[1]) if (each := part.strip())))


def read_numbers(text: str) -> tuple[Interval, ...] | None:
    """The numbers of a range, or of a set of ranges; None where some of it is neither."""
    parts = read_set(text) or (text,)
    found = [read_range(part) for part in parts]
    return None if any(each is None for each in found) else tuple(each for each in found if each is not None)


def labels_of(column: Column) -> tuple[str, ...]:
    """What the cells of a published column say, without what is missing."""
    if column.kind == "numeric":
        return tuple(map(number_text, column.numbers))
    return column.names


def is_numeric(column: Column, suppressed: Collection[str]) -> bool:
    """Whether every cell of a published column is a number, an interval or a set of them, or suppressed."""
    if column.kind == "numeric":
        return True
    return all(label.strip() in suppressed or read_numbers(label) is not None for label in column.names)


def numeric_cells(column: Column, suppressed: Collection[str]) -> list[Generalised]:
    """What each label of a numeric column stands for."""
    answer = []
    for label in labels_of(column):
        numbers = () if label.strip() in suppressed else read_numbers(label)
        assert numbers is not None
        answer.append(Generalised(label, intervals=numbers))
    return answer


def named_cells(
    column: Column, original: Column, hierarchy: Hierarchy | None, suppressed: Collection[str]
) -> tuple[tuple[str, ...], list[Generalised]]:
    """Every value of a categorical column, and which of them each of its labels stands for.

    A label is looked up as a suppressed cell, a group of the hierarchy, a value, a set, an interval of the values that
    are numbers, and at last as masked text.
    """
    groups = {} if hierarchy is None else _groups(hierarchy)
    sets = {label: members for label in labels_of(column) if (members := read_set(label)) is not None}
    leaves = {leaf for found in groups.values() for leaf in found}
    values = tuple(sorted({*original.names, *leaves, *(each for members in sets.values() for each in members)}))
    known = set(values)
    numbers = np.array([float(value) if _ONE.fullmatch(value) else math.nan for value in values])
    masks = Masks(values)
    answer, strange = [], []
    for code, label in enumerate(labels_of(column)):
        text = label.strip()
        meant: Sequence[str] = ()
        if text not in suppressed:
            if label in groups:
                meant = groups[label]
            elif label in known:
                meant = (label,)
            elif label in sets:
                meant = sets[label]
            elif (interval := read_range(text)) is not None:
                meant = [values[i] for i in np.flatnonzero(_within(numbers, interval))]
            elif "*" in text:
                meant = [values[i] for i in masks.matching(text)]
            if not meant:
                strange.append(code)
        answer.append(Generalised(label, values=tuple(meant)))
    if strange:
        rows = int(np.isin(column.codes, strange).sum())
        raise DataError(
            "unknown-label",
            f"Column {column.name!r} has {len(strange)} label(s), in {rows} row(s), that stand for no value of the "
            "original rows. Say what they mean with hierarchies=, or what is suppressed with suppressed=.",
        )
    return values, answer


def _within(numbers: NDArray[np.float64], interval: Interval) -> NDArray[np.bool_]:
    inside = ~np.isnan(numbers)
    if interval.above is not None:
        inside &= numbers > interval.above
    if interval.at_most is not None:
        inside &= numbers <= interval.at_most
    return inside


def _groups(hierarchy: Hierarchy) -> Mapping[str, tuple[str, ...]]:
    """The values of each group that a hierarchy names, where it lists them."""
    found: dict[str, dict[str, None]] = {}
    for row in hierarchy.rows:
        for label in row:
            found.setdefault(label, {})[row[0]] = None
    return {label: tuple(values) for label, values in found.items()}


class Masks:
    """Some texts, and which of them a masked one stands for.

    A star stands for one character; a single one at the end for any ending.

    >>> zips = ("13053", "13068", "14850", "130")
    >>> [[zips[i] for i in Masks(zips).matching(mask)] for mask in ("130**", "1**5*", "13*")]
    [['13053', '13068'], ['13053', '14850'], ['13053', '13068', '130']]
    """

    def __init__(self, texts: Sequence[str]) -> None:
        width = max((len(text) for text in texts), default=0) or 1
        self._letters = np.array(texts, dtype=f"U{width}").view(np.uint32).reshape(len(texts), width)
        self._lengths = np.array([len(text) for text in texts])

    def matching(self, mask: str) -> NDArray[np.int64]:
        """The numbers of the texts that a mask stands for."""
        any_ending = mask.endswith("*") and not mask.endswith("**")
        fixed = np.array([ord(letter) for letter in (mask[:-1] if any_ending else mask)], dtype=np.uint32)
        if len(fixed) > self._letters.shape[1]:
            return np.zeros(0, dtype=np.int64)
        fits = self._lengths >= len(fixed) if any_ending else self._lengths == len(fixed)
        same = (self._letters[:, : len(fixed)] == fixed) | (fixed == ANY)
        return np.flatnonzero(fits & same.all(axis=1))
