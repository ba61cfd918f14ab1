# SPDX-License-Identifier: Apache-2.0
"""Through a fitted pipeline, from the columns of the rows to the features of the final estimator.

A transformer that treats every column by itself is never computed anew here. It is asked: the values of one column go
through the fitted transformer itself, so that numbers are those of the model to the last bit. (The rows are taken to
be float64, as scikit-learn makes of whole numbers too; a pipeline that was given float32 computes more coarsely.)
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.foreign._columnwise import affine_of, outputs_of, prepare, refuses, selects, sparse_after, turns_of
from shoal.audit.foreign.features import NO_BREAKS, Feature, Numbers, largest_at_most
from shoal.data.table import Column
from shoal.errors import DataError, closest

LARGE = 1e150


@dataclass(frozen=True, eq=False)
class Wire:
    """A cell of a row somewhere in a pipeline, made of one column: strings, booleans or numbers."""

    column: str
    cells: Callable[[Column], NDArray[Any]]
    affine: tuple[float, float] | None
    breaks: Callable[[], Numbers]


Wires = list[Wire | frozenset[str]]


def as_feature(wire: Wire) -> Feature:
    """The end of a wire as a number that the model sees."""
    return Feature(wire.column, lambda column: _floats(wire, column), wire.affine, wire.breaks())


def _floats(wire: Wire, column: Column) -> Numbers:
    try:
        return np.asarray(wire.cells(column), dtype=np.float64)
    except (ValueError, TypeError):
        raise DataError(
            "model-refuses",
            f"The model is given column {column.name!r} as it is, but the column does not hold numbers alone. Read it "
            "as the model was given it.",
        ) from None


def follow(model: Any, names: Sequence[str]) -> tuple[Any, Wires, bool | None]:
    """The final estimator, the wires that lead to its features, and whether these reach it as a sparse matrix.

    A set of columns stands for a feature that mixes them. None where it is not known whether a matrix is sparse.
    """
    model = getattr(model, "best_estimator_", model)  # of a search over parameters
    own = getattr(model, "feature_names_in_", None)
    inputs = [str(name) for name in (names if own is None else own)]
    for name in inputs:
        if name not in names:
            raise DataError(
                "no-column", f"The model asks for column {name!r}, which these rows have not.{closest(name, names)}"
            )
    n = getattr(model, "n_features_in_", len(inputs))
    if n != len(inputs):
        raise DataError("column-count", f"The model takes {n} column(s); the rows have {len(inputs)}.")
    wires: Wires = [Wire(name, _raw, (1.0, 0.0), lambda: NO_BREAKS) for name in inputs]
    sparse: bool | None = False
    while hasattr(model, "steps"):
        for (_, step), (_, follower) in itertools.pairwise(model.steps):
            wires, sparse = _through(step, wires, sparse, getattr(follower, "n_features_in_", None))
        model = getattr(model.steps[-1][1], "best_estimator_", model.steps[-1][1])
    inner = getattr(model, "_preprocessor", None)  # histogram gradient boosting encodes categories by itself
    return model, wires if inner is None else _columns(inner, wires, sparse)[0], sparse


def _raw(column: Column) -> NDArray[Any]:
    """The cells of a column's dictionary as the model is given them, and missing."""
    if column.kind == "numeric":
        return np.append(column.numbers, np.nan)
    if column.labels == "string":
        return np.array([*column.names, np.nan], dtype=object)
    if column.labels == "boolean":
        return np.append([float(name == "True") for name in column.names], np.nan)
    return np.append([float(name) for name in column.names], np.nan)


def _through(step: Any, wires: Wires, sparse: bool | None, n_outputs: int | None) -> tuple[Wires, bool | None]:
    """The wires that leave a fitted transformer, and whether they leave it as a sparse matrix."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import FeatureUnion, Pipeline

    if step is None or isinstance(step, str):  # "passthrough"
        return wires, sparse
    if isinstance(step, Pipeline):
        followers = [*(each for _, each in step.steps[1:]), None]
        for (_, inner), follower in zip(step.steps, followers, strict=True):
            after = n_outputs if follower is None else getattr(follower, "n_features_in_", None)
            wires, sparse = _through(inner, wires, sparse, after)
        return wires, sparse
    if isinstance(step, ColumnTransformer):
        return _columns(step, wires, sparse)
    if isinstance(step, FeatureUnion):
        named = [(name, inner) for name, inner in step.transformer_list if inner != "drop"]
        parts = [_through(inner, wires, sparse, None) for _, inner in named]
        united = [_times(_weight(step, name), part) for (name, _), (part, _) in zip(named, parts, strict=True)]
        matrices = [each for _, each in parts]
        return list(itertools.chain(*united)), None if None in matrices and True not in matrices else any(matrices)
    if selects(step):
        return [wires[i] for i in np.flatnonzero(step.get_support())], sparse
    if _does_nothing(step):
        return wires, sparse
    origin = outputs_of(step)
    if origin is None:
        return [_mixed(wires)] * _count(step, n_outputs), None
    answer: Wires = []
    blocks = {i: Block(step, i, wire, sparse) for i, wire in enumerate(wires) if isinstance(wire, Wire)}
    for output, i in enumerate(origin):
        wire = wires[i]
        answer.append(blocks[i].output(output) if isinstance(wire, Wire) else wire)
    return answer, sparse_after(step, sparse)


def _mixed(wires: Wires) -> frozenset[str]:
    """The columns that some wires are made of."""
    return frozenset().union(*(frozenset([wire.column]) if isinstance(wire, Wire) else wire for wire in wires))


def _weight(step: Any, name: str) -> float | None:
    """What a `FeatureUnion` or `ColumnTransformer` multiplies all that a transformer makes with."""
    return (step.transformer_weights or {}).get(name)


def _times(weight: float | None, wires: Wires) -> Wires:
    if weight is None:
        return wires
    if not weight > 0:  # a feature would fall as its column rises
        return [_mixed([wire]) for wire in wires]
    return [_scaled(wire, weight) if isinstance(wire, Wire) else wire for wire in wires]


def _scaled(wire: Wire, weight: float) -> Wire:
    affine = None if wire.affine is None else (weight * wire.affine[0], weight * wire.affine[1])
    return Wire(wire.column, lambda column: wire.cells(column) * weight, affine, wire.breaks)


def _does_nothing(step: Any) -> bool:
    """Whether a `FunctionTransformer` has no function, or one that only looks."""
    from functools import partial

    from sklearn.preprocessing import FunctionTransformer
    from sklearn.utils import check_array

    if type(step) is not FunctionTransformer:
        return False
    return step.func is None or (isinstance(step.func, partial) and step.func.func is check_array)


def _count(step: Any, n_outputs: int | None) -> int:
    if n_outputs is not None:
        return n_outputs
    try:
        return len(step.get_feature_names_out())
    except (AttributeError, ValueError, TypeError):
        raise DataError(
            "model-untraceable", f"How many features {type(step).__name__} makes inside the model cannot be told."
        ) from None


def _columns(step: Any, wires: Wires, sparse: bool | None) -> tuple[Wires, bool | None]:
    """Through a fitted `ColumnTransformer`."""
    names = [str(name) for name in getattr(step, "feature_names_in_", [])]
    answer: Wires = []
    for name, inner, chosen in step.transformers_:
        places = _places(chosen, names, len(wires))
        if len(places) and not (isinstance(inner, str) and inner == "drop"):
            where = step.output_indices_[name]
            part, _ = _through(inner, [wires[i] for i in places], sparse, where.stop - where.start)
            answer += _times(_weight(step, name), part)
    return answer, bool(step.sparse_output_)


def _places(chosen: Any, names: list[str], n: int) -> NDArray[np.int64]:
    """The positions of some columns, however they were named."""
    if isinstance(chosen, slice):
        if isinstance(chosen.start, str) or isinstance(chosen.stop, str):  # of names, both ends included
            start = 0 if chosen.start is None else names.index(chosen.start)
            stop = n if chosen.stop is None else names.index(chosen.stop) + 1
            return np.arange(start, stop, chosen.step)
        return np.arange(n)[chosen]
    listed: list[Any] = [chosen] if np.isscalar(chosen) else list(chosen)
    if listed and isinstance(listed[0], str):
        return np.array([names.index(name) for name in listed], dtype=np.int64)
    return np.atleast_1d(np.arange(n)[np.array(listed, dtype=bool if _is_mask(listed) else np.int64)])


def _is_mask(listed: list[Any]) -> bool:
    return bool(listed) and isinstance(listed[0], bool | np.bool_)


class Block:
    """One input of a transformer that treats every column by itself, and all that comes of it."""

    def __init__(self, step: Any, place: int, wire: Wire, sparse: bool | None) -> None:
        self.step, self.place, self.wire, self.sparse = step, place, wire, sparse
        self._last: tuple[Column, Any, NDArray[np.bool_]] | None = None

    def output(self, number: int) -> Wire:
        own = affine_of(self.step, self.place, number)
        affine = None
        if own is not None and self.wire.affine is not None:
            affine = (own[0] * self.wire.affine[0], own[0] * self.wire.affine[1] + own[1])
        return Wire(self.wire.column, lambda column: self._cells(column, number), affine, self._breaks)

    def _breaks(self) -> Numbers:
        """Those of the wire, and the places in it where the transformer turns."""
        turns = turns_of(self.step, self.place)
        before = self.wire.breaks()
        if not len(turns):
            return before
        if self.wire.affine == (1.0, 0.0):
            return np.unique(np.concatenate([before, turns]))
        # numbers beyond these are nobody's, and some transformers overflow there
        low = np.concatenate([[-LARGE], np.nextafter(before, np.inf)])
        high = np.concatenate([before, [LARGE]])
        found = largest_at_most(
            as_feature(self.wire),
            np.tile(turns, len(low)),
            np.repeat(low, len(turns)),
            np.repeat(high, len(turns)),
            False,
        )
        found = np.concatenate([before, found])
        return np.unique(found[np.isfinite(found)])

    def _cells(self, column: Column, output: int) -> NDArray[Any]:
        if self._last is None or self._last[0] is not column:
            self._last = (column, *self._transform(self.wire.cells(column)))
        _, matrix, refused = self._last
        answer = matrix[:, [output]]
        answer = answer.toarray()[:, 0] if hasattr(answer, "toarray") else answer[:, 0]
        if refused.any():
            answer = np.where(refused, np.inf, answer)
        return np.asarray(answer)

    def _transform(self, cells: NDArray[Any]) -> tuple[Any, NDArray[np.bool_]]:
        """What the transformer makes of some cells, and which of them it refuses."""
        cells, filler = prepare(self.step, self.place, cells)
        refused = refuses(self.step, self.place, cells)
        try:
            return self._ask(cells, filler, refused), refused
        except (ValueError, TypeError):  # some transformers take no missing value
            refused[-1] = True
        try:
            return self._ask(cells, filler, refused), refused
        except (ValueError, TypeError):
            raise DataError(
                "model-refuses",
                f"{type(self.step).__name__} inside the model refuses some values of column {self.wire.column!r}. "
                "Declare its domain so that the model takes every value.",
            ) from None

    def _ask(self, cells: NDArray[Any], filler: list[Any], refused: NDArray[np.bool_]) -> Any:
        kind = object if cells.dtype == object or any(isinstance(each, str) for each in filler) else np.float64
        matrix = np.empty((len(cells), len(filler)), dtype=kind)
        for i, each in enumerate(filler):
            matrix[:, i] = each
        matrix[:, self.place] = cells
        matrix[refused, self.place] = filler[self.place]
        given: Any = matrix
        if self.sparse:
            from scipy.sparse import csr_array

            given = csr_array(matrix)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of names it was fitted with, and of values it does not know
            answer = self.step.transform(given)
        if hasattr(answer, "toarray"):
            return answer.tocsc()
        return answer.to_numpy() if hasattr(answer, "to_numpy") else np.asarray(answer)
