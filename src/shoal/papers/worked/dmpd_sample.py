# SPDX-License-Identifier: Apache-2.0
"""The 20 rows of Fig. 1 of Matatov, Rokach and Maimon (2010), as printed, no full stop after the class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.data import Table, to_table
from shoal.partition.levels import Levels
from shoal.partition.partitioning import Partitioning, mask_of

_NAMES = """
age workclass fnlwgt education education-num marital-status occupation relationship race sex
capital-gain capital-loss hours-per-week native-country income
"""
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
COLUMNS = _NAMES.split()
ROWS = [line.split() for line in _ROWS.strip().splitlines()]
FEATURES, TARGET = COLUMNS[:-1], COLUMNS[-1]
NUMERIC = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
AGE_CUT = 48  # Sect. 4.2, "discretized": given, for by minimum description length 20 rows are too few for a cut


def sample() -> Table:
    """Fig. 1."""
    columns = dict(zip(COLUMNS, zip(*ROWS, strict=True), strict=True))
    return to_table({name: np.array(own, dtype=int if name in NUMERIC else str) for name, own in columns.items()})


def levels_of(quasi: Sequence[str], *, cuts: Mapping[str, Sequence[float]] | None = None) -> Levels:
    """`Levels` of all features, some of them known; `cuts` of numeric ones by name."""
    rows = sample()
    codes = [rows[name].codes for name in FEATURES]
    for name, own in (cuts or {}).items():
        codes[FEATURES.index(name)] = np.searchsorted(own, rows[name].numbers)[rows[name].codes]
    sizes = [int(own.max()) + 1 for own in codes]
    target = rows[TARGET]
    return Levels(codes, sizes, target.codes, target.n_codes, [FEATURES.index(name) for name in quasi])


def mask(*names: str) -> int:
    """The mask of some features."""
    return mask_of(FEATURES.index(name) for name in names)


def parted(*subsets: Sequence[str]) -> Partitioning:
    """A partitioning by names."""
    return Partitioning.of_masks(len(FEATURES), [mask(*subset) for subset in subsets])
