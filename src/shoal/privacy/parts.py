# SPDX-License-Identifier: Apache-2.0
"""Taking a requirement apart."""

from __future__ import annotations

from shoal.privacy.base import Requirement
from shoal.privacy.conjunction import And


def parts_of(requirement: Requirement) -> tuple[Requirement, ...]:
    """The requirements that a conjunction is made of; any other is its own only part.

    >>> from shoal.privacy import Confidence, KAnonymity
    >>> parts_of(KAnonymity(5) & Confidence(0.9))
    (KAnonymity(k=5), Confidence(c=0.9))
    """
    return requirement.parts if isinstance(requirement, And) else (requirement,)
