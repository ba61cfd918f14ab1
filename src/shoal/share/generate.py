# SPDX-License-Identifier: Apache-2.0
"""Pseudo-data: rows of nobody that say of a target what a released model says (PGEN and BASEGEN)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.data.frames import Backend, from_columns
from shoal.data.table import Column, Table, smallest_dtype
from shoal.errors import DataError
from shoal.release import Attribute, TreeRelease
from shoal.release.generalised import Generalised
from shoal.release.marginal import Marginal
from shoal.release.table import frame_columns
from shoal.share.draw import Drawer, Place
from shoal.share.paths import Path, check_disjoint, paths_of

Ids = NDArray[np.int64]
MARK = {b"shoal": b"pseudo-data: rows of nobody, generated from published models"}
MOST_ROWS = 100_000_000
MOST_CELLS = 1_000_000_000


@dataclass(frozen=True, eq=False)
class PseudoData:
    """Rows of nobody.

    Attributes
    ----------
    table
        The rows, in no order.
    target
        The column that the model predicts.
    path
        The path that each row was made from, by its number in `paths_of`; −1 where rows were not made from paths.

    Notes
    -----
    Publishing pseudo-data instead of the model is not recommended. Rows made from one path differ in columns that the
    path does not ask for, so groups of them need not keep what the model's groups keep; and who reads them may take
    them for people. In memory and in Parquet they are marked as what they are.
    """

    table: Table
    target: str
    path: Ids

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """The rows as a data frame, marked as pseudo-data in its schema (Arrow) or its `attrs` (pandas)."""
        columns = frame_columns(self.table, [])
        if backend == "pyarrow":
            return pa.table(columns).replace_schema_metadata(MARK)
        frame = from_columns(columns, backend)
        if backend == "pandas":
            frame.attrs["shoal"] = MARK[b"shoal"].decode()
        return frame

    def __repr__(self) -> str:
        return f"<PseudoData: {self.table.n_rows} rows of nobody, {len(self.table)} columns>"


def pseudo_data(
    release: TreeRelease,
    n_rows: int | None = None,
    *,
    classes: Literal["counts", "hits"] = "counts",
    numbers: Place = "uniform",
    marginals: Mapping[str, Marginal] | None = None,
    random_state: int | np.random.Generator | None = None,
) -> PseudoData:
    """Rows that fill every path of a released tree as its people did (PGEN).

    Parameters
    ----------
    release
        A tree that states counts. Columns whose domain it does not state are not generated.
    n_rows
        How many rows to make, shared among paths and classes by their people; by default as many as people.
    classes
        ``"counts"``: as many rows of each class as the path has people. ``"hits"``: as in the paper, only the most
        frequent class of a path is known, and the others share the rest evenly.
    numbers
        Where in an interval a number lies: anywhere (``"uniform"``), in the middle, or at the upper ``"end"``.
    marginals
        Published distributions of single columns. A value that a path leaves open is drawn from them, instead of evenly
        from what is left of the declared domain.
    random_state
        A seed for the same rows again; by default drawn from the operating system.

    References
    ----------
    H. Tian, W. Zhang, S. Xu, P. Sharkey, "A knowledge model sharing based approach to privacy-preserving data mining",
    Transactions on Data Privacy 5 (2012), 433-467, Fig. 9.

    Examples
    --------
    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> tree = AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes").release_
    >>> rows = pseudo_data(tree, random_state=0)
    >>> rows
    <PseudoData: 5000 rows of nobody, 2 columns>
    >>> bool((tree.apply(rows.table) == np.array(tree.leaves)[rows.path]).all())
    True
    """
    attributes = {attribute.name: attribute for attribute in release.attributes}
    return _generate(paths_of(release), attributes, release.target, n_rows, classes, numbers, marginals, random_state)


def pseudo_data_from_rules(
    rules: Sequence[Path],
    attributes: Sequence[Attribute],
    target: str,
    n_rows: int | None = None,
    *,
    numbers: Place = "uniform",
    marginals: Mapping[str, Marginal] | None = None,
    random_state: int | np.random.Generator | None = None,
) -> PseudoData:
    """The same for disjoint classification rules, each with its people by class (Sect. 1.1)."""
    domain = {attribute.name: attribute for attribute in attributes}
    check_disjoint(rules, domain)
    return _generate(rules, domain, target, n_rows, "counts", numbers, marginals, random_state)


def uniform_data(
    release: TreeRelease, n_rows: int | None = None, *, random_state: int | np.random.Generator | None = None
) -> PseudoData:
    """Rows drawn evenly from the declared domain, each labelled by the tree (BASEGEN, the paper's rival of PGEN)."""
    rng = np.random.default_rng(random_state)
    n = checked_rows(release.n_people if n_rows is None else n_rows, len(release.attributes))
    nowhere = np.zeros(n, dtype=np.int64)
    columns = [
        Drawer(attribute, [Generalised("*")], None).draw(nowhere, "uniform", rng)
        for attribute in release.attributes
        if attribute.name != release.target
    ]
    codes = release.answers[release.apply(Table(columns))] if columns else release.answers[np.zeros(n, dtype=np.int64)]
    target = _target(release.attribute(release.target), codes)
    return PseudoData(Table([*columns, target]), release.target, np.full(n, -1, dtype=np.int64))


def _generate(
    paths: Sequence[Path],
    attributes: Mapping[str, Attribute],
    target: str,
    n_rows: int | None,
    classes: Literal["counts", "hits"],
    numbers: Place,
    marginals: Mapping[str, Marginal] | None,
    random_state: int | np.random.Generator | None,
) -> PseudoData:
    if classes not in ("counts", "hits"):
        raise DataError("unknown-option", f"classes must be 'counts' or 'hits'; got {classes!r}.")
    rng = np.random.default_rng(random_state)
    counts = np.array([path.counts for path in paths], dtype=np.int64).reshape(len(paths), -1)
    if classes == "hits":
        counts = _spread_misses(counts, rng)
    if n_rows is not None:
        counts = share_out(counts, checked_rows(n_rows))
    n = checked_rows(int(counts.sum()), len(attributes))
    cell = np.repeat(np.arange(counts.size), counts.reshape(-1))
    rng.shuffle(cell)
    path, of_class = np.divmod(cell, counts.shape[1])
    columns = []
    for name, attribute in attributes.items():
        if name == target:
            continue
        boxes = [each.box.get(name, Generalised("*")) for each in paths]
        distinct = list(dict.fromkeys(boxes))
        place = {box: number for number, box in enumerate(distinct)}
        of_path = np.array([place[box] for box in boxes], dtype=np.int64)
        drawer = Drawer(attribute, distinct, (marginals or {}).get(name))
        columns.append(drawer.draw(of_path[path], numbers, rng))
    table = Table([*columns, _target(attributes[target], of_class)])
    assert table.n_rows == n
    return PseudoData(table, target, path)


def share_out(counts: Ids, n: int) -> Ids:
    """So many rows in the proportions of some counts: whole ones first, then one each where most is left over.

    >>> share_out(np.array([[3, 1], [2, 2]]), 4).tolist()
    [[2, 0], [1, 1]]
    """
    total = int(counts.sum())
    if total == 0:
        raise DataError("no-rows", "The model has no people, so no rows can be made of it.")
    if max(int(counts.max()), 1) * n >= 2**62:
        raise DataError("too-large", "Too many rows were asked for.")
    whole, rest = np.divmod(counts.reshape(-1) * n, total)
    missing = n - int(whole.sum())
    whole[np.argsort(-rest, kind="stable")[:missing]] += 1
    return whole.reshape(counts.shape)


def _spread_misses(counts: Ids, rng: np.random.Generator) -> Ids:
    """What hits and misses tell: the most frequent class, and the others evenly; chance decides what is over."""
    n_paths, n_classes = counts.shape
    best = counts.argmax(axis=1)
    hit = counts[np.arange(n_paths), best]
    each, over = np.divmod(counts.sum(axis=1) - hit, max(n_classes - 1, 1))
    order = rng.random((n_paths, n_classes))
    order[np.arange(n_paths), best] = 2.0  # never one of those that take what is over
    rank = order.argsort(axis=1).argsort(axis=1)
    spread: Ids = each[:, None] + (rank < over[:, None])
    spread[np.arange(n_paths), best] = hit
    return spread


def checked_rows(n: int, n_columns: int = 1) -> int:
    """A number of rows that can be made."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 0 < n <= MOST_ROWS:
        raise DataError("unknown-option", f"The number of rows must be from 1 to {MOST_ROWS:,}; got {n!r}.")
    if int(n) * n_columns > MOST_CELLS:
        raise DataError("too-large", f"{n:,} rows of {n_columns:,} columns are too many. Ask for fewer rows.")
    return int(n)


def _target(attribute: Attribute, codes: Ids) -> Column:
    small = codes.astype(smallest_dtype(len(attribute.values)))
    column = Column(attribute.name, "categorical", small, attribute.values)
    return replace(column, labels=attribute.labels)
