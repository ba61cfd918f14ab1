# SPDX-License-Identifier: Apache-2.0
"""What a repair works on: trees, rows, roles and a requirement, from a release or from somebody else's model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.audit.foreign import read_model
from shoal.audit.foreign.dumps import final_estimator
from shoal.audit.foreign.grove_subject import GroveSubject
from shoal.audit.foreign.j48 import J48Subject
from shoal.audit.recount import fit_target
from shoal.audit.subject import known_columns
from shoal.audit.trees import column_names
from shoal.audit.whose import whose_rows
from shoal.data.domain import check_sensitive, clip, declare_domain, declare_values
from shoal.data.frames import to_table
from shoal.data.person import whose_rows as person_of_rows
from shoal.data.roles import Roles
from shoal.data.table import Column, Table
from shoal.data.target import as_categorical, target_column, with_target
from shoal.errors import DataError, RequirementError, RoleError
from shoal.privacy import Requirement, as_requirement, needs_values, people_behind
from shoal.release import Attribute, EnsembleRelease, TreeRelease
from shoal.release.answers import LEAST_WEIGHT
from shoal.release.statement import Statement
from shoal.repair.source import GroveTrees, Ids, ReleasedTrees, Source
from shoal.trees.weights import class_weights

TargetRole = Literal["public", "private"]


@dataclass(frozen=True, eq=False)
class Job:
    """A model to repair.

    Attributes
    ----------
    source
        Its trees.
    table
        The rows, with the domain of every column settled.
    roles, requirement
        Who knows what, and what is asked.
    declared
        The columns whose domain was declared.
    person
        Whose row each is, where people have several; None where every row is a person.
    weights
        Of the target's classes in predictions, by code; None where all weigh the same.
    statement
        What is said of the leaves.
    answer
        The class that the model gives each row of other rows, as text.
    """

    source: Source
    table: Table
    roles: Roles
    requirement: Requirement
    declared: frozenset[str]
    person: Ids | None
    weights: tuple[float, ...] | None
    statement: Statement
    answer: Callable[[Any], NDArray[Any]]

    @property
    def target(self) -> Column:
        """The target's column."""
        return self.table[self.roles.target]

    @property
    def known(self) -> tuple[str, ...]:
        """What the attacker knows."""
        return (*self.roles.public, *([self.roles.target] if self.roles.target_role == "public" else []))

    @property
    def weight_of_class(self) -> NDArray[np.float64]:
        """What a person of each class weighs, where the average person weighs one."""
        weights = np.ones(self.target.n_codes) if self.weights is None else np.array(self.weights)
        people = self.target.counts()
        return np.asarray(weights * (people.sum() / (people * weights).sum()))

    def sensitive(self) -> list[Column]:
        """The columns that requirements about values are asked of."""
        if not needs_values(self.requirement):
            return []
        columns = [self.target] if self.roles.target_role == "private" else []
        for name in self.roles.sensitive:
            check_sensitive(self.table[name])
            columns.append(self.table[name].compact())
        if not columns:
            raise RequirementError(
                "nothing-sensitive",
                "A requirement about private values needs a private target or a private column named as sensitive.",
            )
        return columns


def of_release(
    release: TreeRelease | EnsembleRelease,
    X: Any,
    y: Any,
    privacy: Requirement | int | None,
    public: Collection[str] | None,
    person: str | None,
) -> Job:
    """A release of trees that breaks a requirement: its domain and, if not said otherwise, its roles are its own.

    It may state a public column as it is in the rows. What is said of one that is private now must have people behind
    it, as if Shoal mined.
    """
    trees = release.trees if isinstance(release, EnsembleRelease) else (release,)
    first = trees[0]
    rows = with_target(first.read(X, target=y if isinstance(y, str) else None), y, first.target)
    known = set(first.public if public is None else public)
    names = [attribute.name for attribute in first.attributes if attribute.name != first.target]
    features = [_as_stated(first.attribute(name), rows[name]) for name in names]
    table = Table([*features, fit_target(first, rows[first.target])])
    roles = Roles(
        public=tuple(name for name in [*names, *first.unused] if name in known),
        private=tuple(name for name in [*names, *first.unused] if name not in known),
        target=first.target,
        target_role="public" if first.target in known else "private",
        sensitive=first.sensitive,
    )
    requirement = release.requirement if privacy is None else as_requirement(privacy)
    whose = whose_rows(first, X, person, named=column_names(first), public=public)
    if whose is not None and not first.several_rows and int(whose.max()) + 1 == len(whose):
        whose = None  # a row is a person
    hidden = [name for name in names if first.attribute(name).role == "public" and name not in known]
    if hidden:
        settled = Roles(public=(), private=tuple(hidden), target=first.target)
        for column in declare_domain(
            table, settled, None, {}, people=people_behind(requirement), person=whose
        ).values():
            table = table.with_column(column)
    source = ReleasedTrees(trees, table)
    return Job(
        source,
        table,
        roles,
        requirement,
        frozenset(names),
        whose,
        first.weights,
        first.statement,
        lambda given: answers_of(release, given),
    )


def answers_of(release: TreeRelease | EnsembleRelease, X: Any) -> NDArray[Any]:
    """What a release predicts, as text."""
    return classes_of(X, release.predict(X, unknown="ancestor"), release.target)


def classes_of(X: Any, y: Any, target: str) -> NDArray[Any]:
    """The target's values of some rows, as text."""
    if y is None or isinstance(y, str):
        name = target if y is None else y
        column = as_categorical(to_table(X, only=[name])[name])
    else:
        column = target_column(y, target)
    return np.array([*column.names, ""])[column.codes]


def _as_stated(attribute: Attribute, column: Column) -> Column:
    if attribute.bounds is not None:
        return clip(column, *attribute.bounds)
    return declare_values(column, attribute.values)


def of_foreign(
    model: Any,
    X: Any,
    y: Any,
    privacy: Requirement | int | None,
    public: Collection[str] | None,
    target_role: TargetRole,
    sensitive: Sequence[str],
    domain: Mapping[str, Sequence[Any]] | None,
    person: str | None,
) -> Job:
    """A tree or a forest that somebody else trained, or the text of a J48 tree."""
    if privacy is None:
        raise RequirementError("no-requirement", "This model claims nothing, so say what it shall keep: privacy=10.")
    subject, rows = read_model(model, X, y, domain=domain, also=[*sensitive, *([person] if person else [])])
    if not isinstance(subject, J48Subject) and not (
        isinstance(subject, GroveSubject) and subject.exact and subject.grove.combine == "mean" and subject.labels
    ):
        raise DataError(
            "cannot-repair",
            f"This is {subject.what}; only trees and forests that predict classes, with one column a test, can be "
            "repaired. Mine it again instead, for example with AnonymousModel.",
        )
    if isinstance(subject, J48Subject):
        rows = subject.own(rows)
    requirement = as_requirement(privacy)
    assert subject.target is not None
    if person is not None and (person == subject.target or person in subject.domain):
        raise RoleError("roles", f"Column {person!r} tells people apart: it can have no other role.")
    whose = None if person is None else person_of_rows(rows[person])
    names = [*subject.domain, *(name for name in sensitive if name not in subject.domain)]
    if public is None:
        public = [name for name in names if name not in sensitive]
    else:
        # columns that the model does not look at may be known too, and tell nothing here
        public = [name for name in known_columns(subject, rows, public, sensitive, person) if name in names]
    target = with_target(rows, None, subject.target)[subject.target]
    rows = Table([*(rows[name] for name in names), target])
    roles = Roles.resolve(rows.names, target=target.name, public=public, target_role=target_role, sensitive=sensitive)
    # read_model has refused names that are no columns; the others may be of columns that the model does not look at
    declared = {name: values for name, values in (domain or {}).items() if name in rows}
    table = declare_domain(rows, roles, declared, {}, people=people_behind(requirement), person=whose)
    source: Source
    answer: Callable[[Any], NDArray[Any]]
    if isinstance(subject, J48Subject):
        printed = subject.to_release()
        source, answer = ReleasedTrees((printed,), table), partial(answers_of, printed)
    else:
        source = GroveTrees(subject.grove, subject.features, table)
        answer = partial(_answers, subject)
    weights = _weights(model, table[target.name])
    return Job(source, table, roles, requirement, frozenset(declared), whose, weights, "counts", answer)


def _weights(model: Any, target: Column) -> tuple[float, ...] | None:
    """What `class_weight` of scikit-learn means for the target's classes; classes that it leaves out weigh one."""
    final = final_estimator(model)
    given = getattr(final, "class_weight", getattr(getattr(final, "estimator_", None), "class_weight", None))
    if given is None:
        return None
    if isinstance(given, str):
        weights = class_weights("balanced", target)  # also of every bootstrap sample
    else:
        named = target_column(list(given), target.name)
        by_name = {named.names[code]: weight for code, weight in zip(named.codes, given.values(), strict=True)}
        # a class that weighs nothing is never the answer; a release has no such weight, but a very small one
        weights = class_weights({name: max(by_name.get(name, 1.0), LEAST_WEIGHT) for name in target.names}, target)
    return None if weights is None else tuple(map(float, weights.units))


def _answers(subject: GroveSubject, X: Any) -> NDArray[Any]:
    """What a foreign model predicts, as text."""
    kinds = {name: attribute.type for name, attribute in subject.domain.items()}
    rows = to_table(X, kinds=kinds, only=kinds, names=list(kinds))
    columns = []
    for name, attribute in subject.domain.items():
        # beyond the range of the rows that the model was learned from nothing changes any more
        columns.append(rows[name] if attribute.bounds is None else clip(rows[name], *attribute.bounds))
    leaves = subject.leaves(Table(columns))
    values = subject.grove.value
    total = np.zeros((len(leaves), values.shape[1]))
    for tree in range(leaves.shape[1]):
        total += values[leaves[:, tree]]
    answer: NDArray[Any] = np.array(subject.labels)[total.argmax(axis=1)]
    return answer
