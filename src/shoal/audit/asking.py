# SPDX-License-Identifier: Apache-2.0
"""What every audit does with its groups, whatever kind of release they come from: ask, and conclude."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.audit.groups import Groups
from shoal.audit.result import Audit, Finding, Part
from shoal.data.table import Column
from shoal.privacy import And, Requirement, claims, needs_values, parts_of


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
            bad = ~And((part,)).holds(counts, counts.sum(axis=0)) & counts_for
            failing |= bad
            about = "" if column is None else f" (of {column.name!r})"
            people = int(groups.people[bad].sum())
            parts.append(Part(part.describe(), about, not bad.any(), int(bad.sum()), people))
            if bad.any():
                findings.append(
                    Finding(
                        "requirement-fails",
                        "breach",
                        f"'{part.describe()}'{about} fails for {people:,} people in {int(bad.sum()):,} group(s); "
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
    findings: list[Finding],
    *,
    target: Column | None,
    exact: bool,
    public: tuple[str, ...],
    sha256: str,
) -> Audit:
    """The audit's word: it holds where nothing found is a breach.

    Parameters
    ----------
    counts_for
        The groups that the promise is about; the others are exempt.
    parts, findings
        What `ask` said, and whatever else was found.
    target
        The target, where it is private: then it is counted whose value an attacker knows.
    exact
        Whether an attacker can tell each group's histogram from the release, so that this count is no upper bound.
    """
    exposed, confidence = (None, None)
    if target is not None:
        exposed, confidence = _attacker_knows(groups.by_value(target))
        findings = findings + _exposure_finding(target.name, exposed, len(groups.of_row), exact)
    sizes = groups.people[counts_for]
    return Audit(
        holds=not any(finding.severity == "breach" for finding in findings),
        smallest_group=int(sizes.min()) if len(sizes) else None,
        n_people=len(groups.of_row),
        n_groups=len(groups),
        n_exempt=int((~counts_for).sum()),
        parts=parts,
        group_sizes=np.sort(groups.people),
        exposed=exposed,
        highest_confidence=confidence,
        exact=exact,
        findings=tuple(sorted(findings, key=lambda finding: finding.severity != "breach")),
        claims=tuple(claims(requirement)),
        public=public,
        sha256=sha256,
    )


def _attacker_knows(by_class: NDArray[np.int64]) -> tuple[int, float]:
    """Whose class is certain to one who knows every group's class histogram, and his highest confidence."""
    people, top = by_class.sum(axis=1), by_class.max(axis=1)
    return int(people[top == people].sum()), float((top / people).max())


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
