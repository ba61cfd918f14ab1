# SPDX-License-Identifier: Apache-2.0
"""LightGBM's text read into arrays gives LightGBM's own leaves and predictions, and a broken text is refused."""

import re

import lightgbm as lgb
import numpy as np
import pytest

from helpers.boosters import is_trees, random_rows, same_leaves, walk
from shoal import audit
from shoal.audit.foreign.dumps import missing_at, number_feature
from shoal.audit.foreign.lightgbm import LightGBMModel
from shoal.audit.foreign.lightgbm_text import ZERO, parse
from shoal.data.frames import to_table
from shoal.errors import ReleaseError, ShoalError


def train(rows, target, rounds=4, categorical=(), **params):
    params = {
        "verbose": -1,
        "num_threads": 1,
        "num_leaves": 8,
        "min_data_in_leaf": 3,
        "min_data_per_group": 1,
        "cat_smooth": 1,
        **params,
    }
    data = lgb.Dataset(rows, target, categorical_feature=list(categorical) or "auto")
    return lgb.train(params, data, rounds)


OBJECTIVES = [{"objective": "regression"}, {"objective": "binary"}, {"objective": "multiclass", "num_class": 3}]
BOOSTING = [{"boosting": "gbdt"}, {"boosting": "dart"}, {"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1}]
MISSING = [{}, {"use_missing": False}, {"zero_as_missing": True}]


@pytest.mark.parametrize("categorical", [(), (2,)], ids=["numbers", "categories"])
@pytest.mark.parametrize("missing", MISSING, ids=["nan", "none", "zero"])
@pytest.mark.parametrize("boosting", BOOSTING, ids=["gbdt", "dart", "rf"])
@pytest.mark.parametrize("objective", OBJECTIVES, ids=["regression", "binary", "multiclass"])
def test_leaves_and_predictions_are_lightgbms(objective, boosting, missing, categorical):
    rng = np.random.default_rng([OBJECTIVES.index(objective), BOOSTING.index(boosting), MISSING.index(missing)])
    rows = random_rows(rng)
    target = rng.integers(0, 2 if objective["objective"] == "binary" else 3, len(rows))
    booster = train(rows, target, categorical=categorical, **objective, **boosting, **missing)
    read = parse(booster.model_to_string())
    new = random_rows(rng, missing=0.3)
    new[:30, 2] = rng.integers(-3, 99, 30)  # categories that no row had
    seen = new.copy()
    for i in read.zero_missing:
        seen[np.abs(seen[:, i]) <= ZERO, i] = np.nan
    assert read.zero_missing == (frozenset() if "zero_as_missing" not in missing else asked(read) - set(categorical))
    leaves = walk(read.grove, seen)
    assert same_leaves(leaves, booster.predict(new, pred_leaf=True).reshape(len(new), -1))
    raw = booster.predict(new, raw_score=True).reshape(len(new), -1)
    if boosting["boosting"] == "rf":  # LightGBM adds up in its raw score and divides in its answers
        raw /= booster.current_iteration()
    np.testing.assert_allclose(read.grove.value[leaves].sum(axis=1) + read.grove.base, raw)


def asked(read):
    return set(read.grove.feature[read.grove.feature >= 0].tolist())


@pytest.mark.parametrize("seed", range(30))
def test_leaves_are_lightgbms_for_many_seeds(seed):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, missing=rng.choice([0, 0.1, 0.5]), categories=int(rng.integers(2, 80)))
    booster = train(rows, rng.normal(size=len(rows)), categorical=(1, 2) if seed % 2 else (2,), objective="regression")
    read = parse(booster.model_to_string())
    new = random_rows(rng, missing=0.2, categories=90)
    new[:, 0] = np.where(rng.random(len(new)) < 0.3, rng.choice(rows[:, 0], len(new)), new[:, 0])
    assert same_leaves(walk(read.grove, new), booster.predict(new, pred_leaf=True))


@pytest.mark.parametrize("objective", OBJECTIVES, ids=["regression", "binary", "multiclass"])
def test_counts_are_of_training_rows(objective):
    rng = np.random.default_rng(0)
    rows = random_rows(rng)
    booster = train(rows, rng.integers(0, 2, len(rows)), 8, categorical=(2,), **objective)
    grove = parse(booster.model_to_string()).grove
    leaves = walk(grove, rows)
    assert (grove.people[grove.roots] == len(rows)).all()
    for number, people in zip(*np.unique(leaves, return_counts=True), strict=True):
        assert grove.people[number] == people


@pytest.mark.parametrize(
    "sampling",
    [
        {"bagging_fraction": 0.5, "bagging_freq": 1},
        {"pos_bagging_fraction": 0.5, "bagging_freq": 1},
        {"data_sample_strategy": "goss"},
    ],
)
def test_counts_of_samples_are_left_out(sampling):
    rng = np.random.default_rng(0)
    booster = train(random_rows(rng), rng.integers(0, 2, 150), objective="binary", **sampling)
    assert parse(booster.model_to_string()).grove.people is None


def test_a_model_that_found_nothing_is_a_leaf():
    rng = np.random.default_rng(0)
    booster = train(random_rows(rng), rng.integers(0, 2, 150), objective="binary", min_data_in_leaf=1000)
    read = parse(booster.model_to_string())
    assert read.grove.n_nodes == read.grove.n_trees == 1
    assert read.grove.people.tolist() == [150]


def test_a_threshold_may_be_infinite():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 1))
    rows[::2] = np.nan
    booster = train(rows, np.isnan(rows[:, 0]) * 5.0 + rng.normal(size=200), objective="regression")
    assert re.search("^threshold=.*inf", booster.model_to_string(), re.MULTILINE)
    new = np.array([[np.nan], [-1e300], [1e300], [0.0]])
    assert same_leaves(walk(parse(booster.model_to_string()).grove, new), booster.predict(new, pred_leaf=True))


def test_pandas_categories_names_and_zero():
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a b": rng.normal(size=90), "c": pd.Categorical(rng.choice([9, 3, 5], 90), [9, 3, 5])})
    booster = train(frame, rng.normal(size=90), objective="regression")
    read = parse(booster.model_to_string())
    assert read.names == ("a_b", "c")
    assert read.categories == (("9", "3", "5"),)
    assert read.categorical == {1}
    assert read.objective == "regression"


def test_zero_as_missing_as_a_feature():
    column = to_table({"a": [-1.0, -ZERO, 0.0, ZERO, 2 * ZERO, 1.0]})["a"]
    feature = missing_at(number_feature("a"), -ZERO, ZERO, column)
    assert np.isnan(feature.numbers(column)).tolist() == [False, True, True, True, False, False, True]
    assert feature.breaks.tolist() == [np.nextafter(-ZERO, -1), ZERO]


# -------------------------------------------------------------------- broken and hostile text


@pytest.fixture(scope="module")
def text():
    rng = np.random.default_rng(0)
    booster = train(random_rows(rng), rng.normal(size=150), 2, categorical=(2,), objective="regression")
    assert "num_cat=1" in booster.model_to_string() or "num_cat=2" in booster.model_to_string()
    return booster.model_to_string()


def test_a_text_cut_off_anywhere_before_its_last_line_is_refused(text):
    end = text.index("\nend of parameters\n")
    for at in [*range(0, end, 37), end, end + 10]:
        with pytest.raises(ReleaseError):
            parse(text[:at])


def test_a_changed_text_is_refused_or_read_as_trees(text):
    rng = np.random.default_rng(1)
    end = text.index("\nend of trees\n") + 20
    refused = 0
    for _ in range(600):
        at = int(rng.integers(0, end))
        mutant = text[:at] + rng.choice(list("0123456789-. =\nxe")) + text[at + int(rng.integers(0, 3)) :]
        try:
            grove = parse(mutant).grove
        except ShoalError:
            refused += 1
        else:
            assert is_trees(grove)
    assert refused > 100


@pytest.mark.parametrize(
    ("change", "to", "code"),
    [
        (r"left_child=\S+", "left_child=0", "broken-dump"),
        (r"left_child=\S+", "left_child=99", "broken-dump"),
        (r"right_child=\S+", "right_child=-99", "broken-dump"),
        (r"split_feature=\S+", "split_feature=3", "broken-dump"),
        (r"decision_type=\S+", "decision_type=64", "broken-dump"),
        (r"threshold=\S+", "threshold=nan", "broken-dump"),
        (r"cat_boundaries=\S+ \S+", "cat_boundaries=0 999999999", "broken-dump"),
        (r"cat_threshold=\S+", "cat_threshold=-1", "broken-dump"),
        (r"leaf_count=\S+", "leaf_count=-5", "broken-dump"),
        (r"num_leaves=\d+", "num_leaves=999999999", "too-large"),
        (r"max_feature_idx=\d+", "max_feature_idx=10**9", "broken-dump"),
        (r"num_tree_per_iteration=\d+", "num_tree_per_iteration=0", "broken-dump"),
        (r"tree_sizes=\S+ ", "tree_sizes=", "broken-dump"),
        (r"is_linear=0", "is_linear=1", "linear-trees"),
        (r"version=v4", "version=v9", "other-version"),
        (r"^tree", "shrub", "not-a-dump"),
        (r"pandas_categorical:null", "pandas_categorical:[[", "broken-dump"),
        (r"pandas_categorical:null", 'pandas_categorical:[["a", "a"]]', "broken-dump"),
        (r"pandas_categorical:null", 'pandas_categorical:[[["a"]]]', "broken-dump"),
        (r"pandas_categorical:null", "pandas_categorical:" + "[" * 100_000, "broken-dump"),
    ],
)
def test_what_no_library_writes_is_refused(text, change, to, code):
    mutant, n = re.subn(change, to, text, count=1, flags=re.MULTILINE)
    assert n == 1
    with pytest.raises(ReleaseError) as caught:
        parse(mutant)
    assert caught.value.code == code


def test_a_linear_tree_of_lightgbms_own_is_refused():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 2))
    booster = train(rows, rows @ [1, 2], objective="regression", linear_tree=True)
    with pytest.raises(ReleaseError, match="linear_tree"):
        parse(booster.model_to_string())


def chain(n):
    """A tree that is one long path."""
    tree = [
        "Tree=0",
        f"num_leaves={n + 1}",
        "num_cat=0",
        "split_feature=" + "0 " * n,
        "threshold=" + " ".join(map(str, range(n))),
        "decision_type=" + "0 " * n,
        "left_child=" + " ".join(str(~i) for i in range(n)),
        "right_child=" + " ".join(str(i + 1) for i in range(n - 1)) + f" {~n}",
        "leaf_value=" + "0 " * (n + 1),
    ]
    head = "tree\nversion=v4\nnum_tree_per_iteration=1\nmax_feature_idx=0\nfeature_names=a\nfeature_infos=none\n"
    return f"{head}tree_sizes=1\n\n" + "\n".join(tree) + "\n\n\nend of trees\n\nend of parameters\n"


def test_trees_too_deep_are_refused():
    with pytest.raises(ReleaseError, match="levels deep"):
        parse(chain(2001))


def test_a_tree_as_deep_as_may_be_is_audited():
    rows = {"a": np.arange(1900.0)}
    verdict = audit(LightGBMModel(chain(1899)), rows, np.arange(1900) % 2, privacy=2)
    assert (verdict.n_groups, verdict.smallest_group) == (1900, 1)
