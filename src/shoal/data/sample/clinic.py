# SPDX-License-Identifier: Apache-2.0
"""An invented clinic of 5,000 people. Nobody in it lives.

Only the raw bits of PCG64 and plain arithmetic are used: the rows are the same with every NumPy and machine.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

N_PEOPLE = 5000
SEED = 20_080_801

EDUCATION: dict[str, Any] = {
    "*": {
        "School": {
            "Compulsory": ["Primary school", "Middle school"],
            "Secondary": ["High school", "Vocational school"],
        },
        "University": {
            "Undergraduate": ["Some college", "Bachelor"],
            "Postgraduate": ["Master or doctor"],
        },
    }
}
OCCUPATION: dict[str, Any] = {
    "*": {
        "Manual": {"Outdoors": ["Builder", "Farmer"], "Machines": ["Driver", "Factory worker"]},
        "Office": {"Service": ["Clerk", "Salesperson"], "Professional": ["Manager", "Teacher"]},
        "Not working": {"Pension": ["Retired"], "Studies": ["Student"]},
    }
}
# first three digits of the zip codes: four regions, the last one poor
DISTRICTS = ("021", "022", "104", "105", "106", "301", "302", "607", "608", "609")
_EDUCATIONS = np.array([leaf for groups in EDUCATION["*"].values() for leaves in groups.values() for leaf in leaves])
_OCCUPATIONS = np.array([leaf for groups in OCCUPATION["*"].values() for leaves in groups.values() for leaf in leaves])
# who works where, by education: school leavers, secondary school, college and above
_JOBS = np.array(
    [
        [0.24, 0.16, 0.16, 0.26, 0.04, 0.12, 0.02, 0.00, 0.00, 0.00],
        [0.14, 0.07, 0.12, 0.18, 0.19, 0.22, 0.05, 0.03, 0.00, 0.00],
        [0.02, 0.03, 0.03, 0.03, 0.26, 0.16, 0.25, 0.22, 0.00, 0.00],
    ]
)


class _Dice:
    """Uniform numbers from the raw bits of a generator, which no NumPy release may change."""

    def __init__(self, seed: int, n: int) -> None:
        self._bits, self._n = np.random.PCG64(seed), n

    def uniform(self) -> NDArray[np.float64]:
        raw: NDArray[np.uint64] = self._bits.random_raw(self._n)
        return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def bell(self) -> NDArray[np.float64]:
        """About normal: mean 0, standard deviation 1."""
        total = np.full(self._n, -6.0)
        for _ in range(12):
            total += self.uniform()
        return total

    def pick(self, weights: NDArray[np.float64]) -> NDArray[np.int64]:
        """A position for each person, from one row of weights for all or one for each."""
        upto = np.cumsum(np.atleast_2d(weights), axis=1)
        chosen = (self.uniform()[:, None] * upto[:, -1:] >= upto).sum(axis=1)
        return np.asarray(np.minimum(chosen, upto.shape[1] - 1))


@cache
def clinic() -> pa.Table:
    """The nine columns."""
    dice = _Dice(SEED, N_PEOPLE)
    ages = np.interp(dice.uniform(), [0, 0.22, 0.5, 0.8, 0.95, 1], [18, 31, 48, 66, 80, 95.99])
    age = ages.astype(np.int64)
    female = dice.uniform() < 0.52
    district = dice.pick(np.array([9, 7, 14, 12, 10, 11, 9, 10, 9, 9.0]))
    house = dice.pick(np.array([4, 3, 2, 1.0]))
    zips = np.char.add(np.array(DISTRICTS)[district], np.array(["10", "24", "39", "55"])[house])
    poor = district >= 7
    # the old went to school for a shorter time
    spread = np.tile([6, 10, 24, 18, 14, 18, 10.0], (N_PEOPLE, 1))
    spread[age < 22, 5:] = 0
    spread[age < 25, 6:] = 0
    spread[age >= 60, :2] *= 2.5
    spread[poor, :2] *= 1.6
    education = dice.pick(spread)
    tier = np.array([0, 0, 1, 1, 2, 2, 2])[education]
    occupation = dice.pick(_JOBS[tier])
    idle = dice.uniform()
    occupation[(age < 25) & (education >= 2) & (idle < 0.5)] = 9
    occupation[(age >= 62) & (idle < np.interp(age, [62, 70], [0.4, 0.97]))] = 8
    manual = occupation < 4
    smoking = np.stack(
        [
            0.62 - 0.12 * manual + 0.1 * (tier == 2),
            np.interp(age, [18, 40, 70], [0.05, 0.2, 0.3]),
            0.16 + 0.14 * manual + 0.06 * ~female - 0.1 * (age >= 70),
        ],
        axis=1,
    )
    smoker = dice.pick(smoking)
    bmi = np.interp(age, [18, 50, 70, 95], [24, 27.6, 28, 25]) + 4.6 * dice.bell()
    bmi = np.clip(bmi + 1.4 * (tier == 0) + 1.0 * ((occupation == 2) | (occupation == 4)), 15, 55)
    tenths = np.floor(bmi * 10 + 0.5)
    sick = dice.uniform() < _risk(age, tenths / 10, smoker == 2, tier, manual, poor)
    return pa.table(
        {
            "patient": [f"P{i:05d}" for i in range(1, N_PEOPLE + 1)],
            "age": age,
            "sex": np.where(female, "Female", "Male"),
            "zip": zips,
            "education": _EDUCATIONS[education],
            "occupation": _OCCUPATIONS[occupation],
            "smoker": np.array(["no", "former", "current"])[smoker],
            "bmi": tenths / 10,
            "diabetes": np.where(sick, "yes", "no"),
        }
    )


def _risk(
    age: NDArray[np.int64],
    bmi: NDArray[np.float64],
    smokes: NDArray[np.bool_],
    tier: NDArray[np.int64],
    manual: NDArray[np.bool_],
    poor: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """The chance of diabetes: weight counts from middle age on, smoking with hard work or weight."""
    points = np.interp(age, [25, 45, 65, 80], [0.0, 1.0, 2.4, 2.6])
    points = points + np.interp(bmi, [25, 30, 36], [0.0, 1.2, 2.4]) * np.interp(age, [30, 50], [0.4, 1.2])
    points = points + 1.1 * (smokes & (manual | (bmi >= 29))) + 0.8 * ((tier == 0) & (age >= 40))
    points = points - 0.7 * ((tier == 2) & ~smokes) + 0.3 * poor
    return np.asarray(np.interp(points, [1.0, 2.7, 3.6, 4.7, 5.8], [0.02, 0.06, 0.35, 0.82, 0.93]))
