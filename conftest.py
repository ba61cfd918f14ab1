# SPDX-License-Identifier: Apache-2.0
"""What every run of the tests needs, whichever files it is given."""

import sys

import pytest

import shoal


def pytest_collection_finish(session: pytest.Session) -> None:
    """Give the function `shoal.audit` its name back.

    Collecting a file of the package `shoal.audit` binds the package to that name, as an import of it would not.
    """
    shoal.audit = sys.modules["shoal.audit"].audit
