# SPDX-License-Identifier: Apache-2.0
"""Models that somebody else trained, as subjects of an audit.

A fitted model and rows enter; a `Subject` and the rows as a table leave. One kind of model is one file here, with a
function that takes the model or says that it is none of its own. What nobody takes is audited as a black box: it is
taken to tell people apart by every public column it is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shoal.audit.foreign import blackbox, centroids, dumps, j48, lightgbm, trees, xgboost
from shoal.audit.foreign.features import check_traced
from shoal.audit.result import Finding
from shoal.audit.rules import Rules
from shoal.audit.subject import Subject
from shoal.data.frames import to_table
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical, name_of, target_column
from shoal.errors import DataError
from shoal.release.model_file import keeps_rows, parts_inside

# the first that knows the model takes it; what none of them knows is a black box
READERS = (trees.read, lightgbm.read, xgboost.read, j48.read, centroids.read)


def read_model(
    model: Any, X: Any, y: Any = None, *, domain: Mapping[str, Sequence[Any]] | None = None, also: Sequence[str] = ()
) -> tuple[Subject, Table]:
    """A foreign model as a subject, and the rows with everything the audit will look at.

    Parameters
    ----------
    model
        A fitted model, a set of association rules, or a `Subject`, which is taken as it is.
    X
        The rows, with the columns the model was given.
    y
        The target's values, or the name of its column in `X`; None where the model has no target.
    domain
        Declared values or bounds of columns.
    also
        Further columns of `X` that are needed.
    """
    if isinstance(model, Rules):
        from shoal.audit.rules.spans import read_rules

        return read_rules(model, X, y, domain=domain, also=also)
    if X is None:
        raise DataError("rows-needed", "Auditing this model needs the rows it was trained on.")
    table = _read(X, y, model)
    target = None if y is None else y if isinstance(y, str) else name_of(y)
    for name in also:
        table[name]  # refuses with the nearest name
    if isinstance(model, Subject):
        return model, table
    if target is None and _predicts(model):
        raise DataError(
            "target-unnamed",
            "This model predicts a target, which is part of what it tells: give y, the target's values or its column.",
        )
    if _is_unfitted(model):
        raise DataError("not-fitted", f"This {type(dumps.final_estimator(model)).__name__} is not fitted yet.")
    if target is not None:
        _check_classes(model, table[target])
    _check_told_apart(model)
    domain = _of_features(domain, table, [*([] if target is None else [target]), *also])
    named = _named_by(model)
    features = table.drop([*([] if target is None else [target]), *(name for name in also if name not in named)])
    for reader in READERS:
        subject = reader(model, features, None if target is None else table[target], domain)
        if subject is not None:
            check_traced(model, X, features)
            break
    else:
        given = _given_to(model, table.drop([] if target is None else [target]), also)
        declared = {name: values for name, values in (domain or {}).items() if name in given}
        subject = blackbox.read(model, given, None if target is None else table[target], declared)
        if subject is None:
            raise DataError("not-a-release", f"audit needs a release or a fitted model; got {type(model).__name__}.")
        subject.one_target = target is None or blackbox.one_answer(model, X, given.names)
    subject.kept = _kept(model, table.n_rows, isinstance(subject, centroids.Centroids))
    return subject, table


def _is_unfitted(model: Any) -> bool:
    """Whether an estimator of scikit-learn was never fitted."""
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    final = dumps.final_estimator(model)
    if not isinstance(final, BaseEstimator) or dumps.is_of(final, "lightgbm") or dumps.is_of(final, "xgboost"):
        return False
    try:
        check_is_fitted(final)
    except NotFittedError:
        return True
    except TypeError:  # one that needs no fitting
        return False
    return False


def _check_told_apart(model: Any) -> None:
    """Refuse a model whose encoders tell apart what is one value in a table: people would seem alike who are not."""
    for _, part in parts_inside(model):
        for known in vars(part).get("categories_", ()) if hasattr(part, "__dict__") else ():
            values = known.tolist() if hasattr(known, "tolist") else []
            gaps = {type(each) for each in values if each is None or each != each}
            if len(gaps) > 1 or any(isinstance(each, int) and abs(each) >= 2**53 for each in values):
                raise DataError(
                    "model-sees-other",
                    f"{type(part).__name__} inside the model tells apart two kinds of missing values, or whole numbers "
                    "beyond 2**53, which are one to an audit. Give the model such numbers as texts, and one kind of "
                    "missing value.",
                )


def _of_features(
    domain: Mapping[str, Sequence[Any]] | None, table: Table, others: Sequence[str]
) -> Mapping[str, Sequence[Any]] | None:
    """The declared domain without the columns that are no features: of those nothing has to be known."""
    if domain is None:
        return None
    for name in domain:
        table[name]  # refuses with the nearest name
    return {name: declared for name, declared in domain.items() if name not in others}


def _given_to(model: Any, table: Table, also: Sequence[str]) -> Table:
    """The columns that a black box is given: those it names, or as many as it says; if in doubt, all of them."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        return table.select([str(name) for name in names])
    n = getattr(model, "n_features_in_", None)
    if n is None or n == len(table):
        return table
    rest = table.drop(also) if len(table) > len(also) else table
    if n != len(rest):
        raise DataError("column-count", f"The model takes {n} column(s); the rows have {len(rest)}.")
    return rest


def _kept(model: Any, n_rows: int, clusters: bool) -> tuple[Finding, ...]:
    """What a model keeps of the rows it was fitted on; of a clustering its own audit says whether it keeps labels."""
    kept = keeps_rows(model)
    if kept is not None:
        said = f"The fitted model keeps rows it was fitted on ({kept}): private values, person by person."
        return (Finding("stores-rows", "breach", said),)
    kept = None if clusters else keeps_rows(model, n_rows)
    if kept is not None:
        said = (
            f"The fitted model keeps something of every row it was fitted on, in their order ({kept}). "
            "Remove it before the file leaves the house."
        )
        return (Finding("stores-labels", "warning", said),)
    return ()


def _predicts(model: Any) -> bool:
    """Whether a model was taught a target. Without it bins would be too few, and groups that fail could seem exempt."""
    final = dumps.final_estimator(model)
    if isinstance(final, lightgbm.LightGBMModel | xgboost.XGBoostModel | j48.J48Model):
        return True
    if dumps.is_of(final, "lightgbm") or dumps.is_of(final, "xgboost"):
        return True
    from sklearn.base import is_classifier, is_clusterer, is_outlier_detector, is_regressor

    try:
        if is_classifier(model) or is_regressor(model):
            return True
        if is_clusterer(final) or is_outlier_detector(final):
            return False
    except (AttributeError, TypeError):  # no estimator of scikit-learn
        pass
    return hasattr(model, "predict") and not dumps.is_of(final, "sklearn")


def _check_classes(model: Any, target: Column) -> None:
    """Refuse a target with more values than the model has classes: it was taught something else."""
    classes = getattr(model, "classes_", None)
    if not isinstance(classes, np.ndarray):
        return  # it does not say, or predicts several targets
    n = len(target.compact().values)
    if n > len(classes):
        raise DataError(
            "other-target",
            f"The model knows {len(classes)} class(es), but column {target.name!r} has {n:,} different values: it was "
            "taught another target, or with other rows.",
        )


def _named_by(model: Any) -> frozenset[str]:
    """The columns that a model says it was given, as far as it says so: a sensitive column may be one of them."""
    names = getattr(model, "feature_names_in_", ())
    if isinstance(model, lightgbm.LightGBMModel):
        names = dict(line.partition("=")[::2] for line in model.text.splitlines()).get("feature_names", "").split(" ")
    elif isinstance(model, xgboost.XGBoostModel):
        names = model.body.get("learner", {}).get("feature_names", ())
    return frozenset(map(str, names))


def _read(X: Any, y: Any, model: Any) -> Table:
    names = getattr(model, "feature_names_in_", None)
    table = to_table(X, names=None if names is None else [str(name) for name in names])
    if y is None or isinstance(y, str):
        if y is not None:
            table[y]
        return table
    target = _target(y)
    if target.name in table and (target.name in _named_by(model) or not _same(table[target.name], target)):
        raise DataError(
            "target-clash",
            f"y is called {target.name!r}, and so is a column of the rows that is something else. Rename one of them.",
        )
    if len(target) != table.n_rows:
        raise DataError(
            "target-length", f"X has {table.n_rows} row(s) but y has {len(target)}. Give one value of y a row."
        )
    return table.with_column(target)


def _same(one: Column, other: Column) -> bool:
    """Whether two columns hold the same values row by row."""
    one, other = as_categorical(one.compact()), as_categorical(other.compact())
    return one.names == other.names and np.array_equal(one.codes, other.codes)


def _target(y: Any) -> Any:
    name = name_of(y)
    column = to_table({name: y})[name]
    return column if column.kind == "numeric" else target_column(y, name)
