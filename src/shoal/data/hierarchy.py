# SPDX-License-Identifier: Apache-2.0
"""How the values of a column generalise, from exact to ``*``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from shoal.data.discretize import Numbers, grid_cuts, quantile_cuts
from shoal.data.hierarchy_levels import (
    MISSING,
    Levels,
    date_row,
    domain,
    levels_from_cuts,
    levels_from_rows,
    prefix_row,
    wrong_kind,
)
from shoal.data.hierarchy_sources import MAX_VALUES, Row, files_by_column, read_file, tree_rows
from shoal.data.hierarchy_specs import TABLE_KEYS, bad, is_multiple, is_table, numbers, whole
from shoal.data.table import Column
from shoal.errors import HierarchyError, closest

__all__ = ["MISSING", "Hierarchy", "Levels", "load_hierarchies"]

Folder = str | os.PathLike[str] | None

_DATE_PARTS = ("month", "quarter", "year", "decade")
_CUTS = "a list of cut points a level, finest first, each a part of the one before: [[18, 30, 65], [30]]"


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """How values generalise. Make one with a class method or `from_spec`; it never changes.

    >>> Hierarchy.from_tree({"*": {"Low": ["1st", "2nd"], "High": ["BSc", "MSc"]}})
    <Hierarchy: 4 values, 3 levels>
    >>> Hierarchy.intervals([5, 10, 20])
    <Hierarchy: intervals, 4 levels>
    """

    kind: Literal["values", "intervals", "cuts", "equal_size", "prefix", "dates"]
    rows: tuple[Row, ...] = ()
    steps: tuple[Any, ...] = ()
    start: float = 0.0

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], base_folder: Folder = None) -> Hierarchy:
        """A file: nested JSON (``.json``), otherwise one line a value, ``exact;narrow group;...;root``."""
        given = os.fspath(path)
        return cls("values", rows=read_file(Path(base_folder or ".") / given, given))

    @classmethod
    def from_tree(cls, tree: Mapping[Any, Any] | Sequence[Any]) -> Hierarchy:
        """A nested dict: keys are groups, lists hold values. Without a single key on top, ``*`` is added."""
        return cls("values", rows=tree_rows(tree))

    @classmethod
    def intervals(cls, widths: Sequence[float], start: float = 0) -> Hierarchy:
        """Intervals of equal widths from `start`, finest first, each a multiple of the one before."""
        steps, (origin,) = numbers("intervals", widths), numbers("intervals", [start])
        if min(steps) <= 0 or any(not is_multiple(b, a) for a, b in pairwise(steps)):
            raise bad("intervals", "positive widths, each a multiple of the one before, such as [5, 10, 20]")
        return cls("intervals", steps=steps, start=origin)

    @classmethod
    def cuts(cls, levels: Sequence[Sequence[float]]) -> Hierarchy:
        """Given cut points, one list a level, finest first: a cut c parts ``x <= c`` from ``x > c``."""
        if not isinstance(levels, (list, tuple)) or not levels:
            raise bad("cuts", _CUTS)
        steps = tuple(numbers("cuts", level) for level in levels)
        if any(list(level) != sorted(set(level)) for level in steps):
            raise bad("cuts", "ascending numbers at each level")
        if any(not set(b) <= set(a) for a, b in pairwise(steps)):
            raise bad("cuts", _CUTS)
        return cls("cuts", steps=steps)

    @classmethod
    def equal_size(cls, bins: Sequence[int]) -> Hierarchy:
        """So many bins of about equally many people, found when bound; each a multiple of the next."""
        steps = whole("equal_size", bins)
        if steps[-1] < 2 or any(a % b for a, b in pairwise(steps)):
            raise bad("equal_size", "numbers of bins, each a multiple of the next, the last at least 2")
        return cls("equal_size", steps=steps)

    @classmethod
    def prefixes(cls, lengths: Sequence[int]) -> Hierarchy:
        """The first characters of a string, fewer at each level: ``47119`` becomes ``4711*``, ``471*``."""
        steps = whole("prefix", lengths)
        if any(a <= b for a, b in pairwise(steps)):
            raise bad("prefix", "lengths that get smaller, such as [4, 3, 2]")
        return cls("prefix", steps=steps)

    @classmethod
    def dates(cls, parts: Sequence[str]) -> Hierarchy:
        """Parts of ISO dates, from fine to coarse, out of month, quarter, year and decade."""
        wanted = "some of 'month', 'quarter', 'year', 'decade', in this order"
        if not isinstance(parts, (list, tuple)) or not parts:
            raise bad("dates", wanted)
        if list(parts) != [part for part in _DATE_PARTS if part in parts]:
            raise bad("dates", wanted)
        return cls("dates", steps=tuple(parts))

    @classmethod
    def from_spec(cls, spec: Any, base_folder: Folder = None) -> Hierarchy:
        """A hierarchy from what a user may write: a path, a nested dict, a table of ``shoal.toml``.

        A dict is a table when its keys are ``intervals`` (and ``start``), ``cuts``, ``equal_size``,
        ``prefix``, ``dates``, ``tree`` or ``file``; a nested dict whose root has such a name goes in as
        ``{"tree": ...}``. Relative paths start at `base_folder`.

        >>> Hierarchy.from_spec({"intervals": [5, 10], "start": 1}) == Hierarchy.intervals([5, 10], start=1)
        True
        """
        if isinstance(spec, Hierarchy):
            return spec
        if isinstance(spec, (str, os.PathLike)):
            return cls.from_file(spec, base_folder)
        if isinstance(spec, Mapping) and spec and is_table(spec):
            return cls._from_table(spec, base_folder)
        if isinstance(spec, (Mapping, list, tuple)):
            return cls.from_tree(spec)
        raise HierarchyError(
            "hierarchy-bad-spec",
            "A hierarchy is a path, a nested dict, a table such as {'intervals': [5, 10]} or a Hierarchy; "
            f"got {type(spec).__name__}.",
        )

    @classmethod
    def _from_table(cls, spec: Mapping[Any, Any], base_folder: Folder) -> Hierarchy:
        kinds = [key for key in spec if key in TABLE_KEYS]
        known = (*TABLE_KEYS, "start") if kinds == ["intervals"] else TABLE_KEYS
        strange = [key for key in spec if key not in known]
        if len(kinds) != 1 or strange:
            hint = closest(str(strange[0]), known) if strange else ""
            raise HierarchyError(
                "hierarchy-bad-spec",
                f"A hierarchy's table has one of {', '.join(TABLE_KEYS)}, 'start' beside intervals.{hint}",
            )
        kind, value = kinds[0], spec[kinds[0]]
        if kind == "intervals":
            return cls.intervals(value, spec.get("start", 0))
        if kind == "file":
            if not isinstance(value, (str, os.PathLike)):
                raise bad("file", "a path; a nested dict of that name goes in as {'tree': ...}")
            return cls.from_file(value, base_folder)
        makers: dict[str, Callable[[Any], Hierarchy]] = {
            "cuts": cls.cuts,
            "equal_size": cls.equal_size,
            "prefix": cls.prefixes,
            "dates": cls.dates,
            "tree": cls.from_tree,
        }
        return makers[kind](value)

    @property
    def values(self) -> tuple[str, ...] | None:
        """The values it lists, in the order given, or None when it lists none."""
        return tuple(row[0] for row in self.rows) if self.kind == "values" else None

    @property
    def numeric(self) -> bool:
        """Whether it is for numeric columns."""
        return self.kind in ("intervals", "cuts", "equal_size")

    @property
    def n_levels(self) -> int:
        """How many levels it has, the root included and, except for a numeric one, the exact values."""
        if self.kind == "values":
            return len(self.rows[0])
        return len(self.steps) + (1 if self.numeric else 2)

    def __repr__(self) -> str:
        what = f"{len(self.rows)} values" if self.kind == "values" else self.kind
        return f"<Hierarchy: {what}, {self.n_levels} levels>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        mine, others = (self.kind, self.steps, self.start), (other.kind, other.steps, other.start)
        return mine == others and sorted(self.rows) == sorted(other.rows)  # the order of lines says nothing

    def __hash__(self) -> int:
        return hash((self.kind, self.steps, self.start, frozenset(self.rows)))

    def bind(self, column: Column) -> Levels:
        """What the hierarchy means for the codes of a column.

        Levels that split the column no differently than the one before, or not at all, are left out; the
        finest always stays.

        Raises
        ------
        HierarchyError
            If the column has values the hierarchy does not know, or is of the wrong kind.

        Examples
        --------
        >>> column = Column("age", "numeric", np.array([0, 1, 2]), np.array([17.0, 19, 31]), integer=True)
        >>> levels = Hierarchy.intervals([5, 10]).bind(column)
        >>> levels.labels
        (('<=19', '20-24', '25-29', '>=30'), ('<=19', '20-29', '>=30'))
        >>> [groups.tolist() for groups in levels.maps]
        [[0, 0, 3], [0, 0, 2]]
        """
        if self.numeric != (column.kind == "numeric"):
            raise wrong_kind(column)
        if self.numeric:
            return levels_from_cuts(column, self._cut_points(column))
        names = column.names
        if self.kind == "prefix":
            return levels_from_rows(column, [prefix_row(name, self.steps) for name in names], "")
        if self.kind == "dates":
            problem = "that are no ISO dates such as 2024-05-17. Write them so, or declare them missing."
            return levels_from_rows(column, [date_row(name, self.steps) for name in names], problem)
        known = {row[0]: row[:-1] for row in self.rows}
        problem = "that its hierarchy does not list. Add them to the hierarchy, or declare them missing."
        return levels_from_rows(column, [known.get(name) for name in names], problem)

    def _cut_points(self, column: Column) -> Iterator[Numbers]:
        low, high = domain(column)
        for step in self.steps:
            if self.kind == "cuts":
                yield np.array(step)
            elif self.kind == "equal_size":
                yield quantile_cuts(column.numbers, column.counts()[: len(column.numbers)], step)
            else:
                cuts = grid_cuts(step, self.start, low, high, whole=column.integer, limit=MAX_VALUES)
                if cuts is None:
                    raise HierarchyError(
                        "hierarchy-too-many-intervals",
                        f"Column {column.name!r} has more than {MAX_VALUES:,} intervals of the finest width: "
                        "widen them or declare narrower bounds.",
                    )
                yield cuts


def load_hierarchies(
    source: str | os.PathLike[str] | Mapping[str, Any] | None,
    columns: Iterable[str],
    base_folder: Folder = None,
) -> dict[str, Hierarchy]:
    """The hierarchies of a table's columns, from a folder of files or a mapping from column to spec.

    Parameters
    ----------
    source
        None, a folder, or a mapping. A file of a folder belongs to the column it is named after, alone or
        after an underscore: ``education.csv``, ``adult_hierarchy_education.csv``.
    columns
        The table's columns.
    base_folder
        Where relative paths start; the working folder unless given.

    Examples
    --------
    >>> load_hierarchies({"age": {"intervals": [5, 10]}}, ["age", "sex"])
    {'age': <Hierarchy: intervals, 3 levels>}
    """
    columns = list(columns)
    if source is None:
        return {}
    if isinstance(source, (str, os.PathLike)):
        folder = os.fspath(source)
        files = files_by_column(Path(base_folder or ".") / folder, columns, folder)
        specs: dict[str, Any] = {column: Path(folder) / path.name for column, path in files.items()}
    elif isinstance(source, Mapping):
        specs = dict(source)
    else:
        raise HierarchyError(
            "hierarchy-bad-spec",
            f"Hierarchies are a folder or a dict from column to hierarchy; got {type(source).__name__}.",
        )
    found: dict[str, Hierarchy] = {}
    for column, spec in specs.items():
        if column not in columns:
            raise HierarchyError(
                "hierarchy-no-column",
                f"There is a hierarchy for {column!r}, but no such column.{closest(str(column), columns)}",
            )
        try:
            found[column] = Hierarchy.from_spec(spec, base_folder)
        except HierarchyError as problem:
            raise HierarchyError(problem.code, f"Column {column!r}: {problem}") from None
    return found
