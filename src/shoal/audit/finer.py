# SPDX-License-Identifier: Apache-2.0
"""What groups that are finer than a model's prove, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from shoal.audit.groups import Groups
from shoal.audit.result import Finding
from shoal.data.table import Column
from shoal.privacy import Requirement, needs_values

if TYPE_CHECKING:
    from shoal.audit.subject import Subject


def merging_keeps(requirement: Requirement, columns: Sequence[Column | None], groups: Groups) -> bool:
    """Whether groups that keep a requirement keep it merged, so that it is enough to ask finer ones.

    A monotone requirement does that for groups of different people. One that asks for values need not where a person
    is in several groups, or counts with another value in the merged one.
    """
    if not requirement.monotone:
        return False
    if groups.person is None or not needs_values(requirement):
        return True
    pairs = [groups.person * column.n_codes + column.codes for column in columns if column is not None]
    n = groups.n_people
    return int(groups.people.sum()) == n and all(len(np.unique(each)) == n for each in pairs)


def how_counted(subject: Subject, people_finer: int, proven: bool) -> list[Finding]:
    """That people are grouped more finely than the model tells them apart, and what follows."""
    holds = "if the requirement holds, it holds for the model; " if proven else ""
    if subject.exact:
        what = (
            f"The spans of {people_finer:,} people come too near a border to be worked out for certain. These people "
            "are grouped more finely than the model may tell them apart: "
        )
        return [
            Finding(
                "finer-groups",
                "note",
                f"{what}{holds}if it fails because of them, the model may still keep it.",
                people_finer,
            )
        ]
    what = (
        "The spans of this model cannot be worked out exactly. People are grouped more finely than the model tells "
        "them apart: "
    )
    return [Finding("finer-groups", "note", f"{what}{holds}if it fails, the model may still keep it.")]


def not_proven(people: int) -> Finding:
    """That finer groups keep a requirement which merged ones need not keep."""
    return Finding(
        "not-proven",
        "breach",
        "The requirement holds for groups that are finer than the model's, but groups that keep it need not keep it "
        "merged: it is not monotone, or people have rows in several groups. Nothing is proven for the model. Ask for "
        "a monotone requirement, or give one row a person.",
        people,
    )
