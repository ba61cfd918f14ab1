# SPDX-License-Identifier: Apache-2.0
"""Templates of people: for some columns what their values are part of, and how many people of each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.release import Attribute, TreeRelease
from shoal.release.generalised import Generalised, atoms_of, cover, from_mask

Mask = NDArray[np.bool_]
MOST_WORK = 2_000_000_000  # values looked at, some seconds


@dataclass(frozen=True)
class Path:
    """The people of one path of a tree, or of one classification rule.

    Attributes
    ----------
    box
        For each column that it asks for what the values of its people are part of; of any other column nothing is said.
    counts
        How many people of each class, in the order of the target's values.
    """

    box: Mapping[str, Generalised]
    counts: tuple[int, ...]


def paths_of(release: TreeRelease) -> list[Path]:
    """The paths of a released tree from its root to its leaves, in the order of its leaves (Def. 7).

    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> tree = AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes").release_
    >>> [path.counts for path in paths_of(tree)]
    [(2402, 117), (1583, 898)]
    >>> paths_of(tree)[0].box["age"].intervals
    (Interval(above=None, at_most=47.5),)
    """
    counts, routing = release.counts, release.routing
    _check_work(release)
    found = []
    for leaf in release.leaves:
        masks: dict[str, Mask] = {}
        child = leaf
        while (parent := int(release.parents[child])) >= 0:
            name = routing.names[routing.tests[parent]]
            mask = routing.children(parent) == child
            masks[name] = masks[name] & mask if name in masks else mask
            child = parent
        box = {}
        for name, mask in masks.items():
            atoms = routing.atoms[routing.names.index(name)]
            if not (mask & atoms.possible).any():  # a path that asks for two things at once: nobody can be there
                break
            box[name] = from_mask(atoms, mask)
        else:
            found.append(Path(box, tuple(counts[leaf].tolist())))
    return found


def _check_work(release: TreeRelease) -> None:
    """Refuse trees of which it would take minutes to tell the paths: so many values of so many nodes above each."""
    tests, parents = release.routing.tests, release.parents
    width = np.append([atoms.n for atoms in release.routing.atoms], 0)[tests]  # of a leaf, the last
    above = np.zeros(len(tests), dtype=np.int64)
    for number in range(1, len(tests)):  # a parent has the lower number
        above[number] = above[parents[number]] + width[parents[number]]
    if int(above[tests < 0].sum()) > MOST_WORK:
        raise DataError("too-large", "This tree has too many branches with too many values for rows to be made of it.")


def check_disjoint(paths: Sequence[Path], attributes: Mapping[str, Attribute]) -> None:
    """Refuse classification rules of which two can be satisfied by one row."""
    names = sorted({name for path in paths for name in path.box})
    unknown = [name for name in names if name not in attributes]
    if unknown:
        raise DataError(
            "no-column", f"The rules ask for column(s) {', '.join(map(repr, unknown))} that are not stated."
        )
    meet = ~np.eye(len(paths), dtype=bool)
    for name in names:
        cells = [path.box.get(name, Generalised("*")) for path in paths]
        atoms = atoms_of(attributes[name], cells)
        masks = np.stack([cover(atoms, cell) & atoms.possible for cell in cells]).astype(np.int64)
        meet &= masks @ masks.T > 0
    if meet.any():
        one, other = np.argwhere(meet)[0]
        raise DataError(
            "rules-overlap",
            f"Rules {one + 1} and {other + 1} can be satisfied by the same row. Pseudo-data needs disjoint rules.",
        )
