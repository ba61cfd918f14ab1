# SPDX-License-Identifier: Apache-2.0
"""What comes of an experiment: every published number beside ours, and every claim checked."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.papers.experiment import Claim, Experiment, Published
from shoal.papers.registry import Outcome, Points, get_check


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
    """A claim and what its check found."""

    claim: Claim
    outcome: Outcome


def compare(experiment: Experiment, points: Points) -> list[Beside]:
    """Every number that the paper prints, with ours."""
    return [Beside(each, points.of(each.series, each.panel).get(each.x)) for each in experiment.published]


def judge(experiment: Experiment, points: Points) -> list[Judged]:
    """Every claim of an experiment, checked."""
    return [Judged(claim, get_check(claim.check)(points, **claim.options)) for claim in experiment.claims]
