# SPDX-License-Identifier: Apache-2.0
"""The command as a process: exit codes, pipes, interruptions, and what nobody expected."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from shoal.cli import output

from .conftest import CANARY, Shoal, files


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from shoal.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


def test_the_installed_command(released: Path) -> None:
    ran = command("audit", "tree.json", "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["holds"] is True
    assert command("audit", "tree.json", "-k", "4000").returncode == 3
    ran = command("audit", "no.json")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "shoal: There is no file 'no.json'.\n"
    assert command("tree", "--no-such-option").returncode == 2
    assert command("--version").stdout.startswith("shoal ")


def test_help_is_fast_because_nothing_heavy_is_imported() -> None:
    code = (
        "import sys; from shoal.cli import run; run(['--help']); print(sorted({'numba', 'sklearn'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


@pytest.mark.skipif(sys.platform == "win32", reason="no such pipe")
def test_nobody_listens(released: Path) -> None:
    code = "from shoal.cli import main; main()"
    arguments = [sys.executable, "-c", code, "predict", "tree.json", "clinic.csv", "--proba"]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()  # at once: nobody reads a line
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 1


def test_unexpected_exceptions_say_no_cell(
    refuses: Callable[..., str], clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(CANARY)

    monkeypatch.setattr(sys.modules["shoal.cli.tree"], "mine", fail)
    message = refuses("tree", "-o", "t.json")
    assert message == ("shoal: unexpected RuntimeError; nothing was written. Set SHOAL_DEBUG=1 for the traceback.\n")
    monkeypatch.setenv("SHOAL_DEBUG", "1")
    from shoal.cli import run

    assert run(["tree"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_unexpected_exception_after_a_file_was_written(
    shoal: Shoal, clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(CANARY)

    monkeypatch.setattr(output, "say_audit", fail)
    ran = shoal("tree", "--max-leaves", 3, "-o", "t.json")
    assert ran.code == 1
    assert "written so far: t.json" in ran.err


def test_interrupted(shoal: Shoal, clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["shoal.cli.tree"], "mine", interrupt)
    before = files(clinic)
    ran = shoal("tree", "-o", "t.json")
    assert (ran.code, ran.out, ran.err) == (130, "", "")
    assert files(clinic) == before
