# SPDX-License-Identifier: Apache-2.0
"""Columns that an attacker knows by chance: against every subset of them and joins made row by row."""

import json
from collections import Counter
from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import DataError, PartAL, PartitionedClassifier, ReleaseError, RequirementError, audit, load
from shoal.partition.partitioning import Partitioning
from shoal.partition.publish import publish_projections
from shoal.privacy import KAnonymity, LikelyPartAL, claims, likely_asked, requirement_from_claims

NAMES = ["a", "b", "c", "d"]
SMALL = {"population": 10, "generations": 4, "folds": 2, "random_state": 0}


def powerset(items):
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def partal(rows, subsets, known):
    """Definitions 7 and 8, word by word: count each projection, join every two on the class, count again."""
    if not subsets:
        return len(rows)
    seen = [[name for name in subset if name in known] for subset in subsets]
    levels = [min(Counter(tuple(row[n] for n in names) for row in rows).values()) for names in seen]
    for one, other in combinations(seen, 2):
        joined = Counter(
            (tuple(mine[n] for n in one), tuple(his[n] for n in other), mine["y"])
            for mine in rows
            for his in rows
            if mine["y"] == his["y"]
        )
        levels.append(min(joined.values()))
    return min(levels)


def likely_partal(rows, subsets, public, chances, certainty):
    """The highest t such that PartAL is at least t with a probability of at least `certainty`."""
    probability = Counter()
    for drawn in powerset(list(chances)):
        weight = Fraction(1)
        for name, chance in chances.items():
            weight *= Fraction(str(chance)) if name in drawn else 1 - Fraction(str(chance))
        if weight:
            probability[partal(rows, subsets, {*public, *drawn})] += weight
    return max(
        t for t in probability if sum(p for level, p in probability.items() if level >= t) >= Fraction(str(certainty))
    )


@st.composite
def cases(draw):
    n = draw(st.integers(3, 9))
    column = st.lists(st.sampled_from("pq"), min_size=n, max_size=n)
    rows = {name: draw(column) for name in NAMES}
    rows["y"] = ["n", "m", *draw(st.lists(st.sampled_from("nm"), min_size=n - 2, max_size=n - 2))]
    home = [draw(st.integers(0, 3)) for _ in NAMES]  # 3: left out
    subsets = [[name for name, at in zip(NAMES, home, strict=True) if at == i] for i in range(3)]
    chance = st.sampled_from([0.1, 0.2, 0.5, 0.9, 1.0])
    chances = draw(st.dictionaries(st.sampled_from(NAMES), chance, min_size=1))
    public = [name for name in NAMES if name not in chances and draw(st.booleans())]
    certainty = draw(st.sampled_from([0.05, 0.1, 0.5, 0.8, 0.9, 0.95, 1.0]))
    return pd.DataFrame(rows), [each for each in subsets if each], public, chances, certainty


@given(cases())
@settings(max_examples=50, deadline=None)
def test_search_and_audit_count_what_enumeration_counts(case):
    frame, subsets, public, chances, certainty = case
    rows = frame.to_dict("records")
    true = likely_partal(rows, subsets, public, chances, certainty)
    domain = {name: ["p", "q"] for name in NAMES} | {"y": ["m", "n"]}
    options = {"public": public, "domain": domain}
    model = PartitionedClassifier("bayes", 1, chances=chances, certainty=certainty, folds=2, **options)
    judge = model._study(frame, "y").judge
    partitioning = Partitioning.of(4, [[NAMES.index(name) for name in own] for own in subsets])
    assert judge.level(partitioning) == true <= partal(rows, subsets, public)
    published = {name: chance for name, chance in chances.items() if any(name in own for own in subsets)}
    if published:  # of columns that are not published, nothing is known
        asked = LikelyPartAL(true, published, certainty)
        release = publish_projections(frame, "y", subsets, privacy=PartAL(1) & asked, **options)
        verdict = audit(release, frame)
        assert (verdict.holds, verdict.likely) == (True, (true,))
        above = audit(release, frame, privacy=PartAL(1) & LikelyPartAL(true + 1, published, certainty))
        assert not above.holds
        assert "likely-partal-fails" in {finding.code for finding in above.findings}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 400
    rows = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "job": rng.choice(list("uvw"), n)})
    rows["town"] = rng.choice(list("abcdefghijklmnopqrstuvwxyz"), n)
    rows["y"] = np.where(rng.random(n) < 0.9, rows["town"] < "m", rows["sex"] == "f").astype(str)
    return rows


TOWNS = {"town": list("abcdefghijklmnopqrstuvwxyz")}


def test_what_is_promised_is_what_is_claimed_and_audited(people, tmp_path):
    """A town has few people: whoever may know it with a chance of 0.2 is too likely for 0.9, and not for 0.8."""
    options = {"privacy": 40, "public": ["sex"], "domain": TOWNS, "chances": {"town": 0.2, "job": 0.5}, **SMALL}
    without = PartitionedClassifier(certainty=0.9, **options).fit(people, "y")
    assert not any("town" in own for own in without.partitioning_)
    model = PartitionedClassifier(certainty=0.8, **options).fit(people, "y")
    assert "town" in model.release_.columns
    assert model.level_ >= 40
    # of columns that are not published nothing is told, not even a chance
    (asked,) = likely_asked(model.release_.requirement)
    assert (asked.k, asked.certainty) == (40, 0.8)
    assert asked.columns == tuple(name for name in ("job", "town") if name in model.release_.columns)
    assert model.release_.claims[0] == {"requirement": "partal", "k": 40}
    assert "with a certainty of 80 %" in str(model.release_)
    verdict = audit(model.release_, people)
    assert verdict.holds
    assert verdict.likely == (model.level_,)
    assert "PartAL is at least" in str(verdict)
    assert verdict.to_json()["likely_partal"] == [model.level_]
    model.release_.save(tmp_path / "parts.json")
    assert load(tmp_path / "parts.json").requirement == model.release_.requirement
    # the public columns keep the level for certain, whatever the chances
    assert verdict.rejoined.partal >= 40


def test_with_certainty_1_a_column_counts_as_public_ones_do(people):
    options = {"public": ["sex"], "domain": TOWNS, **SMALL}
    one = PartitionedClassifier(privacy=40, chances={"town": 0.01}, **options)._study(people, "y").judge
    two = PartitionedClassifier(privacy=40, other_public=[["sex", "town"]], **options)._study(people, "y").judge
    for subsets in ([[0, 2]], [[0], [2]], [[0, 1], [2]], [[1]]):
        partitioning = Partitioning.of(3, subsets)
        assert one.level(partitioning) == two.level(partitioning)


def test_the_frontier_is_of_levels_that_are_likely(people):
    options = {"privacy": 1, "public": ["sex"], "domain": TOWNS, **SMALL}
    model = PartitionedClassifier(chances={"town": 0.2}, certainty=0.9, **options)
    judge = model._study(people, "y").judge
    (front,) = model.frontiers(people, "y")
    assert len(front.points) > 1
    for point in front.points:
        assert point.level == judge.level(point.partitioning) <= judge.levels.partal(point.partitioning)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"chances": {"sex": 0.5}}, RequirementError, "'sex' is public"),
        ({"chances": {"twon": 0.5}}, DataError, "no column 'twon'.*'town'"),
        ({"chances": {"y": 0.5}}, DataError, "no column 'y'"),
        ({"chances": {"town": 1.5}}, RequirementError, "chance of 'town' must be a probability above 0"),
        ({"chances": {"town": 0.5}, "certainty": 0}, RequirementError, "certainty must be a probability above 0"),
        ({"chances": ["town"]}, RequirementError, "by name; got a list"),
        ({"chances": {str(i): 0.5 for i in range(9)}}, RequirementError, "1 to 8 columns, by name; got 9"),
        ({"chances": {"town": 0.5}, "publish": "trees"}, RequirementError, "no chances"),
        ({"privacy": PartAL(5) & LikelyPartAL(5, {"town": 0.5}, 0.9)}, RequirementError, "say chances="),
    ],
)
def test_refusals(people, options, error, message):
    with pytest.raises(error, match=message):
        PartitionedClassifier(**{"privacy": 5, "public": ["sex"], "domain": TOWNS, **SMALL, **options}).fit(people, "y")


def test_a_claim_is_written_and_read(people):
    asked = PartAL(5) & LikelyPartAL(5, {"town": 0.2, "job": 1}, 0.9)
    assert requirement_from_claims(json.loads(json.dumps(claims(asked)))) == asked
    assert hash(likely_asked(asked)[0]) == hash(LikelyPartAL(5, {"job": 1.0, "town": 0.2}, 0.9))
    for wrong in ({"chances": {}}, {"chances": {"town": True}}, {"chances": [["town", 0.2]]}, {"certainty": "1"}):
        with pytest.raises(RequirementError, match="LikelyPartAL"):
            requirement_from_claims([{**claims(asked)[1], **wrong}])
    with pytest.raises(RequirementError, match="projections only"):
        asked.parts[1].holds([[5]])
    assert asked.parts[1].least_people == 5
    # of what a release does not have it can claim nothing, and be asked nothing
    options = {"public": ["sex"], "domain": TOWNS}
    for name in ("town", "sex", "y"):
        with pytest.raises(ReleaseError, match="known by chance"):
            publish_projections(
                people, "y", [["sex"], ["job"]], privacy=PartAL(5) & LikelyPartAL(5, {name: 0.5}), **options
            )
    release = publish_projections(people, "y", [["sex"], ["job"]], privacy=5, **options)
    with pytest.raises(DataError, match="by chance"):
        audit(release, people, privacy=PartAL(5) & LikelyPartAL(5, {"town": 0.5}))
    with pytest.raises(RequirementError, match="projections only"):
        audit(release.tables[0], people, privacy=LikelyPartAL(5, {"job": 0.5}))
    assert audit(release, people, privacy=PartAL(5) & LikelyPartAL(5, {"job": 0.5})).holds


def test_trees_and_tables_cannot_claim_it(people, tmp_path):
    options = {"privacy": 5, "public": ["sex"], "domain": TOWNS, "publish": "trees", **SMALL}
    trees = PartitionedClassifier(**options).fit(people, "y").release_
    with pytest.raises(RequirementError, match="of trees learned from them ask for PartAL"):
        audit(trees, people, privacy=PartAL(5) & LikelyPartAL(5, {"town": 0.5}))
    trees.save(tmp_path / "trees.json")
    body = json.loads((tmp_path / "trees.json").read_text(encoding="utf-8"))
    body["claims"].append(LikelyPartAL(5, {"town": 0.5}).to_claim())
    (tmp_path / "trees.json").write_text(json.dumps(body), encoding="utf-8")
    with pytest.raises(ReleaseError, match="only projections can keep"):
        load(tmp_path / "trees.json")


def test_it_is_kept_beside_what_is_asked_of_groups(people):
    options = {"public": ["sex"], "domain": TOWNS, "chances": {"job": 0.5}, **SMALL}
    model = PartitionedClassifier(privacy=PartAL(10) & KAnonymity(20), partitioning=[["sex"], ["job"]], **options)
    release = model.fit(people, "y").release_
    assert [claim["requirement"] for claim in release.claims] == ["partal", "k-anonymity", "likely-partal"]
    assert audit(release, people).holds
