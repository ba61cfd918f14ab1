# SPDX-License-Identifier: Apache-2.0
"""Who may know which column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from shoal.errors import RoleError, closest

Role = Literal["identifier", "public", "private"]
TargetRole = Literal["public", "private"]


@dataclass(frozen=True)
class Roles:
    """The role of every column of a table, checked once.

    Use `Roles.resolve` to make one from what a user said; the constructor takes lists that are already complete.

    >>> Roles.resolve(["name", "age", "sex", "income"], target="income", identifier=["name"])
    Roles(public=('age', 'sex'), private=(), target='income', target_role='private', identifier=('name',),
          sensitive=())
    """

    public: tuple[str, ...]
    private: tuple[str, ...]
    target: str
    target_role: TargetRole = "private"
    identifier: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()

    @classmethod
    def resolve(
        cls,
        columns: Sequence[str],
        *,
        target: str,
        public: Iterable[str] | None = None,
        private: Iterable[str] | None = None,
        identifier: Iterable[str] = (),
        target_role: TargetRole = "private",
        sensitive: Iterable[str] = (),
    ) -> Roles:
        """Fill in what was left open and report every problem at once.

        With neither list, every column but the target is public. With one list, the other takes the rest. With both,
        every column must be in one of them.
        """
        given = {
            "identifier": _names(identifier, "identifier"),
            "public": _names(public, "public"),
            "private": _names(private, "private"),
        }
        sensitive = _names(sensitive, "sensitive")
        problems: list[str] = []
        if target_role not in ("public", "private"):
            problems.append(f"the target's role must be 'public' or 'private'; got {target_role!r}")
        known = set(columns)
        for role, names in [*given.items(), ("sensitive", sensitive), ("target", (target,))]:
            for name in dict.fromkeys(names):
                if name not in known:
                    problems.append(f"no column {name!r} (named as {role}).{closest(name, columns)}".rstrip("."))
        # a target named in a list states its own role: accept it when it agrees
        for role in ("public", "private"):
            if target in given[role] and role == target_role:
                given[role] = tuple(name for name in given[role] if name != target)
        said: dict[str, list[str]] = {target: ["target"]}
        for role, names in given.items():
            for name in names:
                said.setdefault(name, []).append(role)
        for name, roles in said.items():
            if len(set(roles)) > 1:
                problems.append(f"column {name!r} has more than one role: {', '.join(dict.fromkeys(roles))}")
            elif len(roles) > 1:
                problems.append(f"column {name!r} is named more than once as {roles[0]}")
        rest = tuple(name for name in columns if name not in said)
        if public is None:
            given["public"] += rest
        elif private is None:
            given["private"] += rest
        elif rest:
            problems.append(f"no role for {', '.join(map(repr, rest))}")
        private_names = {*given["private"], *([target] if target_role == "private" else [])}
        for name in sensitive:
            if name in known and name not in private_names:
                problems.append(f"column {name!r} is named as sensitive but is not private")
        if problems:
            raise RoleError("roles", "Roles: " + "; ".join(problems) + ".")
        order = {name: position for position, name in enumerate(columns)}
        return cls(
            public=tuple(sorted(given["public"], key=order.__getitem__)),
            private=tuple(sorted(given["private"], key=order.__getitem__)),
            target=target,
            target_role=target_role,
            identifier=tuple(sorted(given["identifier"], key=order.__getitem__)),
            sensitive=tuple(name for name in sensitive if name != target),
        )

    @property
    def features(self) -> tuple[str, ...]:
        """The columns a model may use: public and private ones, without target and identifiers."""
        return self.public + self.private

    def of(self, name: str) -> Role:
        """The role of one column."""
        if name == self.target:
            return self.target_role
        if name in self.public:
            return "public"
        return "private" if name in self.private else "identifier"


def _names(names: Iterable[str] | None, role: str) -> tuple[str, ...]:
    if names is None:
        return ()
    if isinstance(names, str):
        raise RoleError("roles", f"Roles: {role} must be a list of column names; got one string. Try [{names!r}].")
    names = tuple(names)
    if not all(isinstance(name, str) for name in names):
        raise RoleError("roles", f"Roles: {role} must be a list of column names, and a name is a text.")
    return names
