# SPDX-License-Identifier: Apache-2.0
"""The ledger: everything published from one table so far; a new release is audited together with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from shoal.audit.auditor import audit
from shoal.audit.result import Audit, Finding
from shoal.audit.together.changes import Earlier, changes, columns_gone, may_hide_few, other_columns, other_table
from shoal.audit.together.joint import JointAudit, audit_together, known_together
from shoal.audit.together.released import Released
from shoal.audit.together.rows_before import RowsBefore, compare
from shoal.audit.together.rows_read import in_kind, kinds_of, read_rows
from shoal.audit.together.subjects import as_subject
from shoal.audit.whose import whose_rows
from shoal.data.table import Table
from shoal.errors import DataError
from shoal.release import ModelRelease, ProjectionsRelease, RulesRelease, TableRelease, load
from shoal.release.digests import table_fingerprint
from shoal.release.ledger import Entry, LedgerFile
from shoal.release.verdict import canonical

ROWS = "rows.bin"
Noticed = tuple[int, Finding]  # of which earlier release, and what
SAME = 0.5  # of the rows, or of the columns, of the smaller of two tables: from here on one is the other, changed


class Ledger:
    """Everything published from one table, in a folder ``.shoal`` beside the data.

    A new release is audited together with all earlier ones of the same table. The ledger is confidential: it holds
    copies of releases, and keyed digests of rows by which it notices that people were added or removed. It holds no
    cell that was not published.

    Attributes
    ----------
    entries
        What was published, in order.
    torn
        How many bytes a crash left of a line that does not count; they are cut off by the next `add`.

    Examples
    --------
    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> from shoal.audit.together.ledger import Ledger
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> release = AnonymousTreeClassifier(privacy=1500).fit(people, "diabetes").release_
    >>> ledger = Ledger.open(".")
    >>> ledger.add(release, people).verdict
    'holds'
    >>> [(entry.number, entry.what, entry.verdict) for entry in ledger.entries]
    [(1, 'a decision tree of 2 leaves', 'holds')]
    """

    def __init__(self, file: LedgerFile) -> None:
        self._file = file

    @classmethod
    def open(cls, folder: str | Path) -> Ledger:
        """The ledger of the data in a folder; nothing is written until something is added.

        A ledger that was changed by anybody without its key is refused.
        """
        return cls(LedgerFile(folder))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What was published, in order."""
        return self._file.entries

    @property
    def torn(self) -> int:
        """How many bytes a crash left of a line that does not count."""
        return self._file.torn

    @property
    def path(self) -> Path:
        """The file of lines."""
        return self._file.path

    def __repr__(self) -> str:
        return f"<Ledger: {len(self.entries)} release(s)>"

    def verify(self) -> None:
        """Check every line and every copy; refuse what is not as it was written."""
        self._file.verify()

    def release(self, number: int) -> Any:
        """An earlier release, from its copy."""
        if not 1 <= number <= len(self.entries):
            raise DataError("no-such-release", f"The ledger has {len(self.entries)} release(s); there is no {number}.")
        entry = self.entries[number - 1]
        for name in entry.files:
            self._file.part(entry, name)
        return load(self._file.copy_of(entry) / "release.json")

    def check(
        self,
        release: Any,
        X: Any,
        y: Any = None,
        *,
        public: Collection[str] | None = None,
        person: str | None = None,
    ) -> JointAudit:
        """Audit a release together with all earlier ones of the same table; nothing is written.

        Parameters
        ----------
        release
            A release, or a fitted model that carries one.
        X
            The rows: a data frame, an Arrow table, a NumPy array or a `Table`, with the columns of earlier releases.
        y
            The target's values, the name of its column in `X`, or None when `X` has a column of the target's name.
        public
            The columns an attacker may know; by default as all releases say. Where they differ, it must be said.
        person
            The column that tells people apart, where they have several rows. A release that counts people needs it.
        """
        return self._look(getattr(release, "release_", release), X, y, public, person)[0]

    def add(
        self,
        release: Any,
        X: Any,
        y: Any = None,
        *,
        public: Collection[str] | None = None,
        person: str | None = None,
        accept_not_proven: bool = False,
    ) -> JointAudit:
        """Audit a release together with all earlier ones and, if the promise holds, enter it.

        A release that is in the ledger already is not entered twice.

        Parameters
        ----------
        release, X, y, public, person
            As of `check`.
        accept_not_proven
            Enter it also if the verdict is "not proven": it was published, or will be. The entry says so, and later
            releases are audited together with it.
        """
        release = getattr(release, "release_", release)
        with self._file.writing():
            verdict, table = self._look(release, X, y, public, person)
            known = any(entry.release == release.sha256 for entry in self.entries)
            if not known and (verdict.holds or accept_not_proven):
                self._enter(release, table, verdict, person)
        return verdict

    def _enter(self, release: Any, table: Table, verdict: JointAudit, person: str | None) -> None:
        key = self._file.prepare()
        subject = as_subject(release)
        parts = copy_parts(release)
        parts[ROWS] = RowsBefore.of(subject, table, verdict.public, person, key).to_bytes()
        entry = Entry(
            number=len(self.entries) + 1,
            added=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            release=release.sha256,
            kind=release.kind,
            what=subject.what,
            verdict=verdict.verdict,
            people=table.n_rows,
            columns=tuple(table.names),
            public=verdict.public,
            table=table_fingerprint(table, key),
            files={name: sha256(raw).hexdigest() for name, raw in parts.items()},
        )
        self._file.append(entry, parts)

    # ---------------------------------------------------------------- looking

    def _look(
        self, release: Any, X: Any, y: Any, public: Collection[str] | None, person: str | None
    ) -> tuple[JointAudit, Table]:
        new = as_subject(release)
        others = [entry for entry in self.entries if entry.release != release.sha256]
        loaded = [as_subject(self.release(entry.number)) for entry in others]
        table = read_rows([*(subject.release for subject in loaded), release], X, y, person)
        earlier, noticed = self._same_table(others, loaded, table, person)
        subjects = [*(each.subject for each in earlier), new]
        for subject in subjects:
            whose_rows(subject.release, table, person, named=subject.roles, public=public)  # refuses what cannot be
        known = known_together(subjects, table, public, person=person)
        own = _own_audit(release, table, None if public is None else known, person)
        present = [None if not each.added else each.rows.present for each in earlier] + [None]
        numbers = [*(each.entry.number for each in earlier), self._number(release)]
        joint = audit_together(subjects, table, public=known, person=person, numbers=numbers, present=present)
        if numbers[-1] in joint.left_out or len(joint.left_out) == len(numbers) - 1:
            # nothing to be told together: the release, or all that came before it, tells nothing private
            joint = JointAudit.of(own, releases=joint.releases, pair=(), left_out=joint.left_out, pinned=())
            own = replace(own, findings=())  # they are those of the joint audit already
        if numbers[-1] in joint.left_out:
            noticed = []  # nor does it matter, then, what became of the others' rows
        else:
            counting = [each for each in earlier if each.entry.number not in joint.left_out]
            hidden = may_hide_few(counting, [*(each.subject for each in counting), new], known)
            for each in counting:
                found = changes(each, table, new, may_hide_few=hidden)
                noticed += [(each.entry.number, finding) for finding in found]
        return _with_findings(joint, own, noticed, numbers[-1]), table

    def _number(self, release: Any) -> int:
        """The number of a release, or the one that it would get."""
        there = [entry.number for entry in self.entries if entry.release == release.sha256]
        return there[0] if there else len(self.entries) + 1

    def _same_table(
        self, entries: Sequence[Entry], subjects: Sequence[Released], table: Table, person: str | None
    ) -> tuple[list[Earlier], list[Noticed]]:
        """The earlier releases of this table, and what there is to say of the others."""
        earlier: list[Earlier] = []
        noticed: list[Noticed] = []
        for entry, subject in zip(entries, subjects, strict=True):
            gone = [name for name in subject.columns if name not in table]
            common = len(set(entry.columns) & set(table)) / min(len(entry.columns), len(table))
            if gone and common < SAME:
                noticed.append((entry.number, other_columns(entry)))
                continue
            if gone:
                noticed.append((entry.number, columns_gone(entry, gone)))
                continue
            before = RowsBefore.from_bytes(self._file.part(entry, ROWS))
            rows = compare(before, entry.columns, subject, table, person, self._file.key)
            if rows.present.sum() < SAME * min(len(before.own), table.n_rows):
                noticed.append((entry.number, other_table(entry)))
                continue
            earlier.append(Earlier(entry, subject, rows))
        return earlier, noticed


def _own_audit(release: Any, table: Table, known: Collection[str] | None, person: str | None) -> Audit:
    """The audit of the new release alone."""
    kinds = kinds_of(release)
    fitted = Table(in_kind(column, kinds.get(name, column.kind)) for name, column in table.items())
    if known is not None and isinstance(release, TableRelease | ProjectionsRelease):
        known = [name for name in release.columns if name in known]
    if isinstance(release, RulesRelease):  # it takes every column for an item, or for one of cells
        own = [*as_subject(release).columns, *([] if person is None else [person])]
        fitted = fitted.select([name for name in own if name in fitted])
    return audit(release, fitted, public=known, person=person)


def _with_findings(joint: JointAudit, own: Audit, noticed: Sequence[Noticed], new: int) -> JointAudit:
    """The joint audit, with what was found of the new release alone and of the rows."""
    more = [finding for _, finding in noticed]
    findings = sorted([*own.findings, *joint.findings, *more], key=lambda finding: finding.severity != "breach")
    holds = not any(finding.severity == "breach" for finding in findings)
    pair = joint.pair
    if not holds and not pair:  # then it fails alone, or because of what became of an earlier one's rows
        blamed = [number for number, finding in noticed if finding.severity == "breach"]
        pair = (*blamed[:1], new) if own.holds else (new,)
    verdict: Literal["holds", "not proven"] = "holds" if holds else "not proven"
    return replace(joint, findings=tuple(findings), holds=holds, verdict=verdict, pair=pair)


def copy_parts(release: Any) -> dict[str, bytes]:
    """The files of a release, by name; they load without anything else."""
    if isinstance(release, TableRelease):
        return {"release.json": _json(release.to_json("release.csv")), "release.csv": release.to_csv().encode()}
    if isinstance(release, ProjectionsRelease):
        names = [f"release.{number}.csv" for number in range(1, len(release) + 1)]
        rows = {name: table.to_csv().encode() for name, table in zip(names, release.tables, strict=True)}
        return {"release.json": _json(release.to_json(names)), **rows}
    if isinstance(release, ModelRelease) and release.file is not None:
        return {"release.json": _json(release.to_json("release.skops")), "release.skops": release.file}
    return {"release.json": _json(release.to_json())}


def _json(body: dict[str, Any]) -> bytes:
    return canonical(body).encode()
