# SPDX-License-Identifier: Apache-2.0
"""Bad input of every kind: one sentence, the right exit code, nothing written, no cell shown."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import CANARY, Shoal, files

Refuses = Callable[..., str]


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


# ------------------------------------------------------------------ tables


def test_no_such_file(refuses: Refuses) -> None:
    for verb in (["init", "no.csv"], ["describe", "no.csv"], ["tree", "no.csv", "--target", "x", "-k", "5"]):
        assert "There is no file 'no.csv'." in refuses(*verb)


def test_empty_file(refuses: Refuses, folder: Path) -> None:
    (folder / "empty.csv").write_text("")
    for verb in (["init"], ["describe"], ["tree", "-k", 5, "--target", "x"]):
        assert "is empty" in refuses(verb[0], "empty.csv", *verb[1:])
    (folder / "header.csv").write_text("age,sex\n")
    assert "no rows" in refuses("init", "header.csv")


def test_ragged_file(refuses: Refuses, folder: Path) -> None:
    (folder / "t.csv").write_text(f"age,sex\n1,f\n2,m,{CANARY}\n3,f\n")
    assert "do not have 2 values" in refuses("tree", "t.csv", "--target", "sex", "-k", 2)


def test_no_numbers_where_there_must_be(refuses: Refuses, folder: Path) -> None:
    (folder / "t.csv").write_text(f"age,sex\n1,f\n{CANARY},m\n3,f\n")
    assert "'age'" in refuses("tree", "t.csv", "--target", "sex", "-k", 2, "--numeric", "age")


def test_missing_column_with_a_near_miss(refuses: Refuses, clinic: Path) -> None:
    assert "Closest: 'diabetes'" in refuses("tree", "--target", "diabets")
    assert "Closest: 'occupation'" in refuses("tree", "--public", "age,ocupation")
    assert "Closest: 'zip'" in refuses("describe", "--categorical", "zipp")
    assert "Closest: 'diabetes'" in refuses("init", "clinic.csv", "-o", "x.toml", "--target", "diabets")
    edit(clinic / "shoal.toml", "bmi = [10, 60]", "bmii = [10, 60]")
    assert "Closest: 'bmi'" in refuses("tree")
    edit(clinic / "shoal.toml", "bmii = [10, 60]", "")
    edit(clinic / "shoal.toml", "zip = {", "zipp = {")
    assert "Closest: 'zip'" in refuses("tree")


def test_role_named_twice(refuses: Refuses, clinic: Path) -> None:
    edit(clinic / "shoal.toml", '["smoker", "bmi"]', '["smoker", "bmi", "age"]')
    assert "column 'age' has more than one role: public, private" in refuses("tree", "-o", "t.json")
    assert "more than one role" in refuses("tree", "--public", "age", "--private", "age")
    assert "both in --numeric" in refuses("tree", "--numeric", "age", "--categorical", "age", code=2)


def test_k_larger_than_the_table(refuses: Refuses, clinic: Path) -> None:
    message = refuses("tree", "-k", 6000, "-o", "t.json")
    assert "6,000" in message
    assert "5,000" in message
    assert "k must be" in refuses("tree", "-k", 0, "-o", "t.json")
    assert "Confidence" in refuses("tree", "--confidence", 1.5, "-o", "t.json")
    assert "--max-leaves must be a whole number" in refuses("tree", "--max-leaves", 0)


def test_missing_target(refuses: Refuses, folder: Path) -> None:
    (folder / "t.csv").write_text("age,ill\n" + "".join(f"{i},{'?' if i == 7 else 'ny'[i % 2]}\n" for i in range(99)))
    assert "missing in 1 row" in refuses("tree", "t.csv", "--target", "ill", "-k", 5, "-o", "t.json")


def test_rare_private_values(refuses: Refuses, clinic: Path) -> None:
    edit(clinic / "shoal.toml", 'smoker = ["current", "former", "no"]', "")
    lines = (clinic / "clinic.csv").read_text().splitlines()
    lines[5] = ",".join(CANARY if i == 6 else cell for i, cell in enumerate(lines[5].split(",")))
    (clinic / "clinic.csv").write_text("\n".join(lines) + "\n")
    message = refuses("tree", "-o", "t.json")
    assert "'smoker'" in message
    assert "[domain] of shoal.toml" in message


def test_several_rows_a_person(refuses: Refuses, shoal: Shoal, clinic: Path) -> None:
    edit(clinic / "clinic.csv", "P00002", "P00001")
    made = shoal("tree", "--max-leaves", 4, "--person", "patient", "-o", "t.json")
    assert made.code == 0
    assert "5,000 rows of 4,999 people" in made.out
    assert "--person" in refuses("audit", "t.json")
    assert "no column 'patent'. Closest: 'patient'" in refuses("audit", "t.json", "--person", "patent")
    assert "more than one role" in refuses("tree", "--person", "patient", "--public", "patient,age")
    assert shoal("audit", "t.json", "--person", "patient").code == 0


def test_a_row_of_nobody(refuses: Refuses, clinic: Path) -> None:
    edit(clinic / "clinic.csv", "P00002", "")
    edit(clinic / "shoal.toml", "[roles]", 'person = "patient"\n[roles]')
    assert "'patient'" in refuses("tree", "-o", "t.json")


def test_canary_in_every_kind_of_cell(shoal: Shoal, clinic: Path) -> None:
    """An identifier and a private value that are in the rows are in no output of a run that succeeds."""
    edit(clinic / "clinic.csv", "P00003", CANARY)
    ran = [
        shoal("describe"),
        shoal("tree", "--max-leaves", 12, "-o", "tree.json", "--report", "audit.html"),
        shoal("audit", "tree.json"),
        shoal("attack", "tree.json", "clinic.csv", "-o", "people.csv"),
        shoal("predict", "tree.json", "clinic.csv", "--proba", "-o", "out.csv"),
        shoal("init", "clinic.csv", "--force"),
    ]
    assert {each.code for each in ran} == {0}
    assert all(CANARY not in each.out + each.err for each in ran)
    made = {name: content for name, content in files(clinic).items() if name != "clinic.csv"}
    assert len(made) == 7
    assert all(CANARY.encode() not in content for content in made.values())


# ------------------------------------------------------------------ what was not said


def test_something_was_not_said(refuses: Refuses, clinic: Path) -> None:
    (clinic / "shoal.toml").unlink()
    assert "No table" in refuses("tree", "-k", 5, code=2)
    assert "No promise" in refuses("tree", "clinic.csv", "--target", "diabetes", code=2)
    assert "No target" in refuses("tree", "clinic.csv", "-k", 5, code=2)
    assert "No table" in refuses("describe", code=2)


@pytest.mark.parametrize(
    "arguments",
    [["fly"], ["tree", "--fly"], ["tree", "-k", "many"], ["audit"], ["predict", "a", "b", "--unknown", "x"]],
)
def test_usage_errors(shoal: Shoal, folder: Path, arguments: list[str]) -> None:
    ran = shoal(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "Error" in ran.err
    assert "Traceback" not in ran.err


def test_bench_without_data(refuses: Refuses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    assert "SHOAL_DATA" in refuses("bench", "adult", code=2)
    assert "There is no folder" in refuses("bench", "adult", "--data", "nowhere")


# ------------------------------------------------------------------ releases


def test_truncated_and_hostile_releases(refuses: Refuses, released: Path) -> None:
    text = (released / "tree.json").read_text()
    body = json.loads(text)
    body["nodes"][0]["branches"][0]["node"] = 0  # a tree that never ends
    bad = {
        "cut.json": text[: len(text) // 2],
        "loop.json": json.dumps(body),
        "deep.json": "[" * 100_000,
        "pickle.json": "\x80\x04K*.",
        "list.json": "[1, 2]",
        "other.json": json.dumps({"format": "shoal-release/99", "kind": "tree"}),
        "kind.json": json.dumps({"format": "shoal-release/1", "kind": CANARY}),
        "empty.json": "",
    }
    for name, content in bad.items():
        (released / name).write_text(content)
    for name in bad:
        for verb in ("audit", "attack", "predict"):
            out = ["-o", "out.csv"] if verb != "audit" else []
            assert name in refuses(verb, name, "clinic.csv", *out)
    assert "There is no file" in refuses("predict", "no.json", "clinic.csv")


def test_a_release_steers_no_terminal(shoal: Shoal, released: Path) -> None:
    edit(released / "tree.json", '"diabetes"', '"dia\\u001b[2J\\u202ebetes[bold]"')
    ran = shoal("attack", "tree.json", "clinic.csv")
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out
    assert "betes[bold]" in ran.out


def test_unseen_category(refuses: Refuses, by_education: Path) -> None:
    edit(by_education / "clinic.csv", "Bachelor", CANARY)
    for verb in ("predict", "attack", "audit"):
        message = refuses(verb, "edu.json", "clinic.csv")
        assert "'education' in" in message
    assert "--unknown ancestor" in refuses("predict", "edu.json", "clinic.csv", "-o", "out.csv")
    assert "or predict with --unknown ancestor" in refuses(
        "audit", "edu.json", "clinic.csv"
    )  # which has no such option


def test_rows_without_a_column(refuses: Refuses, released: Path) -> None:
    edit(released / "clinic.csv", "patient,age", "patient,agee")
    for verb in ("predict", "attack", "audit"):
        assert "column(s) 'age'. Closest: 'agee'." in refuses(verb, "tree.json", "clinic.csv")


def test_audit_for_unknown_public_column(refuses: Refuses, released: Path) -> None:
    assert "Closest: 'age'" in refuses("audit", "tree.json", "--public", "agee")


# ------------------------------------------------------------------ outputs


def test_output_folder_that_does_not_exist(refuses: Refuses, released: Path) -> None:
    for command in (
        ["tree", "-o", "no/t.json"],
        ["tree", "-o", "t.json", "--report", "no/a.html"],
        ["audit", "tree.json", "--report", "no/a.html"],
        ["attack", "tree.json", "clinic.csv", "-o", "no/p.csv"],
        ["predict", "tree.json", "clinic.csv", "-o", "no/p.csv"],
        ["init", "clinic.csv", "-o", "no/shoal.toml"],
    ):
        assert "there is no folder 'no'" in refuses(*command)
    assert "it is a folder" in refuses("tree", "-o", ".")


def test_output_over_an_input(refuses: Refuses, released: Path) -> None:
    assert "is read by this command" in refuses("tree", "-o", "clinic.csv")
    assert "is read by this command" in refuses("tree", "-o", "shoal.toml")
    assert "is read by this command" in refuses("predict", "tree.json", "clinic.csv", "-o", "tree.json")
    assert "another output too" in refuses("tree", "-o", "x", "--report", "./x")


def test_init_does_not_overwrite(refuses: Refuses, clinic: Path) -> None:
    assert "--force" in refuses("init", "clinic.csv")
