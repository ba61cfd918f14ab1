# SPDX-License-Identifier: Apache-2.0
"""Spans of a foreign model by enumeration: the model itself is asked for every row of the domain.

Nothing here is shared with the library. `leaves` gives the bin of every row of a frame, as a tuple.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

Leaves = Callable[[pd.DataFrame], list[tuple[Any, ...]]]


def spans(
    X: pd.DataFrame, public: Sequence[str], domain: Mapping[str, Sequence[Any]], leaves: Leaves
) -> list[frozenset]:
    """The span of every row: all bins of rows of the domain that agree with it on the public columns."""
    private = [name for name in X if name not in public]
    ways = list(itertools.product(*(domain[name] for name in private)))
    every = X.loc[X.index.repeat(len(ways))].reset_index(drop=True)
    for place, name in enumerate(private):
        values = [way[place] for way in ways] * len(X)
        every[name] = pd.Series(values, dtype=X[name].dtype)
    bins = leaves(every)
    return [frozenset(bins[i * len(ways) : (i + 1) * len(ways)]) for i in range(len(X))]


def same_partition(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two labellings put the same rows together."""
    pairs = set(zip(one, other, strict=True))
    return len(pairs) == len(set(one)) == len(set(other))


def leaves_of(model: Any, sees: Callable[[pd.DataFrame], Any]) -> Leaves:
    """The tuple of leaves of every row, from scikit-learn's own `apply`, or a walk where it has none."""

    def answer(X: pd.DataFrame) -> list[tuple[Any, ...]]:
        seen = sees(X)
        if hasattr(model, "_predictors"):
            ready = model._preprocess_X(seen, reset=False)
            trees = [tree for each in model._predictors for tree in each]
            rows, of_row = np.unique(np.asarray(ready), axis=0, return_inverse=True)
            bins = [tuple(_histogram_leaf(tree, row) for tree in trees) for row in rows]
            return [bins[i] for i in of_row.reshape(-1)]
        if hasattr(model, "estimators_features_"):
            parts = [
                tree.apply(np.asarray(seen)[:, chosen])
                for tree, chosen in zip(model.estimators_, model.estimators_features_, strict=True)
            ]
            return [tuple(row) for row in np.column_stack(parts)]
        found = np.asarray(model.apply(seen)).reshape(len(X), -1)
        return [tuple(row) for row in found.astype(int)]

    return answer


def _histogram_leaf(tree: Any, row: Any) -> int:
    number = 0
    while not tree.nodes[number]["is_leaf"]:
        node = tree.nodes[number]
        value = row[node["feature_idx"]]
        if np.isnan(value):
            left = node["missing_go_to_left"]
        elif node["is_categorical"]:
            words = tree.raw_left_cat_bitsets[node["bitset_idx"]]
            left = (int(words[int(value) // 32]) >> (int(value) % 32)) & 1
        else:
            left = value <= node["num_threshold"]
        number = int(node["left"] if left else node["right"])
    return number
