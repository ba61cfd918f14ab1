# SPDX-License-Identifier: Apache-2.0
"""Asking a requirement about the parts that a split would make."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.privacy import And, KAnonymity, Requirement, needs_values, parts_of

Counts = NDArray[np.int64]
MOST_CELLS = 1 << 24  # counts looked at in one piece


class Veto:
    """One requirement, asked of many groups; empty groups keep everything.

    `totals` holds the distribution of each sensitive column over the whole table. Counts come in one array a
    *question*: group sizes alone (`by` is None), or values of a sensitive column.
    """

    def __init__(self, requirement: Requirement, totals: list[Counts]) -> None:
        parts = parts_of(requirement)
        sizes = tuple(part for part in parts if not needs_values(part))
        values = tuple(part for part in parts if needs_values(part))
        # a conjunction even of one: it checks that a user's own requirement answers for every group
        self._sizes = And(sizes) if sizes else None
        self._values = And(values) if values else None
        self._totals = totals

    @property
    def least(self) -> int | None:
        """Where the requirement is k-anonymity and nothing else: the k, which then decides alone."""
        if self._values is not None or self._sizes is None:
            return None
        ks = [part.k for part in self._sizes.parts if type(part) is KAnonymity]
        return max(ks) if len(ks) == len(self._sizes.parts) else None

    @property
    def questions(self) -> list[int | None]:
        """What counts are needed: None for sizes, or the number of a sensitive column."""
        return ([None] if self._sizes else []) + (list(range(len(self._totals))) if self._values else [])

    def n_values(self, by: int) -> int:
        """How many values a sensitive column has."""
        return len(self._totals[by])

    @staticmethod
    def asked(counts: Counts, by: int | None) -> Counts:
        """Counts by class of sets that are told apart by everything public, as a question wants them."""
        return counts.sum(axis=-1, keepdims=True) if by is None else counts

    def kept(self, counts: Counts, by: int | None) -> NDArray[np.bool_]:
        """Whether each group (last axis: values) keeps what is asked of it by one question."""
        flat = counts.reshape(-1, counts.shape[-1])
        asked = self._sizes if by is None else self._values
        assert asked is not None
        return asked.holds(flat, None if by is None else self._totals[by]).reshape(counts.shape[:-1])

    def cuts_kept(self, counts: Counts, n_known: int, by: int | None) -> NDArray[np.bool_]:
        """For sets of people by code (sets × codes × values): whether both parts of every cut are kept.

        Returns sets × cuts × where missing goes (0: up, 1: down).
        """
        sides = counts.shape[1] - n_known + 1
        kept = np.empty((len(counts), n_known - 1, sides), dtype=bool)
        step = max(1, MOST_CELLS // max(1, counts.shape[1] * counts.shape[2]))
        for first in range(0, len(counts), step):
            piece = counts[first : first + step]
            below = np.cumsum(piece[:, : n_known - 1], axis=1)
            whole = piece.sum(axis=1)[:, None]
            for side in range(sides):
                low = below + piece[:, n_known, None] if side else below
                kept[first : first + step, :, side] = self.kept(low, by) & self.kept(whole - low, by)
        return kept
