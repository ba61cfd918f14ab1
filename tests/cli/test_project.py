# SPDX-License-Identifier: Apache-2.0
"""Project files that cannot be used."""

from collections.abc import Callable
from pathlib import Path

import pytest

Refuses = Callable[..., str]


def test_missing_config(refuses: Refuses) -> None:
    assert "There is no project file 'no.toml'" in refuses("describe", "--config", "no.toml")
    assert "Cannot read the project file" in refuses("describe", "--config", ".")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[data\nsource = 1", "'shoal.toml' is not valid TOML at line 1."),
        ("[data]\nsource = 'a'\nsource = 'b'\n", "not valid TOML at line 3"),
        ("[roles]\npublic = [", "not valid TOML"),
        ("a = " + "[" * 9999, "not valid TOML"),
        ("[rolls]\n", "unknown section or key 'rolls'; there are [data], [roles]"),
        ("[rolls]\n", "Closest: 'roles'."),
        ("roles = 5", "roles must be a section, [roles]"),
        ("[roles]\npubic = []", "unknown key roles.pubic. Closest: 'public'."),
        ("[roles]\npublic = 'age'", "roles.public must be a list of column names; got a string."),
        ("[roles]\npublic = ['age', 5]", "got a list with a string, a whole number."),
        ("[roles]\ntarget = ['age']", "roles.target must be a column name; got a list with a string."),
        ("[roles]\ntarget_role = 'secret'", "roles.target_role must be 'public' or 'private'"),
        ("[privacy]\nk = 2.5", "privacy.k must be a whole number; got a number."),
        ("[privacy]\nk = true", "privacy.k must be a whole number; got true or false."),
        ("[privacy]\nrecursive = 3", "privacy.recursive must be two numbers [c, l]; got a whole number."),
        ("[privacy]\nconfidence = 2024-05-05", "got a date or time."),
        ("[domain]\nage = 5", "domain.age must be a list of values or two bounds"),
        ("[data]\nnumeric = ['a']\ncategorical = ['a']", "column 'a' is named both"),
    ],
)
def test_broken_project_files(refuses: Refuses, clinic: Path, text: str, said: str) -> None:
    (clinic / "shoal.toml").write_text(text)
    assert said in refuses("tree", "clinic.csv", "-k", 5, "-o", "t.json")


def test_project_file_in_another_encoding(refuses: Refuses, clinic: Path) -> None:
    (clinic / "shoal.toml").write_bytes(b"[data]\nsource = '\xff.csv'")
    assert "not UTF-8" in refuses("describe")


def test_hierarchy_that_is_not_there(refuses: Refuses, clinic: Path) -> None:
    (clinic / "education.csv").unlink()
    assert "'education.csv' does not exist" in refuses("tree", "-o", "t.json")
    assert "no folder" in refuses("tree", "--hierarchies", "nowhere")
