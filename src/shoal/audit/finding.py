# SPDX-License-Identifier: Apache-2.0
"""One thing that an audit noticed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


def many(n: int, one: str, more: str) -> str:
    """A number with its noun.

    >>> many(1, "person", "people"), many(2000, "person", "people")
    ('1 person', '2,000 people')
    """
    return f"{n:,} {one if n == 1 else more}"


@dataclass(frozen=True)
class Finding:
    """One thing the auditor noticed.

    `severity` is ``"breach"`` (the promise does not hold), ``"warning"`` (outside the promise, and worth knowing) or
    ``"note"``. `nodes` are the nodes responsible; `people` says how many people it concerns.
    """

    code: str
    severity: Literal["breach", "warning", "note"]
    message: str
    people: int = 0
    nodes: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The finding as plain JSON."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "people": self.people,
            "nodes": list(self.nodes),
        }
