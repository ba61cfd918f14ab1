# SPDX-License-Identifier: Apache-2.0
"""What a published table keeps, counted again: row by row as the definitions say it, and by pycanon where it is there.

pycanon 1.3.6 wants older versions of what Shoal needs (typer above all), so it is no test dependency. It works beside
ours if it is installed alone: ``pip install --no-deps pycanon==1.3.6``.
"""

from __future__ import annotations

import importlib.util
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from shoal import TableRelease, audit
from shoal.audit.measures import measure

HAS_PYCANON = importlib.util.find_spec("pycanon") is not None


@dataclass
class Kept:
    """What all groups keep of one sensitive column."""

    distinct: int
    entropy: float  # 2 to the entropy
    simple: Fraction  # the largest share of one value
    t: float

    @classmethod
    def of(cls, groups: list[Counter[Any]], *, ordered: bool) -> Kept:
        whole: Counter[Any] = sum(groups, Counter())
        return cls(
            min(len(each) for each in groups),
            min(2.0 ** entropy(each) for each in groups),
            max(Fraction(max(each.values()), each.total()) for each in groups),
            max(distance(each, whole, ordered) for each in groups),
        )


def entropy(counts: Counter[Any]) -> float:
    shares = [n / counts.total() for n in counts.values()]
    return -sum(share * math.log2(share) for share in shares)


def distance(group: Counter[Any], whole: Counter[Any], ordered: bool) -> float:
    """How far a group is from the whole table: half the differences, or what must be moved along the values."""
    values = sorted(whole)
    differences = [group[v] / group.total() - whole[v] / whole.total() for v in values]
    if not ordered:
        return sum(map(abs, differences)) / 2
    moved, total = 0.0, 0.0
    for each in differences:
        moved += each
        total += abs(moved)
    return total / max(len(values) - 1, 1)


def published_groups(frame: Any, public: list[str]) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """The rows of each group of a published frame; one cell says one thing, missing too."""
    groups = defaultdict(list)
    for row in frame.to_dict("records"):
        groups[tuple(str(row[name]) for name in public)].append(row)
    return groups


def agrees(release: TableRelease) -> None:
    """Assert that our k, distinct and entropy l and t are those of a naive recount, and pycanon's if it is there."""
    frame = release.to_frame()
    public = list(release.public)
    groups = published_groups(frame, public)
    verdict = audit(release)
    assert verdict.n_groups == len(groups)
    assert verdict.group_sizes.tolist() == sorted(map(len, groups.values()))
    names = [release.target, *release.sensitive] if release.target else list(release.sensitive)
    for name in names:
        column = release.rows[name]
        found = measure(verdict.groups, column.compact())
        counts = [Counter(row[name] for row in rows) for rows in groups.values()]
        kept = Kept.of(counts, ordered=column.kind == "numeric")
        assert (found.k, found.distinct_l) == (min(map(len, groups.values())), kept.distinct)
        assert found.entropy_l == pytest.approx(kept.entropy)
        assert found.alpha == pytest.approx(float(kept.simple))
        assert found.t == pytest.approx(kept.t)
        if HAS_PYCANON and public:
            _as_pycanon(frame, public, name, found)


def _as_pycanon(frame: Any, public: list[str], name: str, found: Any) -> None:
    from pycanon import anonymity

    words = [*public, *([] if frame[name].dtype.kind in "iuf" else [name])]
    cells = frame.assign(**{each: [str(cell) for cell in frame[each]] for each in words})  # missing is a word too
    assert anonymity.k_anonymity(cells, public) == found.k
    assert anonymity.l_diversity(cells, public, [name]) == found.distinct_l
    assert anonymity.t_closeness(cells, public, [name]) == pytest.approx(found.t)
    # pycanon cuts the fraction off, and 1.9999999999999998 with it
    whole = math.floor(found.entropy_l - 1e-9), math.floor(found.entropy_l + 1e-9)
    assert anonymity.entropy_l_diversity(cells, public, [name]) in whole
