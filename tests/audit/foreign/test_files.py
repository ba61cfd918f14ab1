# SPDX-License-Identifier: Apache-2.0
"""Model files are known by what they hold, and nothing they hold is run unless the caller trusts them."""

import json
import os
import pickle
import sys

import joblib
import lightgbm as lgb
import numpy as np
import pytest
import skops.io as sio
import xgboost as xgb
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from helpers.boosters import random_rows
from shoal import AnonymousTreeClassifier
from shoal.audit.foreign import files
from shoal.audit.foreign.files import load_model
from shoal.audit.foreign.lightgbm import LightGBMModel
from shoal.audit.foreign.xgboost import XGBoostModel
from shoal.errors import ReleaseError, ShoalError


class Canary:
    """A pickle that leaves a folder behind when it is loaded."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.fixture(scope="module")
def tree():
    rng = np.random.default_rng(0)
    return DecisionTreeClassifier(max_depth=3).fit(rng.normal(size=(60, 2)), rng.integers(0, 2, 60))


@pytest.fixture(scope="module")
def release():
    return AnonymousTreeClassifier(privacy=5).fit({"a": list(range(20)), "y": ["x", "z"] * 10}, "y").release_


@pytest.fixture(scope="module")
def boosters():
    rng = np.random.default_rng(0)
    rows, target = random_rows(rng), rng.integers(0, 2, 150)
    params = {"objective": "binary", "verbose": -1, "num_threads": 1}
    return (
        lgb.train(params, lgb.Dataset(rows, target), 2),
        xgb.train({"objective": "binary:logistic", "nthread": 1}, xgb.DMatrix(rows, target), 2),
    )


def refused(path, **options):
    with pytest.raises(ReleaseError) as caught:
        load_model(path, **options)
    message = str(caught.value)
    assert path.name in message
    assert "\n" not in message
    return caught.value.code


# -------------------------------------------------------------------- what is taken


def test_a_release(tmp_path, release):
    release.save(tmp_path / "tree.anything")
    assert load_model(tmp_path / "tree.anything").nodes == release.nodes


def test_lightgbm_and_xgboost_by_their_content(tmp_path, boosters):
    lightgbm, xgboost = boosters
    lightgbm.save_model(tmp_path / "m.json")  # a name that lies
    xgboost.save_model(tmp_path / "x.json")
    (tmp_path / "x.json").rename(tmp_path / "m.txt")
    assert load_model(tmp_path / "m.json") == LightGBMModel(lightgbm.model_to_string())
    read = load_model(str(tmp_path / "m.txt"))
    assert isinstance(read, XGBoostModel)
    assert read.body == json.loads(xgboost.save_raw("json"))


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), RandomForestClassifier(n_estimators=3)])
def test_skops(tmp_path, model):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2))
    model.fit(rows, rng.integers(0, 2, 60))
    sio.dump(model, tmp_path / "m.pkl")  # a name that lies the other way
    assert (load_model(tmp_path / "m.pkl").predict(rows) == model.predict(rows)).all()


@pytest.mark.parametrize("pack", [0, ("zlib", 3), ("gzip", 3), ("bz2", 3), ("xz", 3), ("lzma", 3)])
def test_a_pickle_that_is_trusted(tmp_path, tree, pack):
    joblib.dump(tree, tmp_path / "m.skops", compress=pack)
    assert refused(tmp_path / "m.skops") == "pickle"
    assert load_model(tmp_path / "m.skops", trust_pickle=True).tree_.node_count == tree.tree_.node_count


# -------------------------------------------------------------------- what is not


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", ["m.pkl", "m.json", "m.skops", "m.txt"])
def test_a_pickle_is_not_run(tmp_path, protocol, name):
    canary = tmp_path / "canary"
    (tmp_path / name).write_bytes(pickle.dumps(Canary(canary), protocol=protocol))
    assert refused(tmp_path / name) == "pickle"
    assert not canary.exists()


def test_a_packed_pickle_is_not_run(tmp_path):
    canary = tmp_path / "canary"
    for pack in ("zlib", "gzip", "bz2", "xz", "lzma"):
        joblib.dump(Canary(canary), tmp_path / "m", compress=(pack, 3))
        assert refused(tmp_path / "m") == "pickle"
    assert not canary.exists()


def test_the_canary_sings_where_a_pickle_is_trusted(tmp_path):
    canary = tmp_path / "canary"
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(Canary(canary)))
    assert refused(tmp_path / "m.pkl", trust_pickle=True) == "model-file"  # what mkdir returns is no model
    assert canary.exists()


def test_the_refusal_of_a_pickle_says_why_and_what_to_do(tmp_path, tree):
    joblib.dump(tree, tmp_path / "m.pkl")
    with pytest.raises(ReleaseError) as caught:
        load_model(tmp_path / "m.pkl")
    for words in ("run whatever its author put into it", "skops.io.dump", "trust_pickle=True", "--trust-pickle"):
        assert words in str(caught.value)


def test_broken_and_other_pickles(tmp_path, tree):
    whole = pickle.dumps(tree)
    for content in (whole[:50], whole[:-1], pickle.dumps({"a": 1}), pickle.dumps(DecisionTreeClassifier)):
        (tmp_path / "m.pkl").write_bytes(content)
        assert refused(tmp_path / "m.pkl", trust_pickle=True) == "model-file"
    (tmp_path / "m.pkl").write_bytes(b"cno_such_module\nThing\np0\n.")
    with pytest.raises(ReleaseError, match="'no_such_module' is not installed"):
        load_model(tmp_path / "m.pkl", trust_pickle=True)


class SkopsCanary(DecisionTreeClassifier):
    """A model that leaves a file behind when skops builds it."""

    def __setstate__(self, state):
        open(state["canary"], "w").close()


def test_hostile_skops(tmp_path, tree):
    hostile = SkopsCanary().fit([[0.0], [1.0]], [0, 1])
    hostile.canary = str(tmp_path / "canary")
    sio.dump(hostile, tmp_path / "m.skops")
    assert refused(tmp_path / "m.skops") == "unknown-types"
    assert not (tmp_path / "canary").exists()
    sio.load(tmp_path / "m.skops", trusted=sio.get_untrusted_types(file=tmp_path / "m.skops"))
    assert (tmp_path / "canary").exists()


def test_a_function_inside_skops_is_refused(tmp_path):
    sio.dump(make_pipeline(FunctionTransformer(os.system), DecisionTreeClassifier()), tmp_path / "m.skops")
    assert refused(tmp_path / "m.skops") == "unknown-types"


def test_truncated_files(tmp_path, tree, release, boosters):
    _, xgboost = boosters
    release.save(tmp_path / "r")
    wholes = [sio.dumps(tree), bytes(xgboost.save_raw("json")), (tmp_path / "r").read_bytes().rstrip()]
    for whole in wholes:
        for at in np.linspace(0, len(whole) - 1, 25).astype(int):
            (tmp_path / "m").write_bytes(whole[:at])
            refused(tmp_path / "m")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"{L\x00\x00", "UBJSON"),
        (b"binf\x00", "old binary form"),
        (b"booster[0]:\n0:leaf=1\n", "dump_model"),
        (b'[\n  { "nodeid": 0 }]', "dump_model"),
        (b'{"name": "tree", "tree_info": [{}]}', "dump_model"),
        (b"\x08\x07\x12\x08skl2onnx", "ONNX"),
        (b"\x89HDF\r\n", "Keras"),
        (b"CBM1", "CatBoost"),
        (b"<?xml version='1.0'?><PMML/>", "PMML"),
        (b"age,sex\n1,2\n", "no file of a model"),
        (b"city\nParis\nRome\n", "no file of a model"),
        (b'{"a": 1}', "of no model"),
        (b'{"learner": ', "cut off"),
        (b"\x00" * 100, "no file of a model"),
    ],
)
def test_other_files_are_refused_with_what_they_are(tmp_path, content, words):
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ReleaseError, match=words):
        load_model(tmp_path / "m", trust_pickle=True)


def test_xgboosts_own_binary_form_is_named(tmp_path, boosters):
    boosters[1].save_model(tmp_path / "m.ubj")
    with pytest.raises(ReleaseError, match="UBJSON"):
        load_model(tmp_path / "m.ubj")


def test_other_zip_files(tmp_path):
    np.savez(tmp_path / "m.npz", a=np.zeros(3))
    assert refused(tmp_path / "m.npz") == "unknown-file"


def test_a_folder_a_missing_file_and_one_that_is_too_large(tmp_path, monkeypatch):
    assert refused(tmp_path) == "not-a-file"
    assert refused(tmp_path / "none") == "cannot-read"
    os.mkfifo(tmp_path / "pipe")
    assert refused(tmp_path / "pipe") == "not-a-file"
    (tmp_path / "m").write_bytes(b"tree\n" * 100)
    monkeypatch.setattr(files, "MAX_MODEL_BYTES", 10)
    assert refused(tmp_path / "m") == "too-large"


def test_without_skops_the_extra_is_named(tmp_path, tree, monkeypatch):
    sio.dump(tree, tmp_path / "m.skops")
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ShoalError, match=r"pip install shoal\[models\]"):
        load_model(tmp_path / "m.skops")
