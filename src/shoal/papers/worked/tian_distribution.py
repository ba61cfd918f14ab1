# SPDX-License-Identifier: Apache-2.0
"""Tian et al. (2012), Fig. 4 and Example 12: which classes misses are taken to have, and what Eq. 1 makes of it."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.papers.worked import Numbers, worked
from shoal.papers.worked.tian_tree import CLASSES, DIVERSE, fig7
from shoal.privacy.hits import holds_by_hits, tail_by_hits

MOST = 12  # people on a path, where all possible ones are looked at
PATHS = {"e": "B = b2", "k": "B = b3, C = c1", "m": "B = b5, D < d5"}


@worked("tian-fig4")
def distributions() -> Numbers:
    """The distributions of Example 12, and every label or path of up to twelve people."""
    told = fig7()
    l = DIVERSE.l  # noqa: E741 - the paper's name
    numbers: dict[str, float] = {}
    for name, path in PATHS.items():
        _, hit, miss = told[name]
        numbers |= {f"{path}: class {place}": n for place, n in enumerate(constructed(hit, miss, l), start=1)}
        numbers[f"{path}: tail"] = int(tail_by_hits([hit], [miss], l)[0])
    # with fewer hits some other class would have more
    labels = [
        (n - miss, miss) for n in range(1, MOST + 1) for miss in range(n) if miss <= (len(CLASSES) - 1) * (n - miss)
    ]
    other = sum(
        int(tail_by_hits([hit], [miss], l)[0]) != sum(constructed(hit, miss, l)[l - 1 :])
        for hit, miss in labels
        for l in range(2, len(CLASSES) + 1)  # noqa: E741
        if miss >= l - 1
    )
    skewed = sum(bool(each) for each in holds_by_hits(DIVERSE, *zip(*labels, strict=True)))
    even = sum(bool(DIVERSE.holds([_even(hit, miss)])[0]) for hit, miss in labels)
    fewer = [counts for counts in _all_counts(MOST, len(CLASSES)) if len(counts) < l and _passes(counts)]
    return {
        **numbers,
        "labels whose tail by Eq. 1 is not that of the construction": other,
        "labels that pass (3, 3) as Eq. 1 has it": skewed,
        "labels more that pass with misses spread evenly": even - skewed,
        "paths that pass (3, 3) with fewer than three classes": len(fewer),
    }


def constructed(hit: int, miss: int, l: int) -> list[int]:  # noqa: E741
    """People by class, the most frequent first, as Sect. 3.3 deals misses out in words.

    One to each of l - 1 other classes; then each of these is filled up to the hits, as long as there are some left;
    what is left after that goes to classes without people, here one each.
    """
    others, left = [1] * (l - 1), miss - (l - 1)
    for place in range(l - 1):
        more = min(hit - 1, left)
        others[place] += more
        left -= more
    return [hit, *others, *[1] * left]


def _even(hit: int, miss: int) -> list[int]:
    """Everybody as often as there are other classes, so that each of these has the same whole number of misses."""
    others = len(CLASSES) - 1
    return [others * hit, *[miss] * others]


def _passes(counts: tuple[int, ...]) -> bool:
    return bool(holds_by_hits(DIVERSE, [counts[0]], [sum(counts[1:])])[0])


def _all_counts(most: int, classes: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """Every way in which up to so many people can have so many classes, the most frequent class first."""
    for first in range(1, min(most, largest or most) + 1):
        yield (first,)
        if classes > 1:
            for rest in _all_counts(most - first, classes - 1, first):
                yield (first, *rest)
