# SPDX-License-Identifier: Apache-2.0
"""The tree again from its table: a table equivalent to a tree has lost nothing of it (VLDB'08 Sect. 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ReleaseError
from shoal.release import Attribute, Branch, Node, TableRelease, TreeRelease
from shoal.release.domain import Atoms
from shoal.release.generalised import Generalised, atoms_of, covers, from_mask, usual_label
from shoal.release.node import renumber

Mask = NDArray[np.bool_]
Ids = NDArray[np.int64]


def tree_from_table(table: TableRelease) -> TreeRelease:
    """Rebuild a tree whose leaves are the distinct generalised tuples of a table, with their counts of the target.

    Parameters
    ----------
    table
        The table equivalent to some tree whose only private column is its target, as `anonymize_by_tree` makes it.

    Returns
    -------
    TreeRelease
        With the same groups and counts, not yet audited. It may ask its questions in another order than the first tree
        did, and has leaves with nobody where the table has no row.

    Notes
    -----
    A node asks for a column whose generalised values fall into several parts that do not overlap. The tree that the
    table comes from has such a column at its root, and for any part of its leaves at the node where they separate; so
    whichever column is taken first, the rest can be completed. A table for which it cannot is equivalent to no tree.

    References
    ----------
    A. Friedman, R. Wolff, A. Schuster, "Providing k-anonymity in data mining", VLDB Journal 17 (2008),
    789-804, Sect. 3, doi:10.1007/s00778-006-0039-5.

    Examples
    --------
    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> from shoal.anonymize import anonymize_by_tree
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> tree = AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes").release_
    >>> again = tree_from_table(anonymize_by_tree(tree, people))
    >>> [again.describe_node(leaf) for leaf in again.leaves] == [tree.describe_node(leaf) for leaf in tree.leaves]
    True
    """
    if table.target is None or table.private != (table.target,):
        raise ReleaseError(
            "no-equivalent-tree", "Only a table whose target is its one private column can be turned into a tree."
        )
    if table.several_rows:
        raise ReleaseError(
            "no-equivalent-tree", "The rows of this table do not tell whose they are, so a tree cannot count people."
        )
    nodes = _Rebuilder(table).nodes()
    told = [name for name in table.columns if name == table.target or not table.is_hidden(name)]
    return TreeRelease(
        target=table.target,
        attributes=tuple(table.attribute(name) for name in told),
        claims=table.claims,
        nodes=renumber(nodes),
        unused={name: "public" for name in table.columns if name not in told},
    )


@dataclass(frozen=True)
class _Column:
    attribute: Attribute
    found: tuple[Generalised, ...]
    atoms: Atoms
    covers: Mask  # tuples × atoms
    code_of_tuple: Ids


class _Rebuilder:
    def __init__(self, table: TableRelease) -> None:
        assert table.target is not None
        target = table.rows[table.target]
        n_groups = int(table.groups.max()) + 1
        key = table.groups * target.n_codes + target.codes
        self.counts = np.bincount(key, minlength=n_groups * target.n_codes).reshape(n_groups, -1)
        _, example = np.unique(table.groups, return_index=True)
        self.columns = []
        for name in table.public:
            if not table.is_hidden(name):
                atoms = atoms_of(table.attribute(name), table.generalised[name])
                codes = table.rows[name].codes[example].astype(np.int64)
                masks = (covers(atoms, table.generalised[name]) & atoms.possible)[codes]
                self.columns.append(_Column(table.attribute(name), table.generalised[name], atoms, masks, codes))

    def nodes(self) -> list[Node]:
        """The tree, node by node: each open node has some tuples and what its path leaves of each column."""
        nodes: list[Node] = [Node()]
        everything = [column.atoms.possible for column in self.columns]
        stack: list[tuple[int, Ids, list[Mask]]] = [(0, np.arange(len(self.counts)), everything)]
        while stack:
            number, tuples, left = stack.pop()
            which, parts = self._choose(tuples, left)
            if which < 0:
                nodes[number] = Node(counts=tuple(map(int, self.counts[tuples[0]])))
                continue
            column, branches, rest = self.columns[which], [], left[which].copy()
            for part in parts:
                mask = column.covers[part].any(axis=0) & left[which]
                rest &= ~mask
                branches.append(self._branch(len(nodes), column, part, mask))
                stack.append((len(nodes), part, [*left[:which], mask, *left[which + 1 :]]))
                nodes.append(Node())
            if rest.any():  # values that no row has
                branches.append(_branch(len(nodes), from_mask(column.atoms, rest), None))
                nodes.append(Node(counts=(0,) * self.counts.shape[1]))
            nodes[number] = Node(attribute=column.attribute.name, branches=tuple(branches))
        return nodes

    def _choose(self, tuples: Ids, left: list[Mask]) -> tuple[int, list[Ids]]:
        """The column to ask for and the parts it makes; −1 where all is said that the one tuple says."""
        for which, column in enumerate(self.columns):
            parts = _parts(column.covers[tuples] & left[which])
            if len(parts) > 1:
                return which, [tuples[part] for part in parts]
        if len(tuples) > 1:
            raise ReleaseError(
                "no-equivalent-tree",
                f"No tree has this table: {len(tuples):,} of its generalised rows cannot be told apart by one column.",
            )
        for which, column in enumerate(self.columns):
            if (left[which] & ~column.covers[tuples[0]]).any():
                return which, [tuples]
        return -1, []

    @staticmethod
    def _branch(node: int, column: _Column, part: Ids, mask: Mask) -> Branch:
        value = from_mask(column.atoms, mask)
        codes = np.unique(column.code_of_tuple[part])
        label = column.found[codes[0]].label if len(codes) == 1 else None
        return _branch(node, value, label)


def _branch(node: int, value: Generalised, label: str | None) -> Branch:
    named = label if len(value.values) > 1 and label not in (None, usual_label(value)) else None
    return Branch(node, value.values, value.intervals, value.missing, named)


def _parts(masks: Mask) -> list[Ids]:
    """The tuples in parts whose masks overlap with no other part's."""
    # in the order of the domain: a mask that begins earlier sorts later, hence the complement
    distinct, which = np.unique(~masks, axis=0, return_inverse=True)
    distinct = ~distinct
    part_of = np.full(len(distinct), -1)
    n = 0
    for start in range(len(distinct)):
        if part_of[start] < 0:
            reach = distinct[start]
            while True:  # grows until nothing more overlaps
                inside = (distinct & reach).any(axis=1)
                wider = distinct[inside].any(axis=0)
                if (wider == reach).all():
                    break
                reach = wider
            part_of[inside] = n
            n += 1
    return [np.flatnonzero(part_of[which.reshape(-1)] == part) for part in range(n)]
