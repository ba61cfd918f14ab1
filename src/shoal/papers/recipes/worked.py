# SPDX-License-Identifier: Apache-2.0
"""Examples that the papers work through by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from shoal.papers.data import Data
from shoal.papers.registry import Measured, Parameters, Point, Unit, recipe
from shoal.papers.worked import get_example, modules


@recipe("worked-example")
class WorkedExample:
    """The numbers of examples; parameters of experiments: `examples`, a list of names."""

    @property
    def sources(self) -> Sequence[str]:
        """All modules of examples: they are small, and quick to run again."""
        return ("shoal.papers.worked", *modules())

    def units(self, parameters: Parameters) -> Iterator[Unit]:
        """One example each."""
        for name in parameters["examples"]:
            get_example(name)  # a name that is not there is told before anything is measured
            yield Unit({"example": name}, ())

    def measure(self, options: Parameters, data: Data) -> Any:
        """What is told, and its value."""
        return dict(get_example(options["example"])())

    def points(self, parameters: Parameters, measured: Sequence[Measured]) -> Iterator[Point]:
        """A number for everything that is told."""
        for each in measured:
            for words, value in each.result.items():
                yield Point("value", words, value)
