# SPDX-License-Identifier: Apache-2.0
"""The miner judges by itself, and no laxer than the audit: whatever it decides, the audit decides alike."""

import ast
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import AnonymousClusters, PromiseError, audit
from shoal.audit.clusters.cells import Cells, reach
from shoal.audit.clusters.released import encoded_features
from shoal.audit.foreign._private_boxes import private_boxes
from shoal.clusters import territory
from shoal.clusters.territory import UNDECIDED, YES, Territory, settle
from shoal.data.frames import to_table
from shoal.release import Attribute
from shoal.release.encoding import Encoding, Scale

SOURCE = Path(shoal.__file__).parent


def test_of_the_audit_the_miner_knows_the_door_alone():
    seen = set()
    for file in (SOURCE / "clusters").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shoal.audit"):
                seen |= {(node.module, each.name) for each in node.names}
            if isinstance(node, ast.Import):
                assert not any(each.name.startswith("shoal.audit") for each in node.names)
    assert seen == {("shoal.audit", "audit")}


WARD = ("a", "b", "c", "d")
SCALES = {
    "age": Scale(10, 5),
    "ward": Scale(levels=(("low", "low", "high", "high"),)),
    "dose": Scale(4, 2),
    "size": Scale(),
    "rate": Scale(0.5, 0.1),
    "days": Scale(30, 20),
}
NUMERIC = {
    "age": ((0.0, 20.0), True),
    "dose": ((0.0, 9.0), True),
    "size": ((-5.0, 5.0), False),
    "rate": ((0.0, 1.0), False),
    "days": ((0.0, 90.0), True),
}


def attribute(name, role, missing):
    if name == "ward":
        return Attribute(name, role, "categorical", values=WARD, missing=missing)
    bounds, integer = NUMERIC[name]
    return Attribute(name, role, "numeric", bounds=bounds, integer=integer)


def rows(random, n, missing):
    ward = random.choice([*WARD, None] if missing else WARD, n).astype(object)
    ward[:4] = WARD
    return to_table(
        {
            "age": random.integers(0, 21, n),
            "ward": ward.tolist(),
            "dose": random.integers(0, 10, n),
            "size": np.round(np.clip(random.normal(size=n), -5, 5), 1),
            "rate": np.round(random.random(n), 1),
            "days": random.integers(0, 91, n),
        }
    )


@given(
    st.integers(0, 10**6),
    st.lists(st.sampled_from(sorted(SCALES)), min_size=1, max_size=4, unique=True),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=50, deadline=None)
def test_what_the_miner_decides_the_audit_decides_alike(seed, private, n_clusters, missing, round_centroids):
    random = np.random.default_rng(seed)
    table = rows(random, 25, missing)
    encoding = Encoding(
        [attribute(name, "private" if name in private else "public", missing) for name in table], SCALES
    )
    # means of few rows, so that whole and rounded ones make ties
    part = random.integers(0, n_clusters, 25)
    _, part = np.unique(part, return_inverse=True)
    points = encoding.points(table)
    means = encoding.means(np.array([points[part == each].mean(axis=0) for each in range(part.max() + 1)]))
    means = np.round(means, 0 if round_centroids else 5)
    centroids = np.unique(encoding.scaled(means), axis=0)
    public = [name for name in table if name not in private]
    mine = Territory(encoding, public, table).states(centroids)
    settle(mine)
    features = encoded_features(encoding)
    boxes = private_boxes(features, {each.name: each for each in encoding.attributes}, public)
    hidden = np.array([feature.column in private for feature in features])
    theirs = reach(Cells.nearest(centroids), np.where(hidden, 0.0, points), boxes)
    decided = mine != UNDECIDED
    assert (mine[decided] == theirs[decided]).all()
    nearest = np.argmin(((points[:, None] - centroids) ** 2).sum(axis=2), axis=1)
    assert (mine[np.arange(25), nearest] > territory.NO).all()
    if not round_centroids and len([name for name in private if name != "ward"]) <= 2:
        assert decided.mean() > 0.9


def test_a_miner_that_errs_is_found_out(monkeypatch):
    """Everybody can be everywhere, says this one: all of one group, so that any clusters would do."""
    random = np.random.default_rng(0)
    table = pd.DataFrame({"age": random.integers(0, 100, 300), "dose": random.random(300)})
    options = {"public": ["age"], "domain": {"dose": [0, 1]}, "n_clusters": 12, "min_gain": 0.0}
    assert audit(AnonymousClusters(15, **options).fit(table), table).holds

    def everywhere(self, centroids, cells=None, people=None):
        n = self._n_kinds if people is None else int(people.sum())
        return np.full((n, len(centroids) if cells is None else len(cells)), YES, dtype=np.int8)

    monkeypatch.setattr(Territory, "states", everywhere)
    with pytest.raises(PromiseError, match="failed their own audit"):
        AnonymousClusters(15, **options).fit(table)


@pytest.mark.parametrize("method", ["mst", "kmeans"])
@pytest.mark.parametrize("seed", range(4))
def test_three_private_numbers_pass_the_audit_too(seed, method):
    random = np.random.default_rng(seed)
    n = 400
    kind = random.integers(0, 3, n)
    table = pd.DataFrame(
        {
            "age": 20 * kind + random.integers(20, 30, n),
            "dose": 5 * kind + random.random(n),
            "rate": random.random(n),
            "days": 30 * (kind % 2) + random.integers(0, 60, n),
        }
    )
    domain = {"dose": [0, 20], "rate": [0, 1], "days": [0, 120]}
    model = AnonymousClusters(15, public=["age"], domain=domain, method=method, random_state=0).fit(table)
    assert audit(model, table).holds
    assert len(model.release_) > 1


ANSWERS = {f"q{number}": ["no", "yes"] for number in range(17)}  # 131,072 combinations: neither side looks at so many


def answered(age):
    random = np.random.default_rng(0)
    return pd.DataFrame({"age": age, **{name: random.choice(own, len(age)) for name, own in ANSWERS.items()}})


def test_one_cluster_keeps_the_promise_whatever_cannot_be_enumerated():
    """Everybody's span is this bin, though each of them is alone with his age."""
    table = answered([30, 40])
    model = AnonymousClusters(2, public=["age"], domain=ANSWERS).fit(table)
    assert len(model.release_) == 1
    verdict = audit(model, table)
    assert verdict.holds
    assert verdict.groups.n_bins.tolist() == [1]
    assert not verdict.findings


def test_of_two_clusters_what_cannot_be_enumerated_stays_in_doubt():
    table = answered([20, 21, 22, 80, 81, 82])
    release = AnonymousClusters(2, domain=ANSWERS, n_clusters=2).fit(table).release_  # with everything public
    assert len(release) == 2
    verdict = audit(release, table, public=["age"])
    assert not verdict.holds
    assert verdict.smallest_group == 1
    assert "finer-groups" in {each.code for each in verdict.findings}
    assert len(AnonymousClusters(2, public=["age"], domain=ANSWERS, n_clusters=2).fit(table).release_) == 1
