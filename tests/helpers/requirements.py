# SPDX-License-Identifier: Apache-2.0
"""The requirements that `recoded` judges by their definitions."""

from shoal.privacy import (
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
    SimpleDiversity,
)

REQUIREMENTS = {
    "k2": KAnonymity(2),
    "k3": KAnonymity(3),
    "distinct": DistinctDiversity(2),
    "entropy": EntropyDiversity(1.6),
    "simple": SimpleDiversity(1.5),
    "recursive": RecursiveDiversity(2, 2),
    "closeness": Closeness(0.3),
    "k2 & entropy": KAnonymity(2) & EntropyDiversity(1.6),
    "k2 & closeness": KAnonymity(2) & Closeness(0.3),
}
