# SPDX-License-Identifier: Apache-2.0
"""How partitionings are bred: the first generation, group-wise crossover and mutation (Sect. 4.1.1 of the paper).

All randomness is that of the generator given, so a search with the same seed is the same search.

Differs from the paper, which leaves open: how the first generation is made, that a mutation may also leave a feature
out, bring in one that was left out, or give it a subset of its own among several (the paper: only where there is one),
and all of what overlapping partitionings need.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from shoal.partition.partitioning import Partitioning, mask_of

TRIES = 20  # times the number wanted, before a first generation stays smaller because there are no more partitionings


def first_generation(
    n: int, size: int, random: Random, *, overlapping: bool = False, start: Iterable[Partitioning] = ()
) -> list[Partitioning]:
    """Different partitionings to begin with.

    The empty one comes first: it keeps every level that can be kept at all. Then come those of `start`, the one subset
    of all features, every feature alone, and random ones: each feature goes to one of w subsets or is left out, and w
    runs from 1 to n again and again.

    >>> [each.features for each in first_generation(2, 9, Random(0))]
    [(), ((0, 1),), ((0,), (1,)), ((1,),), ((0,),)]
    """
    everything = (1 << n) - 1
    known = [
        Partitioning(n),
        *start,
        Partitioning.of_masks(n, [everything]),
        Partitioning.of(n, [[i] for i in range(n)]),
    ]
    found = dict.fromkeys(known[: max(size, 1)])
    for attempt in range(TRIES * size):
        if len(found) >= size:
            break
        found[_random(n, 1 + attempt % max(n, 1), random, overlapping)] = None
    return list(found)


def _random(n: int, w: int, random: Random, overlapping: bool) -> Partitioning:
    subsets = [0] * (w + 1)
    for feature in range(n):
        subsets[random.randrange(w + 1)] |= 1 << feature
        if overlapping and random.random() < 0.5:
            subsets[random.randrange(w + 1)] |= 1 << feature
    return Partitioning.of_masks(n, subsets[1:])


def ancestor_sets(parent: Partitioning) -> tuple[int, ...]:
    """What an offspring may take over as it is: a subset of the parent, or all features that the parent left out."""
    out = mask_of(parent.left_out)
    return (*parent.subsets, out) if out else parent.subsets


def inherit(ancestor: int, parent: Partitioning, other: Partitioning) -> Partitioning:
    """The offspring that has one ancestor set as in its parent, and every other feature as in the other parent.

    >>> one, two = Partitioning.of(4, [[0], [1]]), Partitioning.of(4, [[2, 3]])
    >>> inherit(0b0001, one, two).features, inherit(0b1100, two, one).features
    (((0,), (2, 3)), ((0,), (1,), (2, 3)))
    """
    own = [ancestor] if ancestor in parent.subsets else []  # a set that was left out stays out
    return Partitioning.of_masks(parent.n, own + [mask & ~ancestor for mask in other.subsets])


def crossover(
    first: Partitioning, second: Partitioning, random: Random, *, overlapping: bool = False
) -> tuple[Partitioning, Partitioning]:
    """Group-wise crossover: of each parent an ancestor set at random goes to one offspring, the rest is the other's.

    Offspring of disjoint parents are disjoint, unless `overlapping` lets subsets of the other parent keep what they
    share with the ancestor set: each does so with probability one half.
    """
    return (
        _offspring(first, second, random, overlapping),
        _offspring(second, first, random, overlapping),
    )


def _offspring(parent: Partitioning, other: Partitioning, random: Random, overlapping: bool) -> Partitioning:
    choices = ancestor_sets(parent)
    if not choices:  # there are no features at all
        return parent
    ancestor = random.choice(choices)
    if not overlapping or ancestor not in parent.subsets:
        return inherit(ancestor, parent, other)
    others = [mask if random.random() < 0.5 else mask & ~ancestor for mask in other.subsets]
    others = sorted({mask for mask in others if mask & ~ancestor})  # what is inside the ancestor set adds nothing
    # as many subsets as a disjoint partitioning may have: they must not pile up over generations
    others = random.sample(others, min(len(others), parent.n - 1))
    return Partitioning.of_masks(parent.n, [ancestor, *others])


def mutate(
    partitioning: Partitioning, rates: Sequence[float], random: Random, *, overlapping: bool = False
) -> Partitioning:
    """Move features: number i with probability ``rates[i]``.

    It leaves its subset for a place drawn from all others: another subset, one of its own, or none. With `overlapping`
    it stays in its subset half of the time, and joins the other one as well.

    >>> mutate(Partitioning.of(3, [[0], [2]]), [0, 1, 0], Random(1)).features
    ((0, 1), (2,))
    """
    subsets = list(partitioning.subsets)
    for feature, rate in enumerate(rates):
        if random.random() < rate:
            subsets = _moved(subsets, 1 << feature, random, overlapping)
    return Partitioning.of_masks(partitioning.n, subsets)


def _moved(subsets: list[int], bit: int, random: Random, overlapping: bool) -> list[int]:
    sources = [mask for mask in subsets if mask & bit]
    left = 0
    if sources and not (overlapping and random.random() < 0.5):
        source = random.choice(sources)
        left = source ^ bit
        subsets = [mask for mask in subsets if mask != source]
    places = [mask for mask in subsets if not mask & bit]
    if bit not in sources:
        places.append(0)  # a subset of its own
    if sources:
        places.append(-1)  # none
    place = random.choice(places)
    rest = [mask for mask in subsets if mask != place]
    return [*rest, left] if place == -1 else [*rest, left, place | bit]
