# SPDX-License-Identifier: Apache-2.0
"""The ledger's verdicts: what two releases tell together, what tells nothing, and rows that come and go."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from shoal import AnonymousModel, AnonymousTreeClassifier, RequirementError, RoleError, audit, load_sample, to_table
from shoal.anonymize import TreeAnonymizer
from shoal.audit.foreign.blackbox import BlackBox
from shoal.audit.together.joint import audit_together
from shoal.audit.together.ledger import Ledger
from shoal.audit.together.subjects import as_subject
from shoal.errors import DataError
from shoal.release import Attribute, Branch, Node, TreeRelease

from .examples import LONELY, PEOPLE, stump


def codes(verdict) -> list[str]:
    return [finding.code for finding in verdict.findings]


def test_two_releases_that_are_5_anonymous_each_and_pin_one_person_down_together(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    first, second = stump("street"), stump("school")
    assert audit(first, PEOPLE).holds
    assert audit(second, PEOPLE).holds
    assert ledger.add(first, PEOPLE).verdict == "holds"
    verdict = ledger.add(second, PEOPLE)
    assert (verdict.verdict, verdict.holds, verdict.pair) == ("not proven", False, (1, 2))
    assert verdict.smallest_group == 1
    (pinned,) = verdict.pinned
    assert (pinned.column, pinned.rows.tolist(), pinned.alone) == ("ill", [LONELY], 0)
    assert {"together-fails", "pinned-together"} <= set(codes(verdict))
    assert str(verdict).startswith("not proven: smallest group 1 (3 groups of 11 people recounted)")
    assert "release 1 (a decision tree of 2 leaves) and release 2 (a decision tree of 2 leaves)" in str(verdict)
    # nothing was added, unless somebody says so
    assert len(ledger.entries) == 1
    assert ledger.add(second, PEOPLE, accept_not_proven=True).verdict == "not proven"
    assert [entry.verdict for entry in Ledger.open(tmp_path).entries] == ["holds", "not proven"]


def test_a_harmless_all_public_release_raises_no_alarm(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    assert ledger.add(stump("street"), PEOPLE).holds
    harmless = stump("school", "sex")  # whoever goes to which school, and their sex: all of it public
    verdict = ledger.add(harmless, PEOPLE)
    assert (verdict.verdict, verdict.left_out, verdict.findings) == ("holds", (2,), ())
    # neither before nor after: it does not count when another one comes
    verdict = ledger.check(stump(None), PEOPLE)
    assert (verdict.verdict, verdict.left_out) == ("holds", (2,))
    assert ledger.check(stump("school"), PEOPLE).pair == (1, 3)


def test_a_harmless_release_is_no_alarm_even_after_one_that_was(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    for release in (stump("street"), stump("school")):
        ledger.add(release, PEOPLE, accept_not_proven=True)
    assert ledger.add(stump("school", "sex"), PEOPLE).verdict == "holds"
    # any other is not proven, and the pair says that it is not its fault
    assert ledger.add(stump(None), PEOPLE).pair == (1, 2)


def test_the_same_release_is_entered_once(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    for _ in range(2):
        assert ledger.add(stump("street"), PEOPLE).verdict == "holds"
    assert len(ledger.entries) == 1


def test_check_writes_nothing(tmp_path: Path):
    assert Ledger.open(tmp_path).check(stump("street"), PEOPLE).holds
    assert list(tmp_path.iterdir()) == []


def test_a_release_that_fails_alone_is_not_proven(tmp_path: Path):
    changed = {**PEOPLE, "ill": ["no"] * 11}
    ledger = Ledger.open(tmp_path)
    verdict = ledger.add(stump("street"), changed)
    assert (verdict.verdict, verdict.pair) == ("not proven", (1,))
    assert "counts-differ" in codes(verdict)
    assert ledger.entries == ()
    # and so is one that comes second
    ledger.add(stump("street"), PEOPLE)
    assert "counts-differ" in codes(ledger.check(stump(None, people=changed), PEOPLE))


def test_what_a_later_release_claims_is_asked_of_the_earlier_ones(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    ledger.add(stump("street"), PEOPLE)
    verdict = ledger.check(stump(None, k=11), PEOPLE)
    assert (verdict.verdict, verdict.pair) == ("not proven", (1,))
    assert "Together with what the others claim, release 1" in str(verdict)


def test_claims_about_values_are_asked_of_their_own_columns(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    confident = stump("street", claims=({"requirement": "confidence", "c": 0.7},))
    assert ledger.add(confident, PEOPLE).holds
    verdict = ledger.check(stump("school", "job", k=1), PEOPLE)
    broken = {(part.requirement, part.about) for part in verdict.parts if not part.holds}
    assert broken == {
        ("every group has at least 5 people", ""),
        ("no value of a group is more certain than 70 %", " (of 'ill')"),
    }
    assert verdict.pinned == ()  # they tell of different columns


def test_three_releases_of_which_any_two_hold(tmp_path: Path):
    """Every pair of the three columns cuts into halves of halves; only all three cut one person off."""
    rows = list(itertools.product("01", repeat=3))
    people = {name: [row[i] for row in rows for _ in range(2)] for i, name in enumerate("abc")}
    people["ill"] = ["n", "y"] * 8
    trees = [_halves(name, people) for name in "abc"]
    ledger = Ledger.open(tmp_path)
    assert [ledger.add(tree, people).verdict for tree in trees] == ["holds", "holds", "not proven"]
    assert ledger.check(trees[2], people).pair == (1, 2, 3)


def _halves(name: str, people: dict[str, list[str]]) -> TreeRelease:
    nodes = (Node(name, (Branch(1, ("0",)), Branch(2, ("1",)))), Node(counts=(4, 4)), Node(counts=(4, 4)))
    attributes = (
        Attribute(name, "public", "categorical", values=("0", "1")),
        Attribute("ill", "private", "categorical", values=("n", "y")),
    )
    release = TreeRelease("ill", attributes, ({"requirement": "k-anonymity", "k": 4},), nodes)
    assert audit(release, people).holds
    return release


# ---------------------------------------------------------------- roles


def test_a_column_that_is_public_once_and_private_once_must_be_settled(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    ledger.add(stump("street"), PEOPLE)
    other = stump("ill", "job", private=("job",))
    with pytest.raises(RoleError, match="'ill' are public in one release and private in another") as caught:
        ledger.check(other, PEOPLE)
    assert caught.value.code == "roles-differ"
    assert ledger.check(other, PEOPLE, public=["street", "ill"]).left_out == (1,)
    assert ledger.check(other, PEOPLE, public=["street"]).verdict == "holds"


def test_nothing_is_asked_because_of_what_tells_nothing(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    confident = stump("street", claims=({"requirement": "confidence", "c": 0.7},))
    ledger.add(confident, PEOPLE)
    # for somebody who knows who is ill the first release says nothing, and its claim is about nothing
    verdict = ledger.check(stump("school", "job"), PEOPLE, public=["street", "school", "ill"])
    assert (verdict.verdict, verdict.left_out) == ("holds", (1,))


def test_together_needs_something_to_ask_and_something_to_ask_it_of():
    table = to_table(PEOPLE)
    with pytest.raises(DataError, match="at least one release"):
        audit_together([], table)
    box = BlackBox("a model", table.select(["street", "school"]), table["ill"], None)
    with pytest.raises(RequirementError, match="say what to ask"):
        audit_together([box], table)
    verdict = audit_together([as_subject(stump("sex")), box], table, privacy=2)
    assert (verdict.verdict, verdict.pair, verdict.smallest_group) == ("not proven", (2,), 1)
    assert "finer-groups" in codes(verdict)
    with pytest.raises(RoleError, match="no column 'streat'"):
        audit_together([box], table, privacy=2, public=["streat"])
    with pytest.raises(RoleError, match="one string"):
        audit_together([box], table, privacy=2, public="street")


def test_people_are_counted_not_rows():
    table = to_table({**PEOPLE, "who": ["1", "1", "1", "1", "1", "2", "3", "3", "3", "3", "3"]})
    verdict = audit_together([as_subject(stump("street"))], table, privacy=2, person="who")
    assert (verdict.smallest_group, verdict.n_people, verdict.verdict) == (1, 3, "not proven")


# ---------------------------------------------------------------- rows that come and go


def test_rows_added_are_noticed_and_set_apart(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    ledger.add(stump("street"), PEOPLE)
    more = {name: [*values, values[0]] for name, values in PEOPLE.items()}
    verdict = ledger.check(stump("street", people=more), more)
    assert verdict.verdict == "not proven"  # who compares the two learns the new one's value
    (finding,) = [each for each in verdict.findings if each.code == "rows-changed"]
    assert finding.severity == "warning"
    assert finding.message.startswith("1 row(s) added and 0 removed since release 1")
    assert "Counts differ by fewer than 5: of 'ill' for 1 value(s)." in finding.message
    assert verdict.smallest_group == 1


def test_many_rows_added_hold_with_a_warning(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    ledger.add(stump("street"), PEOPLE)
    twice = {name: values * 2 for name, values in PEOPLE.items()}
    verdict = ledger.check(stump("street", people=twice), twice)
    assert verdict.verdict == "holds"
    assert codes(verdict) == ["rows-changed"]
    assert verdict.smallest_group == 5


def test_rows_removed_are_noticed(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    ledger.add(stump(None), PEOPLE)
    fewer = {name: values[1:] for name, values in PEOPLE.items()}
    verdict = ledger.check(stump(None, people=fewer), fewer)
    assert (verdict.verdict, codes(verdict)) == ("not proven", ["rows-changed"])
    assert "0 row(s) added and 1 removed" in verdict.findings[0].message
    assert verdict.pair == (1, 2)
    twice = {name: values * 2 for name, values in PEOPLE.items()}
    other = Ledger.open(tmp_path / "other")
    (tmp_path / "other").mkdir()
    other.add(stump(None, people=twice), twice)
    verdict = other.check(stump(None), PEOPLE)
    assert (verdict.verdict, codes(verdict)) == ("holds", ["rows-changed"])
    assert "0 row(s) added and 11 removed" in verdict.findings[0].message


def test_a_harmless_release_is_no_alarm_when_rows_went(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    ledger.add(stump("street"), PEOPLE)
    ledger.add(stump("school", "sex"), PEOPLE)
    fewer = {name: values[1:] for name, values in PEOPLE.items()}
    assert ledger.check(stump("street", "sex", people=fewer), fewer).findings == ()
    # and what tells nothing is not compared with what does
    changes = [each for each in ledger.check(stump(None, people=fewer), fewer).findings if each.code == "rows-changed"]
    assert len(changes) == 1


def test_a_changed_private_value_is_a_row_removed_and_one_added(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    ledger.add(stump("street"), PEOPLE)
    changed = {**PEOPLE, "ill": ["no", *PEOPLE["ill"][1:]]}
    verdict = ledger.check(stump("street", people=changed), changed)
    assert verdict.verdict == "not proven"
    assert any("1 row(s) added and 1 removed" in finding.message for finding in verdict.findings)
    # a column that the release does not look at is not its business
    elsewhere = {**PEOPLE, "sex": PEOPLE["sex"][::-1]}
    assert ledger.check(stump(None), elsewhere).findings == ()


def test_the_order_of_rows_and_columns_does_not_matter(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    ledger.add(stump("street"), PEOPLE)
    turned = {name: PEOPLE[name][::-1] for name in reversed(PEOPLE)}
    ledger.add(stump(None), turned)
    one, other = ledger.entries
    assert one.table == other.table
    assert ledger.check(stump("school"), turned).pair == (1, 3)


def test_another_table_is_left_alone(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    ledger.add(stump("street"), PEOPLE)
    clinic = load_sample().table.select(["age", "sex", "diabetes"])
    tree = AnonymousTreeClassifier(privacy=100).fit(clinic, "diabetes").release_
    assert [(each.code, each.severity) for each in ledger.add(tree, clinic).findings] == [("other-table", "note")]
    # the same columns but other rows: perhaps other people, perhaps changed values
    moved = {**PEOPLE, "street": ["west"] * 11}
    verdict = ledger.check(stump(None, people=moved), moved)
    assert (codes(verdict), verdict.verdict) == (["other-table", "other-table"], "holds")


def test_a_table_without_the_columns_of_an_earlier_release_is_not_proven(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    ledger.add(stump("street"), PEOPLE)
    without = {name: values for name, values in PEOPLE.items() if name != "street"}
    verdict = ledger.add(stump(None), without)
    assert (verdict.verdict, verdict.pair, codes(verdict)) == ("not proven", (1, 2), ["columns-gone"])


# ---------------------------------------------------------------- kinds of releases


@pytest.fixture(scope="module")
def clinic():
    return load_sample().table.select(["age", "sex", "education", "smoker", "diabetes"])


def test_trees_tables_and_models_in_one_ledger(tmp_path: Path, clinic):
    from sklearn.linear_model import LogisticRegression

    columns = ["age", "sex", "diabetes"]
    table = TreeAnonymizer(privacy=300).fit(clinic.select(columns), "diabetes").release_
    tree = (
        AnonymousTreeClassifier(privacy=300).fit(clinic.select(["age", "education", "diabetes"]), "diabetes").release_
    )
    model = AnonymousModel(LogisticRegression(), privacy=300, public=["age", "sex"]).fit(
        clinic.select([*columns, "smoker"]), "diabetes"
    )
    ledger = Ledger.open(tmp_path)
    for release in (table, tree, model):
        ledger.add(release, clinic, accept_not_proven=True)
    assert [entry.kind for entry in ledger.entries] == ["table", "tree", "model"]
    for entry, release in zip(ledger.entries, (table, tree, model.release_), strict=True):
        assert ledger.release(entry.number).sha256 == release.sha256
    ledger.verify()
    both = Ledger.open(tmp_path).check(tree, clinic)
    assert both.left_out == ()
    assert both.to_json()["releases"][1]["what"] == "a model over groups of people"


def test_a_table_and_a_tree_of_the_same_groups_tell_no_more_than_one(clinic):
    table = TreeAnonymizer(privacy=500).fit(clinic.select(["age", "diabetes"]), "diabetes").release_
    tree = AnonymousTreeClassifier(privacy=500).fit(clinic.select(["age", "diabetes"]), "diabetes").release_
    both = audit_together([as_subject(table), as_subject(tree)], clinic)
    assert (both.verdict, both.smallest_group >= 500) == ("holds", True)
    assert both.pinned[0].people == 0


def test_an_unknown_number_is_refused(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    with pytest.raises(DataError, match="there is no 1"):
        ledger.release(1)
    with pytest.raises(DataError, match="needs a release"):
        ledger.check(3, PEOPLE)


def test_targets_beside_the_rows_and_under_another_name(tmp_path: Path):
    ledger = Ledger.open(tmp_path)
    others = {name: values for name, values in PEOPLE.items() if name != "ill"}
    assert ledger.add(stump("street"), others, PEOPLE["ill"]).holds
    named = {**others, "sick": PEOPLE["ill"]}
    assert ledger.check(stump(None), named, "sick").findings == ()
    assert ledger.check(stump("school"), pd.DataFrame(others), np.array(PEOPLE["ill"])).pair == (1, 2)
