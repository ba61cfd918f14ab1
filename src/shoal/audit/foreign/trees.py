# SPDX-License-Identifier: Apache-2.0
"""Trees and tree ensembles of scikit-learn, also at the end of a pipeline, read into a grove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from shoal.audit.foreign.dumps import final_estimator
from shoal.audit.foreign.features import sources, trace
from shoal.audit.foreign.grove import Grove, grow
from shoal.audit.foreign.grove_subject import GroveSubject
from shoal.audit.subject import Subject
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical, target_column

NAMES = {
    "DecisionTreeClassifier": "a decision tree",
    "DecisionTreeRegressor": "a regression tree",
    "ExtraTreeClassifier": "an extremely randomised tree",
    "ExtraTreeRegressor": "an extremely randomised regression tree",
    "RandomForestClassifier": "a random forest",
    "RandomForestRegressor": "a random forest for regression",
    "ExtraTreesClassifier": "an extra-trees forest",
    "ExtraTreesRegressor": "an extra-trees forest for regression",
    "GradientBoostingClassifier": "gradient boosting",
    "GradientBoostingRegressor": "gradient boosting for regression",
    "HistGradientBoostingClassifier": "histogram gradient boosting",
    "HistGradientBoostingRegressor": "histogram gradient boosting for regression",
    "BaggingClassifier": "a bagging of trees",
    "BaggingRegressor": "a bagging of regression trees",
}


def read(model: Any, table: Table, target: Column | None, domain: Mapping[str, Sequence[Any]] | None) -> Subject | None:
    """Take a fitted tree or tree ensemble of scikit-learn; None for any other model."""
    final = final_estimator(model)
    if not type(final).__module__.startswith("sklearn.") or type(final).__name__ not in NAMES:
        return None
    grove = read_grove(final)
    if grove is None:
        return None
    _, features = trace(model, table.names)
    made_of = sources(model, table.names)
    labels: tuple[str, ...] = ()
    if target is not None and hasattr(final, "classes_"):
        target = as_categorical(target)
        column = target_column(final.classes_, target.name)
        labels = tuple(column.names[code] for code in column.codes)
    return GroveSubject(_in_words(final, grove), grove, features, made_of, table, target, domain, labels)


def _in_words(model: Any, grove: Grove) -> str:
    name, leaves = NAMES[type(model).__name__], int(grove.is_leaf.sum())
    size = f"{leaves:,} lea{'f' if leaves == 1 else 'ves'}"
    if hasattr(model, "tree_"):
        return f"{name} of {size}"
    return f"{name} of {grove.n_trees:,} tree{'' if grove.n_trees == 1 else 's'} with {size}"


def read_grove(model: Any) -> Grove | None:
    """The trees of a fitted model; None where it predicts several targets, or is not made of trees alone."""
    name = type(model).__name__
    if getattr(model, "n_outputs_", 1) > 1:
        return None
    if name.startswith("HistGradientBoosting"):
        return _histogram(model)
    if name.startswith("GradientBoosting"):
        return _boosting(model)
    if name.startswith("Bagging"):
        return _bagging(model)
    if hasattr(model, "tree_"):
        return _tree(model.tree_, "mean", people=True)
    people = not model.bootstrap
    return grow([_tree(each.tree_, "mean", people=people) for each in model.estimators_])


def _tree(tree: Any, combine: Literal["mean", "sum"], *, people: bool, features: Any = None) -> Grove:
    """One tree of scikit-learn; `features` are the model's numbers of its features, where it has only some."""
    leaf = tree.children_left < 0
    feature = np.where(leaf, -1, tree.feature)
    if features is not None:
        feature = np.where(leaf, -1, np.asarray(features)[np.maximum(feature, 0)])
    n = tree.node_count
    value = tree.value[:, 0, :]
    return Grove(
        roots=np.zeros(1, dtype=np.int64),
        feature=feature.astype(np.int32),
        threshold=np.where(leaf, np.nan, tree.threshold),
        left=tree.children_left.astype(np.int64),
        right=tree.children_right.astype(np.int64),
        missing_left=tree.missing_go_to_left.astype(bool),
        left_set=np.full(n, -1, dtype=np.int32),
        sets=(),
        value=value,
        people=tree.n_node_samples.astype(np.int64) if people else None,
        single=True,
        combine=combine,
        base=np.zeros(value.shape[1]),
    )


def _boosting(model: Any) -> Grove | None:
    if model.init_ != "zero" and type(model.init_).__module__ != "sklearn.dummy":
        return None  # another model comes first, and it may tell more than the trees
    n_outputs = model.estimators_.shape[1]
    everybody = model.subsample == 1.0 and model.n_iter_no_change is None  # else some rows are left out
    trees = []
    for round_ in model.estimators_:
        for output, each in enumerate(round_):
            tree = _tree(each.tree_, "sum", people=everybody)
            value = np.zeros((tree.n_nodes, n_outputs))
            value[:, output] = model.learning_rate * tree.value[:, 0]
            trees.append(replace(tree, value=value))
    start = np.zeros((1, model.n_features_in_), dtype=np.float32)
    base = np.zeros(n_outputs) if model.init_ == "zero" else model._raw_predict_init(start)[0]
    return replace(grow(trees), base=base)


def _bagging(model: Any) -> Grove | None:
    own = (hasattr(each, "tree_") and type(each).__module__.startswith("sklearn.") for each in model.estimators_)
    if not all(own) or any(each.n_outputs_ > 1 for each in model.estimators_):
        return None
    pairs = zip(model.estimators_, model.estimators_features_, strict=True)
    return grow([_tree(each.tree_, "mean", people=False, features=chosen) for each, chosen in pairs])


def _histogram(model: Any) -> Grove:
    n_outputs = len(model._predictors[0])
    trees = [
        _histogram_tree(each, output, n_outputs, people=not model.do_early_stopping_)
        for round_ in model._predictors
        for output, each in enumerate(round_)
    ]
    return replace(grow(trees), base=np.asarray(model._baseline_prediction, dtype=np.float64).reshape(-1))


def _histogram_tree(predictor: Any, output: int, n_outputs: int, *, people: bool) -> Grove:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    by_set = nodes["is_categorical"].astype(bool) & ~leaf
    value = np.zeros((len(nodes), n_outputs))
    value[:, output] = nodes["value"]
    bits = np.unpackbits(predictor.raw_left_cat_bitsets.astype("<u4").view(np.uint8), axis=1, bitorder="little")
    return Grove(
        roots=np.zeros(1, dtype=np.int64),
        feature=np.where(leaf, -1, nodes["feature_idx"]).astype(np.int32),
        threshold=np.where(leaf | by_set, np.nan, nodes["num_threshold"]),
        left=np.where(leaf, -1, nodes["left"].astype(np.int64)),
        right=np.where(leaf, -1, nodes["right"].astype(np.int64)),
        missing_left=nodes["missing_go_to_left"].astype(bool),
        left_set=np.where(by_set, nodes["bitset_idx"].astype(np.int64), -1).astype(np.int32),
        sets=tuple(np.flatnonzero(row).astype(np.int64) for row in bits),
        value=value,
        people=nodes["count"].astype(np.int64) if people else None,
        single=False,
        combine="sum",
        base=np.zeros(n_outputs),
    )
