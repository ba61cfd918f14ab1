# SPDX-License-Identifier: Apache-2.0
"""What ``shoal partition`` searches, publishes and tells."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.cli import output
from shoal.errors import PromiseError

if TYPE_CHECKING:
    from shoal.audit import Audit
    from shoal.data import Table
    from shoal.partition import PartitionedClassifier
    from shoal.partition.options import Generation, Point
    from shoal.partition.pareto import Frontier
    from shoal.privacy import Requirement
    from shoal.release import EnsembleRelease, ProjectionsRelease


def best_of(fronts: list[Frontier]) -> tuple[Point, ...]:
    """The frontier of several searches together."""
    from shoal.partition.pareto import non_dominated

    return non_dominated([point for each in fronts for point in each.points])


@dataclass(frozen=True)
class Made:
    """What was published, and its audit."""

    model: PartitionedClassifier
    release: ProjectionsRelease | EnsembleRelease
    verdict: Audit

    def say(self) -> None:
        """Print it: what is published, what the search says of itself, and the audit."""
        output.say(str(self.release))
        output.say()
        found = self.model.found_
        if found is not None:
            ended = "; interrupted" if found.interrupted else ""
            output.say(f"{found.looked_at:,} partitionings looked at, {found.judged:,} of them learned from{ended}")
        level, accuracy = self.model.level_, self.model.accuracy_
        certain = f", with a certainty of {self.model.certainty}" if self.model.chances else ""
        output.say(f"level (PartAL{certain}) {level:,}; accuracy {accuracy:.4f}, as the search measured it")
        output.say()
        output.say_audit(self.verdict)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain JSON."""
        return {
            "release": self.release.to_json(),
            "audit": self.verdict.to_json(),
            "level": self.model.level_,
            "accuracy": self.model.accuracy_,
            "projections": self.model.partitioning_,
            "interrupted": self.model.found_ is not None and self.model.found_.interrupted,
        }


def publish(rows: Table, target: str, requirement: Requirement, options: dict[str, Any], generations: int) -> Made:
    """Search, publish and audit."""
    from shoal.audit import audit
    from shoal.partition import PartitionedClassifier

    with watched(generations) as progress:
        model = PartitionedClassifier(privacy=requirement, progress=progress, **options).fit(rows, target)
    if model.release_ is None:
        raise PromiseError(
            "nothing-to-release",
            "No projection that keeps what is asked predicts better than always saying the most frequent class, so "
            "nothing is released. Ask for less, or allow rows to be left out (--suppress 0.01).",
        )
    return Made(model, model.release_, audit(model.release_, rows))


@contextlib.contextmanager
def watched(generations: int) -> Iterator[Any]:
    """What a search reports to: a bar with the best so far, where somebody is looking."""
    if not output.somebody_looks():
        yield None
        return
    done = 0
    with output.bar("Searching", generations) as move:

        def progress(now: Generation) -> None:
            nonlocal done
            done += 1
            best = now.best
            told = "nothing valid yet" if best is None else f"best {best.accuracy:.4f} at level {best.level:,}"
            move(done, told)

        yield progress


def say_frontier(fronts: list[Frontier], features: list[str]) -> None:
    """Print a frontier, a line a point."""
    lines = [
        (each["level"], each["accuracy"], len(each["projections"]), "knee" if each["knee"] else "")
        for each in frontier_told(fronts, features)
    ]
    header = ("level", "accuracy", "projections", "")
    output.say_table(header, lines, right=header[:3])
    if any(each.interrupted for each in fronts):
        output.say("The search was interrupted; this is what it had found.")
    output.say()


def frontier_told(fronts: list[Frontier], features: list[str]) -> list[dict[str, Any]]:
    """A frontier as plain JSON."""
    from shoal.partition.pareto import knees

    points = best_of(fronts)
    bent = set(knees(points))
    return [
        {
            "level": each.level,
            "accuracy": each.accuracy,
            "projections": each.partitioning.named(features),
            "knee": i in bent,
        }
        for i, each in enumerate(points)
    ]
