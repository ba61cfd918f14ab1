# SPDX-License-Identifier: Apache-2.0
"""Doing independent pieces of work side by side, on as many threads as there are cores.

Only for work that lets go of the interpreter: compiled kernels, Arrow and large NumPy calls. A piece must not come back
here for pieces of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

MANY = 200_000  # rows from which threads pay; below, starting the pieces costs more than they do

Item = TypeVar("Item")
Result = TypeVar("Result")

_pool: ThreadPoolExecutor | None = None


def side_by_side(work: Callable[[Item], Result], items: Iterable[Item], *, rows: int) -> list[Result]:
    """The result of each item, in order; on threads where there are many rows to work on.

    >>> side_by_side(abs, [-1, 2, -3], rows=3)
    [1, 2, 3]
    """
    global _pool
    if rows < MANY:
        return [work(item) for item in items]
    if _pool is None:
        _pool = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="shoal")
    return list(_pool.map(work, items))


def _forget() -> None:
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)  # a forked process has the pool but none of its threads
