# SPDX-License-Identifier: Apache-2.0
"""Which columns tell: what changes if the attacker learns one more column, or knows one less."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from shoal.audit.auditor import audit
from shoal.audit.columns import AuditColumn
from shoal.audit.foreign.tables import AnonymisedTable
from shoal.audit.result import Audit
from shoal.audit.subject import audit_subject
from shoal.data.frames import Backend, from_columns
from shoal.errors import RequirementError
from shoal.privacy import And, KAnonymity, Requirement, as_requirement, needs_values, parts_of
from shoal.release import (
    EnsembleRelease,
    ModelRelease,
    ProjectionsRelease,
    RulesRelease,
    TableRelease,
    TreeRelease,
)

RELEASES = TreeRelease | EnsembleRelease | TableRelease | ProjectionsRelease | ModelRelease | RulesRelease

Ask = Callable[[Collection[str] | None, Requirement | int | None], Audit]


@dataclass(frozen=True)
class Told:
    """What an audit counts for one attacker.

    Attributes
    ----------
    groups, smallest_group
        How many groups he sees, and the people of the smallest that the promise is about (None: nothing private can
        be told at all).
    at_risk
        People in groups that break the requirement.
    certain
        People whose target is certain, or without one the first sensitive column; None where he knows it.
    """

    groups: int
    smallest_group: int | None
    at_risk: int
    certain: int | None

    @classmethod
    def of(cls, found: Audit) -> Told:
        """The counts of an audit."""
        certain = None if found.likeliest is None else found.groups.people_in(found.certain)
        return cls(found.n_groups, found.smallest_group, found.people_at_risk, certain)


@dataclass(frozen=True)
class ColumnEffect:
    """One column: what the attacker can tell where he knows it, and where he does not.

    `role` is what the audit took it for, so one of `known` and `unknown` is how things are today.
    """

    column: str
    role: Literal["public", "private"]
    known: Told
    unknown: Told

    @property
    def more_at_risk(self) -> int:
        """People whom knowing the column puts at risk. Negative where *not* knowing it tells more people apart."""
        return self.known.at_risk - self.unknown.at_risk

    @property
    def more_certain(self) -> int | None:
        """People whose target (or sensitive value) knowing the column makes certain; None for that column itself."""
        if self.known.certain is None or self.unknown.certain is None:
            return None
        return self.known.certain - self.unknown.certain

    def _rank(self) -> tuple[int, int, int]:
        return (self.more_at_risk, self.more_certain or 0, self.known.groups - self.unknown.groups)

    def to_json(self) -> dict[str, Any]:
        """The effect in numbers."""
        return {
            "column": self.column,
            "role": self.role,
            "known": dict(self.known.__dict__),
            "unknown": dict(self.unknown.__dict__),
            "more_at_risk": self.more_at_risk,
            "more_certain": self.more_certain,
        }


@dataclass(frozen=True)
class ColumnRanking:
    """Every column that was looked at, by how much it gives away.

    Attributes
    ----------
    today
        The audit with roles as they are.
    private
        The private columns, those first that would give most away if the attacker learned them.
    public
        The public columns, those first that give most away already.
    about
        The column that people may be certain of: the target, or the first sensitive one; None where there is neither.
    exact
        Whether counts of people of whom it is certain are exact today; otherwise they are upper bounds.
    """

    today: Told
    private: tuple[ColumnEffect, ...]
    public: tuple[ColumnEffect, ...]
    about: str | None
    exact: bool

    def shown(self, effects: Sequence[ColumnEffect]) -> list[tuple[str, ...]]:
        """Effects as rows of a table below a header: how it is today, and how it would be."""
        rows: list[tuple[str, ...]] = [
            ("column", "smallest group", "people at risk", f"{self.about} certain", "groups")
        ]
        for effect in effects:
            now, then = (effect.known, effect.unknown) if effect.role == "public" else (effect.unknown, effect.known)
            certain = "" if None in (now.certain, then.certain) else _change(now.certain, then.certain)
            risk = _change(now.at_risk, then.at_risk)
            size = _change(now.smallest_group, then.smallest_group)
            rows.append((effect.column, size, risk, certain, _change(now.groups, then.groups)))
        return rows if self.about is not None else [(*row[:3], row[4]) for row in rows]

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self) -> str:
        """Two tables: what each private column would give away, and what each public one does."""
        today = self.today
        certain = "" if today.certain is None else f", {self.about} certain for {today.certain:,}"
        lines = [f"today: smallest group {_size(today.smallest_group)}, {today.at_risk:,} people at risk{certain}"]
        for effects, title in (
            (self.private, "if the attacker learned one more column"),
            (self.public, "if he did not know a column that is public"),
        ):
            if effects:
                lines += ["", title, *_aligned(self.shown(effects))]
        if not self.exact and self.about is not None:
            lines += ["", "counts of people of whom something is certain are upper bounds"]
        return "\n".join(lines)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """One row a column, private ones first, each in order of what it gives away."""
        effects = [*self.private, *self.public]
        columns: dict[str, list[Any]] = {
            "column": [effect.column for effect in effects],
            "role": [effect.role for effect in effects],
        }
        for field in ("groups", "smallest_group", "at_risk", "certain"):
            for state in ("known", "unknown"):
                columns[f"{field}_if_{state}"] = [getattr(getattr(effect, state), field) for effect in effects]
        return from_columns(columns, backend)

    def to_json(self) -> dict[str, Any]:
        """The ranking in numbers."""
        return {
            "today": dict(self.today.__dict__),
            "private": [effect.to_json() for effect in self.private],
            "public": [effect.to_json() for effect in self.public],
            "about": self.about,
            "exact": self.exact,
        }


def rank_columns(
    release: Any,
    X: Any = None,
    y: Any = None,
    *,
    public: Collection[str] | None = None,
    privacy: Requirement | int | None = None,
    domain: Mapping[str, Sequence[Any]] | None = None,
    sensitive: Sequence[str] = (),
    person: str | None = None,
) -> ColumnRanking:
    """Rank the private columns by what each would give away, and the public ones by what they already do.

    Everything is audited again for an attacker who knows one column more, and one less. The parameters are those of
    `audit`.

    Returns
    -------
    ColumnRanking
        With `to_text`, `to_frame` and `to_json`.

    Notes
    -----
    Spans do not shrink and grow with what is public: not knowing a column can tell people apart whom it kept
    together (see "What is promised, and what is not"). So an effect can be negative. Where the attacker learns the
    only column that a requirement is about, only the group sizes that it asks for are left to ask.

    Examples
    --------
    >>> from shoal import AnonymousTreeClassifier, load_sample
    >>> from shoal.audit.telling import rank_columns
    >>> people = load_sample().table.select(["age", "sex", "smoker", "diabetes"])
    >>> tree = AnonymousTreeClassifier(privacy=100, public=["age", "sex"]).fit(people, "diabetes")
    >>> ranking = rank_columns(tree, people)
    >>> [effect.column for effect in ranking.private], ranking.today.at_risk
    (['diabetes', 'smoker'], 0)
    """
    ask, privacy = _asker(release, X, y, privacy, domain, sensitive, person)
    today = ask(public, privacy)
    looked_at = [column for column in today.columns if column.use not in ("person", "not used")]
    known = set(today.public)
    effects = [_effect(column, today, known, ask, privacy) for column in looked_at]
    effects.sort(key=ColumnEffect._rank, reverse=True)
    return ColumnRanking(
        Told.of(today),
        tuple(effect for effect in effects if effect.role == "private"),
        tuple(effect for effect in effects if effect.role == "public"),
        today.about,
        today.exact,
    )


def _asker(
    release: Any,
    X: Any,
    y: Any,
    privacy: Requirement | int | None,
    domain: Mapping[str, Sequence[Any]] | None,
    sensitive: Sequence[str],
    person: str | None,
) -> tuple[Ask, Requirement | int | None]:
    """What audits the same thing for another attacker, and the requirement it is asked for."""
    release = getattr(release, "release_", release)
    if isinstance(release, RELEASES):

        def ask_release(public: Collection[str] | None, asked: Requirement | int | None) -> Audit:
            return audit(release, X, y, public=public, privacy=asked, domain=domain, sensitive=sensitive, person=person)

        return ask_release, release.requirement if privacy is None else privacy

    def unknown(public: Collection[str] | None) -> list[str]:
        """The sensitive columns that the attacker does not know."""
        return [name for name in sensitive if public is None or name not in public]

    if isinstance(release, AnonymisedTable):

        def ask_table(public: Collection[str] | None, asked: Requirement | int | None) -> Audit:
            return audit(
                release, X, y, public=public, privacy=asked, domain=domain, sensitive=unknown(public), person=person
            )

        return ask_table, privacy
    from shoal.audit.foreign import read_model

    # read once: a large model takes longer to read than to ask
    subject, table = read_model(release, X, y, domain=domain, also=[*sensitive, *([person] if person else [])])

    def ask_subject(public: Collection[str] | None, asked: Requirement | int | None) -> Audit:
        return audit_subject(subject, table, public=public, privacy=asked, sensitive=unknown(public), person=person)

    return ask_subject, privacy


def _effect(
    column: AuditColumn, today: Audit, known: set[str], ask: Ask, privacy: Requirement | int | None
) -> ColumnEffect:
    changed = known - {column.name} if column.role == "public" else known | {column.name}
    try:
        other = ask(changed, privacy)
    except RequirementError as error:
        if error.code != "nothing-sensitive" or privacy is None:
            raise
        other = ask(changed, _sizes_asked(as_requirement(privacy)))
    with_it, without = (today, other) if column.role == "public" else (other, today)
    return ColumnEffect(column.name, column.role, Told.of(with_it), Told.of(without))


def _sizes_asked(requirement: Requirement) -> Requirement:
    """What a requirement asks of the sizes of groups, when there are no private values left to ask about."""
    parts = tuple(part for part in parts_of(requirement) if not needs_values(part))
    return And(parts) if parts else KAnonymity(1)


def _change(now: int | None, then: int | None) -> str:
    return _size(now) if now == then else f"{_size(now)} → {_size(then)}"


def _size(people: int | None) -> str:
    return "none" if people is None else f"{people:,}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
