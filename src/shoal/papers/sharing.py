# SPDX-License-Identifier: Apache-2.0
"""Tian et al. (2012), Fig. 10 to 13: what can be learned from the usual trees of one to ten owners."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.data import Table
from shoal.data.stack import stack
from shoal.evaluate.matching import class_match, path_match
from shoal.papers.sharing_data import Rows, SharingTable, share_rows
from shoal.release import TreeRelease
from shoal.share import ConjunctiveRule, MixedNaiveBayes, PseudoData, paths_of, pseudo_data, uniform_data
from shoal.trees import AnonymousTreeClassifier

Answers = NDArray[np.str_]
PATH_OWNERS = 5  # paths are compared up to so many owners, as in Fig. 13

# the joint models that are learned: C4.5 as owners have it, naive Bayes, one conjunctive rule
LEARNERS: dict[str, Callable[[], Any]] = {
    "tree": lambda: AnonymousTreeClassifier(privacy=1, variant="c45", unknown="ancestor"),
    "bayes": MixedNaiveBayes,
    "rules": ConjunctiveRule,
}


def usual_tree(rows: Table, task: SharingTable) -> TreeRelease:
    """The C4.5 tree of one owner as it comes, nothing pruned for privacy."""
    features = [name for name in rows.names if name != task.target]
    tree = AnonymousTreeClassifier(privacy=1, variant="c45", domain=task.domain(features))
    release: TreeRelease = tree.fit(rows, task.target).release_
    return release


def together(tables: Sequence[Table]) -> Table:
    """The rows of several tables with the same columns."""
    names = tables[0].names
    left = list(tables)
    while len(left) > 1:  # two by two, so that no rows are copied too often
        pairs = [left[i : i + 2] for i in range(0, len(left), 2)]
        left = [stack(pair[0], pair[1], names) if len(pair) == 2 else pair[0] for pair in pairs]
    return left[0]


def answers(model: Any, rows: Table) -> Answers:
    """What a model says of each row, as texts."""
    return np.asarray(model.predict(rows)).astype(str)


def truth(rows: Table, target: str) -> Answers:
    """The classes that rows really have."""
    return np.array(rows[target].names)[rows[target].codes]


def vote(releases: Sequence[TreeRelease], rows: Table, *, shares: bool) -> Answers:
    """BAGGING: the class that most trees answer, or the one with the largest average share."""
    labels = releases[0].labels.astype(str)
    if shares:
        total = sum(release.predict_proba(rows, unknown="ancestor") for release in releases)
        best: Answers = labels[np.asarray(total).argmax(axis=1)]
        return best
    answer: Answers = labels[_votes(releases, rows).argmax(axis=1)]
    return answer


def consensus(releases: Sequence[TreeRelease], rows: Table) -> Answers:
    """BAGGING by consensus: the class that more than half of the trees answer; where there is none, an empty text."""
    votes = _votes(releases, rows)
    agreed = 2 * votes.max(axis=1) > len(releases)
    answer: Answers = np.where(agreed, releases[0].labels.astype(str)[votes.argmax(axis=1)], "")
    return answer


def _votes(releases: Sequence[TreeRelease], rows: Table) -> NDArray[np.float64]:
    """How many trees answer each class, rows × classes."""
    votes = np.zeros((rows.n_rows, len(releases[0].labels)))
    for release in releases:
        votes[np.arange(rows.n_rows), release.answers[release.apply(rows, unknown="ancestor")]] += 1
    return votes


def compare_generators(
    task: SharingTable,
    train: Rows,
    test: Rows,
    *,
    owners: Sequence[int] = tuple(range(1, 11)),
    learners: Sequence[str] = tuple(LEARNERS),
    seed: int = 0,
) -> list[dict[str, Any]]:
    """One pass of one fold of Fig. 10 to 13.

    ``basis`` learns from the pooled rows. ``pgen`` learns from pseudo-data of the owners' trees as the paper makes it,
    from hits and misses; ``pgen-counts`` from pseudo-data with the classes that paths count; ``basegen`` from even rows
    that the trees label. ``bagging`` is the vote of the trees, ``bagging-consensus`` one that needs more than half of
    them, ``bagging-shares`` the average of their shares. With one owner his tree itself is the joint tree, as in the
    paper.
    """
    tested = task.rows.take(test)
    right = truth(tested, task.target)
    basis = {name: LEARNERS[name]().fit(task.rows.take(train), task.target) for name in learners}
    told = {name: answers(model, tested) for name, model in basis.items()}
    found = [_line("basis", name, 0, told[name], right, told[name]) for name in learners]
    for n in owners:
        trees = [usual_tree(task.rows.take(rows), task) for rows in share_rows(train, n, seed)]
        votes = {
            "bagging": vote(trees, tested, shares=False),
            "bagging-consensus": consensus(trees, tested),
            "bagging-shares": vote(trees, tested, shares=True),
        }
        found += [_line(method, "tree", n, said, right, told.get("tree")) for method, said in votes.items()]
        for method, rows in _generated(trees, seed).items():
            for name in learners if method != "pgen-counts" else learners[:1]:
                joint: TreeRelease | None
                if n == 1 and name == "tree":
                    said, joint = vote(trees, tested, shares=False), trees[0]
                else:
                    model = LEARNERS[name]().fit(rows, task.target)
                    said, joint = answers(model, tested), getattr(model, "release_", None)
                line = _line(method, name, n, said, right, told[name])
                if joint is not None and method != "basegen" and n <= PATH_OWNERS:
                    boxes = [[path.box for path in paths_of(tree)] for tree in (basis["tree"].release_, joint)]
                    line["path_match"] = path_match(*boxes)
                found.append(line)
    return found


def _generated(trees: Sequence[TreeRelease], seed: int) -> Mapping[str, Table]:
    """The pseudo-data of all owners, as many rows as they have people."""
    rng = np.random.default_rng(seed)
    makers: dict[str, Callable[[TreeRelease], PseudoData]] = {
        "pgen": lambda tree: pseudo_data(tree, classes="hits", random_state=rng),
        "basegen": lambda tree: uniform_data(tree, random_state=rng),
        "pgen-counts": lambda tree: pseudo_data(tree, random_state=rng),
    }
    return {name: together([make(tree).table for tree in trees]) for name, make in makers.items()}


def _line(method: str, learner: str, n: int, said: Answers, right: Answers, basis: Answers | None) -> dict[str, Any]:
    line: dict[str, Any] = {
        "method": method,
        "learner": learner,
        "owners": n,
        "accuracy": float((said == right).mean()),
    }
    return line if basis is None else {**line, "class_match": class_match(basis, said)}
