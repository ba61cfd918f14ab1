# SPDX-License-Identifier: Apache-2.0
"""The tables of the comparisons beyond the papers: which columns an attacker knows, and which rows are for testing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupShuffleSplit, StratifiedShuffleSplit

from shoal.data import Table, read_table
from shoal.data.stack import stack
from shoal.papers.adult import CATEGORICAL
from shoal.papers.registry import Parameters


@dataclass(frozen=True)
class Source:
    """A table as the data folder has it.

    Attributes
    ----------
    file, test
        The file of the rows, and that of its own test rows if it has any.
    target
        The column to predict; private.
    public
        The columns an attacker may know; empty for all.
    left_out
        Columns that are not learned from: numbers of rows, survey weights, copies of other columns, and columns with
        more categories than scikit-learn's boosting takes.
    categorical
        Columns of numbers that are codes.
    person
        The column that tells people apart, where they have several rows.
    too_rare
        Classes of so few rows that neither part of a split need have any; their rows are left out.
    complete
        Whether rows with missing values are left out, as is usual for Adult.
    """

    file: str
    target: str
    public: tuple[str, ...] = ()
    test: str | None = None
    left_out: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    person: str | None = None
    too_rare: tuple[str, ...] = ()
    complete: bool = False


SOURCES: Mapping[str, Source] = {
    "adult": Source(
        "adult_train.csv.gz",
        "income",
        ("age", *CATEGORICAL),
        test="adult_test.csv.gz",
        left_out=("fnlwgt", "education-num"),
        complete=True,
    ),
    "census-income": Source(
        "census_income_kdd_train.csv.gz",
        "income",
        (
            "age",
            "sex",
            "race",
            "hispanic_origin",
            "education",
            "marital_stat",
            "state_of_previous_residence",
            "country_of_birth_self",
            "citizenship",
        ),
        test="census_income_kdd_test.csv.gz",
        left_out=("instance_weight", "detailed_industry_recode", "detailed_occupation_recode", "year"),
        categorical=("own_business_or_self_employed", "veterans_benefits"),
    ),
    "diabetes": Source(
        "diabetes130_us_hospitals.csv.gz",
        "readmitted",
        ("race", "gender", "age", "payer_code", "admission_type_id", "medical_specialty"),
        left_out=("encounter_id", "weight", "diag_1", "diag_2", "diag_3"),
        categorical=("admission_type_id", "discharge_disposition_id", "admission_source_id"),
        person="patient_nbr",
    ),
    "german": Source(
        "german_credit.csv",
        "class",
        ("age", "personal_status_sex", "job", "housing", "residence_since", "num_dependents", "foreign_worker"),
    ),
    "nursery": Source("nursery.csv.gz", "class", too_rare=("recommend",)),
}


@dataclass(frozen=True)
class Study:
    """Rows to learn from, rows to test on, who may know what, and the values that the table's code book lists."""

    train: Table
    test: Table
    target: str
    public: tuple[str, ...]
    person: str | None
    domain: Mapping[str, Sequence[str]]

    @property
    def features(self) -> list[str]:
        """The columns to learn from."""
        return [name for name in self.train.names if name not in (self.target, self.person)]

    @property
    def truth(self) -> NDArray[Any]:
        """The classes of the test rows."""
        column = self.test[self.target]
        return np.array(column.names)[column.codes]


@cache
def read_rows(folder: Path, name: str, test: bool) -> Table:
    """The rows of a table, or its own test rows."""
    source = SOURCES[name]
    file = source.test if test else source.file
    assert file is not None
    kinds: dict[str, Any] = dict.fromkeys((source.target, *source.categorical), "categorical")
    table = read_table(folder / file, missing=["?"], kinds=kinds).drop(source.left_out)
    if source.too_rare:
        target = table[source.target]
        table = table.take(~np.isin(np.array(target.names)[target.codes], source.too_rare))
        table = table.with_column(table[source.target].compact())
    return table.complete() if source.complete else table


def read_study(folder: Path, options: Parameters) -> Study:
    """The training and test rows of a unit: of `table`, split by `seed`, at most so many training `rows`."""
    source, seed = SOURCES[options["table"]], options["seed"]
    rows = read_rows(folder, options["table"], False)
    if source.test is not None:
        train, test = rows, read_rows(folder, options["table"], True)
    else:
        apart = _split(rows, source, seed)
        train, test = rows.take(apart[0]), rows.take(apart[1])
    whole, most = train, options["rows"]
    if most is not None and most < train.n_rows:
        train = train.take(np.sort(np.random.default_rng(seed).choice(train.n_rows, most, replace=False)))
    public = source.public or tuple(name for name in rows.names if name not in (source.target, source.person))
    # the code book of a table lists its categories; here they are those of all its rows
    known = stack(whole, test, [name for name in rows.names if name not in (*public, source.person)])
    domain = {name: column.names for name, column in known.items() if column.kind == "categorical"}
    return Study(train, test, source.target, public, source.person, domain)


def _split(rows: Table, source: Source, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two thirds to learn from and one to test on; nobody is in both."""
    codes = rows[source.target].codes
    if source.person is None:
        parts = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=seed).split(codes, codes)
    else:
        parts = GroupShuffleSplit(1, test_size=1 / 3, random_state=seed).split(codes, codes, rows[source.person].codes)
    train, test = next(parts)
    return np.sort(train), np.sort(test)
