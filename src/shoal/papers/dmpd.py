# SPDX-License-Identifier: Apache-2.0
"""The experiments of Matatov, Rokach and Maimon (2010), Sect. 5.5 and 5.9: accuracy by level, beside TDS and TDR."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from shoal.anonymize import TopDownRefinement, TopDownSpecialization
from shoal.anonymize.settle import make_task
from shoal.data import Table, to_table
from shoal.papers.dmpd_data import StudyTable, read_study
from shoal.papers.dmpd_published import LEVELS
from shoal.partition import PartitionedClassifier
from shoal.partition.c45 import fit_c45
from shoal.partition.encoded import Encoded
from shoal.partition.judge import TableJudge
from shoal.partition.learners import Model
from shoal.partition.naive_bayes import fit_bayes
from shoal.partition.options import GeneticOptions
from shoal.partition.prepare import Encoder, prepare
from shoal.partition.search import search
from shoal.privacy import KAnonymity

FIT: Mapping[str, Callable[[Encoded, Sequence[int]], Model]] = {"c45": fit_c45, "bayes": fit_bayes}
FOLDS = 5  # of the wrapper

Variant = Literal["own", "pal", "cuts"]
METHOD = {"own": "dmpd", "pal": "dmpd, PAL in the fitness", "cuts": "dmpd, cuts of all rows"}
SUFFIX = {"own": "", "pal": "-pal", "cuts": "-cuts"}


@dataclass(frozen=True)
class Unit:
    """One repetition of 5 × 2 cv: a table whose top so many features are public, and one learner.

    Attributes
    ----------
    table
        One of `shoal.papers.dmpd_data.TABLES`.
    top
        How many features are public.
    learner
        ``"c45"`` or ``"bayes"``.
    repetition
        Which of the five times the rows are cut in halves.
    variant
        ``"own"``: PartAL counts in the search's fitness; ``"pal"``: only PAL does, as in the paper; ``"cuts"``: PartAL,
        and public numbers are put in intervals by all rows, as the paper seems to have done (see
        `StudyTable.cut_before`). Of the last two only partitionings are measured.
    """

    table: str
    top: int
    learner: str
    repetition: int
    variant: Variant = "own"

    @property
    def name(self) -> str:
        """A name for a file.

        >>> Unit("german", 9, "c45", 0).name
        'german-9-c45-0'
        """
        return f"{self.table}-{self.top}-{self.learner}-{self.repetition}" + SUFFIX[self.variant]

    def run(self, data: Path, options: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """What is measured: a line for each half, method and level; accuracies are those of the other half.

        Parameters
        ----------
        data
            The folder of the tables.
        options
            `population` and `generations` of the search; by default 50 and 100.
        """
        study = read_study(data, self.table)
        if self.variant == "cuts":
            study = study.cut_before(self.top)
        lines = []
        for half, (train, test) in enumerate(study.halves(self.repetition)):
            own = (_known(study.rows.take(train)), study.rows.take(test))
            found = self._partitioned(study, *own, seed=2 * self.repetition + half, options=options or {})
            if self.variant == "own":
                found.append({"method": "baseline", "accuracy": plain_accuracy(*own, study.target, self.learner)})
                found += self._top_down(study, *own)
            lines += [{**vars(self), "half": half, **line} for line in found]
        return lines

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels of k that are asked for, with 1 first."""
        return 1, *LEVELS[self.table.removesuffix("-original")]

    def _partitioned(
        self, study: StudyTable, train: Table, test: Table, *, seed: int, options: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        public = study.public(self.top)
        judge = make_judge(study, train, public, self.learner, seed=seed)
        truth = _classes(test, study.target)
        lines = []
        for k in self.levels:
            start = time.process_time()
            genetic = GeneticOptions(seed=seed, **options)
            found = search(judge, k, options=genetic, level_in_fitness=self.variant != "pal")
            seconds = time.process_time() - start
            model = PartitionedClassifier(
                self.learner,
                k,
                public=public,
                domain=study.domain,
                partitioning=found.best.partitioning.named([name for name in train.names if name != study.target]),
                folds=FOLDS,
                unseen="missing",
                random_state=seed,
            ).fit(train, study.target)
            lines.append(
                {
                    "method": METHOD[self.variant],
                    "k": k,
                    "accuracy": float((model.predict(test).astype(str) == truth).mean()),
                    "in_search": found.best.accuracy,
                    "level": found.best.level,
                    "subsets": [list(names) for names in model.partitioning_],
                    "seconds": round(seconds, 2),
                }
            )
        return lines

    def _top_down(self, study: StudyTable, train: Table, test: Table) -> list[dict[str, Any]]:
        """TDS with taxonomies, TDR without, and what is learned from their tables."""
        public = study.public(self.top)
        given = {name: study.hierarchies[name] for name in public if name in study.hierarchies}
        lines = []
        for k in self.levels[1:]:
            for name, method in (
                ("tds", TopDownSpecialization(k, public=public, domain=study.domain, hierarchies=given)),
                ("tdr", TopDownRefinement(k, public=public, domain=study.domain)),
            ):
                recoded = _recoded(train, method.fit_transform(train, study.target), public)
                others = _recoded(test, method.transform(test.drop([study.target])), public)
                accuracy = plain_accuracy(recoded, others, study.target, self.learner)
                lines.append({"method": name, "k": k, "accuracy": accuracy})
        return lines


def make_judge(study: StudyTable, train: Table, public: list[str], learner: str, *, seed: int) -> TableJudge:
    """Who judges the partitionings of some rows: the same for all levels, so that each subset is learned once."""
    task, _ = make_task(
        train,
        study.target,
        privacy=KAnonymity(1),
        public=public,
        sensitive=(),
        domain=study.domain,
        person=None,
        hierarchies=None,
    )
    return TableJudge(prepare(task, k=1), learner, n_folds=FOLDS, seed=seed)


def plain_accuracy(train: Table, test: Table, target: str, learner: str) -> float:
    """The accuracy on test rows of one model of all columns."""
    encoders = [Encoder.of(train[name], None) for name in train.names if name != target]
    data = Encoded.of(
        [each.encode(train[each.name]) for each in encoders],
        [each.n_known + 1 for each in encoders],
        train[target].codes,
        train[target].n_codes,
        numbers=[each.numbers for each in encoders],
        missing=[True] * len(encoders),
    )
    model = FIT[learner](data, range(len(encoders)))
    shares = model.probabilities([each.encode(test[each.name], "missing") for each in encoders])
    guessed = np.array(train[target].names)[shares.argmax(axis=1)]
    return float((guessed == _classes(test, target)).mean())


def _recoded(rows: Table, frame: Any, public: list[str]) -> Table:
    """Rows whose public columns are those of a data frame."""
    found = dict(to_table(frame, kinds=dict.fromkeys(public, "categorical"), only=public))
    return Table([found.get(name, column) for name, column in rows.items()])


def _classes(rows: Table, target: str) -> Any:
    return np.array(rows[target].names)[rows[target].codes]


def _known(rows: Table) -> Table:
    """Without numbers that no row has; which categories there are is known, as it is to Weka."""
    return Table([column.compact() if column.kind == "numeric" else column for column in rows.values()])
