# SPDX-License-Identifier: Apache-2.0
"""A joint model as a recipe: the releases of several owners, and how to learn from them.

The model is a function of these releases, so it tells nothing that they do not tell; it is learned again wherever the
file is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shoal.errors import ReleaseError
from shoal.release import checks
from shoal.release.domain import Attribute
from shoal.release.files import FORMAT, write_json
from shoal.release.parse import parse_tree
from shoal.release.tree import TreeRelease
from shoal.release.verdict import fingerprint

LEARNERS = ("tree", "bayes", "rules", "boosting", "bag", "vote")
MAX_OWNERS = 1_000
MAX_ROWS = 100_000_000


@dataclass(frozen=True, eq=False)
class JointRelease:
    """What several owners published, and how one model is learned from it.

    Parameters
    ----------
    owners
        The released tree of each owner, by a name.
    learner
        ``"tree"``, ``"bayes"``, ``"rules"``, ``"boosting"``, learned from pseudo-data; ``"bag"``, the owners' trees'
        shares averaged; or ``"vote"``, their answers.
    n_rows
        How many pseudo-rows are made in all; None: as many as there are people.
    seed
        What the pseudo-rows are drawn with.
    widen
        Whether domains that differ were accepted; then the widest counts.
    """

    owners: Mapping[str, TreeRelease]
    learner: str = "tree"
    n_rows: int | None = None
    seed: int = 0
    widen: bool = False

    kind = "joint"

    @property
    def first(self) -> TreeRelease:
        """The release of the first owner: target and classes are the same in all."""
        return next(iter(self.owners.values()))

    @property
    def target(self) -> str:
        """What is predicted."""
        return self.first.target

    def attribute(self, name: str) -> Attribute:
        """One attribute as the first owner states it."""
        return self.first.attribute(name)

    @property
    def kinds(self) -> dict[str, Any]:
        """How each column is to be read."""
        return self.first.kinds

    @property
    def n_people(self) -> int:
        """How many people the owners have; one who is at two of them counts twice."""
        return sum(release.n_people for release in self.owners.values())

    def __repr__(self) -> str:
        return f"<JointRelease of {self.target!r}: {len(self.owners)} owners, learner {self.learner}>"

    def __str__(self) -> str:
        lines = [f"{self.target!r} learned from what {len(self.owners)} owners published ({self.learner})"]
        for name, release in self.owners.items():
            lines.append(
                f"  {name}: {release.n_people:,} people, {len(release.leaves):,} leaves; "
                f"{release.requirement.describe()}"
            )
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The recipe as plain JSON, the owners' releases whole."""
        bodies = []
        for name, release in self.owners.items():
            body = release.to_json()
            if release.verdict is not None:
                body["audit"] = release.verdict.to_json()
            bodies.append({"owner": name, "release": body})
        return {
            "format": FORMAT,
            "kind": self.kind,
            "learner": self.learner,
            **({} if self.n_rows is None else {"rows": self.n_rows}),
            "seed": self.seed,
            **({"widen": True} if self.widen else {}),
            "owners": bodies,
        }

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of everything the recipe says."""
        return fingerprint(self.to_json())

    def save(self, path: str | Path) -> None:
        """Write the recipe. Every owner's release must carry an audit of its very content that holds."""
        check_audited(self.owners)
        write_json(self.to_json(), path)


def check_audited(owners: Mapping[str, TreeRelease]) -> None:
    """Refuse what its owner did not audit, or somebody changed on the way. An owner's word is all that there is."""
    for name, release in owners.items():
        if release.verdict is None or not release.verdict.holds:
            raise ReleaseError(
                "not-audited", f"The release of {name!r} carries no audit that holds, so nothing is made of it."
            )
        if release.verdict.sha256 != release.sha256:
            raise ReleaseError(
                "changed-since-audit", f"The release of {name!r} is not what its owner audited: a changed file."
            )


def parse_joint(body: dict[str, Any]) -> JointRelease:
    """Build the recipe that a JSON body describes, or say what is wrong and where."""
    checks.keys(body, "release", {"format", "kind", "learner", "seed", "owners"}, {"rows", "widen"})
    learner = checks.text(body["learner"], "learner")
    if learner not in LEARNERS:
        checks.refuse("learner", f"must be one of {', '.join(LEARNERS)}")
    rows = None if "rows" not in body else checks.count(body["rows"], "rows")
    if rows is not None and not 0 < rows <= MAX_ROWS:
        checks.refuse("rows", f"must be from 1 to {MAX_ROWS:,}")
    owners: dict[str, TreeRelease] = {}
    n_nodes = 0
    for i, entry in enumerate(checks.items(body["owners"], "owners", MAX_OWNERS)):
        at = f"owners[{i}]"
        checks.keys(entry, at, {"owner", "release"}, ())
        name = checks.text(entry["owner"], f"{at}.owner")
        if name in owners:
            checks.refuse(f"{at}.owner", "is a name that another owner has")
        release = entry["release"]
        if not isinstance(release, dict) or release.get("kind") != "tree" or release.get("format") != FORMAT:
            checks.refuse(f"{at}.release", "must be a release of kind tree")
        n_nodes += len(release["nodes"]) if isinstance(release.get("nodes"), list) else 0
        if n_nodes > checks.MAX_NODES:
            checks.refuse("owners", f"have more than {checks.MAX_NODES:,} nodes together")
        try:
            owners[name] = parse_tree(release)
        except ReleaseError as error:
            raise ReleaseError(error.code, f"{at}: {error}") from None
    return JointRelease(
        owners, learner, rows, checks.count(body["seed"], "seed"), checks.flag(body, "widen", "release")
    )
