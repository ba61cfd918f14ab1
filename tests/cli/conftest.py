# SPDX-License-Identifier: Apache-2.0
"""A command line in a folder of its own."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from shoal.cli import run
from shoal.data import write_sample

CANARY = "Xq7Canary"


@dataclass(frozen=True)
class Ran:
    """What a command said and did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Shoal = Callable[..., Ran]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHOAL_DEBUG", raising=False)
    return tmp_path


@pytest.fixture
def shoal(folder: Path, capsys: pytest.CaptureFixture[str]) -> Shoal:
    """Run a command in the working folder."""

    def command(*arguments: object) -> Ran:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Ran(code, *capsys.readouterr())

    return command


@pytest.fixture
def clinic(folder: Path) -> Path:
    """The working folder with the sample and its project file."""
    write_sample(folder)
    return folder


@pytest.fixture
def released(clinic: Path, shoal: Shoal) -> Path:
    """The working folder with the sample and a tree of it."""
    assert shoal("tree", "--max-leaves", 12, "-o", "tree.json").code == 0
    return clinic


@pytest.fixture
def by_education(released: Path, shoal: Shoal) -> Path:
    """The working folder with a tree that asks for education."""
    others = "patient,age,zip,occupation,smoker,bmi"
    ran = shoal("tree", "--identifier", others, "--public", "sex,education", "-o", "edu.json")
    assert "education = " in ran.out
    return released


def files(folder: Path) -> dict[str, bytes]:
    """Everything in a folder, hidden files included."""
    return {os.path.relpath(path, folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def refuses(folder: Path, shoal: Shoal) -> Callable[..., str]:
    """Run a command that must fail: one line on stderr, nothing on stdout, nothing written, no cell shown."""

    def command(*arguments: object, code: int = 1) -> str:
        before = files(folder)
        ran = shoal(*arguments)
        assert ran.code == code, ran
        assert ran.out == ""
        assert files(folder) == before
        assert "Traceback" not in ran.err
        assert CANARY not in ran.err
        assert ran.err.startswith("shoal: ")
        assert ran.err.count("\n") == 1
        return ran.err

    return command
