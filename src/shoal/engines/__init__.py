# SPDX-License-Identifier: Apache-2.0
"""Where counts come from.

A miner asks an engine for counts and never sees a row. `memory.py` answers from encoded columns with compiled kernels.
"""

from typing import Any

from shoal.engines.base import Engine, Feature, RowsElsewhere
from shoal.engines.memory import MemoryEngine

ENGINES = ("memory", "stream", "spark")

__all__ = ["ENGINES", "Engine", "Feature", "MemoryEngine", "RowsElsewhere", "open_rows"]


def open_rows(engine: str, source: Any) -> RowsElsewhere:
    """Hold a source open for an engine other than ``"memory"``."""
    if engine == "spark":
        from shoal.engines.spark import SparkRows

        return SparkRows(source)
    from shoal.engines.stream import StreamRows

    return StreamRows(source)
