# SPDX-License-Identifier: Apache-2.0
"""What comes of an experiment: every published number beside ours, and every claim checked."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.papers.experiment import Claim, Experiment, Published
from shoal.papers.registry import Outcome, Point, Points, get_check

UNKEPT = ("does not hold", "depends")  # where a claim's file explains itself


@dataclass(frozen=True)
class Beside:
    """A published number and ours; None where it was not measured (in a quick run)."""

    published: Published
    ours: float | None

    @property
    def difference(self) -> float | None:
        """Ours less theirs."""
        return None if self.ours is None else self.ours - self.published.value

    @property
    def agrees(self) -> bool | None:
        """Whether it is within the tolerance."""
        return None if self.ours is None else self.published.agrees(self.ours)


@dataclass(frozen=True)
class Judged:
    """A claim and what its check found: in our numbers, and in those that the paper prints."""

    claim: Claim
    outcome: Outcome
    printed: Outcome

    @property
    def unborne(self) -> bool:
        """Whether the claim does not hold, neither here nor by the paper's own numbers."""
        return self.outcome.verdict in UNKEPT and self.printed.verdict in UNKEPT


def compare(experiment: Experiment, points: Points) -> list[Beside]:
    """Every number that the paper prints, with ours."""
    return [Beside(each, points.of(each.series, each.panel).get(each.x)) for each in experiment.published]


def judge(experiment: Experiment, points: Points) -> list[Judged]:
    """Every claim of an experiment, checked."""
    own = [Point(each.series, each.x, each.value, each.panel) for each in experiment.published]
    printed = Points(own, experiment.published)
    return [
        Judged(claim, *(get_check(claim.check)(found, **claim.options) for found in (points, printed)))
        for claim in experiment.claims
    ]
