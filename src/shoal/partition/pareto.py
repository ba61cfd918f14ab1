# SPDX-License-Identifier: Apache-2.0
"""What each step of privacy costs: the frontier of accuracy and anonymity level (Sect. 4.4 and 5.8 of the paper).

References
----------
.. [1] E. Zitzler, M. Laumanns and L. Thiele, "SPEA2: Improving the strength Pareto evolutionary algorithm", 2001.
.. [2] J. Knowles, "A summary-attainment-surface plotting method", ISDA 2005.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError, PromiseError
from shoal.partition.options import Generation, GeneticOptions, Judge, Point, Stopped, check_pymoo
from shoal.partition.partitioning import Partitioning
from shoal.privacy._parameters import whole

PROMINENT = 0.05  # how far a knee stands out, where both axes go from 0 to 1


@dataclass(frozen=True)
class Frontier:
    """What a search for a frontier found.

    Attributes
    ----------
    points
        All partitionings looked at that no other one dominates, by ascending level and so by descending accuracy. Of
        several with the same accuracy and level there is one.
    stopped
        Why the search ended: all `generations` are done; it is `exhausted`, as mating gives nothing new; its `time` is
        over; or somebody `interrupted` it (Ctrl-C).
    looked_at
        How many different partitionings were looked at.
    judged
        Of how many the accuracy was asked.
    """

    points: tuple[Point, ...]
    stopped: Stopped
    looked_at: int
    judged: int

    @property
    def interrupted(self) -> bool:
        """Whether somebody ended the search before its time."""
        return self.stopped == "interrupted"


def frontier(
    judge: Judge,
    *,
    options: GeneticOptions | None = None,
    least: int = 1,
    demand: Callable[[Partitioning], bool] | None = None,
    algorithm: Literal["spea2", "nsga2"] = "spea2",
    progress: Callable[[Generation], None] | None = None,
) -> Frontier:
    """Search for all partitionings of which none is both more accurate and more private.

    Parameters
    ----------
    judge
        Says how private and how accurate a partitioning is.
    options
        How to search; by default 50 partitionings and 100 generations, seed 0.
    least
        Levels below this are of no interest: such partitionings are not trained.
    demand
        A further condition. What does not meet it is neither trained nor on the frontier.
    algorithm
        `spea2`, as in the paper, or `nsga2`, to check it against.
    progress
        Called after each generation.

    Returns
    -------
    Frontier
        Ctrl-C ends the search, and the frontier so far is returned, marked as interrupted.

    Notes
    -----
    Differs from the paper: the frontier is that of all partitionings looked at, not of an archive of limited size; the
    archive that breeds has as many as a population. Distances, by which SPEA2 spreads its archive, are taken between
    accuracies on a scale from always guessing the most frequent class to always being right, and logarithms of levels:
    from 5 to 10 is as far as from 500 to 1,000. What dominates what does not depend on it.
    """
    least = whole("frontier", "least", least, least=1)
    options = options or GeneticOptions()
    options.check(judge.n)
    empty = Partitioning(judge.n)
    if judge.level(empty) < least:
        raise PromiseError(
            "table-too-small",
            f"No partitioning has a level of {least:,}: even one without features has {judge.level(empty):,}.",
        )
    check_pymoo()
    from shoal.partition._genetic import breed

    started = time.perf_counter()
    archive = _Archive(judge, least, demand)

    def told(number: int) -> None:
        if progress is not None:
            progress(Generation(number, options.generations, time.perf_counter() - started, archive.points))

    stopped = breed(algorithm, judge.n, options, archive.objectives, told)
    return Frontier(archive.points, stopped, archive.looked_at, archive.judged)


class _Archive:
    """Gives partitionings their objectives, and keeps all that nothing dominates."""

    def __init__(self, judge: Judge, least: int, demand: Callable[[Partitioning], bool] | None) -> None:
        self.judge, self.least, self.demand = judge, least, demand
        empty = Partitioning(judge.n)
        self.guessing = float(judge.accuracies([empty])[0])
        self.highest = judge.level(empty)
        self.points: tuple[Point, ...] = (Point(empty, self.guessing, self.highest),)
        self.looked_at = self.judged = 0

    def objectives(self, partitionings: list[Partitioning]) -> NDArray[np.float64]:
        """Two numbers of each, to be made small: what is missing to be always right, and to be one group of all."""
        levels = [self.judge.level(each) for each in partitionings]
        passed = [
            number
            for number, (each, level) in enumerate(zip(partitionings, levels, strict=True))
            if level >= self.least and (self.demand is None or self.demand(each))
        ]
        accuracies = np.zeros(len(partitionings))  # and so what does not pass is dominated by all else
        if passed:
            accuracies[passed] = self.judge.accuracies([partitionings[number] for number in passed])
        new = [Point(partitionings[number], float(accuracies[number]), levels[number]) for number in passed]
        self.points = non_dominated([*self.points, *new])
        self.looked_at += len(partitionings)
        self.judged += len(passed)
        inaccurate = (1 - accuracies) / ((1 - self.guessing) or 1.0)
        exposed = 1 - np.log(np.maximum(levels, 1)) / (math.log(self.highest) or 1.0)
        return np.column_stack([inaccurate, exposed])


class Placed(Protocol):
    """Anything with an accuracy and a level."""

    @property
    def accuracy(self) -> float:
        """The higher the better."""

    @property
    def level(self) -> int:
        """The higher the more private."""


class Corner(NamedTuple):
    """A corner of an attainment surface: this accuracy was reached at this level."""

    accuracy: float
    level: int


class Attainment(NamedTuple):
    """What all of several runs reached, at least half of them, and at least one; each by ascending level."""

    worst: tuple[Corner, ...]
    median: tuple[Corner, ...]
    best: tuple[Corner, ...]


def non_dominated(points: Iterable[Point]) -> tuple[Point, ...]:
    """The points that no other one dominates: none has as high an accuracy and level and one of them higher.

    Of several with the same accuracy and level, the one with the fewest subsets stays, then the fewest features, then
    the first in canonical order. They are sorted by level.

    >>> points = [Point(Partitioning(1), *values) for values in [(0.805, 200), (0.90, 500), (0.88, 700)]]
    >>> [(each.accuracy, each.level) for each in non_dominated(points)]  # the example of Sect. 4.4
    [(0.9, 500), (0.88, 700)]
    """
    kept: list[Point] = []
    for point in sorted(points, key=lambda point: (-point.level, point.before)):
        if not kept or point.accuracy > kept[-1].accuracy:
            kept.append(point)
    return tuple(reversed(kept))


def attainment_surfaces(fronts: Sequence[Sequence[Placed]]) -> Attainment:
    """What independent runs reached: all of them (worst), at least half (median), at least one (best).

    A run reaches an accuracy at a level if it found a partitioning with no less of either.

    >>> one, two = [Corner(0.9, 5), Corner(0.7, 50)], [Corner(0.8, 10), Corner(0.7, 60)]
    >>> surfaces = attainment_surfaces([one, two])
    >>> [tuple(corner) for corner in surfaces.worst]
    [(0.8, 5), (0.7, 50)]
    >>> [tuple(corner) for corner in surfaces.best]
    [(0.9, 5), (0.8, 10), (0.7, 60)]
    """
    if not fronts or not all(fronts):
        raise DataError("no-frontier", "There is no frontier, or one without a point.")
    levels = sorted({point.level for front in fronts for point in front})
    reached = np.full((len(fronts), len(levels)), -np.inf)
    for run, front in enumerate(fronts):
        for point in front:
            own = reached[run, : np.searchsorted(levels, point.level, side="right")]
            np.maximum(own, point.accuracy, out=own)
    reached = -np.sort(-reached, axis=0)  # line r: what r + 1 runs reached
    half = (len(fronts) + 1) // 2
    return Attainment(*(_corners(levels, reached[line].tolist()) for line in (-1, half - 1, 0)))


def _corners(levels: Sequence[int], accuracies: Sequence[float]) -> tuple[Corner, ...]:
    """The corners of a surface: where with the next level the accuracy falls, or nothing is reached any more."""
    after = [*accuracies[1:], -math.inf]
    own = zip(levels, accuracies, after, strict=True)
    return tuple(Corner(accuracy, level) for level, accuracy, lower in own if accuracy > lower)


def knees(front: Sequence[Placed]) -> tuple[int, ...]:
    """The points of a frontier, by number, where it begins to fall faster: to go on from there costs more than before.

    The frontier is drawn with the logarithm of the level across and the accuracy upwards, both from 0 to 1, and a chord
    from its first point to its last. A knee is a point that is farther above the chord than its neighbours, and stands
    out by at least 0.05 (the prominence of a peak).

    >>> knees([Corner(0.90, 1), Corner(0.89, 100), Corner(0.70, 110), Corner(0.60, 1000)])
    (1,)
    """
    if len(front) < 3:
        return ()
    from scipy.signal import find_peaks

    ordered = sorted(range(len(front)), key=lambda number: front[number].level)
    across = np.log([max(front[number].level, 1) for number in ordered])
    upwards = np.array([front[number].accuracy for number in ordered])
    above = (across - across[0]) / (across[-1] - across[0]) + (upwards - upwards[-1]) / (upwards[0] - upwards[-1]) - 1
    return tuple(ordered[number] for number in find_peaks(above, height=PROMINENT, prominence=PROMINENT)[0].tolist())


def hypervolume(front: Sequence[Placed], reference: Placed) -> float:
    """The area that a frontier dominates, from a point that all of it is better than: a number to compare searches by.

    >>> hypervolume([Corner(0.9, 5), Corner(0.8, 10)], Corner(0.5, 0))  # 0.4 × 5 + 0.3 × 5
    3.5
    """
    check_pymoo()
    from pymoo.indicators.hv import HV

    places = np.array([[-point.accuracy, -point.level] for point in front], dtype=np.float64).reshape(-1, 2)
    area = HV(ref_point=np.array([-reference.accuracy, -float(reference.level)]))
    return float(area(places)) if len(places) else 0.0


def point_for(front: Sequence[Point], k: int) -> Point:
    """The most accurate point of a frontier whose level is at least k."""
    k = whole("point_for", "k", k, least=1)
    valid = [point for point in front if point.level >= k]
    if not valid:
        highest = max((point.level for point in front), default=0)
        raise PromiseError(
            "no-partitioning", f"No point of this frontier keeps the level {k:,}: the highest is {highest:,}."
        )
    return min(valid, key=lambda point: point.before)
