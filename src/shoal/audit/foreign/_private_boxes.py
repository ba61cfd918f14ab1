# SPDX-License-Identifier: Apache-2.0
"""Where the private columns of a person can be, in the features of a model."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.audit.clusters.cells import MOST_STARTS, Box, Floats
from shoal.audit.foreign.features import Feature
from shoal.data.table import Column
from shoal.release import Attribute


@dataclass(frozen=True, eq=False)
class _Piece:
    """Some values of one column: single ones (starts), or all from a start along a step."""

    starts: Floats
    steps: Floats
    counts: tuple[int, ...]
    sizes: Floats


def private_boxes(
    features: Sequence[Feature], domain: Mapping[str, Attribute], public: Collection[str]
) -> list[Box] | None:
    """Boxes that together are the domain of the private columns; None where they cannot be worked out.

    A numeric column that every feature scales is a step. Categories and whole numbers that are encoded otherwise are
    enumerated. A missing value, where the column can have one and the model fills it in, is one value more.
    """
    choices: list[list[_Piece]] = []
    for name, attribute in domain.items():
        if name in public:
            continue
        pieces = _pieces(features, name, attribute)
        if pieces is None:
            return None
        choices.append(pieces)
    scaled = _sizes_of_scaling(features, domain)
    boxes = []
    for chosen in itertools.product(*choices):
        if math.prod([len(piece.starts) for piece in chosen]) > MOST_STARTS:
            return None
        starts = np.zeros((1, len(features)))
        for piece in chosen:  # columns have features of their own, so that parts add up
            starts = (starts[:, None] + piece.starts).reshape(-1, len(features))
        steps = np.concatenate([np.zeros((0, len(features))), *(piece.steps for piece in chosen)])
        counts = [count for piece in chosen for count in piece.counts]
        boxes.append(Box.of(starts, steps, counts, sum((piece.sizes for piece in chosen), scaled)))
    return boxes


def _pieces(features: Sequence[Feature], name: str, attribute: Attribute) -> list[_Piece] | None:
    own = [place for place, feature in enumerate(features) if feature.column == name]
    if attribute.type == "categorical":
        column = Column(name, "categorical", np.zeros(0, dtype=np.uint8), attribute.values, labels=attribute.labels)
        return [_enumerated(features, own, column, attribute.missing)]
    assert attribute.bounds is not None
    low, high = attribute.bounds
    if attribute.integer:
        low, high = math.ceil(low), math.floor(high)
        if high - low > 2**53:  # floats no longer tell these numbers apart
            return None
    missing = _enumerated(features, own, _numbers(name, np.zeros(0)), attribute.missing)
    if all(features[place].affine is not None for place in own):
        step = _step(features, own, low, high, int(high - low) if attribute.integer else 0)
        return [step, missing] if len(missing.starts) else [step]
    if attribute.integer and high - low < MOST_STARTS:
        return [_enumerated(features, own, _numbers(name, np.arange(low, high + 1.0)), attribute.missing)]
    return None


def _numbers(name: str, numbers: Floats) -> Column:
    return Column(name, "numeric", np.zeros(0, dtype=np.uint8), numbers)


def _step(features: Sequence[Feature], own: list[int], low: float, high: float, count: int) -> _Piece:
    start, step = np.zeros((2, 1, len(features)))
    for place in own:
        affine = features[place].affine
        assert affine is not None
        factor, offset = affine
        start[0, place] = factor * low + offset
        step[0, place] = factor * (high - low)
    return _Piece(start, step, (count,), np.zeros(len(features)))


def _sizes_of_scaling(features: Sequence[Feature], domain: Mapping[str, Attribute]) -> Floats:
    """What is met on the way to a scaled feature: more than the feature, where numbers far from 0 are centred."""
    sizes = np.zeros(len(features))
    for place, feature in enumerate(features):
        bounds = domain[feature.column].bounds
        if feature.affine is not None and bounds is not None:
            factor, offset = feature.affine
            sizes[place] = abs(factor) * max(abs(bounds[0]), abs(bounds[1])) + abs(offset)
    return sizes


def _enumerated(features: Sequence[Feature], own: list[int], column: Column, missing: bool) -> _Piece:
    """The values of a column one by one, without those that the model refuses: nobody can have them."""
    starts = np.zeros((len(column.values) + 1, len(features)))
    for place in own:
        starts[:, place] = features[place].numbers(column)
    if not missing:
        starts = starts[:-1]
    starts = np.unique(starts[np.isfinite(starts).all(axis=1)], axis=0)
    sizes = np.abs(starts).max(axis=0, initial=0.0)
    return _Piece(starts, np.zeros((0, len(features))), (), sizes)
