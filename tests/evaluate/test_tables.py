# SPDX-License-Identifier: Apache-2.0
"""The measures of a table, by hand, by brute force and as published."""

from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.strategies import cases
from shoal import KAnonymity, PromiseError, audit
from shoal.anonymize import anonymize_by_tree
from shoal.evaluate import measure_table
from shoal.evaluate.losses import cell_losses
from shoal.papers.adult import CATEGORICAL, TARGET, Adult, classification_metric
from shoal.release import Attribute, Interval
from shoal.release.generalised import Generalised
from shoal.trees.mine import mine_tree

WITHOUT_RELATIONSHIP = [name for name in CATEGORICAL if name != "relationship"]


@pytest.fixture(scope="module")
def adult(shoal_data) -> Adult:
    return Adult.read(shoal_data)


@pytest.mark.parametrize(("k", "metric"), [(10, 5198), (25, 5273), (50, 5379), (100, 5439)])
def test_vldb_table_6_through_the_table(adult, k, metric):
    """Published: VLDB'08 Table 6, page 800."""
    release = anonymize_by_tree(
        adult.mine(WITHOUT_RELATIONSHIP, k), adult.train.select([*WITHOUT_RELATIONSHIP, TARGET])
    )
    measured = measure_table(release)
    assert measured.cm == metric
    assert audit(release, adult.train).smallest_group >= k
    assert 0 < measured.lm < 1
    assert measured.average_class_size >= 1


@given(st.data())
def test_measures_are_those_of_the_published_rows(data):
    case = data.draw(cases())
    try:
        tree = mine_tree(case.table, case.roles, KAnonymity(2), domain=case.domain, strict=True)
    except PromiseError:
        return
    release = anonymize_by_tree(tree, case.table)
    measured = measure_table(release)
    rows = release.to_frame("pyarrow").to_pylist()
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in release.public)].append(row["t"])
    assert measured.n_groups == len(groups)
    assert measured.dm == sum(len(each) ** 2 for each in groups.values())
    assert measured.cm == sum(len(each) - max(Counter(each).values()) for each in groups.values())
    assert measured.average_class_size == pytest.approx(len(rows) / len(groups) / 2)
    assert 0 <= measured.lm <= 1
    if case.roles.target_role == "private" and not case.roles.private:
        assert measured.cm == classification_metric(tree)


def test_the_loss_of_a_cell_by_hand():
    city = Attribute("city", "public", "categorical", values=("a", "b", "c"), missing=True)
    cells = [Generalised("a", ("a",)), Generalised("{a, b}", ("a", "b")), Generalised("", missing=True)]
    cells += [Generalised("{a, (missing)}", ("a",), missing=True), Generalised("*")]
    assert cell_losses(city, cells).tolist() == pytest.approx([0, 1 / 3, 0, 1 / 3, 1])
    age = Attribute("age", "public", "numeric", bounds=(18, 28), integer=True)
    cells = [Generalised("", intervals=(Interval(None, 18),)), Generalised("", intervals=(Interval(18, 20.5),))]
    cells += [Generalised("", intervals=(Interval(None, 19), Interval(26, None))), Generalised("*")]
    assert cell_losses(age, cells).tolist() == pytest.approx([0, 0.1, 0.3, 1])
    weight = Attribute("weight", "public", "numeric", bounds=(40, 90), missing=True)
    cells = [Generalised("", intervals=(Interval(None, 50),)), Generalised("", intervals=(Interval(60, 65),))]
    cells += [Generalised("", missing=True), Generalised("", intervals=(Interval(80, 200),))]
    assert cell_losses(weight, cells).tolist() == pytest.approx([0.2, 0.1, 0, 0.2])
    alone = Attribute("n", "public", "numeric", bounds=(1, 1), integer=True)
    assert cell_losses(alone, [Generalised("", intervals=(Interval(None, 1),))]).tolist() == [0]
