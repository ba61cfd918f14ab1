# SPDX-License-Identifier: Apache-2.0
"""Arrays in, arrays out: the compiled inner loops, which know no table, role or message.

Each kernel in this folder has a slow, obvious twin in `reference.py`; the tests hold them equal on random input.
"""
