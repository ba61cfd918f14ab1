# SPDX-License-Identifier: Apache-2.0
"""The 20 rows of the paper's Fig. 1 (Matatov, Rokach and Maimon 2010), as printed, no full stop after the class."""

import numpy as np
import pandas as pd

from shoal.partition.levels import Levels
from shoal.partition.partitioning import Partitioning

_NAMES = """
age workclass fnlwgt education education-num marital-status occupation relationship race sex
capital-gain capital-loss hours-per-week native-country income
"""
COLUMNS = _NAMES.split()

_ROWS = """
27 Local-gov 54826 Assoc-voc 10 Widowed Prof-specialty Not-in-family White Female 0 0 20 US <=50K
47 Local-gov 181344 Some-college 10 Married Prof-specialty Husband Black Male 0 0 55 US >50K
41 Local-gov 523910 Bachelors 13 Married Prof-specialty Husband Black Male 0 0 40 US <=50K
42 Local-gov 254817 Some-college 10 Married Prof-specialty Not-in-family White Female 0 1340 40 US <=50K
27 Private 213921 HS-grad 9 Divorced Other-service Not-in-family White Male 0 0 40 US <=50K
46 Private 51618 HS-grad 9 Married Other-service Not-in-family White Female 0 0 40 US <=50K
59 Private 159937 HS-grad 9 Married Sales Husband White Male 0 0 48 US >50K
49 Private 343591 HS-grad 9 Divorced Prof-specialty Not-in-family Black Female 14344 0 40 US >50K
53 Private 346253 HS-grad 9 Married Sales Husband White Male 0 0 35 US <=50K
55 Private 198282 Bachelors 13 Married Sales Husband White Male 15024 0 60 Germany >50K
40 Private 118853 Bachelors 13 Widowed Sales Unmarried White Male 0 0 60 Germany <=50K
49 Private 77143 Bachelors 13 Married Sales Husband White Male 0 0 40 Germany >50K
47 Private 253814 HS-grad 9 Divorced Prof-specialty Unmarried White Female 0 0 25 US <=50K
21 Private 312956 HS-grad 9 Married Prof-specialty Not-in-family Black Male 0 0 40 US >50K
43 Private 114580 Some-college 10 Married Prof-specialty Not-in-family White Female 0 0 40 US <=50K
61 State-gov 267989 Bachelors 13 Married Prof-specialty Husband White Male 0 0 50 US >50K
46 State-gov 102628 Masters 9 Widowed Prof-specialty Unmarried White Male 0 0 40 US <=50K
28 State-gov 175325 HS-grad 9 Widowed Prof-specialty Unmarried White Male 0 0 40 US <=50K
28 State-gov 149624 Bachelors 13 Divorced Prof-specialty Unmarried White Male 0 0 70 US >50K
56 State-gov 149624 Bachelors 13 Divorced Other-service Unmarried White Male 0 0 25 US >50K
"""

FIG1 = pd.DataFrame([line.split() for line in _ROWS.strip().splitlines()], columns=COLUMNS).astype(
    {name: int for name in COLUMNS if name in ("age", "fnlwgt") or name.endswith(("-num", "-gain", "-loss", "-week"))}
)
TARGET = "income"
FEATURES = COLUMNS[:-1]


def encoded(rows: pd.DataFrame, features, *, cuts=None):
    """Codes, numbers of values, classes and how many: what `Levels` takes; `cuts` of numeric columns by name."""
    codes = []
    for name in features:
        column = rows[name] if name not in (cuts or {}) else np.searchsorted(cuts[name], rows[name])
        codes.append(np.unique(column, return_inverse=True)[1])
    target = np.unique(rows[TARGET], return_inverse=True)[1]
    return codes, [int(each.max()) + 1 for each in codes], target, int(target.max()) + 1


def levels_of(rows: pd.DataFrame, quasi, features=FEATURES, *, cuts=None) -> Levels:
    """`Levels` of some columns, `quasi` named."""
    return Levels(*encoded(rows, features, cuts=cuts), [features.index(name) for name in quasi])


def parted(*subsets, features=FEATURES) -> Partitioning:
    """A partitioning by names."""
    return Partitioning.of(len(features), [[features.index(name) for name in subset] for subset in subsets])
