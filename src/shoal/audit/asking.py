# SPDX-License-Identifier: Apache-2.0
"""What every audit does with its groups, whatever kind of release they come from: ask, and conclude."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.audit.columns import AuditColumn
from shoal.audit.finding import many
from shoal.audit.groups import Groups
from shoal.audit.result import Audit, Finding, Part
from shoal.data.table import Column
from shoal.privacy import And, Requirement, claims, needs_values, parts_of

SEVERITIES = ("breach", "warning", "note")  # in the order they are told


def ask(
    requirement: Requirement, sensitive: list[Column | None], groups: Groups, counts_for: NDArray[np.bool_]
) -> tuple[tuple[Part, ...], NDArray[np.bool_], list[Finding]]:
    """Ask every part of the requirement about every sensitive column, in every group that counts."""
    parts: list[Part] = []
    findings: list[Finding] = []
    failing = np.zeros(len(groups), dtype=bool)
    for part in parts_of(requirement):
        for column in sensitive if needs_values(part) else [None]:
            counts = groups.people[:, None] if column is None else groups.by_value(column)
            totals = None if column is None else groups.totals(column)
            bad = ~And((part,)).holds(counts, totals) & counts_for
            failing |= bad
            about = "" if column is None else f" (of {column.name!r})"
            people = groups.people_in(bad)
            parts.append(Part(part.describe(), about, not bad.any(), int(bad.sum()), people))
            if bad.any():
                findings.append(
                    Finding(
                        "requirement-fails",
                        "breach",
                        f"'{part.describe()}'{about} fails for {many(people, 'person', 'people')} in "
                        f"{many(int(bad.sum()), 'group', 'groups')}; "
                        f"the smallest has {int(groups.people[bad].min()):,}.",
                        people,
                    )
                )
    return tuple(parts), failing, findings


def conclude(
    requirement: Requirement,
    groups: Groups,
    counts_for: NDArray[np.bool_],
    parts: tuple[Part, ...],
    failing: NDArray[np.bool_],
    findings: list[Finding],
    *,
    what: str,
    target: Column | None,
    exact: bool,
    public: tuple[str, ...],
    sha256: str,
    columns: tuple[AuditColumn, ...],
) -> Audit:
    """The audit's word: it holds where nothing found is a breach.

    Parameters
    ----------
    counts_for
        The groups that the promise is about; the others are exempt.
    parts, failing, findings
        What `ask` said, and whatever else was found.
    what
        What was audited, as it stands in a sentence.
    target
        The target, where it is private: then it is counted whose value an attacker knows.
    exact
        Whether an attacker can tell each group's histogram from the release, so that this count is no upper bound.
    columns
        Every column that was looked at.
    """
    exposed, confidence, top = (None, None, None)
    if target is not None:
        top = groups.most_frequent(target)
        exposed = groups.people_in(top == groups.people)
        confidence = float((top / groups.people).max())
        findings = findings + _exposure_finding(target.name, exposed, groups.n_people, exact)
    sizes = groups.people[counts_for]
    return Audit(
        holds=not any(finding.severity == "breach" for finding in findings),
        smallest_group=int(sizes.min()) if len(sizes) else None,
        n_people=groups.n_people,
        n_groups=len(groups),
        n_exempt=int((~counts_for).sum()),
        parts=parts,
        group_sizes=np.sort(groups.people),
        exposed=exposed,
        highest_confidence=confidence,
        exact=exact,
        findings=tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))),
        claims=tuple(claims(requirement)),
        public=public,
        sha256=sha256,
        what=what,
        groups=groups,
        fails=failing,
        exempt=~counts_for,
        about=None if target is None else target.name,
        likeliest=top,
        columns=columns,
    )


def worst_case() -> Finding:
    """What a count of tuples of leaves means."""
    return Finding(
        "worst-case-counts",
        "note",
        "People are counted by the leaves they can be in of all trees together. The model states numbers of people for "
        "each tree and none for such combinations, so an attacker knows less than that: it is the worst case.",
    )


def _exposure_finding(target: str, exposed: int, people: int, exact: bool) -> list[Finding]:
    if not exposed:
        return []
    bound = "" if exact else "up to "
    return [
        Finding(
            "target-certain",
            "warning",
            f"{bound}{exposed:,} of {people:,} people are in a group that is all of one {target!r}: their "
            "value is certain, and group sizes do not stop that. A requirement such as Confidence(0.95) would.",
            exposed,
        )
    ]
