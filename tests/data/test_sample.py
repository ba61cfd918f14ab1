# SPDX-License-Identifier: Apache-2.0
"""The invented clinic."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from shoal.data.read import read_table
from shoal.data.sample import load_sample, write_sample
from shoal.errors import DataError


def test_what_was_promised() -> None:
    sample = load_sample()
    table = sample.table
    assert " ".join(table.names) == "patient age sex zip education occupation smoker bmi diabetes"
    assert table.n_rows == 5000
    assert not any(column.missing for column in table.values())
    assert len(table["patient"].names) == 5000
    assert table["patient"].names[0] == "P00001"
    assert table["age"].integer
    assert (table["age"].numbers[0], table["age"].numbers[-1]) == (18, 95)
    assert table["sex"].names == ("Female", "Male")
    assert len(table["zip"].names) == 40
    assert all(len(code) == 5 and code.isdigit() for code in table["zip"].names)
    assert len(table["education"].names) == 7
    assert len(table["occupation"].names) == 10
    assert table["smoker"].names == ("current", "former", "no")
    assert table["bmi"].kind == "numeric"
    assert table["bmi"].numbers[0] > 10
    assert table["bmi"].numbers[-1] < 60
    assert 0.18 < table["diabetes"].counts()[1] / 5000 < 0.22
    roles = sample.roles
    assert roles.public == ("age", "sex", "zip", "education", "occupation")
    assert (roles.private, roles.target, roles.target_role) == (("smoker", "bmi"), "diabetes", "private")
    assert roles.identifier == ("patient",)
    with pytest.raises(dataclasses.FrozenInstanceError):
        sample.table = table  # type: ignore[misc]


def test_a_tree_learns_it() -> None:
    table = load_sample().table
    features = [table[name] for name in load_sample().roles.features]
    x = np.stack(
        [column.numbers[column.codes] if column.kind == "numeric" else column.codes for column in features],
        axis=1,
    )
    y = table["diabetes"].codes
    score = cross_val_score(DecisionTreeClassifier(min_samples_leaf=25, random_state=0), x, y, cv=5).mean()
    assert score > np.bincount(y).max() / len(y) + 0.04


def test_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    write_sample(folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "clinic.csv",
        "education.csv",
        "occupation.csv",
        "shoal.toml",
    ]
    sample = load_sample()
    table = read_table(folder / "clinic.csv")
    for name, column in sample.table.items():
        assert (table[name].kind, table[name].labels, table[name].integer) == (
            column.kind,
            column.labels,
            column.integer,
        )
        assert list(table[name].values) == list(column.values)
        assert np.array_equal(table[name].codes, column.codes)
    assert sample.to_rows()[0] == {name: values[0] for name, values in sample.to_arrow().to_pydict().items()}
    for name in ("education", "occupation"):
        rows = list(csv.reader((folder / f"{name}.csv").read_text("utf-8").splitlines(), delimiter=";"))
        assert {row[0] for row in rows} == set(table[name].names)
        assert all(len(row) == 4 and row[-1] == "*" for row in rows)
        for leaf, narrow, wide, root in rows:
            assert leaf in sample.hierarchies[name][root][wide][narrow]
    project = tomllib.loads((folder / "shoal.toml").read_text("utf-8"))
    assert list(project) == ["data", "roles", "hierarchies", "domain", "privacy"]
    assert tuple(project["roles"]["public"]) == sample.roles.public
    assert project["hierarchies"]["age"] == sample.hierarchies["age"]
    assert project["privacy"] == {"k": 25}
    assert tuple(project["domain"]["smoker"]) == table["smoker"].names


def test_same_bytes_everywhere(tmp_path: Path) -> None:
    write_sample(tmp_path)
    data = (tmp_path / "clinic.csv").read_bytes()
    assert hashlib.sha256(data).hexdigest() == "5732cc1c23d7b6c533359f1f1c5c385e888dabe117cd47544ce7b3c03c59cbaf"


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "shoal.toml").write_text("mine")
    with pytest.raises(DataError, match=r"already has shoal\.toml") as caught:
        write_sample(tmp_path)
    assert caught.value.code == "file-exists"
    assert [path.name for path in tmp_path.iterdir()] == ["shoal.toml"]
    with pytest.raises(DataError, match="is no folder") as caught:
        write_sample(tmp_path / "shoal.toml")
    assert caught.value.code == "no-folder"
