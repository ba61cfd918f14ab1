# SPDX-License-Identifier: Apache-2.0
"""What several examples say alike: who is together, and whether something is so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

YES = " (1: yes)"  # behind the words of what is so or not


def together(names: Sequence[str], group_of: Iterable[int], who: Sequence[str]) -> float:
    """Whether some people are a whole group: nobody of them elsewhere, and nobody else with them.

    >>> together(["Ann", "Bob", "Eve"], [0, 0, 1], ["Ann", "Bob"])
    1.0
    >>> together(["Ann", "Bob", "Eve"], [0, 0, 0], ["Ann", "Bob"])
    0.0
    """
    of = dict(zip(names, group_of, strict=True))
    return float({name for name in names if of[name] == of[who[0]]} == set(who))
