# SPDX-License-Identifier: Apache-2.0
"""The distributions of single columns that a tree states beside its leaves, held against the rows.

They change no group. One of a public column is about what the attacker knows anyway. One of a private column is a
function of that column alone: of two people with the same span, the leaves of the span part the private values in the
same way, so what their private values tell of such a distribution is the same, too. But no span is a single bin then:
what the distribution says of everybody, less what leaves say of others, is about the people in between.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from shoal.audit.groups import Ids, count_people
from shoal.audit.result import Finding
from shoal.data.table import Columns, count_codes
from shoal.errors import DataError, closest
from shoal.privacy import Requirement, people_behind
from shoal.release import TreeRelease
from shoal.release.generalised import atoms_of, covers


def tells_private(release: TreeRelease, public: Collection[str]) -> bool:
    """Whether some distribution is of a column that the attacker does not know, so that no span is a single bin."""
    for name, marginal in release.marginals.items():
        atoms = atoms_of(release.attribute(name), marginal.cells)
        if name not in public and (covers(atoms, marginal.cells) & atoms.possible).any(axis=1).sum() > 1:
            return True
    return False


def compare_marginals(
    release: TreeRelease, table: Columns, requirement: Requirement, person: Ids | None
) -> list[Finding]:
    """Cells with other people than the rows, and cells of fewer people than may stand behind a statement."""
    findings = []
    least = people_behind(requirement)
    for name, marginal in release.marginals.items():
        if name not in table:
            raise DataError("no-column", f"The release states how {name!r} is distributed.{closest(name, table)}")
        atoms = atoms_of(release.attribute(name), marginal.cells)
        cell_of_atom = np.full(atoms.n + 1, -1, dtype=np.int64)  # the last for what is outside the domain
        for number, mask in enumerate(covers(atoms, marginal.cells)):
            cell_of_atom[:-1][mask] = number
        cell = cell_of_atom[atoms.encode(table[name])]
        inside = cell >= 0
        whose = None if person is None or not release.several_rows else person[inside]
        outside = table[name].rows(~inside)
        if person is None:
            weights = table[name].weights
            counts = count_codes(cell[inside], len(marginal.cells), None if weights is None else weights[inside])
        else:
            counts = count_people(cell[inside], len(marginal.cells), whose)
        if outside or counts.tolist() != list(marginal.counts):
            message = f"The stated distribution of {name!r} is not that of these rows: other rows, or a changed file."
            findings.append(Finding("marginal-differs", "breach", message, outside))
        # nobody at all is nobody to tell of
        small = [n for n in marginal.counts if 0 < n < least]
        if small:
            message = (
                f"The stated distribution of {name!r} has {len(small)} cell(s) of fewer than {least:,} people, so it "
                "tells of few."
            )
            findings.append(Finding("marginal-small", "breach", message, sum(small)))
    return findings
