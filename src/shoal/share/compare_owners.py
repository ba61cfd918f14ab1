# SPDX-License-Identifier: Apache-2.0
"""How alike owners are, from what they published alone: classes, and what their trees say of the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.release import TreeRelease
from shoal.release.joint import JointRelease
from shoal.share.joint import JointModel

ROWS = 10_000
APART = 0.1  # more than twice what others differ by


@dataclass(frozen=True)
class Owner:
    """One owner among others.

    Attributes
    ----------
    name, people, leaves
        Who, how many people, and how many leaves the tree has.
    shares
        The share of each class among the people, by class.
    class_distance
        By how much these shares differ from another owner's, from 0 to 1: the median of all others; None if alone.
    disagreement
        On what share of the common rows the tree answers otherwise than another owner's: the median; None if alone.
    outlier
        Why this owner may be a different one; empty where nothing says so.
    """

    name: str
    people: int
    leaves: int
    shares: Mapping[str, float]
    class_distance: float | None
    disagreement: float | None
    outlier: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class OwnersComparison:
    """Owners side by side.

    Attributes
    ----------
    owners
        One after the other, as given.
    disagreement
        For every two owners the share of common rows that their trees answer differently.
    n_rows
        How many common rows were asked.
    """

    owners: tuple[Owner, ...]
    disagreement: NDArray[np.float64]
    n_rows: int

    @property
    def outliers(self) -> tuple[str, ...]:
        """The names of owners who may be different ones."""
        return tuple(owner.name for owner in self.owners if owner.outlier)

    def __str__(self) -> str:
        lines = []
        for owner in self.owners:
            shares = ", ".join(f"{value} {share:.1%}" for value, share in list(owner.shares.items())[:4])
            more = f", {len(owner.shares) - 4} more" if len(owner.shares) > 4 else ""
            told = f"{owner.name}: {owner.people:,} people, {owner.leaves:,} leaves; {shares}{more}"
            if owner.disagreement is not None:
                told += f"; answers otherwise than others on {owner.disagreement:.1%} of {self.n_rows:,} pseudo-rows"
            lines += [told, *(f"  outlier? {why}" for why in owner.outlier)]
        return "\n".join(lines)

    def to_json(self) -> list[dict[str, Any]]:
        """One entry an owner."""
        names = [owner.name for owner in self.owners]
        return [
            {
                "owner": owner.name,
                "people": owner.people,
                "leaves": owner.leaves,
                "classes": {value: round(share, 6) for value, share in owner.shares.items()},
                "class_distance": _rounded(owner.class_distance),
                "disagreement": _rounded(owner.disagreement),
                "with": {
                    name: round(float(share), 6)
                    for name, share in zip(names, self.disagreement[i], strict=True)
                    if name != owner.name
                },
                "outlier": list(owner.outlier),
            }
            for i, owner in enumerate(self.owners)
        ]


def compare_owners(
    owners: Mapping[str, TreeRelease], *, n_rows: int = ROWS, seed: int = 0, widen: bool = False
) -> OwnersComparison:
    """Compare owners by their classes, and their trees by what they answer for the same pseudo-rows of all owners.

    Parameters
    ----------
    owners
        What each published, by a name.
    n_rows
        How many pseudo-rows to ask.
    seed
        What the rows are drawn with.
    widen
        As in `pool`.

    Notes
    -----
    With three owners and more, one is called an outlier whose classes are more than twice as far from the others' as
    these are from each other, and 10 points more, over what chance explains for so many people; or whose tree disagrees
    with the others more than twice as often as these do among each other, and 10 points more. Both are rules of thumb:
    such an owner may have other patients, another coding, or a mistake in the file, and only a person can tell.

    Examples
    --------
    >>> from shoal import load_sample
    >>> from shoal.share import publish
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> domain = {"age": [0, 120], "sex": ["Female", "Male"]}
    >>> parts = np.array_split(np.arange(5000), 3)
    >>> owners = {name: publish(people.take(rows), "diabetes", 100, domain=domain)
    ...           for name, rows in zip(["north", "south", "west"], parts)}
    >>> compare_owners(owners).outliers
    ()
    """
    model = JointModel(JointRelease(dict(owners), "vote", n_rows, seed, widen))
    classes = model.classes
    counts = np.zeros((len(owners), len(classes)), dtype=np.int64)
    rows = model.pseudo_data().table
    answers = np.empty((len(owners), rows.n_rows), dtype=np.int64)
    for i, release in enumerate(owners.values()):
        place = np.array([classes.index(value) for value in release.classes], dtype=np.int64)
        counts[i, place] = release.counts[0]
        answers[i] = place[release.answers[release.apply(rows, unknown="ancestor")]]
    apart = np.array([(answers != own).mean(axis=1) for own in answers])
    shares = counts / counts.sum(axis=1, keepdims=True)
    distance = np.array([np.abs(shares - own).sum(axis=1) / 2 for own in shares])
    chance = np.sqrt(len(classes) / counts.sum(axis=1)) / 2
    found = []
    for i, (name, release) in enumerate(owners.items()):
        of_classes, of_others = _own_and_usual(distance, i)
        of_answers, among_others = _own_and_usual(apart, i)
        why = []
        if of_others is not None and of_classes > 2 * of_others + APART + chance[i]:
            why.append(f"its classes are {of_classes:.1%} from the others', theirs {of_others:.1%} from each other.")
        if among_others is not None and of_answers > 2 * among_others + APART:
            why.append(
                f"its tree answers otherwise than the others on {of_answers:.1%} of the rows, they among each other "
                f"on {among_others:.1%}."
            )
        alone = len(owners) == 1
        found.append(
            Owner(
                name,
                release.n_people,
                len(release.leaves),
                dict(zip(classes, shares[i].tolist(), strict=True)),
                None if alone else of_classes,
                None if alone else of_answers,
                tuple(why),
            )
        )
    return OwnersComparison(tuple(found), apart, rows.n_rows)


def _own_and_usual(apart: NDArray[np.float64], i: int) -> tuple[float, float | None]:
    """How far one is from the others, and these are from each other: medians. Of two, nobody is the other one."""
    n = len(apart)
    own = float(np.median(np.delete(apart[i], i))) if n > 1 else 0.0
    others = np.delete(np.delete(apart, i, 0), i, 1)
    return own, float(np.median(others[np.triu_indices(n - 1, 1)])) if n > 2 else None


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 6)
