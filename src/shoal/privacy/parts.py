# SPDX-License-Identifier: Apache-2.0
"""Taking a requirement apart."""

from __future__ import annotations

from shoal.privacy.base import Requirement, least_people, needs_values
from shoal.privacy.conjunction import And

USUAL_PEOPLE = 10


def parts_of(requirement: Requirement) -> tuple[Requirement, ...]:
    """The requirements that a conjunction is made of; any other is its own only part.

    >>> from shoal.privacy import Confidence, KAnonymity
    >>> parts_of(KAnonymity(5) & Confidence(0.9))
    (KAnonymity(k=5), Confidence(c=0.9))
    """
    return requirement.parts if isinstance(requirement, And) else (requirement,)


def people_behind(requirement: Requirement) -> int:
    """How many people must stand behind what is said of a private column: k, or a usual number where there is no k.

    >>> from shoal.privacy import Closeness, KAnonymity
    >>> people_behind(KAnonymity(25)), people_behind(Closeness(0.2))
    (25, 10)
    """
    states_k = any(not needs_values(part) for part in parts_of(requirement))
    return least_people(requirement) if states_k else max(least_people(requirement), USUAL_PEOPLE)
