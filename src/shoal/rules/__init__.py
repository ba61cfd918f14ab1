# SPDX-License-Identifier: Apache-2.0
"""Association rules that keep a promise.

Transactions, roles of items and a requirement enter; as many valuable rules leave as may leave together.
"""

from shoal.rules.miner import AnonymousRules
from shoal.rules.result import Dropped, RuleReport

__all__ = ["AnonymousRules", "Dropped", "RuleReport"]
