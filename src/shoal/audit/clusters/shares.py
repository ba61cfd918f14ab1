# SPDX-License-Identifier: Apache-2.0
"""Shares of public categories that only few people have: an outsider knows who these are, and sees where they went."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from shoal.audit.groups import Groups, Ids, count_people
from shoal.audit.result import Finding
from shoal.data.table import Table
from shoal.release import ClustersRelease
from shoal.release.encoding import Floats

ROUNDING = 1e-5  # a share is stated to five decimals


def shares_of_few(
    release: ClustersRelease, table: Table, public: Collection[str], groups: Groups, least: int
) -> list[Finding]:
    """That centroids tell which cluster people are in who have a public category with fewer than `least` others.

    They do unless the share is told as one with those of other categories: then all of these are to each other, in
    every centroid, as they are among all rows. Of people whose span is a single bin everybody knows the cluster.
    """
    findings = []
    open_ = (groups.n_bins > 1)[groups.of_row]
    for number, attribute in enumerate(release.attributes):
        if attribute.type == "numeric" or attribute.name not in public:
            continue
        column = table[attribute.name]
        place = {value: i for i, value in enumerate(attribute.values)}
        codes = np.array([*map(place.__getitem__, column.names), len(place)], dtype=np.int64)[column.codes]
        shares = release.means[:, release.encoding.stated(number)]
        told = _told(shares, codes, groups.person, least)
        rows = told[codes] & open_
        if rows.any():
            people = int(count_people(rows.astype(np.int64), 2, groups.person)[1])
            findings.append(
                Finding(
                    "share-of-few",
                    "breach",
                    f"The shares of {len(np.unique(codes[rows]))} value(s) of public column {attribute.name!r} that "
                    f"fewer than {least} people have tell which cluster these people are in, whatever the spans say. "
                    "State them as one with others, or make these values one.",
                    people,
                )
            )
    return findings


def _told(shares: Floats, codes: Ids, person: Ids | None, least: int) -> NDArray[np.bool_]:
    """Which values are told of by themselves, or with others that fewer than `least` people have in all."""
    n = shares.shape[1]
    people, rows = count_people(codes, n, person), np.bincount(codes, minlength=n)
    told, hidden = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    for value in np.flatnonzero((people > 0) & (people < least)):
        if hidden[value]:
            continue
        apart = np.abs(shares * rows[value] - shares[:, [value]] * rows)
        together = (apart <= ROUNDING * (rows + rows[value])).all(axis=0) & (rows > 0)
        behind = int(people[together].sum()) if person is None else len(np.unique(person[together[codes]]))
        told[value] = behind < least
        if behind >= least:
            hidden |= together
    return told
