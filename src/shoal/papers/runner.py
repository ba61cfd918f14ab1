# SPDX-License-Identifier: Apache-2.0
"""The one runner of all experiments: what is not there yet is measured, on all cores, and kept as soon as it is."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from shoal.errors import DataError, ShoalError
from shoal.papers.data import Data, expected_data, find_data
from shoal.papers.experiment import Experiment
from shoal.papers.registry import Measured, Points, Unit, get_recipe
from shoal.papers.store import Kept, Store, key_of

# who says how many threads a library takes: OpenMP's, numba's, and two of linear algebra
THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
Tell = Callable[[float, float, str], None]  # seconds' worth done, of how many, and what was done


@dataclass(frozen=True)
class Planned:
    """A unit with its recipe and its key."""

    recipe: str
    unit: Unit
    key: str


@dataclass(frozen=True)
class Failure:
    """A unit that could not be measured, and why."""

    planned: Planned
    why: str


@dataclass(frozen=True)
class Done:
    """What is known of an experiment: its points, or how much of it is measured.

    Attributes
    ----------
    points
        None as long as units are missing.
    quick
        Whether these are the points of a quick run.
    units, measured
        How many units it has, and how many were measured.
    seconds
        The CPU seconds of all of them.
    kept
        The files of the units.
    """

    experiment: Experiment
    points: Points | None
    quick: bool
    units: int
    measured: int
    seconds: float
    kept: tuple[Kept, ...]


class Runs:
    """Experiments and their results in one folder.

    Parameters
    ----------
    folder
        Where results are kept; made when there is something to keep.
    data
        The data folder. None: only what comes with installed packages.
    """

    def __init__(self, folder: Path, data: Path | None = None) -> None:
        if data is not None and not data.is_dir():
            raise DataError("no-data", f"There is no data folder {str(data)!r}.")
        self.store = Store(folder / "units")
        self._made = folder / "data"
        self._folder = data

    def data(self, *experiments: Experiment) -> Data:
        """The checked data of experiments."""
        return find_data([name for each in experiments for name in each.data], self._folder, self._made)

    def plan(self, experiment: Experiment, data: Data, *, quick: bool) -> list[Planned]:
        """Every unit of an experiment, with its key."""
        units = experiment.units(quick=quick)
        return [Planned(experiment.recipe, unit, key_of(experiment.recipe, unit, data)) for unit in units]

    def run(
        self, experiments: Sequence[Experiment], *, quick: bool, jobs: int | None = None, tell: Tell | None = None
    ) -> list[Failure]:
        """Measure what is missing.

        Parameters
        ----------
        experiments
            Which.
        quick
            With the quick parameters.
        jobs
            How many processes; None: as many as there are cores; 1: this one.
        tell
            Called after every unit.

        Returns
        -------
        list of Failure
            Units that raised an error. All others are measured and kept.
        """
        waiting: dict[str, tuple[Planned, Data]] = {}
        total = done = 0.0
        for experiment in experiments:
            data = self.data(experiment)
            for planned in self.plan(experiment, data, quick=quick):
                if planned.key not in waiting:
                    waiting[planned.key] = planned, data
                    total += planned.unit.weight
        for key in [key for key in waiting if self.store.read(key) is not None]:
            done += waiting.pop(key)[0].unit.weight
        tell = tell or (lambda *_: None)
        tell(done, total, "")
        # the longest first, so that no core is idle at the end
        order = sorted(waiting.values(), key=lambda each: -each[0].unit.weight)
        if order:
            self.store.open()
        failures = []
        for planned, failure in _measure_all(order, self.store, jobs or _cores()):
            done += planned.unit.weight
            tell(done, total, _words(planned))
            if failure is not None:
                failures.append(failure)
        return failures

    def result(self, experiment: Experiment, *, quick: bool | None = None) -> Done:
        """What is known of an experiment: of a whole run if all of it is there, else of a quick one.

        Parameters
        ----------
        experiment
            Which.
        quick
            Only a quick or only a whole run.
        """
        found = []
        data = expected_data(experiment.data)
        for short in (False, True) if quick is None else (quick,):
            plan = self.plan(experiment, data, quick=short)
            kept = [self.store.read(each.key) for each in plan]
            there = [each for each in kept if each is not None]
            points = None
            if len(there) == len(plan):
                pairs = zip(plan, there, strict=True)
                measured = [Measured(each.unit.options, one.result, one.seconds) for each, one in pairs]
                points = self._points(experiment, measured, quick=short)
            seconds = sum(each.seconds for each in there)
            found.append(Done(experiment, points, short, len(plan), len(there), seconds, tuple(there)))
        whole = [each for each in found if each.points is not None]
        return whole[0] if whole else max(found, key=lambda each: each.measured)

    def _points(self, experiment: Experiment, measured: Sequence[Measured], *, quick: bool) -> Points:
        try:
            points = experiment.points(measured, quick=quick)
            if all(math.isfinite(each.value) for each in points):
                return points
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
            pass
        raise DataError(
            "odd-results",
            f"The results of the experiment {experiment.id!r} in {str(self.store.folder)!r} are not what its recipe "
            "measures: a file there was changed. Name another folder with --results, or remove this one.",
        )


def _cores() -> int:
    """How many cores this process may use, which may be fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _measure_all(
    order: Sequence[tuple[Planned, Data]], store: Store, jobs: int
) -> Iterable[tuple[Planned, Failure | None]]:
    if jobs == 1:
        for planned, data in order:
            why = _measure(planned, data, store.folder)
            yield planned, None if why is None else Failure(planned, why)
        return
    if not order:
        return
    # a fresh process: a fork of one that has threads may hang
    with _one_thread_each(), ProcessPoolExecutor(min(jobs, len(order)), get_context("spawn"), _begin) as pool:
        waiting: dict[Future[str | None], Planned] = {}
        try:
            for planned, data in order:
                waiting[pool.submit(_measure, planned, data, store.folder)] = planned
            for each in as_completed(waiting):
                planned = waiting.pop(each)
                why = each.result()
                yield planned, None if why is None else Failure(planned, why)
        except BrokenProcessPool:
            raise DataError(
                "process-lost",
                "A process that measured was ended from outside, perhaps for want of memory. What was measured is "
                "kept: run it again, with fewer --jobs.",
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """A process takes one core, since there are as many of them; libraries ask the environment as they are loaded."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _begin() -> None:
    """A process ends quietly with the one that started it."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(1))
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Wait for the parent to be gone: killed, it could not say so."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _measure(planned: Planned, data: Data, folder: Path) -> str | None:
    """Measure one unit and keep it; a sentence where it cannot be measured."""
    start = time.process_time()
    try:
        result: Any = get_recipe(planned.recipe).measure(planned.unit.options, data)
    except ShoalError as error:
        return str(error)
    except Exception as error:
        return f"unexpected {type(error).__name__}: {error}"
    Store(folder).write(planned.key, planned.recipe, planned.unit, result, time.process_time() - start)
    return None


def _words(planned: Planned) -> str:
    return f"{planned.recipe}: " + ", ".join(f"{key} {value}" for key, value in planned.unit.options.items())
