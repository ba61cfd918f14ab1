# SPDX-License-Identifier: Apache-2.0
"""How many rules of Groceries may leave together, and how long that takes, beside mlxtend's mining alone.

    SHOAL_DATA=… python benchmarks/rules_mining.py

Personal-care and pharmacy-like items (the department "perfumery" of the item hierarchy) are private, k = 30. mlxtend
mines all rules, also those of public items alone, and protects nobody.
"""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter

import pandas as pd
from mlxtend.frequent_patterns import association_rules, fpgrowth

from shoal import AnonymousRules, audit

K = 30
# smallest support in people, and confidence
SETTINGS = [(10, 0.3), (20, 0.2), (20, 0.3), (30, 0.3)]


def main() -> None:
    """Print one line a setting and value of rules."""
    folder = Path(os.environ["SHOAL_DATA"])
    long = pd.read_csv(folder / "groceries_long.csv")
    items = pd.read_csv(folder / "hierarchies" / "groceries_items.csv")
    public = sorted(set(long["item"]) - set(items[items["level1"] == "perfumery"]["item"]))
    tree: dict[str, dict[str, dict[str, list[str]]]] = {"*": {}}
    for item, group, department in items.itertuples(index=False):
        tree["*"].setdefault(f"department {department}", {}).setdefault(group, []).append(item)
    AnonymousRules(K, public, 100, 0.3).fit(long)  # compile
    for support, confidence in SETTINGS:
        start = perf_counter()
        wide = pd.crosstab(long["transaction_id"], long["item"]).astype(bool)
        frequent = fpgrowth(wide, min_support=support / len(wide), use_colnames=True)
        n_all = len(association_rules(frequent, min_threshold=confidence))
        peer = perf_counter() - start
        for value in ("lift", "number"):
            start = perf_counter()
            miner = AnonymousRules(K, public, support, confidence, value=value, hierarchy=tree).fit(long)
            ours = perf_counter() - start
            assert audit(miner, long).holds
            report = miner.report_
            print(
                f"support {support}, confidence {confidence}, value {value}: mined {report.mined}, safe alone (upper "
                f"bound) {report.safe_alone}, plain greedy {report.greedy}, kept {report.kept}, generalised "
                f"{report.generalised} besides, {ours:.1f} s; mlxtend mines {n_all:,} rules in {peer:.1f} s"
            )


if __name__ == "__main__":
    main()
