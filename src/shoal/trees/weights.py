# SPDX-License-Identifier: Apache-2.0
"""How much a person of each class weighs, in whole numbers.

Weights change what splits gain, what pruning costs and what a leaf answers. They never meet a requirement: there, a
person is a person.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.data.encode import number_text
from shoal.data.table import Column
from shoal.errors import RequirementError

ClassWeight = Literal["balanced"] | Mapping[Any, float] | None
UNITS = 27_720  # of the heaviest class: divisible by 1 to 12, so that simple ratios stay exact


@dataclass(frozen=True)
class Weights:
    """Whole weights by class, in lowest terms, and what all people of the table weigh together."""

    units: tuple[int, ...]
    total: int

    def weigh(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """People by class (last axis) as weight by class."""
        return counts * np.array(self.units, dtype=np.int64)


def class_weights(given: ClassWeight, target: Column) -> Weights | None:
    """What the option means for a target's classes, or None where all weigh the same.

    Only the ratios of weights matter. They are rounded to multiples of 1/27,720 of the heaviest class, and none to less
    than one of these.

    >>> sick = Column("sick", "categorical", np.array([0, 0, 0, 1]), ("no", "yes"))
    >>> class_weights("balanced", sick)
    Weights(units=(1, 3), total=6)
    >>> class_weights({"no": 0.5, "yes": 0.75}, sick).units
    (2, 3)
    """
    if given is None:
        return None
    people = target.counts()
    if isinstance(given, str):
        if given != "balanced":
            raise _refusal("is a word that means nothing here")
        # a class that nobody has weighs nothing, whatever its weight
        weights = people.sum() / (np.count_nonzero(people) * np.maximum(people, 1).astype(np.float64))
        weights[people == 0] = weights[people > 0].min()
    else:
        weights = _given(given, target, people)
    units = np.maximum(np.rint(weights / weights.max() * UNITS), 1).astype(np.int64)
    units //= math.gcd(*units.tolist())
    if (units == 1).all():
        return None
    return Weights(tuple(units.tolist()), int((people * units).sum()))


def _given(given: Any, target: Column, people: NDArray[np.int64]) -> NDArray[np.float64]:
    if not isinstance(given, Mapping):
        raise _refusal(f"is a {type(given).__name__}")
    by_name = {_name(key): weight for key, weight in given.items()}
    strange = len(set(by_name) - set(target.names))
    if strange:
        raise _refusal(f"names {strange} class(es) that the target {target.name!r} does not have")
    lacking = sum(n > 0 and name not in by_name for name, n in zip(target.names, people, strict=True))
    if lacking:
        raise _refusal(f"lacks {lacking} of the classes of the target {target.name!r}")
    if not all(_positive(weight) for weight in by_name.values()):
        raise _refusal("has a weight that is no positive number")
    lightest = min(by_name.values())
    return np.array([by_name.get(name, lightest) for name in target.names], dtype=np.float64)


def _positive(weight: Any) -> bool:
    number = isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool)
    return number and bool(0 < weight < math.inf)


def _name(key: Any) -> str:
    """A class as the target's column spells it."""
    return number_text(key) if isinstance(key, (float, np.floating)) else str(key)


def _refusal(problem: str) -> RequirementError:
    return RequirementError(
        "parameter",
        f"AnonymousTreeClassifier: class_weight {problem}. "
        "Give a dict from each class to a positive number, 'balanced' or None.",
    )
