# SPDX-License-Identifier: Apache-2.0
"""Boosters as subjects: leaves are the library's own, and spans are those that brute force finds by asking it."""

import itertools
import warnings

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from helpers.boosters import same_leaves
from shoal import audit
from shoal.audit.foreign import read_model
from shoal.audit.foreign.lightgbm import LightGBMModel
from shoal.audit.foreign.xgboost import XGBoostModel
from shoal.audit.foreign.xgboost_json import read_body
from shoal.errors import DataError

LIGHT = {"verbose": -1, "n_jobs": 1, "min_child_samples": 2, "num_leaves": 6, "min_data_per_group": 1, "cat_smooth": 1}
EXTREME = {"n_jobs": 1, "max_depth": 3, "enable_categorical": True, "min_child_weight": 0.1}
COLOURS = ["red", "green", "blue", "grey"]


def people(rng, n=60, missing=0.15):
    """Few values a column, so that brute force can try them all."""
    frame = pd.DataFrame(
        {
            "a b": rng.integers(-1, 3, n).astype(float),
            "colour": pd.Categorical(rng.choice(COLOURS, n), COLOURS),
            "member": rng.random(n) < 0.5,
            "size": rng.integers(0, 5, n).astype(float),
        }
    )
    for name in ("a b", "colour"):
        frame.loc[rng.random(n) < missing, name] = None
    return frame


def leaves_of(model, frame):
    """What the library itself says."""
    if isinstance(model, lgb.LGBMModel):
        return np.atleast_2d(model.booster_.predict(frame, pred_leaf=True).reshape(len(frame), -1))
    return model.apply(frame).reshape(len(frame), -1)


def lightgbm(**options):
    return lgb.LGBMClassifier(n_estimators=3, **LIGHT, **options)


def xgboost(**options):
    return xgb.XGBClassifier(n_estimators=3, **EXTREME, **options)


MODELS = {
    "lightgbm": lightgbm,
    "lightgbm zero": lambda: lightgbm(zero_as_missing=True),
    "lightgbm none": lambda: lightgbm(use_missing=False),
    "xgboost partition": lambda: xgboost(max_cat_to_onehot=1),
    "xgboost one-hot": lambda: xgboost(max_cat_to_onehot=9),
    "xgboost zero": lambda: xgboost(missing=0.0),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(4))
def test_leaves_are_the_librarys_own(name, seed):
    rng = np.random.default_rng(seed)
    frame, target = people(rng), rng.integers(0, 2 + seed % 2, 60)
    model = MODELS[name]().fit(frame, target)
    subject, table = read_model(model, frame, target)
    assert same_leaves(subject.leaves(table), leaves_of(model, frame))
    assert subject.exact
    assert not subject.numeric_target


def every_person(frame, private):
    """All that people can be for an attacker who does not know some columns, one table after the other."""
    values = {
        "a b": [*np.arange(frame["a b"].min(), frame["a b"].max() + 1), np.nan],
        "colour": [*[colour for colour in COLOURS if (frame["colour"] == colour).any()], None],
        "member": [False, True],
        "size": [*np.arange(frame["size"].min(), frame["size"].max() + 1)],
    }
    for name in ("a b", "colour"):
        if not frame[name].isna().any():
            values[name].pop()
    combinations = list(itertools.product(*(values[name] for name in private)))
    answer = pd.concat([frame] * len(combinations), ignore_index=True)
    for name, given in zip(private, zip(*combinations, strict=True), strict=True):
        answer[name] = pd.Series(given).repeat(len(frame)).to_numpy()
    return answer.astype(frame.dtypes.to_dict())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("private", [("colour",), ("a b", "member"), ("size", "colour"), ("a b", "colour", "size")])
def test_spans_are_those_of_brute_force(name, private):
    rng = np.random.default_rng(list(MODELS).index(name))
    frame, target = people(rng), rng.integers(0, 2, 60)
    model = MODELS[name]().fit(frame, target)
    subject, table = read_model(model, frame, target)
    reached = leaves_of(model, every_person(frame, private)).tolist()
    truth = [frozenset(map(tuple, reached[row :: len(frame)])) for row in range(len(frame))]
    spans = subject.spans(table, [column for column in frame if column not in private])
    number = {span: i for i, span in enumerate(dict.fromkeys(truth))}
    assert same_leaves(spans.of_row[:, None], np.array([[number[span]] for span in truth]))
    assert (spans.n_bins[spans.of_row] == 1).tolist() == [len(span) == 1 for span in truth]


# -------------------------------------------------------------------- dumps, names, pipelines


def test_a_dump_is_audited_as_the_object_is():
    rng = np.random.default_rng(0)
    frame, target = people(rng, 200), rng.integers(0, 2, 200)
    light, extreme = lightgbm().fit(frame, target), xgboost().fit(frame, target)
    pairs = [
        (light, LightGBMModel(light.booster_.model_to_string())),
        (light, light.booster_),
        (extreme, XGBoostModel(read_body(bytes(extreme.get_booster().save_raw("json"))))),
        (extreme, extreme.get_booster()),
    ]
    for model, dump in pairs:
        whole, own = (audit(each, frame, target, privacy=2, public=["a b", "colour"]) for each in (model, dump))
        assert own.sha256 == whole.sha256
        assert own.smallest_group == whole.smallest_group
        assert str(own) == str(whole)


def test_counts_of_lightgbm_agree_with_its_rows_and_differ_from_others():
    rng = np.random.default_rng(0)
    frame, target = people(rng, 200), rng.integers(0, 2, 200)
    model = lightgbm().fit(frame, target)
    assert "counts-differ" not in [each.code for each in audit(model, frame, target, privacy=2).findings]
    shorter = audit(model, frame[:150], target[:150], privacy=2)
    assert "counts-differ" in [each.code for each in shorter.findings]


def test_the_rounds_after_the_best_one_count_too():
    rng = np.random.default_rng(0)
    frame, target = people(rng, 200), rng.integers(0, 2, 200)
    train = lgb.Dataset(frame, target)
    valid = lgb.Dataset(frame[:50], 1 - target[:50], reference=train)
    params = {"objective": "binary", "verbose": -1, "num_threads": 1}
    stop = lgb.early_stopping(1, verbose=False)
    model = lgb.train(params, train, 30, valid_sets=[valid], callbacks=[stop], keep_training_booster=True)
    assert model.best_iteration < model.current_iteration()
    subject, _ = read_model(model, frame, target)
    assert subject.grove.n_trees == model.current_iteration()


def test_columns_are_found_by_name_in_any_order():
    rng = np.random.default_rng(0)
    frame, target = people(rng), rng.integers(0, 2, 60)
    for model in (lightgbm().fit(frame, target), xgboost().fit(frame, target)):
        dump = model.booster_ if hasattr(model, "booster_") else model.get_booster()
        other = frame[["size", "colour", "a b", "member"]].assign(more=1.0)
        subject, table = read_model(dump, other, target)
        assert same_leaves(subject.leaves(table), leaves_of(model, frame))
        assert set(subject.domain) == set(frame.columns)


def test_columns_are_found_by_position_where_the_model_has_other_names():
    rng = np.random.default_rng(0)
    rows, target = rng.integers(0, 5, (60, 3)).astype(float), rng.integers(0, 2, 60)
    for model in (lightgbm().fit(rows, target), xgboost().fit(rows, target)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the model was fitted without names
            expected = leaves_of(model, rows)
        dump = model.booster_ if hasattr(model, "booster_") else model.get_booster()
        subject, table = read_model(dump, pd.DataFrame(rows, columns=["x", "y", "z"]), target)
        assert same_leaves(subject.leaves(table), expected)


@pytest.mark.parametrize("columns", [["a b", "colour"], ["colour", "a b", "other", "size"]])
def test_columns_that_do_not_fit_are_refused(columns):
    rng = np.random.default_rng(0)
    frame, target = people(rng), rng.integers(0, 2, 60)
    model = lightgbm().fit(frame, target).booster_
    given = frame.rename(columns={"member": "other"})[columns]
    with pytest.raises(DataError) as caught:
        read_model(model, given, target)
    assert caught.value.code == "model-columns"


@pytest.mark.parametrize("last", [lightgbm, xgboost])
def test_at_the_end_of_a_pipeline(last):
    rng = np.random.default_rng(0)
    frame, target = people(rng), rng.integers(0, 2, 60)
    frame["colour"] = frame["colour"].astype(object).fillna("none")
    ways = ColumnTransformer(
        [
            ("scaled", StandardScaler(), ["a b", "size"]),
            ("one", OneHotEncoder(sparse_output=False), ["colour"]),
            ("place", OrdinalEncoder(), ["colour"]),
        ]
    )
    model = make_pipeline(ways, last()).fit(frame, target)
    subject, table = read_model(model, frame, target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that LightGBM was fitted with names
        expected = leaves_of(model[-1], model[:-1].transform(frame))
    assert same_leaves(subject.leaves(table), expected)
    assert set(subject.domain) == {"a b", "size", "colour"}
    assert subject.exact


def test_categories_given_as_numbers():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"code": rng.integers(0, 9, 80).astype(float), "b": rng.normal(size=80)})
    target = rng.integers(0, 2, 80)
    light = lightgbm().fit(rows, target, categorical_feature=[0])
    data = xgb.DMatrix(rows, target, feature_types=["c", "q"], enable_categorical=True)
    extreme = xgb.train({"max_depth": 3, "max_cat_to_onehot": 1, "nthread": 1}, data, 3)
    for model, expected in (
        (light, light.booster_.predict(rows, pred_leaf=True)),
        (extreme, extreme.predict(data, pred_leaf=True)),
    ):
        subject, table = read_model(model, rows, target)
        assert len(subject.grove.sets)
        assert same_leaves(subject.leaves(table), expected)


def test_categories_that_nobody_wrote_down_are_refused():
    rng = np.random.default_rng(0)
    frame, target = people(rng), rng.integers(0, 2, 60)
    for model, cut in ((lightgbm(), "lightgbm"), (xgboost(), "xgboost")):
        model.fit(frame, target)
        if cut == "lightgbm":
            dump = LightGBMModel(model.booster_.model_to_string().partition("\npandas_categorical")[0])
        else:
            body = read_body(bytes(model.get_booster().save_raw("json")))
            body["learner"]["gradient_booster"]["model"]["cats"]["enc"] = []
            dump = XGBoostModel(body)
        with pytest.raises(DataError) as caught:
            read_model(dump, frame, target)
        assert caught.value.code == "model-categories"


def test_rows_with_other_categories_are_refused():
    rng = np.random.default_rng(0)
    frame, target = people(rng), rng.integers(0, 2, 60)
    other = frame.assign(colour=frame["colour"].cat.rename_categories({"red": "canary"}))
    for model in (lightgbm().fit(frame, target), xgboost().fit(frame, target)):
        with pytest.raises(DataError) as caught:
            read_model(model, other, target)
        assert caught.value.code == "model-categories"
        assert "canary" not in str(caught.value)


def test_ordered_categories_and_categories_that_are_numbers():
    rng = np.random.default_rng(0)
    frame, target = people(rng), rng.integers(0, 2, 60)
    frame["grade"] = pd.Categorical(rng.choice(["low", "mid", "high"], 60), ["low", "mid", "high"], ordered=True)
    frame["code"] = pd.Categorical(rng.choice([30, 4, 500], 60), [500, 30, 4])
    for model in (lightgbm().fit(frame, target), xgboost().fit(frame, target)):
        subject, table = read_model(model, frame, target)
        assert same_leaves(subject.leaves(table), leaves_of(model, frame))
    model = lightgbm().fit(frame[["code", "size"]], target)
    plain = frame[["size"]].assign(code=frame["code"].astype(int))  # as a CSV would have it
    subject, table = read_model(model.booster_, plain, target)
    assert same_leaves(subject.leaves(table), leaves_of(model, frame[["code", "size"]]))


def test_a_category_of_the_domain_that_the_model_does_not_know():
    rng = np.random.default_rng(0)
    frame, target = people(rng, missing=0), rng.integers(0, 2, 60)
    frame["colour"] = pd.Categorical(frame["colour"].astype(str))
    domain = {"colour": [*sorted(COLOURS), "violet"]}
    light, extreme = lightgbm().fit(frame, target), xgboost().fit(frame, target)
    for model, possible in ((light, True), (extreme, False)):
        subject, _ = read_model(model, frame, target, domain=domain)
        atoms = subject.tests.atoms[subject.tests.names.index("colour")]
        assert atoms.possible.tolist() == [True] * 4 + [possible]
        (numbers,) = atoms.numbers.values()
        assert np.isnan(numbers[-1]) == possible  # LightGBM takes it to be missing, XGBoost has no answer


def test_regressors_and_models_that_are_not_fitted():
    rng = np.random.default_rng(0)
    frame = people(rng)
    for model in (lgb.LGBMRegressor(n_estimators=2, **LIGHT), xgb.XGBRegressor(n_estimators=2, **EXTREME)):
        with pytest.raises(DataError) as caught:
            read_model(model, frame, frame["size"].to_numpy())
        assert caught.value.code == "not-fitted"
        model.fit(frame, rng.normal(size=60))
        subject, _ = read_model(model, frame, rng.normal(size=60))
        assert subject.numeric_target
    assert subject.what.startswith("an XGBoost model of 2 trees with ")


def test_the_ends_of_a_private_column_in_the_file_are_somebodys_values():
    """LightGBM writes the smallest and the largest value of each column beside the trees."""
    rows = pd.DataFrame({"age": np.arange(200) % 50, "income": np.arange(200.0)})
    y = (rows["income"] > 90).to_numpy().astype(int)
    model = lgb.LGBMClassifier(n_estimators=2, min_child_samples=5, verbose=-1).fit(rows, y)
    found = {finding.code: finding for finding in audit(model, rows, y, public=["age"], privacy=4).findings}
    assert found["states-ends"].severity == "breach"
    assert "'income'" in found["states-ends"].message
    assert "'age'" not in found["states-ends"].message
    everything = audit(model, rows, y, privacy=4).findings
    assert "states-ends" not in {finding.code for finding in everything}
    clipped = rows.assign(income=rows["income"].clip(10, 180))
    model = lgb.LGBMClassifier(n_estimators=2, min_child_samples=5, verbose=-1).fit(clipped, y)
    assert "states-ends" not in {f.code for f in audit(model, clipped, y, public=["age"], privacy=4).findings}
