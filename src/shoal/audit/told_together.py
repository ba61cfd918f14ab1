# SPDX-License-Identifier: Apache-2.0
"""The audit of parts of one table that are published together under PartAL: projections, or trees learned from them.

PartAL is about rejoined rows, so a verdict on it alone would say less than it seems to. This says the rest with it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from shoal.audit.asking import ask, conclude
from shoal.audit.columns import AuditColumn
from shoal.audit.finding import many
from shoal.audit.groups import Groups, Ids
from shoal.audit.rejoined import Rejoined, classes_left
from shoal.audit.result import Audit, Finding, Part
from shoal.audit.together.pinned import Pinned
from shoal.audit.whose import whose_rows
from shoal.data.table import Column
from shoal.errors import DataError, RequirementError
from shoal.privacy import (
    NOT_K_ANONYMITY,
    LikelyPartAL,
    PartAL,
    Requirement,
    asked_of_groups,
    needs_values,
    partal_asked,
)
from shoal.privacy._parameters import plain
from shoal.release import TableRelease, TreeRelease


@dataclass(frozen=True, eq=False)
class Counted:
    """What was counted of parts that are published together.

    Attributes
    ----------
    rejoined
        PAL, SAL and PartAL.
    groups
        The people whom all parts together cannot tell apart.
    of_row
        For each part the group of every row.
    linked
        The same, with parts that share a private column taken as one: by its values rows can be put together again.
    target
        The target, where it is private.
    pinned
        What the published counts pin down.
    named
        The columns of each part, the target left aside.
    likely
        What is asked of columns that an attacker knows by chance, and the level that is kept with that certainty.
    """

    rejoined: Rejoined
    groups: Groups
    of_row: Sequence[Ids]
    linked: Sequence[Ids]
    target: Column | None
    pinned: tuple[Pinned, ...]
    named: Sequence[tuple[str, ...]]
    likely: Sequence[tuple[LikelyPartAL, int]] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class TogetherAudit(Audit):
    """The audit of projections, or of trees learned from them, that are published together.

    It has everything an `Audit` has. Its groups are the people whom all parts together cannot tell apart, the worst
    case: how many people such a group has is not published. In addition:

    Attributes
    ----------
    rejoined
        PAL, SAL and PartAL, which are about rows and not about people.
    named
        The columns of each part, the target left aside.
    classes_left
        The fewest classes that are left for anybody when those of his group in every part are intersected; 1 means
        that somebody's class is certain. Parts that share a private column count as one. None where the target is
        public.
    class_certain
        For how many people it is certain so.
    certain_in_one
        For how many of them one part alone tells it already.
    pinned
        What the published counts pin down besides, column by column.
    likely
        For each `LikelyPartAL` that is asked, the PartAL that is kept with its certainty.
    """

    rejoined: Rejoined
    named: tuple[tuple[str, ...], ...]
    classes_left: int | None
    class_certain: int
    certain_in_one: int
    pinned: tuple[Pinned, ...]
    likely: tuple[int, ...]

    @property
    def people_alone(self) -> int:
        """How many people are alone in their group of all parts together."""
        return int((self.groups.people == 1).sum())

    def __str__(self) -> str:
        level = self.rejoined
        sal = "" if level.sal is None else f", SAL {level.sal:,}"
        head = f"{'holds' if self.holds else 'BREACH'}: PartAL {level.partal:,} (PAL {level.pal:,}{sal}) recounted"
        together = (
            f"  all together: {many(self.n_groups, 'group', 'groups')} of {many(self.n_people, 'person', 'people')}, "
            f"the smallest of {int(self.group_sizes[0]):,}; {many(self.people_alone, 'person', 'people')} alone"
        )
        if self.classes_left is not None:
            together += f"; class certain for {many(self.class_certain, 'person', 'people')}"
        return "\n".join([head, together, *super().__str__().splitlines()[1:]])

    def __repr__(self) -> str:
        return f"<TogetherAudit: {'holds' if self.holds else 'breach'}, PartAL {self.rejoined.partal}>"

    def to_json(self) -> dict[str, Any]:
        """The audit as plain JSON: counts and levels, no cell of the table."""
        return {
            **super().to_json(),
            "notice": NOT_K_ANONYMITY,
            "smallest_of_each": list(self.rejoined.groups),
            "pal": self.rejoined.pal,
            "sal": self.rejoined.sal,
            "partal": self.rejoined.partal,
            **({"likely_partal": list(self.likely)} if self.likely else {}),
            "classes_left": self.classes_left,
            "class_certain": self.class_certain,
            "certain_in_one": self.certain_in_one,
            "people_alone": self.people_alone,
            "pinned": [each.to_json() for each in self.pinned],
        }


def check_one_row_each(
    release: TableRelease | TreeRelease,
    X: Any,
    person: str | None,
    *,
    named: Collection[str],
    public: Collection[str] | None,
) -> None:
    """Refuse people with several rows: PartAL counts rows. The parameters are those of `whose_rows`."""
    whose = whose_rows(release, X, person, named=named, public=public)
    if whose is not None and int(whose.max()) + 1 < len(whose):
        raise DataError(
            "person-not-counted",
            "Projections, and trees learned from them, take every row for a person, and PartAL counts rows: people "
            "with several rows cannot be counted in them. Publish one row a person.",
        )


def judge(
    requirement: Requirement,
    counted: Counted,
    sensitive: Sequence[Column],
    findings: Sequence[Finding],
    *,
    what: str,
    part: str,
    public: tuple[str, ...],
    sha256: str,
    columns: tuple[AuditColumn, ...],
) -> TogetherAudit:
    """Ask what is asked, of rejoined rows and of groups, and say what all parts together tell.

    Parameters
    ----------
    sensitive
        The columns that a requirement about values is asked of.
    findings
        What was found of each part alone.
    part
        What a part is called.
    """
    groups = counted.groups
    counts_for = groups.n_bins > 1
    k, of_groups = partal_asked(requirement), asked_of_groups(requirement)
    bad = of_groups is not None  # PartAL promises nobody that his class is not certain; whatever else is asked does
    parts: tuple[Part, ...] = ()
    failing = np.zeros(len(groups), dtype=bool)
    found = list(findings)
    if of_groups is not None:
        if needs_values(of_groups) and not sensitive:
            raise RequirementError(
                "nothing-sensitive",
                "A requirement about private values needs a private target or a private column named as sensitive.",
            )
        parts, failing, more = ask(of_groups, list(sensitive), groups, counts_for)
        found += more
    if k is not None:
        kept = counted.rejoined.partal >= k
        parts = (Part(PartAL(k).describe(), "", kept, 0, 0), *parts)
        found += [] if kept else [_partal_fails(counted.rejoined, k, part)]
        found.append(Finding("partal-not-k-anonymity", "warning", NOT_K_ANONYMITY))
    for asked, level in counted.likely:
        parts = (*parts, Part(asked.describe(), "", level >= asked.k, 0, 0))
        found.append(_likely(asked, level))
    found.append(_product_groups(groups, part, least=k))
    left, certain, in_one = None, 0, 0
    if counted.target is not None:
        codes = counted.target.codes.astype(np.int64)
        of_person, alone = classes_left(counted.linked, codes)[0], classes_left(counted.of_row, codes)[1]
        left, certain, in_one = int(of_person.min()), int((of_person == 1).sum()), int((alone == 1).sum())
        if certain:
            found.append(_certain(counted.target.name, certain, in_one, groups.n_people, part, bad=bad))
    found += _pinned(counted, certain - in_one, part, bad=bad)
    audit = conclude(
        requirement,
        groups,
        counts_for,
        parts,
        failing,
        found,
        what=what,
        target=None,  # how the classes of such a group are mixed is published nowhere
        exact=False,
        public=public,
        sha256=sha256,
        columns=columns,
    )
    return TogetherAudit(
        **{field.name: getattr(audit, field.name) for field in fields(Audit)},
        rejoined=counted.rejoined,
        named=tuple(counted.named),
        classes_left=left,
        class_certain=certain,
        certain_in_one=in_one,
        pinned=counted.pinned,
        likely=tuple(level for _, level in counted.likely),
    )


def _partal_fails(rejoined: Rejoined, k: int, part: str) -> Finding:
    small = [str(number) for number, people in enumerate(rejoined.groups, 1) if people < k]
    why = []
    if small:
        why.append(f"{part} {' and '.join(small)} has a group of {rejoined.pal:,} (PAL)")
    if rejoined.sal is not None and rejoined.sal < k:
        why.append(f"of some rows of two {part}s joined again there are {rejoined.sal:,} (SAL)")
    return Finding("partal-fails", "breach", f"PartAL is {rejoined.partal:,} and not {k:,}: {', and '.join(why)}.")


def _likely(asked: LikelyPartAL, level: int) -> Finding:
    known = " and ".join(map(repr, asked.columns))
    told = (
        f"For whoever knows {known} by the chances that are stated, PartAL is at least {level:,} with a certainty of "
        f"{plain(asked.certainty, 100)} %"
    )
    if level >= asked.k:
        return Finding("likely-partal", "note", f"{told}.")
    return Finding("likely-partal-fails", "breach", f"{told}, and not {asked.k:,}.")


def _product_groups(groups: Groups, part: str, *, least: int | None) -> Finding:
    smallest, alone = int(groups.people.min()), int((groups.people == 1).sum())
    who = {0: "nobody is", 1: "one person is"}.get(alone, f"{alone:,} people are")
    told = (
        f"All {part}s together tell {many(len(groups), 'group', 'groups')} of people apart; the smallest has "
        f"{smallest:,}, and {who} alone."
    )
    small = least is not None and smallest < least
    more = " Whoever could tell which rows belong together would know all that is published of them." if small else ""
    return Finding("product-groups", "warning" if small else "note", told + more, alone)


def _certain(target: str, certain: int, in_one: int, people: int, part: str, *, bad: bool) -> Finding:
    told = f" One {part} alone tells it of {in_one:,} of them." if in_one else ""
    return Finding(
        "class-certain-together",
        "breach" if bad else "warning",
        f"Whoever has all {part}s knows {target!r} of {certain:,} of {many(people, 'person', 'people')} for certain: "
        f"it is the only value that all their groups have.{told}{'' if bad else ' PartAL does not stop that.'}",
        certain,
    )


def _pinned(counted: Counted, certain: int, part: str, *, bad: bool) -> list[Finding]:
    """What counts pin down and sets of values do not; of the target, who is certain already is told elsewhere."""
    findings = []
    for each in counted.pinned:
        is_target = counted.target is not None and each.column == counted.target.name
        more = each.people - certain if is_target else each.people
        if more > 0:
            findings.append(
                Finding(
                    "pinned-together",
                    "breach" if bad else "warning",
                    f"The published counts of all {part}s together pin down {each.column!r} of "
                    f"{many(more, 'person', 'people')}{' more' if is_target and certain else ''} for certain.",
                    more,
                )
            )
    return findings
