# SPDX-License-Identifier: Apache-2.0
"""Examples that the papers work through by hand: small tables, and the numbers that the text tells of them.

Each module has functions without parameters that compute one example's numbers with Shoal, and enters them with
`@worked("name")`. The experiment's file has the numbers as the paper prints them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache

from shoal.errors import DataError, closest

Numbers = Mapping[str, float]  # what is told, and its value
Example = Callable[[], Numbers]
EXAMPLES: dict[str, Example] = {}


def worked(name: str) -> Callable[[Example], Example]:
    """Enter an example under a name."""

    def enter(function: Example) -> Example:
        EXAMPLES[name] = function
        return function

    return enter


@cache
def modules() -> tuple[str, ...]:
    """The modules of examples, all of them imported."""
    found = tuple(f"{__name__}.{each.name}" for each in pkgutil.iter_modules(__path__))
    for name in found:
        importlib.import_module(name)
    return found


def get_example(name: str) -> Example:
    """The example of a name."""
    modules()
    if name not in EXAMPLES:
        raise DataError("unknown-option", f"There is no example {name!r}.{closest(name, EXAMPLES)}")
    return EXAMPLES[name]
