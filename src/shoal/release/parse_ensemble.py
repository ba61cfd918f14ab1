# SPDX-License-Identifier: Apache-2.0
"""From untrusted JSON to an `EnsembleRelease`: a frame that all trees share, and the nodes of each."""

from __future__ import annotations

from typing import Any

from shoal.errors import ReleaseError
from shoal.privacy import NOT_K_ANONYMITY, partal_asked
from shoal.release import checks
from shoal.release.ensemble import EnsembleRelease
from shoal.release.parse import parse_tree, parse_verdict

MAX_TREES = 10_000


def parse_ensemble(body: dict[str, Any]) -> EnsembleRelease:
    """Build the release that a JSON body describes, or say what is wrong and where."""
    frame = {key: value for key, value in body.items() if key not in ("trees", "audit", "combine", "notice")}
    if "trees" not in body or "nodes" in body or "marginals" in body:
        checks.refuse("release", "must have 'trees', and no 'nodes' or 'marginals' of its own")
    trees = []
    n_nodes = 0
    for i, entry in enumerate(checks.items(body["trees"], "trees", MAX_TREES)):
        checks.keys(entry, f"trees[{i}]", {"nodes"}, ())
        n_nodes += len(entry["nodes"]) if isinstance(entry["nodes"], list) else 0
        if n_nodes > checks.MAX_NODES:
            checks.refuse("trees", f"have more than {checks.MAX_NODES:,} nodes together")
        try:
            trees.append(parse_tree({**frame, "kind": "tree", "nodes": entry["nodes"]}, several=True))
        except ReleaseError as error:
            raise ReleaseError(error.code, f"tree {i}: {error}") from None
    first = trees[0]
    if any(tree.statement != "counts" for tree in trees):
        checks.refuse("trees", "must state counts in every leaf")
    # with several rows a person, one who is in several leaves counts in each, so totals differ
    if not first.several_rows and any((tree.counts[0] != first.counts[0]).any() for tree in trees):
        checks.refuse("trees", "must count the same people of each class")
    combine = checks.text(body.get("combine", "mean"), "combine")
    if combine not in ("mean", "bayes"):
        checks.refuse("combine", "must be 'mean' or 'bayes'")
    if combine == "bayes" and first.weights is not None:
        checks.refuse("combine", "must be 'mean' where classes have weights")
    notice = NOT_K_ANONYMITY if partal_asked(first.requirement) is not None else None
    if body.get("notice") != notice:
        checks.refuse("notice", "must be the sentence that says what PartAL is not, where that is claimed")
    return EnsembleRelease(tuple(trees), parse_verdict(body.get("audit")), combine)  # type: ignore[arg-type]
