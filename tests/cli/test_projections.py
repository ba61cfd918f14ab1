# SPDX-License-Identifier: Apache-2.0
"""Projections on the command line: audited, entered and linked, and never taken for k-anonymous."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from shoal.partition.publish import publish_projections
from shoal.privacy import NOT_K_ANONYMITY

from .conftest import CANARY, Shoal

PEOPLE = pd.DataFrame(
    {
        "age": [21, 33, 47, 58, 62, 71] * 10,
        "town": ["north", "south", "south", "north"] * 15,
        "ill": [f"{CANARY}-no", f"{CANARY}-no", f"{CANARY}-yes"] * 20,
    }
)


@pytest.fixture
def people(folder: Path) -> Path:
    """The working folder with people and projections of them."""
    PEOPLE.to_csv(folder / "people.csv", index=False)
    publish_projections(PEOPLE, "ill", [["age"], ["town"]], privacy=5, cuts={"age": [40, 60]}).save("parts.json")
    return folder


def test_an_audit_says_that_it_is_not_k_anonymity(shoal: Shoal, people: Path) -> None:
    ran = shoal("audit", "parts.json", "people.csv", "--report", "audit.html")
    assert ran.code == 0
    assert ran.out.startswith("holds: PartAL ")
    assert NOT_K_ANONYMITY in " ".join(ran.out.split())
    assert NOT_K_ANONYMITY in (people / "audit.html").read_text(encoding="utf-8")
    assert CANARY not in ran.out
    body = shoal("audit", "parts.json", "people.csv", "--json").json
    assert (body["notice"], body["claims"]) == (NOT_K_ANONYMITY, [{"requirement": "partal", "k": 5}])
    assert body["partal"] == min(body["pal"], body["sal"]) >= 5


def test_asked_for_k_anonymity_it_fails(shoal: Shoal, people: Path) -> None:
    ran = shoal("audit", "parts.json", "people.csv", "-k", 20)
    assert ran.code == 3
    assert ran.out.startswith("BREACH: ")
    assert "every group has at least 20 people: fails" in ran.out


def test_it_is_entered_into_the_ledger(shoal: Shoal, people: Path) -> None:
    ran = shoal("ledger", "add", "parts.json", "people.csv")
    assert ran.code == 0
    assert NOT_K_ANONYMITY in " ".join(ran.out.split())
    assert "2 projections" in shoal("ledger", "list", "people.csv").out


def test_people_are_linked(shoal: Shoal, people: Path) -> None:
    ran = shoal("attack", "parts.json", "people.csv", "--data", "people.csv")
    assert ran.code == 0


def test_what_takes_a_model_refuses_it(people: Path, refuses: Callable[..., str]) -> None:
    assert "projections" in refuses("predict", "parts.json", "people.csv", code=2)


def test_without_rows_it_cannot_be_audited(people: Path, refuses: Callable[..., str]) -> None:
    assert "No table" in refuses("audit", "parts.json", code=2)
