# SPDX-License-Identifier: Apache-2.0
"""Several releases of one table as one: its bins are tuples of bins.

Nobody publishes how many people are in a tuple of bins, so this is the worst case: if the product keeps a promise,
the releases keep it together. Where a bin of each is a set of public values times a set of private ones, two people
have the same joint span exactly when they have the same span in each, so no tuple is ever made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from itertools import combinations
from operator import and_
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.audit.asking import ask, conclude
from shoal.audit.columns import AuditColumn, rows_columns
from shoal.audit.groups import Groups, Ids, Spans, group_people, person_codes
from shoal.audit.result import Audit, Finding, Part
from shoal.audit.subject import Subject
from shoal.audit.together.pinned import Pinned, TellsCounts, Told, pinned
from shoal.audit.together.product import Product, Rows
from shoal.audit.together.released import Released
from shoal.data.domain import check_sensitive
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical
from shoal.errors import DataError, RequirementError, RoleError, closest
from shoal.privacy import NOT_K_ANONYMITY, Requirement, as_requirement, asked_of_groups, needs_values, partal_asked
from shoal.release.verdict import fingerprint


@dataclass(frozen=True, eq=False, kw_only=True)
class JointAudit(Audit):
    """The audit of several releases of one table together.

    It has everything an `Audit` has, counted over joint groups, and in addition:

    Attributes
    ----------
    verdict
        ``"holds"`` where every joint group keeps every requirement, else ``"not proven"``: the product of releases is
        the worst case, so that one fails does not mean that somebody is given away.
    releases
        What was audited together, in words, by number.
    pair
        The numbers of the fewest releases that fail already; empty where the verdict is "holds".
    left_out
        The numbers of releases that tell nothing private, so that they do not count.
    pinned
        What the published counts pin down for certain, column by column.
    """

    verdict: Literal["holds", "not proven"]
    releases: Mapping[int, str]
    pair: tuple[int, ...]
    left_out: tuple[int, ...]
    pinned: tuple[Pinned, ...]

    @classmethod
    def of(cls, audit: Audit, **more: Any) -> JointAudit:
        """An audit, and what it takes to make it a joint one."""
        known = {field.name: getattr(audit, field.name) for field in fields(Audit)}
        return cls(**{**known, **more, "verdict": "holds" if audit.holds else "not proven"})

    def __str__(self) -> str:
        text = super().__str__()
        if not self.holds:
            text = text.replace("BREACH:", "not proven:", 1)
        # one release fails for certain, several together are only not proven to hold
        lines = [line.replace("breach: Together", "not proven: Together") for line in text.splitlines()]
        told = f"  {len(self.releases)} release(s) of this table"
        if self.left_out:
            told += f"; {len(self.left_out)} of them tell nothing private and do not count"
        return "\n".join([lines[0], told, *lines[1:]])

    def __repr__(self) -> str:
        return f"<JointAudit of {len(self.releases)} releases: {self.verdict}, smallest group {self.smallest_group}>"

    def to_json(self) -> dict[str, Any]:
        """The audit as plain JSON: counts and numbers of releases, no cell of the table."""
        return {
            **super().to_json(),
            "verdict": self.verdict,
            "releases": [{"number": number, "what": what} for number, what in self.releases.items()],
            "pair": list(self.pair),
            "left_out": list(self.left_out),
            "pinned": [each.to_json() for each in self.pinned],
        }


def audit_together(
    subjects: Sequence[Subject],
    table: Table,
    *,
    public: Collection[str] | None = None,
    privacy: Requirement | int | None = None,
    sensitive: Sequence[str] = (),
    person: str | None = None,
    numbers: Sequence[int] | None = None,
    present: Sequence[Rows | None] | None = None,
) -> JointAudit:
    """Audit several releases of one table as if they were one.

    Parameters
    ----------
    subjects
        What was released: `shoal.audit.together.released.as_subject` makes one of a release,
        `shoal.audit.foreign.read_model` of a model that somebody else trained.
    table
        The people, with every column that a subject looks at.
    public
        The columns an attacker knows; by default all that some release calls public and none calls private.
    privacy
        What to ask of every joint group; by default everything that the releases claim, of each what it claims it of.
    sensitive
        Private columns besides private targets that requirements about values are asked of.
    person
        The column that tells people apart, where they may have several rows.
    numbers
        What to call the subjects; 1, 2, … by default.
    present
        For each subject the rows it was learned from, as a mask; None for all.

    Examples
    --------
    Two trees of the same people, which ask for different columns:

    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> from shoal.audit.together.joint import audit_together
    >>> from shoal.audit.together.subjects import as_subject
    >>> people = load_sample().table
    >>> trees = [AnonymousTreeClassifier(privacy=200).fit(people.select([*columns, "diabetes"]), "diabetes")
    ...          for columns in (["age"], ["education"])]
    >>> both = audit_together([as_subject(tree.release_) for tree in trees], people)
    >>> both.verdict, both.pair, both.smallest_group < 200
    ('not proven', (1, 2), True)
    """
    if not subjects:
        raise DataError("not-a-release", "There is nothing to audit: give at least one release.")
    present = [None] * len(subjects) if present is None else present
    numbers = range(1, len(subjects) + 1) if numbers is None else numbers
    releases = dict(zip(numbers, (subject.what for subject in subjects), strict=True))
    known = known_together(subjects, table, public, sensitive, person)
    whose = None if person is None else person_codes(table[person])
    product = Product(subjects, table, known, present)
    which = product.telling
    asked = {i: _asked(subjects[i], table, known, privacy, sensitive) for i in which}
    spans = product.spans(which) if which else _everybody(table.n_rows)
    groups = group_people(spans, None, 1, target_is_public=False, person=whose)
    parts, failing = _ask(asked.values(), groups)
    found = pinned((numbers[i], told) for i, told in tellings(product, which))
    findings = [_pinned_finding(each, bool(failing[groups.of_row[each.rows]].any())) for each in found if each.people]
    pair: tuple[int, ...] = ()
    if failing.any():
        fewest = _fewest(product, list(asked.values()), whose)
        pair = tuple(numbers[i] for i in fewest.which)
        findings.insert(0, _pair_finding({number: releases[number] for number in pair}, fewest))
    findings += _joined_again({numbers[i]: _requirement(subjects[i], privacy) for i in which})
    if which and not product.exact(which):
        findings.append(
            Finding(
                "finer-groups",
                "note",
                "The joint spans cannot be worked out exactly, or the releases state different domains. People are "
                "grouped more finely than the releases tell them apart: what holds for these groups holds for them.",
            )
        )
    audit = conclude(
        reduce(and_, [_requirement(subjects[i], privacy) for i in which or range(len(subjects))]),
        groups,
        groups.n_bins > 1,
        parts,
        failing,
        findings,
        what=f"{len(subjects)} release(s) together",
        target=_last_target(subjects, table, known),
        exact=False,
        public=tuple(name for name in table if name in known),
        columns=_columns(subjects, known, person),
        sha256=fingerprint({"together": [subject.sha256 for subject in subjects]}),
    )
    left_out = tuple(number for i, number in enumerate(numbers) if i not in which)
    # who is in a joint group of one value is no more than a bound: what is certain is pinned down
    audit = replace(audit, findings=tuple(each for each in audit.findings if each.code != "target-certain"))
    return JointAudit.of(audit, releases=releases, pair=pair, left_out=left_out, pinned=found)


def known_together(
    subjects: Sequence[Subject],
    table: Table,
    public: Collection[str] | None,
    sensitive: Sequence[str] = (),
    person: str | None = None,
) -> frozenset[str]:
    """What one attacker knows who meets all releases: as the auditor says, else as all of them say."""
    if public is not None:
        if isinstance(public, str):
            raise RoleError("roles", f"public must be a list of column names; got one string. Try [{public!r}].")
        for name in public:
            if name not in table:
                raise RoleError("roles", f"There is no column {name!r} to be public.{closest(name, table)}")
        return frozenset(public)
    roles: dict[str, set[str]] = {}
    for subject in subjects:
        said = subject.roles if isinstance(subject, Released) else _usual_roles(subject, sensitive, person)
        for name, role in said.items():
            roles.setdefault(name, set()).add(role)
    both = sorted(name for name, said in roles.items() if len(said) > 1)
    if both:
        raise RoleError(
            "roles-differ",
            f"Column(s) {', '.join(map(repr, both))} are public in one release and private in another. "
            "Say what an attacker may know with public=.",
        )
    return frozenset(name for name, said in roles.items() if said == {"public"} and name in table)


def _usual_roles(subject: Subject, sensitive: Sequence[str], person: str | None) -> dict[str, str]:
    hidden = {subject.target, person, *sensitive}
    roles = {name: "private" if name in hidden else "public" for name in subject.domain}
    return roles if subject.target is None else {**roles, subject.target: "private"}


def _everybody(n_rows: int) -> Spans:
    """Where nothing private is told, everybody is in one span of one bin."""
    return Spans.numbered(np.zeros(n_rows, dtype=np.int64), np.ones(n_rows, dtype=bool), disjoint=True)


Asked = tuple[Requirement | None, list[Column | None]]  # nothing where a subject claims PartAL only


def _requirement(subject: Subject, privacy: Requirement | int | None) -> Requirement:
    if privacy is not None:
        return as_requirement(privacy)
    if isinstance(subject, Released):
        return subject.requirement
    raise RequirementError(
        "no-requirement", "This model claims nothing, so say what to ask of it, for example privacy=10."
    )


def _asked(
    subject: Subject,
    table: Table,
    known: frozenset[str],
    privacy: Requirement | int | None,
    sensitive: Sequence[str],
) -> Asked:
    """What is asked because of one subject, and of which columns; [None] where sizes are all it asks."""
    requirement = asked_of_groups(_requirement(subject, privacy))
    if requirement is None or not needs_values(requirement):
        return requirement, [None]
    columns: list[Column | None] = []
    target = subject.target
    if target is not None and target not in known and not subject.numeric_target:
        columns.append(as_categorical(table[target]))
    own = subject.sensitive if isinstance(subject, Released) else ()
    for name in dict.fromkeys((*own, *sensitive)):
        if name not in known and name != target:
            check_sensitive(table[name])
            columns.append(table[name].compact())
    if not columns:
        raise RequirementError(
            "nothing-sensitive",
            "A requirement about private values needs a private target or a private column named as sensitive.",
        )
    return requirement, columns


def _ask(asked: Iterable[Asked], groups: Groups) -> tuple[tuple[Part, ...], NDArray[np.bool_]]:
    """Ask everything that is asked, once each, of every group that is not exempt."""
    parts: dict[tuple[str, str], Part] = {}
    failing = np.zeros(len(groups), dtype=bool)
    for requirement, columns in asked:
        if requirement is None:
            continue
        found, bad, _ = ask(requirement, columns, groups, groups.n_bins > 1)
        failing |= bad
        parts |= {(part.requirement, part.about): part for part in found}
    return tuple(parts.values()), failing


@dataclass(frozen=True, eq=False)
class _Asked:
    """Some of the subjects taken together, and how what all of them are asked goes."""

    which: Sequence[int]
    groups: Groups
    parts: tuple[Part, ...]
    failing: NDArray[np.bool_]


def _fewest(product: Product, asked: Sequence[Asked], whose: Ids | None) -> _Asked:
    """The fewest subjects that fail already what all of them are asked; the last ones first."""
    telling = product.telling

    def ask_of(which: Sequence[int]) -> _Asked:
        groups = group_people(product.spans(which), None, 1, target_is_public=False, person=whose)
        return _Asked(which, groups, *_ask(asked, groups))

    for size in (1, 2):
        for chosen in combinations(telling[::-1], size):
            found = ask_of(chosen[::-1])
            if found.failing.any():
                return found
    # finer groups fail wherever coarser ones do, so leaving out one after the other ends at a smallest set
    found = ask_of(telling)
    for i in telling:
        fewer = ask_of([j for j in found.which if j != i])
        if fewer.failing.any():
            found = fewer
    return found


def tellings(product: Product, which: Sequence[int]) -> Iterator[tuple[int, Told]]:
    """What the counts of each release tell, where all the people it was learned from are here."""
    for i in which:
        subject, rows = product.subjects[i], product.present[i]
        rows = np.ones(product.table.n_rows, dtype=bool) if rows is None else rows
        if isinstance(subject, TellsCounts) and subject.n_people == rows.sum():
            for told in subject.told(product.table.take(rows), product.public):
                yield i, told.spread(rows)


def _joined_again(claims: Mapping[int, Requirement]) -> list[Finding]:
    """PartAL is about the rows of one release joined again; of several, nothing like it is worked out."""
    which = [str(number) for number, requirement in claims.items() if partal_asked(requirement) is not None]
    if not which:
        return []
    findings = [Finding("partal-not-k-anonymity", "warning", NOT_K_ANONYMITY)]
    if len(which) > 1:
        findings.append(
            Finding(
                "together-fails",
                "breach",
                f"Together, releases {' and '.join(which)} claim PartAL, each of its own rows joined again: how many "
                "rows all of them join to is not worked out. Publish these columns as projections of one release.",
            )
        )
    return findings


def _pair_finding(pair: Mapping[int, str], found: _Asked) -> Finding:
    """The fewest releases that fail, and whom they set apart."""
    named = " and ".join(f"release {number} ({what})" for number, what in pair.items())
    # what one release breaks alone is what another one claims
    how = f"Together, {named}" if len(pair) > 1 else f"Together with what the others claim, {named}"
    people, smallest = found.groups.people_in(found.failing), int(found.groups.people[found.failing].min())
    broken = "; ".join(f"{part.requirement}{part.about}" for part in found.parts if not part.holds)
    return Finding(
        "together-fails",
        "breach",
        f"{how} may set {people:,} {'person' if people == 1 else 'people'} in {int(found.failing.sum()):,} joint "
        f"group(s) apart, the smallest of {smallest:,}. Not proven: {broken}.",
        people,
    )


def _pinned_finding(found: Pinned, in_failing_group: bool) -> Finding:
    """Whose private value is certain. In groups that keep what is asked it is what the requirement does not stop."""
    return Finding(
        "pinned-together",
        "breach" if in_failing_group else "warning",
        f"The published counts of releases {' and '.join(map(str, found.releases))} together pin down "
        f"{found.column!r} of {found.people:,} {'person' if found.people == 1 else 'people'} for certain, though none "
        "of them does alone.",
        found.people,
    )


def _columns(subjects: Sequence[Subject], known: frozenset[str], person: str | None) -> tuple[AuditColumn, ...]:
    """The columns that some release looks at; where several state a domain, as the last one does."""
    domain = {name: attribute for subject in subjects for name, attribute in subject.domain.items()}
    return rows_columns(domain.values(), known, target=None, sensitive=(), person=person, declared=domain)


def _last_target(subjects: Sequence[Subject], table: Table, known: frozenset[str]) -> Column | None:
    target = subjects[-1].target
    if target is None or target in known or subjects[-1].numeric_target:
        return None
    return as_categorical(table[target])
