# SPDX-License-Identifier: Apache-2.0
"""A released tree for the eye: text for a terminal, HTML for a notebook, a data frame. All tell the same facts.

`lines` and `to_frame` are methods of a `TreeRelease` too.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

from shoal.data.frames import Backend, from_columns

if TYPE_CHECKING:
    from shoal.release.tree import TreeRelease

MOST_CLASSES = 4  # more classes than these are summed up by the largest


def tree_text(release: TreeRelease, most_lines: int = 200) -> str:
    """The tree, one line a node, with the people of each leaf."""
    told = [headline(release)]
    for number, depth, test in lines(release):
        if depth:
            people = f": {leaf_text(release, number)}" if _is_leaf(release, number) else ""
            told.append("  " * (depth - 1) + test + people)
        elif _is_leaf(release, number):
            told.append(f"everybody: {leaf_text(release, number)}")
        if len(told) > most_lines:
            told.append(f"… {len(release.nodes) - most_lines:,} more nodes")
            break
    return "\n".join(told)


def lines(release: TreeRelease) -> Iterator[tuple[int, int, str]]:
    """The tree in reading order: node, depth, the test that leads to it."""
    stack = [(0, 0, "")]
    while stack:
        number, depth, test = stack.pop()
        yield number, depth, test
        node = release.nodes[number]
        for branch in reversed(node.branches):
            stack.append((branch.node, depth + 1, f"{node.attribute} {branch.condition()}"))


def headline(release: TreeRelease) -> str:
    """What the release is and what it claims, in a line."""
    n_leaves = len(release.leaves)
    leaves = "1 leaf" if n_leaves == 1 else f"{n_leaves:,} leaves"
    return f"{release.target}: {leaves}, {release.n_people:,} people; claimed: {release.requirement.describe()}"


def leaf_text(release: TreeRelease, number: int) -> str:
    """The people of a leaf by class."""
    counts = release.counts[number]
    if not counts.any():
        return "nobody"
    if len(counts) <= MOST_CLASSES:
        return ", ".join(f"{value} {count:,}" for value, count in zip(release.classes, counts, strict=True))
    top = int(counts.argmax())
    return f"{release.classes[top]} {counts[top]:,} of {int(counts.sum()):,}"


def tree_html(release: TreeRelease) -> str:
    """The tree as nested lists that fold."""
    parts = [f"<div class='shoal-tree'><p>{escape(headline(release))}</p><ul>"]
    depth_before = 0
    for number, depth, test in lines(release):
        parts.append("</ul></details></li>" * (depth_before - depth))
        depth_before = depth
        words = escape(test or "everybody")
        if _is_leaf(release, number):
            parts.append(f"<li>{words}: <b>{escape(leaf_text(release, number))}</b></li>")
        else:
            parts.append(f"<li><details open><summary>{words}</summary><ul>")
            depth_before = depth + 1
    parts.append("</ul></details></li>" * depth_before)
    parts.append("</ul></div>")
    return "".join(parts)


def to_frame(release: TreeRelease, backend: Backend = "pandas") -> Any:
    """One row a leaf: its number, its path in words, its people and the count of each class.

    `backend` names the data frame library: ``"pandas"``, ``"polars"`` or ``"pyarrow"``.
    """
    leaves = list(release.leaves)
    columns: dict[str, Any] = {
        "leaf": leaves,
        "path": [release.describe_node(leaf) for leaf in leaves],
        "people": release.counts[leaves].sum(axis=1).tolist(),
    }
    for position, value in enumerate(release.classes):
        columns[f"{release.target}={value}"] = release.counts[leaves, position].tolist()
    return from_columns(columns, backend)


def _is_leaf(release: TreeRelease, number: int) -> bool:
    return release.nodes[number].is_leaf
