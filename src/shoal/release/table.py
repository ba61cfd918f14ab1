# SPDX-License-Identifier: Apache-2.0
"""A generalised table as it leaves the house."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.data.frames import Backend, from_columns
from shoal.data.grouped import stored_rows
from shoal.data.table import Column, Table, smallest_dtype
from shoal.errors import DataError, ReleaseError
from shoal.privacy import Requirement, requirement_from_claims
from shoal.release.domain import Attribute
from shoal.release.files import FORMAT
from shoal.release.generalised import ALL, Generalised
from shoal.release.numbers import Numbers, number_columns
from shoal.release.table_file import cells_of, check_name, csv_parts
from shoal.release.together import save_together
from shoal.release.verdict import Verdict, check_writable, fingerprint, verdict_of


@dataclass(frozen=True, eq=False)
class TableRelease:
    """A table whose public columns are generalised and whose private columns are exact, and what is claimed of it.

    A group is the rows that say the same in every public column. It needs no miner: it loads from its two files, a
    JSON and a CSV beside it, and can be audited by anyone.

    Parameters
    ----------
    target
        The column that a model would predict, or None.
    attributes
        Every published column with role and domain. Identifiers are not among them.
    claims
        What is promised, as `shoal.privacy` writes it.
    rows
        What is published, in the order of the file: of a public column codes into its generalised values, of a private
        one codes into its own.
    generalised
        What each label of each public column means.
    sensitive
        Private columns besides the target that the claims cover too.
    people
        Where people have several rows each: how many different people there are. The rows are published one by one and
        do not tell whose they are; the claims are about different people. None: every row is a person.
    left_out
        How many rows of the original table are not published (suppressed). Nothing else is told of them, but that
        their public values, which an attacker knows, are within the stated domain.
    verdict
        The audit's word on exactly this content. `save` refuses to write without it.

    Examples
    --------
    >>> from shoal import load_sample
    >>> from shoal.anonymize import TreeAnonymizer
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> release = TreeAnonymizer(privacy=1500).fit(people, "diabetes").release_
    >>> release
    <TableRelease: 5000 rows, 3 columns, 2 groups>
    >>> [value.label for value in release.generalised["age"]]
    ['<=47.5', '>47.5']
    """

    target: str | None
    attributes: tuple[Attribute, ...]
    claims: tuple[Mapping[str, Any], ...]
    rows: Table
    generalised: Mapping[str, tuple[Generalised, ...]]
    sensitive: tuple[str, ...] = ()
    people: int | None = None
    left_out: int = 0
    verdict: Verdict | None = field(default=None)

    kind = "table"

    def __post_init__(self) -> None:
        public = [attribute.name for attribute in self.attributes if attribute.role == "public"]
        names = [attribute.name for attribute in self.attributes]
        labels = {name: tuple(value.label for value in values) for name, values in self.generalised.items()}
        same = sorted(public) == sorted(labels) and sorted(names) == sorted(self.rows)
        if not same or any(self.stored[name].values != each for name, each in labels.items()):
            raise ReleaseError(
                "bad-release",
                "The parts of this table do not fit: every column needs its attribute, and every public "
                "one its labels.",
            )

    # ---------------------------------------------------------------- what it says

    @property
    def requirement(self) -> Requirement:
        """What the release claims, as a requirement."""
        return requirement_from_claims([dict(claim) for claim in self.claims])

    @cached_property
    def _by_name(self) -> dict[str, Attribute]:
        return {attribute.name: attribute for attribute in self.attributes}

    def attribute(self, name: str) -> Attribute:
        """One attribute by its name."""
        return self._by_name[name]

    @property
    def columns(self) -> tuple[str, ...]:
        """The published columns, in the order of the file."""
        return tuple(self.rows.names)

    @property
    def public(self) -> tuple[str, ...]:
        """The public columns, in the order of the file."""
        return tuple(name for name in self.columns if name in self.generalised)

    @property
    def private(self) -> tuple[str, ...]:
        """The private columns, in the order of the file."""
        return tuple(name for name in self.columns if name not in self.generalised)

    def is_hidden(self, name: str) -> bool:
        """Whether a public column says nothing of anybody."""
        return all(value.is_all for value in self.generalised[name])

    @property
    def n_rows(self) -> int:
        """How many rows are published."""
        return self.rows.n_rows

    @property
    def several_rows(self) -> bool:
        """Whether people have several rows each, so that the claims are about different people."""
        return self.people is not None

    @property
    def n_people(self) -> int:
        """How many people the rows are of."""
        return self.n_rows if self.people is None else self.people

    @property
    def stored(self) -> Table:
        """The rows as they are held: where rows that say the same are held once, with `weights`."""
        return stored_rows(self.rows)

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """The number of each row's group: equal numbers, equal generalised values."""
        stored = self.stored
        return self.stored_groups if stored is self.rows else np.repeat(self.stored_groups, stored.times)

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return int(self.stored_groups.max()) + 1

    @cached_property
    def stored_groups(self) -> NDArray[np.int64]:
        """The group of each row of `stored`."""
        key, size = np.zeros(self.stored.n_rows, dtype=np.int64), 1
        for name in self.public:
            column = self.stored[name]
            if size * column.n_codes > 2**62:  # before the key overflows
                key = np.unique(key, return_inverse=True)[1].reshape(-1)
                size = int(key.max()) + 1
            key = key * column.n_codes + column.codes
            size *= column.n_codes
        return np.unique(key, return_inverse=True)[1].reshape(-1)

    @property
    def kinds(self) -> dict[str, Literal["numeric", "categorical"]]:
        """How the columns of the original rows are to be read; of one that is hidden it does not matter."""
        hidden = {name for name in self.public if self.is_hidden(name)}
        return {attribute.name: attribute.type for attribute in self.attributes if attribute.name not in hidden}

    # ---------------------------------------------------------------- how it is shown

    def __repr__(self) -> str:
        n_groups = self.n_groups
        groups = "1 group" if n_groups == 1 else f"{n_groups} groups"
        return f"<TableRelease: {self.n_rows} rows, {len(self.columns)} columns, {groups}>"

    def __str__(self) -> str:
        n_groups = self.n_groups
        lines = [
            f"{self.n_rows:,} rows{f' of {self.people:,} people' if self.people is not None else ''} in "
            f"{n_groups:,} {'group' if n_groups == 1 else 'groups'}; claimed: {self.requirement.describe()}"
        ]
        if self.left_out:
            lines.append(f"  {self.left_out:,} rows of the original table are left out")
        for name in self.columns:
            if name not in self.generalised:
                lines.append(f"  {name}: exact (private)")
                continue
            labels = [value.label for value in self.generalised[name]]
            hidden = int(self.stored[name].counts()[labels.index(ALL)]) if ALL in labels else 0
            told = f"{len(labels)} generalised values" if len(labels) > 1 else "1 generalised value"
            lines.append(f"  {name}: {told}, * in {hidden:,} rows")
        return "\n".join(lines)

    def to_frame(self, backend: Backend = "pandas", *, numbers: Numbers = "intervals") -> Any:
        """The published rows, in the order of the file.

        Parameters
        ----------
        backend
            The data frame library: ``"pandas"``, ``"polars"`` or ``"pyarrow"``.
        numbers
            How generalised numbers are written: ``"intervals"``, the texts of the file; ``"ends"``, two columns of
            numbers, ``age_low`` and ``age_high``; or ``"midpoints"``. Open ends are those of the stated domain.
        """
        columns = frame_columns(self.rows, self.public)
        return from_columns(number_columns(numbers, columns, self.rows, self.attributes, self.generalised), backend)

    def to_csv(self) -> str:
        """The file of rows: labels and private values, quoted only where needed, nothing where a value is missing."""
        return b"".join(self._csv_parts()).decode()

    def _csv_parts(self) -> Iterator[bytes]:
        return csv_parts(cells_of(self.stored, self.public), self.stored.weights)

    # ---------------------------------------------------------------- how it leaves

    def to_json(self, data_file: str | None = None) -> dict[str, Any]:
        """The release as plain JSON, without the audit's verdict; its rows are in the file that `files` names."""
        named = {} if data_file is None else {"name": data_file}
        return {
            "format": FORMAT,
            "kind": self.kind,
            "target": self.target,
            "attributes": [attribute.to_json() for attribute in self.attributes],
            "claims": [copy.deepcopy(dict(claim)) for claim in self.claims],
            **({"sensitive": list(self.sensitive)} if self.sensitive else {}),
            **({} if self.people is None else {"people": self.people}),
            **({"left_out": self.left_out} if self.left_out else {}),
            "columns": list(self.columns),
            "generalised": {name: [value.to_json() for value in self.generalised[name]] for name in self.public},
            "files": [{**named, "sha256": self.data_sha256, "rows": self.n_rows}],
        }

    @cached_property
    def data_sha256(self) -> str:
        """The SHA-256 of the file of rows."""
        digest = hashlib.sha256()
        for part in self._csv_parts():
            digest.update(part)
        return digest.hexdigest()

    @property
    def sha256(self) -> str:
        """A fingerprint of everything the release says, rows included; what its files are called does not count."""
        return fingerprint(self.to_json())

    def with_audit(self, audit: Any) -> TableRelease:
        """The same release with the verdict of an audit of exactly this content, these claims and this attacker."""
        verdict = verdict_of(audit, sha256=self.sha256, claims=self.claims, public=self.public)
        audited = replace(self, verdict=verdict)
        audited.__dict__["data_sha256"] = self.data_sha256  # the same rows: they are not read again
        return audited

    def save(self, path: str | Path, data_file: str | None = None) -> None:
        """Write the release and, beside it, its rows; refuse unless its own audit holds for exactly this content.

        Parameters
        ----------
        path
            The JSON file.
        data_file
            The name of the CSV file in the same folder; as the JSON file with ``.csv`` at its end unless given.
        """
        check_writable(self.verdict, self.sha256)
        assert self.verdict is not None
        path = Path(path)
        name = check_name(path.with_suffix(".csv").name if data_file is None else data_file)
        if name == path.name:
            raise ReleaseError("data-file", f"The rows of {str(path)!r} need a file of another name than its own.")
        body = self.to_json(name)
        body["audit"] = self.verdict.to_json()
        save_together(path, body, {path.parent / name: self._csv_parts()})


def frame_columns(rows: Table, public: Collection[str]) -> dict[str, Any]:
    """The cells of published rows as Arrow columns: labels, and private values in the type they had."""
    return {name: column.decode(dictionary=False) for name, column in cells_of(rows, public, typed=True).items()}


def fit_column(attribute: Attribute, column: Column) -> Column:
    """A column in the codes of its stated domain.

    Numbers outside the bounds are moved to them: the bounds of an undeclared private column are such that enough
    people are at or beyond each, and beyond them nothing is told.
    """
    if column.kind != attribute.type:
        raise DataError(
            "column-kind",
            f"Column {column.name!r} is {column.kind} here but {attribute.type} in the release. "
            f"Read it with kinds={{{column.name!r}: {attribute.type!r}}}.",
        )
    if attribute.type == "categorical":
        position = {value: code for code, value in enumerate(attribute.values)}
        code_of = np.array([position.get(value, -1) for value in column.names], dtype=np.int64)
        values: tuple[str, ...] | NDArray[np.float64] = attribute.values
    else:
        assert attribute.bounds is not None
        values, code_of = np.unique(np.clip(column.numbers, *attribute.bounds), return_inverse=True)
    codes = np.append(code_of.reshape(-1), len(values) if attribute.missing else -1)[column.codes]
    outside = column.rows(codes < 0)
    if outside:
        raise DataError(
            "unseen-value",
            f"Values outside the release's declared domain: {column.name!r} in {outside} row(s). "
            "Are these the rows it was made from?",
        )
    return Column(
        column.name,
        attribute.type,
        codes.astype(smallest_dtype(len(values) + attribute.missing)),
        values,
        missing=attribute.missing,
        integer=attribute.integer,
        bounds=attribute.bounds,
        labels=attribute.labels,
        weights=column.weights,
    )
