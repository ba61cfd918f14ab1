# SPDX-License-Identifier: Apache-2.0
"""The JSON that XGBoost writes of a model, read into arrays; nothing in it is believed before it is checked."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.foreign import dumps
from shoal.audit.foreign.dumps import refuse
from shoal.audit.foreign.grove import Grove, Ids, Numbers, grow
from shoal.errors import ReleaseError

LARGEST = float(np.finfo(np.float32).max)
DELETED = 2**31 - 1  # the feature of a node that pruning took away
LOGIT = {"binary:logistic", "reg:logistic"}
LOG = {"count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft"}


@dataclass(frozen=True, eq=False)
class Booster:
    """What XGBoost's JSON says.

    Attributes
    ----------
    grove
        The trees. Numbers of nodes are not those of XGBoost where pruning took some away.
    names
        The features' names; ``f0``, ``f1``, ... where it knows none.
    objective
        What was learned, such as "binary:logistic".
    categorical
        The features that are asked for sets of categories, or were said to be categorical.
    categories
        The categories of features, where they are known.
    n_targets
        How many targets were taught.
    """

    grove: Grove
    names: tuple[str, ...]
    objective: str
    categorical: frozenset[int]
    categories: Mapping[int, tuple[str, ...]]
    n_targets: int


def read_body(text: str | bytes) -> dict[str, Any]:
    """The JSON of a model from its text, which is not looked into yet."""
    dumps.check_size(text)
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        refuse("it is no complete JSON")
    if not isinstance(body, dict) or "learner" not in body:
        raise ReleaseError("not-a-dump", "This is no JSON of XGBoost: it has no learner.")
    return body


def parse(body: Mapping[str, Any]) -> Booster:
    """Read XGBoost's JSON, and refuse what XGBoost does not write."""
    learner = _object(body, "learner")
    said = _object(learner, "learner_model_param")
    n_features = _count(said, "num_feature")
    n_targets = _count(said, "num_target", 1)
    n_outputs = max(_count(said, "num_class"), n_targets, 1)
    model, weight = _model(_object(learner, "gradient_booster"))
    entries = model["trees"]
    if _count(_object(model, "gbtree_model_param"), "num_trees") != len(entries):
        refuse("it has not as many trees as it says")
    output = _ints(model, "tree_info", len(entries))
    if ((output < 0) | (output >= n_outputs)).any():
        refuse("a tree is of no output")
    nodes = sum(_count(_object(entry, "tree_param"), "num_nodes") for entry in entries)
    dumps.check_room(nodes, n_outputs, n_features)
    trees = [_tree(entry, n_features, n_outputs, int(output[i]), float(weight[i])) for i, entry in enumerate(entries)]
    objective = _object(learner, "objective").get("name")
    if not isinstance(objective, str):
        refuse("it does not say what was learned")
    grove = replace(grow(trees), base=_base(said.get("base_score"), objective, n_outputs))
    dumps.check_trees(grove.roots, grove.left, grove.right)
    types = _texts(learner, "feature_types", n_features)
    asked = np.unique(grove.feature[grove.left_set >= 0])
    return Booster(
        grove=grove,
        names=_texts(learner, "feature_names", n_features) or tuple(f"f{i}" for i in range(n_features)),
        objective=objective,
        categorical=frozenset(i for i, each in enumerate(types) if each == "c") | frozenset(asked.tolist()),
        categories=_categories(model.get("cats"), n_features),
        n_targets=n_targets,
    )


def _model(booster: Mapping[str, Any]) -> tuple[Mapping[str, Any], Numbers]:
    """The trees' part of a booster, and how much each tree counts: with dart, some less than others."""
    name = booster.get("name")
    if name == "gblinear":
        raise ReleaseError("linear-booster", "The model is linear (gblinear): it has no trees to follow.")
    if name not in ("gbtree", "dart"):
        refuse("it is of no kind that XGBoost has")
    model = _object(_object(booster, "gbtree") if name == "dart" else booster, "model")
    trees = model.get("trees")
    if not isinstance(trees, list) or not trees:
        refuse("it has no trees")
    return model, _floats(booster, "weight_drop", len(trees)) if name == "dart" else np.ones(len(trees))


def _tree(entry: Any, n_features: int, n_outputs: int, output: int, weight: float) -> Grove:
    """One tree, without the nodes that pruning took away."""
    said = _object(entry, "tree_param")
    n = _count(said, "num_nodes")
    if n == 0:
        refuse("a tree has no node")
    left, right = _ints(entry, "left_children", n), _ints(entry, "right_children", n)
    feature, cut = _ints(entry, "split_indices", n), _floats(entry, "split_conditions", n)
    default_left, by_set = (_ints(entry, key, n) != 0 for key in ("default_left", "split_type"))
    ends = left < 0
    gone = ends & (feature == DELETED)
    if gone[0] or (~ends & ((feature < 0) | (feature >= n_features))).any():
        refuse("a split asks for no feature")
    if (left >= n).any() or ((right < 0) | (right >= n))[~ends].any():
        refuse("a branch leads to no node")
    by_set &= ~ends
    sets, left_set = _sets(entry, by_set)
    # XGBoost sends right what is in a set, and left what is below a number: the float before it and less
    below = np.nextafter(cut.astype(np.float32), np.float32(-np.inf)).astype(np.float64)
    kept = np.flatnonzero(~gone)
    number = np.full(n + 1, -1)  # as last entry that of a leaf's children
    number[kept] = np.arange(len(kept))
    left, right = (number[np.where(ends, n, child)] for child in (left, right))
    if (~ends & ~gone & ((left < 0) | (right < 0))).any():
        refuse("a branch leads to no node")
    return Grove(
        roots=np.zeros(1, dtype=np.int64),
        feature=np.where(ends, -1, feature)[kept].astype(np.int32),
        threshold=np.where(ends | by_set, np.nan, below)[kept],
        left=np.where(by_set, right, left)[kept],
        right=np.where(by_set, left, right)[kept],
        missing_left=((default_left ^ by_set) & ~ends)[kept],
        left_set=left_set[kept].astype(np.int32),
        sets=sets,
        value=_values(entry, _count(said, "size_leaf_vector", 0), ends, cut, n_outputs, output)[kept] * weight,
        people=None,  # XGBoost states sums of second derivatives, which count nobody
        single=True,
        combine="sum",
        base=np.zeros(n_outputs),
    )


def _values(
    entry: Mapping[str, Any], width: int, ends: NDArray[np.bool_], cut: Numbers, n_outputs: int, output: int
) -> Numbers:
    """What each leaf adds to every output: one number to one of them, or a vector to all."""
    value = np.zeros((len(ends), n_outputs))
    if width <= 1:
        value[ends, output] = cut[ends]
        return value
    if width != n_outputs or "leaf_weights" not in entry:
        raise ReleaseError(
            "other-version", "The model has several numbers a leaf, in a form other than that of XGBoost 3.2."
        )
    n_leaves = int(ends.sum())
    place = _ints(entry, "right_children", len(ends))[ends]
    if ((place < 0) | (place >= n_leaves)).any():
        refuse("a leaf has no numbers")
    value[ends] = _floats(entry, "leaf_weights", n_leaves * width).reshape(n_leaves, width)[place]
    return value


def _sets(entry: Mapping[str, Any], by_set: NDArray[np.bool_]) -> tuple[tuple[Ids, ...], Ids]:
    """The categories that go right in XGBoost, and which of these sets each split asks for."""
    nodes = _ints(entry, "categories_nodes")
    starts, sizes = _ints(entry, "categories_segments", len(nodes)), _ints(entry, "categories_sizes", len(nodes))
    members = _ints(entry, "categories")
    left_set = np.full(len(by_set), -1)
    if ((nodes < 0) | (nodes >= len(by_set))).any() or len(np.unique(nodes)) < len(nodes):
        refuse("a set of categories is of no split")
    left_set[nodes] = np.arange(len(nodes))
    if (by_set & (left_set < 0)).any():
        refuse("a split asks for a set that is not there")
    if ((starts < 0) | (sizes < 0) | (starts + sizes > len(members))).any() or (members < 0).any():
        refuse("a set of categories is none")
    if sizes.sum() > len(members):
        refuse("sets of categories overlap")
    sets = tuple(np.unique(members[start : start + size]) for start, size in zip(starts, sizes, strict=True))
    return sets, np.where(by_set, left_set, -1)


def _base(stated: Any, objective: str, n_outputs: int) -> Numbers:
    """What is added to the trees: stated as an answer, so brought back to what the trees add up to."""
    try:
        answer = np.atleast_1d(np.array(json.loads(stated), dtype=np.float64))
    except (TypeError, ValueError, RecursionError):
        refuse("base_score is no number")
    if answer.shape not in ((1,), (n_outputs,)) or not np.isfinite(answer).all():
        refuse("base_score has not as many numbers as there are outputs")
    if (objective in LOGIT and not ((answer > 0) & (answer < 1)).all()) or (objective in LOG and (answer <= 0).any()):
        refuse("base_score is no answer of this model")
    if objective in LOGIT:
        answer = np.log(answer / (1 - answer))
    elif objective in LOG:
        answer = np.log(answer)
    return np.broadcast_to(answer, (n_outputs,)).copy()


def _categories(stated: Any, n_features: int) -> dict[int, tuple[str, ...]]:
    """The categories of features: numbers, or texts one after the other with the places where they end."""
    if stated is None or not _list(stated, "enc"):
        return {}
    entries = _list(stated, "enc")
    if len(entries) != n_features:
        refuse("it does not list the categories of every feature")
    found = {}
    for i, entry in enumerate(entries):
        values = _list(entry, "values")
        if "offsets" in entry:
            values = _split_texts(_ints(entry, "values"), _ints(entry, "offsets"))
        if values:
            found[i] = dumps.category_texts(values)
    return found


def _split_texts(letters: Ids, ends: Ids) -> list[str]:
    if not len(ends):
        return []
    if ends[0] != 0 or ends[-1] != len(letters) or (np.diff(ends) < 0).any() or (np.abs(letters) > 255).any():
        refuse("the texts of categories do not end where they should")
    # XGBoost 3.1 and 3.2 cut UTF-8 at numbers of letters, not of bytes (dmlc/xgboost#12371), so nothing is known of
    # a list with a letter beyond ASCII
    raw = letters.astype(np.uint8).tobytes()
    return [raw[a:b].decode() for a, b in itertools.pairwise(ends)] if raw.isascii() else []


# -------------------------------------------------------------------- pieces of JSON


def _object(entry: Any, key: str) -> Mapping[str, Any]:
    inner = entry.get(key) if isinstance(entry, Mapping) else None
    if not isinstance(inner, Mapping):
        refuse(f"{key} is not there")
    return inner


def _list(entry: Any, key: str) -> list[Any]:
    inner = entry.get(key) if isinstance(entry, Mapping) else None
    if not isinstance(inner, list):
        refuse(f"{key} is no list")
    return inner


def _count(entry: Mapping[str, Any], key: str, default: int | None = None) -> int:
    """A count, which XGBoost writes as a text."""
    word = entry.get(key, default)
    if not isinstance(word, str | int) or not re.fullmatch("[0-9]{1,9}", str(word)):
        refuse(f"{key} is no count")
    return int(word)


def _ints(entry: Mapping[str, Any], key: str, n: int | None = None) -> Ids:
    inner = _list(entry, key)
    if not all(isinstance(each, int) for each in inner):
        refuse(f"{key} holds something that is no whole number")
    return _array(inner, key, n, np.int64)


def _floats(entry: Mapping[str, Any], key: str, n: int) -> Numbers:
    inner = _list(entry, key)
    if not all(isinstance(each, int | float) for each in inner):
        refuse(f"{key} holds something that is no number")
    numbers = _array(inner, key, n, np.float64)
    if not (np.abs(numbers) <= LARGEST).all():
        refuse(f"{key} holds a number that is too large")
    return numbers


def _array(inner: list[Any], key: str, n: int | None, kind: Any) -> NDArray[Any]:
    if n is not None and len(inner) != n:
        refuse(f"{key} has not as many numbers as it should")
    try:
        return np.array(inner, dtype=kind)
    except OverflowError:
        refuse(f"{key} holds a number that is too large")


def _texts(entry: Mapping[str, Any], key: str, n: int) -> tuple[str, ...]:
    """As many texts as there are features, or none at all."""
    inner = entry.get(key, [])
    if not isinstance(inner, list) or len(inner) not in (0, n) or not all(isinstance(each, str) for each in inner):
        refuse(f"{key} does not name every feature")
    return tuple(inner)
