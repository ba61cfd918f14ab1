# SPDX-License-Identifier: Apache-2.0
"""Where the numbers that a model sees come from: features, each made of one column of the table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Column, Table
from shoal.errors import DataError

Numbers = NDArray[np.float64]
NO_BREAKS = np.empty(0, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Feature:
    """A number that a model sees, made of one column of the table.

    Attributes
    ----------
    column
        The column's name.
    numbers
        For each entry of a column's dictionary its number, and as last entry that of missing: NaN where it stays
        missing. Infinite where the model refuses the value. Works for any column of that name.
    affine
        (factor, offset) where the feature is factor × number + offset, missing aside; None if it is no such function.
    breaks
        For a numeric column: between two neighbouring breaks (above one, at most the next) the feature never falls as
        the number rises.
    """

    column: str
    numbers: Callable[[Column], Numbers]
    affine: tuple[float, float] | None
    breaks: Numbers


def trace(model: Any, names: Sequence[str]) -> tuple[Any, list[Feature | None]]:
    """The final estimator of a pipeline, and for each of its input features how it comes from one column.

    Parameters
    ----------
    model
        A fitted model; a (nested) `Pipeline` with `ColumnTransformer`, or a bare estimator.
    names
        The columns of the rows, in the order in which the model is given them if it knows no names.

    Returns
    -------
    estimator, features
        None stands for a feature that mixes columns or cannot be traced: see `sources`.
    """
    from shoal.audit.foreign._wires import Wire, as_feature, follow

    estimator, wires, _ = follow(model, names)
    return estimator, [as_feature(wire) if isinstance(wire, Wire) else None for wire in wires]


def sources(model: Any, names: Sequence[str]) -> list[frozenset[str]]:
    """For each input feature of the final estimator the columns it is made of."""
    from shoal.audit.foreign._wires import Wire, follow

    _, wires, _ = follow(model, names)
    return [frozenset([wire.column]) if isinstance(wire, Wire) else wire for wire in wires]


def reaches_sparse(model: Any, names: Sequence[str]) -> bool | None:
    """Whether the final estimator is given a sparse matrix, which leaves out zeros; None where that is not known."""
    from shoal.audit.foreign._wires import follow

    return follow(model, names)[2]


def check_traced(model: Any, X: Any, table: Table) -> None:
    """Refuse a pipeline that makes other numbers of the very rows than those that are traced.

    Rows in memory may hold what a table does not: dates, objects, numbers of other precision.
    """
    model = getattr(model, "best_estimator_", model)
    if not hasattr(model, "steps") or hasattr(model.steps[-1][1], "steps") or len(model.steps) < 2:
        return
    names = [str(name) for name in getattr(model, "feature_names_in_", table.names)]
    try:
        rows = X if isinstance(X, np.ndarray) else X[names]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            matrix = model[:-1].transform(rows)
    except Exception:  # rows in a form that the model does not take, such as a table read from a file
        return
    columns = matrix.tocsc() if hasattr(matrix, "tocsc") else np.asarray(matrix)
    _, features = trace(model, table.names)
    for place, feature in enumerate(features):
        if feature is None:
            continue
        own = columns[:, [place]]
        own = np.asarray(own.toarray() if hasattr(own, "toarray") else own)[:, 0].astype(np.float64)
        column = table[feature.column]
        if not np.allclose(feature.numbers(column)[column.codes], own, rtol=1e-4, atol=1e-9, equal_nan=True):
            raise DataError(
                "model-sees-other",
                f"The model sees column {feature.column!r} otherwise than an audit can. Give it to the model as texts "
                "or as numbers, and to the audit in the same way.",
            )


def largest_at_most(feature: Feature, bounds: Numbers, low: Numbers, high: Numbers, single: bool) -> Numbers:
    """For each bound the largest number in [low, high] whose feature is at most it, −inf where none is.

    The feature must not fall between `low` and `high`. Found by halving the floats between them, so to the last bit.
    """
    first, above = _order(low), _order(high)
    below = first - 1  # the answer is in [below, above]
    while (open_ := below < above).any():
        middle = (below | above) - ((below ^ above) >> 1)  # rounded up, without overflow
        fits = seen(feature, _number(np.maximum(middle, first)), single) <= bounds
        below = np.where(open_ & fits, middle, below)
        above = np.where(open_ & ~fits, middle - 1, above)
    return np.where(below < first, -np.inf, _number(np.maximum(below, first)))


def seen(feature: Feature, numbers: Numbers, single: bool) -> Numbers:
    """What the model sees of some numbers of a numeric column, perhaps rounded to float32."""
    return compared(feature.numbers(numbers_column(feature.column, numbers))[:-1], single)


def numbers_column(name: str, numbers: Numbers) -> Column:
    """A column that has some numbers as its dictionary, and no rows."""
    return Column(name, "numeric", np.empty(0, dtype=np.uint8), np.array(numbers, dtype=np.float64))


def compared(numbers: Numbers, single: bool) -> Numbers:
    """Numbers as a model compares them: some round to float32 first."""
    if not single:
        return numbers
    with np.errstate(over="ignore"):  # what is too large is larger than any threshold
        return numbers.astype(np.float32).astype(np.float64)


def _order(numbers: Numbers) -> NDArray[np.int64]:
    """Whole numbers in the order of floats, neighbours to neighbours."""
    bits = (numbers + 0.0).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def _number(order: NDArray[np.int64]) -> Numbers:
    return np.where(order < 0, np.int64(-(2**63)) - order, order).view(np.float64)
