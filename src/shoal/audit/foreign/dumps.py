# SPDX-License-Identifier: Apache-2.0
"""What the dumps of boosters have in common: text that comes from anywhere, and features that must find their columns.

Nothing in a dump is believed before it is checked: compiled code will follow its trees without looking.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from shoal.audit.foreign.features import NO_BREAKS, Feature, largest_at_most, sources, trace
from shoal.audit.foreign.grove import Grove, Ids, Numbers
from shoal.data.encode import number_text
from shoal.data.table import Column, Table
from shoal.errors import DataError, ReleaseError

MAX_BYTES = 256 * 1024 * 1024
MOST_NODES = 20_000_000
MOST_VALUES = 1 << 27  # nodes × outputs
MOST_FEATURES = 1_000_000
MOST_CATEGORIES = 20_000_000
MOST_LEVELS = 2_000
LARGEST = float(np.finfo(np.float64).max)


def refuse(why: str) -> NoReturn:
    """Refuse a dump that no library wrote, or that was cut off."""
    raise ReleaseError("broken-dump", f"The model's dump is broken: {why}. Was it cut off on the way?")


def check_size(text: str | bytes) -> None:
    """Refuse a dump that is larger than any that should be read."""
    if len(text) > MAX_BYTES:
        raise ReleaseError("too-large", f"The model's dump is longer than {MAX_BYTES:,} bytes.")


def check_room(n_nodes: int, n_outputs: int, n_features: int) -> None:
    """Refuse a model that would not fit into memory, before any room is made for it."""
    for n, most, what in (
        (n_nodes, MOST_NODES, "nodes"),
        (n_nodes * n_outputs, MOST_VALUES, "nodes times outputs"),
        (n_features, MOST_FEATURES, "features"),
    ):
        if n > most:
            raise ReleaseError("too-large", f"The model has {n:,} {what}; at most {most:,} are read.")


def check_trees(roots: Ids, left: Ids, right: Ids) -> None:
    """Every node hangs on one root, on one branch only, and not too deep. Leaves have -1 on both sides."""
    n = len(left)
    if ((left < 0) != (right < 0)).any() or (left >= n).any() or (right >= n).any():
        refuse("a branch leads to no node")
    children = np.concatenate([left[left >= 0], right[right >= 0]])
    parents = np.bincount(children, minlength=n)
    parents[roots] += 1
    if (parents != 1).any():
        refuse("a tree in it is no tree")
    level, seen = roots, len(roots)
    for _ in range(MOST_LEVELS):
        level = level[left[level] >= 0]
        if not len(level):
            break
        level = np.concatenate([left[level], right[level]])
        seen += len(level)
    else:
        raise ReleaseError("too-deep", f"A tree of the model is more than {MOST_LEVELS:,} levels deep.")
    if seen < n:
        refuse("some nodes hang on no tree")


# -------------------------------------------------------------------- features and columns


def match_columns(names: Sequence[str], table: Table) -> list[str]:
    """The column of each feature: by name, or by position where the model has other names than the table.

    LightGBM writes ``a_b`` for a column ``a b``, and a model that was given an array has names of its own.
    """
    columns = {_underscored(name): name for name in table}
    found = [columns.get(_underscored(name)) for name in names]
    if len(columns) == len(table) and None not in found and len(set(found)) == len(found):
        return [name for name in found if name is not None]
    in_place = [name for name, own in zip(table, found, strict=False) if own is None or own == name]
    if len(names) == len(table) == len(in_place):
        return table.names
    lost = [name for name, own in zip(names, found, strict=True) if own is None]
    raise DataError(
        "model-columns",
        f"The model takes {len(names)} column(s) and the table has {len(table)} besides the target; {len(lost)} of the "
        f"model's names are not there{': ' if lost else ''}{', '.join(map(repr, lost[:3]))}. "
        "Give the columns the model was trained on, in their order.",
    )


def _underscored(name: str) -> str:
    return "_".join(name.split(" "))


def number_feature(column: str) -> Feature:
    """A feature that is a column's own number; a yes or no is 1 or 0."""
    return Feature(column, own_numbers, (1.0, 0.0), NO_BREAKS)


def own_numbers(column: Column) -> Numbers:
    """The number of every entry of a column's dictionary, and of missing."""
    if column.kind == "numeric":
        numbers = column.numbers
    elif column.labels == "boolean":
        numbers = np.array([name == "True" for name in column.names], dtype=np.float64)
    else:
        raise DataError(
            "model-categories",
            f"The model's dump does not say which number stands for which value of column {column.name!r}. "
            "Give the numbers the model was trained on, or train it on a pandas data frame with the dtype 'category'.",
        )
    return np.append(numbers, np.nan)


def missing_at(feature: Feature, low: float, high: float, column: Column) -> Feature:
    """The same feature of a column where numbers from `low` to `high` count as missing."""

    def numbers(own: Column) -> Numbers:
        seen = feature.numbers(own)
        return np.where((seen >= low) & (seen <= high), np.nan, seen)

    breaks = feature.breaks
    if column.kind == "numeric":
        first = np.concatenate([[-LARGEST], np.nextafter(breaks, np.inf)])
        last = np.append(breaks, LARGEST)
        ends = [np.full(len(first), np.nextafter(low, -np.inf)), np.full(len(first), high)]
        found = np.concatenate([breaks, *(largest_at_most(feature, end, first, last, False) for end in ends)])
        breaks = np.unique(found[np.isfinite(found)])
    return Feature(feature.column, numbers, None, breaks)


def coded(feature: Feature, whole: Callable[[Numbers], Numbers]) -> Feature:
    """The same feature where its numbers stand for categories; `whole` makes a whole number of any, and never falls."""
    return Feature(feature.column, lambda own: whole(feature.numbers(own)), None, feature.breaks)


def category_feature(column: Column, categories: Sequence[str], unknown: float) -> Feature:
    """A feature that is the place of a column's value in a list; `unknown` for a value of the domain not in it."""
    place = {value: float(i) for i, value in enumerate(categories)}
    strange = sum(text not in place for text in _texts(column.compact()))
    if strange:
        raise DataError(
            "model-categories",
            f"Column {column.name!r} has {strange} value(s) that are not among the categories the model was trained "
            "on. Give the very rows it was trained on.",
        )

    def numbers(own: Column) -> Numbers:
        return np.array([*(place.get(text, unknown) for text in _texts(own)), np.nan])

    known = np.array([float(text) for text in categories if _is_number(text)])
    return Feature(column.name, numbers, None, np.union1d(known, np.nextafter(known, -np.inf)))


def _texts(column: Column) -> tuple[str, ...]:
    """A column's dictionary as texts."""
    return column.names if column.kind == "categorical" else tuple(map(number_text, column.numbers))


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def category_texts(values: Any) -> tuple[str, ...]:
    """Categories as a table writes them, or a refusal."""
    if not isinstance(values, list) or not all(isinstance(value, str | int | float) for value in values):
        refuse("a list of categories is none")
    texts = tuple(number_text(value) if isinstance(value, float) else str(value) for value in values)
    if len(set(texts)) < len(texts):
        refuse("a list of categories names one twice")
    return texts


# -------------------------------------------------------------------- models


def final_estimator(model: Any) -> Any:
    """The last step of a pipeline, or the model itself."""
    model = getattr(model, "best_estimator_", model)
    while hasattr(model, "steps"):
        model = model.steps[-1][1]
        model = getattr(model, "best_estimator_", model)
    return model


def is_of(model: Any, library: str) -> bool:
    """Whether a model is an object of a library, or of a class that somebody made from one of its own."""
    return any(each.__module__.split(".")[0] == library for each in type(model).__mro__)


def features_of(model: Any, names: Sequence[str], table: Table) -> list[Feature | None]:
    """How each feature of a booster comes from a column, before the booster's own ways with categories and zeros."""
    if not hasattr(getattr(model, "best_estimator_", model), "steps"):
        return [number_feature(name) for name in match_columns(names, table)]
    _, features = trace(model, table.names)
    if len(features) != len(names):
        raise DataError(
            "model-columns", f"The pipeline makes {len(features)} feature(s), and the model in it takes {len(names)}."
        )
    return features


def columns_of(model: Any, features: Sequence[Feature | None], table: Table) -> list[frozenset[str]]:
    """The columns that each feature is made of."""
    if None in features:
        return sources(model, table.names)
    return [frozenset([feature.column]) for feature in features if feature is not None]


def in_words(library: str, grove: Grove) -> str:
    """What a booster is, as it stands in a sentence."""
    leaves = int(grove.is_leaf.sum())
    return (
        f"{library} model of {grove.n_trees:,} tree{'' if grove.n_trees == 1 else 's'} "
        f"with {leaves:,} lea{'f' if leaves == 1 else 'ves'}"
    )
