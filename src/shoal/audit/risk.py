# SPDX-License-Identifier: Apache-2.0
"""How likely somebody is found: the risks of prosecutor, journalist and marketer, from the sizes of groups.

They serve every kind of audit, since all of them come down to groups of people who cannot be told apart.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError

if TYPE_CHECKING:
    from shoal.audit.result import Audit

THRESHOLD = 0.2  # one in five, a usual limit for data that are not published to everybody
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Likelihood:
    """How likely the people of a table are found by one kind of attacker.

    Attributes
    ----------
    highest
        The risk of the person at highest risk.
    average
        The mean over all people.
    above
        The share of people whose risk is above the threshold.
    """

    highest: float
    average: float
    above: float


@dataclass(frozen=True)
class Risk:
    """The usual risks of being found.

    Attributes
    ----------
    prosecutor
        The attacker knows that his victim is in the table: he is one of as many as there are in the group.
    journalist
        He does not know that, and looks among the people of a population: the victim is one of as many as share the
        group there. None without a population.
    marketer
        The share of all people that he finds by guessing within each group of the table, or of the population where
        there is one. It does not matter whom.
    unique
        People who are alone in their group.
    threshold
        The risk that `above` counts people over.

    References
    ----------
    K. El Emam, "Guide to the De-Identification of Personal Health Information", CRC Press 2013, chapter 16,
    doi:10.1201/b14764.
    """

    prosecutor: Likelihood
    journalist: Likelihood | None
    marketer: float
    unique: int
    threshold: float

    def __str__(self) -> str:
        lines = [_line("prosecutor", self.prosecutor, self.threshold)]
        if self.journalist is not None:
            lines.append(_line("journalist", self.journalist, self.threshold))
        lines.append(f"marketer risk: {self.marketer:.2%}")
        lines.append(f"alone in their group: {self.unique:,}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The risks as plain JSON."""
        return asdict(self)


def _line(name: str, risk: Likelihood, threshold: float) -> str:
    over = f"{risk.above:.2%} of people above {threshold:.0%}"
    return f"{name} risk: highest {risk.highest:.2%}, average {risk.average:.2%}, {over}"


def risks(audit: Audit, *, population: Any = None, threshold: float = THRESHOLD) -> Risk:
    """The risks of prosecutor, journalist and marketer, from the groups of an audit.

    Parameters
    ----------
    audit
        Any audit.
    population
        The people among whom a journalist looks, those of the table included: rows with the public columns, as a data
        frame or anything else that `audit` takes. Not for releases of Shoal's own.
    threshold
        Risks above it are counted.

    Notes
    -----
    Where people have several rows, somebody in several groups is counted in each of them.

    How many people of a population are unique is not estimated from the table alone: that needs a model of how the
    sample was drawn. Give the population, or a table of about its size.

    Examples
    --------
    >>> import numpy as np
    >>> from shoal.audit.risk import risk_of
    >>> print(risk_of(np.array([1, 4, 5])))
    prosecutor risk: highest 100.00%, average 30.00%, 50.00% of people above 20%
    marketer risk: 30.00%
    alone in their group: 1
    """
    if not 0 < threshold < 1:
        raise DataError("threshold", f"The threshold of a risk is above 0 and below 1; got {threshold!r}.")
    if population is None:
        return risk_of(audit.groups.people, threshold=threshold)
    if audit.count_in is None:
        raise DataError(
            "no-population", "The groups of this audit cannot be counted in a population. Leave out population=."
        )
    return risk_of(audit.groups.people, audit.count_in(population), threshold)


def risk_of(people: Ids, in_population: Ids | None = None, threshold: float = THRESHOLD) -> Risk:
    """The risks, from how many people each group has in the table and in the population."""
    prosecutor = _likelihood(people, people, threshold)
    journalist = None
    if in_population is not None:
        absent = int(people[in_population < people].sum())
        if absent:
            raise DataError(
                "population-too-small",
                f"{absent:,} people are in groups with fewer people in the population than in the table. A population "
                "holds everybody of the table: other rows, or columns read in another way.",
            )
        journalist = _likelihood(people, in_population, threshold)
    found = prosecutor if journalist is None else journalist
    return Risk(prosecutor, journalist, found.average, int((people == 1).sum()), threshold)


def _likelihood(people: Ids, among: Ids, threshold: float) -> Likelihood:
    """Each person of a group is one of so many."""
    n = int(people.sum())
    risk = 1 / among
    return Likelihood(float(risk.max()), float((people * risk).sum() / n), float(people[risk > threshold].sum() / n))
