# SPDX-License-Identifier: Apache-2.0
"""What every table anonymiser ends with: put the rows in an order that tells nothing, publish, audit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import TransformerTags

from shoal.audit import Audit, audit
from shoal.data.frames import Backend, from_columns
from shoal.data.grouped import Repeated, distinct_rows
from shoal.data.person import whose_rows
from shoal.data.table import Column, Table, smallest_dtype
from shoal.engines import ENGINES
from shoal.errors import DataError, PromiseError, RequirementError
from shoal.privacy import Requirement, claims
from shoal.release import Attribute, TableRelease
from shoal.release.generalised import Generalised
from shoal.release.numbers import Numbers, number_columns
from shoal.release.order import shuffled_order, sorted_order
from shoal.release.table import frame_columns
from shoal.trees.estimator import RowsEstimator


@dataclass(frozen=True, eq=False)
class Generalisation:
    """A generalised table in house: the rows still in the order they came."""

    target: str | None
    attributes: tuple[Attribute, ...]
    rows: Table
    generalised: Mapping[str, tuple[Generalised, ...]]
    sensitive: tuple[str, ...] = ()
    left_out: NDArray[np.bool_] | None = None  # rows that are not published


def publish_table(
    made: Generalisation, requirement: Requirement, original: Table, *, reproducible: bool, person: str | None = None
) -> TableRelease:
    """The release of a generalised table, audited against the original rows; one that fails is withheld.

    `person` names the column of the original rows that tells people apart, where they may have several.
    """
    whose = None if person is None else whose_rows(original[person])
    left_out = 0 if made.left_out is None else int(made.left_out.sum())
    if left_out == made.rows.n_rows:
        raise PromiseError("audit-failed", "Every row would be left out, so there is nothing to publish. Ask for less.")
    kept = made.rows if made.left_out is None else made.rows.take(~made.left_out)
    order = sorted_order(kept) if reproducible else shuffled_order(kept.n_rows)
    people = None
    if whose is not None:
        people = len(np.unique(whose if made.left_out is None else whose[~made.left_out]))
        people = None if people == kept.n_rows else people
    release = TableRelease(
        target=made.target,
        attributes=made.attributes,
        claims=tuple(claims(requirement)),
        rows=kept.take(order),
        generalised=made.generalised,
        sensitive=made.sensitive,
        people=people,
        left_out=left_out,
    )
    return _audited(release, audit(release, original, privacy=requirement, person=None if whose is None else person))


def publish_elsewhere(made: Generalisation, requirement: Requirement, original: Any) -> TableRelease:
    """The release of a generalised table whose rows are elsewhere, audited against these; one that fails is withheld.

    `made` has the different rows with their weights. The published ones are sorted: what they say and how often is all
    that is known here, so their order tells nothing of who is who.
    """
    release = TableRelease(
        target=made.target,
        attributes=made.attributes,
        claims=tuple(claims(requirement)),
        rows=Repeated(distinct_rows([made.rows], made.rows.n_rows)),
        generalised=made.generalised,
        sensitive=made.sensitive,
    )
    return _audited(release, audit(release, original, privacy=requirement))


def _audited(release: TableRelease, verdict: Audit) -> TableRelease:
    if not verdict.holds:
        worst = next(finding for finding in verdict.findings if finding.severity == "breach")
        raise PromiseError("audit-failed", f"The generalised table failed its audit and is withheld. {worst.message}")
    return release.with_audit(verdict)


class TableAnonymizer(RowsEstimator):
    """The base of anonymisers: `fit` makes `release_`, `fit_transform` hands the rows back as they came."""

    release_: TableRelease
    needs_target = True
    numbers: Numbers = "intervals"
    engine: str = "memory"

    @abstractmethod
    def _generalise(self, X: Any, y: Any) -> tuple[Generalisation, TableRelease]:
        """The generalised rows in the order they came, and their release."""

    def fit(self, X: Any, y: Any = None) -> TableAnonymizer:
        """Generalise the table, audit it, and keep what may leave as `release_`.

        Parameters
        ----------
        X
            The rows, one a person unless `person` is given: a data frame, an Arrow table, a NumPy array or a `Table`.
            With an engine other than ``"memory"``, whatever that reads.
        y
            The target's values, or the name of its column in `X`.
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Generalise the table and give it back, rows in the order they came, generalised values as texts.

        For use in house: the order of rows may tell who is who. What may leave is `release_`, whose rows are in no
        order that tells anything. A target given as values is not among the columns, rows that are left out are not
        among the rows, and an index is not kept.
        """
        if self.engine != "memory":
            raise DataError(
                "engine",
                f"With engine={self.engine!r} no rows are handed back: call fit, and save release_, which writes them "
                "to a file.",
            )
        made = self._fit(X, y)
        beside = None if isinstance(y, str) else made.target
        rows = made.rows if made.left_out is None else made.rows.take(~made.left_out)
        columns = {name: cells for name, cells in frame_columns(rows, made.generalised).items() if name != beside}
        return from_columns(
            number_columns(self.numbers, columns, rows, made.attributes, made.generalised), backend_of(X)
        )

    def _fit(self, X: Any, y: Any) -> Generalisation:
        if y is None and self.needs_target:
            raise DataError(
                "no-target",
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None. "
                "Give its values, or the name of its column in X.",
            )
        self._check_engine(y)
        made, self.release_ = self._generalise(X, y)
        return made

    def _check_engine(self, y: Any) -> None:
        """Refuse an engine that there is not, and what only the rows in memory can tell."""
        if self.engine not in ENGINES:
            raise RequirementError(
                "parameter", f"{type(self).__name__}: engine must be one of {ENGINES}; got {self.engine!r}."
            )
        if self.engine == "memory":
            return
        if y is not None and not isinstance(y, str):
            raise DataError(
                "target-name", f"With engine={self.engine!r}, name the target's column of X: fit(X, 'income')."
            )
        if getattr(self, "person", None) is not None:
            raise RequirementError(
                "person-engine", f"Several rows a person need engine='memory'; engine={self.engine!r} takes none."
            )

    def _as_frame(
        self, X: Any, table: Table, cells: Mapping[str, Sequence[Generalised]], codes: Mapping[str, NDArray[np.int64]]
    ) -> Any:
        """Rows whose public columns say one of some cells each, all others as they are, in the library they came in."""
        columns = []
        for name, column in table.items():
            if name in cells:
                labels = tuple(cell.label for cell in cells[name])
                column = Column(name, "categorical", codes[name].astype(smallest_dtype(len(labels))), labels)
            columns.append(column)
        rows = Table(columns)
        attributes = [
            self.release_.attribute(name) if name in cells else Attribute(name, "private", column.kind)
            for name, column in table.items()
        ]
        frame = number_columns(self.numbers, frame_columns(rows, list(cells)), rows, attributes, cells)
        return from_columns(frame, backend_of(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags(preserves_dtype=[])  # generalised values are texts
        tags.target_tags.required = self.needs_target
        return tags


def backend_of(X: Any) -> Backend:
    """The data frame library that rows came in, or Arrow for all that is none."""
    frame = nw.from_native(X, pass_through=True)
    name = frame.implementation.value if isinstance(frame, nw.DataFrame | nw.LazyFrame) else "pyarrow"
    known: dict[str, Backend] = {"pandas": "pandas", "polars": "polars"}
    return known.get(name, "pyarrow")
