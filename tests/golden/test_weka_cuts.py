# SPDX-License-Identifier: Apache-2.0
"""Cuts equal to those that Weka makes of every numeric column of nine public tables."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shoal.data.discretize import mdl_cuts

WEKA = json.loads((Path(__file__).parent / "weka-3.6.14.json").read_text())
SETS = WEKA["sets"]


@pytest.mark.parametrize("name", [name for name, facts in SETS.items() if facts["cuts"]])
def test_cuts_are_those_of_weka(shoal_data, name):
    facts = SETS[name]
    rows = pd.read_csv(shoal_data / facts["file"], na_values="?", keep_default_na=False)
    if name == "adult":
        rows = rows.dropna()
    assert len(rows) == facts["rows"]
    target = rows[facts["target"]].to_numpy()
    for column, expected in facts["cuts"].items():
        values = rows[column].to_numpy()
        assert mdl_cuts(values, target).tolist() == expected, column
        known = values[~np.isnan(values)]
        safe = mdl_cuts(values, target, rounded=True)
        assert np.array_equal(np.searchsorted(safe, known), np.searchsorted(expected, known)), column


def test_the_fixture_has_nine_tables():
    assert len(SETS) == 9
    assert {name for name, facts in SETS.items() if not facts["cuts"]} == {"vote", "nursery"}  # they have no numbers
