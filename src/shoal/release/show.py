# SPDX-License-Identifier: Apache-2.0
"""A released tree for the eye: text for a terminal, HTML for a notebook, a data frame. All tell the same facts.

`lines` and `to_frame` are methods of a `TreeRelease` too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from shoal.data.frames import Backend, from_columns
from shoal.release.statement import WORDS

if TYPE_CHECKING:
    from shoal.release.tree import TreeRelease

MOST_CLASSES = 4  # more classes than these are summed up by the largest


def tree_text(release: TreeRelease, most_lines: int = 200) -> str:
    """The tree, one line a node, with what it states of each leaf."""
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
    if release.statement == "counts":
        said = f"{release.n_people:,} {'different people' if release.several_rows else 'people'}"
    else:
        said = f"{WORDS[release.statement]}{' among different people' if release.several_rows else ''}"
    if release.weights is not None:
        said += f"; {weights_text(release)}"
    return f"{release.target}: {leaves}, {said}; claimed: {release.requirement.describe()}"


def weights_text(release: TreeRelease) -> str:
    """The weights of the classes, where they are few enough to be read."""
    assert release.weights is not None
    if len(release.classes) > MOST_CLASSES:
        return "classes have weights"
    pairs = zip(release.classes, release.weights, strict=True)
    return "weights " + ", ".join(f"{value} {weight:.4g}" for value, weight in pairs)


def leaf_text(release: TreeRelease, number: int) -> str:
    """What a leaf states: its people or shares by class and, where classes have weights, the class it predicts."""
    node, answer = release.nodes[number], str(release.classes[release.answers[number]])
    if node.counts is not None:
        people = sum(node.counts)
        text = _by_class(release.classes, node.counts, "{:,}", f" of {people:,}") if people else "nobody"
    elif node.shares is not None:
        text = _by_class(release.classes, node.shares, "{:.1%}", "")
    else:
        return answer
    return text if release.weights is None else f"{text}; predicts {answer}"


def _by_class(classes: Sequence[str], numbers: Sequence[float], form: str, of: str) -> str:
    """A number for each class or, of many classes, the largest."""
    if len(numbers) <= MOST_CLASSES:
        return ", ".join(f"{value} {form.format(each)}" for value, each in zip(classes, numbers, strict=True))
    top = max(range(len(numbers)), key=numbers.__getitem__)
    return f"{classes[top]} {form.format(numbers[top])}{of}"


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
    """One row a leaf: its number, its path in words, the class it predicts, its people and the count of each class.

    Where the release states less there are shares instead of people and counts, or neither. `backend` names the data
    frame library: ``"pandas"``, ``"polars"`` or ``"pyarrow"``. With several rows a person, people are those of each
    class added up.
    """
    leaves = list(release.leaves)
    columns: dict[str, Any] = {
        "leaf": leaves,
        "path": [release.describe_node(leaf) for leaf in leaves],
        "predict": release.labels[release.answers[leaves]].tolist(),
    }
    nodes = [release.nodes[leaf] for leaf in leaves]
    if release.statement == "counts":
        columns["people"] = [sum(node.counts or ()) for node in nodes]
    for i, value in enumerate(release.classes if release.statement != "majority" else ()):
        columns[f"{release.target}={value}"] = [(node.counts or node.shares or ())[i] for node in nodes]
    return from_columns(columns, backend)


def _is_leaf(release: TreeRelease, number: int) -> bool:
    return release.nodes[number].is_leaf
