# SPDX-License-Identifier: Apache-2.0
"""How many rules of Groceries may leave together, and how long that takes, beside mlxtend's mining alone.

    SHOAL_DATA=… python benchmarks/rules_mining.py

Personal-care and pharmacy-like items (the department "perfumery" of the item hierarchy) are private, k = 30. mlxtend
mines all rules, also those of public items alone, and protects nobody. Seconds are of processor time. "At most" is a
proven bound.
"""

from __future__ import annotations

import os
from pathlib import Path
from time import process_time

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
    print(
        "| support, confidence | value | mined | safe alone | plain greedy | released | at most | greedy's worth | "
        "worth | worth at most | generalised besides | seconds | mlxtend's rules | its seconds |"
    )
    for support, confidence in SETTINGS:
        start = process_time()
        wide = pd.crosstab(long["transaction_id"], long["item"]).astype(bool)
        frequent = fpgrowth(wide, min_support=support / len(wide), use_colnames=True)
        n_all = len(association_rules(frequent, min_threshold=confidence))
        peer = process_time() - start
        for value in ("lift", "number"):
            start = process_time()
            miner = AnonymousRules(K, public, support, confidence, value=value, hierarchy=tree).fit(long)
            ours = process_time() - start
            assert audit(miner, long).holds
            report = miner.report_
            print(
                f"| {support} people, {confidence} | {value} | {report.mined} | {report.safe_alone} | "
                f"{report.greedy} | {report.kept} | {report.most} | {report.greedy_worth:.1f} | {report.worth:.1f} | "
                f"{report.most_worth:.1f} | {report.generalised} | {ours:.1f} | {n_all:,} | {peer:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
