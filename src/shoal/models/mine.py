# SPDX-License-Identifier: Apache-2.0
"""The recipe: settle the domain, make groups, fit on groups and private columns, publish, audit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d

from shoal.audit import audit
from shoal.data.domain import Domain, declare_domain
from shoal.data.frames import to_table
from shoal.data.hierarchy import load_hierarchies
from shoal.data.person import whose_rows
from shoal.data.roles import Roles, TargetRole
from shoal.data.table import Column, Table
from shoal.data.target import with_target
from shoal.errors import DataError, PromiseError, RoleError
from shoal.models.coarse import coarse, in_classes
from shoal.models.groups import mine_groups
from shoal.privacy import Requirement, people_behind
from shoal.release import ModelRelease
from shoal.release.model_file import dump_model, keeps_rows
from shoal.release.model_inputs import ModelInputs, in_order
from shoal.trees.estimator import checked_target, target_name

DECIMALS = 6  # of a published probability


@dataclass(frozen=True, eq=False)
class Wish:
    """What a user asked for; as the parameters of `AnonymousModel`, checked."""

    estimator: Any
    requirement: Requirement
    public: Sequence[str] | None
    target_role: TargetRole
    sensitive: Sequence[str]
    domain: Domain | None
    person: str | None
    hierarchies: str | os.PathLike[str] | Mapping[str, Any] | None
    tree: Mapping[str, Any]
    random_state: int | np.random.RandomState | None

    @property
    def regression(self) -> bool:
        """Whether the target is a number."""
        return bool(is_regressor(self.estimator))


def mine_model(wish: Wish, X: Any, y: Any) -> tuple[ModelRelease, list[str]]:
    """The audited release of a model, and the names of the columns it was given."""
    table, target, features = _read(wish, X, y)
    roles = Roles.resolve(
        table.names,
        target=target,
        public=wish.public,
        identifier=[] if wish.person is None else [wish.person],
        target_role=wish.target_role,
        sensitive=wish.sensitive,
    )
    _check(wish, table, roles)
    people = people_behind(wish.requirement)
    hierarchies = load_hierarchies(wish.hierarchies, roles.features)
    whose = None if wish.person is None else whose_rows(table[wish.person])
    people_column = [] if wish.person is None else [table[wish.person]]
    table = declare_domain(table, roles, wish.domain, hierarchies, people=people, person=whose)
    domain = dict(wish.domain or {})
    grouped, cuts = table, None
    if wish.regression:
        domain.pop(target, None)
        classes, cuts = in_classes(table[target], people, whose)
        grouped = table.with_column(classes)
    groups = mine_groups(
        Table([*grouped.values(), *people_column]),
        roles,
        wish.requirement,
        domain=domain,
        hierarchies=hierarchies,
        options=wish.tree,
        person=wish.person,
    )
    told = ModelInputs(groups, [groups.attribute(name) for name in roles.private])
    coarsely = Table(
        coarse(c, people, whose) if c.kind == "numeric" and c.name not in roles.public else c for c in table.values()
    )
    group = told.group_of_node[groups.apply(grouped)]
    answers = _values(coarsely[target]) if wish.regression else groups.labels[grouped[target].codes]
    model = _seeded(wish).fit(told.matrix(coarsely, group), answers)
    model = getattr(model, "best_estimator_", model)  # of a search only what it found leaves
    made: dict[str, Any] = {
        "groups": groups,
        "model": type(model).__name__,
        "library": f"scikit-learn {sklearn.__version__}",
        "inputs": roles.private,
        "cuts": cuts,
    }
    if roles.private:
        _check_keeps_nothing(model, table.n_rows)
        release = ModelRelease(**made, file=dump_model(model))
    else:
        release = ModelRelease(**made, **_by_group(model, told, groups.labels, wish.regression))
    rows = Table([*table.values(), *people_column])
    verdict = audit(release, rows, privacy=wish.requirement, person=None if whose is None else wish.person)
    if not verdict.holds:  # never on purpose: the audit shares no code with the grower
        raise PromiseError("audit-failed", "The fitted model failed its own audit and is withheld. Please report this.")
    return release.with_audit(verdict), features


def _read(wish: Wish, X: Any, y: Any) -> tuple[Table, str, list[str]]:
    """The table with its target, the target's name, and the names of the other columns."""
    table = to_table(X)
    target, features = target_name("AnonymousModel", table, y)
    if not wish.regression:
        return with_target(table, checked_target(y), target), target, features
    column = table[target] if isinstance(y, str) else _number_target(y, target)
    if column.kind != "numeric":
        raise DataError("not-numeric", f"The target {target!r} holds categories; a regressor needs numbers.")
    if len(column) != table.n_rows:
        raise DataError(
            "target-length", f"X has {table.n_rows} row(s) but y has {len(column)}. Give one value of y a row."
        )
    return table.drop([target]).with_column(column) if features else Table([column]), target, features


def _number_target(y: Any, name: str) -> Column:
    if isinstance(y, (np.ndarray, list, tuple)):
        y = column_or_1d(y, warn=True)
    return to_table({name: y}, kinds={name: "numeric"})[name]


def _check(wish: Wish, table: Table, roles: Roles) -> None:
    """Refuse what cannot be, before any work is done."""
    target = table[roles.target]
    if target.missing:
        n = int((target.codes == len(target.values)).sum())
        raise DataError("target-missing", f"The target {target.name!r} is missing in {n} row(s). Remove them first.")
    if wish.regression and roles.target_role == "public":
        # who knows a person's exact number finds him by it, whatever his group
        raise RoleError("roles", "Roles: a regressor's target must be private. Cut it into classes to make it public.")
    if roles.private:
        _check_keeps_nothing(wish.estimator, None)


def _check_keeps_nothing(model: Any, n_people: int | None) -> None:
    kept = keeps_rows(model, n_people)
    if kept is not None:
        raise PromiseError(
            "stores-rows",
            f"{type(model).__name__} keeps rows it is fitted on ({kept}), and with private columns these would be "
            "published. Choose another model, or make every column public.",
        )


def _seeded(wish: Wish) -> Any:
    """A fresh clone of the estimator; where a seed is given, every part that takes one and has none gets its own."""
    model = clone(wish.estimator)
    if wish.random_state is None:
        return model
    draw = check_random_state(wish.random_state)
    seeds = {
        name: int(draw.randint(np.iinfo(np.int32).max))
        for name, value in sorted(model.get_params(deep=True).items())
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return model.set_params(**seeds)


def _values(column: Column) -> NDArray[np.float64]:
    answer: NDArray[np.float64] = column.numbers[column.codes]
    return answer


def _by_group(model: Any, told: ModelInputs, labels: NDArray[Any], regression: bool) -> dict[str, Any]:
    """The table from group to prediction."""
    answers = np.asarray(model.predict(told.by_group))
    shares = None if regression or not hasattr(model, "predict_proba") else model.predict_proba(told.by_group)
    for numbers in [answers] if regression else [] if shares is None else [shares]:
        if not np.isfinite(numbers).all():
            raise DataError("not-finite", f"{type(model).__name__} answers with numbers that are not finite (inf).")
    if regression:
        # as many digits as anybody reads; each rests on everybody in the group
        return {"predictions": np.array([float(f"{number:.6g}") for number in answers.ravel()])}
    place = {label: i for i, label in enumerate(labels.tolist())}
    made: dict[str, Any] = {"predictions": np.array([place[label] for label in answers.tolist()])}
    if shares is not None:
        made["shares"] = np.round(in_order(shares, model.classes_, labels), DECIMALS)
    return made
