# SPDX-License-Identifier: Apache-2.0
"""The claims of a release as a file states them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.errors import RequirementError
from shoal.privacy import claims as claims_of
from shoal.privacy import likely_asked, partal_asked, requirement_from_claims
from shoal.privacy.conjunction import MOST_PARTS
from shoal.release import checks

Claims = tuple[Mapping[str, Any], ...]


def parse_claims(entry: Any, *, several: bool = False, projections: bool = False) -> Claims:
    """The claims; PartAL only where `several` things are published whose rows or leaves can be joined again.

    LikelyPartAL only of `projections`: of trees it is not worked out.
    """
    try:
        requirement = requirement_from_claims(checks.items(entry, "claims", MOST_PARTS))
    except RequirementError as error:
        checks.refuse("claims", f"cannot be read: {error}")
    if partal_asked(requirement) is not None and not several:
        checks.refuse("claims", "state PartAL, which only projections and the trees learned from them can keep")
    if likely_asked(requirement) and not projections:
        checks.refuse("claims", "state LikelyPartAL, which only projections can keep")
    return tuple(claims_of(requirement))
