# SPDX-License-Identifier: Apache-2.0
"""Tian et al. (2012), Fig. 14 to 16: trees and tables that keep l-diversity, from one owner and from ten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal import anonymize
from shoal.audit import audit
from shoal.data import Table
from shoal.data.table import smallest_dtype
from shoal.errors import PromiseError
from shoal.evaluate import classification_metric, drawn_rows
from shoal.papers.sharing import LEARNERS, answers, together, truth, usual_tree, vote
from shoal.papers.sharing_data import Rows, SharingTable, share_rows
from shoal.privacy import Requirement, SimpleDiversity, claims
from shoal.release import TableRelease, TreeRelease
from shoal.share import paths_of, pseudo_data
from shoal.trees import AnonymousTreeClassifier
from shoal.trees.atp import prune_by_merging

Release = TreeRelease | TableRelease
NODES = 300  # that K-Optimize looks into, for each owner's table: a thousand found nothing better

METHODS = ("atp", "atp-hits", "ldm", "opti", "ldd")


def publish(method: str, rows: Table, task: SharingTable, requirement: Requirement) -> Release:
    """What one owner publishes: a merged C4.5 tree (ATP), a C4.5 tree grown under the requirement (LDM), or a table.

    All trees are C4.5's as they come, with its own pruning. ATP counts the classes of what it merges. ``atp-hits`` is
    ATP as the paper has it, which estimates them (Eq. 2 and 3): nobody's promise, and not audited here. OPTI is
    K-Optimize by the classification metric, which may leave rows out. LDD is Incognito for (c, l)-diversity and
    One-Dimensional for simple l-diversity. Every one but ``atp-hits`` is audited, and withheld if it breaks the
    requirement.

    Raises
    ------
    PromiseError
        If the method finds nothing that keeps the requirement.
    """
    if method == "atp-hits":
        return prune_by_merging(usual_tree(rows, task), requirement, by="hits")
    if method == "atp":
        tree = prune_by_merging(usual_tree(rows, task), requirement)
        verdict = audit(tree, rows, privacy=requirement)
        if not verdict.holds:
            raise PromiseError("audit-failed", "The pruned tree failed its audit and is withheld.")
        return tree.with_audit(verdict)
    if method == "ldm":
        miner = AnonymousTreeClassifier(requirement, variant="c45", domain=task.domain(task.public))
        mined: TreeRelease = miner.fit(rows, task.target).release_
        return mined
    own = {"privacy": requirement, "domain": task.domain(task.public), "hierarchies": task.hierarchies}
    if method == "opti":
        name, options = "KOptimize", {"cost": "cm", "suppress": 0.99, "max_seconds": None, "max_nodes": NODES}
    else:
        name, options = ("OneDimensional" if isinstance(requirement, SimpleDiversity) else "Incognito"), {}
    anonymizer = getattr(anonymize, name)(**own, **options, reproducible=True)
    release: TableRelease = anonymizer.fit(rows, task.target).release_
    return release


def compare_publishers(
    task: SharingTable,
    train: Rows,
    test: Rows,
    requirement: Requirement,
    *,
    owners: int = 1,
    methods: Sequence[str] = METHODS,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """One pass of one fold of Fig. 14 and 15 (one owner) or 16 (ten), for one requirement.

    The only owner's tree is asked itself; with several owners, and for tables, a C4.5 tree and naive Bayes learn from
    all that was published. `cm` is the classification metric over the people: rows
    outside the majority class of those with the same published values, and rows that are left out (`left_out`, their
    share). `broken` is the share of the releases of ``atp-hits`` that an audit of their rows does not pass. A setting
    that no release can keep says so in `why`.
    """
    rows = task.rows.select([*task.public, task.target])
    tested = rows.take(test)
    right = truth(tested, task.target)
    parts = [rows.take(part) for part in share_rows(train, owners, seed)]
    told = {"requirement": claims(requirement)[0], "owners": owners}
    found = []
    for method in methods:
        line = {**told, "method": method}
        # OPTI may leave rows out, and what is left may keep what the whole does not; estimates may keep anything
        if method not in ("opti", "atp-hits") and not all(_possible(part, task.target, requirement) for part in parts):
            found.append({**line, "why": "impossible: not even everybody together keeps it"})
            continue
        try:
            released = [publish(method, part, task, requirement) for part in parts]
        except PromiseError as error:
            found.append({**line, "why": f"{error.code}: the method finds no release"})
            continue
        line["cm"] = combined_cm(released)
        if method == "atp-hits":
            pairs = zip(released, parts, strict=True)
            line["broken"] = fmean(not audit(tree, part, privacy=requirement).holds for tree, part in pairs)
        line["left_out"] = sum(getattr(release, "left_out", 0) for release in released) / len(train)
        line["leaves"] = sum(_classes(release) for release in released)
        single = released[0] if owners == 1 else None
        if isinstance(single, TreeRelease):
            said = vote([single], tested, shares=False)
            found.append({**line, "learner": "tree", "accuracy": float((said == right).mean())})
            continue
        learned = together([exact_rows(release, 100 * seed + number) for number, release in enumerate(released)])
        for learner in ("tree",) if owners == 1 else ("tree", "bayes"):
            said = answers(LEARNERS[learner]().fit(learned, task.target), tested)
            found.append({**line, "learner": learner, "accuracy": float((said == right).mean())})
    return found


def _possible(rows: Table, target: str, requirement: Requirement) -> bool:
    counts = rows[target].counts()[None, :]
    return bool(requirement.holds(counts, counts[0])[0])


def _classes(release: Release) -> int:
    """How many leaves or groups have somebody."""
    if isinstance(release, TreeRelease):
        return int((release.counts[list(release.leaves)].sum(axis=1) > 0).sum())
    return int(release.groups.max()) + 1


def exact_rows(release: Release, seed: int) -> Table:
    """Rows to learn from: PGEN of a tree, as the paper makes it; of a table's cells values drawn evenly from each."""
    if isinstance(release, TreeRelease):
        return pseudo_data(release, classes="hits", random_state=seed).table
    return drawn_rows(release, random_state=seed)


def combined_cm(released: Sequence[Release]) -> float:
    """The classification metric of all that was published together, over its people.

    Of pseudo-data only what the path of a row asks for counts, numbers in the middle of their interval; the rest is
    noise.
    """
    rows = together([_published(release) for release in released])
    target = released[0].target
    assert target is not None
    left_out = sum(release.left_out for release in released if isinstance(release, TableRelease))
    codes = np.stack([rows[name].codes.astype(np.int64) for name in rows.names if name != target], axis=1)
    _, group = np.unique(codes, axis=0, return_inverse=True)
    classes = rows[target].n_codes
    counts = np.bincount(group.reshape(-1) * classes + rows[target].codes, minlength=(group.max() + 1) * classes)
    return (classification_metric(counts.reshape(-1, classes)) + left_out) / (rows.n_rows + left_out)


def _published(release: Release) -> Table:
    """The rows of a table with its labels; of a tree pseudo-data, blank where a row's path asks for nothing."""
    if isinstance(release, TableRelease):
        return release.rows
    made = pseudo_data(release, numbers="middle", random_state=0)
    paths = paths_of(release)
    columns = [made.table[release.target]]
    for name, column in made.table.items():
        if name != release.target:
            asked: NDArray[np.bool_] = np.array([name in path.box for path in paths])
            blank = len(column.values)
            codes = np.where(asked[made.path], column.codes, blank)
            columns.append(replace(column, codes=codes.astype(smallest_dtype(blank + 1)), missing=True))
    return Table(columns)
