# SPDX-License-Identifier: Apache-2.0
"""An order of published rows that tells nothing of who is who."""

from __future__ import annotations

import secrets

import numpy as np
from numpy.typing import NDArray

from shoal.data.table import Table


def shuffled_order(n_rows: int) -> NDArray[np.int64]:
    """An order of rows drawn from the operating system: whoever was first in the table is anywhere in the file."""
    keys = np.frombuffer(secrets.token_bytes(8 * n_rows), dtype=np.uint64)
    return np.argsort(keys, kind="stable")


def sorted_order(rows: Table) -> NDArray[np.int64]:
    """Rows by their published cells, first column first: the same file whatever order they came in."""
    return np.lexsort([column.codes for column in reversed(list(rows.values()))]).astype(np.int64)
