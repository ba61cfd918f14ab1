# SPDX-License-Identifier: Apache-2.0
"""The recipe: settle the domain, encode, split while it may be, publish, audit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from sklearn.utils import check_random_state

from shoal.audit import audit
from shoal.clusters.grow import MANY, Path, Stop, grow_by_edges, grow_by_means
from shoal.clusters.judge import Judge
from shoal.data.domain import Domain, check_sensitive, declare_column
from shoal.data.hierarchy import Hierarchy
from shoal.data.person import whose_rows
from shoal.data.table import Column, Table
from shoal.errors import DataError, PromiseError, RequirementError, RoleError, closest
from shoal.privacy import Requirement, claims, least_people, needs_values, people_behind
from shoal.release import Attribute, ClustersRelease
from shoal.release.encoding import Encoding, Scale


@dataclass(frozen=True, eq=False)
class Wish:
    """What a user asked for; as the parameters of `AnonymousClusters`, checked."""

    requirement: Requirement
    public: Sequence[str] | None
    sensitive: Sequence[str]
    domain: Domain | None
    hierarchies: Mapping[str, Hierarchy]
    person: str | None
    stop: Stop
    method: Literal["mst", "kmeans"] | None
    scale: bool
    allow_small: bool
    random_state: int | np.random.RandomState | None


def mine_clusters(wish: Wish, table: Table) -> ClustersRelease:
    """Mine clusters that keep a requirement, and attach the verdict of their audit."""
    features = [name for name in table if name != wish.person]
    public = _public(wish, table, features)
    whose = None if wish.person is None else whose_rows(table[wish.person])
    people_column = [] if wish.person is None else [table[wish.person]]
    n_people = table.n_rows if whose is None else int(whose.max()) + 1
    least = 1 if wish.allow_small else max(2, least_people(wish.requirement))
    if n_people < least:  # said before anything about columns, which would be a puzzle
        raise _too_few(wish, n_people, table.n_rows)
    table = _settled(wish, table.select(features), public, whose)
    attributes = [Attribute.of(column, "public" if column.name in public else "private") for column in table.values()]
    scales = {
        column.name: _scale(column, wish.scale)
        if column.kind == "numeric"
        else Scale(levels=_levels(column, wish.hierarchies.get(column.name)))
        for column in table.values()
    }
    encoding = Encoding(attributes, scales)
    judge = Judge(table, encoding, public, wish.requirement, _asked_of(wish, table), whose, least)
    model = judge.judge(np.zeros(len(judge.points), dtype=np.int64))
    if model is None:
        raise _too_few(wish, n_people, table.n_rows)
    path = Path(model)
    if (wish.method or ("mst" if len(judge.points) <= MANY else "kmeans")) == "mst":
        grow_by_edges(judge, path, wish.stop)
    else:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # comes with scikit-learn

        # one thread: sums in another order are other bytes, and on few rows threads take longer
        with threadpool_limits(1, "openmp"):
            grow_by_means(judge, path, wish.stop, check_random_state(wish.random_state))
    rows = Table([*table.values(), *people_column])
    for model in path.latest_first():
        release = ClustersRelease(
            tuple(attributes),
            tuple(claims(wish.requirement)),
            scales,
            model.means,
            tuple(model.people.tolist()),
            sensitive=tuple(wish.sensitive),
            small=wish.allow_small,
            total=None if whose is None else n_people,
        )
        verdict = audit(release, rows, privacy=wish.requirement, person=None if whose is None else wish.person)
        if verdict.holds:
            return release.with_audit(verdict)
        if not any(each.code == "finer-groups" for each in verdict.findings):
            break
        # with three private numbers and more, the audit's solver may leave open what was decided here: one split less
    # never on purpose: the audit shares no code with the miner
    raise PromiseError("audit-failed", "The clusters failed their own audit and are withheld. Please report this.")


def _too_few(wish: Wish, n_people: int, n_rows: int) -> PromiseError:
    return PromiseError(
        "table-too-small",
        f"Even one cluster of all {n_people:,} people (n_samples={n_rows}) does not keep "
        f"'{wish.requirement.describe()}', or its centroid would be somebody's row. "
        "Ask for less, or give more people.",
    )


def _public(wish: Wish, table: Table, features: list[str]) -> tuple[str, ...]:
    """The columns an attacker knows; names that mean nothing are refused."""
    given = {"public": wish.public, "sensitive": wish.sensitive, "person": () if wish.person is None else [wish.person]}
    for role, names in given.items():
        if isinstance(names, str):
            raise RoleError("roles", f"Roles: {role} must be a list of column names; got one string. Try [{names!r}].")
        if not isinstance(() if names is None else names, Collection):
            raise RoleError("roles", f"Roles: {role} must be a list of column names; got {type(names).__name__}.")
        for name in () if names is None else names:
            if not isinstance(name, str):
                raise RoleError("roles", f"Roles: {role} must be column names, which are text; got {name!r}.")
            if name not in table:
                raise RoleError("roles", f"Roles: no column {name!r} (named as {role}).{closest(name, table)}")
            if role != "person" and name == wish.person:
                raise RoleError("roles", f"Roles: column {name!r} tells people apart: it can have no other role.")
    if not features:
        raise DataError("no-features", "There is no column to take distances over.")
    public = tuple(features if wish.public is None else [name for name in features if name in wish.public])
    for name in wish.sensitive:
        if name in public:
            raise RoleError("roles", f"Roles: column {name!r} is named as sensitive but is not private.")
    return public


def _settled(wish: Wish, table: Table, public: Sequence[str], whose: np.ndarray | None) -> Table:
    """The columns with their domains settled, and no number missing."""
    if wish.domain is not None and not isinstance(wish.domain, Mapping):
        raise DataError("domain", "domain must be a dict from column to its values, or to its two bounds.")
    domain = dict(wish.domain or {})
    for name in domain:
        if name not in table:
            raise DataError("no-column", f"domain: no column {name!r}.{closest(name, table)}")
    behind = people_behind(wish.requirement)
    lacking = {
        name: int((column.codes == len(column.values)).sum())
        for name, column in table.items()
        if column.kind == "numeric"
    }
    if any(lacking.values()):
        named = ", ".join(f"{name!r} in {n} row(s)" for name, n in lacking.items() if n)
        raise DataError(
            "missing-values",
            f"Numbers are missing (NaN): {named}, and a missing number has no distance. Fill them in, leave these rows "
            "out, or make the column one of categories, of which missing is one more.",
        )
    columns = []
    for name, column in table.items():
        declared = domain.get(name)
        if declared is None and column.kind == "categorical" and name in wish.hierarchies:
            declared = wish.hierarchies[name].values
        columns.append(declare_column(column.compact(), declared, 0 if name in public else behind, whose))
    for name in wish.sensitive:
        check_sensitive(table[name])
    return Table(columns)


def _asked_of(wish: Wish, table: Table) -> list[Column]:
    """The columns whose values the requirement is about; none where sizes are all it asks."""
    if not needs_values(wish.requirement):
        return []
    if not wish.sensitive:
        raise RequirementError(
            "nothing-sensitive",
            "A requirement about private values needs a private column named as sensitive.",
        )
    return [table[name].compact() for name in wish.sensitive]


def _levels(column: Column, hierarchy: Hierarchy | None) -> tuple[tuple[str, ...], ...]:
    """For each level above the values of a categorical column the group of every value; missing is in none."""
    if hierarchy is None:
        return ()
    levels = hierarchy.bind(column)
    groups = list(zip(levels.maps, levels.labels, strict=True))[1:]
    return tuple(tuple(labels[each] for each in of_code[: len(column.values)]) for of_code, labels in groups)


def _scale(column: Column, scaled: bool) -> Scale:
    """Round numbers near the mean and the standard deviation of a column; everybody stands behind them."""
    if not scaled:
        return Scale()
    numbers, counts = column.numbers, column.counts()[: len(column.numbers)]
    size = float(np.abs(numbers).max())
    if not size < 1e100:
        raise DataError("too-large", f"Column {column.name!r} holds numbers beyond 1e100. Use another unit.")
    mean = float(np.average(numbers, weights=counts))
    spread = float(np.sqrt(np.average((numbers - mean) ** 2, weights=counts)))
    if spread <= 1e-12 * size:
        return Scale()
    spread = float(f"{spread:.1e}")
    return Scale(float(np.round(mean, -int(np.floor(np.log10(spread))))) + 0.0, spread)
