# SPDX-License-Identifier: Apache-2.0
"""All methods at one requirement: what each keeps of a table, how well can be learned from it, how long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from shoal.anonymize.methods import METHODS, can_suppress, make_method
from shoal.errors import ShoalError
from shoal.evaluate import TableMetrics, learned_accuracy, measure_table
from shoal.release import TableRelease


@dataclass(frozen=True, eq=False)
class Compared:
    """What one method made of a table.

    Attributes
    ----------
    method
        Its name.
    seconds
        How long it took, its audit included; None where it refused.
    release
        What may leave; None where it refused.
    measures
        What generalisation has cost.
    accuracy
        Of a C4.5 tree learned from the release, on the test rows; None without test rows or target.
    refused
        Why it made nothing.
    """

    method: str
    seconds: float | None = None
    release: TableRelease | None = None
    measures: TableMetrics | None = None
    accuracy: float | None = None
    refused: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The comparison's line as plain JSON."""
        if self.release is None or self.measures is None:
            return {"method": self.method, "refused": self.refused}
        return {
            "method": self.method,
            "seconds": self.seconds,
            "rows": self.release.n_rows,
            "left_out": self.release.left_out,
            **self.measures.to_json(),
            "accuracy": self.accuracy,
        }


def compare_methods(
    X: Any,
    y: Any = None,
    *,
    methods: Iterable[str] | None = None,
    test: Any = None,
    suppress: float = 0.0,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    progress: Callable[[str], None] | None = None,
    **common: Any,
) -> list[Compared]:
    """Generalise one table by several methods for the same requirement.

    Parameters
    ----------
    X, y
        The rows, and the target or the name of its column.
    methods
        Names out of `shoal.anonymize.methods.METHODS`; all of them unless given.
    test
        Other rows with the same columns, target included, to tell how well can be learned from each result.
    suppress
        The share of rows that may be left out, by the methods that can.
    options
        For some methods their own options.
    progress
        Is told the name of each method before it starts.
    common
        What all methods are told: `privacy`, `public`, `sensitive`, `domain`, `person`, `hierarchies`, `reproducible`.

    Returns
    -------
    list of Compared
        In the order asked for. A method that cannot serve the requirement, or needs what is not there, says so.

    Examples
    --------
    >>> from shoal import load_sample
    >>> people = load_sample().table.select(["age", "sex", "diabetes"])
    >>> for each in compare_methods(people, "diabetes", methods=["tree", "mondrian"], privacy=500):
    ...     print(each.method, each.measures.n_groups > 1)
    tree True
    mondrian True
    """
    found = []
    for name in METHODS if methods is None else methods:
        if progress is not None:
            progress(name)
        given = {**common, **({"suppress": suppress} if can_suppress(name) else {})}
        started = time.perf_counter()
        try:
            release = make_method(name, given, (options or {}).get(name)).fit(X, y).release_
        except ShoalError as error:
            if error.code in ("method", "no-column", "roles"):  # wrong for every method alike
                raise
            found.append(Compared(name, refused=str(error)))
            continue
        seconds = time.perf_counter() - started
        accuracy = None if test is None or release.target is None else learned_accuracy(release, test)
        found.append(Compared(name, seconds, release, measure_table(release), accuracy))
    return found
