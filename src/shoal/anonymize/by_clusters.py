# SPDX-License-Identifier: Apache-2.0
"""The data itself, generalised by the groups of a clustering that keeps the promise."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from shoal.anonymize.method import Recoding, RecodingAnonymizer
from shoal.anonymize.one_dimensional import check_local
from shoal.anonymize.ranges import Ids, cells_of_groups
from shoal.anonymize.task import Task
from shoal.audit.clusters.released import ClustersSubject
from shoal.clusters import AnonymousClusters
from shoal.data.domain import Domain
from shoal.data.table import Table
from shoal.privacy import KAnonymity, Requirement
from shoal.release.encoding import Floats
from shoal.release.numbers import Numbers


class ClusterAnonymizer(RecodingAnonymizer):
    """Generalise a table by clusters: people whom the clustering cannot tell apart are published alike.

    A k-anonymous clustering is made of every column but the target (`AnonymousClusters`). People are together who can
    be in the same clusters, as far as their public values tell; with every column but the target public these are
    the clusters themselves. Of each such group the least is published that covers its values.

    A local recoding: clusters overlap in every single column, and what is published of them depends on the rows.

    Parameters
    ----------
    privacy
        What every group must satisfy: a requirement such as ``KAnonymity(50)``, or a whole number k. One of the user's
        own must be `monotone`.
    public
        The columns an attacker may know; None: every column but the target. The others are published exactly, and
        distances are taken over them, too.
    sensitive
        Private columns besides the target that requirements about values are asked of.
    domain
        The values or bounds of columns that are known beforehand, by column.
    person
        The column that tells people apart. People may have one row each only: groups overlap, so nobody could check
        how many people with several rows are in one.
    hierarchies
        A folder, or a dict from column to path, nested dict or `Hierarchy`. They are optional: without one a cell is an
        interval, or a set of values.
    n_clusters, method, min_gain, scale, random_state
        As of `AnonymousClusters`.
    numbers
        How `fit_transform` writes generalised numbers: ``"intervals"`` (texts), ``"ends"`` (two columns) or
        ``"midpoints"``.
    reproducible
        Sort the published rows by what is published of them. By default their order is drawn from the operating system.

    Attributes
    ----------
    release_ : TableRelease
        All that may leave the house, with the audit's verdict.
    clusters_ : ClustersRelease
        The clustering that generalised it. It tells more than the table: do not publish both without a ledger.
    n_features_in_ : int
        How many columns it was given.
    feature_names_in_ : ndarray
        Their names, where they had any.

    Notes
    -----
    The clusters keep k-anonymity only, with as many people as the requirement asks for at least. A group that does not
    keep the requirement in the table is joined with the one whose mean is nearest, until all do. There may be such
    groups for k-anonymity, too: a clustering may have small groups whose span is a single bin, which tell nothing
    private, but a table with private columns may not.

    Missing numbers have no distance and are refused; of categories missing is one more. On tens of thousands of rows
    expect seconds for ten clusters and minutes for fifty: `OneDimensional` is faster, and loses less.

    With more than 65,536 combinations of private categories, the target's aside, nobody's clusters are worked out.
    Unless enough people have each combination of public values, there is one group of everybody then: leave out private
    columns, or make categories one.

    References
    ----------
    A. Friedman, R. Wolff, A. Schuster, "Providing k-anonymity in data mining", VLDB Journal 17 (2008),
    789-804, Sect. 3 and 5.2, doi:10.1007/s00778-006-0039-5.

    Examples
    --------
    >>> from shoal import load_sample
    >>> from shoal.anonymize import ClusterAnonymizer
    >>> people = load_sample().table.select(["age", "sex", "bmi", "diabetes"])
    >>> method = ClusterAnonymizer(privacy=50, random_state=0).fit(people, "diabetes")
    >>> method.release_.verdict.smallest_group >= 50
    True
    """

    def __init__(
        self,
        privacy: Requirement | int = 10,
        *,
        public: Sequence[str] | None = None,
        sensitive: Sequence[str] = (),
        domain: Domain | None = None,
        person: str | None = None,
        hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        n_clusters: int | None = None,
        method: Literal["mst", "kmeans"] = "kmeans",
        min_gain: float = 0.01,
        scale: bool = True,
        random_state: int | np.random.RandomState | None = None,
        numbers: Numbers = "intervals",
        reproducible: bool = False,
    ) -> None:
        self.privacy = privacy
        self.public = public
        self.sensitive = sensitive
        self.domain = domain
        self.person = person
        self.hierarchies = hierarchies
        self.n_clusters = n_clusters
        self.method = method
        self.min_gain = min_gain
        self.scale = scale
        self.random_state = random_state
        self.numbers = numbers
        self.reproducible = reproducible

    def _recode(self, task: Task) -> Recoding:
        check_local(type(self).__name__, task)
        if not task.public:
            return Recoding({})
        rows = Table(column for name, column in task.rows.items() if name != task.target)
        clusters = AnonymousClusters(
            privacy=KAnonymity(max(task.least, 1)),
            public=task.public,
            domain={name: _domain(rows, name) for name in rows},
            n_clusters=self.n_clusters,
            method=self.method,
            min_gain=self.min_gain,
            scale=self.scale,
            random_state=self.random_state,
        ).fit(rows)
        self.clusters_ = clusters.release_
        read = self.clusters_.read(rows)
        group = ClustersSubject(self.clusters_).spans(read, task.public).of_row
        group, n_groups = _joined(task, group, self.clusters_.encoding.points(read))
        return Recoding(cells_of_groups(task, group, n_groups))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags


def _domain(rows: Table, name: str) -> Sequence[Any]:
    """A settled domain as the user would have declared it."""
    column = rows[name]
    if column.kind == "categorical":
        return column.names
    assert column.bounds is not None
    return column.bounds


def _joined(task: Task, group: Ids, points: Floats) -> tuple[Ids, int]:
    """Groups that all keep the requirement: each that does not is joined with the one whose mean is nearest."""
    while True:
        _, group = np.unique(group, return_inverse=True)
        group = group.reshape(-1).astype(np.int64)
        n = int(group.max()) + 1
        fails = np.flatnonzero(~task.keeps(group, n))
        if not len(fails):
            return group, n
        member = csr_array((np.ones(len(group)), (group, np.arange(len(group)))), shape=(n, len(group)))
        means = (member @ points) / np.bincount(group)[:, None]
        far = cdist(means[fails], means)
        far[np.arange(len(fails)), fails] = np.inf
        pairs = csr_array((np.ones(len(fails)), (fails, far.argmin(axis=1))), shape=(n, n))
        group = connected_components(pairs, directed=False)[1][group]
