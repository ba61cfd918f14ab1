# SPDX-License-Identifier: Apache-2.0
"""What every run of the tests needs, whichever files it is given."""

import os
import sys
from pathlib import Path

# before anything loads OpenMP: each worker of the tests has one core, and threads that wait for each other only spin
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from _pytest.doctest import DoctestItem

import shoal


@pytest.fixture(autouse=True)
def folder_of_its_own(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every example of the documentation in an empty folder: some write files."""
    if isinstance(request.node, DoctestItem):
        monkeypatch.chdir(tmp_path)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Give the function `shoal.audit` its name back.

    Collecting a file of the package `shoal.audit` binds the package to that name, as an import of it would not.
    """
    shoal.audit = sys.modules["shoal.audit"].audit
