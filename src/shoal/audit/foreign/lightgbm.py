# SPDX-License-Identifier: Apache-2.0
"""LightGBM's models as subjects of an audit. LightGBM is never imported: a model is asked for its own text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.audit.foreign import dumps
from shoal.audit.foreign.features import Feature
from shoal.audit.foreign.grove_subject import GroveSubject
from shoal.audit.foreign.lightgbm_text import ZERO, Booster, parse
from shoal.audit.subject import Subject
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical
from shoal.errors import DataError

CLASSIFIES = {"binary", "multiclass", "multiclassova"}


@dataclass(frozen=True)
class LightGBMModel:
    """A LightGBM model as the text of its own file, as `Booster.save_model` writes it.

    >>> LightGBMModel("tree\\nversion=v4\\n")
    <LightGBM model, 16 characters>
    """

    text: str

    def __repr__(self) -> str:
        return f"<LightGBM model, {len(self.text)} characters>"


def read(model: Any, table: Table, target: Column | None, domain: Mapping[str, Sequence[Any]] | None) -> Subject | None:
    """Take a model of LightGBM, alone or at the end of a pipeline, or its text; None for any other model."""
    final = dumps.final_estimator(model)
    text = _text(final)
    if text is None:
        return None
    booster = parse(text)
    features = dumps.features_of(model, booster.names, table)
    made_of = dumps.columns_of(model, features, table)
    if target is not None and (booster.objective in CLASSIFIES or hasattr(final, "classes_")):
        target = as_categorical(target)
    what = f"a {dumps.in_words('LightGBM', booster.grove)}"
    seen = _as_lightgbm_sees(booster, features, table, bare=final is getattr(model, "best_estimator_", model))
    subject = GroveSubject(what, booster.grove, seen, made_of, table, target, domain)
    subject.ends = booster.ends
    return subject


def _text(model: Any) -> str | None:
    if isinstance(model, LightGBMModel):
        return model.text
    if isinstance(model, type) or not dumps.is_of(model, "lightgbm"):
        return None
    if not hasattr(model, "model_to_string"):
        try:
            model = model.booster_
        except (AttributeError, ValueError):
            raise DataError("not-fitted", f"This {type(model).__name__} is not fitted yet.") from None
    # all trees, whatever the best round was: all of them stand in the file
    return str(model.model_to_string(num_iteration=-1))


def _as_lightgbm_sees(
    booster: Booster, features: Sequence[Feature | None], table: Table, *, bare: bool
) -> list[Feature | None]:
    """The features with pandas' categories as their numbers, categories cut to whole numbers, and zero as missing."""
    categories = _categories(booster, features, table) if bare else {}
    seen: list[Feature | None] = []
    for i, feature in enumerate(features):
        if feature is not None:
            column = table[feature.column]
            if i in categories:
                # LightGBM takes a category that it does not know to be missing
                feature = dumps.category_feature(column, categories[i], np.nan)
            elif i in booster.categorical:
                feature = dumps.coded(feature, np.trunc)
            if i in booster.zero_missing:
                feature = dumps.missing_at(feature, -ZERO, ZERO, column)
        seen.append(feature)
    return seen


def _categories(booster: Booster, features: Sequence[Feature | None], table: Table) -> Mapping[int, tuple[str, ...]]:
    """The categories of each feature that was a categorical column of pandas.

    The text lists them in the order of these columns but does not name them. They are the columns that hold no numbers
    here, or else those that LightGBM took to be categorical.
    """
    if not booster.categories:
        return {}
    columns = [table[feature.column] for feature in features if feature is not None]
    of_table = [i for i, column in enumerate(columns) if column.kind == "categorical" and column.labels != "boolean"]
    for places in (of_table, sorted(booster.categorical)):
        if len(places) == len(booster.categories):
            return dict(zip(places, booster.categories, strict=True))
    raise DataError(
        "model-categories",
        f"The model was trained on {len(booster.categories)} categorical column(s), and the table has "
        f"{len(of_table)}. Give the rows as the model was given them.",
    )
