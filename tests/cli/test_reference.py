# SPDX-License-Identifier: Apache-2.0
"""The page about the command line is the command line's own."""

from pathlib import Path

import pytest

from shoal.cli.reference import reference

from .conftest import Shoal

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def test_reference_is_current() -> None:
    told = PAGE.read_text(encoding="utf-8")
    assert told == reference(), "run: python -m shoal.cli.reference docs/reference/cli.md"


@pytest.mark.parametrize("verb", ["init", "describe", "tree", "audit", "attack", "predict", "demo", "bench"])
def test_help_of_every_verb(shoal: Shoal, verb: str) -> None:
    ran = shoal(verb, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert f"shoal {verb}" in ran.out
    assert "..." not in ran.out


def test_help(shoal: Shoal) -> None:
    ran = shoal("--help")
    assert ran.code == 0
    assert ran.out == shoal("-h").out
    assert "..." not in ran.out.replace("[ARGS]...", "")
