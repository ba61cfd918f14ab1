# SPDX-License-Identifier: Apache-2.0
"""The 20 rows of the paper's Fig. 1, its Sect. 4.2 release, and the table that shows what PartAL does not promise."""

from __future__ import annotations

import pandas as pd

from partition.fig1 import FIG1 as ALL_OF_FIG1
from shoal.papers.worked.dmpd_release import DOMAIN, SUBSETS
from shoal.partition.publish import publish_projections
from shoal.privacy import PartAL
from shoal.release import ProjectionsRelease

# the columns that Sect. 4.2 needs
FIG1 = ALL_OF_FIG1[["age", "education-num", "relationship", "hours-per-week", "income"]]


def fig7(k: int = 2, **options) -> ProjectionsRelease:
    """The release of Sect. 4.2: relationship and age (cut at 48) are public."""
    return publish_projections(
        FIG1,
        "income",
        SUBSETS,
        privacy=options.pop("privacy", PartAL(k)),
        public=["relationship", "age"],
        cuts={"age": [48]},
        domain=DOMAIN,
        **options,
    )


def counter_example(k: int) -> pd.DataFrame:
    """People of whom v1 = {a: 1, b: k} and v2 = {a: k, c: k}; whoever has (v1, v2) is the first, and surely a."""
    rows = [("v1", "v2", "a")]
    rows += [("v1", "w2", "b")] * k
    rows += [("w1", "v2", "a")] * (k - 1) + [("w1", "v2", "c")] * k
    rows += [("w1", "w2", each) for each in "abc" for _ in range(k)]
    return pd.DataFrame(rows, columns=["first", "second", "ill"])
