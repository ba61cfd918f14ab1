# SPDX-License-Identifier: Apache-2.0
"""Anonymity levels: the paper's worked examples, joins counted one by one, and what levels do not see."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partition.fig1 import FIG1
from shoal.papers.worked.dmpd_levels import G1, G2
from shoal.papers.worked.dmpd_sample import levels_of, parted
from shoal.papers.worked.dmpd_sample import mask as mask_of
from shoal.partition.levels import Levels
from shoal.partition.partitioning import Partitioning, features_of
from shoal.privacy import DistinctDiversity, KAnonymity


def test_definition_7():
    levels = levels_of(["workclass", "native-country", "marital-status"])
    assert levels.dal(mask_of("workclass", "native-country")) == 3
    assert levels.dal(mask_of("workclass", "native-country", "marital-status")) == 1


def test_definition_8():
    levels = levels_of(["workclass", "native-country", "marital-status"])
    z = parted(G1, G2)
    assert (levels.pal(z), levels.sal(z), levels.partal(z)) == (3, 2, 2)
    # the pair it names: one Private, Germany, <=50K and two Divorced, <=50K
    assert levels.smallest(mask_of(*G1)).tolist() == [1, 1]
    assert levels.smallest(mask_of(*G2)).tolist() == [2, 3]


def test_section_4_2():
    levels = levels_of(["capital-gain", "age", "marital-status", "relationship"], cuts={"age": [48]})
    z = parted(["relationship", "education-num"], ["hours-per-week", "age"])
    assert levels.dal(mask_of("relationship", "education-num")) == 6
    assert levels.dal(mask_of("hours-per-week", "age")) == 7
    assert (levels.pal(z), levels.sal(z), levels.partal(z)) == (6, 2, 2)


def test_fig_8_has_no_valid_partitioning():
    """Four rows, every value and class somebody's own: only the empty partitioning has a level above 1."""
    codes = [np.arange(4)] * 3
    levels = Levels(codes, [4] * 3, np.arange(4), 4, quasi=[0, 1, 2])
    assert {levels.dal(mask) for mask in range(1, 8)} == {1}
    assert levels.partal(Partitioning.of(3, [])) == 4


def test_the_release_of_section_4_2_has_product_groups_of_one():
    """Whoever knows relationship and age of everybody finds somebody alone, though PartAL is 2."""
    people = Counter(zip(FIG1["relationship"], FIG1["age"] > 48, strict=True))
    assert min(people.values()) == 1


@pytest.mark.parametrize("k", [2, 5, 50])
def test_rows_are_counted_and_not_people(k):
    """v1 = {a: 1, b: k} and v2 = {a: k, c: k}: both levels hold, yet whoever has (v1, v2) is surely a, alone."""
    a, b, c = 0, 1, 2
    # (v1 or other, v2 or other, class): one a has both, k b have v1, k - 1 a and k c have v2, others fill up
    rows = [(0, 0, a)] + [(0, 1, b)] * k + [(1, 0, a)] * (k - 1) + [(1, 0, c)] * k
    rows += [(1, 1, each) for each in (a, b, c)] * k
    one, two, target = np.array(rows).T
    levels = Levels([one, two], [2, 2], target, 3, quasi=[0, 1])
    z = Partitioning.of(2, [[0], [1]])
    assert levels.class_counts(0b01)[0].tolist() == [1, k, 0]
    assert levels.class_counts(0b10)[0].tolist() == [k, 0, k]
    assert levels.pal(z) >= k
    assert levels.sal(z) == k
    assert levels.partal(z) == k
    assert levels.dal(0b11) == 1
    assert levels.open_classes(z) == 1
    assert levels.open_classes(Partitioning.of(2, [[0]])) == 2


def test_any_requirement_judges_class_counts():
    levels = levels_of(["workclass", "native-country"])
    counts = levels.class_counts(mask_of("workclass", "native-country", "age"))
    assert counts.sum() == 20
    assert counts.shape == (4, 2)
    assert KAnonymity(3).holds(counts).all()
    assert not KAnonymity(4).holds(counts).all()
    assert DistinctDiversity(2).holds(counts).all()


def test_many_values_in_many_features_do_not_overflow():
    n, wide = 300, 2**40
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 2, n) * (wide - 1) for _ in range(4)]
    levels = Levels(codes, [wide] * 4, np.zeros(n, dtype=np.uint8), 1, quasi=range(4))
    assert levels.dal(0b1111) == min(Counter(zip(*codes, strict=True)).values())


@st.composite
def tables(draw, overlapping=False):
    """Up to 12 rows of up to 4 features, classes that may lack people, known features, and a partitioning."""
    n, n_features, n_classes = draw(st.integers(1, 12)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    codes = [np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))) for _ in range(n_features)]
    target = np.array(draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)))
    some = st.lists(st.integers(0, n_features - 1), max_size=n_features, unique=True)
    quasi = draw(st.lists(some, min_size=1, max_size=2))
    if overlapping:
        subsets = draw(st.lists(some, max_size=3))
    else:
        place = draw(st.lists(st.integers(-1, 2), min_size=n_features, max_size=n_features))
        subsets = [[i for i in range(n_features) if place[i] == p] for p in range(3)]
    levels = Levels(codes, [3] * n_features, target, n_classes, quasi[0], also=quasi[1:])
    return codes, target, quasi, Partitioning.of(n_features, subsets), levels


def projection(codes, target, features):
    return [({f: int(codes[f][i]) for f in features}, int(target[i])) for i in range(len(target))]


def joined(one, other):
    """The natural join, row by row: equal on all shared columns and on the class."""
    return [
        ({**a, **b}, y) for a, y in one for b, z in other if y == z and all(a[f] == b[f] for f in a.keys() & b.keys())
    ]


def rarest(rows, known, with_class):
    key = [(tuple(sorted((f, v) for f, v in a.items() if f in known)), y if with_class else None) for a, y in rows]
    return min(Counter(key).values())


def levels_by_joining(codes, target, quasi, z):
    parts = [projection(codes, target, features_of(mask)) for mask in z.subsets]
    pal = min((rarest(part, known, False) for part in parts for known in quasi), default=len(target))
    pairs = [(a, b, set(a[0][0]) & set(b[0][0])) for a, b in combinations(parts, 2)]
    sals = [rarest(joined(a, b), {*known, *shared}, True) for a, b, shared in pairs for known in quasi]
    return pal, min(sals, default=None)


@given(tables())
def test_levels_equal_those_of_materialised_joins(drawn):
    codes, target, quasi, z, levels = drawn
    pal, sal = levels_by_joining(codes, target, quasi, z)
    assert (levels.pal(z), levels.sal(z)) == (pal, sal)
    assert levels.partal(z) == min(pal, pal if sal is None else sal)


@given(tables(overlapping=True))
def test_overlapping_subsets_are_joined_on_what_they_share(drawn):
    codes, target, quasi, z, levels = drawn
    assert (levels.pal(z), levels.sal(z)) == levels_by_joining(codes, target, quasi, z)


@given(tables(overlapping=True))
def test_joining_all_subsets_is_no_rarer_than_joining_two(drawn):
    """The paper's Lemma 2, also with overlaps of what is known: so pairs are enough."""
    codes, target, quasi, z, levels = drawn
    times = Counter(f for mask in z.subsets for f in features_of(mask))
    if len(z.subsets) < 2 or any(f not in known for f, n in times.items() if n > 1 for known in quasi):
        return
    parts = [projection(codes, target, features_of(mask)) for mask in z.subsets]
    whole, shared = parts[0], set()
    for part in parts[1:]:
        shared |= set(whole[0][0]) & set(part[0][0])
        whole = joined(whole, part)
    assert min(rarest(whole, {*known, *shared}, True) for known in quasi) >= levels.sal(z)


@given(tables(overlapping=True))
def test_open_classes_are_those_of_all_projections_joined_again(drawn):
    codes, target, quasi, z, levels = drawn
    whole = [({}, y) for y in set(target.tolist())]
    for mask in z.subsets:
        whole = joined(whole, projection(codes, target, features_of(mask)))
        whole = [(dict(row), y) for row, y in {(tuple(sorted(row.items())), y) for row, y in whole}]
    left = []
    for known in quasi:
        for i in range(len(target)):
            mine = [y for row, y in whole if all(codes[f][i] == value for f, value in row.items() if f in known)]
            left.append(len(set(mine)))
    times = Counter(f for mask in z.subsets for f in features_of(mask))
    if all(f in known for f, n in times.items() if n > 1 for known in quasi):
        assert levels.open_classes(z) == min(left)
    else:  # rows that a shared unknown value might put together count as if it did
        assert levels.open_classes(z) <= min(left)


@given(tables())
def test_smallest_counts(drawn):
    codes, target, quasi, _, levels = drawn
    for mask in range(1 << len(codes)):
        counts = [Counter() for _ in quasi]
        for count, known in zip(counts, quasi, strict=True):
            for row, y in projection(codes, target, [f for f in features_of(mask) if f in known]):
                count[tuple(row.items()), y] += 1
        expected = [min((n for c in counts for (_, y), n in c.items() if y == each), default=0) for each in range(4)]
        assert levels.smallest(mask).tolist() == expected[: levels.n_classes]


@given(st.lists(st.integers(-(2**62), 2**62), max_size=200))
def test_keys_are_numbered_as_they_appear(keys):
    from shoal._kernels.keys import number_keys

    out = np.empty(len(keys), dtype=np.int64)
    assert number_keys(np.array(keys, dtype=np.int64), out) == len(set(keys))
    assert out.tolist() == [list(dict.fromkeys(keys)).index(key) for key in keys]
