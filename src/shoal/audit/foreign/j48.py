# SPDX-License-Identifier: Apache-2.0
"""Trees of Weka's J48 as subjects of an audit, from the text that Weka prints.

J48 puts a part of somebody whose value is missing into every branch of a test, and goes on with each. So his bin is the
set of leaves that he is in. People have the same span exactly when the same tests are open to them and go the same
ways; a missing public value is one more way, that of all branches together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.assumed import stated_domain
from shoal.audit.foreign.j48_text import J48Tree, Leaf, Split, parse
from shoal.audit.groups import Groups, Ids, Spans, numbered
from shoal.audit.result import SHOWN, Finding
from shoal.audit.spans import TreeSpans
from shoal.audit.subject import Subject
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical
from shoal.errors import DataError, closest
from shoal.privacy import Requirement
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.release.verdict import fingerprint


@dataclass(frozen=True)
class J48Model:
    """A tree of Weka's J48 as the text that Weka prints, alone or with what stands around it.

    >>> J48Model("J48 pruned tree")
    <J48 tree, 15 characters>
    """

    text: str

    def __repr__(self) -> str:
        return f"<J48 tree, {len(self.text)} characters>"


def read(model: Any, table: Table, target: Column | None, domain: Mapping[str, Sequence[Any]] | None) -> Subject | None:
    """Take the text of a J48 tree; None for any other model."""
    if not isinstance(model, J48Model) or target is None:
        return None
    return J48Subject(parse(model.text, table.names), table, as_categorical(target), domain)


class J48Subject(Subject):
    """A tree of J48 over the columns of a table."""

    separable = True

    def __init__(
        self, tree: J48Tree, table: Table, target: Column, domain: Mapping[str, Sequence[Any]] | None = None
    ) -> None:
        n = len(tree.leaves)
        self.tree = tree
        self.what = f"a J48 tree of {n:,} lea{'f' if n == 1 else 'ves'}"
        self.target = target.name
        self.labels = _classes(tree, target)
        self._target = Attribute.of(target, "private")
        self._categorical = frozenset(name for name, tests in tree.tests.items() if tests[0].threshold is None)
        self.domain = _domain(tree, self.own(table), domain)
        self._values = {name: frozenset(attribute.values) for name, attribute in self.domain.items()}
        self.sha256 = fingerprint({"kind": "j48", "tree": hashlib.sha256(repr(tree.nodes).encode()).hexdigest()})
        self._last: tuple[Table, frozenset[str], Spans] | None = None

    def own(self, table: Table) -> Table:
        """The rows, with numbers as categories where the tree asks for single values."""
        for name in self.tree.tests:
            if name not in table:
                raise DataError("no-column", f"The tree asks for column {name!r}.{closest(name, table)}")
            numeric = table[name].kind == "numeric"
            if not numeric and name not in self._categorical:
                raise DataError(
                    "column-kind", f"Column {name!r} is categorical here, and the tree compares it with numbers."
                )
            if numeric and name in self._categorical:
                table = table.with_column(as_categorical(table[name]))
        return table

    # ------------------------------------------------------------------------------------------ the interface

    def bins(self, table: Table) -> Ids:
        """A number for the leaves of every row."""
        return self.spans(table, list(self.domain)).of_row

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """The span of every row for an attacker who knows `public`."""
        known = frozenset(public) & set(self.domain)
        if self._last is None or self._last[0] is not table or self._last[1] != known:
            self._last = (table, known, self._look(self.own(table), known))
        return self._last[2]

    def group_words(self, table: Table, public: Collection[str], row: int) -> tuple[str, tuple[int, ...]]:
        """The public tests that a person is put to, and the last of them."""
        own = self.own(table.take(np.array([row])))
        words: dict[str, None] = {}
        last, stack = -1, [0]
        while stack:
            number = stack.pop()
            node = self.tree.nodes[number]
            if isinstance(node, Leaf):
                continue
            way = None
            if node.attribute in public:
                last = max(last, number)
                way = _way(node, own[node.attribute])
                taken = "(missing)" if way is None else self._branch(node, way).condition()
                words.setdefault(f"{node.attribute} {taken}")
            stack += node.ways if way is None else [node.ways[way]]
        shown = list(words)[:SHOWN] + ([f"{len(words) - SHOWN} more tests"] if len(words) > SHOWN else [])
        return " and ".join(shown) or "everybody", () if last < 0 else (last,)

    def findings(
        self, table: Table, public: Collection[str], groups: Groups, requirement: Requirement
    ) -> list[Finding]:
        """Whether these are the training rows, by the people and misses that are printed."""
        if self.tree.sampled or self.target is None:
            return []
        own = self.own(table)
        if any(_gaps(own[name]).any() for name in self.domain):
            # parts of people are printed rounded; only everybody together can be compared
            printed = sum(leaf.people for leaf in self.tree.leaves)
            same = abs(printed - table.n_rows) <= 0.005 * len(self.tree.leaves) + 1e-6
            return [] if same else [_other_rows("All leaves together have")]
        target = as_categorical(table[self.target])
        counts, place = self.leaf_counts(own, target), {name: i for i, name in enumerate(target.names)}
        differ = []
        for number, node in enumerate(self.tree.nodes):
            if isinstance(node, Leaf):
                people = int(counts[number].sum())
                hit = int(counts[number][place[node.label]])
                if (people, people - hit) != (node.people, node.miss):
                    differ.append(number)
        if not differ:
            return []
        leaves = f"{len(differ):,} lea{'f has' if len(differ) == 1 else 'ves have'}"
        return [replace(_other_rows(leaves), nodes=tuple(differ[:SHOWN]))]

    # ------------------------------------------------------------------------------------------ as a release

    def leaf_counts(self, own: Table, target: Column) -> Ids:
        """How many rows of each class end in each node; nobody's tested values may be missing."""
        ends = self._release(frozenset(self.domain)).routing.apply(own)
        size = len(self.tree.nodes) * target.n_codes
        return np.bincount(ends * target.n_codes + target.codes, minlength=size).reshape(-1, target.n_codes)

    def to_release(self) -> TreeRelease:
        """The tree as a release that states the classes it predicts; it claims nothing, and nobody has audited it.

        A missing value goes the way of most people, since a release sends nobody several ways.
        """
        hits = np.zeros((len(self.tree.nodes), len(self.labels)))
        people = np.zeros(len(self.tree.nodes))
        nodes = self._nodes()
        for number in reversed(range(len(nodes))):
            node, branches = self.tree.nodes[number], list(nodes[number].branches)
            if isinstance(node, Leaf):
                answer = self.labels.index(node.label)
                hits[number, answer], people[number] = node.hit, node.people
            else:
                below = list(node.ways)
                hits[number], people[number] = hits[below].sum(axis=0), people[below].sum()
                answer = int(hits[number].argmax())
                if self.domain[node.attribute].missing:
                    most = int(people[below].argmax())
                    branches[most] = replace(branches[most], missing=True)
            nodes[number] = Node(nodes[number].attribute, tuple(branches), answer=answer)
        return TreeRelease(self._target.name, (*self.domain.values(), self._target), (), tuple(nodes))

    def _nodes(self) -> list[Node]:
        """The tree in the terms of its columns, without a way for missing values."""
        return [
            Node(counts=(0, 0))
            if isinstance(node, Leaf)
            else Node(node.attribute, tuple(self._branch(node, way) for way in range(len(node.ways))))
            for node in self.tree.nodes
        ]

    def _branch(self, node: Split, way: int) -> Branch:
        child = node.ways[way]
        if node.threshold is not None:
            ends = (None, node.threshold) if way == 0 else (node.threshold, None)
            return Branch(child, intervals=(Interval(*ends),))
        named = in_terms_of(self._values[node.attribute], node.values[0 if node.binary else way])
        if node.binary and way == 1:
            return Branch(child, values=tuple(v for v in self.domain[node.attribute].values if v != named))
        return Branch(child, values=(named,))

    # ------------------------------------------------------------------------------------------ spans

    @cached_property
    def _with_gaps(self) -> tuple[tuple[Node, ...], dict[int, str]]:
        """The nodes with one more leaf for those whose value is missing, after every test where there may be any."""
        nodes = self._nodes()
        column_of_leaf: dict[int, str] = {}
        for number, node in enumerate(list(nodes)):
            if node.attribute is not None and self.domain[node.attribute].missing:
                column_of_leaf[len(nodes)] = node.attribute
                nodes[number] = replace(node, branches=(*node.branches, Branch(len(nodes), missing=True)))
                nodes.append(Node(counts=(0, 0)))
        return tuple(nodes), column_of_leaf

    def _release(self, public: frozenset[str]) -> TreeRelease:
        """A tree whose spans tell people apart as the J48 tree does.

        Who may have no value of a column may be in every branch, so no branch of it is impossible.
        """
        attributes = [
            _unbounded(attribute, self.tree.tests[name]) if attribute.missing or name in public else attribute
            for name, attribute in self.domain.items()
        ]
        target = Attribute(str(self.target), "private", "categorical", values=("a", "b"))
        return TreeRelease(str(self.target), (*attributes, target), (), self._with_gaps[0])

    def _look(self, own: Table, public: frozenset[str]) -> Spans:
        names = [name for name in self.domain if name in public]
        gaps = np.array([_gaps(own[name]) for name in names]).reshape(len(names), own.n_rows)
        release, column_of_leaf = self._release(public), self._with_gaps[1]
        # a missing value that no open test asks for tells nothing, so it is taken for any other value
        for pattern, rows in _patterns(gaps):
            if pattern.any():
                hidden = {name for name, gap in zip(names, pattern, strict=True) if gap}
                spans = TreeSpans(release, public - hidden)
                found = spans.spans(own.take(rows))
                reached = [{column_of_leaf.get(leaf) for leaf in spans.leaves_of(int(i))} for i in found.example]
                for i, name in enumerate(names):
                    gaps[i, rows] &= np.array([name in each for each in reached])[found.of_row]
        keys, single = np.zeros(own.n_rows, dtype=np.int64), np.zeros(own.n_rows, dtype=bool)
        disjoint, taken = True, 0
        asked_privately = set(self.domain) - public
        for pattern, rows in _patterns(gaps):
            hidden = {name for name, gap in zip(names, pattern, strict=True) if gap}
            some = _filled(own.take(rows), [name for name in names if name not in hidden])
            spans = TreeSpans(release, public - hidden)
            found = spans.spans(some)
            keys[rows] = found.of_row + taken
            taken += len(found)
            n_bins = found.n_bins
            if hidden:  # the leaves of one person are one bin, if nothing private is asked on the way to them
                n_bins = np.array([1 + self._is_open(spans.leaves_of(int(i)), asked_privately) for i in found.example])
            single[rows] = n_bins[found.of_row] == 1
            # a set of leaves with parts of somebody is no set of anybody who has another value missing
            disjoint &= found.disjoint or not asked_privately
        return Spans.numbered(keys, single, disjoint=disjoint)

    def _is_open(self, leaves: Sequence[int], private: Collection[str]) -> bool:
        """Whether a private test stands above one of some leaves."""
        above: set[int] = set()
        for number in leaves:
            while number >= 0 and number not in above:
                above.add(number)
                number = int(self._parents[number])
        return any(self._with_gaps[0][number].attribute in private for number in above)

    @cached_property
    def _parents(self) -> Ids:
        nodes = self._with_gaps[0]
        parents = np.full(len(nodes), -1, dtype=np.int64)
        for number, node in enumerate(nodes):
            for branch in node.branches:
                parents[branch.node] = number
        return parents


def in_terms_of(values: Collection[str], text: str) -> str:
    """The value that a text of Weka stands for: itself, or without the quotes that a filter of Weka put around it."""
    if text in values or len(text) < 2 or text[0] != text[-1] or text[0] not in "'\"":
        return text
    bare = text[1:-1].replace("\\'", "'").replace('\\"', '"').replace("\\\\", "\\")
    return bare if bare in values else text


def _classes(tree: J48Tree, target: Column) -> tuple[str, ...]:
    unknown = {leaf.label for leaf in tree.leaves} - set(target.names)
    if unknown:
        raise DataError(
            "other-target",
            f"The tree predicts {len(unknown)} class(es) that column {target.name!r} has not: it was taught another "
            "target, or with other rows.",
        )
    return target.names


def _domain(tree: J48Tree, own: Table, domain: Mapping[str, Sequence[Any]] | None) -> dict[str, Attribute]:
    """The columns that the tree asks for. Values that it names are possible, whoever has them."""
    stated = stated_domain(own, [name for name in own.names if name in tree.tests], domain)
    for name, attribute in stated.items():
        tests = tree.tests[name]
        if tests[0].threshold is not None:
            continue
        known = frozenset(attribute.values)
        named = dict.fromkeys(in_terms_of(known, value) for test in tests for value in test.values)
        values = (*attribute.values, *(value for value in named if value not in known))
        for test in tests:
            listed = {in_terms_of(known, value) for value in test.values}
            if not test.binary and len(listed) < len(test.values):
                raise DataError("model-categories", f"The tree names a value of column {name!r} twice, in quotes too.")
            strange = 0 if test.binary else len(set(values) - listed)
            if strange:
                raise DataError(
                    "model-categories",
                    f"Column {name!r} has {strange} value(s) that a test of the tree does not name. Give the very rows "
                    "it was trained on.",
                )
        stated[name] = replace(attribute, values=values)
    return stated


def _unbounded(attribute: Attribute, tests: Sequence[Split]) -> Attribute:
    """The attribute, with numbers on both sides of every threshold."""
    thresholds = [test.threshold for test in tests if test.threshold is not None]
    if attribute.bounds is None or not thresholds:
        return attribute
    low, high = attribute.bounds
    top = float(np.nextafter(max(thresholds), np.inf)) if not attribute.integer else np.floor(max(thresholds)) + 1.0
    bottom = min(thresholds) if not attribute.integer else float(np.floor(min(thresholds)))
    return replace(attribute, bounds=(min(low, bottom), max(high, float(top))))


def _gaps(column: Column) -> NDArray[np.bool_]:
    """Which rows have no value."""
    return np.asarray(column.codes == len(column.values)) & column.missing


def _patterns(gaps: NDArray[np.bool_]) -> list[tuple[NDArray[np.bool_], Ids]]:
    """The different columns of a matrix, each with the places where it stands."""
    key = numbered(list(gaps), gaps.shape[1])
    order = np.argsort(key, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(key[order])) + 1)
    return [(gaps[:, rows[0]], rows) for rows in parts if len(rows)]


def _filled(rows: Table, names: Sequence[str]) -> Table:
    """The rows with any value for a missing one."""
    for name in names:
        column = rows[name]
        gaps = _gaps(column)
        if gaps.any():
            rows = rows.with_column(replace(column, codes=np.where(gaps, 0, column.codes)))
    return rows


def _way(node: Split, column: Column) -> int | None:
    """The way that the only value of a column takes; None where it is missing."""
    code = int(column.codes[0])
    if code >= len(column.values):
        return None
    if node.threshold is not None:
        return int(column.numbers[code] > node.threshold)
    named = [in_terms_of(column.names, value) for value in node.values]
    if node.binary:
        return int(column.names[code] != named[0])
    return named.index(column.names[code])


def _other_rows(who: str) -> Finding:
    return Finding(
        "counts-differ",
        "breach",
        f"{who} another number of people than these rows give, or of another class. Audit the tree with the very rows "
        "it was trained on; Weka prints thresholds with six decimals, so columns with more do not fit either.",
    )
