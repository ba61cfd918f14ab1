# SPDX-License-Identifier: Apache-2.0
"""A joint model as something to audit against the rows of one owner."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from shoal.audit.together.released import ReleasedEnsemble, ReleasedTree
from shoal.release import EnsembleRelease, TreeRelease
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
        trees = tuple(replace(release, marginals={}) for release in model.recipe.owners.values())
        several = ReleasedEnsemble(EnsembleRelease(trees))
        several.what, several.sha256 = f"the trees of {n} owners, asked together", model.recipe.sha256
        return several
    release = getattr(model.model_, "release_", None)
    if not isinstance(release, TreeRelease):
        return model
    tree = ReleasedTree(release)
    tree.what, tree.sha256 = f"a joint tree of {n} owners", model.recipe.sha256
    return tree
