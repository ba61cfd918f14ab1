# SPDX-License-Identifier: Apache-2.0
"""Checks of claims. Every module here is found by itself; see `shoal.papers`."""
