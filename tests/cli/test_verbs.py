# SPDX-License-Identifier: Apache-2.0
"""Every verb, used as it is meant to be."""

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import shoal as library
from shoal.cli import reference
from shoal.data import load_sample

from .conftest import CANARY, Shoal, files


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def people(path: Path) -> list[list[str]]:
    """A table of one's own: names, a zip code, numbers with holes, a target."""
    table = [["name", "zip", "age", "born", "job", "sick"]]
    for i in range(300):
        age = "?" if i % 60 == 7 else str(20 + i * 7 % 60)
        born = f"19{30 + i % 60}-0{1 + i % 9}-1{i % 10}"
        sick = "yes" if (i * 7 % 60 > 35) != (i % 11 == 0) else "no"
        table.append([f"{CANARY} {i}", f"{10000 + i * 37 % 90000}", age, born, ["a, b", "c", "d"][i % 3], sick])
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(table)
    return table


def test_the_three_commands_of_a_new_user(shoal: Shoal, folder: Path) -> None:
    people(folder / "people.csv")
    ran = shoal("init", "people.csv")
    assert ran.code == 0
    assert "sick" in ran.out
    assert "the last categorical column" in ran.out
    ran = shoal("tree", "-o", "tree.json", "--max-leaves", 8)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("sick: ")
    assert "holds: smallest group" in ran.out
    assert ran.out.endswith("wrote tree.json\n")
    ran = shoal("audit", "tree.json", "people.csv")
    assert ran.code == 0
    assert ran.out.startswith("holds: ")
    assert CANARY not in (folder / "tree.json").read_text() + (folder / "shoal.toml").read_text()
    assert sorted(files(folder)) == ["people.csv", "shoal.toml", "tree.json"]


def test_describe(shoal: Shoal, clinic: Path) -> None:
    ran = shoal("describe")
    assert (ran.code, ran.err) == (0, "")
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["patient", "categorical", "identifier", "5,000", "0"] in lines
    assert ["diabetes", "categorical", "private", "target", "2", "0"] in lines
    assert ["sex", "2", "0", "0", "0.0%"] in lines
    assert any(line[:4] == ["all", "5", "together", "4,881"] for line in lines)
    assert "Primary school" not in ran.out  # counts, no values


def test_describe_without_a_project(shoal: Shoal, clinic: Path) -> None:
    (clinic / "shoal.toml").unlink()
    body = shoal("describe", "clinic.csv", "--identifier", "patient", "--json").json
    roles = {column["name"]: column["role"] for column in body["columns"]}
    assert roles["patient"] == "identifier"
    assert roles["diabetes"] == "public"
    assert body["k"] == 10


VARIANTS = ([], ["--variant", "id3"], ["--variant", "c45"])


def test_tree_is_the_library_s(shoal: Shoal, released: Path) -> None:
    sample = load_sample()
    model = library.AnonymousTreeClassifier(
        25,
        public=sample.roles.public,
        hierarchies=sample.hierarchies,
        domain={"age": [18, 95], "bmi": [10, 60], "smoker": ["current", "former", "no"]},
        max_leaves=12,
    ).fit(sample.table.drop(["patient"]), "diabetes")
    model.release_.save(released / "other.json")
    assert (released / "other.json").read_bytes() == (released / "tree.json").read_bytes()


def test_options_override_the_file(shoal: Shoal, clinic: Path) -> None:
    body = shoal("tree", "-k", 400, "--confidence", 0.99, "--public", "age, sex", "--public", "zip", "--json").json
    assert body["release"]["claims"] == [
        {"requirement": "k-anonymity", "k": 400},
        {"requirement": "confidence", "c": 0.99},
    ]
    roles = {each["name"]: each["role"] for each in body["release"]["attributes"]} | body["release"].get("unused", {})
    assert sorted(name for name, role in roles.items() if role == "public") == ["age", "sex", "zip"]
    assert "patient" not in roles
    assert body["audit"]["smallest_group"] >= 400


def test_another_target_on_the_command_line(shoal: Shoal, clinic: Path) -> None:
    body = shoal("tree", "--target", "smoker", "--max-leaves", 4, "--json").json
    roles = {each["name"]: each["role"] for each in body["release"]["attributes"]} | body["release"].get("unused", {})
    assert body["release"]["target"] == "smoker"
    assert roles["diabetes"] == "private"


def test_the_papers_trees_by_name(shoal: Shoal, clinic: Path) -> None:
    sizes = [len(shoal("tree", *variant, "-k", 200, "--json").json["release"]["nodes"]) for variant in VARIANTS]
    assert len(set(sizes)) == 3
    assert shoal("tree", "--variant", "cart").code == 2


@pytest.mark.parametrize("statement", ["shares", "majority"])
def test_a_tree_that_states_less(shoal: Shoal, released: Path, statement: str) -> None:
    ran = shoal("tree", "--max-leaves", 12, "--statement", statement, "-o", "less.json", "--report", "less.html")
    assert ran.code == 0
    assert "5,000 people;" not in ran.out
    less = library.load("less.json")
    assert less.to_json() == library.load("tree.json").stating(statement).to_json()
    assert shoal("audit", "less.json").code == 0
    assert shoal("predict", "less.json", "clinic.csv").out == shoal("predict", "tree.json", "clinic.csv").out
    assert shoal("tree", "--statement", "few").code == 2


def test_what_less_does_not_tell(shoal: Shoal, released: Path, refuses: Callable[..., str]) -> None:
    for statement in ("shares", "majority"):
        assert shoal("tree", "--max-leaves", 12, "--statement", statement, "-o", f"{statement}.json").code == 0
        assert "no numbers of people" in refuses("attack", f"{statement}.json", "clinic.csv")
    assert "only predicted classes. Leave out --proba." in refuses("predict", "majority.json", "clinic.csv", "--proba")
    text = shoal("predict", "shares.json", "clinic.csv", "--proba").out
    assert rows(text)[0] == ["diabetes", "diabetes=no", "diabetes=yes"]
    assert all(len(share) <= len("0.123") for row in rows(text)[1:] for share in row[1:])


def test_a_changed_share_is_a_breach(shoal: Shoal, released: Path) -> None:
    assert shoal("tree", "--max-leaves", 12, "--statement", "shares", "-o", "less.json").code == 0
    body = json.loads((released / "less.json").read_text())
    leaf = next(node for node in body["nodes"] if node.get("predict") == "no" and "shares" in node)
    leaf["shares"] = {"no": 0.6, "yes": 0.4}
    (released / "less.json").write_text(json.dumps(body))
    ran = shoal("audit", "less.json", "--report", "breach.html")
    assert ran.code == 3
    assert "The released shares of 1 node(s) are not those of these rows" in ran.out
    assert "What is released is not true of the rows" in (released / "breach.html").read_text()


GROWING = (
    (["--grouping", "merge"], {"grouping": "merge"}),
    (["--min-gain", 0.005], {"min_gain": 0.005}),
    (["--class-weight", "balanced"], {"class_weight": "balanced"}),
    (["--class-weight", "no=1", "--class-weight", "yes=2.5"], {"class_weight": {"no": 1, "yes": 2.5}}),
    (["--lookahead"], {"lookahead": 1}),
)


@pytest.mark.parametrize(("given", "meant"), GROWING, ids=lambda each: str(each))
def test_how_to_grow(shoal: Shoal, clinic: Path, given, meant) -> None:
    sample = load_sample()
    model = library.AnonymousTreeClassifier(
        200,
        public=sample.roles.public,
        hierarchies=sample.hierarchies,
        domain={"age": [18, 95], "bmi": [10, 60], "smoker": ["current", "former", "no"]},
        **meant,
    ).fit(sample.table.drop(["patient"]), "diabetes")
    assert shoal("tree", *given, "-k", 200, "--json").json["release"] == model.release_.to_json()


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        (["--grouping", "thirds"], 2, "grouping"),
        (["--class-weight", "much"], 2, "--class-weight is 'balanced', or CLASS=WEIGHT"),
        (["--class-weight", "no=1", "--class-weight", "no=2"], 2, "once for each class"),
        (["--class-weight", "no=1", "--class-weight", "yes=x"], 2, "CLASS=WEIGHT"),
        (["--class-weight", "no=1"], 1, "lacks 1 of the classes"),
        (["--class-weight", "no=1", "--class-weight", "yes=nan"], 1, "no positive number"),
        (["--min-gain", "-1"], 1, "min_gain must be"),
    ],
)
def test_growing_options_that_make_no_sense(shoal: Shoal, clinic: Path, given, code, message) -> None:
    ran = shoal("tree", "-k", 200, *given)
    assert ran.code == code
    assert message in ran.err


def test_all_by_options(shoal: Shoal, clinic: Path) -> None:
    (clinic / "shoal.toml").rename(clinic / "other.toml")
    options = ["--target", "diabetes", "--identifier", "patient", "--private", "smoker,bmi", "-k", 50]
    ran = shoal("tree", "clinic.csv", *options, "--hierarchies", ".", "--max-depth", 2, "--json")
    by_file = shoal("tree", "--config", "other.toml", "--max-depth", 2, "-k", 50, "--json")
    assert (ran.code, by_file.code) == (0, 0)
    assert ran.json["audit"]["smallest_group"] >= 50


def test_config_elsewhere(shoal: Shoal, folder: Path) -> None:
    library.data.write_sample(folder / "deep")
    ran = shoal("tree", "--config", "deep/shoal.toml", "--max-leaves", 6, "-o", "t.json")
    assert ran.code == 0
    assert shoal("audit", "t.json", "--config", "deep/shoal.toml").code == 0
    assert shoal("audit", "t.json", "deep/clinic.csv").code == 0


def test_audit_of_a_breach(shoal: Shoal, released: Path) -> None:
    ran = shoal("audit", "tree.json", "clinic.csv", "-k", 1000)
    assert (ran.code, ran.err) == (3, "")
    assert ran.out.startswith("BREACH")
    body = shoal("audit", "tree.json", "-k", 1000, "--json")
    assert body.code == 3
    assert body.json["holds"] is False
    assert {finding["severity"] for finding in body.json["findings"]} >= {"breach"}


def test_audit_asks_what_the_project_requires(shoal: Shoal, released: Path) -> None:
    toml = released / "shoal.toml"
    toml.write_text(toml.read_text().replace("k = 25", "k = 1000"))
    assert shoal("audit", "tree.json").code == 3
    assert shoal("audit", "tree.json", "-k", 20).code == 0


def test_audit_believes_the_project_s_roles(shoal: Shoal, released: Path) -> None:
    toml = released / "shoal.toml"
    text = toml.read_text().replace('"occupation"]', '"occupation", "bmi"]').replace('"smoker", "bmi"', '"smoker"')
    toml.write_text(text)
    ran = shoal("audit", "tree.json")
    assert "bmi" in ran.out.splitlines()[-1]
    assert "another role" in ran.err
    assert shoal("audit", "tree.json", "--json").json["public"].count("bmi") == 1


def test_audit_of_other_rows(shoal: Shoal, released: Path) -> None:
    lines = (released / "clinic.csv").read_text().splitlines(keepends=True)
    (released / "half.csv").write_text("".join(lines[:2500]))
    ran = shoal("audit", "tree.json", "half.csv")
    assert ran.code == 3
    assert "other rows, or a changed file" in ran.out


def test_reports(shoal: Shoal, released: Path) -> None:
    assert shoal("audit", "tree.json", "--report", "audit.html").code == 0
    assert "<html" in (released / "audit.html").read_text(encoding="utf-8").lower()
    ran = shoal("tree", "--max-leaves", 5, "--report", "tree.html", "-o", "t.json", "--json")
    assert sorted(ran.json["written"]) == ["t.json", "tree.html"]


def test_attack(shoal: Shoal, released: Path) -> None:
    lines = (released / "clinic.csv").read_text().splitlines()
    public = [",".join(line.split(",")[1:6]) for line in lines]  # what an attacker holds: no private column
    (released / "public.csv").write_text("\n".join(public) + "\n")
    ran = shoal("attack", "tree.json", "public.csv", "-o", "people.csv")
    assert (ran.code, ran.err) == (0, "")
    assert "5,000 people linked to" in ran.out
    found = rows((released / "people.csv").read_text())
    assert found[0][:3] == ["group", "group_size", "diabetes: guess"]
    assert len(found) == 5001
    assert min(int(row[1]) for row in found[1:]) >= 25


def test_predict(shoal: Shoal, released: Path) -> None:
    lines = (released / "clinic.csv").read_text().splitlines()
    (released / "new.csv").write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n")
    printed = shoal("predict", "tree.json", "new.csv", "--proba")
    assert (printed.code, printed.err) == (0, "")
    found = rows(printed.out)
    assert found[0] == ["diabetes", "diabetes=no", "diabetes=yes"]
    expected = library.load("tree.json").predict(library.read_table("clinic.csv"))
    assert [row[0] for row in found[1:]] == expected.tolist()
    assert all(float(row[1]) + float(row[2]) == pytest.approx(1) for row in found[1:])
    ran = shoal("predict", "tree.json", "new.csv", "-o", "out.csv")
    assert (ran.code, ran.out) == (0, "")
    assert [row[:1] for row in found] == rows((released / "out.csv").read_text())


def test_predict_as_json(shoal: Shoal, released: Path) -> None:
    body = shoal("predict", "tree.json", "clinic.csv", "--proba", "--json").json
    assert body["rows"] == len(body["predictions"]["diabetes"]) == len(body["predictions"]["diabetes=yes"]) == 5000
    body = shoal("predict", "tree.json", "clinic.csv", "-o", "out.csv", "--json").json
    assert body == {"target": "diabetes", "rows": 5000, "written": ["out.csv"]}


def test_predict_unknown_values(shoal: Shoal, by_education: Path) -> None:
    text = (by_education / "clinic.csv").read_text().splitlines()
    (by_education / "new.csv").write_text(f"{text[0]}\n{text[1].replace('Bachelor', CANARY)}\n")
    ran = shoal("predict", "edu.json", "new.csv", "--unknown", "ancestor")
    assert (ran.code, ran.out) == (0, "diabetes\nno\n")


def test_numbers_as_classes(shoal: Shoal, folder: Path) -> None:
    lines = ["age,zip,ill", *(f"{20 + i % 50},0{i % 9}11,{int(i % 50 > 25)}.0" for i in range(400))]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    assert shoal("tree", "t.csv", "--target", "ill", "-k", 20, "-o", "t.json").code == 0
    assert shoal("audit", "t.json", "t.csv").code == 0
    assert rows(shoal("predict", "t.json", "t.csv").out)[1] == ["0"]
    assert shoal("tree", "t.csv", "--target", "ill", "--categorical", "ill", "-k", 20, "-o", "t.json").code == 0
    assert shoal("audit", "t.json", "t.csv").code == 0


def test_kinds_come_from_the_release(shoal: Shoal, folder: Path) -> None:
    lines = ["zip,ill", *(f"{10 + i % 4}117,{'ny'[i % 4 > 1]}" for i in range(400))]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    assert shoal("tree", "t.csv", "--target", "ill", "--categorical", "zip", "-k", 20, "-o", "t.json").code == 0
    assert shoal("audit", "t.json", "t.csv").code == 0
    assert shoal("attack", "t.json", "t.csv").code == 0
    assert len(rows(shoal("predict", "t.json", "t.csv").out)) == 401


def test_person_and_every_requirement(shoal: Shoal, clinic: Path) -> None:
    toml = clinic / "shoal.toml"
    text = toml.read_text().replace('identifier = ["patient"]\n', "").replace("[roles]", 'person = "patient"\n[roles]')
    requirements = "entropy = 1.05\ndistinct = 2\nsimple = 1.02\nrecursive = [50.0, 2]\ncloseness = 0.9\n"
    toml.write_text(text + requirements)
    body = shoal("tree", "--max-leaves", 4, "--json").json
    assert len(body["release"]["claims"]) == 6
    assert "patient" not in {each["name"] for each in body["release"]["attributes"]}


@pytest.mark.parametrize("verb", ["init", "describe", "tree", "audit", "attack"])
def test_json_has_the_documented_keys(shoal: Shoal, released: Path, verb: str) -> None:
    arguments = {
        "init": ["clinic.csv", "--force"],
        "audit": ["tree.json"],
        "attack": ["tree.json", "clinic.csv"],
        "tree": ["--max-leaves", 3],
    }
    ran = shoal(verb, *arguments.get(verb, []), "--json")
    assert (ran.code, ran.err) == (0, "")
    told = reference.JSON_KEYS[verb].split("; with")[0]  # options add keys
    while "(" in told:  # what is inside a list is told in brackets
        start = told.index("(")
        told = told[:start] + told[told.index(")") + 1 :]
    assert set(ran.json) == set(told.split("`")[1::2])


def test_bench(shoal: Shoal, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import types

    module = types.ModuleType("shoal.papers.adult")
    module.bench_adult = lambda data: [{"k": 10, "error": 0.18, "by": "kADET"}, {"k": 1000, "error": 0.2}]  # type: ignore[attr-defined]
    module.bench_adult14 = module.bench_adult  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "shoal.papers.adult", module)
    monkeypatch.setenv("SHOAL_DATA", str(folder))
    ran = shoal("bench", "adult")
    assert [line.split() for line in ran.out.splitlines()] == [
        ["k", "error", "by"],
        ["10", "0.18", "kADET"],
        ["1,000", "0.2"],
    ]
    assert shoal("bench", "adult", "--json").json[1] == {"k": 1000, "error": 0.2}


def test_clusters_and_rules_of_a_project(shoal: Shoal, clinic: Path) -> None:
    """What is mined beside a project file is audited beside it too, and clusters go into the ledger."""
    assert shoal("clusters", "-k", 25, "-n", 3, "-o", "clusters.json", "--report", "clusters.html").code == 0
    assert "It claims nothing itself" not in (clinic / "clusters.html").read_text(encoding="utf-8")
    assert shoal("audit", "clusters.json", "clinic.csv").code == 0
    assert shoal("ledger", "add", "clusters.json", "clinic.csv").code == 0
    few = ("--min-support", 0.1, "--private", "smoker,diabetes")
    mined = shoal("rules", "clinic.csv", "--columns", "-k", 30, *few, "-o", "rules.json")
    assert mined.code == 0
    assert shoal("audit", "rules.json", "clinic.csv").code == 0
