# SPDX-License-Identifier: Apache-2.0
"""C4.5 slowly and obviously, as J48's source tells it: the twin of `c45`, for the tests.

Trees are nested objects; nothing is shared with the kernel. A feature is a column of codes with its numbers (None for
categories) and how many of its codes are known; codes above are missing.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

LEAST, SMALL, CONFIDENCE = 2, 1e-6, 0.25


@dataclass
class Feature:
    codes: np.ndarray
    n_known: int
    numbers: np.ndarray | None = None


@dataclass
class Tree:
    rows: np.ndarray
    feature: int | None = None
    cut: int = -1
    gap: int = 0
    sons: list[Tree] = field(default_factory=list)


class C45:
    """Learns a tree on some rows and some features."""

    def __init__(self, features, classes, n_classes):
        self.features, self.classes, self.n_classes = features, classes, n_classes

    def fit(self, rows, used):
        self.all_rows, self.used = rows, used
        tree = self.grow(rows)
        self.collapse(tree)
        self.prune(tree)
        return tree

    def counts(self, rows):
        return np.bincount(self.classes[rows], minlength=self.n_classes)

    def grow(self, rows):
        tree = Tree(rows)
        counts = self.counts(rows)
        if len(rows) < 2 * LEAST or counts.max() == len(rows):
            return tree
        splits = {f: split for f in self.used if (split := self.best_split(f, rows)) is not None}
        few = [f for f in splits if not self.many_valued(f)]
        if all(self.many_valued(f) for f in self.used):
            few = list(splits)
        if not few:
            return tree
        average = sum(splits[f][0] for f in few) / len(few)
        best, best_ratio = None, 0.0
        for f, (gain, ratio, _) in splits.items():
            if gain >= average - 1e-3 and ratio > best_ratio + SMALL:
                best, best_ratio = f, ratio
        if best is None:
            return tree
        tree.feature, tree.cut = best, splits[best][2]
        tree.sons = [self.grow(part) for part in self.parts(tree, rows)]
        return tree

    def many_valued(self, f):
        feature = self.features[f]
        return feature.numbers is None and not feature.n_known < 0.3 * len(self.all_rows) - SMALL

    def best_split(self, f, rows):
        """Gain, gain ratio and the cut; None where there is no split."""
        feature = self.features[f]
        mine = feature.codes[rows]
        known = rows[mine < feature.n_known]
        if feature.numbers is None:
            parts = [rows[mine == code] for code in range(feature.n_known)]
            if sum(len(part) >= LEAST for part in parts) < 2:
                return None
            gain = self.gain(parts, known, rows)
            return gain, self.ratio(gain, parts, rows), -1
        least = min(max(0.1 * len(known) / self.n_classes, LEAST), 25)
        values = sorted(set(feature.codes[known].tolist()))
        best, chosen, tried = 0.0, None, 0
        for low, high in itertools.pairwise(values):
            parts = [known[feature.codes[known] <= low], known[feature.codes[known] > low]]
            if min(map(len, parts)) >= least:
                tried += 1
                gain = self.gain(parts, known, rows)
                if gain > best + SMALL:
                    best, chosen = gain, (parts, low, high)
        if chosen is None or (gain := best - math.log2(tried) / len(rows)) < SMALL:
            return None
        parts, low, high = chosen
        middle = (feature.numbers[low] + feature.numbers[high]) / 2
        mine = feature.codes[self.all_rows]
        mine = mine[mine < feature.n_known]
        return gain, self.ratio(gain, parts, rows), int(mine[feature.numbers[mine] <= middle].max())

    def bits(self, rows):
        counts = self.counts(rows)
        shares = counts[counts > 0] / max(len(rows), 1)
        return -len(rows) * float((shares * np.log2(shares)).sum())

    def gain(self, parts, known, rows):
        saved = (self.bits(known) - sum(map(self.bits, parts))) * len(known) / len(rows)
        return saved / len(known) if abs(saved) >= SMALL else 0.0

    def ratio(self, gain, parts, rows):
        sizes = [len(part) for part in parts]
        sizes.append(len(rows) - sum(sizes))
        split = -sum(size / len(rows) * math.log2(size / len(rows)) for size in sizes if size)
        return gain / split if split * len(rows) >= SMALL else 0.0

    def branch(self, tree, row):
        feature = self.features[tree.feature]
        code = feature.codes[row]
        if code >= feature.n_known:
            return tree.gap
        return code if feature.numbers is None else int(code > tree.cut)

    def parts(self, tree, rows):
        """The rows of each branch; where missing values go is settled here, by the others."""
        feature = self.features[tree.feature]
        width = feature.n_known if feature.numbers is None else 2
        known = rows[feature.codes[rows] < feature.n_known]
        tree.gap = int(np.argmax(np.bincount([self.branch(tree, row) for row in known], minlength=width)))
        taken = np.array([self.branch(tree, row) for row in rows], dtype=int)
        return [rows[taken == branch] for branch in range(width)]

    def wrong(self, rows):
        return len(rows) - int(self.counts(rows).max())

    def leaves(self, tree):
        return [leaf for son in tree.sons for leaf in self.leaves(son)] if tree.sons else [tree]

    def collapse(self, tree):
        if tree.sons and sum(self.wrong(leaf.rows) for leaf in self.leaves(tree)) >= self.wrong(tree.rows) - 1e-3:
            tree.sons = []
        for son in tree.sons:
            self.collapse(son)

    def expected(self, rows):
        n, e = len(rows), self.wrong(rows)
        if n == 0:
            return 0.0
        if e == 0:
            return n * (1 - CONFIDENCE ** (1 / n))
        if e + 0.5 >= n:
            return float(n)
        z = NormalDist().inv_cdf(1 - CONFIDENCE)
        f = (e + 0.5) / n
        return n * (f + z**2 / (2 * n) + z * math.sqrt(f / n - f**2 / n + z**2 / (4 * n**2))) / (1 + z**2 / n)

    def expected_with(self, tree, rows):
        """Errors expected of a tree when other rows run through it."""
        if not tree.sons:
            return self.expected(rows)
        taken = np.array([self.branch(tree, row) for row in rows], dtype=int)
        return sum(self.expected_with(son, rows[taken == branch]) for branch, son in enumerate(tree.sons))

    def prune(self, tree):
        if not tree.sons:
            return
        for son in tree.sons:
            self.prune(son)
        sizes = [len(son.rows) for son in tree.sons]
        largest = tree.sons[max(range(len(sizes)), key=lambda i: (sizes[i], i))]
        raised = self.expected_with(largest, tree.rows)
        as_leaf = self.expected(tree.rows)
        as_tree = sum(self.expected(leaf.rows) for leaf in self.leaves(tree))
        if as_leaf <= as_tree + 0.1 + SMALL and as_leaf <= raised + 0.1 + SMALL:
            tree.sons = []
        elif raised <= as_tree + 0.1 + SMALL:
            tree.feature, tree.cut, tree.gap, tree.sons = largest.feature, largest.cut, largest.gap, largest.sons
            self.part_again(tree)
            self.prune(tree)

    def part_again(self, tree):
        if tree.sons:
            for son, rows in zip(tree.sons, self.parts(tree, tree.rows), strict=True):
                son.rows = rows
                self.part_again(son)

    def probabilities(self, tree, row):
        above = tree
        while tree.sons:
            above, tree = tree, tree.sons[self.branch(tree, row)]
        counts = self.counts((tree if len(tree.rows) else above).rows)
        return (counts + 1) / (counts.sum() + self.n_classes)

    def described(self, tree):
        """The tree as nested tuples: a leaf is its counts."""
        if not tree.sons:
            return tuple(self.counts(tree.rows).tolist())
        return tree.feature, tree.cut, tuple(self.described(son) for son in tree.sons)
