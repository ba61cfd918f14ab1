# SPDX-License-Identifier: Apache-2.0
"""Tian et al. (2012), Fig. 3, 5 and 7 with Examples 6 to 16: what paths tell, and what ATP makes of them."""

from __future__ import annotations

from shoal.papers.worked import Numbers, worked
from shoal.papers.worked.tian_tree import CLASSES, DIVERSE, KNOWLEDGE, fig5, fig7
from shoal.privacy import SimpleDiversity
from shoal.privacy.hits import holds_by_hits
from shoal.release import TreeRelease
from shoal.share import paths_of
from shoal.trees.atp import Hits, hits_of, prune_by_merging

CHILDREN = "defgh"  # of node b
MANY = 1000  # people of one class, more than all others have


def fig3() -> TreeRelease:
    """The tree that ATP returns for (3, 3)-diversity by hits and misses."""
    return prune_by_merging(fig5(), DIVERSE, by="hits")


@worked("tian-fig5")
def before_pruning() -> Numbers:
    """Examples 10, 12 and 14: which requirements the paths of Fig. 5 keep by hits and misses."""
    release, told = fig5(), fig7()
    passing = {name for name in told if KNOWLEDGE.passes([told[name]])[0]}
    g = told["g"]
    return {
        "fewest people of a path": int(release.counts[list(release.leaves)].sum(axis=1).min()),
        "of the paths to d, e and g, not (3, 3)-diverse": len(set("deg") - passing),
        "of the paths to k and m, (3, 3)-diverse": len(set("km") & passing),
        "path to g simply 2-diverse (1: yes)": bool(holds_by_hits(SimpleDiversity(2), [g.hit], [g.miss])[0]),
    }


@worked("tian-fig7")
def estimated() -> Numbers:
    """Example 15: what is estimated of node b."""
    told = fig7()
    parts = [told[name] for name in CHILDREN]
    by_class = {f"b, people of {name}, estimated": _estimate(parts, place) for place, name in enumerate(CLASSES)}
    return {**by_class, **_label("b", told["b"])}


@worked("tian-fig3")
def pruned() -> Numbers:
    """Examples 6, 8 and 16: what is merged with what, and the tree that is left."""
    told, release = fig7(), fig3()
    failing = [name for name in CHILDREN if not KNOWLEDGE.passes([told[name]])[0]]
    d_and_e, g_and_h = (KNOWLEDGE.together([told[one], told[other]]) for one, other in ("de", "gh"))
    boxes = {path.box["B"].values: path.box for path in paths_of(release) if path.box["A"].values == ("a1",)}
    leftmost = boxes[("b1", "b2")]
    return {
        "d, hits over people": KNOWLEDGE.purity(told["d"]),
        "purest failing child of b: d (1: yes)": max(failing, key=lambda name: KNOWLEDGE.purity(told[name])) == "d",
        **{f"d merged with {name} passes (1: yes)": _together_pass(told["d"], told[name]) for name in "efgh"},
        **{f"g merged with {name} passes (1: yes)": _together_pass(told["g"], told[name]) for name in "fh"},
        "g merged with the new d passes (1: yes)": _together_pass(told["g"], d_and_e),
        **_label("d with e", d_and_e),
        **_label("g with h", g_and_h),
        "leftmost path of the pruned tree, attributes": len(leftmost),
        "leftmost path of the pruned tree, values of B": len(leftmost["B"].values),
        "path of the pruned tree with B = b4 or b5 (1: yes)": ("b4", "b5") in boxes,
        "paths of the pruned tree that fail (3, 3)-diversity": KNOWLEDGE.passes(
            hits_of(release.counts[list(release.leaves)])
        ).count(False),
    }


def _together_pass(one: Hits, other: Hits) -> bool:
    return KNOWLEDGE.passes([KNOWLEDGE.together([one, other])])[0]


def _estimate(parts: list[Hits], place: int) -> float:
    """The people of one class by Eq. 2, before Eq. 3 rounds them up.

    Shoal states the most frequent class only, so the class is given people enough to be that; and everything is taken
    as often as there are other classes, so that nothing is left to round.
    """
    others = len(CLASSES) - 1
    more = [Hits(part.of_class, others * part.hit, others * part.miss) for part in parts]
    return KNOWLEDGE.together([*more, Hits(place, MANY, 0)]).hit / others - MANY / others


def _label(name: str, told: Hits) -> Numbers:
    """What the figures write at a node: class, hits and misses."""
    return {f"{name}, class S": told.of_class + 1, f"{name}, hits": told.hit, f"{name}, misses": told.miss}
