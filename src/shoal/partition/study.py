# SPDX-License-Identifier: Apache-2.0
"""What a `PartitionedClassifier` is asked and given, checked and encoded, and who judges its partitionings."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from shoal.anonymize.settle import make_task
from shoal.data.table import Table
from shoal.errors import DataError, PromiseError, RequirementError, closest
from shoal.partition.judge import TableJudge
from shoal.partition.options import GeneticOptions, Point
from shoal.partition.partitioning import Partitioning
from shoal.partition.prepare import Prepared, prepare
from shoal.partition.suppress import rows_to_leave_out
from shoal.privacy import (
    KAnonymity,
    LikelyPartAL,
    PartAL,
    Requirement,
    asked_of_groups,
    likely_asked,
    partal_asked,
)
from shoal.privacy._parameters import whole
from shoal.trees.estimator import checked_target, target_name

if TYPE_CHECKING:
    from shoal.partition.estimator import PartitionedClassifier


@dataclass(frozen=True, eq=False)
class Study:
    """A table, read and encoded, and who judges its partitionings."""

    table: Table
    target: str
    features: list[str]
    prepared: Prepared
    judge: TableJudge
    requirement: Requirement
    k: int
    left_out: NDArray[np.bool_] | None
    options: GeneticOptions
    likely: LikelyPartAL | None

    def claimed(self, names: Collection[str]) -> Requirement:
        """What is claimed where these columns are published: of others nothing is told, not even their chances."""
        likely = None if self.likely is None else self.likely.of(names)
        return self.requirement if likely is None else self.requirement & likely

    @property
    def withholdable(self) -> bool:
        """Whether the audit may withhold what the judge lets pass.

        Where anything is asked of groups, it also asks whom published counts pin down. Rows that were left out may come
        back once it is clear which columns are published.
        """
        return asked_of_groups(self.requirement) is not None or self.left_out is not None


def make_study(asked: PartitionedClassifier, table: Table, y: Any) -> Study:
    """Read and check everything, and encode the rows that are kept."""
    _check_publish(asked)
    folds = whole("PartitionedClassifier", "folds", asked.folds, least=2)
    requirement = PartAL(asked.privacy) if isinstance(asked.privacy, (int, np.integer)) else asked.privacy
    k = partal_asked(requirement)
    if k is None:
        raise RequirementError("requirement", "Projections claim PartAL: give PartAL(k), or a whole number for it.")
    if table.n_rows < k:
        raise PromiseError(
            "table-too-small",
            f"The table has {table.n_rows:,} row(s), so no projection keeps the level {k:,}. Use more people or a "
            "smaller k.",
        )
    if likely_asked(requirement):
        raise RequirementError(
            "parameter", "PartitionedClassifier: say chances= and certainty= instead of asking for LikelyPartAL."
        )
    together = asked_of_groups(requirement)
    target, features = target_name("PartitionedClassifier", table, y)
    task, given = make_task(
        table,
        checked_target(y),
        privacy=KAnonymity(k) if together is None else KAnonymity(k) & together,
        public=asked.public,
        sensitive=(),
        domain=asked.domain,
        person=None,
        hierarchies=asked.hierarchies,
        suppress=asked.suppress,
    )
    if not features:
        raise DataError("no-features", "There is no column beside the target to learn from.")
    at_least = k if asked.level_aware else 1
    prepared, left_out = prepare(task, k, at_least=at_least), None
    if task.budget:
        left_out = rows_to_leave_out(list(prepared.codes), prepared.n_values, prepared.quasi, k, task.budget)
        if left_out.any():
            prepared = prepare(replace(task, rows=task.rows.take(~left_out)), k, at_least=at_least)
        else:
            left_out = None
    seed, likely = _seed(asked), _likely(asked, prepared, k)
    judge = TableJudge(
        prepared,
        asked.estimator,
        n_folds=folds,
        seed=seed,
        also=[[_place(name, prepared.names) for name in names] for names in asked.other_public],
        each=asked.each,
        together=together,
        # whoever asks anything of groups of people is not served by projections that tell somebody's class
        open_classes=max(
            whole("PartitionedClassifier", "open_classes", asked.open_classes, least=1), 1 + (together is not None)
        ),
        likely=likely,
    )
    options = GeneticOptions(
        population=asked.population,
        generations=asked.generations,
        crossover=asked.crossover,
        mutation=_mutation(asked, prepared.names),
        overlapping=asked.overlapping,
        seed=seed,
        max_seconds=asked.max_seconds,
    )
    return Study(given, target, features, prepared, judge, requirement, k, left_out, options, likely)


def _likely(asked: PartitionedClassifier, prepared: Prepared, k: int) -> LikelyPartAL | None:
    """What an attacker may know by chance."""
    if not asked.chances:
        return None
    likely = LikelyPartAL(k, asked.chances, asked.certainty)
    for name in likely.columns:
        if _place(name, prepared.names) in prepared.quasi:
            raise RequirementError(
                "parameter",
                f"PartitionedClassifier: column {name!r} is public, so an attacker is taken to know it for certain: "
                "chances are of private columns.",
            )
    return likely


def _seed(asked: PartitionedClassifier) -> int:
    try:
        return int(check_random_state(asked.random_state).randint(np.iinfo(np.int32).max))
    except ValueError:
        raise RequirementError(
            "parameter",
            "PartitionedClassifier: random_state must be a whole number from 0 to 2**32 - 1, a RandomState or "
            f"None; got {asked.random_state!r}.",
        ) from None


def _check_publish(asked: PartitionedClassifier) -> None:
    if asked.publish not in ("projections", "trees"):
        raise RequirementError(
            "parameter", f"PartitionedClassifier: publish must be 'projections' or 'trees'; got {asked.publish!r}."
        )
    if asked.publish == "trees" and (
        asked.estimator != "c45"
        or asked.suppress
        or asked.overlapping
        or asked.hierarchies is not None
        or asked.chances
    ):
        raise RequirementError(
            "parameter",
            "PartitionedClassifier: publish='trees' needs estimator='c45', nobody left out, no overlapping, no "
            "hierarchies and no chances.",
        )


def chosen_point(asked: PartitionedClassifier, study: Study) -> Point | None:
    """The partitioning that was given, if it keeps what is asked; None where one is to be searched for."""
    if asked.partitioning is None:
        return None
    names = study.prepared.names
    given = Partitioning.of(len(names), [[_place(name, names) for name in own] for own in asked.partitioning])
    if not asked.overlapping and sum(map(len, asked.partitioning)) > given.used.bit_count():
        raise DataError("not-a-partitioning", "A column is in two projections though overlapping is off.")
    level = study.judge.level(given)
    if level < study.k or not study.judge.demand(given):
        raise PromiseError(
            "no-partitioning",
            f"The given projections have the level {level:,}; {study.requirement.describe()} is asked"
            f"{'' if level < study.k else ', and not all of that is kept'}. Ask for less, or let it search.",
        )
    return Point(given, float(study.judge.accuracies([given])[0]), level)


def _mutation(asked: PartitionedClassifier, names: Sequence[str]) -> float | list[float] | None:
    if not isinstance(asked.mutation, Mapping):
        return asked.mutation
    for name in asked.mutation:
        _place(name, names)
    return [float(asked.mutation.get(name, 1 / len(names))) for name in names]


def _place(name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise DataError("no-column", f"There is no column {name!r} to project on.{closest(name, names)}")
    return list(names).index(name)
