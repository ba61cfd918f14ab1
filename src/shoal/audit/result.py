# SPDX-License-Identifier: Apache-2.0
"""What an audit says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.audit.columns import AuditColumn
from shoal.audit.finding import Finding, many
from shoal.audit.groups import Groups, Ids
from shoal.audit.measures import Measures
from shoal.audit.risk import Risk, risk_of
from shoal.audit.unknowns import MissingFigure
from shoal.errors import DataError
from shoal.release.rules import listed

__all__ = ["Audit", "Finding", "Part"]

SHOWN = 5  # failing groups described in words; the counts cover all of them
MOST_NAMES = 12  # public columns named in the text


@dataclass(frozen=True)
class Part:
    """One requirement, and whether every group keeps it."""

    requirement: str
    about: str
    holds: bool
    failing_groups: int
    failing_people: int

    def to_json(self) -> dict[str, Any]:
        """The verdict on one requirement as plain JSON."""
        return dict(self.__dict__)


@dataclass(frozen=True, eq=False)
class Audit:
    """An independent recount of a release's groups, and its findings.

    Attributes
    ----------
    holds
        Whether every requirement holds and what is released of the leaves is so of the rows.
    smallest_group
        People in the smallest group that the promise is about; None where every span is a single bin, so that
        nothing private can be told at all.
    n_people, n_groups, n_exempt
        People, groups, and groups whose span is a single bin (exempt: it tells nothing private).
    parts
        The verdict on each requirement.
    group_sizes
        The size of every group, ascending.
    exposed
        People whose target an attacker who also knows each group's class histogram can tell for certain; None where
        the target is public.
    highest_confidence
        That attacker's highest confidence in anybody's target.
    exact
        Whether the two are exact: groups share no bin, and the release states counts. Otherwise they are upper bounds.
    findings
        Breaches first.
    what
        What was audited, as it stands in a sentence.
    groups
        The group of every row, for looking further; not part of the JSON.
    fails, exempt
        For every group whether it breaks a requirement, and whether its span is a single bin.
    about, likeliest
        A private target with classes, or else the first sensitive column; and for every group how many of its people
        have its most frequent value there. None where there is neither.
    columns
        The columns that were looked at, each with its role, its use and its domain.
    missing
        How missing public values were counted, and what if they could match any; None where nothing public is missing.
    measures
        What the groups of each sensitive column reach, in every measure people ask for.
    count_in
        For each group how many people of another table would be in it; None where that cannot be said. Not part of
        the JSON.
    """

    holds: bool
    smallest_group: int | None
    n_people: int
    n_groups: int
    n_exempt: int
    parts: tuple[Part, ...]
    group_sizes: NDArray[np.int64]
    exposed: int | None
    highest_confidence: float | None
    exact: bool
    findings: tuple[Finding, ...]
    claims: tuple[Mapping[str, Any], ...]
    public: tuple[str, ...]
    sha256: str
    what: str
    groups: Groups
    fails: NDArray[np.bool_]
    exempt: NDArray[np.bool_]
    about: str | None
    likeliest: Ids | None
    columns: tuple[AuditColumn, ...]
    missing: MissingFigure | None = None
    measures: tuple[Measures, ...] = ()
    count_in: Callable[[Any], NDArray[np.int64]] | None = None

    @property
    def n_rows(self) -> int:
        """How many rows were recounted."""
        return self.groups.n_rows

    @property
    def unit(self) -> Literal["people", "rows"]:
        """What was counted: different people, or rows, each taken for a person."""
        return "rows" if self.groups.person is None else "people"

    @property
    def size_of_row(self) -> NDArray[np.int64]:
        """For every row how many people its group has."""
        return np.asarray(self.groups.people[self._group_of_row()])

    @property
    def rows_at_risk(self) -> NDArray[np.int64]:
        """The rows whose group breaks a requirement, in the order of the table."""
        return np.flatnonzero(self.fails[self._group_of_row()])

    def _group_of_row(self) -> Ids:
        if len(self.groups.of_row) != self.n_rows:
            raise DataError(
                "rows-elsewhere",
                "These rows were counted a batch at a time, and which group each is in was not kept. Audit them in "
                "memory to see single rows.",
            )
        return self.groups.of_row

    @property
    def risk(self) -> Risk:
        """The usual risks of being found; `shoal.audit.risks` takes a population and another threshold."""
        return risk_of(self.groups.people)

    @property
    def people_at_risk(self) -> int:
        """How many people are in groups that break a requirement."""
        return self.groups.people_in(self.fails)

    @property
    def certain(self) -> NDArray[np.bool_]:
        """For every group whether all its people have the same value of the column that `likeliest` is about."""
        if self.likeliest is None:
            return np.zeros(len(self.groups), dtype=bool)
        return np.asarray(self.likeliest == self.groups.people)

    @property
    def target(self) -> AuditColumn | None:
        """The target, if there is one."""
        return next((column for column in self.columns if column.use == "target"), None)

    @property
    def exposed_share(self) -> float | None:
        """The share of people that `exposed` is."""
        return None if self.exposed is None else self.exposed / self.n_people

    def __str__(self) -> str:
        if self.smallest_group is None:
            size = "every span is a single bin, which tells nothing private"
        else:
            size = f"smallest group {self.smallest_group:,}"
        recounted = f"{many(self.n_groups, 'group', 'groups')} of {many(self.n_people, 'person', 'people')} recounted"
        lines = [f"{'holds' if self.holds else 'BREACH'}: {size} ({recounted})"]
        for part in self.parts:
            people, groups = many(part.failing_people, "person", "people"), many(part.failing_groups, "group", "groups")
            failing = f"fails for {people} in {groups}"
            lines.append(f"  {part.requirement}{part.about}: {'holds' if part.holds else failing}")
        if self.exposed is not None and self.highest_confidence is not None:
            bound = "" if self.exact else "at most "
            known = f"{bound}{self.exposed:,} people ({self.exposed_share:.1%})" if self.exposed else "nobody's"
            lines.append(
                f"  target known for certain: {known}; highest confidence {bound}{self.highest_confidence:.1%}"
            )
        counted = "every row is taken for a person"
        if self.unit == "people":
            counted = f"counted: {self.n_rows:,} rows of {self.n_people:,} people"
        lines.append(f"  {counted}")
        shown = listed(self.public[:MOST_NAMES]) + (
            f" and {len(self.public) - MOST_NAMES} more" if len(self.public) > MOST_NAMES else ""
        )
        lines.append(f"  an attacker knows: {shown or 'no column'}")
        told = None if self.exposed is None or self.target is None else self.target.name  # in a line above
        lines += [f"  {measured}" for measured in self.measures if measured.column != told]
        if self.missing is not None:
            lines.append(f"  {self.missing}")
        # of several groups the same may be said: once is enough
        lines += dict.fromkeys(f"  {finding.severity}: {finding.message}" for finding in self.findings)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Audit: {'holds' if self.holds else 'breach'}, smallest group {self.smallest_group}>"

    def to_json(self) -> dict[str, Any]:
        """The audit as plain JSON: counts and nodes, no cell of the table."""
        sizes, groups = np.unique(self.group_sizes, return_counts=True)
        return {
            "what": self.what,
            "holds": self.holds,
            "smallest_group": self.smallest_group,
            "people": self.n_people,
            "rows": self.n_rows,
            "unit": self.unit,
            "groups": self.n_groups,
            "exempt_groups": self.n_exempt,
            "requirements": [part.to_json() for part in self.parts],
            "claims": [dict(claim) for claim in self.claims],
            "public": list(self.public),
            "columns": [column.to_json() for column in self.columns],
            "exposed": self.exposed,
            "exposed_share": self.exposed_share,
            "highest_confidence": self.highest_confidence,
            "exact": self.exact,
            "group_sizes": {"size": sizes.tolist(), "groups": groups.tolist()},
            "risk": self.risk.to_json(),
            "measures": [measured.to_json() for measured in self.measures],
            "missing": None if self.missing is None else self.missing.to_json(),
            "findings": [finding.to_json() for finding in self.findings],
            "release_sha256": self.sha256,
        }
