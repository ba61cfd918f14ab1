# SPDX-License-Identifier: Apache-2.0
"""A clustering as it leaves the house: centroids, how many people are nearest to each, and what is claimed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.data.frames import to_table
from shoal.data.table import Column, Table
from shoal.errors import DataError
from shoal.privacy import Requirement, requirement_from_claims
from shoal.release.domain import MISSING, Attribute, plain
from shoal.release.encoding import Encoding, Floats, Scale
from shoal.release.files import FORMAT, write_json
from shoal.release.verdict import Verdict, check_writable, fingerprint, verdict_of

AT_ONCE = 2**22  # pairs of row and centroid that are worked on together, for the memory's sake


@dataclass(frozen=True, eq=False)
class ClustersRelease:
    """A clustering in which the nearest centroid decides, how many people are in each cluster, and what is claimed.

    Parameters
    ----------
    attributes
        The columns that distances are taken over: roles and declared domain.
    claims
        What is promised, as plain dicts.
    scales
        How each column is encoded, by name.
    means
        A line a cluster: the mean of each numeric column and the share of each value of a categorical one, with that
        of missing last where it can be.
    people
        How many people are nearest to each centroid.
    sensitive
        Private columns whose values the claims cover.
    small
        Whether centroids that fewer people than the promise asks stand behind are allowed.
    total
        How many people there are, where they have several rows each and may be in several clusters.
    verdict
        The audit's word on exactly this content. `save` refuses to write without it.
    """

    attributes: tuple[Attribute, ...]
    claims: tuple[Mapping[str, Any], ...]
    scales: Mapping[str, Scale]
    means: Floats
    people: tuple[int, ...]
    sensitive: tuple[str, ...] = ()
    small: bool = False
    total: int | None = None
    verdict: Verdict | None = None

    kind = "clusters"
    target = None  # there is nothing to predict but the cluster

    def __len__(self) -> int:
        return len(self.people)

    @cached_property
    def encoding(self) -> Encoding:
        """The features of every column."""
        return Encoding(self.attributes, self.scales)

    @cached_property
    def centroids(self) -> Floats:
        """The centroids as points (clusters × features)."""
        return self.encoding.scaled(self.means)

    def attribute(self, name: str) -> Attribute:
        """One attribute by its name."""
        return next(each for each in self.attributes if each.name == name)

    @property
    def requirement(self) -> Requirement:
        """What the release claims, as a requirement."""
        return requirement_from_claims([dict(claim) for claim in self.claims])

    @property
    def public(self) -> tuple[str, ...]:
        """The columns an attacker is taken to know, as the release says."""
        return tuple(each.name for each in self.attributes if each.role == "public")

    @property
    def several_rows(self) -> bool:
        """Whether people have several rows each, so that every number is one of different people."""
        return self.total is not None

    @property
    def n_people(self) -> int:
        """How many people the clusters were learned from."""
        return sum(self.people) if self.total is None else self.total

    @property
    def kinds(self) -> dict[str, Literal["numeric", "categorical"]]:
        """How each column is to be read."""
        return {each.name: each.type for each in self.attributes}

    def read(self, X: Any) -> Table:
        """The columns of a data frame or array that the release knows, read as it knows them."""
        table = to_table(X, only=list(self.kinds), kinds=self.kinds)
        return Table(_fitted(table[each.name], each) for each in self.attributes)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The number of the nearest centroid of every row, from 0; of those that tie, the lowest."""
        return self.nearest(self.encoding.points(self.read(X)))

    def nearest(self, points: Floats) -> NDArray[np.int64]:
        """The number of the nearest centroid of every point."""
        slopes, offsets = -2 * self.centroids.T, (self.centroids**2).sum(axis=1)
        step = max(1, AT_ONCE // len(self))
        parts = [points[first : first + step] for first in range(0, len(points), step)]
        return np.concatenate([np.argmin(part @ slopes + offsets, axis=1) for part in parts]).astype(np.int64)

    def __str__(self) -> str:
        lines = [f"{len(self)} cluster{'s' if len(self) > 1 else ''}; the nearest centroid decides"]
        for number, people in enumerate(self.people):
            parts = [f"{name} {words}" for name, words in self.told(number).items()]
            lines.append(f"  {number}: {people:,} people; {', '.join(parts)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<ClustersRelease: {len(self)} clusters of {self.n_people} people>"

    def told(self, number: int) -> dict[str, str]:
        """One centroid in words, by column: a mean, or the most frequent value and its share."""
        missing = self._missing(number)
        return {
            name: _words({**stated, MISSING: missing[name]} if name in missing else stated)
            for name, stated in self._centroid(number).items()
        }

    def _centroid(self, number: int) -> dict[str, Any]:
        """One centroid by column: a mean, or the shares of values that are not 0."""
        stated: dict[str, Any] = {}
        for place, each in enumerate(self.attributes):
            own = self.means[number, self.encoding.stated(place)].tolist()
            shares = {value: plain(share) for value, share in zip(each.values, own, strict=False) if share}
            stated[each.name] = plain(own[0]) if each.type == "numeric" else shares
        return stated

    def _missing(self, number: int) -> dict[str, Any]:
        """The share of missing in each categorical column of one centroid, where it is not 0."""
        shares = {
            each.name: plain(self.means[number, self.encoding.stated(place)][-1])
            for place, each in enumerate(self.attributes)
            if each.missing
        }
        return {name: share for name, share in shares.items() if share}

    def _cluster(self, number: int) -> dict[str, Any]:
        entry = {"people": self.people[number], "centroid": self._centroid(number)}
        missing = self._missing(number)
        return {**entry, "missing": missing} if missing else entry

    def to_json(self) -> dict[str, Any]:
        """The release as plain JSON, without the audit's verdict."""
        body: dict[str, Any] = {
            "format": FORMAT,
            "kind": self.kind,
            "attributes": [each.to_json() for each in self.attributes],
            "claims": [dict(claim) for claim in self.claims],
            "encoding": {each.name: self.scales[each.name].to_json(each) for each in self.attributes},
            "clusters": [self._cluster(number) for number in range(len(self))],
        }
        if self.sensitive:
            body["sensitive"] = list(self.sensitive)
        if self.small:
            body["small"] = True
        if self.total is not None:
            body["people"] = self.total
        return body

    @cached_property
    def sha256(self) -> str:
        """A fingerprint of everything the release says."""
        return fingerprint(self.to_json())

    def with_audit(self, audit: Any) -> ClustersRelease:
        """The same release carrying the verdict of an audit that looked at exactly this content, claims and roles."""
        verdict = verdict_of(audit, sha256=self.sha256, claims=self.claims, public=self.public)
        return replace(self, verdict=verdict)

    def save(self, path: str | Path) -> None:
        """Write the release; refuse unless its own audit holds for exactly this content."""
        check_writable(self.verdict, self.sha256)
        assert self.verdict is not None
        write_json({**self.to_json(), "audit": self.verdict.to_json()}, path)


def _fitted(column: Column, attribute: Attribute) -> Column:
    """A column with its numbers at most at the stated bounds, and the bounds known."""
    if column.kind != attribute.type:
        raise DataError(
            "column-kind",
            f"Column {column.name!r} is {column.kind} here but {attribute.type} in the release. "
            f"Read it with kinds={{{column.name!r}: {attribute.type!r}}}.",
        )
    return column if attribute.bounds is None else replace(column, bounds=attribute.bounds)


def _words(stated: Any) -> str:
    if isinstance(stated, dict):
        likeliest = max(stated, key=stated.__getitem__)
        # 100 % only where it is everybody: rounding must not say what is not so
        share = 100 if len(stated) == 1 else min(99, round(100 * stated[likeliest]))
        return f"{likeliest} ({share}%)"
    return f"{stated:.4g}"
