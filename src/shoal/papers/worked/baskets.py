# SPDX-License-Identifier: Apache-2.0
"""VLDB'08 Sect. 4.3: two association rules of a shop's customers."""

from __future__ import annotations

from shoal.audit import audit
from shoal.audit.rules import Rules
from shoal.audit.rules.populations import Populations
from shoal.papers.worked import Numbers, worked
from shoal.papers.worked.told import YES

CHERRIES, CANDLES, VIAGRA, TYLENOL = "Cherries", "Birthday Candles", "Viagra", "Tylenol"
GROCERIES = [CHERRIES, CANDLES]
CUSTOMERS = 1000
# 112 with cherries, 84 of them with Viagra; 30 with candles as well, 24 of them with Tylenol. What the rules leave open
# (who of the 30 has Viagra, what those without cherries have) is ours
BASKETS: list[list[str]] = (
    [[CHERRIES, CANDLES, VIAGRA, TYLENOL]] * 20
    + [[CHERRIES, CANDLES, TYLENOL]] * 4
    + [[CHERRIES, CANDLES, VIAGRA]] * 4
    + [[CHERRIES, CANDLES]] * 2
    + [[CHERRIES, VIAGRA]] * 60
    + [[CHERRIES]] * 22
    + [[CANDLES, VIAGRA]] * 100
    + [[]] * 788
)
# how each span of the paper is told apart, by a customer who is in it
SPANS = {"S1, no cherries": [], "S2, cherries and candles": [CHERRIES, CANDLES], "S3, cherries only": [CHERRIES]}


def both_rules(first: int = 2) -> Rules:
    """The rules as the paper prints them, or the first alone."""
    return Rules.from_frame(
        {
            "antecedents": [{CHERRIES}, {CHERRIES, CANDLES}][:first],
            "consequents": [{VIAGRA}, {TYLENOL}][:first],
            "support": [0.084, 0.024][:first],
            "confidence": [0.75, 0.80][:first],
        }
    )


def _largest_k(populations: Populations) -> float:
    return float(max(k for k in range(1, CUSTOMERS) if populations.verdict(k).answer == "holds"))


@worked("baskets")
def baskets() -> Numbers:
    """The bins and spans of the rules, and how many people their numbers put into each."""
    rules = both_rules()
    told: dict[str, float] = {"equivalence classes": float(rules.n_bins or 0)}
    groups = audit(rules, BASKETS, public=GROCERIES, privacy=2).groups
    told["spans"] = float(len(groups))
    for words, basket in SPANS.items():
        group = groups.of_row[BASKETS.index(basket)]
        told[f"{words}: equivalence classes"] = float(groups.n_bins[group])
    # nothing from here on looks at the baskets: supports and confidences say it all
    told_by_rules = rules.populations(CUSTOMERS, public=GROCERIES)
    with_both, with_cherries, without = told_by_rules.groups
    for words, population in zip(SPANS, (without, with_both, with_cherries), strict=True):
        assert population.people is not None
        told[f"{words}: customers"] = float(population.people)
    fewest, most = with_both.shares[repr(TYLENOL)]
    alone = both_rules(1).populations(CUSTOMERS, public=GROCERIES)
    return told | {
        "customers with cherries": float(CUSTOMERS - told["S1, no cherries: customers"]),
        "S2: so many bought Tylenol": float(fewest),
        "S2: so many did not": told["S2, cherries and candles: customers"] - most,
        "nothing private is told of S1" + YES: float(without.exempt),
        "largest k that both rules keep": _largest_k(told_by_rules),
        "largest k that the first rule alone keeps": _largest_k(alone),
    }
