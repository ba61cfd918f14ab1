# SPDX-License-Identifier: Apache-2.0
"""The demo: works twice, says what works, overwrites nothing of anybody's."""

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Shoal, files


def test_demo_twice(shoal: Shoal, folder: Path) -> None:
    first = shoal("demo")
    assert (first.code, first.err) == (0, "")
    assert "12 leaves, 5,000 people" in first.out
    made = files(folder / "demo")
    expected = ["audit.html", "clinic.csv", "education.csv", "occupation.csv", "shoal.toml", "tree.json"]
    assert sorted(made) == expected
    again = shoal("demo")
    assert again.out == first.out
    assert files(folder / "demo") == made


def test_demo_says_what_works(shoal: Shoal, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = shoal("demo", "--folder", "try").out
    commands = [line.split("&& shoal ")[1].split() for line in out.splitlines() if "&& shoal" in line]
    assert len(commands) == 2
    monkeypatch.chdir(folder / "try")
    for command in commands:
        assert shoal(*command).code == 0
    assert shoal("audit", "tree.json").code == 0
    assert shoal("describe").code == 0


def test_demo_json(shoal: Shoal) -> None:
    body = shoal("demo", "--json").json
    assert set(body) == {"release", "audit", "written"}
    assert body["audit"]["holds"] is True


def test_demo_overwrites_nobody_elses_files(refuses: Callable[..., str], folder: Path) -> None:
    (folder / "shoal.toml").write_text("# mine")
    assert "shoal.toml" in refuses("demo", "--folder", ".")


def test_demo_where_a_file_is(refuses: Callable[..., str], folder: Path) -> None:
    (folder / "demo").write_text("")
    assert "Cannot make the folder 'demo'" in refuses("demo")
