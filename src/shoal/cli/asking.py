# SPDX-License-Identifier: Apache-2.0
"""From a project and a thing to the question an audit answers: which rows, which attacker, which requirement."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.options import Engine, Usage
from shoal.cli.project import Project
from shoal.cli.tables import known_to_attacker, open_data, read_data, read_for, resolve_roles
from shoal.cli.things import Thing
from shoal.errors import DataError, closest

if TYPE_CHECKING:
    from shoal.audit import Audit
    from shoal.audit.telling import ColumnRanking
    from shoal.cli.project import Where
    from shoal.data import Table
    from shoal.privacy import Requirement
    from shoal.release import TreeRelease


@dataclass(frozen=True)
class Question:
    """What is audited, on which rows, and the further arguments of `shoal.audit`.

    `release` is what a report may say more about, None for what somebody else made; `note` is for standard error.
    """

    what: Any
    X: Any
    y: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    release: Any = None
    note: str = ""
    is_model: bool = False

    def audit(self) -> Audit:
        """The verdict."""
        from shoal.audit import audit

        return audit(self.what, self.X, self.y, **self.options)

    def features(self) -> Any:
        """The rows without what a foreign model was not given: its target, and who they are of."""
        if not self.is_model:
            return self.X
        return self.X.drop([name for name in (self.y, self.options["person"]) if name is not None])

    def rank(self) -> ColumnRanking:
        """What each column tells."""
        from shoal.audit.telling import rank_columns

        return rank_columns(self.what, self.X, self.y, **self.options)

    def tree(self, verdict: Audit) -> TreeRelease | None:
        """A tree to draw, where what was audited is a single one and no release."""
        if not self.is_model:
            return None
        from shoal.audit.foreign.drawn import drawn_tree

        options = self.options
        also = [*options["sensitive"], *([options["person"]] if options["person"] else [])]
        return drawn_tree(self.what, self.X, self.y, public=verdict.public, domain=options["domain"], also=also)


def question(
    thing: Thing,
    project: Project,
    source: Where | None,
    *,
    requires: bool = True,
    engine: Engine = Engine.memory,
) -> Question:
    """What to ask of a thing; where nothing is required of groups, `requires` is False."""
    if engine is not Engine.memory:
        return _elsewhere(thing, project, source, engine)
    if thing.kind == "release" and thing.what.kind == "joint":
        assert source is not None
        return _of_joint(thing.what, project, source, _required(project) if requires else None)
    if thing.kind == "release":
        return _of_release(thing.what, project, source)
    if thing.kind == "table":
        return _of_table(thing.what, project, source)
    assert source is not None
    if thing.kind == "rules":
        return _of_rules(thing.what, project, source)
    return _of_model(thing.what, project, source, _required(project) if requires else None)


def _elsewhere(thing: Thing, project: Project, source: Where | None, engine: Engine) -> Question:
    """A released tree or table, and rows that are not read into memory."""
    if thing.kind != "release" or thing.what.kind not in ("tree", "table") or source is None:
        raise Usage(f"--engine {engine.value} takes a tree or a table that Shoal released, and the original rows.")
    return _of_release(thing.what, project, source, engine)


def _of_release(release: Any, project: Project, source: Where | None, engine: Engine = Engine.memory) -> Question:
    if "sensitive" in project.options:
        raise Usage("A release states its own sensitive columns: leave out --sensitive.")
    if release.kind == "rules" and source is not None:
        rows = read_data(project, source) if release.rows == "table" else read_baskets(project, source)
        # the project file speaks of columns, a release of rules of items
        items = project.public if "public" in project.options else None
        asked = {"public": items, "privacy": _asked(release, project), "person": project.person}
        return Question(release, rows, options=asked, release=release)
    table: Any = None
    if engine is not Engine.memory:
        assert source is not None
        table = open_data(project, source, project.kinds, engine)
    elif source is not None:
        table = read_for(release, project, source)
    public = known_to_attacker(release, project)
    note = ""
    if public is not None and not project.options & {"public", "private"}:
        note = f"{project.file} gives some columns another role than the release does; audited as it says."
    options = {
        "public": public,
        "privacy": _asked(release, project),
        "person": None if table is None else project.person,
    }
    if engine is not Engine.memory:
        options["engine"] = engine.value
    return Question(release, table, options=options, release=release, note=note)


def _asked(release: TreeRelease, project: Project) -> Requirement:
    required = project.requirement()
    if required is None:
        return release.requirement
    if project.options & {"k", "confidence"}:
        return required
    from shoal.privacy import partal_asked

    if partal_asked(release.requirement) is not None:  # what was published by level is held to the project's level
        required = as_level(required)
    both: Requirement = release.requirement & required  # type: ignore[operator]
    return both


def as_level(required: Requirement) -> Requirement:
    """What a project asks, as it is asked of projections: k is a level (PartAL) there."""
    from shoal.privacy import KAnonymity, PartAL
    from shoal.privacy.parts import parts_of

    parts = [PartAL(part.k) if isinstance(part, KAnonymity) else part for part in parts_of(required)]
    return functools.reduce(operator.and_, parts)


def _required(project: Project) -> Requirement:
    required = project.requirement()
    if required is None:
        raise Usage(
            "It claims nothing itself: say what to ask, such as how many people a group must have, with -k 10 or "
            "[privacy] k in shoal.toml."
        )
    return required


def _of_model(model: Any, project: Project, source: Where, required: Requirement | None) -> Question:
    """A fitted model: roles are those of the project, for the columns that the model was given."""
    table = read_data(project, source)
    roles = resolve_roles(project, table, need_target=False)
    person = project.person
    table = table.drop(name for name in roles.identifier if name != person)
    public = [*roles.public, *([roles.target] if project.target and roles.target_role == "public" else [])]
    return Question(
        model,
        table,
        project.target,
        options={
            "public": public,
            "privacy": required,
            "domain": _declared(project, table.names),
            "sensitive": roles.sensitive,
            "person": person,
        },
        is_model=True,
    )


def _of_joint(release: Any, project: Project, source: Where, required: Requirement | None) -> Question:
    """A joint model against the rows of one owner: what he can tell apart of his own people."""
    from shoal.share import JointModel
    from shoal.share.spans import spans_of

    model = JointModel(release)
    table = read_for(release, project, source)
    known = known_to_attacker(release.first, project)
    public = list(release.first.public) if known is None else known
    options = {
        "public": [name for name in public if name in table],
        "privacy": required,
        "domain": {name: values for name, values in model.declared.items() if name in table},
        "sensitive": (),
        "person": project.person,
    }
    note = (
        "A joint model is a function of what owners published, so it tells nothing that they do not tell. This counts "
        "how finely it would part these people if it had been learned from them: a worst case."
    )
    return Question(spans_of(model), table, release.target, options=options, note=note)


def _of_rules(rules: Any, project: Project, source: Where) -> Question:
    """Association rules: the columns of the rows are items, or a transaction and an item."""
    required = _required(project)
    public: Sequence[str] | None = project.public
    if public is None and project.private is not None:
        public = [item for item in rules.items if item not in project.private]
    options = {"public": public, "privacy": required, "person": project.person}
    return Question(rules, read_baskets(project, source), options=options)


def read_baskets(project: Project, source: Where) -> Table:
    table = read_data(project, source)
    return table.drop(name for name in project.identifier if name != project.person)


def _of_table(path: Path, project: Project, source: Where | None) -> Question:
    """A table that claims to be anonymised, alone or against the original rows. Its target is a sensitive column."""
    from shoal.audit import AnonymisedTable
    from shoal.data import load_hierarchies, read_table

    required = _required(project)
    # how the original file is written says nothing of this one, but for what stands for a missing value
    rows = read_table(path) if project.missing is None else read_table(path, missing=project.missing)
    names = rows.names
    hierarchies = project.hierarchies
    if isinstance(hierarchies, Mapping):
        hierarchies = {name: spec for name, spec in hierarchies.items() if name in names}
    published = AnonymisedTable(rows, hierarchies=load_hierarchies(hierarchies, names, project.folder))
    roles = resolve_roles(_of_columns(project, names), published.table, need_target=False)
    target = [roles.target] if roles.target in names and roles.target_role == "private" else []
    hidden = {*target, *roles.private, *roles.identifier}
    options = {
        "public": [name for name in names if name not in hidden],
        "privacy": required,
        "domain": _declared(project, names) or None,
        "sensitive": [*target, *roles.sensitive],
        "person": project.person if source is not None or project.person in names else None,
    }
    return Question(published, _original(project, source, options), options=options)


def _original(project: Project, source: Where | None, options: Mapping[str, Any]) -> Table | None:
    """The original rows of a published table, which must have the columns that are compared."""
    if source is None:
        return None
    rows = read_data(project, source)
    for name in [*options["public"], *options["sensitive"]]:
        if name not in rows:
            raise DataError(
                "no-column", f"The original rows in {str(source)!r} have no column {name!r}.{closest(name, rows)}"
            )
    return rows


def _of_columns(project: Project, names: Sequence[str]) -> Project:
    """The project as far as it is about some columns: a published table need not have all that shoal.toml names."""
    change: dict[str, Any] = {}
    for role in ("public", "private", "identifier", "sensitive"):
        said = getattr(project, role)
        if said is not None and role not in project.options:
            change[role] = tuple(name for name in said if name in names)
    if project.target not in names and "target" not in project.options:
        change["target"] = None
    if project.person not in names:
        change["person"] = None
    return replace(project, **change)


def _declared(project: Project, names: Sequence[str]) -> dict[str, Any]:
    """What shoal.toml declares of columns that there are."""
    return {name: values for name, values in project.domain.items() if name in names}
