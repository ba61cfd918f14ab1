# SPDX-License-Identifier: Apache-2.0
"""The transformers of scikit-learn that treat every column by itself, as far as an audit has to know them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
ONE_TO_ONE = {
    "StandardScaler",
    "MinMaxScaler",
    "MaxAbsScaler",
    "RobustScaler",
    "QuantileTransformer",
    "PowerTransformer",
    "OrdinalEncoder",
}
ENCODERS = {"OneHotEncoder", "OrdinalEncoder"}


def _kind(step: Any) -> str:
    """The class of a transformer, if it is scikit-learn's own."""
    return type(step).__name__ if type(step).__module__.startswith("sklearn.") else ""


def outputs_of(step: Any) -> list[int] | None:
    """For every output of a fitted transformer the input it is made of; None where that cannot be told."""
    kind = _kind(step)
    if kind in ENCODERS and not all(_is_plain(known) for known in step.categories_):
        return None
    if kind in ONE_TO_ONE:
        return list(range(step.n_features_in_))
    if kind == "KBinsDiscretizer":
        each = [1] * step.n_features_in_ if step.encode == "ordinal" else [int(n) for n in step.n_bins_]
        return _repeat(each)
    if kind == "OneHotEncoder":
        return _repeat([_n_columns(step, i) for i in range(step.n_features_in_)])
    if kind == "SimpleImputer":
        indicators = [] if step.indicator_ is None else [int(i) for i in step.indicator_.features_]
        return [*_filled(step), *indicators]
    if kind == "MissingIndicator":
        return [int(i) for i in step.features_]
    return None


def _is_plain(known: NDArray[Any]) -> bool:
    """Whether the categories of an encoder are texts, numbers, yes or no: what a table gives back as it was."""
    plain = (str, int, float, np.number, np.bool_, type(None))
    return known.dtype.kind in "biufUS" or all(isinstance(each, plain) for each in known.tolist())


def selects(step: Any) -> bool:
    """Whether a fitted transformer only keeps some of its inputs, as they are."""
    return bool(_kind(step)) and hasattr(step, "get_support")


def sparse_after(step: Any, sparse: bool | None) -> bool | None:
    """Whether a matrix is sparse, without zeros that are written out, after a transformer; None where unknown."""
    kind = _kind(step)
    if kind == "OneHotEncoder":
        return bool(step.sparse_output)
    if kind == "KBinsDiscretizer":
        return bool(step.encode == "onehot")
    if sparse and kind in ("SimpleImputer", "MissingIndicator", "QuantileTransformer"):
        return None  # these may write zeros
    return True if kind == "MissingIndicator" and step.sparse is True else sparse


def _filled(step: Any) -> list[int]:
    """The inputs that an imputer keeps: it drops those that had no value at all."""
    places = range(step.n_features_in_)
    if step.strategy == "constant" or step.keep_empty_features:
        return list(places)
    return [i for i in places if not _is_missing(step.statistics_[i])]


def _repeat(each: list[int]) -> list[int]:
    return [i for i, n in enumerate(each) for _ in range(n)]


def _n_columns(step: Any, place: int) -> int:
    """How many columns an encoder makes of one of its inputs."""
    n = len(step.categories_[place])
    infrequent = getattr(step, "infrequent_categories_", None)
    if infrequent is not None and infrequent[place] is not None:
        n -= len(infrequent[place]) - 1  # all of them share one
    dropped = step.drop_idx_ is not None and step.drop_idx_[place] is not None
    return n - dropped


def affine_of(step: Any, place: int, output: int) -> tuple[float, float] | None:
    """(factor, offset) of what a transformer does to an input, missing aside; None if it is no such function."""
    kind = _kind(step)
    if kind == "SimpleImputer":
        same = output < len(_filled(step)) and _is_missing(step.missing_values)
        return (1.0, 0.0) if same else None
    if kind == "MinMaxScaler" and not step.clip:
        return (float(step.scale_[place]), float(step.min_[place]))
    center = {"StandardScaler": "mean_", "RobustScaler": "center_", "MaxAbsScaler": ""}.get(kind)
    if center is None:
        return None
    shift = getattr(step, center, None) if center else None
    factor = 1.0 if step.scale_ is None else 1.0 / float(step.scale_[place])
    return (factor, 0.0 if shift is None else -float(shift[place]) * factor)


def turns_of(step: Any, place: int) -> Numbers:
    """The numbers between which an output never falls as the input rises."""
    kind = _kind(step)
    if kind in ENCODERS:
        known = [float(each) for each in step.categories_[place] if _is_number(each)]
    elif kind == "KBinsDiscretizer" and step.encode != "ordinal":
        known = [float(edge) for edge in step.bin_edges_[place]]
    elif kind in ("SimpleImputer", "MissingIndicator") and _is_number(step.missing_values):
        known = [float(step.missing_values)]
    else:
        known = []
    numbers = np.array(known, dtype=np.float64)
    return np.unique(np.concatenate([np.nextafter(numbers, -np.inf), numbers]))


def prepare(step: Any, place: int, cells: NDArray[Any]) -> tuple[NDArray[Any], list[Any]]:
    """The cells with missing values as the transformer knows them, and for each input some value that it takes."""
    kind = _kind(step)
    if kind in ENCODERS:
        filler = [next((each for each in known if not _is_missing(each)), known[0]) for known in step.categories_]
        known = step.categories_[place]
        if any(each is None for each in known) and not any(_is_missing(each) and each is not None for each in known):
            cells = _missing_as(cells, None)
        return cells, filler
    if kind in ("SimpleImputer", "MissingIndicator"):
        text = cells.dtype == object
        if text and step.missing_values is None:
            cells = _missing_as(cells, None)
        return cells, ["" if text else 1.0] * step.n_features_in_
    return cells, [1.0] * step.n_features_in_  # 1, for some take no number below it


def _missing_as(cells: NDArray[Any], missing: Any) -> NDArray[Any]:
    answer = cells.astype(object)
    answer[[_is_missing(each) for each in cells]] = missing
    return answer


def refuses(step: Any, place: int, cells: NDArray[Any]) -> NDArray[np.bool_]:
    """Which cells the transformer does not take, as far as its parameters say."""
    refused = np.zeros(len(cells), dtype=bool)
    if cells.dtype != object:
        refused |= np.isinf(cells)
    else:
        refused |= [isinstance(each, float) and np.isinf(each) for each in cells]
    if _kind(step) in ENCODERS and step.handle_unknown == "error":
        known = set(step.categories_[place].tolist())
        gap = any(_is_missing(each) for each in known)
        refused |= [not (gap if _is_missing(each) else each in known) for each in cells.tolist()]
    return refused


def _is_missing(each: Any) -> bool:
    return each is None or (isinstance(each, float | np.floating) and bool(np.isnan(each)))


def _is_number(each: Any) -> bool:
    return isinstance(each, int | float | np.number) and not _is_missing(each)
