# SPDX-License-Identifier: Apache-2.0
"""``shoal ledger`` as a steward uses it."""

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from shoal.cli import run

from .examples import PEOPLE, stump

CANARY = "Xq7Canary"


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Shoal = Callable[..., Ran]


def write(path: Path, people: dict[str, list[str]]) -> None:
    named = {"name": [f"{CANARY}{i}" for i in range(len(people["ill"]))], **people}
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([list(named), *zip(*named.values(), strict=True)])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the people in a folder of their own, and three releases."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    write(tmp_path / "data" / "people.csv", PEOPLE)
    for name, release in (("a", stump("street")), ("b", stump("school")), ("harmless", stump("school", "sex"))):
        release.save(tmp_path / f"{name}.json")
    return tmp_path


@pytest.fixture
def shoal(folder: Path, capsys: pytest.CaptureFixture[str]) -> Shoal:
    def command(*arguments: object) -> Ran:
        capsys.readouterr()
        code = run(["ledger", *map(str, arguments)])
        ran = Ran(code, *capsys.readouterr())
        assert CANARY not in ran.out + ran.err
        return ran

    return command


def test_two_releases_that_pin_one_person_down_together_are_caught(shoal: Shoal, folder: Path):
    ran = shoal("add", "a.json", "data/people.csv")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("holds: smallest group 5")
    assert ran.out.endswith("entered as release 1 in data/.shoal/ledger.jsonl\n")
    ran = shoal("add", "b.json", "data/people.csv")
    assert (ran.code, ran.err) == (3, "")
    assert ran.out.startswith("not proven: smallest group 1")
    assert "counts of releases 1 and 2 together pin down 'ill' of 1 person for certain" in ran.out
    assert ran.out.endswith("not entered\n")
    body = shoal("check", "b.json", "data/people.csv", "--json").json
    assert (body["verdict"], body["pair"], body["holds"]) == ("not proven", [1, 2], False)
    assert body["pinned"] == [{"column": "ill", "releases": [1, 2], "people": 1, "alone": 0}]
    assert [entry["number"] for entry in shoal("list", "data/people.csv", "--json").json] == [1]


def test_a_harmless_release_raises_no_alarm(shoal: Shoal):
    assert shoal("add", "a.json", "data/people.csv").code == 0
    ran = shoal("add", "harmless.json", "data/people.csv", "--json")
    assert ran.code == 0
    assert (ran.json["verdict"], ran.json["left_out"], ran.json["findings"]) == ("holds", [2], [])
    assert ran.json["entered"] == 2


def test_what_is_not_proven_can_be_accepted(shoal: Shoal):
    shoal("add", "a.json", "data/people.csv")
    ran = shoal("add", "b.json", "data/people.csv", "--accept-not-proven")
    assert (ran.code, ran.out.endswith("entered as release 2 in data/.shoal/ledger.jsonl\n")) == (0, True)
    assert shoal("add", "b.json", "data/people.csv", "--accept-not-proven", "--json").json["entered"] == 2  # once only
    ran = shoal("list", "data/people.csv")
    assert ran.out.split()[:2] == ["release", "added"]
    assert len(ran.out.splitlines()) == 3
    assert "not proven" in ran.out


def test_the_project_names_the_table_and_the_roles(shoal: Shoal, folder: Path):
    toml = '[data]\nsource = "data/people.csv"\n[roles]\nidentifier = ["name"]\npublic = ["street", "school", "sex"]\n'
    (folder / "shoal.toml").write_text(toml + 'private = ["job"]\ntarget = "ill"\n')
    assert shoal("list").out == "nothing entered yet\n"
    assert shoal("add", "a.json").code == 0
    assert shoal("check", "b.json").code == 3
    assert shoal("check", "b.json", "--public", "street").code == 0  # who does not know the school cannot tell
    assert shoal("verify").out == "intact: 1 release(s) in data/.shoal/ledger.jsonl\n"
    assert shoal("verify", "--json").json == {"releases": 1, "torn": 0, "intact": True}


def test_roles_that_differ_must_be_settled(shoal: Shoal, folder: Path):
    stump("ill", "job", private=("job",), k=4).save(folder / "other.json")
    shoal("add", "a.json", "data/people.csv")
    ran = shoal("check", "other.json", "data/people.csv")
    assert (ran.code, ran.out) == (1, "")
    assert "Say what an attacker may know with --public." in ran.err
    assert shoal("check", "other.json", "data/people.csv", "--public", "street").code == 0
    # or by the project file
    (folder / "shoal.toml").write_text('[roles]\ntarget = "ill"\n')
    assert shoal("check", "other.json", "data/people.csv").code == 0
    (folder / "shoal.toml").write_text('[roles]\ntarget = "sex"\n')
    assert shoal("check", "other.json", "data/people.csv").code == 1


def test_tampering_and_a_torn_line_are_told_in_one_line(shoal: Shoal, folder: Path):
    shoal("add", "a.json", "data/people.csv")
    file = folder / "data" / ".shoal" / "ledger.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"people":11', b'"people":12'))
    for verb in (["verify", "data/people.csv"], ["list", "data/people.csv"], ["add", "b.json", "data/people.csv"]):
        ran = shoal(*verb)
        assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
        assert "is not as it was written: line 1 was changed" in ran.err
    file.write_bytes(whole + b'{"torn')
    ran = shoal("verify", "data/people.csv", "--json")
    assert (ran.code, ran.json) == (0, {"releases": 1, "torn": 6, "intact": True})
    assert "a line of 6 byte(s) was cut off by a crash" in ran.err
    assert shoal("add", "harmless.json", "data/people.csv").code == 0
    assert shoal("verify", "data/people.csv", "--json").json == {"releases": 2, "torn": 0, "intact": True}


def test_rows_added_are_told(shoal: Shoal, folder: Path):
    shoal("add", "a.json", "data/people.csv")
    more = {name: [*values, values[0]] for name, values in PEOPLE.items()}
    write(folder / "data" / "people.csv", more)
    stump(None, people=more).save(folder / "more.json")
    ran = shoal("check", "more.json", "data/people.csv")
    assert ran.code == 3
    assert "warning: 1 row(s) added and 0 removed since release 1" in ran.out


def test_wrong_use(shoal: Shoal):
    ran = shoal("add", "a.json")
    assert (ran.code, ran.out) == (2, "")
    assert "No table" in ran.err
    assert shoal("add", "nothing.json", "data/people.csv").code == 1
    for verb in ("add", "check", "list", "verify"):
        assert shoal(verb, "--help").code == 0
