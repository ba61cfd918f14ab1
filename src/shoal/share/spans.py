# SPDX-License-Identifier: Apache-2.0
"""A joint model as something to audit against the rows of one owner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from shoal.audit.together.released_models import ReleasedEnsemble, ReleasedTree
from shoal.release import Attribute, Branch, EnsembleRelease, Node, TreeRelease
from shoal.share.joint import JointModel


def spans_of(model: JointModel) -> Any:
    """What `shoal.audit` takes: the spans of a joint tree, those of all owners' trees, or any other model as it is.

    A joint tree's own counts are of pseudo-rows, and other owners' counts are of other people, so they are not compared
    with the rows. Of a model that is no tree only this is known: it tells people apart by public values at most.

    >>> from shoal import audit, load_sample
    >>> from shoal.share import pool, publish
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> joint = pool({"north": publish(people, "diabetes", 200), "south": publish(people, "diabetes", 300)})
    >>> audit(spans_of(joint), people, "diabetes", public=["age", "sex"], privacy=2).what
    'a joint tree of 2 owners'
    """
    n = len(model.recipe.owners)
    if model.recipe.learner in ("bag", "vote"):
        trees = tuple(over_all(release, model.attributes) for release in model.recipe.owners.values())
        several = ReleasedEnsemble(EnsembleRelease(trees))
        several.what, several.sha256 = f"the trees of {n} owners, asked together", model.recipe.sha256
        return several
    release = getattr(model.model_, "release_", None)
    if not isinstance(release, TreeRelease):
        return model
    tree = ReleasedTree(release)
    tree.what, tree.sha256 = f"a joint tree of {n} owners", model.recipe.sha256
    return tree


def over_all(release: TreeRelease, attributes: Sequence[Attribute]) -> TreeRelease:
    """An owner's tree over the domain of all owners. Where it has no branch for a value, that is a leaf of its own.

    For there a row stops that has this value: it is told apart from those that go on.
    """
    stated = {each.name: each for each in attributes}
    classes = stated[release.target].values
    place = [release.classes.index(value) if value in release.classes else None for value in classes]
    nodes: list[Node] = []
    stops: list[Node] = []
    for node in release.nodes:
        if node.attribute is None:
            assert node.counts is not None  # owners who state less are refused before
            nodes.append(Node(counts=tuple(0 if i is None else node.counts[i] for i in place)))
            continue
        known = {value for branch in node.branches for value in branch.values}
        new = tuple(value for value in stated[node.attribute].values if value not in known)
        missing = stated[node.attribute].missing and not any(branch.missing for branch in node.branches)
        if not new and not missing:
            nodes.append(node)
            continue
        stop = Branch(len(release.nodes) + len(stops), values=new, missing=missing)
        nodes.append(replace(node, branches=(*node.branches, stop)))
        stops.append(Node(counts=(0,) * len(classes)))
    return replace(
        release, attributes=tuple(attributes), nodes=(*nodes, *stops), marginals={}, weights=None, verdict=None
    )
