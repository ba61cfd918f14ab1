# SPDX-License-Identifier: Apache-2.0
"""Where counts come from.

A miner asks an engine for counts and never sees a row. `memory.py` answers from encoded columns with compiled kernels.
"""

from shoal.engines.base import Engine, Feature
from shoal.engines.memory import MemoryEngine

__all__ = ["Engine", "Feature", "MemoryEngine"]
