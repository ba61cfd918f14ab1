# SPDX-License-Identifier: Apache-2.0
"""Association rules: transactions and rules enter, a subject of an audit and what supports alone tell leave."""

from shoal.audit.rules.ruleset import Rule, Rules
from shoal.audit.rules.transactions import Transactions, read_transactions

__all__ = ["Rule", "Rules", "Transactions", "read_transactions"]
