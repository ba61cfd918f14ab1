# SPDX-License-Identifier: Apache-2.0
"""One door for everything that can be audited."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from shoal.audit.foreign.tables import AnonymisedTable, audit_anonymised
from shoal.audit.result import Audit
from shoal.audit.rules import Rules
from shoal.audit.subject import audit_subject
from shoal.errors import DataError, RequirementError
from shoal.privacy import Requirement, as_requirement, partal_asked
from shoal.release import (
    ClustersRelease,
    EnsembleRelease,
    ModelRelease,
    ProjectionsRelease,
    RulesRelease,
    TableRelease,
    TreeRelease,
)

if TYPE_CHECKING:
    from shoal.data.coded import CodedRows
    from shoal.data.spark_rows import SparkCoded

OURS = TreeRelease | EnsembleRelease | ClustersRelease | TableRelease | ProjectionsRelease | ModelRelease | RulesRelease


def audit(
    release: Any,
    X: Any = None,
    y: Any = None,
    *,
    public: Collection[str] | None = None,
    privacy: Requirement | int | None = None,
    domain: Mapping[str, Sequence[Any]] | None = None,
    sensitive: Sequence[str] = (),
    person: str | None = None,
    engine: Literal["memory", "stream", "spark"] = "memory",
) -> Audit:
    """Recount the groups of a release or a model from the rows it was learned from, and say whether a promise holds.

    Parameters
    ----------
    release
        A release, a fitted model that carries one (`release_`), a model that somebody else trained (see
        `shoal.audit.foreign` for what is read and how), or an `AnonymisedTable` that somebody else made.
    X
        The rows: a data frame, an Arrow table, a NumPy array or a `Table`. Columns the release does not name are
        left alone. A table needs none, Shoal's or another's: it is recounted from what it publishes, and held
        against the rows where they are given.
    y
        The target's values, the name of its column in `X`, or None when `X` has a column of the target's name.
    public
        The columns an attacker may know, if other than the release says; of a foreign model, by default every
        column but the target.
    privacy
        The requirement to ask, if other than the release claims; a whole number k means `KAnonymity(k)`. A foreign
        model claims nothing, so it must be said.
    domain
        For a foreign model: declared values or bounds of columns. Others are taken to have the values and ranges of
        the rows.
    sensitive
        For a foreign model: private columns besides the target that requirements about values are asked of.
    person
        The column that tells people apart, where they may have several rows. Then every count is one of different
        people. A release that counts people asks for it; one that counts rows is asked more than it claims.
    engine
        ``"stream"``: look at the rows a batch at a time, however many there are. ``"spark"``: look at them where they
        are, on a cluster. For released trees and tables.

    Returns
    -------
    Audit
        The verdict, the smallest group, what an attacker knows, and findings that name the nodes responsible.

    Notes
    -----
    The promise holds when every group keeps the requirement or its span is a single bin, which tells nothing private
    (Claim 3 of [1]_). This code imports no miner.

    References
    ----------
    .. [1] A. Friedman, R. Wolff, A. Schuster, "Providing k-anonymity in data mining", VLDB Journal 17 (2008),
       789-804, doi:10.1007/s00778-006-0039-5.

    Examples
    --------
    >>> from shoal import AnonymousTreeClassifier, audit, load_sample
    >>> people = load_sample().table.select(["age", "sex", "education", "diabetes"])
    >>> tree = AnonymousTreeClassifier(privacy=100).fit(people, "diabetes")
    >>> verdict = audit(tree, people)
    >>> verdict.holds, verdict.smallest_group >= 100
    (True, True)
    >>> audit(tree, people, privacy=2000).holds
    False
    """
    release = getattr(release, "release_", release)
    if engine != "memory":
        return _in_batches(release, X, y, public=public, privacy=privacy, person=person, engine=engine)
    if isinstance(release, AnonymisedTable):
        if y is not None:
            raise DataError(
                "no-target", "A table has no target: name private columns with sensitive=, and leave out y."
            )
        return audit_anonymised(
            release, X, public=public, privacy=privacy, domain=domain, sensitive=sensitive, person=person
        )
    if not isinstance(release, OURS):
        from shoal.audit.foreign import read_model

        # an item is there or not: nobody has to declare that
        declared = tuple(domain or ()) if not isinstance(release, Rules) else release.items
        subject, table = read_model(release, X, y, domain=domain, also=[*sensitive, *([person] if person else [])])
        return audit_subject(
            subject,
            table,
            public=public,
            privacy=privacy,
            sensitive=sensitive,
            person=person,
            declared=declared,
        )
    if domain is not None or sensitive:
        raise DataError(
            "stated-already",
            "A release states its own domain and sensitive columns: leave out domain= and sensitive=.",
        )
    if isinstance(release, TableRelease):
        from shoal.audit.tables import audit_table

        return audit_table(release, X, y, public=public, privacy=privacy, person=person)
    if isinstance(release, ProjectionsRelease):
        from shoal.audit.projections import audit_projections

        return audit_projections(release, X, y, public=public, privacy=privacy, person=person)
    if isinstance(release, ClustersRelease):
        from shoal.audit.clusters.released import audit_clusters

        return audit_clusters(release, X, y, public=public, privacy=privacy, person=person)
    if isinstance(release, ModelRelease):
        from shoal.audit.models import audit_model

        return audit_model(release, X, y, public=public, privacy=privacy, person=person)
    if isinstance(release, RulesRelease):
        from shoal.audit.rules.released import audit_rules

        return audit_rules(release, X, y, public=public, privacy=privacy, person=person)
    if isinstance(release, EnsembleRelease) and _partal(release, privacy):
        from shoal.audit.projected_trees import audit_projected_trees

        return audit_projected_trees(release, X, y, public=public, privacy=privacy, person=person)
    if isinstance(release, EnsembleRelease):
        from shoal.audit.ensembles import audit_ensemble

        return audit_ensemble(release, X, y, public=public, privacy=privacy, person=person)
    from shoal.audit.trees import audit_tree

    return audit_tree(release, X, y, public=public, privacy=privacy, person=person)


def _partal(release: EnsembleRelease, privacy: Requirement | int | None) -> bool:
    """Whether PartAL is asked for."""
    return partal_asked(release.requirement if privacy is None else as_requirement(privacy)) is not None


def _in_batches(release: Any, X: Any, y: Any, *, public: Any, privacy: Any, person: str | None, engine: str) -> Audit:
    """The audit of a tree or a table, from rows that are read a batch at a time."""
    if engine not in ("stream", "spark"):
        raise RequirementError("parameter", f"audit: engine must be 'memory', 'stream' or 'spark'; got {engine!r}.")
    ours = isinstance(release, (TreeRelease, TableRelease)) and not release.several_rows
    if not ours or X is None or person is not None or not (y is None or isinstance(y, str)):
        raise DataError(
            "engine",
            f"With engine={engine!r}, a tree or a table that Shoal released is audited with the original rows, its "
            "target is one of their columns, and every row is a person. Try engine='memory'.",
        )
    from shoal.audit.tables import audit_table
    from shoal.audit.trees import audit_tree
    from shoal.data.pieces import Pieces

    kinds: dict[str, Any] = dict(release.kinds)
    if y is not None and y != release.target:
        kinds[y] = kinds.pop(release.target, "categorical")
    with _coded_rows(X, kinds, engine) as rows:
        if y is not None and y != release.target:
            rows.rename(y, release.target)
        how = audit_tree if isinstance(release, TreeRelease) else audit_table
        return how(release, Pieces(rows, rows.columns), public=public, privacy=privacy)


def _coded_rows(X: Any, kinds: dict[str, Any], engine: str) -> CodedRows | SparkCoded:
    """The columns that a release knows, as codes."""
    if engine == "spark":
        from shoal.data.spark_rows import SparkCoded, named_columns

        return SparkCoded(X, named_columns(X, kinds), kinds=kinds)
    from shoal.data.coded import CodedRows
    from shoal.data.sources import open_source

    source = open_source(X, kinds=kinds, only=kinds)
    return CodedRows(source, source.names)
