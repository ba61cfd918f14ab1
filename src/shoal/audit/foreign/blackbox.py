# SPDX-License-Identifier: Apache-2.0
"""Any model at all: at worst it tells people apart by every public value it is given."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from shoal.audit.assumed import stated_domain
from shoal.audit.groups import Ids, Spans, numbered
from shoal.audit.subject import Subject
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical
from shoal.errors import DataError, closest
from shoal.release.verdict import fingerprint


class BlackBox(Subject):
    """A model of which nothing is known but the columns it is given.

    Its bins are finer than those of any function of these columns, and people are grouped by their public values. A
    span counts as a single bin only where no private column is given to the model.
    """

    exact = False
    by_value = True
    separable = True

    def __init__(
        self,
        what: str,
        table: Table,
        target: Column | None,
        domain: Mapping[str, Any] | None,
        given: Sequence[str] | None = None,
    ) -> None:
        self.what = what
        self.domain = stated_domain(table, table.names if given is None else given, domain)
        self.target = None if target is None else target.name
        self.numeric_target = target is not None and target.kind == "numeric"
        self.sha256 = fingerprint({"kind": "black box", "what": what, "columns": list(self.domain)})

    def bins(self, table: Table) -> Ids:
        """Every combination of values is a bin."""
        return numbered([table[name].codes for name in self.domain], table.n_rows)

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """People with the same public values have the same span, whatever the model is."""
        keys = numbered([table[name].codes for name in self.domain if name in public], table.n_rows)
        single = all(name in public for name in self.domain)
        return Spans.numbered(keys, np.full(table.n_rows, single), disjoint=True)


def predicts_numbers(model: Any) -> bool:
    """Whether a model says of itself that it is a regressor."""
    from sklearn.base import is_regressor

    try:
        return bool(is_regressor(model))
    except (AttributeError, TypeError):  # no estimator of scikit-learn
        return False


def one_answer(model: Any, X: Any, names: Sequence[str]) -> bool:
    """Whether a model is seen to answer one value a row, so that it was taught one target only."""
    try:
        rows = X[:1] if isinstance(X, np.ndarray | list) else X[list(names)][:1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = np.asarray(model.predict(rows))
    except Exception:  # a model that is not known may raise anything; then nothing is seen
        return False
    return answer.shape in ((1,), (1, 1))


def read(model: Any, table: Table, target: Column | None, domain: Mapping[str, Sequence[Any]] | None) -> Subject | None:
    """Take anything that predicts."""
    if isinstance(model, type) or not hasattr(model, "predict"):
        return None
    for column in table.values():
        if column.integer and len(column.numbers) and np.abs(column.numbers).max() >= 2**53:
            raise DataError(
                "model-sees-other",
                f"Column {column.name!r} has whole numbers beyond 2**53, of which an audit takes neighbours to be one. "
                "A model that is a black box may tell them apart: give it texts, or leave the column out.",
            )
    if target is not None and target.kind == "numeric" and not predicts_numbers(model):
        target = as_categorical(target)
    name = type(model).__name__
    what = f"{'an' if name[0] in 'AEIOU' else 'a'} {name}, taken as a black box"
    own = getattr(model, "feature_names_in_", None)
    given = None if own is None else [str(each) for each in own]
    for each in given or ():
        if each not in table:
            raise DataError(
                "no-column", f"The model asks for column {each!r}, which these rows have not.{closest(each, table)}"
            )
    return BlackBox(what, table, target, domain, given)
