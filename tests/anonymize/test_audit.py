# SPDX-License-Identifier: Apache-2.0
"""The audit of a table: groups recounted from what is published, and held against the original rows."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import Confidence, DataError, KAnonymity, ReleaseError, RequirementError, RoleError, audit, to_table
from shoal.anonymize import anonymize_by_tree
from shoal.audit.tables import group_rows
from shoal.data.table import Column
from shoal.papers.worked.clients import clients
from shoal.release import Attribute, Interval, TableRelease
from shoal.release.generalised import Generalised

from .examples import client_tree


@pytest.fixture
def release():
    return anonymize_by_tree(client_tree(), clients(), reproducible=True)


def codes(release):
    return {finding.code for finding in audit(release, clients()).findings if finding.severity == "breach"}


def changed(release, name, where, code):
    """The release with one cell changed."""
    column = release.rows[name]
    cells = column.codes.copy()
    cells[where] = code
    return replace(release, rows=release.rows.with_column(replace(column, codes=cells)))


def test_an_untouched_table_holds_with_and_without_the_rows(release):
    for verdict in (audit(release), audit(release, clients())):
        assert verdict.holds
        assert (verdict.smallest_group, verdict.n_groups, verdict.n_exempt) == (3, 4, 0)
        assert verdict.public == ("gender", "married", "age", "sports car")
    assert not audit(release, privacy=4).holds


def test_a_changed_private_cell_is_found(release):
    forged = changed(release, "loan risk", 0, 1)
    assert audit(forged).holds  # nothing to see in the file alone
    assert codes(forged) == {"counts-differ"}


def test_a_row_moved_to_another_group_is_found(release):
    forged = changed(release, "gender", 0, 1 - release.rows["gender"].codes[0])
    assert "counts-differ" in codes(forged)
    assert "requirement-fails" in codes(forged)
    assert "group-fails" in codes(forged)


def test_other_rows_are_found(release):
    fewer = clients().take(np.arange(11))
    assert "counts-differ" in {finding.code for finding in audit(release, fewer).findings}
    rows = {name: [column.names[code] for code in column.codes] for name, column in clients().items()}
    strangers = {**rows, "gender": ["Other", *rows["gender"][1:]]}
    found = {finding.code for finding in audit(release, strangers).findings}
    assert {"not-covered", "counts-differ"} <= found


def test_what_an_attacker_knows_can_be_said(release):
    assert audit(release, public=["gender"]).group_sizes.tolist() == [6, 6]
    assert audit(release, public=[]).smallest_group == 12
    everything = audit(release, public=list(release.columns))
    assert everything.smallest_group is None  # nothing private is left to tell
    assert everything.n_exempt == everything.n_groups
    with pytest.raises(RoleError, match="Closest: 'gender'"):
        audit(release, public=["gendr"])
    with pytest.raises(RoleError, match="one string"):
        audit(release, public="gender")
    with pytest.raises(ReleaseError, match="another attacker"):
        release.with_audit(audit(release, public=["gender"]))


def test_a_private_column_the_attacker_knows_after_all_splits_groups(release):
    verdict = audit(release, public=["gender", "loan risk"])
    assert verdict.group_sizes.tolist() == [2, 2, 4, 4]
    assert verdict.exposed is None


def test_diversity_is_asked_of_the_target(release):
    verdict = audit(release, clients(), privacy=KAnonymity(3) & Confidence(0.7))
    assert not verdict.holds
    assert verdict.parts[1].failing_people == 6
    with pytest.raises(RequirementError, match="private target"):
        audit(release, public=list(release.columns), privacy=Confidence(0.7))


def test_findings_name_no_private_cell(release):
    forged = changed(release, "gender", 0, 1 - release.rows["gender"].codes[0])
    verdict = audit(forged, clients())
    assert "good" not in str(verdict)
    assert "bad" not in str(verdict)


def test_a_column_that_the_rows_lack_is_refused(release):
    with pytest.raises(DataError, match="has a column 'gender'"):
        audit(release, clients().drop(["gender"]))
    assert audit(release, clients().drop(["sports car"])).holds  # nothing is told of it


def test_overlapping_rows_make_certainty_a_bound():
    """Suppressed rows beside exact ones: a person may fit two groups, and only what must be is asked of the counts."""
    age = Attribute("age", "public", "numeric", bounds=(0, 100), integer=True)
    ill = Attribute("ill", "private", "categorical", values=("n", "y"))
    values = (Generalised("<=40", intervals=(Interval(None, 40),)), Generalised("*"))
    rows = to_table({"age": ["<=40"] * 2 + ["*"] * 3, "ill": ["n", "y", "y", "n", "n"]})
    ages = Column("age", "categorical", np.array([0, 0, 1, 1, 1], dtype=np.uint8), ("<=40", "*"))
    release = TableRelease(
        "ill", (age, ill), ({"requirement": "k-anonymity", "k": 2},), rows.with_column(ages), {"age": values}
    )
    people = {"age": [20, 30, 35, 50, 60], "ill": ["n", "y", "y", "n", "n"]}
    verdict = audit(release, people)
    assert verdict.holds
    assert not verdict.exact
    # one person up to 40 is too few for a group of two
    assert not audit(release, {**people, "age": [20, 50, 55, 50, 60]}).holds
    # and nobody up to 40 is well, though one of the two published is
    assert not audit(release, {**people, "ill": ["y", "y", "y", "n", "n"]}).holds
    # the one over 40 fits the asterisk only
    assert audit(release, {"age": [20, 30, 35, 30, 60], "ill": ["n", "y", "y", "n", "n"]}).holds


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=20))
def test_groups_are_equal_rows(rows):
    codes = np.array(rows, dtype=np.uint8)
    columns = [Column(str(i), "categorical", codes[:, i].copy(), ("a", "b", "c")) for i in range(2)]
    groups = group_rows(columns, len(rows))
    assert Counter(rows) == {rows[one]: people for one, people in zip(groups.example, groups.people, strict=True)}
    of = groups.of_row
    assert all((of[i] == of[j]) == (rows[i] == rows[j]) for i in range(len(rows)) for j in range(i))
