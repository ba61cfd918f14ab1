# SPDX-License-Identifier: Apache-2.0
"""Examples in documentation may write files: give each a folder of its own."""

import pytest
from _pytest.doctest import DoctestItem


@pytest.fixture(autouse=True)
def _examples_write_elsewhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    if isinstance(request.node, DoctestItem):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path_factory.mktemp("example"))
            yield
    else:
        yield
