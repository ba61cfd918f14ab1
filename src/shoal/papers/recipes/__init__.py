# SPDX-License-Identifier: Apache-2.0
"""Recipes: how experiments are measured. Every module here is found by itself; see `shoal.papers`."""
