# SPDX-License-Identifier: Apache-2.0
"""The sceptic.

A release, the rows it was learned from and what an attacker may know enter; a verdict with reasons leaves. Nothing
here imports a miner, an engine or a kernel: a wrong counter must not approve itself.
"""

from shoal.audit.attack import Attack, attack
from shoal.audit.auditor import audit
from shoal.audit.foreign.tables import AnonymisedTable
from shoal.audit.result import Audit, Finding
from shoal.audit.risk import risks

__all__ = ["AnonymisedTable", "Attack", "Audit", "Finding", "attack", "audit", "risks"]
