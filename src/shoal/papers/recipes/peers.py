# SPDX-License-Identifier: Apache-2.0
"""What one would take otherwise: scikit-learn's tree with large leaves, its boosting, and diffprivlib's tree.

All are given a matrix: numbers as they are, categories as codes of the training rows.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit import Audit, audit
from shoal.data import Table, to_table
from shoal.papers.recipes.beyond_data import Study

Matrix = NDArray[np.float64]


def matrix(study: Study, rows: Table) -> Matrix:
    """Numbers and codes; a missing number is nan, a category that training rows do not have is -1."""
    columns = []
    for name in study.features:
        known, own = study.train[name], rows[name]
        if known.kind == "numeric":
            columns.append(np.append(own.numbers, np.nan)[own.codes])
        else:
            code_of = {value: code for code, value in enumerate(known.names)}
            codes = [code_of.get(value, -1) for value in own.names]
            columns.append(np.array([*codes, len(known.names)], dtype=np.float64)[own.codes])
    return np.column_stack(columns)


def _categorical(study: Study) -> list[int]:
    return [place for place, name in enumerate(study.features) if study.train[name].kind == "categorical"]


def one_hot_tree(study: Study, k: int) -> tuple[Matrix, list[str], Audit]:
    """scikit-learn's tree of which every leaf has k rows, over one-hot columns, and what our audit says of it."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    hot = ("hot", OneHotEncoder(handle_unknown="ignore"), _categorical(study))
    encode = ColumnTransformer([hot], remainder="passthrough")
    model = make_pipeline(encode, DecisionTreeClassifier(min_samples_leaf=k, random_state=0))
    rows, target = matrix(study, study.train), study.train[study.target]
    model.fit(rows, np.array(target.names)[target.codes])
    return model.predict_proba(matrix(study, study.test)), list(model.classes_), _audit_tree(model, rows, study, k)


def _audit_tree(model: Any, rows: Matrix, study: Study, k: int) -> Audit:
    """The audit of a model of a matrix, whose columns have no names but their places."""
    table = to_table(rows)
    if study.person is not None:
        table = table.with_column(study.train[study.person])
    return audit(
        model,
        table.with_column(study.train[study.target]),
        study.target,
        public=[f"x{place}" for place, name in enumerate(study.features) if name in study.public],
        privacy=k,
        person=study.person,
    )


def plain_boosting(study: Study) -> tuple[Matrix, list[str]]:
    """scikit-learn's gradient boosting without any promise: how much there is to learn."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    target = study.train[study.target]
    rows, asked = (_nonnegative(matrix(study, table), study) for table in (study.train, study.test))
    model = HistGradientBoostingClassifier(categorical_features=_categorical(study), random_state=0)
    model.fit(rows, np.array(target.names)[target.codes])
    return model.predict_proba(asked), list(model.classes_)


def _nonnegative(rows: Matrix, study: Study) -> Matrix:
    """Unknown categories as missing, which boosting knows."""
    for place in _categorical(study):
        rows[rows[:, place] < 0, place] = np.nan
    return rows


def dp_tree(study: Study, epsilon: float, seed: int) -> tuple[Matrix, list[str]]:
    """The tree of diffprivlib, where that is installed; it promises something else: ε, and nothing about groups."""
    tree_class = _diffprivlib_tree()
    target = study.train[study.target]
    train, test = (np.nan_to_num(matrix(study, table), nan=-1.0) for table in (study.train, study.test))
    bounds = train.min(axis=0), train.max(axis=0)
    model = tree_class(epsilon=epsilon, bounds=bounds, classes=list(range(target.n_codes)), random_state=seed)
    model.fit(train, target.codes.astype(np.int64))
    return model.predict_proba(np.clip(test, *bounds)), list(target.names)


def _diffprivlib_tree() -> Any:
    """diffprivlib 0.6.6 imports two names of types that scikit-learn 1.9 has no more: they are put there first."""
    import sklearn.tree._tree as compiled

    for name, kind in (("DOUBLE", np.float64), ("DTYPE", np.float32)):
        if not hasattr(compiled, name):
            setattr(compiled, name, kind)
    return importlib.import_module("diffprivlib.models").DecisionTreeClassifier
