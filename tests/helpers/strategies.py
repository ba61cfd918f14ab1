# SPDX-License-Identifier: Apache-2.0
"""Random small tables, roles, hierarchies and trees for the property tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from shoal.data import Roles, Table, to_table
from shoal.data.target import as_categorical
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.release.node import renumber

LETTERS = "abcdef"


@dataclass(frozen=True)
class Case:
    """A table with roles and a declared domain, as the library takes it and as the oracle takes it."""

    rows: list[dict[str, Any]]
    roles: Roles
    domain: dict[str, list[Any]]
    hierarchies: dict[str, Any]

    @property
    def table(self) -> Table:
        columns = {name: [row[name] for row in self.rows] for name in self.rows[0]}
        kinds = {name: "categorical" if _is_text(values) else "numeric" for name, values in columns.items()}
        table = to_table(columns, kinds=kinds)
        return table.with_column(as_categorical(table[self.roles.target]))

    @property
    def public(self) -> set[str]:
        own = {self.roles.target} if self.roles.target_role == "public" else set()
        return set(self.roles.public) | own


def _is_text(values: list[Any]) -> bool:
    return all(value is None or isinstance(value, str) for value in values)


@st.composite
def cases(draw: st.DrawFn, max_rows: int = 16, private: bool | None = None, numeric: bool = True) -> Case:
    """A random table. `private` False leaves only the target private; None lets chance decide."""
    n_columns = draw(st.integers(1, 4))
    n_rows = draw(st.integers(2, max_rows))
    columns: dict[str, list[Any]] = {}
    domain: dict[str, list[Any]] = {}
    hierarchies: dict[str, Any] = {}
    for i in range(n_columns):
        name = f"c{i}"
        with_missing = draw(st.booleans()) and draw(st.booleans())
        if numeric and draw(st.booleans()):
            high = draw(st.integers(1, 5))
            values: list[Any] = list(range(high + 1))
            domain[name] = [0, high]
            if draw(st.booleans()):
                hierarchies[name] = {"intervals": draw(st.sampled_from([[1, 2], [2], [2, 4]]))}
        else:
            values = list(LETTERS[: draw(st.integers(2, 4))])
            domain[name] = values
            if draw(st.booleans()):
                hierarchies[name] = draw(_taxonomy(values))
        choices = values + ([None] if with_missing else [])
        column = draw(_column(choices, n_rows))
        if all(value is None for value in column):
            column[0] = values[0]
        columns[name] = column
    classes = ["n", "y", "z"][: draw(st.integers(2, 3))]
    domain["t"] = classes
    target = draw(_column(classes, n_rows))
    target[0], target[1] = classes[0], classes[1]
    columns["t"] = target
    names = [name for name in columns if name != "t"]
    hidden = [] if private is False else draw(st.lists(st.sampled_from(names), unique=True, max_size=len(names)))
    role = "private" if private is False else draw(st.sampled_from(["private", "private", "public"]))
    roles = Roles.resolve(list(columns), target="t", private=hidden, target_role=role)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return Case(rows, roles, domain, hierarchies)


def _column(choices: list[Any], n_rows: int) -> st.SearchStrategy[list[Any]]:
    """One value for each row. A byte a cell is one draw a column: a draw a cell costs more than the test itself."""
    return st.binary(min_size=n_rows, max_size=n_rows).map(lambda cells: [choices[c % len(choices)] for c in cells])


@st.composite
def _taxonomy(draw: st.DrawFn, values: list[str]) -> dict[str, Any]:
    cut = draw(st.integers(1, len(values) - 1))
    order = draw(st.permutations(values))
    return {"*": {"left": list(order[:cut]), "right": list(order[cut:])}}


@st.composite
def trees(draw: st.DrawFn, case: Case, max_nodes: int = 25) -> TreeRelease:
    """A random tree over the case's columns, with the counts of its rows; its paths may contradict themselves."""
    table = case.table
    attributes = []
    for name in (*case.roles.features, case.roles.target):
        column = table[name]
        role = "public" if case.roles.of(name) == "public" else "private"
        if column.kind == "categorical":
            attribute = Attribute(name, role, "categorical", values=tuple(case.domain[name]), missing=column.missing)
        else:
            low, high = case.domain[name]
            attribute = Attribute(
                name, role, "numeric", bounds=(low, high), integer=draw(st.booleans()), missing=column.missing
            )
        attributes.append(attribute)
    nodes: list[Any] = [None]
    open_nodes = [0]
    while open_nodes:
        number = open_nodes.pop(draw(st.integers(0, len(open_nodes) - 1)))
        if len(nodes) >= max_nodes or draw(st.integers(0, 3)) == 0:
            continue
        attribute = draw(st.sampled_from(attributes[:-1]))
        branches = draw(_branches(attribute, len(nodes)))
        nodes[number] = (attribute.name, branches)
        open_nodes.extend(range(len(nodes), len(nodes) + len(branches)))
        nodes.extend([None] * len(branches))
    classes = tuple(case.domain["t"])
    made = tuple(
        Node(counts=(1,) * len(classes)) if node is None else Node(attribute=node[0], branches=tuple(node[1]))
        for node in nodes
    )
    release = TreeRelease("t", tuple(attributes), ({"requirement": "k-anonymity", "k": 2},), renumber(made))
    return _with_counts(release, case, table)


def _with_counts(release: TreeRelease, case: Case, table: Table) -> TreeRelease:
    ends = release.apply(table)
    counts = {leaf: [0] * len(release.classes) for leaf in release.leaves}
    for end, row in zip(ends, case.rows, strict=True):
        counts[int(end)][release.classes.index(row["t"])] += 1
    nodes = tuple(Node(counts=tuple(counts[i])) if node.is_leaf else node for i, node in enumerate(release.nodes))
    return TreeRelease(release.target, release.attributes, release.claims, nodes)


@st.composite
def _branches(draw: st.DrawFn, attribute: Attribute, first: int) -> list[Branch]:
    """Branches that cover the whole attribute, each value once."""
    if attribute.type == "categorical":
        parts = draw(_parts(list(attribute.values)))
        made: list[dict[str, Any]] = [{"values": tuple(part)} for part in parts]
    else:
        assert attribute.bounds is not None
        cuts = sorted(draw(st.sets(st.sampled_from([-0.5, 0.5, 1, 1.5, 2.5, 3, 4.5]), min_size=1, max_size=3)))
        ends: list[float | None] = [None, *cuts, None]
        pieces = [Interval(ends[i], ends[i + 1]) for i in range(len(ends) - 1)]
        made = [{"intervals": tuple(part)} for part in draw(_parts(pieces))]
    if attribute.missing:
        chosen = draw(st.integers(0, len(made)))
        if chosen == len(made):
            made.append({})
        made[chosen]["missing"] = True
    return [Branch(first + i, **branch) for i, branch in enumerate(made)]


@st.composite
def _parts(draw: st.DrawFn, values: list[Any]) -> list[list[Any]]:
    n = draw(st.integers(1, len(values)))
    where = [draw(st.integers(0, n - 1)) for _ in values]
    parts = [[value for value, at in zip(values, where, strict=True) if at == i] for i in range(n)]
    return [part for part in parts if part]
