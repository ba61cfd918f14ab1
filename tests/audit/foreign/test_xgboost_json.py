# SPDX-License-Identifier: Apache-2.0
"""XGBoost's JSON read into arrays gives XGBoost's own leaves and predictions, and a broken one is refused."""

import copy
import json

import numpy as np
import pytest
import xgboost as xgb

from helpers.boosters import is_trees, random_rows, same_leaves, walk
from shoal.audit.foreign.xgboost_json import parse, read_body
from shoal.errors import ReleaseError, ShoalError


def train(data, rounds=4, **params):
    return xgb.train({"max_depth": 4, "nthread": 1, "verbosity": 0, **params}, data, rounds)


def matrix(rows, target=None, types=None):
    return xgb.DMatrix(rows, target, feature_types=types, enable_categorical=types is not None, nthread=1)


def agree(booster, data, rows):
    """Leaves tell the same rows apart, and predictions are the same up to sums of float32."""
    grove = parse(read_body(bytes(booster.save_raw("json")))).grove
    assert is_trees(grove)
    leaves = walk(grove, rows)
    assert same_leaves(leaves, booster.predict(data, pred_leaf=True).reshape(len(rows), -1))
    margin = booster.predict(data, output_margin=True).reshape(len(rows), -1)
    np.testing.assert_allclose(grove.value[leaves].sum(axis=1) + grove.base, margin, atol=1e-5)
    return grove


OBJECTIVES = {
    "reg:squarederror": {},
    "reg:absoluteerror": {},
    "reg:logistic": {},
    "reg:gamma": {},
    "reg:tweedie": {},
    "count:poisson": {},
    "binary:logistic": {},
    "binary:logitraw": {},
    "binary:hinge": {},
    "multi:softprob": {"num_class": 3},
    "multi:softmax": {"num_class": 3, "base_score": 0.5},
    "rank:pairwise": {},
    "reg:quantileerror": {"quantile_alpha": [0.25, 0.75]},
}


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("booster", ["gbtree", "dart"])
def test_leaves_and_predictions_are_xgboosts(objective, booster):
    rng = np.random.default_rng([len(booster), list(OBJECTIVES).index(objective)])
    rows = random_rows(rng)
    most = {"multi": 3, "binary": 2, "reg:logistic": 2, "rank": 3}
    n = next((n for start, n in most.items() if objective.startswith(start)), 4)
    target = rng.integers(0, n, len(rows)) + (objective == "reg:gamma")
    data = matrix(rows, target)
    if objective == "rank:pairwise":
        data.set_group([50, 100])
    params = {"rate_drop": 0.5} if booster == "dart" else {"num_parallel_tree": 2, "subsample": 0.7}
    model = train(data, objective=objective, booster=booster, **OBJECTIVES[objective], **params)
    new = random_rows(rng, missing=0.3)
    agree(model, matrix(new), new)


@pytest.mark.parametrize("seed", range(24))
def test_categories_and_ways_to_grow(seed):
    rng = np.random.default_rng(seed)
    n_categories = int(rng.integers(2, 60))
    rows = random_rows(rng, missing=rng.choice([0, 0.1, 0.5]), categories=n_categories)
    types = ["float", "int", "c"]
    target = rng.normal(size=len(rows)) + np.nan_to_num(rows[:, 2] % 3)
    params = {"max_cat_to_onehot": [1, 100][seed % 2], "tree_method": ["hist", "approx"][seed // 2 % 2]}
    model = train(matrix(rows, target, types), **params)
    new = random_rows(rng, missing=0.2, categories=n_categories)
    grove = agree(model, matrix(new, types=types), new)
    assert len(grove.sets)


@pytest.mark.parametrize("seed", range(6))
def test_nodes_that_pruning_took_away_are_gone(seed):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng)
    model = train(matrix(rows, rng.normal(size=len(rows))), tree_method="exact", gamma=3.0)
    body = json.loads(model.save_raw("json"))
    trees = body["learner"]["gradient_booster"]["model"]["trees"]
    deleted = sum(int(tree["tree_param"]["num_deleted"]) for tree in trees)
    assert deleted
    grove = agree(model, matrix(rows), rows)
    assert grove.n_nodes == sum(int(tree["tree_param"]["num_nodes"]) for tree in trees) - deleted


def test_several_numbers_a_leaf():
    rng = np.random.default_rng(0)
    rows = random_rows(rng)
    targets = np.column_stack([rows[:, 0] > 0, rng.normal(size=(len(rows), 2))])
    for strategy in ("multi_output_tree", "one_output_per_tree"):
        model = train(matrix(rows, targets), multi_strategy=strategy, tree_method="hist")
        assert agree(model, matrix(rows), rows).base.shape == (3,)


def test_numbers_are_compared_as_float32():
    # 0.1 as a float32 is above 0.1: what lies between the two goes where the float32 goes
    rows = np.array([[0.1], [np.nextafter(0.1, 1)], [0.1 + 1e-10], [0.1 + 1e-8], [0.2]] * 20)
    model = train(matrix(rows, np.tile([0.0, 0, 0, 1, 1], 20)), min_child_weight=0, tree_method="exact")
    agree(model, matrix(rows), rows)


def test_names_and_categories():
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a b": rng.normal(size=90),
            "n": pd.Categorical(rng.choice([9, 3, 5], 90), [9, 3, 5]),
            "t": pd.Categorical(rng.choice(["two", "b", ""], 90), ["two", "b", ""]),
            "é": pd.Categorical(rng.choice(["éa", "b"], 90), ["éa", "b"]),
            "yes": rng.random(90) < 0.5,
        }
    )
    model = train(xgb.DMatrix(frame, rng.normal(size=90), enable_categorical=True))
    read = parse(read_body(bytes(model.save_raw("json"))))
    assert read.names == ("a b", "n", "t", "é", "yes")
    # XGBoost writes texts beyond ASCII wrongly, so they are not believed
    assert read.categories == {1: ("9", "3", "5"), 2: ("two", "b", "")}
    assert read.categorical == {1, 2, 3}
    assert read.objective == "reg:squarederror"


# -------------------------------------------------------------------- broken and hostile JSON


@pytest.fixture(scope="module")
def raw():
    rng = np.random.default_rng(0)
    rows = random_rows(rng)
    data = matrix(rows, rng.integers(0, 3, 150), ["float", "int", "c"])
    return bytes(train(data, 1, objective="multi:softprob", num_class=3, max_cat_to_onehot=1).save_raw("json")).decode()


def test_a_file_cut_off_anywhere_is_refused(raw):
    for at in range(0, len(raw) - 1, 101):
        with pytest.raises(ReleaseError):
            parse(read_body(raw[:at]))


def test_a_changed_file_is_refused_or_read_as_trees(raw):
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(400):
        at = int(rng.integers(0, len(raw)))
        mutant = raw[:at] + rng.choice(list('0123456789-.,[]{}":xE')) + raw[at + int(rng.integers(0, 3)) :]
        try:
            grove = parse(read_body(mutant)).grove
        except ShoalError:
            refused += 1
        else:
            assert is_trees(grove)
    assert refused > 100


def places(body, path=()):
    """Every place in a JSON body that a hostile hand can change."""
    items = body.items() if isinstance(body, dict) else enumerate(body[:3]) if isinstance(body, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


@pytest.mark.parametrize("poison", [None, -1, 10**9, 10**40, 1e300, "x", "1e999", [], [[]], {}, True, float("nan")])
def test_anything_anywhere_never_breaks_the_reader(raw, poison):
    body = json.loads(raw)
    for path in list(places(body)):
        mutant = copy.deepcopy(body)
        inner = mutant
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = poison
        try:
            grove = parse(read_body(json.dumps(mutant))).grove
        except ShoalError:
            continue
        assert is_trees(grove)
        assert np.isfinite(grove.value).all()
        assert np.isfinite(grove.base).all()


def change(raw, key, value):
    body = json.loads(raw)
    body["learner"]["gradient_booster"]["model"]["trees"][0][key] = value
    return body


def test_a_tree_that_is_none_is_refused(raw):
    left = json.loads(raw)["learner"]["gradient_booster"]["model"]["trees"][0]["left_children"]
    for wrong in ([0, *left[1:]], [2, *left[1:]], [10**6, *left[1:]], left[:-1]):
        with pytest.raises(ReleaseError) as caught:
            parse(change(raw, "left_children", wrong))
        assert caught.value.code == "broken-dump"


def test_linear_boosters_are_refused():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 2))
    model = train(matrix(rows, rows[:, 0]), booster="gblinear", max_depth=0)
    with pytest.raises(ReleaseError, match="gblinear"):
        parse(read_body(bytes(model.save_raw("json"))))


def test_other_json_is_refused():
    for text in ("[]", "{}", "3", '{"format": "shoal-release/1"}'):
        with pytest.raises(ReleaseError) as caught:
            read_body(text)
        assert caught.value.code == "not-a-dump"
    with pytest.raises(ReleaseError) as caught:
        read_body("[" * 100_000)
    assert caught.value.code == "broken-dump"
