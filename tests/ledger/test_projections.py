# SPDX-License-Identifier: Apache-2.0
"""Projections in the ledger: they enter as their tables, and PartAL is never taken for k-anonymity."""

from pathlib import Path

import pytest

from shoal import audit
from shoal.audit.linking import link
from shoal.audit.together.ledger import Ledger
from shoal.errors import ReleaseError
from shoal.partition.publish import publish_projections
from shoal.privacy import NOT_K_ANONYMITY

from .examples import LONELY, PEOPLE, stump


def projections(*subsets, k: int = 2):
    rows = {name: PEOPLE[name] for name in ("street", "school", "sex", "ill")}
    return publish_projections(rows, "ill", subsets, privacy=k)


def codes(verdict, severity=None) -> list[str]:
    return [each.code for each in verdict.findings if severity in (None, each.severity)]


def test_alone_it_holds_and_the_ledger_says_what_that_is_not(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    release = projections(["street"], ["school"])
    verdict = ledger.add(release, PEOPLE)
    assert verdict.verdict == "holds"
    assert NOT_K_ANONYMITY in str(verdict)
    (entry,) = Ledger.open(tmp_path).entries
    assert (entry.kind, entry.what, entry.verdict) == ("projections", "2 projections", "holds")
    again = ledger.release(1)
    assert again.sha256 == release.sha256
    assert ledger.add(release, PEOPLE).holds  # not entered twice
    assert len(ledger.entries) == 1
    ledger.verify()


def test_with_a_k_anonymous_release_the_joint_groups_count(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    assert ledger.add(stump("street"), PEOPLE).verdict == "holds"
    release = projections(["street"], ["school"])
    assert audit(release, PEOPLE).holds
    verdict = ledger.add(release, PEOPLE)
    assert verdict.verdict == "not proven"
    assert "together-fails" in codes(verdict, "breach")
    assert "partal-not-k-anonymity" in codes(verdict)
    assert verdict.smallest_group == 1
    assert (verdict.groups.people[verdict.groups.of_row[LONELY]]) == 1


def test_a_tree_that_comes_after_projections_is_asked_together_with_them(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    ledger.add(projections(["street"], ["school"]), PEOPLE)
    assert ledger.check(stump("street"), PEOPLE).verdict == "not proven"


def test_partal_of_two_releases_is_not_worked_out(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    assert ledger.add(projections(["street"], ["school"]), PEOPLE).holds
    verdict = ledger.check(projections(["sex"]), PEOPLE)
    assert verdict.verdict == "not proven"
    assert "releases 1 and 2 claim PartAL" in str(verdict)


def test_a_copy_that_was_changed_is_noticed(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    ledger.add(projections(["street"], ["school"]), PEOPLE)
    rows = tmp_path / ".shoal" / "releases" / "0001" / "release.2.csv"
    rows.write_text(rows.read_text().replace("new", "old", 1))
    with pytest.raises(ReleaseError, match=r"'release\.2\.csv' was changed"):
        ledger.verify()


def test_people_are_linked_to_the_groups_of_all_projections():
    linked = link(projections(["street"], ["school"]), PEOPLE, PEOPLE)
    assert sorted(linked.group_sizes.tolist()) == [1, 5, 5]
