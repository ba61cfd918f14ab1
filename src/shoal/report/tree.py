# SPDX-License-Identifier: Apache-2.0
"""The tree of a report: nodes that fold, leaves with a small bar, guilty nodes marked in words and colour."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

from shoal.release import TreeRelease
from shoal.release.show import leaf_text, weights_text
from shoal.report.draw import CLASS_COLOURS, class_bar, class_colour
from shoal.report.layout import ALL_OPEN, TreeNode, outline

PRINTED_WHOLE = 200  # nodes of a tree that is unfolded on paper
STATED = {
    "counts": "How many people of each class are in each leaf, as released.",
    "shares": "The share of each class in each leaf, as released.",
    "majority": "The class that each leaf predicts, as released.",
}


def tree_section(release: TreeRelease, guilty: Collection[int], *, counted: str = "people") -> str:
    """The whole section, legend and notes included; `counted` is what the counts of a tree are that is drawn only."""
    parts = [_intro(release, counted), _legend(release.classes) if release.statement != "majority" else ""]
    whole = " whole" if len(release.nodes) <= PRINTED_WHOLE else ""
    parts.append(f'<div class="tree{whole}">')
    open_nodes: list[list[int]] = []  # for every node that is open: children to come, nodes not shown
    hidden = 0
    for node in outline(release, guilty):
        hidden += node.hidden
        if node.children:
            parts.append(_summary(release, node))
            open_nodes.append([node.children, node.hidden])
            continue
        parts.append(_single(release, node))
        while open_nodes:
            open_nodes[-1][0] -= 1
            if open_nodes[-1][0]:
                break
            parts.append(_cut(open_nodes.pop()[1]) + "</details>")
    parts.append("</div>")
    if hidden:
        some = f"{hidden:,} of {len(release.nodes):,} nodes are not shown here; the file has them all."
        parts.insert(1, f'<p class="note">{some}</p>')
    return "".join(parts)


def _intro(release: TreeRelease, counted: str) -> str:
    text = STATED[release.statement]
    if not release.claims:  # drawn for an audit, and not released
        text = f"How many {counted} of each class are in each leaf. Of tests on private columns no value is shown."
    if release.weights is not None:
        text += f" For predictions: {weights_text(release)}."
    if len(release.nodes) > ALL_OPEN:
        text += " Click a line to unfold it."
    return f'<h2>The tree</h2><p class="soft">{text}</p>'


def _legend(classes: tuple[str, ...]) -> str:
    named = list(classes[: len(CLASS_COLOURS)])
    if len(classes) > len(named):
        named.append(f"{len(classes) - len(named):,} others")
    items = "".join(
        '<span><svg width="11" height="11" aria-hidden="true">'
        f'<rect width="11" height="11" fill="{class_colour(i)}"/></svg>{escape(name)}</span>'
        for i, name in enumerate(named)
    )
    return f'<p class="legend small">{items}</p>'


def _summary(release: TreeRelease, node: TreeNode) -> str:
    return (
        f'<details{_class("", node)} id="node-{node.number}"{" open" if node.unfolded else ""}>'
        f"<summary>{_text(release, node)}</summary>"
    )


def _single(release: TreeRelease, node: TreeNode) -> str:
    """A leaf, or a node nothing below which is shown."""
    below = "" if node.is_leaf else _cut(node.hidden)
    return f'<div{_class("leaf", node)} id="node-{node.number}">{_text(release, node)}{below}</div>'


def _class(name: str, node: TreeNode) -> str:
    names = " ".join(part for part in (name, "guilty" if node.guilty else "") if part)
    return f' class="{names}"' if names else ""


def _text(release: TreeRelease, node: TreeNode) -> str:
    words = escape(node.test) if node.test else "everybody"
    mark = ' <span class="tag bad">named in a breach</span>' if node.guilty else ""
    if node.people == 0:
        return f'{words}: <span class="soft">nobody</span>{_id(node)}{mark}'
    bar = f"{class_bar(node.stated)} " if node.stated else ""
    if not node.is_leaf:
        people = "" if node.people is None else f"<span class='soft'>{node.people:,}</span>"
        return f"{words} {bar}{people}{_id(node)}{mark}"
    return f"{words}: {bar}{escape(leaf_text(release, node.number))}{_id(node)}{mark}"


def _id(node: TreeNode) -> str:
    return f' <span class="id">#{node.number}</span>'


def _cut(hidden: int) -> str:
    if not hidden:
        return ""
    nodes = "1 more node" if hidden == 1 else f"{hidden:,} more nodes"
    return f'<div class="cut soft small">… {nodes} below, not shown</div>'
