# SPDX-License-Identifier: Apache-2.0
"""What is audited, on one interface: a function from rows to bins, and the spans that follow from it.

A kind of model needs two answers: the bin of every row, and the span of every row for an attacker who knows some
columns. Everything else, groups and requirements and the verdict, is the same for all kinds and stands here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.audit.asking import ask, conclude
from shoal.audit.columns import rows_columns
from shoal.audit.finer import how_counted, merging_keeps, not_proven
from shoal.audit.groups import Groups, Ids, Spans, group_people, numbered, person_codes
from shoal.audit.measures import certain_values, measure
from shoal.audit.result import SHOWN, Audit, Finding
from shoal.audit.unknowns import MissingFigure, missing_figure
from shoal.data.domain import check_sensitive
from shoal.data.frames import to_table
from shoal.data.stack import stack
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical
from shoal.errors import DataError, RequirementError, RoleError, closest
from shoal.privacy import Requirement, as_requirement, least_people, needs_values
from shoal.release import Attribute


class Subject(ABC):
    """Something that was learned from a table and is to leave the house, as a function from rows to bins.

    Attributes
    ----------
    what
        What it is, as it stands in a sentence: "a random forest of 100 trees".
    domain
        The columns it looks at, in order, each with what an attacker knows of its values before he sees the model.
        The target is not among them, and roles in it are not looked at: who knows what is the auditor's to say.
    target
        The column whose value is part of every bin; None where there is none.
    numeric_target
        Whether the target is a number.
    exact
        Whether spans are those of the definition. Where not, people are grouped more finely than that, so that what
        holds for the groups holds for the model.
    by_value
        Whether people with different public values always have different spans.
    separable
        Whether every test asks one column only. Then two people have the same span in several such models taken
        together exactly when they have the same span in each.
    counted
        Whether what is released says how many people are in each bin, or may. Where not, what an attacker knows for
        certain is an upper bound.
    one_target
        Whether the target is all that was taught besides the columns of the domain. Where not, or where that is not
        known, no span counts as a single bin.
    kept
        What is said of rows that it keeps as they are, if any of what they hold is private.
    sha256
        A fingerprint of what is released.
    """

    what: str
    domain: Mapping[str, Attribute]
    target: str | None = None
    numeric_target: bool = False
    exact: bool = True
    by_value: bool = False
    separable: bool = False
    counted: bool = True
    one_target: bool = True
    kept: tuple[Finding, ...] = ()
    sha256: str

    @abstractmethod
    def bins(self, table: Table) -> Ids:
        """A number for the bin of every row, the target left aside; equal numbers, the same bin."""

    @abstractmethod
    def spans(self, table: Table, public: Collection[str]) -> Spans:
        """The span of every row for an attacker who knows `public`, the target left aside."""

    def group_words(self, table: Table, public: Collection[str], row: int) -> tuple[str, tuple[int, ...]]:
        """What the people of one row's group have in common for an outsider, and the nodes that set them apart."""
        seen = [name for name in self.domain if name in public]
        return (f"one combination of {', '.join(seen[:SHOWN])}{' …' if len(seen) > SHOWN else ''}", ())

    def with_gaps(self, table: Table) -> Table:
        """The rows with every public value missing that could be anything; see `shoal.audit.unknowns`."""
        return table

    def findings(
        self, table: Table, public: Collection[str], groups: Groups, requirement: Requirement
    ) -> list[Finding]:
        """What else there is to say of this kind of model."""
        return []


def audit_subject(
    subject: Subject,
    table: Table,
    *,
    public: Collection[str] | None = None,
    privacy: Requirement | int | None = None,
    sensitive: Sequence[str] = (),
    person: str | None = None,
    declared: Collection[str] = (),
) -> Audit:
    """Group the people of a table by their spans, and ask the requirement of every group.

    Parameters
    ----------
    subject
        What is audited.
    table
        The rows, with the columns of the subject's domain, its target, and those named below.
    public
        The columns an attacker knows; by default all but target, sensitive columns and `person`.
    privacy
        The requirement; a whole number k means `KAnonymity(k)`.
    sensitive
        Private columns besides a private target that requirements about values are asked of.
    person
        The column that tells people apart, where they may have several rows.
    declared
        The columns of whose domain something was declared; the others have it from the rows.
    """
    if privacy is None:
        raise RequirementError(
            "no-requirement", "Nothing is claimed of this, so say what to ask of it, for example privacy=10."
        )
    requirement = as_requirement(privacy)
    known = known_columns(subject, table, public, sensitive, person)
    whose = None if person is None else person_codes(table[person])
    target = None if subject.target is None else _target(subject, table[subject.target])
    spans = subject.spans(table, known)
    groups = _groups(subject, spans, target, subject.target in known, whose)
    counts_for = (groups.n_bins > 1) | (not subject.one_target)
    columns = _sensitive(subject, table, target, known, sensitive, requirement)
    parts, failing, findings = ask(requirement, columns, groups, counts_for)
    findings = _describe(subject, table, known, groups, failing) + findings
    findings += subject.findings(table, known, groups, requirement)
    if {*subject.domain, subject.target} - {None} - known:
        findings += [replace(each, people=groups.n_people) for each in subject.kept]
    if subject.exact and spans.finer is None:
        proven = True
    else:
        proven = merging_keeps(requirement, columns, groups)
        findings += how_counted(subject, spans.people_finer(whose), proven)
    if not proven and not failing.any():
        findings.append(not_proven(groups.n_people))
    told = target is not None and not subject.numeric_target and subject.target not in known
    measured = tuple(measure(groups, table[name]) for name in sensitive)
    findings += certain_values(measured, groups.n_people)
    if told and target is not None:
        measured = (measure(groups, target), *measured)
    verdict = conclude(
        requirement,
        groups,
        counts_for,
        parts,
        failing,
        findings,
        what=subject.what,
        target=target if told else None,
        exact=spans.disjoint and subject.exact and spans.finer is None and subject.counted,
        public=tuple(name for name in table if name in known),
        sha256=subject.sha256,
        columns=rows_columns(
            subject.domain.values(),
            known,
            target=None if subject.target is None else Attribute.of(table[subject.target], "private"),
            sensitive=[Attribute.of(table[name], "private") for name in sensitive],
            person=person,
            declared=declared,
        ),
    )
    if not told and sensitive:
        verdict = replace(verdict, about=sensitive[0], likeliest=groups.most_frequent(table[sensitive[0]]))
    return replace(
        verdict,
        measures=measured,
        missing=_missing(subject, table, known, groups, counts_for, least_people(requirement)),
        count_in=Elsewhere(subject, table, known, groups),
    )


def known_columns(
    subject: Subject, table: Table, public: Collection[str] | None, sensitive: Sequence[str], person: str | None
) -> frozenset[str]:
    """The columns an attacker knows: those named, or by default all that the subject looks at."""
    if public is None:
        return frozenset(subject.domain) - {subject.target, person, *sensitive}
    if isinstance(public, str):
        raise RoleError("roles", f"public must be a list of column names; got one string. Try [{public!r}].")
    for name in public:
        if name not in table and name not in subject.domain:
            raise RoleError("roles", f"There is no column {name!r} to be public.{closest(name, table)}")
        if name == person or name in sensitive:
            role = "person" if name == person else "sensitive"
            raise RoleError("roles", f"Column {name!r} is named both as public and as {role}.")
    return frozenset(public)


def _target(subject: Subject, column: Column) -> Column:
    if column.missing and int((column.codes == len(column.values)).sum()):
        n = int((column.codes == len(column.values)).sum())
        raise DataError("target-missing", f"The target {column.name!r} is missing in {n} row(s). Remove them first.")
    return column if subject.numeric_target else as_categorical(column)


def _groups(
    subject: Subject, spans: Spans, target: Column | None, target_is_public: bool, person: Ids | None
) -> Groups:
    if target is None:
        return group_people(spans, None, 1, target_is_public=False, person=person)
    # no span counts as single while the target is private: a number can be anything, and a class that everybody has
    # is not known beforehand
    n_classes = max(2, target.n_codes)
    return group_people(spans, target.codes, n_classes, target_is_public=target_is_public, person=person)


def _sensitive(
    subject: Subject,
    table: Table,
    target: Column | None,
    known: frozenset[str],
    sensitive: Sequence[str],
    requirement: Requirement,
) -> list[Column | None]:
    """The columns whose values the requirement is about; [None] where group sizes are all it asks."""
    if not needs_values(requirement):
        return [None]
    columns: list[Column | None] = []
    if target is not None and subject.target not in known and not subject.numeric_target:
        columns.append(target)
    for name in sensitive:
        check_sensitive(table[name])
        columns.append(table[name].compact())
    if not columns:
        raise RequirementError(
            "nothing-sensitive",
            "A requirement about private values needs a private target or a private column named as sensitive.",
        )
    return columns


def _missing(
    subject: Subject, table: Table, known: frozenset[str], groups: Groups, counts_for: NDArray[np.bool_], k: int
) -> MissingFigure | None:
    # of transactions, an item that nobody has is no column, and nothing of it is missing
    names = [name for name in subject.domain if name in known and name in table]
    also = [subject.target] if subject.target is not None and subject.target in known else []

    def spans_of(rows: Table) -> Ids:
        found = subject.spans(rows, known).of_row
        return found * rows[also[0]].n_codes + rows[also[0]].codes if also else found

    return missing_figure(
        subject.with_gaps(table),
        names,
        groups,
        counts_for,
        k,
        spans_of=None if subject.by_value else spans_of,
        values={name: subject.domain[name].values for name in names},
        also=also,
    )


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """How many people of another table would be in each group of an audit."""

    subject: Subject
    table: Table
    known: frozenset[str]
    groups: Groups

    def __call__(self, population: Any) -> Ids:
        """Group the rows of a population together with one row of each group; a row is a person there."""
        ours = self.table.take(self.groups.example)
        seen = [name for name in self.table if name in self.known]
        others = to_table(population, only=seen, kinds={name: self.table[name].kind for name in seen})
        for name in self.table:
            if name not in seen:  # no span depends on it
                others = others.with_column(ours[name].take(np.zeros(others.n_rows, dtype=np.int64)))
        both = stack(ours, others, self.table.names)
        keys = [self.subject.spans(both, self.known).of_row]
        if self.subject.target in self.known and self.subject.target is not None:
            keys.append(both[self.subject.target].codes)
        key = numbered(keys, both.n_rows)
        there = np.bincount(key[ours.n_rows :], minlength=int(key.max()) + 1)
        return np.asarray(there[key[: ours.n_rows]])


def _describe(
    subject: Subject, table: Table, known: frozenset[str], groups: Groups, failing: NDArray[np.bool_]
) -> list[Finding]:
    """The smallest failing groups in words."""
    numbers = np.flatnonzero(failing)
    numbers = numbers[np.argsort(groups.people[numbers], kind="stable")][:SHOWN]
    findings = []
    for number in numbers:
        people = int(groups.people[number])
        words, nodes = subject.group_words(table, known, int(groups.example[number]))
        size = f"A group of {people:,} {'person' if people == 1 else 'people'}"
        findings.append(Finding("group-fails", "breach", f"{size}: {words}.", people, nodes))
    return findings
