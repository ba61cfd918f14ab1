# SPDX-License-Identifier: Apache-2.0
"""How alike owners are, from what they published alone: classes, and what their trees say of the same rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.release import TreeRelease
from shoal.release.joint import JointRelease
from shoal.share.joint import JointModel

ROWS = 10_000
FAR = 0.1  # of the classes' shares, beyond what chance explains
APART = 0.05  # of the answers, beyond twice what others differ by


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
        By how much these shares differ from those of all other owners' people together, from 0 to 1; None if alone.
    disagreement
        On what share of the common rows the tree answers otherwise than another owner's, on the average; None if alone.
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
    With three owners and more, one is called an outlier whose classes are more than 10 points from those of the others
    together, over what chance explains for so many people; or whose tree disagrees with others more than twice as often
    as these do among each other, and by 5 points more. Both are rules of thumb: such an owner may have other patients,
    another coding, or a mistake in the file, and only a person can tell.

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
    names, classes = list(owners), model.classes
    counts = np.zeros((len(names), len(classes)), dtype=np.int64)
    rows = model.pseudo_data().table
    answers = np.empty((len(names), rows.n_rows), dtype=np.int64)
    for i, release in enumerate(owners.values()):
        place = np.array([classes.index(value) for value in release.classes], dtype=np.int64)
        counts[i, place] = release.counts[0]
        answers[i] = place[release.answers[release.apply(rows, unknown="ancestor")]]
    apart = np.array([(answers != own).mean(axis=1) for own in answers])
    distance = _distances(counts)
    found = []
    for i, (name, release) in enumerate(owners.items()):
        alone = len(names) == 1
        found.append(
            Owner(
                name,
                release.n_people,
                len(release.leaves),
                dict(zip(classes, (counts[i] / counts[i].sum()).tolist(), strict=True)),
                None if alone else float(distance[i]),
                None if alone else float(apart[i].sum() / (len(names) - 1)),
                tuple(_why(i, counts, distance, apart)),
            )
        )
    return OwnersComparison(tuple(found), apart, rows.n_rows)


def _distances(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Half the sum of differences between an owner's shares of classes and those of all others together."""
    rest = counts.sum(axis=0) - counts
    own = counts / counts.sum(axis=1, keepdims=True)
    others = rest / np.maximum(rest.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.abs(own - others).sum(axis=1) / 2)


def _why(i: int, counts: NDArray[np.int64], distance: NDArray[np.float64], apart: NDArray[np.float64]) -> list[str]:
    if len(counts) < 3:  # of two, nobody knows which is the other one
        return []
    why = []
    if distance[i] > FAR + math.sqrt(counts.shape[1] / counts[i].sum()) / 2:
        why.append(f"its classes are {distance[i]:.1%} from those of the others.")
    others = np.delete(np.delete(apart, i, 0), i, 1)
    usual = float(np.median(others[np.triu_indices(len(others), 1)]))
    own = float(np.median(np.delete(apart[i], i)))
    if own > 2 * usual + APART:
        why.append(
            f"its tree answers otherwise than the others on {own:.1%} of the rows, they among each other on "
            f"{usual:.1%}."
        )
    return why


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 6)
