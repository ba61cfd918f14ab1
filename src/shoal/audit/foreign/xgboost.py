# SPDX-License-Identifier: Apache-2.0
"""XGBoost's models as subjects of an audit. XGBoost is never imported: a model is asked for its own JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.audit.foreign import dumps
from shoal.audit.foreign.features import Feature, compared, reaches_sparse
from shoal.audit.foreign.grove import Numbers
from shoal.audit.foreign.grove_subject import GroveSubject
from shoal.audit.foreign.xgboost_json import parse, read_body
from shoal.audit.subject import Subject
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical
from shoal.errors import DataError


@dataclass(frozen=True, eq=False)
class XGBoostModel:
    """An XGBoost model as its own JSON, as `save_model("model.json")` and `save_raw("json")` write it.

    >>> XGBoostModel({"learner": {}, "version": [3, 2, 0]})
    <XGBoost model, version 3.2.0>
    """

    body: Mapping[str, Any]

    def __repr__(self) -> str:
        version = self.body.get("version")
        written = ".".join(map(str, version)) if isinstance(version, list) and len(version) == 3 else "unknown"
        return f"<XGBoost model, version {written[:20]}>"


def read(model: Any, table: Table, target: Column | None, domain: Mapping[str, Sequence[Any]] | None) -> Subject | None:
    """Take a model of XGBoost, alone or at the end of a pipeline, or its JSON; None for any other model."""
    final = dumps.final_estimator(model)
    body = _body(final)
    if body is None:
        return None
    booster = parse(body)
    features = dumps.features_of(model, booster.names, table)
    made_of = dumps.columns_of(model, features, table)
    if target is not None and (booster.objective.startswith(("binary:", "multi:")) or hasattr(final, "classes_")):
        target = as_categorical(target)
    missing = getattr(final, "missing", np.nan)
    bare = final is getattr(model, "best_estimator_", model)
    sparse = False if bare else reaches_sparse(model, table.names)
    seen: list[Feature | None] = []
    for i, feature in enumerate(features):
        if sparse is None:
            feature = None  # a zero is missing, or it is not
        if feature is not None:
            column = table[feature.column]
            if i in booster.categories:
                # what XGBoost does with a category that it does not know differs between versions
                feature = dumps.category_feature(column, booster.categories[i], np.inf)
            elif i in booster.categorical:
                feature = dumps.coded(feature, _whole)
            if not np.isnan(missing):
                feature = dumps.missing_at(feature, *_rounding_to(missing), column)
            if sparse:  # XGBoost takes what a sparse matrix leaves out to be missing
                feature = dumps.missing_at(feature, 0.0, 0.0, column)
        seen.append(feature)
    what = f"an {dumps.in_words('XGBoost', booster.grove)}"
    subject = GroveSubject(what, booster.grove, seen, made_of, table, target, domain)
    subject.one_target = booster.n_targets <= 1
    return subject


def _body(model: Any) -> Mapping[str, Any] | None:
    if isinstance(model, XGBoostModel):
        return model.body
    if isinstance(model, type) or not dumps.is_of(model, "xgboost"):
        return None
    if not hasattr(model, "save_raw"):
        try:
            model = model.get_booster()
        except (AttributeError, ValueError):
            raise DataError("not-fitted", f"This {type(model).__name__} is not fitted yet.") from None
    return read_body(bytes(model.save_raw("json")))


def _whole(numbers: Numbers) -> Numbers:
    """The category that XGBoost takes a number to be; none is below zero."""
    return np.floor(compared(numbers, single=True))


def _rounding_to(number: float) -> tuple[float, float]:
    """The smallest and the largest number that are this one as a float32."""
    own = np.float32(number)
    ends = []
    for side in (-np.inf, np.inf):
        middle = (float(own) + float(np.nextafter(own, np.float32(side)))) / 2
        ends.append(middle if np.float32(middle) == own else float(np.nextafter(middle, -side)))
    return ends[0], ends[1]
