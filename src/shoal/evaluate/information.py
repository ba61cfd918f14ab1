# SPDX-License-Identifier: Apache-2.0
"""What generalised cells still tell: non-uniform entropy and precision."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.frames import to_table
from shoal.data.hierarchy import Hierarchy, Levels, load_hierarchies
from shoal.data.table import Column
from shoal.data.target import as_categorical
from shoal.evaluate.losses import cell_losses
from shoal.release import Attribute, TableRelease
from shoal.release.domain import Atoms
from shoal.release.generalised import ALL, Generalised, atoms_of, covers


def non_uniform_entropy(release: TableRelease, original: Any) -> float:
    """The share of what the original columns told that generalisation has lost: 0 nothing, 1 everything.

    Of a column whose value ``v`` is had by ``n(v)`` people, a cell that stands for a set of values loses the entropy of
    the column within the set: how many bits it takes to say which of them it was. Added up over cells, a row that is
    left out losing as much as ``*``; divided by what ``*`` everywhere would lose; then the average over columns that
    tell anything.

    Parameters
    ----------
    release
        The released table.
    original
        The rows it was made from: values that people have more often are easier to guess.

    Notes
    -----
    Where each value is always generalised in the same way this is the measure of Gionis and Tassa and de Waal and
    Willenborg as ARX reports it: the sum of ``-log2(n(v) / n(cell))`` over all cells as a share of its largest value.
    There ``n(cell)`` is how many people have the cell; in local recodings, where one value becomes now this cell and
    now that, it is here how many have a value that the cell stands for, while ARX counts level by level (Prasser et
    al.).

    References
    ----------
    A. Gionis, T. Tassa, "k-anonymization with minimal loss of information", IEEE Transactions on Knowledge and
    Data Engineering 21 (2009), 206-219, doi:10.1109/TKDE.2008.129.

    A. G. de Waal, L. C. R. J. Willenborg, "Information loss through global recoding and local suppression",
    Netherlands Official Statistics 14 (1999), 17-20 (no DOI).

    F. Prasser, R. Bild, K. A. Kuhn, "A generic method for assessing the quality of de-identified health data",
    Studies in Health Technology and Informatics 228 (2016), 312-316, doi:10.3233/978-1-61499-678-1-312.

    Examples
    --------
    >>> from shoal import load_sample
    >>> from shoal.anonymize import TreeAnonymizer
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> release = TreeAnonymizer(privacy=1500).fit(people, "diabetes").release_
    >>> 0.5 < non_uniform_entropy(release, people) < 1
    True
    """
    kinds = {name: kind for name, kind in release.kinds.items() if name in release.generalised}
    hidden = [name for name in release.public if name not in kinds]
    table = to_table(original, kinds=kinds, only=[*kinds, *hidden])
    lost = []
    for name in kinds:
        column = table[name]
        if kinds[name] == "categorical" and column.kind == "numeric":  # numbers whose hierarchy listed them one by one
            column = as_categorical(column)
        cells = [*release.generalised[name], Generalised(ALL)]
        atoms = atoms_of(release.attribute(name), cells)
        bits = _bits(atoms, covers(atoms, cells), column)
        if bits[-1]:
            rows = release.stored[name].counts()
            total = math.fsum((rows * bits[:-1]).tolist()) + release.left_out * bits[-1]
            lost.append(total / bits[-1] / (release.n_rows + release.left_out))
    # nothing is stated of a hidden column, not even its values; where all rows have one value there is nothing to lose
    lost += [1.0 for name in hidden if np.count_nonzero(table[name].counts()) > 1]
    return math.fsum(lost) / len(lost) if lost else 0.0


def _bits(atoms: Atoms, masks: NDArray[np.bool_], column: Column) -> NDArray[np.float64]:
    """For each cell the entropy, in bits, of a column's values among those that it stands for."""
    inside = masks[:, atoms.encode(_each_value(column))]  # cells × values
    people = column.counts()
    counts = np.where(inside, people, 0)
    size = counts.sum(axis=1, keepdims=True)
    share = counts / np.maximum(size, 1)
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    return np.asarray(-(share * logs).sum(axis=1) + 0.0)


def _each_value(column: Column) -> Column:
    """A column of which every code is one row."""
    return Column(column.name, column.kind, np.arange(column.n_codes), column.values, column.missing, column.integer)


def precision(release: TableRelease, hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None = None) -> float:
    """Prec: one minus the average height of a cell in its hierarchy; 1 is exact, 0 is ``*`` everywhere.

    A cell of level 2 in a hierarchy of levels 0 (exact) to 4 (``*``) has height 2/4. A row that is left out has height
    1 in every column.

    Parameters
    ----------
    release
        The released table.
    hierarchies
        Those it was made with: a folder, or a dict from column to path, nested dict or `Hierarchy`.

    Notes
    -----
    Differs from Sweeney, which knows only cells that are nodes of a hierarchy: any other cell is as high as the lowest
    node that covers it. Without a hierarchy there are no levels (with one of intervals of equal size they depend on the
    rows); there the height of a cell is its loss (`cell_losses`), the share of the column that it leaves open. Levels
    that tell no more values apart than the one above them are not counted.

    References
    ----------
    L. Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", International
    Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10 (2002), 571-588,
    doi:10.1142/S021848850200165X.

    Examples
    --------
    >>> from shoal import load_sample
    >>> from shoal.anonymize import TreeAnonymizer
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> release = TreeAnonymizer(privacy=1500).fit(people, "diabetes").release_
    >>> 0 < precision(release) < 0.5
    True
    """
    found = load_hierarchies(hierarchies, release.columns)
    heights = []
    for name in release.public:
        cells, rows = release.generalised[name], release.stored[name].counts()
        own = _heights(release.attribute(name), cells, found.get(name))
        heights.append((math.fsum((own * rows).tolist()) + release.left_out) / (release.n_rows + release.left_out))
    return 1 - math.fsum(heights) / len(heights) if heights else 1.0


def _heights(attribute: Attribute, cells: tuple[Generalised, ...], hierarchy: Hierarchy | None) -> NDArray[np.float64]:
    """The height of each cell, from 0 to 1."""
    if hierarchy is None or hierarchy.kind == "equal_size" or all(cell.is_all for cell in cells):
        return cell_losses(attribute, cells)
    levels = hierarchy.bind(_domain_of(attribute))
    if attribute.type == "categorical":
        steps = [own[: len(attribute.values)] for own in levels.maps]
        masks = [np.isin(attribute.values, cell.values) for cell in cells]
        level = [next((i for i, own in enumerate(steps) if _one(own[mask])), len(steps)) for mask in masks]
        top = len(steps)
    else:
        exact = cell_losses(attribute, cells) == 0
        level = [0 if exact[i] else 1 + _covering(levels, cell, attribute.integer) for i, cell in enumerate(cells)]
        top = len(levels) + 1
    return np.array([1.0 if cell.is_all else i / top for i, cell in zip(level, cells, strict=True)])


def _one(groups: NDArray[np.int32]) -> bool:
    return len(groups) == 0 or bool((groups == groups[0]).all())


def _covering(levels: Levels, cell: Generalised, whole: bool) -> int:
    """The lowest level of intervals of which one covers all of a cell; their number where none does."""
    if not cell.intervals:
        return -1  # missing is exact
    above = min(-math.inf if part.above is None else part.above for part in cell.intervals)
    at_most = max(math.inf if part.at_most is None else part.at_most for part in cell.intervals)
    if whole:
        above, at_most = (end if math.isinf(end) else math.floor(end) for end in (above, at_most))
    for level, cuts in enumerate(levels.cuts or ()):
        if not ((cuts > above) & (cuts < at_most)).any():
            return level
    return len(levels)


def _domain_of(attribute: Attribute) -> Column:
    """A column without rows that has the stated domain."""
    none = np.zeros(0, dtype=np.uint8)
    if attribute.type == "categorical":
        return Column(attribute.name, "categorical", none, attribute.values, missing=attribute.missing)
    return Column(
        attribute.name,
        "numeric",
        none,
        np.empty(0),
        missing=attribute.missing,
        integer=attribute.integer,
        bounds=attribute.bounds,
    )
