# SPDX-License-Identifier: Apache-2.0
"""Weights of classes: they change predictions as scikit-learn's `class_weight` does, and no group."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from shoal import AnonymousTreeClassifier, KAnonymity, RequirementError, Roles, attack, audit, load_sample
from shoal.release import TreeRelease
from shoal.release.statement import STATEMENTS
from shoal.trees.mine import grow, prepare
from shoal.trees.publish import publish

WEIGHTS = (1.0, 3.5)


@pytest.fixture(scope="module")
def people():
    return load_sample().table.select(["age", "sex", "bmi", "diabetes"])


@pytest.fixture(scope="module")
def release(people) -> TreeRelease:
    made: TreeRelease = AnonymousTreeClassifier(privacy=100).fit(people, "diabetes").release_
    return made


def test_they_do_what_scikit_learn_does(release, people):
    """A tree of scikit-learn that may tell our leaves apart, and nothing else, has our leaves."""
    leaf = release.apply(people)
    which = (leaf[:, None] == np.array(release.leaves)).astype(float)
    truth = np.array(release.classes)[people["diabetes"].codes]
    peer = DecisionTreeClassifier(class_weight=dict(zip(release.classes, WEIGHTS, strict=True)), random_state=0)
    peer.fit(which, truth)
    weighted = replace(release, weights=WEIGHTS)
    assert peer.get_n_leaves() == len(release.leaves)
    assert (weighted.predict(people) == peer.predict(which)).all()
    assert weighted.predict_proba(people) == pytest.approx(peer.predict_proba(which))
    assert (weighted.predict(people) != release.predict(people)).any()
    assert (replace(release, weights=(2.0, 2.0)).predict_proba(people) == release.predict_proba(people)).all()


@pytest.mark.parametrize("statement", STATEMENTS)
def test_they_are_stated_and_change_no_group(release, people, statement):
    plain, weighted = release.stating(statement), replace(release, weights=WEIGHTS).stating(statement)
    assert weighted.to_json()["weights"] == {"no": 1, "yes": 3.5}
    assert "weights" not in plain.to_json()
    assert weighted.sha256 != plain.sha256
    before, after = audit(plain, people), audit(weighted, people)
    assert after.holds
    assert before.smallest_group == after.smallest_group
    assert "weights no 1, yes 3.5" in str(weighted)
    assert "weights" not in str(plain)
    if statement != "majority":
        assert "; predicts yes" in str(weighted)
        # what is stated is stated without them
        assert [node.shares or node.counts for node in weighted.nodes] == [n.shares or n.counts for n in plain.nodes]


def test_a_prediction_is_audited_by_its_weights(release, people):
    weighted = replace(release, weights=WEIGHTS).stating("majority")
    assert audit(weighted, people).holds
    for weights in (None, (1.0, 1.0), (3.5, 1.0)):
        found = audit(replace(weighted, weights=weights), people)
        assert [each.code for each in found.findings] == ["predictions-differ"]
    assert audit(replace(weighted, weights=(2.0, 7.0)), people).holds  # the same weights in other words


def test_an_attack_does_not_see_them(release, people):
    public = people.drop(["diabetes"])
    assert np.array_equal(attack(release, public).beliefs, attack(replace(release, weights=WEIGHTS), public).beliefs)


def test_many_classes_are_not_all_told(release):
    values = tuple("abcdef")
    attributes = (*release.attributes[:-1], replace(release.attributes[-1], values=values))
    nodes = tuple(replace(node, counts=(*node.counts, 1, 2, 3, 4)) if node.counts else node for node in release.nodes)
    many = replace(release, attributes=attributes, nodes=nodes, weights=(1.0, 1, 1, 1, 1, 2000))
    assert "classes have weights" in str(many)
    assert "; predicts f" in str(many)


def test_publish_takes_them(people):
    roles = Roles.resolve(people.names, target="diabetes")
    task = prepare(people, roles, KAnonymity(500), domain=None, hierarchies={})
    grown = grow(task)
    given = (grown, task.engine.features, task.table, roles, KAnonymity(500))
    plain = publish(*given, declared=task.declared)
    made = publish(*given, declared=task.declared, weights=np.array(WEIGHTS), statement="shares")
    assert (made.weights, made.statement) == (WEIGHTS, "shares")
    assert made.to_json() == replace(plain, weights=WEIGHTS).stating("shares").to_json()
    for weights in ((1.0,), (1.0, 0.0), (1.0, -2.0), (1.0, float("nan")), (1.0, 1e10)):
        with pytest.raises(RequirementError, match="one number for each class"):
            publish(*given, declared=task.declared, weights=weights)
