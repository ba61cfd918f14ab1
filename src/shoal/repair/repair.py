# SPDX-License-Identifier: Apache-2.0
"""Repair: collapse as little of a tree or a forest as a requirement needs, and release what is left."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from shoal.audit import Audit, audit
from shoal.data.table import Column, Table
from shoal.errors import DataError, PromiseError
from shoal.privacy import Requirement
from shoal.release import EnsembleRelease, TreeRelease
from shoal.repair.job import Job, answers_of, classes_of, of_foreign, of_release
from shoal.repair.merge import merge_branches
from shoal.repair.promise import Promise
from shoal.repair.prune import prune as prune_tree
from shoal.repair.prune import worth_keeping
from shoal.repair.publish import publish
from shoal.repair.regrow import Kept, Regrowth
from shoal.trees.publish import count_people
from shoal.trees.spans import root_refusal

PERSON = "\x00person"  # a name that no column has
Method = Literal["splits", "atp"]


@dataclass(frozen=True, eq=False)
class Repair:
    """A repaired model and what the repair cost.

    Attributes
    ----------
    release
        What may leave: a `TreeRelease`, or an `EnsembleRelease` for a forest. It carries its audit.
    audit
        The audit of the release.
    before
        The audit of the model as it was, for the same requirement and attacker.
    trees, leaves
        Of the model and of the release.
    accuracy
        On the rows, of the model and of the release.
    test_accuracy
        The same on the test rows; None where there are none.
    """

    release: TreeRelease | EnsembleRelease
    audit: Audit
    before: Audit
    trees: tuple[int, int]
    leaves: tuple[int, int]
    accuracy: tuple[float, float]
    test_accuracy: tuple[float, float] | None

    def __str__(self) -> str:
        lines = [
            f"before: {self._verdict(self.before)}; {_number(self.leaves[0], 'leaf', 'leaves')}"
            + (f" in {_number(self.trees[0], 'tree', 'trees')}" if self.trees[0] > 1 else ""),
            f"after:  {self._verdict(self.audit)}; {_number(self.leaves[1], 'leaf', 'leaves')}"
            + (f" in {_number(self.trees[1], 'tree', 'trees')}" if self.trees[0] > 1 else ""),
            f"accuracy on the rows: {_cost(*self.accuracy)}",
        ]
        if self.test_accuracy is not None:
            lines.append(f"accuracy on the test rows: {_cost(*self.test_accuracy)}")
        return "\n".join(lines)

    @staticmethod
    def _verdict(audit: Audit) -> str:
        return f"{'holds' if audit.holds else 'BREACH'}, smallest group {audit.smallest_group}"

    def __repr__(self) -> str:
        return f"<Repair: {self.leaves[0]} leaves to {self.leaves[1]}>"

    def to_json(self) -> dict[str, Any]:
        """The repair in numbers."""
        return {
            "before": self.before.to_json(),
            "after": self.audit.to_json(),
            "trees": list(self.trees),
            "leaves": list(self.leaves),
            "accuracy": list(self.accuracy),
            "test_accuracy": None if self.test_accuracy is None else list(self.test_accuracy),
        }


def _number(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _cost(before: float, after: float) -> str:
    return f"{before:.1%} before, {after:.1%} after ({100 * (after - before):+.1f} points)"


def repair(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    privacy: Requirement | int | None = None,
    public: Collection[str] | None = None,
    target_role: Literal["public", "private"] = "private",
    sensitive: Sequence[str] = (),
    domain: Mapping[str, Sequence[Any]] | None = None,
    person: str | None = None,
    test: tuple[Any, Any] | None = None,
    prune: bool = True,
    method: Method = "splits",
) -> Repair:
    """Collapse as little of a tree or a forest as a requirement needs, and release what is left.

    Parameters
    ----------
    model
        A tree or a forest of scikit-learn, also at the end of a pipeline, a J48 tree as Weka prints it (`J48Model`), or
        a release of trees.
    X, y
        The rows it was learned from, and the target's values or the name of its column in `X`.
    privacy
        The requirement; a whole number k means `KAnonymity(k)`. Of a release, by default what it claims.
    public
        The columns an attacker may know; by default every column but the target, or what a release says.
    target_role
        Whether an attacker knows the target. Of a release it is what that says.
    sensitive
        Private columns besides the target that requirements about values are asked of.
    domain
        Declared values or bounds of columns. A release states what it knows of private columns, so an undeclared one is
        stated by round bounds with enough people beyond, as when Shoal mines.
    person
        The column that tells people apart, where they may have several rows. Then every group is counted in people.
    test
        Other rows and their targets, to tell what the repair costs on people the model has not seen.
    prune
        Whether to leave out, too, what the requirement allows but does not pay: splits of a single tree below which no
        fewer errors are expected, and trees of a forest that make its answer worse. A model that keeps the requirement
        already is left as it is. It is about ``"splits"`` only.
    method
        ``"splits"``: splits are put back, best first, as long as the requirement allows. ``"atp"``: every split stays,
        and branches whose paths break the requirement are merged with their siblings, from the leaves upwards
        (`shoal.trees.atp.prune_by_merging`). That is for a single tree whose tests are all public.

    Returns
    -------
    Repair
        The release with its audit, the audit before, and what the repair cost.

    Notes
    -----
    Trees are taken back to their roots and their own splits put back, those that tell most of the target for each new
    group first, as long as every group of all trees together keeps the requirement. So no split that was left out could
    stay. Branches that leave a group too small are merged into the one with most people. Trees of a forest are dropped
    last: those that ask nothing any more and, if `prune`, those that make its answer worse. Thresholds are the roundest
    numbers that send the rows the same way.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from shoal import load_sample
    >>> people = pd.DataFrame(load_sample().to_arrow().to_pydict())[["age", "bmi", "diabetes"]]
    >>> X, y = people[["age", "bmi"]], people["diabetes"]
    >>> model = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(X, y)
    >>> done = repair(model, X, y, privacy=100)
    >>> done.before.holds, done.audit.holds, done.audit.smallest_group >= 100
    (False, True, True)
    """
    if method not in ("splits", "atp"):
        raise DataError("unknown-option", f"method must be 'splits' or 'atp'; got {method!r}.")
    model = getattr(model, "release_", model)
    if isinstance(model, TreeRelease | EnsembleRelease):
        job = of_release(model, X, y, privacy, public, person)
        before = audit(model, X, y, public=public, privacy=job.requirement, person=person)
    else:
        job = of_foreign(model, X, y, privacy, public, target_role, sensitive, domain, person)
        before = audit(
            model, X, y, public=job.known, privacy=job.requirement, domain=domain, sensitive=sensitive, person=person
        )
    release = merge_branches(job) if method == "atp" else _regrown(job, prune=prune and not before.holds)
    judged = audit(release, _rows(job), person=PERSON if release.several_rows else None)
    if not judged.holds:
        raise PromiseError("repair-failed", "The repaired model did not pass its own audit; nothing was released.")
    release = release.with_audit(judged)
    members = release.trees if isinstance(release, EnsembleRelease) else (release,)
    return Repair(
        release,
        judged,
        before,
        trees=(len(job.source.roots), len(members)),
        leaves=(job.source.n_leaves, sum(len(tree.leaves) for tree in members)),
        accuracy=_accuracies(job, release, X, y),
        test_accuracy=None if test is None else _accuracies(job, release, *test),
    )


def _regrown(job: Job, *, prune: bool) -> TreeRelease | EnsembleRelease:
    """The release of the splits that the requirement allows."""
    promise = Promise(job.requirement, job.sensitive(), job.person)
    told = job.roles.target_role == "public"
    n = job.table.n_rows
    if not told and not promise.holds(np.zeros(n, dtype=np.int64), 1, np.arange(n)).all():
        raise root_refusal(n if job.person is None else int(job.person.max()) + 1)
    weight = job.weight_of_class
    kept = Regrowth(job.source, job.table, job.target, weight, job.roles.public, promise, told=told).run()
    if prune and len(kept) == 1:
        prune_tree(kept[0], job.target, weight)
    return _released(kept, job, prune=prune)


def _rows(job: Job) -> Table:
    """The rows as the audit needs them; the column that tells people apart is called what no column is called."""
    if job.person is None:
        return job.table
    return job.table.with_column(Column(PERSON, "numeric", job.person, np.arange(job.person.max() + 1.0), integer=True))


def _released(kept: list[Kept], job: Job, *, prune: bool) -> TreeRelease | EnsembleRelease:
    """The release of the trees that are worth it; a tree that asks nothing any more is dropped in any case."""
    asking = [root for root in kept if root.children] or kept[:1]
    if prune and len(asking) > 1:
        shares = [tree.predict_proba(job.table) for tree in _published(asking, job)]
        asking = [asking[t] for t in worth_keeping(shares, job.target, job.weight_of_class)]
    trees = _published(asking, job)
    return trees[0] if len(trees) == 1 else EnsembleRelease(trees)


def _published(kept: list[Kept], job: Job) -> tuple[TreeRelease, ...]:
    trees = publish(kept, job.table, job.roles, job.requirement, declared=job.declared, weights=job.weights)
    if job.person is not None:
        trees = tuple(count_people(tree, job.table, job.person) for tree in trees)
    return tuple(tree.stating(job.statement) for tree in trees)


def _accuracies(job: Job, release: TreeRelease | EnsembleRelease, X: Any, y: Any) -> tuple[float, float]:
    """Of the model and of the release."""
    truth = classes_of(X, y, job.roles.target)
    return tuple(float((answers == truth).mean()) for answers in (job.answer(X), answers_of(release, X)))  # type: ignore[return-value]
