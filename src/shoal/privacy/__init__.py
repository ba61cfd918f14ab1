# SPDX-License-Identifier: Apache-2.0
"""What we promise: statements about groups of people, as pure functions of counts.

A release never shows a person, only groups: the people an attacker cannot tell apart. What a data owner
promises is therefore a statement about every group: it is large enough (`KAnonymity`), its private values are
mixed enough (`DistinctDiversity`, `EntropyDiversity`, `SimpleDiversity`, `RecursiveDiversity`, `Confidence`),
or distributed as in the whole table (`Closeness`). ``a & b`` promises both. Two claims are about something else, the
rows of projections joined again, and groups cannot be asked for them: `PartAL` and `LikelyPartAL`.

**What enters** is a table of counts, one row a group and one column a sensitive value; for `Closeness` also
the counts of the whole table. **What leaves** is one yes or no a group (`holds`), what each group reaches
(`measure`), a plain sentence (`describe`), and the claim a release carries (`claims`, read back by
`requirement_from_claims`). No rows, no columns, no files: whoever counts, a miner or the audit, asks the same
question here and gets the same answer.

Counts are integers to the end. A threshold means the decimal number that was typed, 0.9 is 9/10, and meets
the counts in integers; the entropy alone is computed in floats, and where it comes near its threshold
integers decide there too.

All of these are monotone: two groups that hold, merged, hold. Each class says why.

This package may import `shoal.data` and `shoal.errors`, and nothing else of Shoal's.

>>> from shoal.privacy import Confidence, KAnonymity
>>> promise = KAnonymity(50) & Confidence(0.9)
>>> promise.holds([[40, 30], [69, 1], [3, 3], [0, 0]])
array([ True, False, False,  True])
"""

from shoal.privacy.base import Requirement, RequirementBase, least_people, needs_values
from shoal.privacy.claims import claims, requirement_from_claims
from shoal.privacy.closeness import Closeness
from shoal.privacy.coerce import as_requirement
from shoal.privacy.confidence import Confidence
from shoal.privacy.conjunction import And
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.likely_partal import LikelyPartAL, likely_asked
from shoal.privacy.partal import NOT_K_ANONYMITY, PartAL, asked_of_groups, partal_asked
from shoal.privacy.parts import parts_of, people_behind
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.simple_diversity import SimpleDiversity
from shoal.privacy.stated import Stated

__all__ = [
    "NOT_K_ANONYMITY",
    "And",
    "Closeness",
    "Confidence",
    "DistinctDiversity",
    "EntropyDiversity",
    "KAnonymity",
    "LikelyPartAL",
    "PartAL",
    "RecursiveDiversity",
    "Requirement",
    "RequirementBase",
    "SimpleDiversity",
    "Stated",
    "as_requirement",
    "asked_of_groups",
    "claims",
    "least_people",
    "likely_asked",
    "needs_values",
    "partal_asked",
    "parts_of",
    "people_behind",
    "requirement_from_claims",
]
