# SPDX-License-Identifier: Apache-2.0
"""Several owners who declare different things: every difference is told once, and a joint model can be audited."""

import pandas as pd
import pytest

from shoal import audit, load_sample
from shoal.errors import DataError
from shoal.share import agree, disagreements, pool, publish
from shoal.share.spans import spans_of


@pytest.fixture(scope="module")
def frame():
    return load_sample().to_arrow().to_pandas()[["age", "sex", "smoker", "diabetes"]]


@pytest.fixture(scope="module")
def owners(frame):
    """North has everything, south nobody who smokes, west nobody whose sex is not known and other bounds."""
    north = frame.iloc[::3].copy()
    north.loc[north.index[:100], "sex"] = None
    parts = {
        "north": (north, {"age": [0, 120]}),
        "south": (frame.iloc[1::3][lambda rows: rows["smoker"] != "current"], {"age": [0, 120]}),
        "west": (frame.iloc[2::3][lambda rows: rows["smoker"] != "current"], {"age": [0, 110]}),
    }
    made = {name: (rows, {"public": ["age", "sex"], "domain": domain}) for name, (rows, domain) in parts.items()}
    return {name: publish(rows, "diabetes", 20, method="full", **how) for name, (rows, how) in made.items()}


def test_a_difference_is_told_once_of_all_owners(owners):
    """Also one that is between owners other than the first."""
    told = {(each.column, each.severity): each.message for each in disagreements(owners)}
    assert told == {
        ("age", "differs"): "'age' goes from 0 to 120 at north and south, from 0 to 110 at west. Declare the same "
        "bounds, or accept the widest.",
        ("smoker", "differs"): "'smoker' cannot be 'current' at south and west. Declare the same values, or accept all "
        "of them.",
        ("sex", "note"): "'sex' can be missing at north only.",
    }
    backwards = disagreements(dict(reversed(owners.items())))
    assert {(each.column, each.severity) for each in backwards} == set(told)
    with pytest.raises(DataError, match=r"accept all of them\. Where the widest is meant, say widen=True\.$"):
        agree(owners)
    agree(owners, widen=True)


def test_the_same_file_under_two_names_is_told(owners):
    told = disagreements({"north": owners["north"], "south": owners["south"], "copy": owners["north"]})
    assert any("north and copy published the very same" in str(each) for each in told)
    assert not any("very same" in str(each) for each in disagreements(owners))


def test_however_many_differences_there_are_an_error_can_be_read(frame):
    wide = frame[["diabetes"]].iloc[:400].assign(**{f"c{i}": "x" * 300 for i in range(30)})
    owners = {}
    for n in range(6):
        domain = {f"c{i}": ["x" * 300, *(f"{n}-{j}-" + "y" * 300 for j in range(30))] for i in range(30)}
        owners[f"owner {n}"] = publish(wide, "diabetes", 50, domain=domain, marginals=False)
    with pytest.raises(DataError, match="There are 20 more disagreements") as refused:
        agree(owners)
    assert len(str(refused.value)) < 20_000
    assert "170 more values" in str(refused.value)


@pytest.mark.parametrize("learner", ["bag", "vote"])
def test_an_owner_audits_trees_that_do_not_know_all_his_values(owners, frame, learner):
    """Against the definition: the nodes where a row may end in each tree, whatever its private values are."""
    joint = pool(owners, learner, widen=True)
    rows = frame.iloc[:600].copy()
    rows.loc[rows.index[:30], "sex"] = None
    found = audit(spans_of(joint), rows, "diabetes", public=["age", "sex"], privacy=2)
    smokers = joint._by_name["smoker"].values
    assert "current" in smokers
    ends = [
        [tree.apply(rows.assign(smoker=value), unknown="ancestor") for value in smokers] for tree in owners.values()
    ]
    spans = [tuple(frozenset(int(reached[row]) for reached in of_tree) for of_tree in ends) for row in range(len(rows))]
    assert len(found.groups.people) == len(set(spans))
    assert sorted(found.groups.people) == sorted(pd.Series(spans).value_counts())
    # rows do stop above the leaves of trees that do not know their values
    stopped = [
        tree.nodes[n] for tree, of_tree in zip(owners.values(), ends, strict=True) for n in set().union(*of_tree)
    ]
    assert not all(node.is_leaf for node in stopped)
