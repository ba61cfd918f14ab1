# SPDX-License-Identifier: Apache-2.0
"""Printing and writing: nothing is obeyed, folded or quoted without need."""

import csv
import io
from pathlib import Path

import pyarrow as pa
import pytest

from shoal.cli import output
from shoal.errors import ReleaseError


def test_tables_show_markup_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    output.say_table(
        ("[bold]a", "n"), [["[red]x[/red] :smile:", 1234], ["y" * 300, 0.123456], [None, True]], right=("n",)
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[bold]a ")
    assert lines[1].split() == ["[red]x[/red]", ":smile:", "1,234"]
    assert lines[2].split() == ["y" * 300, "0.1235"]
    assert len({len(line.rstrip()) for line in lines[1:]}) == 1  # numbers end together


def test_long_lines_stay_whole(capsys: pytest.CaptureFixture[str]) -> None:
    output.say("[b]" + "x " * 400)
    assert capsys.readouterr().out == "[b]" + "x " * 400 + "\n"


def test_control_characters_are_shown() -> None:
    assert output.clean("a\x1b[2Jb\r\u202ec\nd") == "a�[2Jb��c\nd"


def test_notes_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    output.note("one\ntwo")
    assert capsys.readouterr().err == "shoal: one two\n"


def test_csv_reads_back() -> None:
    plain = pa.table({"a": ["x", "y"], "n": [1, 2], "b": [True, False]})
    assert output.csv_text(plain) == "a,n,b\nx,1,true\ny,2,false\n"
    hard = pa.table({'a,"b"\n': ['x,"y"', "z\nz", ""], "n": [0.1, 1e-9, 3.0]})
    read = list(csv.reader(io.StringIO(output.csv_text(hard), newline="")))
    assert read == [['a,"b"\n', "n"], ['x,"y"', "0.1"], ["z\nz", "1e-9"], ["", "3"]]


def test_outputs_are_checked_before_any_work(tmp_path: Path) -> None:
    there = tmp_path / "in.csv"
    there.write_text("")
    output.check_outputs([None, tmp_path / "out"], [there, None])
    for bad in ([tmp_path], [tmp_path / "no" / "out"], [there], [tmp_path / "x", tmp_path / "." / "x"]):
        with pytest.raises(ReleaseError, match="Cannot write"):
            output.check_outputs(bad, [there])
