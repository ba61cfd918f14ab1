# SPDX-License-Identifier: Apache-2.0
"""Matatov, Rokach and Maimon (2010): Fig. 4 to 6 with Sect. 4.2, how partitionings are bred, and Sect. 4.4.

Fig. 5 and 6 are pictures of matrices that the text does not have; it has the parents and offspring of Sect. 4.2.
"""

from __future__ import annotations

from random import Random

from shoal.papers.worked import Numbers, worked
from shoal.partition.operators import crossover, mutate
from shoal.partition.options import Point
from shoal.partition.pareto import non_dominated
from shoal.partition.partitioning import Partitioning

RELATIONSHIP, EDUCATION, HOURS, AGE = range(4)
SEEDS = range(100)  # so many times it is drawn what is inherited, or where a feature goes


@worked("dmpd-fig5")
def bred() -> Numbers:
    """The matrix of Fig. 4, and the crossover and mutation of Sect. 4.2."""
    matrix = Partitioning.of(4, [[0], [1, 2]]).matrix()
    cells = {f"row {i + 1}, column {j + 1}": int(matrix[i, j]) for i in range(4) for j in range(4)}
    one, two = Partitioning.of(4, [[RELATIONSHIP], [EDUCATION]]), Partitioning.of(4, [[HOURS, AGE]])
    first = Partitioning.of(4, [[RELATIONSHIP], [HOURS, AGE]])
    second = Partitioning.of(4, [[RELATIONSHIP], [EDUCATION], [HOURS, AGE]])
    mutated = Partitioning.of(4, [[RELATIONSHIP, EDUCATION], [HOURS, AGE]])
    only_education = [float(feature == EDUCATION) for feature in range(4)]
    return {
        **cells,
        "crossover gives both offspring (1: yes)": any(
            crossover(one, two, Random(seed)) == (first, second) for seed in SEEDS
        ),
        "mutation gives the mutated one (1: yes)": any(
            mutate(second, only_education, Random(seed)) == mutated for seed in SEEDS
        ),
    }


@worked("dmpd-sect44")
def dominated() -> Numbers:
    """Three partitionings by accuracy and level, of which two are on the frontier."""
    told = [(0.805, 200), (0.90, 500), (0.88, 700)]
    points = [Point(Partitioning(1), accuracy, level) for accuracy, level in told]
    kept = {(each.accuracy, each.level) for each in non_dominated(points)}
    return {f"{100 * each[0]:g} %, level {each[1]}: on the frontier (1: yes)": each in kept for each in told}
