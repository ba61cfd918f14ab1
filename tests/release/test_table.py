# SPDX-License-Identifier: Apache-2.0
"""A released table: two files written whole or not at all, read back exactly, and believed in nothing unchecked."""

import copy
import csv
import hashlib
import io
import json
import os
from dataclasses import replace
from importlib import resources
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import ReleaseError, audit, load, load_sample, to_table
from shoal.anonymize import TreeAnonymizer
from shoal.data.table import Column, Table
from shoal.release import Attribute, Interval, TableRelease, table_file, together
from shoal.release.generalised import Generalised, atoms_of, cover, from_mask, with_labels

SCHEMA = json.loads(resources.files("shoal").joinpath("release/schema/table.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.fixture(scope="module")
def release():
    """A table with everything: intervals, labels, value sets, missing, exact numbers, sensitive columns."""
    clinic = load_sample()
    rows = clinic.to_arrow().slice(0, 1500).to_pydict()
    rows["sex"] = [None if i % 40 == 0 else sex for i, sex in enumerate(rows["sex"])]
    rows["bmi"] = [None if i % 50 == 0 else bmi for i, bmi in enumerate(rows["bmi"])]
    anonymizer = TreeAnonymizer(
        privacy=40,
        public=["age", "sex", "zip", "education", "occupation"],
        sensitive=["smoker"],
        person="patient",
        hierarchies=clinic.hierarchies,
        domain={"age": [18, 95], "bmi": [10, 60], "smoker": ["current", "former", "no"]},
    )
    return anonymizer.fit(rows, "diabetes").release_


@pytest.fixture
def saved(release, tmp_path):
    release.save(tmp_path / "clinic.json")
    return tmp_path / "clinic.json"


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# ------------------------------------------------------------------ there and back


def test_a_saved_table_loads_as_it_was(release, saved):
    assert sorted(files(saved.parent)) == ["clinic.csv", "clinic.json"]
    again = load(saved)
    assert again.to_json("clinic.csv") == release.to_json("clinic.csv")
    assert again.sha256 == release.sha256
    assert again.to_frame().equals(release.to_frame())
    assert repr(again) == repr(release)
    assert str(again) == str(release)
    assert again.verdict.stated
    with pytest.raises(ReleaseError, match="not audited here"):
        again.save(saved.with_name("other.json"))
    before = files(saved.parent)
    again.with_audit(audit(again)).save(saved)
    assert files(saved.parent) == before


def test_the_file_of_rows_is_plain_csv(release, saved):
    rows = list(csv.reader(io.StringIO(saved.with_suffix(".csv").read_text(encoding="utf-8"), newline="")))
    assert tuple(rows[0]) == release.columns
    assert len(rows) == release.n_people + 1
    assert {row[0] for row in rows[1:]} == {value.label for value in release.generalised["age"]}
    body = json.loads(saved.read_text())
    assert body["files"][0]["sha256"] == hashlib.sha256(saved.with_suffix(".csv").read_bytes()).hexdigest()
    VALIDATOR.validate(body)


def texts(*, some=()):
    return st.one_of(st.sampled_from([*some, "*", "", "a,b", '"', "x\ny", "{a, b}", " ", "é"]), st.text(max_size=5))


@given(data=st.data())
def test_any_texts_and_numbers_are_read_back(data, tmp_path_factory):
    """Quotes, line ends, empty texts beside missing ones, and values that look like our own labels."""
    values = data.draw(st.lists(texts(), min_size=2, max_size=4, unique=True).map(tuple))
    numbers = data.draw(st.lists(st.floats(-1e9, 1e9, width=32), min_size=1, max_size=4, unique=True))
    n = data.draw(st.integers(1, 5))
    public = Attribute('p,"q"\n', "public", "categorical", values=values, missing=True)
    parts = [Generalised("*"), Generalised("", missing=True)] + [Generalised("", values=(value,)) for value in values]
    found = with_labels(public, [*parts, *([Generalised("", values=values)] if len(values) > 1 else [])])
    assert len({value.label for value in found}) == len(found)
    low, high = min(numbers), max(numbers)
    attributes = (
        public,
        Attribute("s", "private", "categorical", values=values, missing=True),
        Attribute("x", "private", "numeric", bounds=(low, high), missing=True),
    )
    pick = lambda most: np.array(data.draw(st.lists(st.integers(0, most), min_size=n, max_size=n)), dtype=np.uint8)  # noqa: E731
    rows = Table(
        [
            Column(public.name, "categorical", pick(len(found) - 1), tuple(value.label for value in found)),
            Column("s", "categorical", pick(len(values)), values, missing=True),
            Column("x", "numeric", pick(len(set(numbers))), np.unique(numbers).astype(float), missing=True),
        ]
    )
    release = TableRelease(None, attributes, ({"requirement": "k-anonymity", "k": 1},), rows, {public.name: found})
    folder = tmp_path_factory.mktemp("any")
    release.with_audit(audit(release)).save(folder / "t.json")
    again = load(folder / "t.json")
    assert again.data_sha256 == release.data_sha256
    for name in rows:
        assert _cells(again.rows[name]) == _cells(rows[name])


def _cells(column):
    values = [*(column.names if column.kind == "categorical" else column.numbers.tolist()), None]
    return [values[code] for code in column.codes]


def test_missing_cells_in_a_file_of_one_column(tmp_path):
    attribute = Attribute("a", "private", "categorical", values=("x",), missing=True)
    rows = Table([Column("a", "categorical", np.array([0, 1, 0], dtype=np.uint8), ("x",), missing=True)])
    release = TableRelease(None, (attribute,), ({"requirement": "k-anonymity", "k": 1},), rows, {})
    assert release.to_csv() == "a\nx\n\nx\n"
    assert audit(release).smallest_group == 3
    release.with_audit(audit(release)).save(tmp_path / "t.json")
    assert load(tmp_path / "t.json").sha256 == release.sha256


# ------------------------------------------------------------------ labels


def test_labels_are_written_as_announced():
    age = Attribute("age", "public", "numeric", bounds=(0, 99), missing=True)
    atoms = atoms_of(age, [Generalised("", intervals=(Interval(19.5, 30), Interval(65, None)))])
    masks = {"<=19.5": [1, 0, 0, 0, 0], "(19.5, 30]": [0, 1, 0, 0, 0], ">65": [0, 0, 0, 1, 0], "*": [1, 1, 1, 1, 1]}
    masks |= {"<=19.5 or >65": [1, 0, 0, 1, 0], "<=30 or (missing)": [1, 1, 0, 0, 1], "any number": [1, 1, 1, 1, 0]}
    masks |= {"": [0, 0, 0, 0, 1]}
    found = with_labels(age, [from_mask(atoms, np.array(mask, dtype=bool)) for mask in masks.values()])
    assert [value.label for value in found] == list(masks)
    for value, mask in zip(found, masks.values(), strict=True):
        assert cover(atoms, value).tolist() == list(map(bool, mask))


def test_a_label_that_could_mean_something_else_is_not_used():
    city = Attribute("city", "public", "categorical", values=("a", "b", "North", "*", "", "a, b"))
    one, two = Generalised("", values=("a", "b")), Generalised("", values=("a", "North"))

    def labels(*found, **names):
        return [value.label for value in with_labels(city, found, names.get("names"))]

    assert labels(one, two, names={one: {"South"}, two: {"South"}}) == ["{a, b}", "{a, North}"]
    assert labels(one, names={one: {"North"}}) == ["{a, b}"]  # a city is called so
    assert labels(one, names={one: {"*"}}) == ["{a, b}"]
    assert labels(one, names={one: {"South", "Coast"}}) == ["{a, b}"]
    assert labels(one, names={one: {"South"}}) == ["South"]
    star, nothing = Generalised("", values=("*",)), Generalised("", values=("",))
    assert labels(star, nothing, Generalised("*")) == ["{*}", "{}", "*"]
    three, same = Generalised("", values=("a", "b", "North")), Generalised("", values=("a, b", "North"))
    assert labels(three, same) == ["{a, b, North}", "{a, b, North} (2)"]
    many = Generalised("", values=tuple(f"value {i}" for i in range(100)))
    assert labels(many) == ["{value 0, value 1, … 98 more}"]


# ------------------------------------------------------------------ writing


def test_what_was_not_audited_is_not_written(release, tmp_path):
    with pytest.raises(ReleaseError, match="not audited"):
        replace(release, verdict=None).save(tmp_path / "t.json")
    cells = release.rows["diabetes"].codes.copy()
    cells[0] = 1 - cells[0]
    forged = replace(release, rows=release.rows.with_column(replace(release.rows["diabetes"], codes=cells)))
    with pytest.raises(ReleaseError, match="changed after its audit"):
        forged.save(tmp_path / "t.json")
    with pytest.raises(ReleaseError, match="other claims"):
        release.with_audit(audit(release, privacy=2))
    bold = replace(release, claims=({"requirement": "k-anonymity", "k": 1000},))
    with pytest.raises(ReleaseError, match="found a breach"):
        bold.with_audit(audit(bold)).save(tmp_path / "t.json")
    assert not files(tmp_path)


@pytest.mark.parametrize("name", ["../t.csv", "a/t.csv", "/t.csv", "", "..", ".t.csv", "a\\t.csv", "t.json", "c:t"])
def test_the_rows_are_written_beside_the_release_only(release, tmp_path, name):
    with pytest.raises(ReleaseError):
        release.save(tmp_path / "t.json", name)
    assert not files(tmp_path)


def test_both_files_or_none(release, saved, monkeypatch):
    before = files(saved.parent)
    once = os.replace

    def fails(source, target):
        if str(target).endswith(".json"):
            raise OSError(28, "No space left on device")
        once(source, target)

    monkeypatch.setattr(together.os, "replace", fails)
    other = replace(release, rows=release.rows.take(np.arange(release.n_people)[::-1]))
    other = other.with_audit(audit(other))
    assert other.data_sha256 != release.data_sha256
    with pytest.raises(ReleaseError, match=r"Cannot write '.*clinic\.json'"):
        other.save(saved)
    assert files(saved.parent) == before  # the old rows are back
    with pytest.raises(ReleaseError, match=r"Cannot write '.*new\.json'"):
        other.save(saved.with_name("new.json"))
    assert files(saved.parent) == before
    monkeypatch.undo()
    other.save(saved)
    assert load(saved).data_sha256 == other.data_sha256
    assert sorted(files(saved.parent)) == ["clinic.csv", "clinic.json"]


def test_no_such_folder(release, tmp_path):
    with pytest.raises(ReleaseError, match="No such file or directory"):
        release.save(tmp_path / "no" / "t.json")
    (tmp_path / "t.json").mkdir()
    with pytest.raises(ReleaseError, match="Cannot write"):
        release.save(tmp_path / "t.json")
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]


# ------------------------------------------------------------------ reading what strangers wrote


def test_rows_that_are_missing_or_changed_are_refused(saved):
    rows = saved.with_suffix(".csv")
    raw = rows.read_bytes()
    rows.write_bytes(raw.replace(b"yes", b"no ", 1))
    with pytest.raises(ReleaseError, match=r"clinic\.json'.*'clinic\.csv' is not the file.*SHA-256 differs"):
        load(saved)
    rows.unlink()
    with pytest.raises(ReleaseError, match="not there"):
        load(saved)
    rows.mkdir()
    with pytest.raises(ReleaseError, match="not there"):
        load(saved)


def reread(saved, text, body=None):
    """Load with another file of rows whose SHA-256 is stated rightly."""
    raw = text if isinstance(text, bytes) else text.encode()
    saved.with_suffix(".csv").write_bytes(raw)
    body = json.loads(saved.read_text()) if body is None else body
    body["files"][0]["sha256"] = hashlib.sha256(raw).hexdigest()
    saved.write_text(json.dumps(body))
    return load(saved)


def test_cells_that_nothing_explains_are_refused(saved):
    text = saved.with_suffix(".csv").read_text()
    header, first, rest = text.split("\n", 2)
    cells = next(csv.reader([first]))

    def line(position, cell):
        changed = [*cells[:position], cell, *cells[position + 1 :]]
        return f"{header}\n" + ",".join('"' + each.replace('"', '""') + '"' for each in changed) + f"\n{rest}"

    for position, cell, word in [(0, "Xq7", "'age'"), (0, "", "'age'"), (5, "Xq7", "'smoker'"), (6, "9e9", "'bmi'")]:
        with pytest.raises(ReleaseError, match=f"column {word} has 1 cell") as caught:
            reread(saved, line(position, cell))
        assert "Xq7" not in str(caught.value)
    for cell in ("nan", "inf", "0x10", "1_0", "twenty"):
        with pytest.raises(ReleaseError, match="column 'bmi' has 1 cell"):
            reread(saved, line(6, cell))
    for bad in (
        f"{header}\n{rest}",
        f"{text}{first}\n",
        f"{text}\n",
        f"{header}\n{first},1\n{rest}",
        header,
        "",
        "x\n1",
    ):
        with pytest.raises(ReleaseError, match=r"'clinic\.csv'"):
            reread(saved, bad)
    with pytest.raises(ReleaseError, match="UTF-8"):
        reread(saved, text.encode() + b"\xff\xfe\n")


MUTATIONS = {
    "other kind": lambda body: body.update(kind="forest"),
    "a key too many": lambda body: body.update(comment="hello"),
    "no files": lambda body: body.update(files=[]),
    "two files": lambda body: body.update(files=body["files"] * 2),
    "a way to another folder": lambda body: body["files"][0].update(name="../clinic.csv"),
    "an absolute path": lambda body: body["files"][0].update(name="/etc/passwd"),
    "a hidden file": lambda body: body["files"][0].update(name=".clinic.csv"),
    "a number for a name": lambda body: body["files"][0].update(name=3),
    "no rows": lambda body: body["files"][0].update(rows=0),
    "half a row": lambda body: body["files"][0].update(rows=0.5),
    "a sum that is none": lambda body: body["files"][0].update(sha256="00"),
    "a column twice": lambda body: body["columns"].append("age"),
    "columns that are text": lambda body: body.update(columns="age"),
    "a target that is a number": lambda body: body.update(target=3),
    "no labels": lambda body: body["generalised"].update(age=[]),
    "a label that is a number": lambda body: body["generalised"]["age"][0].update(label=3),
    "no label": lambda body: body["generalised"]["age"][0].pop("label"),
    "an end that is text": lambda body: body["generalised"]["age"][0].update(at_most="3"),
    "values and an end": lambda body: body["generalised"]["education"][0].update(above=3),
    "a key of a label too many": lambda body: body["generalised"]["age"][0].update(node=3),
    "no claims": lambda body: body.update(claims=[]),
    "half a verdict": lambda body: body["audit"].pop("sha256"),
}
DEEPER = {
    "a column that is no attribute": lambda body: body["columns"].__setitem__(0, "Age"),
    "a private column with labels": lambda body: body["generalised"].update(smoker=[{"label": "*"}]),
    "a public column without": lambda body: body["generalised"].pop("age"),
    "a label twice": lambda body: body["generalised"]["age"].append(body["generalised"]["age"][0]),
    "two labels of one meaning": lambda body: body["generalised"]["age"].append(
        {**body["generalised"]["age"][0], "label": "also"}
    ),
    "an asterisk for one value": lambda body: body["generalised"]["education"][0].update(label="*"),
    "an empty label for one value": lambda body: body["generalised"]["education"][0].update(label=""),
    "an empty interval": lambda body: body["generalised"]["age"][0].update(above=50, at_most=20),
    "an interval outside the bounds": lambda body: body["generalised"]["age"].append({"label": "old", "above": 200}),
    "a value nobody declared": lambda body: body["generalised"]["education"][0].update(values=["Xq7"]),
    "missing where nothing is": lambda body: body["generalised"]["age"][0].update(missing=True),
    "a target that is numeric": lambda body: body.update(target="bmi"),
    "a target that is no column": lambda body: body.update(target="Xq7"),
    "something public is sensitive": lambda body: body.update(sensitive=["age"]),
    "other rows": lambda body: body["files"][0].update(rows=7),
    "another file": lambda body: body["files"][0].update(name="clinic.json"),
    "a file that is not there": lambda body: body["files"][0].update(name="other.csv"),
}


@pytest.mark.parametrize("name", [*MUTATIONS, *DEEPER])
def test_a_mutated_release_is_refused(saved, name):
    body = json.loads(saved.read_text())
    broken = copy.deepcopy(body)
    {**MUTATIONS, **DEEPER}[name](broken)
    assert VALIDATOR.is_valid(body)
    if name in MUTATIONS:
        assert not VALIDATOR.is_valid(broken)
    saved.write_text(json.dumps(broken))
    with pytest.raises(ReleaseError) as caught:
        load(saved)
    assert "Xq7" not in str(caught.value)


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_too_large_files_are_not_read(saved, monkeypatch):
    monkeypatch.setattr(table_file, "MAX_DATA_BYTES", 10)
    with pytest.raises(ReleaseError, match="at most 10 are read"):
        load(saved)


def test_a_release_without_target():
    age = Attribute("a", "public", "categorical", values=("x", "y"))
    pay = Attribute("pay", "private", "categorical", values=("u", "v"))
    rows = to_table({"a": ["*"] * 3, "pay": ["u", "v", "u"]})
    claims = ({"requirement": "k-anonymity", "k": 3},)
    release = TableRelease(None, (age, pay), claims, rows, {"a": (Generalised("*"),)})
    verdict = audit(release, {"a": ["x", "y", "x"], "pay": ["u", "u", "v"]})
    assert verdict.holds
    assert verdict.exposed is None
    assert not audit(release, {"a": ["x", "y", "x"], "pay": ["u", "v", "v"]}).holds
