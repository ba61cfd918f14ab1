# SPDX-License-Identifier: Apache-2.0
"""Random small tables, roles, hierarchies and trees for the property tests."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

from hypothesis import strategies as st

from shoal.data import Roles, Table, to_table
from shoal.data.target import as_categorical
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.release.node import renumber

LETTERS = "abcdef"
CUTS = [cuts for n in (1, 2, 3) for cuts in combinations([-0.5, 0.5, 1, 1.5, 2.5, 3, 4.5], n)]


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


def _bytes(n: int) -> st.SearchStrategy[bytes]:
    """So many small choices in one draw, each taken modulo what there is to choose from.

    A draw of hypothesis costs as much as a small test does, and a byte shrinks as well as a draw of its own.
    """
    return st.binary(min_size=n, max_size=n)


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
        kind, missing, size, ladder, *cells = draw(_bytes(4 + n_rows))
        if numeric and kind % 2:
            values: list[Any] = list(range(2 + size % 5))
            domain[name] = [0, values[-1]]
            made: dict[str, Any] = {"intervals": [[1, 2], [2], [2, 4]][ladder // 2 % 3]}
        else:
            values = list(LETTERS[: 2 + size % 3])
            domain[name] = values
            made = _taxonomy(values, ladder // 2)
        if ladder % 2:
            hierarchies[name] = made
        choices = [*values, None] if missing % 4 == 3 else values
        column = [choices[cell % len(choices)] for cell in cells]
        if all(value is None for value in column):
            column[0] = values[0]
        columns[name] = column
    n_classes, hiding, *cells = draw(_bytes(2 + n_rows))
    classes = ["n", "y", "z"][: 2 + n_classes % 2]
    domain["t"] = classes
    target = [classes[cell % len(classes)] for cell in cells]
    target[0], target[1] = classes[0], classes[1]
    hidden = [] if private is False else [name for i, name in enumerate(columns) if hiding >> i & 1]
    role = "public" if private is not False and hiding // 16 % 3 == 2 else "private"
    columns["t"] = target
    roles = Roles.resolve(list(columns), target="t", private=hidden, target_role=role)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return Case(rows, roles, domain, hierarchies)


def _taxonomy(values: list[str], which: int) -> dict[str, Any]:
    """Two groups of the values: every way there is to cut every order of them has its number."""
    orders = list(permutations(values))
    cut = 1 + which % (len(values) - 1)
    order = orders[which // (len(values) - 1) % len(orders)]
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
        place, grows, tested = draw(_bytes(3))
        number = open_nodes.pop(place % len(open_nodes))
        if len(nodes) >= max_nodes or grows % 4 == 0:
            continue
        attribute = attributes[tested % (len(attributes) - 1)]
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
        values: list[Any] = list(attribute.values)
    else:
        ends: list[float | None] = [None, *draw(st.sampled_from(CUTS)), None]
        values = [Interval(ends[i], ends[i + 1]) for i in range(len(ends) - 1)]
    n_parts, missing, *where = draw(_bytes(2 + len(values)))
    parts: dict[int, list[Any]] = {}
    for value, at in zip(values, where, strict=True):
        parts.setdefault(at % (1 + n_parts % len(values)), []).append(value)
    key = "values" if attribute.type == "categorical" else "intervals"
    made: list[dict[str, Any]] = [{key: tuple(part)} for _, part in sorted(parts.items())]
    if attribute.missing:
        chosen = missing % (len(made) + 1)
        if chosen == len(made):
            made.append({})
        made[chosen]["missing"] = True
    return [Branch(first + i, **branch) for i, branch in enumerate(made)]
