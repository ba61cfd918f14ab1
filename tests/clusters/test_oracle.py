# SPDX-License-Identifier: Apache-2.0
"""Every released clustering against the definition, from its JSON alone: enumerate private values, in fractions."""

import functools
import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import AnonymousClusters, DistinctDiversity, KAnonymity, audit
from shoal.clusters.judge import Judge
from shoal.data.frames import to_table
from shoal.release import Attribute
from shoal.release.encoding import Encoding, Scale

DOMAIN = {"age": [0, 6], "sex": ["f", "m"], "dose": [0, 4], "ward": ["a", "b", "c", "d"], "size": [0, 3]}
HIERARCHIES = {"ward": {"*": {"low": ["a", "b"], "high": ["c", "d"]}}}


def square(entry, name, body, value):
    """The squared distance of one column between a row and a cluster, as the file says; None is missing."""
    stated, scale = entry["centroid"][name], body["encoding"][name]
    if not isinstance(stated, dict):
        return ((Fraction(stated) - Fraction(value)) / Fraction(scale["scale"])) ** 2
    shares = {each: Fraction(share) for each, share in stated.items()}
    shares[None] = Fraction(entry.get("missing", {}).get(name, 0))
    values = next(each["values"] for each in body["attributes"] if each["name"] == name)
    levels = [dict(zip(values, values, strict=True))]
    levels += [dict(zip(values, level, strict=True)) for level in scale.get("levels", [])]
    far = Fraction(0)
    for level in levels:
        own = {}
        for each, share in shares.items():
            own[level.get(each)] = own.get(level.get(each), 0) + share
        far += sum((own.get(each, 0) - (each == level.get(value))) ** 2 for each in {*own, level.get(value)})
    return far / len(levels) / Fraction(scale["scale"]) ** 2


def nearest_in(body):
    """The function from a row to all centroids that are nearest to it."""

    @functools.cache
    def squared(number, name, value):
        return square(body["clusters"][number], name, body, value)

    def nearest(row):
        far = [sum(squared(number, *each) for each in row.items()) for number in range(len(body["clusters"]))]
        return {number for number, each in enumerate(far) if each == min(far)}

    return nearest


def spans(body, rows):
    """The span of every row; of centroids that tie, the first counts, as in the release."""
    private = [each for each in body["attributes"] if each["role"] == "private"]
    choices = [
        [*each["values"], *([None] if each.get("missing") else [])]
        if each["type"] == "categorical"
        else range(each["bounds"][0], each["bounds"][1] + 1)
        for each in private
    ]
    names = [each["name"] for each in private]
    nearest = nearest_in(body)
    found = {}
    for row in rows:
        key = str({name: value for name, value in row.items() if name not in names})
        if key in found:
            continue
        bins = set()
        for values in itertools.product(*choices):
            bins.add(min(nearest({**row, **dict(zip(names, values, strict=True))})))
        found[key] = frozenset(bins)
    return [found[str({name: value for name, value in row.items() if name not in names})] for row in rows]


@st.composite
def tables(draw):
    names = draw(st.lists(st.sampled_from(sorted(DOMAIN)), min_size=2, max_size=4, unique=True))
    n = draw(st.integers(6, 24))
    rows = {}
    for name in names:
        if isinstance(DOMAIN[name][0], str):
            values = [*DOMAIN[name], None] if name == "ward" and draw(st.booleans()) else DOMAIN[name]
            rows[name] = draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))
        else:
            rows[name] = draw(st.lists(st.integers(*DOMAIN[name]), min_size=n, max_size=n))
    public = draw(st.lists(st.sampled_from(names), max_size=len(names), unique=True))
    return pd.DataFrame(rows), public


@given(tables(), st.integers(2, 4), st.sampled_from(["mst", "kmeans"]), st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=50, deadline=None)
def test_every_group_of_the_released_rule_is_large(made, k, method, allow_small, scale, by_hierarchy):
    table, public = made
    if "ward" in table and table["ward"].isna().all():
        return  # there is nothing in this column
    domain = {name: DOMAIN[name] for name in table}
    model = AnonymousClusters(
        k,
        public=public,
        domain=domain,
        method=method,
        allow_small=allow_small,
        scale=scale,
        hierarchies=HIERARCHIES if by_hierarchy and "ward" in table else None,
        min_gain=0.0,
        random_state=0,
    ).fit(table)
    body = model.release_.to_json()
    rows = [
        {name: None if value is np.nan else value for name, value in row.items()} for row in table.to_dict("records")
    ]
    found = spans(body, rows)
    for span, people in Counter(found).items():
        assert people >= k or len(span) == 1
    for row, label in zip(rows, model.labels_.tolist(), strict=True):
        assert label in nearest_in(body)(row)
    sizes = np.bincount(model.labels_, minlength=len(body["clusters"]))
    assert sizes.tolist() == [entry["people"] for entry in body["clusters"]]
    assert allow_small or sizes.min() >= k
    assert audit(model, table).holds


@pytest.mark.parametrize("seed", range(12))
def test_spans_after_a_split_are_those_worked_out_from_scratch(seed):
    random = np.random.default_rng(seed)
    n = 60
    table = to_table(
        {
            "age": random.integers(0, 20, n),
            "ward": random.choice(["a", "b", "c"], n),
            "dose": random.integers(0, 9, n),
            "size": np.round(random.normal(size=n), 2),
        }
    )
    private = ["dose", "ward", "size"][: 1 + seed % 3]
    bounds = {"age": (0.0, 20.0), "dose": (0.0, 9.0), "size": (-5.0, 5.0)}
    attributes = [
        Attribute(name, "private" if name in private else "public", "categorical", values=("a", "b", "c"))
        if name == "ward"
        else Attribute(
            name, "private" if name in private else "public", "numeric", bounds=bounds[name], integer=name != "size"
        )
        for name in table
    ]
    encoding = Encoding(attributes, {"age": Scale(10, 5), "ward": Scale(), "dose": Scale(4, 2), "size": Scale()})
    public = [name for name in table if name not in private]
    judge = Judge(table, encoding, public, KAnonymity(1), [], None, 1)
    part = np.zeros(len(judge.points), dtype=np.int64)
    model = judge.judge(part)
    for new in range(1, 9):
        old = int(random.integers(new))
        own = np.flatnonzero(part == old)
        part = part.copy()
        part[own[judge.points[own] @ random.normal(size=encoding.n_features) > 0]] = new
        if len(np.unique(part)) <= new:
            break
        whole = judge.judge(part)
        if whole is None:  # somebody's cluster is nobody's nearest
            break
        model = judge.judge(part, model, (old, new))
        assert (model.state == whole.state).all()
        if seed % 2:  # centroids that were moved, and are back at their means when the next cluster is split
            moved = judge.look(part, random.normal(scale=0.3, size=model.means.shape))
            model = model if moved is None else moved
    assert len(model) > 2


def test_values_of_a_sensitive_column_stay_diverse():
    random = np.random.default_rng(1)
    n = 400
    age = np.where(np.arange(n) % 2, random.integers(20, 40, n), random.integers(60, 80, n))
    ward = np.where(age > 70, "a", random.choice(["a", "b", "c"], n))
    dose = random.integers(0, 5, n) + 10 * (age > 50)
    rows = pd.DataFrame({"age": age, "ward": ward, "dose": dose})
    options = {"public": ["age"], "sensitive": ["ward"], "n_clusters": 8, "method": "kmeans", "random_state": 0}
    plain = AnonymousClusters(5, **options).fit(rows)
    diverse = AnonymousClusters(KAnonymity(5) & DistinctDiversity(2), **options).fit(rows)
    verdict = audit(diverse, rows)
    assert verdict.holds
    assert len(verdict.parts) == 2
    assert len(diverse.release_) >= 2
    assert len(plain.release_) >= len(diverse.release_)


def test_people_with_several_rows_are_counted_once():
    random = np.random.default_rng(2)
    n = 300
    rows = pd.DataFrame(
        {
            "patient": [f"p{i}" for i in random.integers(0, 90, n)],
            "age": random.integers(20, 80, n),
            "dose": random.integers(0, 10, n),
        }
    )
    model = AnonymousClusters(20, public=["age"], person="patient", n_clusters=4, min_gain=0.0).fit(rows)
    release = model.release_
    assert release.several_rows
    assert release.n_people == rows["patient"].nunique()
    assert len(release) > 1
    for number, people in enumerate(release.people):
        assert rows["patient"][model.labels_ == number].nunique() == people >= 20
    verdict = audit(model, rows, person="patient")
    assert verdict.holds
    assert verdict.smallest_group is None or verdict.smallest_group >= 20
