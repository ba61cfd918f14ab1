# SPDX-License-Identifier: Apache-2.0
"""What all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# no deadline: a kernel that compiles in the middle of an example is slow once, not wrong
settings.register_profile("shoal", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# the gate draws the same examples every time, so that a change is judged by what it changes; `make test` draws new ones
settings.register_profile("gate", settings.get_profile("shoal"), derandomize=True)
settings.load_profile(os.environ.get("SHOAL_TEST_PROFILE", "shoal"))


@pytest.fixture(scope="session")
def shoal_data() -> Path:
    """The folder of public benchmark data, or a skip that says how to get it."""
    folder = os.environ.get("SHOAL_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("SHOAL_DATA does not name the folder of benchmark data")
    return Path(folder)
