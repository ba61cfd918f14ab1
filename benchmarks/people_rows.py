# SPDX-License-Identifier: Apache-2.0
"""What counting different people costs: fits with a person column against fits that take every row for a person.

Run ``python benchmarks/people_rows.py`` with the environment variable SHOAL_DATA naming the folder that has
``diabetes130_us_hospitals.csv.gz`` (101,766 encounters of 71,518 patients).
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from shoal import AnonymousTreeClassifier, Confidence, KAnonymity, audit
from shoal.data import read_table

PERSON, TARGET = "patient_nbr", "readmitted"
LEFT_OUT = ["encounter_id", "weight", "payer_code", "medical_specialty"]
KNOWN = ["race", "gender", "age", "admission_type_id", "discharge_disposition_id", "time_in_hospital"]
REPEATS = 3


def main() -> None:
    """Print the seconds and the ratio of each case."""
    if "SHOAL_DATA" not in os.environ:
        sys.exit("Set SHOAL_DATA to the folder that has diabetes130_us_hospitals.csv.gz.")
    table = read_table(Path(os.environ["SHOAL_DATA"]) / "diabetes130_us_hospitals.csv.gz").drop(LEFT_OUT)
    features = [name for name in table.names if name not in (PERSON, TARGET)]
    domain = {name: table[name].names for name in features if table[name].kind == "categorical"}
    cases: dict[str, dict[str, Any]] = {
        "all columns public, k = 50": {"privacy": 50},
        "all columns public, k = 50 and confidence 0.9": {"privacy": KAnonymity(50) & Confidence(0.9)},
        "six columns public, k = 50": {"privacy": 50, "public": KNOWN, "domain": domain},
        "all columns public, k = 50, as in the papers": {"privacy": 50, "variant": "id3"},
    }
    print(f"{table.n_rows:,} rows of {len(table[PERSON].compact().values):,} people")
    for name, options in cases.items():
        rows, of_rows = fit(table.drop([PERSON]), **options)
        people, of_people = fit(table, person=PERSON, **options)
        leaves = f"{len(of_rows.leaves)} and {len(of_people.leaves)} leaves"
        print(f"{name}: {rows:.2f} s by rows, {people:.2f} s by people, ratio {people / rows:.1f}; {leaves}")
        asked = audit(of_rows, table, person=PERSON)
        worst = f"smallest group {asked.smallest_group} people"
        print(f"  the tree by rows, asked of people: {'holds' if asked.holds else 'BREACH'}, {worst}")


def fit(table: Any, **options: Any) -> tuple[float, Any]:
    """The best of some fits, after one that compiles."""
    seconds = []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        model = AnonymousTreeClassifier(**options).fit(table, TARGET)
        seconds.append(time.perf_counter() - start)
    return min(seconds[1:]), model.release_


if __name__ == "__main__":
    main()
