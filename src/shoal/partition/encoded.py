# SPDX-License-Identifier: Apache-2.0
"""What learners see of a table: features as codes, and the class of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Column

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Encoded:
    """Features as codes (features × rows), and the class of each row.

    Parameters
    ----------
    codes
        A row of codes for each feature.
    n_known
        How many of a feature's codes are values. Any code from there on is missing: it tells nothing.
    numbers
        Of a feature that is not discretised the numbers that its codes stand for, ascending; None for categories.
    target
        The class of each row.
    n_classes
        How many classes there are.

    Examples
    --------
    >>> data = Encoded.of([[0, 1, 2], [1, 0, 1]], [3, 2], [0, 1, 1], 2)
    >>> data.codes.shape, data.n_known.tolist()
    ((2, 3), [3, 2])
    """

    codes: NDArray[np.int32]
    n_known: NDArray[np.int64]
    numbers: tuple[Numbers | None, ...]
    target: NDArray[np.int32]
    n_classes: int

    @classmethod
    def of(
        cls,
        codes: Sequence[Any],
        n_values: Sequence[int],
        target: Any,
        n_classes: int,
        *,
        numbers: Sequence[Numbers | None] | None = None,
        missing: Sequence[bool] | None = None,
    ) -> Encoded:
        """From plain arrays. Missing is a value like others, unless `missing` says that a feature's last code is it."""
        gaps = np.zeros(len(codes), dtype=np.int64) if missing is None else np.asarray(missing, dtype=np.int64)
        n_known = np.asarray(n_values, dtype=np.int64) - gaps
        own = (None,) * len(codes) if numbers is None else tuple(numbers)
        return cls(matrix(codes), n_known, own, np.asarray(target, dtype=np.int32), n_classes)

    @classmethod
    def of_columns(cls, columns: Sequence[Column], target: Column) -> Encoded:
        """From columns: numeric ones keep their numbers, and missing tells nothing in any of them."""
        return cls.of(
            [column.codes for column in columns],
            [column.n_codes for column in columns],
            target.codes,
            target.n_codes,
            numbers=[column.numbers if column.kind == "numeric" else None for column in columns],
            missing=[column.missing for column in columns],
        )

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.target)


def matrix(codes: Sequence[Any]) -> NDArray[np.int32]:
    """Codes as features × rows."""
    return np.asarray(codes, dtype=np.int32).reshape(len(codes), -1)


def stratified_folds(target: NDArray[Any], n_folds: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """The fold of each row: as many of each class in every fold as can be, at random within classes.

    >>> folds = stratified_folds(np.array([0, 0, 0, 0, 1, 1]), 2, np.random.default_rng(0))
    >>> sorted(folds[:4].tolist()), sorted(folds[4:].tolist())
    ([0, 0, 1, 1], [0, 1])
    """
    order = np.lexsort((rng.random(len(target)), target))
    folds = np.empty(len(target), dtype=np.int32)
    folds[order] = np.arange(len(target)) % n_folds
    return folds
