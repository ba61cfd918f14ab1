# SPDX-License-Identifier: Apache-2.0
"""The 20 rows of the paper's Fig. 1, its Sect. 4.2 release, and the table that shows what PartAL does not promise."""

from __future__ import annotations

import pandas as pd

from shoal.partition.publish import publish_projections
from shoal.privacy import PartAL
from shoal.release import ProjectionsRelease

_ROWS = """
27 10 Not-in-family 20 <=50K
47 10 Husband 55 >50K
41 13 Husband 40 <=50K
42 10 Not-in-family 40 <=50K
27 9 Not-in-family 40 <=50K
46 9 Not-in-family 40 <=50K
59 9 Husband 48 >50K
49 9 Not-in-family 40 >50K
53 9 Husband 35 <=50K
55 13 Husband 60 >50K
40 13 Unmarried 60 <=50K
49 13 Husband 40 >50K
47 9 Unmarried 25 <=50K
21 9 Not-in-family 40 >50K
43 10 Not-in-family 40 <=50K
61 13 Husband 50 >50K
46 9 Unmarried 40 <=50K
28 9 Unmarried 40 <=50K
28 13 Unmarried 70 >50K
56 13 Unmarried 25 >50K
"""
# the columns of Fig. 1 that Sect. 4.2 needs
FIG1 = pd.DataFrame(
    [line.split() for line in _ROWS.strip().splitlines()],
    columns=["age", "education-num", "relationship", "hours-per-week", "income"],
).astype({"age": int, "education-num": int, "hours-per-week": int})
SUBSETS = [["education-num", "relationship"], ["age", "hours-per-week"]]
DOMAIN = {"education-num": [1, 16], "hours-per-week": [1, 99], "age": [17, 90]}


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
