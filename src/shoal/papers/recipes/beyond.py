# SPDX-License-Identifier: Apache-2.0
"""Beyond the papers: their methods beside what one would take today, all at the same k.

The parameters of an experiment: `table` (one of `beyond_data.SOURCES`), `k`, `methods` (names of `METHODS`), `seeds` of
the splits, `rows` (at most so many to learn from; left out for all), `nodes` (when K-Optimize stops) and `weight` (how
many seconds a unit takes, about). Measured are right answers and AUC on test rows, people whose class is certain by
the audit, the smallest group, and CPU seconds. A method that refuses has no points.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # comes with scikit-learn

from shoal.anonymize.methods import make_method
from shoal.audit import Audit, audit
from shoal.data import Table
from shoal.data.target import as_categorical
from shoal.errors import ShoalError
from shoal.evaluate.accuracy import drawn_rows
from shoal.models import AnonymousModel
from shoal.papers.data import Data
from shoal.papers.recipes.beyond_data import Study, read_study
from shoal.papers.recipes.peers import dp_tree, one_hot_tree, plain_boosting
from shoal.papers.registry import Measured, Parameters, Point, Unit, recipe
from shoal.trees import AnonymousTreeClassifier

LEAF = 10  # people in a leaf of a tree that is learned from a published table: with fewer it learns single people
PANELS = {
    "accuracy": "right answers, %",
    "auc": "AUC, %",
    "exposed": "people whose class is certain, %",
    "group": "people in the smallest group",
    "seconds": "CPU seconds",
}


@dataclass(frozen=True)
class Learned:
    """What a method gives: the share of each class for each test row, the classes, and the audit if there is one."""

    shares: NDArray[np.float64]
    classes: Iterable[str]
    verdict: Audit | None


def _tree(study: Study, options: Parameters) -> Learned:
    tree = AnonymousTreeClassifier(
        options["k"], public=study.public, domain=study.domain, person=study.person, unknown="ancestor"
    ).fit(study.train, study.target)
    return Learned(tree.predict_proba(study.test), tree.classes_, _audited(tree.release_, study))


def _wrapped_boosting(study: Study, options: Parameters) -> Learned:
    model = AnonymousModel(
        HistGradientBoostingClassifier(random_state=0),
        options["k"],
        public=study.public,
        domain=study.domain,
        person=study.person,
        unknown="ancestor",
    ).fit(study.train, study.target)
    return Learned(model.predict_proba(study.test), model.classes_, _audited(model.release_, study))


def _after(method: str, study: Study, options: Parameters) -> Learned:
    """The same kind of tree, learned without a promise from rows that are drawn from a published table."""
    common = {
        "privacy": options["k"],
        "public": study.public,
        "domain": study.domain,
        "person": study.person,
        "reproducible": True,
    }
    own = {"cost": "cm", "max_seconds": None, "max_nodes": options["nodes"]} if method == "k-optimize" else None
    release = make_method(method, common, own).fit(study.train, study.target).release_
    rows = Table(
        # codes that look like numbers are drawn as such
        as_categorical(column) if study.train[name].kind == "categorical" and column.kind == "numeric" else column
        for name, column in drawn_rows(release).items()
    )
    tree = AnonymousTreeClassifier(LEAF, unknown="ancestor").fit(rows, study.target)
    return Learned(tree.predict_proba(study.test), tree.classes_, _audited(release, study))


def _one_hot(study: Study, options: Parameters) -> Learned:
    return Learned(*one_hot_tree(study, options["k"]))


def _without(study: Study, options: Parameters) -> Learned:
    return Learned(*plain_boosting(study), None)


def _dp(epsilon: float, study: Study, options: Parameters) -> Learned:
    return Learned(*dp_tree(study, epsilon, options["seed"]), None)


def _audited(release: Any, study: Study) -> Audit:
    return audit(release, study.train, person=study.person)


TABLE_METHODS = ("tree", "mondrian", "tds", "tdr", "incognito", "k-optimize", "one-dimensional")
METHODS: Mapping[str, Callable[[Study, Parameters], Learned]] = {
    "anonymous tree": _tree,
    "anonymous boosting": _wrapped_boosting,
    "min_samples_leaf tree": _one_hot,
    "boosting, no promise": _without,
    **{f"{name} table + tree": partial(_after, name) for name in TABLE_METHODS},
    **{f"DP tree, ε = {epsilon:g}": partial(_dp, epsilon) for epsilon in (0.1, 1.0, 10.0)},
}
WITHOUT_K = ("boosting, no promise", *(name for name in METHODS if name.startswith("DP")))


@recipe("beyond")
class Beyond:
    """A method on a split of a table, at a k."""

    sources = (
        "shoal.papers.adult",
        "shoal.papers.recipes.beyond",
        "shoal.papers.recipes.beyond_data",
        "shoal.papers.recipes.peers",
    )

    def units(self, parameters: Parameters) -> Iterable[Unit]:
        """A unit for each method, k and seed; methods without k once a seed."""
        return [
            Unit(
                {
                    "table": parameters["table"],
                    "method": method,
                    "k": k,
                    "seed": seed,
                    "rows": parameters.get("rows"),
                    "nodes": parameters["nodes"] if method.startswith("k-opt") else None,
                },
                (parameters["table"],),
                parameters["weight"],
            )
            for method in parameters["methods"]
            for k in ([None] if method in WITHOUT_K else parameters["k"])
            for seed in parameters["seeds"]
        ]

    def measure(self, options: Parameters, data: Data) -> Any:
        """What came of one method, or why it refused."""
        study = read_study(data.folder, options)
        start = time.process_time()
        try:
            # boosting brings threads of its own, which stand in each other's way where every core has a unit already
            with threadpool_limits(1):
                learned = METHODS[options["method"]](study, options)
        except (ShoalError, ImportError) as error:
            return {"refused": str(error)}
        seconds = time.process_time() - start
        verdict = learned.verdict
        return {
            **_scores(learned, study),
            "exposed": None if verdict is None else 100 * float(verdict.exposed_share or 0.0),
            "group": None if verdict is None else verdict.smallest_group,
            "seconds": seconds,
        }

    def points(self, parameters: Parameters, measured: Sequence[Measured]) -> Iterable[Point]:
        """The mean over seeds; of groups the smallest."""
        found: dict[tuple[str, Any], list[Any]] = {}
        for each in measured:
            for k in parameters["k"] if each.options["k"] is None else [each.options["k"]]:
                found.setdefault((each.options["method"], k), []).append(each.result)
        return [
            Point(method, k, (min if measure == "group" else fmean)(values), panel)
            for measure, panel in PANELS.items()
            for (method, k), results in found.items()
            if (values := [one[measure] for one in results if one.get(measure) is not None])
        ]


def _scores(learned: Learned, study: Study) -> dict[str, float]:
    """Right answers and the area under the curve: of several classes the mean of each against the others."""
    classes = np.array([str(name) for name in learned.classes])
    said = classes[learned.shares.argmax(axis=1)]
    areas, weights = [], []
    for place, name in enumerate(classes):
        own = study.truth == name
        if own.any() and not own.all():
            areas.append(roc_auc_score(own, learned.shares[:, place]))
            weights.append(own.mean())
    return {
        "accuracy": 100 * float((said == study.truth).mean()),
        "auc": 100 * float(np.average(areas, weights=weights)),
    }
