# SPDX-License-Identifier: Apache-2.0
"""Unsafe trees, made safe.

A tree or a forest that breaks a requirement enters, with the rows it was learned from; a release that keeps it leaves,
and what that cost. Splits are collapsed or passed over, never moved or added. The audit that judges the result shares
no counting with what is here.
"""

from shoal.repair.hits import EstimatedTree, prune_by_hits
from shoal.repair.repair import Repair, repair

__all__ = ["EstimatedTree", "Repair", "prune_by_hits", "repair"]
