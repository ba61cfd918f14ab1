# SPDX-License-Identifier: Apache-2.0
"""Matatov, Rokach and Maimon (2010): Fig. 1 to 3 with Definitions 2 to 8, Fig. 8 and Fig. 13."""

from __future__ import annotations

from itertools import chain, combinations, product

import numpy as np
from numpy.typing import NDArray

from shoal.papers.worked import Numbers, worked
from shoal.papers.worked.dmpd_sample import FEATURES, TARGET, levels_of, mask, parted, sample
from shoal.partition.encoded import Encoded, stratified_folds
from shoal.partition.learners import C45Folds
from shoal.partition.levels import Levels
from shoal.partition.partitioning import Partitioning
from shoal.partition.wrapper import Wrapper

# the two subsets of Definition 8
G1 = ("age", "workclass", "fnlwgt", "education", "education-num", "occupation", "native-country")
G2 = ("marital-status", "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week")
N_FOLDS = 4
SEED = 0  # of the folds


@worked("dmpd-fig3")
def counted() -> Numbers:
    """Projection, aggregation, and the levels of two quasi-identifiers."""
    rows = sample()
    sixth = _like(marital_status="Married", occupation="Other-service")
    few = levels_of(["workclass", "native-country"])
    more = levels_of(["workclass", "native-country", "marital-status"])
    z = parted(G1, G2)
    sex = dict(zip(rows["sex"].names, rows["sex"].counts().tolist(), strict=True))
    germans, divorced = _like(workclass="Private", native_country="Germany"), _like(marital_status="Divorced")
    poor = _like(income="<=50K")
    sal = more.sal(z)
    assert sal is not None  # there are two subsets
    return {
        "rows after the projection": rows.select(["age", "relationship", "native-country"]).n_rows,
        **{f"rows with sex {name}": n for name, n in sex.items()},
        "rows like the sixth in marital-status and occupation": int(sixth.sum()),
        "rows with Private, Germany": int(germans.sum()),
        "workclass, native-country: level": few.dal(mask(*FEATURES)),
        "workclass, native-country, marital-status: level": more.dal(mask(*FEATURES)),
        "in two subsets: partial level": more.pal(z),
        "joined rows with Private, Divorced, Germany, <=50K": int((germans & poor).sum() * (divorced & poor).sum()),
        "in two subsets: set level": sal,
        "in two subsets: level of the partitioning": more.partal(z),
    }


def _like(**values: str) -> NDArray[np.bool_]:
    """Which rows of Fig. 1 have some values."""
    rows = sample()
    columns = [(rows[name.replace("_", "-")], value) for name, value in values.items()]
    return np.asarray(np.all([column.codes == column.names.index(value) for column, value in columns], axis=0))


@worked("dmpd-fig8")
def nothing_to_release() -> Numbers:
    """Four rows, every value and class somebody's own: the best partitioning for every set of public columns."""
    n = 3
    known = list(chain.from_iterable(combinations(range(n), size) for size in range(1, n + 1)))
    own = [np.arange(4)] * n
    numbers = {}
    for quasi in known:
        levels = Levels(own, [4] * n, np.arange(4), 4, quasi)
        named = ", ".join(f"a{i + 1}" for i in quasi)
        numbers[f"{named} public: highest level of what is not empty"] = max(map(levels.partal, _partitionings(n)))
    rows = sample()
    fig1 = Encoded.of_columns([rows[name] for name in FEATURES], rows[TARGET])
    fig8 = Encoded.of(own, [4] * n, np.arange(4), 4)
    return {
        **numbers,
        "accuracy of the empty partitioning, Fig. 1": _empty(fig1),
        "accuracy of the empty partitioning, Fig. 8": _empty(fig8),
    }


@worked("dmpd-fig13")
def let_in_by_suppression() -> Numbers:
    """Four rows, all columns public: the best partitioning with relationship, before and after two values are gone."""
    country, workclass = np.array([0, 0, 0, 0]), np.array([0, 1, 1, 0])
    relationship = {"before": np.array([0, 1, 2, 0]), "after": np.array([0, 1, 1, 0])}  # after: a wife, a husband are ?
    numbers = {}
    for when, own in relationship.items():
        levels = Levels([own, country, workclass], [3, 1, 2], np.zeros(4, dtype=np.int64), 1, range(3))
        using = [each for each in _partitionings(3) if 0 not in each.left_out]
        numbers[f"{when}: highest level of a partitioning with relationship"] = max(map(levels.partal, using))
    return numbers


def _partitionings(n: int) -> set[Partitioning]:
    """All disjoint partitionings of some features with at least one subset."""
    placed = product(range(n + 1), repeat=n)  # 0: left out
    subsets = ([[i for i in range(n) if places[i] == place] for place in range(1, n + 1)] for places in placed)
    return {Partitioning.of(n, each) for each in subsets if any(each)}


def _empty(data: Encoded) -> float:
    """What the wrapper says of a partitioning without subsets, which answers with the largest class."""
    folds = stratified_folds(data.target, N_FOLDS, np.random.default_rng(SEED))
    wrapper = Wrapper(C45Folds(data, folds), data.target, data.n_classes, folds)
    return float(wrapper.accuracies([Partitioning(len(data.codes))])[0])
