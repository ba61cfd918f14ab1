# SPDX-License-Identifier: Apache-2.0
"""People who count by their class: in gains, in pruning and in answers, never in a promise."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers.strategies import Case, cases
from shoal import AnonymousTreeClassifier, KAnonymity, RequirementError, load, load_sample
from shoal.data import Roles, load_hierarchies, to_table
from shoal.trees.mine import grow, mine_tree, prepare
from shoal.trees.prune import prune
from shoal.trees.weights import class_weights


def mine(case: Case, k: int, **options):
    hierarchies = load_hierarchies(case.hierarchies, case.roles.features)
    return mine_tree(case.table, case.roles, KAnonymity(k), domain=case.domain, hierarchies=hierarchies, **options)


def shape(release):
    """The tests of a tree without its counts."""
    return [(node.attribute, node.branches) for node in release.nodes]


@given(cases(max_rows=20), st.sampled_from(["gain", "gini"]), st.sampled_from([None, "cost", 0.25]))
@settings(max_examples=100)
def test_a_weight_of_two_is_as_everybody_of_a_class_twice(case, criterion, pruning):
    twice = Case([r for r in case.rows for _ in range(1 + (r["t"] == "y"))], case.roles, case.domain, case.hierarchies)
    weights = {label: 1 + (label == "y") for label in case.domain["t"]}
    weighed = mine(case, 1, criterion=criterion, class_weight=weights)
    assert shape(weighed) == shape(mine(twice, 1, criterion=criterion))
    if pruning is not None:  # the price of a leaf goes by people, who are fewer: just that nothing breaks
        assert len(mine(case, 1, criterion=criterion, class_weight=weights, pruning=pruning).nodes) <= len(
            weighed.nodes
        )


@given(cases(max_rows=30), st.integers(1, 4), st.sampled_from(["halves", "merge", None]))
@settings(max_examples=60)
def test_equal_weights_change_nothing(case, k, grouping):
    assume(len(case.rows) >= k)
    equal = dict.fromkeys(case.domain["t"], 0.3)
    plain = mine(case, k, grouping=grouping, pruning="cost")
    assert mine(case, k, grouping=grouping, pruning="cost", class_weight=equal).to_json() == plain.to_json()


def test_balanced_is_the_dict_of_it():
    table = load_sample().table.select(["age", "sex", "education", "diabetes"])
    n = table["diabetes"].counts()
    names = table["diabetes"].names
    by_hand = {name: float(n.sum() / (len(n) * own)) for name, own in zip(names, n, strict=True)}
    balanced = AnonymousTreeClassifier(50, class_weight="balanced").fit(table, "diabetes").release_
    assert (
        balanced.to_json()
        == AnonymousTreeClassifier(50, class_weight=by_hand).fit(table, "diabetes").release_.to_json()
    )
    plain = AnonymousTreeClassifier(50).fit(table, "diabetes").release_
    assert balanced.to_json() != plain.to_json()
    assert balanced.verdict.smallest_group >= 50


@pytest.mark.parametrize("public", [None, ["age", "sex"]], ids=str)
@pytest.mark.parametrize("statement", ["counts", "shares", "majority"])
def test_answers_go_by_weight(statement, public, tmp_path):
    table = load_sample().table.select(["age", "sex", "education", "diabetes"])
    options = {"privacy": 50, "public": public, "statement": statement}
    tree = AnonymousTreeClassifier(**options, class_weight={"no": 0.2, "yes": 1}).fit(table, "diabetes")
    assert tree.release_.weights == (1.0, 5.0)
    counts = (
        AnonymousTreeClassifier(50, public=public, class_weight={"no": 1, "yes": 5}).fit(table, "diabetes").release_
    )
    ends = counts.counts[counts.apply(table)] * [1, 5]
    names = np.array(["no", "yes"])
    assert (tree.predict(table) == names[ends.argmax(axis=1)]).all()
    if statement == "counts":
        assert np.allclose(tree.predict_proba(table), ends / ends.sum(axis=1, keepdims=True))
    assert tree.release_.verdict.holds
    tree.release_.save(tmp_path / "tree.json")
    assert (load(tmp_path / "tree.json").predict(table) == tree.predict(table)).all()
    plain = AnonymousTreeClassifier(**options).fit(table, "diabetes")
    is_yes = table["diabetes"].codes == 1
    assert plain.release_.weights is None
    assert (tree.predict(table) == "yes")[is_yes].mean() > (plain.predict(table) == "yes")[is_yes].mean()


@given(st.integers(0, 2**32 - 1), st.sampled_from(["gain", "gini"]), st.sampled_from([None, "halves", "merge"]))
@settings(max_examples=40)
def test_nodes_left_alone_would_have_been_pruned(seed, criterion, grouping):
    """Growing skips nodes that weighed pruning by cost is sure to make leaves; without skipping it is the same tree."""
    rng = np.random.default_rng(seed)
    x, v = rng.integers(0, 30, 600), rng.integers(0, 6, 600)
    label = np.where(rng.random(600) < 0.02 + 0.3 * (x > 20) + 0.1 * (v > 3), "y", "n")
    table = to_table({"x": x.tolist(), "v": [f"v{i}" for i in v], "t": label.tolist()})
    roles = Roles.resolve(table.names, target="t")
    weights = class_weights({"n": 1, "y": float(rng.integers(2, 20))}, table["t"])
    manner = {"criterion": criterion, "grouping": grouping, "weights": weights}

    def tree(pruning):
        task = prepare(table, roles, KAnonymity(5), domain=None, hierarchies={})
        return grow(task, **manner, pruning=pruning)

    def told(grown, number=0):
        node = grown[number]
        below = {branch: told(grown, child) for branch, child in node.children.items()}
        return node.split, node.counts.tolist(), below

    skipping, full = tree("cost"), tree(None)
    assert len(skipping) <= len(full)
    assert told(prune(skipping, "cost", weights)) == told(prune(full, "cost", weights))


@pytest.mark.parametrize("y", [[9, 10], [-1.0, 2.0], [False, True], ["no", "yes"]], ids=str)
def test_classes_are_named_in_their_own_type(y):
    rng = np.random.default_rng(0)
    x = rng.random(400)
    label = np.array(y)[(x + rng.normal(0, 0.3, 400) > 0.7).astype(int)]
    weights = {y[0]: 1, y[1]: 3}
    by_type = AnonymousTreeClassifier(10, class_weight=weights).fit(x[:, None], label)
    by_numpy = AnonymousTreeClassifier(10, class_weight={np.array(y)[i].item(): 1 + 2 * i for i in (0, 1)})
    assert by_type.release_.to_json() == by_numpy.fit(x[:, None], label).release_.to_json()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"no": 1, "maybe": 2}, "names 1 class"),
        ({"no": 1}, "lacks 1 of the classes"),
        ({"no": 1, "yes": 0}, "no positive number"),
        ({"no": 1, "yes": -1}, "no positive number"),
        ({"no": 1, "yes": float("nan")}, "no positive number"),
        ({"no": 1, "yes": float("inf")}, "no positive number"),
        ({"no": 1, "yes": "2"}, "no positive number"),
        ({"no": 1, "yes": True}, "no positive number"),
        ("equal", "is a word"),
        ([1, 2], "is a list"),
        (3, "is a int"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights, message):
    table = load_sample().table.select(["age", "diabetes"])
    with pytest.raises(RequirementError, match=rf"class_weight .*{message}.*'balanced' or None") as refusal:
        AnonymousTreeClassifier(50, class_weight=weights).fit(table, "diabetes")
    assert refusal.value.code == "parameter"
    assert "yes" not in str(refusal.value)
