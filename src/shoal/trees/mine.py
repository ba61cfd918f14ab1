# SPDX-License-Identifier: Apache-2.0
"""The recipe: settle the domain, make features, grow, publish, audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from shoal._threads import side_by_side
from shoal.audit import Audit, audit
from shoal.data.counted import Counted
from shoal.data.domain import Domain, check_sensitive, declare_domain
from shoal.data.hierarchy import Hierarchy
from shoal.data.person import whose_rows
from shoal.data.roles import Roles
from shoal.data.table import Columns
from shoal.engines import Engine, MemoryEngine, RowsElsewhere
from shoal.engines.base import Ids
from shoal.errors import DataError, PromiseError, RequirementError
from shoal.privacy import Requirement, least_people, needs_values, people_behind
from shoal.release import TreeRelease
from shoal.release.parse import MAX_DEPTH
from shoal.release.statement import Statement
from shoal.trees.batches import Batches
from shoal.trees.features import MAX_CODES, make_feature
from shoal.trees.prune import EVIDENCE, Pruning, expected_of, hopeless, prune
from shoal.trees.public_first import PublicFirst
from shoal.trees.publish import publish
from shoal.trees.queue import Queue
from shoal.trees.rounds import Rounds
from shoal.trees.score import Criterion, Score
from shoal.trees.search import Search
from shoal.trees.spans import SpanBook
from shoal.trees.split import GrownNode
from shoal.trees.veto import Veto
from shoal.trees.weights import ClassWeight, Weights, class_weights

Grouping = Literal["halves", "merge"] | None
SEARCHED = 1 << 20  # people up to which the largest nodes are searched: of a million, greed's trees were as good
BOTH_TREES = 200_000  # people up to which a second tree is grown: beyond, it takes more time than it is worth


def mine_tree(
    table: Columns,
    roles: Roles,
    requirement: Requirement,
    *,
    domain: Domain | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    criterion: Criterion = "gain",
    strict: bool = False,
    max_depth: int | None = None,
    max_leaves: int | None = None,
    grouping: Grouping = None,
    pruning: Pruning = None,
    search: bool = False,
    min_gain: float = 0.0,
    class_weight: ClassWeight = None,
    lookahead: int = 0,
    max_codes: int = MAX_CODES,
    statement: Statement = "counts",
    one_queue: bool = False,
    person: str | None = None,
    rows: RowsElsewhere | None = None,
) -> TreeRelease:
    """Mine a tree that keeps a requirement, and attach the verdict of its audit.

    The parameters are those of `AnonymousTreeClassifier`. `one_queue` asks for the loop that any roles need even where
    the faster one would do; both give the same tree there. `rows` are those of a table that is `Counted`.
    """

    def attempt(pruning: Pruning) -> tuple[TreeRelease, Audit]:
        task = prepare(
            table,
            roles,
            requirement,
            domain=domain,
            hierarchies=hierarchies or {},
            max_codes=max_codes,
            person=person,
            rows=rows,
        )
        weights = class_weights(class_weight, task.table[roles.target])
        grown = grow(
            task,
            criterion=criterion,
            strict=strict,
            max_depth=max_depth,
            max_leaves=max_leaves,
            grouping=grouping,
            min_gain=min_gain,
            weights=weights,
            lookahead=lookahead,
            one_queue=one_queue,
            pruning=pruning,
            search=search,
        )
        release = publish(
            grown,
            task.engine.features,
            task.table,
            roles,
            requirement,
            declared=task.declared,
            weights=None if weights is None else weights.units,
            statement=statement,
            person=task.person,
        )
        if isinstance(task.table, Counted):
            assert rows is not None
            return release, audit(release, rows.settled(task.table), privacy=requirement)
        if person is None or task.person is None:
            return release, audit(release, task.table, privacy=requirement)
        whole = task.table.like([*task.table.values(), table[person]])
        return release, audit(release, whole, privacy=requirement, person=person)

    release, verdict = attempt(pruning)
    if not verdict.holds and release.several_rows and needs_values(requirement) and pruning is not None:
        # Where groups share people, two that keep a requirement about values may break it when pruning merges them:
        # somebody with a value in each counts with the one that most of the merged group have.
        release, verdict = attempt(None)
    if not verdict.holds:  # never on purpose: the audit shares no code with the grower
        raise PromiseError("audit-failed", "The mined tree failed its own audit and is withheld. Please report this.")
    return release.with_audit(verdict)


@dataclass(frozen=True)
class Task:
    """All that a grower needs."""

    table: Columns
    roles: Roles
    requirement: Requirement
    engine: Engine
    veto: Veto
    declared: frozenset[str]  # columns whose domain the user declared
    person: Ids | None = None  # whose row each is, where people have several


def prepare(
    table: Columns,
    roles: Roles,
    requirement: Requirement,
    *,
    domain: Domain | None,
    hierarchies: Mapping[str, Hierarchy],
    max_codes: int = MAX_CODES,
    person: str | None = None,
    rows: RowsElsewhere | None = None,
) -> Task:
    """Settle the domain, check what is asked, and set up the engine."""
    least = least_people(requirement)
    whose = None if person is None else whose_rows(table[person])
    table = declare_domain(table, roles, domain, hierarchies, people=people_behind(requirement), person=whose)
    target = table[roles.target]
    _check_target(table, roles, least, whose)
    made = side_by_side(
        lambda name: make_feature(
            table[name], public=name in roles.public, hierarchies=hierarchies, max_codes=max_codes
        ),
        roles.features,
        rows=table.n_rows,
    )
    sensitive = [target] if roles.target_role == "private" else []
    others = [table[name] for name in roles.sensitive]
    if needs_values(requirement):
        for column in others:
            check_sensitive(column)
    sensitive += [column.compact() if column.kind == "numeric" else column for column in others]
    if needs_values(requirement) and not sensitive:
        raise RequirementError(
            "nothing-sensitive",
            "A requirement about private values needs a private target or a private column named as sensitive.",
        )
    engine: Engine
    if rows is not None:
        engine = rows.engine(made, target, sensitive)
    else:
        engine = MemoryEngine(
            [feature for feature, _ in made],
            [codes for _, codes in made],
            target.codes,
            target.n_codes,
            [(column.codes, column.n_codes) for column in sensitive],
            whose,
        )
    totals = [column.counts() for column in sensitive]
    if engine.different is not None and needs_values(requirement):
        everybody = np.zeros(1, dtype=np.int64)
        totals = [engine.different.span_people(everybody, None, None, 1, by)[0, 0] for by in range(len(sensitive))]
    veto = Veto(requirement, totals)
    listed = {name for name, hierarchy in hierarchies.items() if hierarchy.values is not None}
    return Task(table, roles, requirement, engine, veto, frozenset({*(domain or {}), *listed}), whose)


def grow(
    task: Task,
    *,
    criterion: Criterion = "gain",
    strict: bool = False,
    max_depth: int | None = None,
    max_leaves: int | None = None,
    grouping: Grouping = None,
    min_gain: float = 0.0,
    weights: Weights | None = None,
    lookahead: int = 0,
    one_queue: bool = False,
    pruning: Pruning = None,
    search: bool = False,
) -> list[GrownNode]:
    """Grow the tree, by the loop that the roles need, and prune it.

    With private columns that is the queue; a `search` for a tree that will be pruned tries all public tests first, too.
    Nodes that `pruning` is sure to make leaves are left alone.
    """
    roles, engine = task.roles, task.engine
    evidence = EVIDENCE if pruning == "cost" else 0.0
    score = Score(criterion, engine.n_people, evidence, weights=weights, min_gain=min_gain)
    depth = MAX_DEPTH if max_depth is None else min(max_depth, MAX_DEPTH)
    least = least_people(task.requirement)
    closed = None
    if pruning == "cost":
        closed = partial(hopeless, n_people=engine.n_people, weights=weights, least_people=least)
    common: dict[str, Any] = {"grouping": grouping, "max_depth": depth, "lookahead": lookahead}
    search = search and not lookahead and weights is None
    # the faster loops: groups are the leaves, or the nodes where private tests begin
    alone = roles.target_role == "private" and max_leaves is None and not one_queue
    if alone and not roles.private:
        # an outlook counts rows: as many as so many people have on the average
        in_rows = least * engine.n_people // engine.n_different
        search = search and engine.n_people <= SEARCHED
        searching = Search(engine, least_people=in_rows, gini=criterion == "gini") if search else None
        rounds = Rounds(engine, score, task.veto, least_people=least, hopeless=closed, search=searching, **common)
        return prune(rounds.grow(), pruning, weights)
    public_first = None
    if alone and search and pruning is not None and not roles.sensitive:
        public_first = PublicFirst(
            engine, score, task.veto, least_people=least, pruning=pruning, grouping=grouping, max_depth=depth
        ).grow()
        if engine.n_people > BOTH_TREES:
            return public_first
    # private leaves may be of any size
    closed = partial(hopeless, n_people=engine.n_people, weights=weights) if pruning == "cost" else None
    book = SpanBook(
        engine, task.veto, target_is_public=roles.target_role == "public", strict=strict, least_people=least
    )
    # many nodes at a time: for k alone, one row a person, without C4.5's ratios, values that merge and trials of splits
    many = alone and pruning == "cost" and task.veto.least is not None and engine.different is None
    loop: Batches | Queue
    if many and not score.by_ratio and grouping != "merge" and not lookahead:
        loop = Batches(engine, score, book, least_people=least, grouping=grouping, max_depth=depth, hopeless=closed)
    else:
        loop = Queue(engine, score, book, max_leaves=max_leaves, hopeless=closed, **common)
    by_gain = prune(loop.grow(), pruning, weights)
    if public_first is None or pruning is None:
        return by_gain
    # in order of gain is better where the promise takes few splits away, public tests first where it takes many
    return min(public_first, by_gain, key=lambda grown: expected_of(grown, pruning))


def _check_target(table: Columns, roles: Roles, least: int, whose: Ids | None) -> None:
    target = table[roles.target]
    if target.kind != "categorical":
        raise DataError("target-numeric", f"The target {target.name!r} is numeric; a classifier needs classes.")
    if target.missing:
        raise DataError(
            "target-missing",
            f"The target {target.name!r} is missing in {target.n_missing} row(s). Remove them first.",
        )
    if np.count_nonzero(target.counts()) < 2:
        raise DataError("one-class", f"The target {target.name!r} has only one class: there is nothing to learn.")
    people = table.n_rows if whose is None else int(whose.max()) + 1
    if people < least:
        has = f"{table.n_rows:,} row(s)" + ("" if whose is None else f" of {people:,} people")
        raise PromiseError(
            "table-too-small",
            f"The requirement needs groups of at least {least:,} people but the table has {has}. "
            "Use more people or a smaller k.",
        )
