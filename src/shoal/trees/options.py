# SPDX-License-Identifier: Apache-2.0
"""Which options make sense."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.engines import ENGINES
from shoal.errors import RequirementError
from shoal.release.statement import STATEMENTS


def check_options(tree: Any) -> None:
    """Refuse options of an `AnonymousTreeClassifier` that mean nothing."""
    allowed: dict[str, tuple[Any, ...]] = {
        "criterion": ("gain", "gini", "ratio", None),
        "grouping": ("levels", "halves", "merge", None),
        "lookahead": (0, 1),
        "variant": ("id3", "c45", None),
        "engine": ENGINES,
        "statement": STATEMENTS,
        "search": (True, False, None),
        "strict": (True, False),
        "unknown": ("error", "ancestor"),
    }
    for name, least in (("max_depth", 1), ("max_leaves", 1), ("max_codes", 2)):
        value = getattr(tree, name)
        none = value is None and name != "max_codes"
        if not none and (isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least):
            raise RequirementError(
                "parameter",
                f"AnonymousTreeClassifier: {name} must be a whole number of at least {least}"
                f"{'' if name == 'max_codes' else ', or None'}; got {value!r}.",
            )
    gain = tree.min_gain
    if isinstance(gain, bool) or not isinstance(gain, (int, float, np.integer, np.floating)) or not 0 <= gain < np.inf:
        raise RequirementError(
            "parameter", f"AnonymousTreeClassifier: min_gain must be a number of at least 0; got {gain!r}."
        )
    pruning = tree.pruning
    if pruning not in ("cost", "none", None) and not (isinstance(pruning, float) and 0 < pruning <= 0.5):
        raise RequirementError(
            "parameter",
            "AnonymousTreeClassifier: pruning must be 'cost', 'none', None or a number above 0 and at most 0.5; "
            f"got {pruning!r}.",
        )
    for name, values in allowed.items():
        if getattr(tree, name) not in values:
            choice = " or ".join(map(repr, values))
            raise RequirementError(
                "parameter", f"AnonymousTreeClassifier: {name} must be {choice}; got {getattr(tree, name)!r}."
            )
