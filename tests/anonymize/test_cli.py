# SPDX-License-Identifier: Apache-2.0
"""``shoal anonymize``: two files or none, one sentence for whatever is wrong."""

import csv
import json
import os
from collections import Counter

import pytest

from shoal import audit, load, read_table
from shoal.cli import run
from shoal.data import write_sample


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHOAL_DEBUG", raising=False)
    write_sample(tmp_path)
    return tmp_path


@pytest.fixture
def shoal(clinic, capsys):
    def command(*arguments):
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return (code, *capsys.readouterr())

    return command


@pytest.fixture
def refuses(clinic, shoal):
    """A command that must fail: one line, nothing written."""

    def command(*arguments, code=1):
        before = {path.name: path.read_bytes() for path in clinic.iterdir() if path.is_file()}
        got, out, err = shoal(*arguments)
        assert (got, out) == (code, ""), err
        assert err.startswith("shoal: ")
        assert err.count("\n") == 1
        assert {path.name: path.read_bytes() for path in clinic.iterdir() if path.is_file()} == before
        return err

    return command


def test_the_clinic_is_generalised_and_written(clinic, shoal):
    code, out, err = shoal("anonymize", "-o", "clinic_k25.json")
    assert (code, err) == (0, "")
    assert "holds: smallest group" in out
    for word in ("classification metric", "loss metric", "discernibility", "groups"):
        assert word in out
    assert out.endswith("wrote clinic_k25.json\nwrote clinic_k25.csv\n")
    with open("clinic_k25.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    public = ["age", "sex", "zip", "education", "occupation"]
    groups = Counter(tuple(row[name] for name in public) for row in rows)
    assert min(groups.values()) >= 25
    assert "patient" not in rows[0]
    release = load("clinic_k25.json")
    verdict = audit(release, read_table("clinic.csv"))
    assert verdict.holds
    assert verdict.group_sizes.tolist() == sorted(groups.values())


def test_other_options(clinic, shoal):
    code, out, _ = shoal("anonymize", "--method", "tree", "-k", 100, "--max-leaves", 5, "--json", "-o", "a.json")
    assert code == 0
    body = json.loads(out)
    assert sorted(body) == ["audit", "measures", "release", "written"]
    assert body["audit"]["smallest_group"] >= 100
    measures = ["average_class_size", "cm", "dm", "entropy", "groups", "left_out", "lm", "precision"]
    assert sorted(body["measures"]) == measures
    assert body["written"] == ["a.json", "a.csv"]
    assert body["release"]["files"][0]["name"] == "a.csv"
    assert shoal("anonymize", "--max-depth", 1)[0] == 0  # only told, nothing written
    assert sorted(path.name for path in clinic.glob("a.*")) == ["a.csv", "a.json"]


def test_reproducible_means_the_same_bytes(clinic, shoal):
    for name in ("a", "b"):
        assert shoal("anonymize", "--reproducible", "-o", f"{name}.json", "--data-file", f"{name}-rows.csv")[0] == 0
    assert (clinic / "a-rows.csv").read_bytes() == (clinic / "b-rows.csv").read_bytes()
    assert shoal("anonymize", "-o", "c.json")[0] == 0
    shuffled = (clinic / "c.csv").read_text().splitlines()
    assert shuffled != (clinic / "a-rows.csv").read_text().splitlines()
    assert sorted(shuffled) == sorted((clinic / "a-rows.csv").read_text().splitlines())


def test_a_table_is_audited_like_any_other(clinic, shoal):
    assert shoal("anonymize", "-o", "t.json")[0] == 0
    code, out, _ = shoal("audit", "t.json", "clinic.csv")
    assert code == 0
    assert "holds" in out
    assert shoal("audit", "t.json", "clinic.csv", "-k", 2000)[0] == 3


def test_bad_input_is_one_sentence_and_nothing_is_written(clinic, refuses):
    assert "There is no file" in refuses("anonymize", "no.csv", "--target", "x", "-k", 5)
    assert "6,000" in refuses("anonymize", "-k", 6000, "-o", "t.json")
    assert "no folder" in refuses("anonymize", "-o", "no/t.json")
    assert "is read by this command" in refuses("anonymize", "-o", "t.json", "--data-file", "clinic.csv")
    assert "--data-file needs -o" in refuses("anonymize", "--data-file", "t.csv", code=2)
    (clinic / "other").mkdir()
    assert "folder of the release" in refuses("anonymize", "-o", "t.json", "--data-file", "other/t.csv", code=2)
    assert "two files" in refuses("anonymize", "-o", "t", "--data-file", "t", code=2)
    assert "goes with -o FILE.json" in refuses("anonymize", "-o", "t.csv", "--data-file", "u.csv", code=2)
    assert "needs -o FILE.csv" in refuses("anonymize", "-o", "t.json", "--numbers", "ends", code=2)
    assert "is an option of --method tree" in refuses("anonymize", "--method", "tds", "--max-depth", 2, code=2)
    assert "has no option 'foo'. It has relaxed, criterion" in refuses(
        "anonymize", "--method", "mondrian", "--option", "foo=1"
    )
    assert "takes NAME=VALUE" in refuses("anonymize", "--method", "mondrian", "--option", "foo", code=2)
    assert "These can: incognito, k-optimize" in refuses("anonymize", "--method", "tds", "--suppress", 0.1)
    assert "must be a share" in refuses("anonymize", "--method", "incognito", "--suppress", 2)
    assert "plain name" in refuses("anonymize", "-o", "t.json", "--data-file", ".rows")
    assert "Closest: 'diabetes'" in refuses("anonymize", "--target", "diabets")
    assert "--max-leaves must be" in refuses("anonymize", "--max-leaves", 0)
    (clinic / "shoal.toml").unlink()
    assert "No promise" in refuses("anonymize", "clinic.csv", "--target", "diabetes", code=2)
    assert run(["anonymize", "clinic.csv", "--method", "magic"]) == 2


def test_rows_do_not_stay_where_the_release_cannot_be_written(clinic, refuses, monkeypatch):
    once = os.replace

    def fails(source, target):
        if str(target).endswith("t.json"):
            raise PermissionError(13, "Permission denied")
        once(source, target)

    monkeypatch.setattr(os, "replace", fails)
    assert "Cannot write 't.json': Permission denied." in refuses("anonymize", "-o", "t.json")


@pytest.mark.parametrize(
    "method", ["tree", "clusters", "mondrian", "tds", "tdr", "incognito", "k-optimize", "one-dimensional"]
)
def test_every_method_writes_rows_that_hold(clinic, shoal, method):
    quick = {"k-optimize": ("--option", "max_seconds=0.5"), "clusters": ("--option", "n_clusters=3")}.get(method, ())
    code, out, err = shoal("anonymize", "--method", method, "-k", 40, "-o", "anon.csv", *quick)
    assert (code, err) == (0, "")
    assert out.endswith("wrote anon.json\nwrote anon.csv\n")
    assert audit(load("anon.json"), read_table("clinic.csv")).holds
    with open("anon.csv", newline="", encoding="utf-8") as file:
        header = next(csv.reader(file))
    assert header == ["age", "sex", "zip", "education", "occupation", "smoker", "bmi", "diabetes"]


def test_numbers_are_written_as_asked(clinic, shoal):
    import pyarrow.parquet as parquet

    assert shoal("anonymize", "--method", "mondrian", "-k", 40, "--numbers", "ends", "-o", "a.parquet")[0] == 0
    table = parquet.read_table("a.parquet")
    assert table.column_names[:2] == ["age_low", "age_high"]
    assert load("a.json").n_rows == table.num_rows == 5000
    assert shoal("anonymize", "--method", "mondrian", "-k", 40, "--numbers", "midpoints", "-o", "b.csv")[0] == 0
    assert read_table("b.csv")["age"].kind == "numeric"


def test_rows_may_be_left_out_within_a_budget(clinic, shoal):
    code, out, _ = shoal(
        "anonymize", "--method", "incognito", "-k", 10, "--suppress", 0.05, "--option", "by=dm", "--json"
    )
    body = json.loads(out)
    assert code == 0
    assert 0 < body["release"]["left_out"] <= 250
    assert body["measures"]["left_out"] == body["release"]["left_out"]
    assert "age" in body["made_hierarchies"] or "age" in body["release"]["generalised"]


def test_a_table_without_a_target_is_generalised_too(clinic, shoal):
    (clinic / "shoal.toml").unlink()
    public = ("--public", "age,sex,education", "--identifier", "patient,zip,occupation,bmi")
    code, out, err = shoal("anonymize", "clinic.csv", "--method", "mondrian", "-k", 50, *public)
    assert (code, err) == (0, "")
    assert "diabetes: exact (private)" in out
    assert "No target" in shoal("anonymize", "clinic.csv", "--method", "tree", "-k", 50, *public)[2]


def test_methods_are_compared_at_one_promise(clinic, shoal):
    chosen = ("--methods", "tree,mondrian,incognito")
    code, out, err = shoal("compare", "-k", 40, *chosen, "--plot", "compared.svg")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split()[:5] == ["method", "seconds", "groups", "loss", "discernibility"]
    assert [line.split()[0] for line in lines[1:4]] == ["tree", "mondrian", "incognito"]
    assert lines[-1] == "wrote compared.svg"
    code, out, _ = shoal("compare", "-k", 40, *chosen, "--json")
    compared = json.loads(out)["compared"]
    assert all(0.5 < each["accuracy"] <= 1 and each["groups"] > 1 for each in compared)


def test_a_method_that_cannot_says_why_beside_those_that_can(clinic, shoal):
    (clinic / "shoal.toml").unlink()
    public = ("--public", "age,sex,education", "--identifier", "patient,zip,occupation,bmi")
    code, out, _ = shoal("compare", "clinic.csv", "-k", 50, *public, "--methods", "tds,mondrian")
    assert code == 0
    assert "tds: This TopDownSpecialization estimator requires y" in out


def test_bad_comparisons_are_refused(refuses):
    assert "No method 'magic'" in refuses("compare", "-k", 40, "--methods", "magic", code=2)
    assert "--hold-out is a share" in refuses("compare", "-k", 40, "--hold-out", 3, code=2)
    assert "--plot draws" in refuses("compare", "-k", 40, "--plot", "c.doc", code=2)
