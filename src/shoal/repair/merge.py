# SPDX-License-Identifier: Apache-2.0
"""The other way to repair a tree: all of its splits, with branches merged where a path breaks the requirement (ATP)."""

from __future__ import annotations

import numpy as np

from shoal.data.table import Table
from shoal.errors import DataError
from shoal.release import TreeRelease
from shoal.repair.job import Job
from shoal.repair.publish import publish
from shoal.repair.regrow import Kept
from shoal.repair.source import Source
from shoal.trees.atp import prune_by_merging


def merge_branches(job: Job) -> TreeRelease:
    """The job's only tree with the counts of the rows and round thresholds, pruned by merging; not audited yet."""
    if len(job.source.roots) != 1:
        raise DataError(
            "not-one-tree",
            f"Merging branches is for a single tree; this is a forest of {len(job.source.roots)}. Use method='splits'.",
        )
    if job.person is not None:
        raise DataError(
            "several-rows", "Merging branches is for rows that are one person each. Use method='splits' with person=."
        )
    whole = publish(
        [whole_tree(job.source, job.table)],
        job.table,
        job.roles,
        job.requirement,
        declared=job.declared,
        weights=job.weights,
    )
    return prune_by_merging(whole[0], job.requirement).stating(job.statement)


def whole_tree(source: Source, table: Table) -> Kept:
    """The first tree with every split that can go several ways, and the rows of every node."""
    root = Kept(np.arange(table.n_rows))
    waiting = [(int(source.roots[0]), root)]
    while waiting:
        number, node = waiting.pop()
        split = source.split(0, number)
        if split is None:
            continue
        ways = np.unique(split.way_of_code)
        if len(ways) == 1:
            waiting.append((split.children[int(ways[0])], node))
            continue
        node.column, node.way_of_code = split.column, split.way_of_code
        taken = split.way_of_code[table[split.column].codes[node.rows]]
        for way in ways:
            child = Kept(node.rows[taken == way])
            node.children.append(child)
            waiting.append((split.children[int(way)], child))
    return root
