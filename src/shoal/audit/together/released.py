# SPDX-License-Identifier: Apache-2.0
"""Our own releases as subjects, so that several can be audited as one.

Each kind answers three questions about the people of a table: which span each has, whether that is a single bin, and
of which blocks of people the published counts tell a histogram. A bin of any of them but a clustering is a set of
public values times a set of private ones, so all others are separable.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.audit.subject import Subject
from shoal.audit.together.pinned import Told
from shoal.audit.together.rows_read import in_kind
from shoal.data.table import Table
from shoal.privacy import Requirement

Role = Literal["public", "private"]


class Released(Subject):
    """A release as a subject, with what it claims and the role it gives each column.

    Attributes
    ----------
    requirement
        What the release claims.
    roles
        The role of every column that the release names.
    sensitive
        Private columns besides the target that the claims cover too.
    columns
        The columns that decide what the release says of a person, its target included.
    """

    separable = True
    requirement: Requirement
    roles: dict[str, Role]
    sensitive: tuple[str, ...]

    def __init__(self, release: Any, what: str, looked_at: Sequence[str], target: str | None) -> None:
        self.release = release
        self.what = what
        self.target = target
        self.domain = {name: release.attribute(name) for name in looked_at if name != target}
        self.sha256 = release.sha256
        self.requirement = release.requirement
        self.sensitive = tuple(release.sensitive)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that decide what the release says of a person, and those that its claims are about."""
        target = () if self.target is None else (self.target,)
        return tuple(dict.fromkeys((*self.domain, *target, *self.sensitive)))

    @property
    def n_people(self) -> int | None:
        """How many people it tells of; None where it states no counts."""
        return int(self.release.n_people)

    def in_it(self, table: Table, public: Collection[str]) -> NDArray[np.bool_] | None:
        """The rows that the release may tell of; None for all. Whoever is not among them is known not to be in it."""
        return None

    @abstractmethod
    def told(self, table: Table, public: Collection[str]) -> list[Told]:
        """The private columns whose values the published counts tell, block by block."""

    @abstractmethod
    def totals(self) -> dict[str, dict[str, int]]:
        """How many people have each value of the private columns of which the release says so, by name and value."""

    def fitted(self, table: Table) -> Table:
        """The columns that the release looks at, read as it reads them."""
        return Table(in_kind(table[name], self.release.attribute(name).type) for name in self.domain)
