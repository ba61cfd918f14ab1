# SPDX-License-Identifier: Apache-2.0
"""What `shoal init` proposes."""

import csv
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from shoal.cli.project import read_project

from .conftest import CANARY, Shoal


def write(path: Path, columns: dict[str, list[Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def init(shoal: Shoal, folder: Path, columns: dict[str, list[Any]], *options: object) -> dict[str, Any]:
    write(folder / "t.csv", columns)
    ran = shoal("init", "t.csv", *options)
    assert (ran.code, ran.err) == (0, "")
    text = (folder / "shoal.toml").read_text()
    assert CANARY not in text + ran.out
    return tomllib.loads(text)


N = 300
ILL = ["no", "yes", "no"] * (N // 3)


def test_roles(shoal: Shoal, folder: Path) -> None:
    body = init(
        shoal,
        folder,
        {
            "note": [f"{CANARY} {i}" for i in range(N)],
            "patientId": list(range(1000, 1000 + N)),
            "phone": [f"+43 {i % 200}" for i in range(N)],
            "amount": [i * 1.5 for i in range(N)],
            "rank": list(range(N)),
            "town": [f"town {i % 40}" for i in range(N)],
            "ill": ILL,
        },
    )
    assert body["roles"]["identifier"] == ["note", "patientId", "phone"]
    assert body["roles"]["public"] == ["amount", "rank", "town"]
    assert body["roles"]["private"] == []
    assert body["roles"]["target"] == "ill"
    assert body["privacy"] == {"k": 10}
    assert body["data"] == {"source": "t.csv"}


def test_hierarchies(shoal: Shoal, folder: Path) -> None:
    body = init(
        shoal,
        folder,
        {
            "plz": [10000 + 7 * i for i in range(N)],
            "code": [f"0{i % 90:02}" for i in range(N)],
            "visit": [f"2024-0{1 + i % 9}-1{i % 10}" for i in range(N)],
            "age": [18 + i % 60 for i in range(N)],
            "ratio": [round(i / N, 4) for i in range(N)],
            "constant": [1] * N,
            "ill": ILL,
        },
    )
    assert body["hierarchies"] == {
        "plz": {"prefix": [4, 3, 2, 1]},
        "code": {"prefix": [2, 1]},
        "visit": {"dates": ["month", "quarter", "year", "decade"]},
    }
    assert body["data"]["categorical"] == ["plz"]
    text = (folder / "shoal.toml").read_text()
    assert "# age = { intervals = [5, 10, 20] }" in text
    assert "# ratio = { intervals = [0.05, 0.1, 0.2] }" in text
    assert "constant = {" not in text


def test_suggestions_can_be_taken(shoal: Shoal, folder: Path) -> None:
    """The lines that are commented out work when they are not."""
    columns = {"a/b ü": [i % 70 for i in range(N)], "x": [i * 0.37 % 11 for i in range(N)], "ill": ILL}
    init(shoal, folder, columns)
    toml = folder / "shoal.toml"
    lines = toml.read_text().splitlines()
    toml.write_text("\n".join(line.removeprefix("# ") if "intervals" in line else line for line in lines))
    assert set(tomllib.loads(toml.read_text())["hierarchies"]) == {"a/b ü", "x"}
    assert shoal("tree", "-o", "tree.json").code == 0


def test_missing_tokens(shoal: Shoal, folder: Path) -> None:
    ages = ["" if i % 50 == 1 else "NA" if i % 50 == 2 else i % 70 for i in range(N)]
    country = ["NA" if i % 4 else "?" for i in range(N)]  # Namibia is no missing value
    body = init(shoal, folder, {"age": ages, "country": country, "ill": ILL})
    assert body["data"]["missing"] == ["", "?", "NA"]
    assert "# age = { intervals" in (folder / "shoal.toml").read_text()
    assert init(shoal, folder, {"age": ages, "ill": ILL}, "--force", "--missing", "", "--missing", "NA")["data"][
        "missing"
    ] == ["", "NA"]


def test_target(shoal: Shoal, folder: Path) -> None:
    columns = {"sex": ["f", "m"] * (N // 2), "ill": ILL, "group": [i % 3 for i in range(N)]}
    assert init(shoal, folder, columns)["roles"]["target"] == "ill"
    assert init(shoal, folder, columns, "--force", "--target", "sex")["roles"]["target"] == "sex"
    del columns["sex"], columns["ill"]
    columns["x"] = [i * 1.7 for i in range(N)]
    assert init(shoal, folder, columns, "--force")["roles"]["target"] == "group"


def test_no_target(shoal: Shoal, folder: Path) -> None:
    write(folder / "t.csv", {"x": [i * 1.7 for i in range(N)]})
    ran = shoal("init", "t.csv")
    assert ran.code == 1
    assert "--target" in ran.err
    assert os.listdir(folder) == ["t.csv"]


@pytest.mark.parametrize(("people", "k"), [(4, 2), (60, 3), (199, 9), (200, 10), (400, 10)])
def test_k_suits_the_table(shoal: Shoal, folder: Path, people: int, k: int) -> None:
    columns = {"age": [20 + i % 50 for i in range(people)], "ill": ["ny"[i % 2] for i in range(people)]}
    assert init(shoal, folder, columns)["privacy"]["k"] == k


def test_strange_names_and_places(shoal: Shoal, folder: Path) -> None:
    strange = ['quo"te', "back\\slash", "tab\tkey", "del\x7f", "a.b", "ü", "[x]", "# no", "😀"]
    columns: dict[str, list[Any]] = {name: [i % 30 for i in range(N)] for name in strange}
    (folder / "deep").mkdir()
    write(folder / "t.csv", {**columns, "ill": ILL})
    assert shoal("init", "t.csv", "-o", "deep/shoal.toml").code == 0
    project = read_project(folder / "deep" / "shoal.toml")
    assert project.public == tuple(strange)
    assert project.source is not None
    assert project.source.resolve() == folder / "t.csv"
    assert shoal("tree", "--config", "deep/shoal.toml", "-o", "tree.json").code == 0


def test_same_table_same_file(shoal: Shoal, clinic: Path) -> None:
    assert shoal("init", "clinic.csv", "--force").code == 0
    first = (clinic / "shoal.toml").read_bytes()
    assert shoal("init", "clinic.csv", "--force").code == 0
    assert (clinic / "shoal.toml").read_bytes() == first
    assert b"P0000" not in first


def test_a_column_that_tells_people_apart_is_proposed(shoal: Shoal, folder: Path) -> None:
    lines = ["customer_nbr,user_age,bought", *(f"{i % 60},{20 + i % 30},{'ny'[i % 2]}" for i in range(300))]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    body = shoal("init", "t.csv", "--json").json
    assert body["people"] == 60
    assert {each["name"]: each["role"] for each in body["columns"]} == {
        "customer_nbr": "identifier",
        "user_age": "public",
        "bought": "target",
    }
    assert 'person = "customer_nbr"' in (folder / "shoal.toml").read_text()
    assert "300 rows of 60 people" in shoal("describe").out
    assert "300 rows of 60 people" in shoal("tree").out
