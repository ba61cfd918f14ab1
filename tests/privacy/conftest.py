# SPDX-License-Identifier: Apache-2.0
"""No deadline for property tests: a busy machine is no fault of the code's."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
