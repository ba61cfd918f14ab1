# SPDX-License-Identifier: Apache-2.0
"""How long the audit of association rules takes, against asking every person what each rule can still be.

    SHOAL_DATA=… python benchmarks/rules.py

The peer is the definition in plain Python: for each person and rule, which states his private items can bring about. It
runs on a sample of the people, and its time is scaled up. Every tenth item of the rules is private.
"""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter

import pandas as pd
from mlxtend.frequent_patterns import association_rules, fpgrowth

from shoal import audit
from shoal.audit.rules import Rules
from shoal.audit.rules.transactions import read_transactions

SAMPLE = 500
# file, smallest support and confidence of the rules
SETS = [
    ("groceries_long.csv", 0.008, 0.25),
    ("groceries_long.csv", 0.003, 0.2),
    ("msweb_train_long.csv.gz", 0.01, 0.3),
    ("msweb_train_long.csv.gz", 0.003, 0.2),
]


def mine(long: pd.DataFrame, support: float, confidence: float) -> Rules:
    """The rules that mlxtend finds."""
    baskets = pd.crosstab(long.iloc[:, 0], long.iloc[:, 1]).astype(bool)
    found = fpgrowth(baskets, min_support=support, use_colnames=True)
    return Rules.from_frame(association_rules(found, min_threshold=confidence))


def reachable(rules: Rules, public: set[str], basket: set[str]) -> tuple[frozenset[int], ...]:
    """For every rule the states that a person can be in, as far as his public items tell."""
    states = []
    for rule in rules:
        if not rule.antecedent & public <= basket:
            states.append(frozenset([0]))
            continue
        can = {0} if rule.antecedent - public else set()
        if rule.consequent & public <= basket:
            can |= {2} | ({1} if rule.consequent - public else set())
        else:
            can.add(1)
        states.append(frozenset(can))
    return tuple(states)


def main() -> None:
    """Print one line a set of rules."""
    folder = Path(os.environ["SHOAL_DATA"])
    for file, support, confidence in SETS:
        long = pd.read_csv(folder / file)
        rules = mine(long, support, confidence)
        public = {item for number, item in enumerate(rules.items) if number % 10}

        start = perf_counter()
        transactions = read_transactions(long)
        read = perf_counter() - start
        start = perf_counter()
        verdict = audit(rules, transactions, public=sorted(public), privacy=10)
        ours = perf_counter() - start

        lists = long.iloc[:, 1].astype(str).groupby(long.iloc[:, 0].to_numpy()).agg(set)
        sample = lists.iloc[:: max(1, len(lists) // SAMPLE)]
        start = perf_counter()
        states = [reachable(rules, public, basket) for basket in sample]
        peer = (perf_counter() - start) * len(lists) / len(sample)
        rows = list(range(0, len(lists), max(1, len(lists) // SAMPLE)))
        groups = verdict.groups.of_row[rows].tolist()
        assert len(set(zip(states, groups, strict=True))) == len(set(states)) == len(set(groups))
        print(
            f"{file}: {len(lists):,} people, {len(rules):,} rules over {len(rules.items)} items, "
            f"{verdict.n_groups:,} groups: read {read:.2f} s, audit {ours:.2f} s; plain Python {peer:.1f} s, "
            f"{peer / ours:.0f} times as long"
        )


if __name__ == "__main__":
    main()
