# SPDX-License-Identifier: Apache-2.0
"""The README's commands do what it says."""

import re
import shlex
import shutil
from pathlib import Path

import shoal
from shoal.cli import run
from shoal.data import write_sample

README = Path(__file__).parents[1] / "README.md"


def test_the_commands_for_a_new_table_work_as_printed(tmp_path, monkeypatch):
    write_sample(tmp_path / "sample")
    shutil.copy(tmp_path / "sample" / "clinic.csv", tmp_path / "patients.csv")
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^\$ shoal (.*)$", README.read_text(), flags=re.M)
    assert len(commands) == 3
    for command in commands:
        assert run(shlex.split(command, comments=True)) == 0
    assert (tmp_path / "audit.html").exists()
    assert shoal.load("tree.json").verdict.holds


def test_every_public_name_is_there():
    for name in shoal.__all__:
        assert getattr(shoal, name).__doc__
    assert set(shoal.__all__) <= set(dir(shoal))
