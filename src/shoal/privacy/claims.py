# SPDX-License-Identifier: Apache-2.0
"""Requirements as a release states them, and back from a file nobody vouches for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shoal.errors import RequirementError, closest
from shoal.privacy._parameters import shown
from shoal.privacy.base import Requirement, RequirementBase
from shoal.privacy.closeness import Closeness
from shoal.privacy.confidence import Confidence
from shoal.privacy.conjunction import MOST_PARTS, And
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.likely_partal import LikelyPartAL
from shoal.privacy.partal import PartAL
from shoal.privacy.parts import parts_of
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.simple_diversity import SimpleDiversity
from shoal.privacy.stated import Stated

# For each name: what makes it, the keys it must have, and those it may have.
_KNOWN: dict[str, tuple[Callable[..., RequirementBase], frozenset[str], frozenset[str]]] = {
    KAnonymity.name: (KAnonymity, frozenset({"k"}), frozenset()),
    DistinctDiversity.name: (DistinctDiversity, frozenset({"l"}), frozenset()),
    EntropyDiversity.name: (EntropyDiversity, frozenset({"l"}), frozenset()),
    SimpleDiversity.name: (SimpleDiversity, frozenset({"l"}), frozenset()),
    RecursiveDiversity.name: (RecursiveDiversity, frozenset({"c", "l"}), frozenset()),
    Confidence.name: (Confidence, frozenset({"c"}), frozenset()),
    PartAL.name: (PartAL, frozenset({"k"}), frozenset()),
    LikelyPartAL.name: (LikelyPartAL, frozenset({"k", "chances", "certainty"}), frozenset()),
    Stated.name: (Stated, frozenset({"text"}), frozenset()),
    Closeness.name: (Closeness, frozenset({"t", "distance"}), frozenset({"hierarchy"})),
}
_CLASSES = {make for make, _, _ in _KNOWN.values()}


def claims(requirement: Requirement) -> list[dict[str, Any]]:
    """What a release states: one claim a requirement, a conjunction opened.

    Parameters
    ----------
    requirement
        One of Shoal's, or a user's own, of which only the description is stated.

    Notes
    -----
    The inverse of `requirement_from_claims`. Equal requirements give equal claims.

    References
    ----------
    A. Friedman, R. Wolff and A. Schuster, "Providing k-anonymity in data mining", The VLDB Journal 17, 2008,
    Definition 3, doi:10.1007/s00778-006-0039-5: what a release is.

    Examples
    --------
    >>> from shoal.privacy import Confidence, KAnonymity
    >>> claims(KAnonymity(50) & Confidence(0.9))
    [{'requirement': 'k-anonymity', 'k': 50}, {'requirement': 'confidence', 'c': 0.9}]
    """
    return [_claim(part) for part in parts_of(requirement)]


def _claim(part: Requirement) -> dict[str, Any]:
    # only the very classes that a reader will make of a claim: a subclass may ask something else of groups, and what a
    # stranger could not read back is stated in its own words
    if isinstance(part, RequirementBase) and type(part) in _CLASSES:
        return part.to_claim()
    return Stated(part.describe()).to_claim()


def requirement_from_claims(stated: list[dict[str, Any]]) -> Requirement:
    """The requirement that a release states, each claim checked as what it is: a stranger's input.

    Parameters
    ----------
    stated
        The claims, as read from JSON.

    Notes
    -----
    Refused with code ``"claim"``: no claims or more than 32, a name that is not known, a key missing or too
    many, and any value that the requirement itself refuses (a bool for an integer, NaN, a list too long).

    References
    ----------
    A. Friedman, R. Wolff and A. Schuster, "Providing k-anonymity in data mining", The VLDB Journal 17, 2008,
    Definition 3, doi:10.1007/s00778-006-0039-5: what a release is.

    Examples
    --------
    >>> requirement_from_claims([{"requirement": "k-anonymity", "k": 50}])
    KAnonymity(k=50)
    >>> requirement_from_claims([{"requirement": "k-anonimity", "k": 50}])
    Traceback (most recent call last):
    ...
    shoal.errors.RequirementError: Claim 1: requirement 'k-anonimity' is not known. Closest: 'k-anonymity'.
    """
    if not isinstance(stated, list) or not 1 <= len(stated) <= MOST_PARTS:
        seen = f"{len(stated)}" if isinstance(stated, list) else shown(stated)
        raise RequirementError("claim", f"Claims must be a list of 1 to {MOST_PARTS} objects; got {seen}.")
    parts = [_read(number, claim) for number, claim in enumerate(stated, start=1)]
    both = And(tuple(parts))
    return both if len(both.parts) > 1 else both.parts[0]


def _read(number: int, claim: object) -> RequirementBase:
    def refuse(why: str) -> RequirementError:
        return RequirementError("claim", f"Claim {number}: {why}")

    if not isinstance(claim, dict) or not all(isinstance(key, str) for key in claim):
        raise refuse(f"must be an object with a requirement; got {shown(claim)}.")
    name = claim.get("requirement")
    if not isinstance(name, str) or name not in _KNOWN:
        # Only a short name is compared: the search takes time that grows with the square of its length.
        hint = closest(name, _KNOWN) if isinstance(name, str) and len(name) <= 40 else ""
        raise refuse(f"requirement {shown(name)} is not known.{hint}")
    make, must, may = _KNOWN[name]
    given = {key: value for key, value in claim.items() if key != "requirement"}
    for key in sorted(must - given.keys()):
        raise refuse(f"{name} needs {key!r}.")
    for key, value in given.items():
        if key not in must | may:
            raise refuse(f"{name} has no {shown(key)}.")
        if value is None:
            raise refuse(f"{name}'s {key!r} is null.")
    try:
        return make(**given)
    except RequirementError as error:
        raise refuse(str(error)) from None
