# SPDX-License-Identifier: Apache-2.0
"""A released tree in the words of other tools.

Each function takes a `TreeRelease` and is a method of it too. What leaves says what the release says and no more; it
carries no verdict, so audit the release first.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from shoal.errors import ReleaseError
from shoal.release.export_pmml import to_pmml
from shoal.release.export_sql import to_spark, to_sql
from shoal.release.show import headline, leaf_text, tree_text

if TYPE_CHECKING:
    from shoal.release.export_sklearn import ReleasedTreeClassifier
    from shoal.release.tree import TreeRelease, Unknown

__all__ = ["to_dot", "to_nested", "to_pmml", "to_sklearn", "to_spark", "to_sql", "to_text"]


def to_text(release: TreeRelease) -> str:
    """The whole tree as text, one line a node; `print` stops after 200 lines.

    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> tree = AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes")
    >>> print(tree.release_.to_text())
    diabetes: 2 leaves, 5,000 people; claimed: every group has at least 1500 people
    age at most 47.5: no 2,402, yes 117
    age above 47.5: no 1,583, yes 898
    """
    return tree_text(release, most_lines=len(release.nodes) + 1)


def to_nested(release: TreeRelease) -> dict[str, Any]:
    """The tree as nested plain data, ready for JSON.

    A split has ``attribute`` and ``branches``; a branch has ``values``, ``above``, ``at_most``, ``intervals`` or
    ``missing`` as in the release's file, perhaps a ``label``, and its ``node``. A leaf has ``counts`` or ``shares``, or
    neither, as the release states them. Both have ``predict``: on a split it is the answer for a value that no branch
    takes.

    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> tree = AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes").release_.to_nested()
    >>> tree["attribute"], tree["branches"][0]
    ('age', {'at_most': 47.5, 'node': {'counts': {'no': 2402, 'yes': 117}, 'predict': 'no'}})
    """
    answers = release.labels[release.answers].tolist()
    made: list[dict[str, Any]] = [{} for _ in release.nodes]
    # a branch leads to a higher number, so from the last to the first every child is ready before its parent
    for number in range(len(release.nodes) - 1, -1, -1):
        node = release.nodes[number]
        made[number] = node.to_json(release.classes)
        if not node.is_leaf:
            made[number]["branches"] = [{**branch.to_json(), "node": made[branch.node]} for branch in node.branches]
        made[number]["predict"] = answers[number]
    return made[0]


def to_dot(release: TreeRelease) -> str:
    """The tree as Graphviz source: save it as ``tree.dot`` and run ``dot -Tsvg tree.dot``.

    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> tree = AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes")
    >>> print(tree.release_.to_dot())
    digraph "diabetes" {
      graph [rankdir=LR, label="diabetes: 2 leaves, 5,000 people; claimed: every group has at least 1500 people"];
      node [shape=box, fontname="Helvetica", fontsize=11];
      edge [fontname="Helvetica", fontsize=10];
      n0 [label="age"];
      n1 [label="no 2,402, yes 117", style=rounded];
      n2 [label="no 1,583, yes 898", style=rounded];
      n0 -> n1 [label="at most 47.5"];
      n0 -> n2 [label="above 47.5"];
    }
    """
    lines = [
        f"digraph {_dot(release.target)} {{",
        f"  graph [rankdir=LR, label={_dot(headline(release))}];",
        '  node [shape=box, fontname="Helvetica", fontsize=11];',
        '  edge [fontname="Helvetica", fontsize=10];',
    ]
    for number, node in enumerate(release.nodes):
        text, style = (leaf_text(release, number), ", style=rounded") if node.is_leaf else (node.attribute or "", "")
        lines.append(f"  n{number} [label={_dot(text)}{style}];")
    for number, node in enumerate(release.nodes):
        lines += [f"  n{number} -> n{branch.node} [label={_dot(branch.condition())}];" for branch in node.branches]
    return "\n".join([*lines, "}"])


def _dot(text: str) -> str:
    """A quoted string of Graphviz, which also reads HTML entities and backslashes in labels."""
    if re.search("[\x00\ud800-\udfff]", text):
        raise ReleaseError("cannot-export", "to_dot: a name or value holds a character that Graphviz cannot read.")
    text = text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"\r\n?|\n", r"\\n", text) + '"'


def to_sklearn(release: TreeRelease, *, unknown: Unknown = "error") -> ReleasedTreeClassifier:
    """The tree as a fitted scikit-learn classifier, to stand last in a pipeline.

    `unknown` says what happens to a value outside the declared domain, as in `predict`.

    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> tree = AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes")
    >>> model = tree.release_.to_sklearn()
    >>> model.classes_.tolist(), model.predict([[30]]).tolist()
    (['no', 'yes'], ['no'])
    """
    from shoal.release.export_sklearn import ReleasedTreeClassifier

    return ReleasedTreeClassifier(release, unknown=unknown)
