# SPDX-License-Identifier: Apache-2.0
"""VLDB'08 Table 3: a table, the same with two digits of the zip code hidden, and a census to join them with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shoal.audit import AnonymisedTable, Audit, audit
from shoal.papers.worked import Numbers, worked
from shoal.papers.worked.told import YES

INCOMES = ["High", "Low", "Mid", "High"]
ORIGINAL: Mapping[str, Sequence[str]] = {"zip code": ["11001", "11001", "12033", "12045"], "income": INCOMES}
ANONYMISED: Mapping[str, Sequence[str]] = {"zip code": ["110XX", "110XX", "120XX", "120XX"], "income": INCOMES}
NAMES = ["John", "Lisa", "Ben", "Laura"]  # of the census, whose zip codes are those of the original


def _joined(published: Mapping[str, Sequence[str]]) -> Audit:
    """A published table held against the people of the census."""
    cells = [cell.replace("X", "*") for cell in published["zip code"]]  # a hidden digit, as Shoal reads it
    table = AnonymisedTable({**published, "zip code": cells})
    return audit(table, ORIGINAL, public=["zip code"], privacy=2, sensitive=["income"])


@worked("incomes")
def incomes() -> Numbers:
    """Whose income is certain once the census is joined with either table."""
    original, anonymised = _joined(ORIGINAL), _joined(ANONYMISED)
    told: dict[str, float] = {}
    for words, verdict in (("original", original), ("2-anonymised", anonymised)):
        sure = verdict.certain[verdict.groups.of_row]
        told[f"{words}: people in the smallest group"] = float(verdict.smallest_group or 0)
        told[f"{words}: people whose income is certain"] = float(sure.sum())
        for name, income in (("Laura", "High"), ("Ben", "Mid")):
            row = NAMES.index(name)
            told[f"{words}: {name}'s income is certainly {income}{YES}"] = float(sure[row] and INCOMES[row] == income)
    return told
