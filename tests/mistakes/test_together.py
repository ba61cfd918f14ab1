# SPDX-License-Identifier: Apache-2.0
"""What a sceptical reading of repair, people and the ledger found; each was once wrong."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from shoal import (
    AnonymousTreeClassifier,
    Closeness,
    Confidence,
    DataError,
    KAnonymity,
    ReleaseError,
    RoleError,
    attack,
    audit,
    to_table,
)
from shoal.audit.linking import link
from shoal.audit.together.joint import audit_together
from shoal.audit.together.ledger import Ledger
from shoal.audit.together.subjects import as_subject
from shoal.cli import run
from shoal.release import Attribute, Branch, Node, TreeRelease
from shoal.repair import repair


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    n = 600
    X = pd.DataFrame({"a": rng.integers(0, 60, n).astype(float), "c": rng.normal(size=n).round(2)})
    return X, np.where(rng.random(n) < 0.1 + 0.2 * (X["a"] > 40), "yes", "no")


# ---------------------------------------------------------------- repair


@pytest.mark.parametrize("weight", ["balanced", {"yes": 4}])
def test_a_safe_tree_with_class_weights_predicts_as_before(rows, weight):
    X, y = rows
    model = DecisionTreeClassifier(class_weight=weight, min_samples_leaf=40, random_state=0).fit(X, y)
    done = repair(model, X, y, privacy=20)
    assert done.before.holds
    assert "yes" in model.predict(X)
    assert done.release.predict(X).tolist() == model.predict(X).tolist()
    # and so does the repair of what was repaired
    again = repair(done.release, X, y, privacy=20)
    assert again.release.weights == done.release.weights
    assert again.accuracy == done.accuracy


def test_pruning_counts_people_by_their_weight(rows):
    X, y = rows
    model = DecisionTreeClassifier(class_weight="balanced", min_samples_leaf=10, random_state=0).fit(X, y)
    done = repair(model, X, y, privacy=60)
    assert not done.before.holds
    assert set(done.release.predict(X)) == {"no", "yes"}


def test_a_forest_of_equal_trees_loses_nothing_that_one_of_them_keeps(rows):
    """What is asked a second time tells nobody apart again, however few people a group has."""
    X, y = rows
    model = RandomForestClassifier(3, bootstrap=False, max_features=None, min_samples_leaf=20, random_state=0).fit(X, y)
    assert len({tree.tree_.node_count for tree in model.estimators_}) == 1
    done = repair(model, X, y, privacy=20, prune=False)
    alone = repair(model.estimators_[0], X.to_numpy(), np.where(y == "yes", 1.0, 0.0), privacy=20, prune=False)
    assert alone.leaves[1] * 3 == done.leaves[1]


def test_what_a_release_does_not_state_its_repair_does_not_state(rows):
    X, y = rows
    release = AnonymousTreeClassifier(privacy=10).fit(X, y).release_.stating("majority")
    repaired = repair(release, X, y, privacy=50).release
    assert repaired.statement == "majority"
    assert "counts" not in str(repaired.to_json())


def test_bounds_of_a_private_column_have_people_behind_them_not_rows(rows):
    X, y = rows
    # one person has thirty rows, and in all of them what nobody else has
    X = X.assign(who=np.where(np.arange(len(X)) < 30, 0, np.arange(len(X))))
    X.loc[X["who"] == 0, "c"] = 777.25
    model = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X[["a", "c"]], y)
    done = repair(model, X, y, privacy=10, public=["a"], domain=None, person="who")
    assert done.release.several_rows
    assert done.audit.holds
    stated = [attribute for attribute in done.release.attributes if attribute.name == "c"]
    assert all(attribute.bounds[1] < 700 for attribute in stated)
    assert "777" not in str(done.release.to_json())


def test_closeness_is_to_the_people_of_the_table_not_to_its_rows(rows):
    X, y = rows
    X = X.assign(who=np.where(y == "yes", np.cumsum(y == "yes") // 8, 1000 + np.arange(len(y))))
    model = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(X[["a", "c"]], y)
    done = repair(model, X, y, privacy=KAnonymity(5) & Closeness(0.1), person="who")
    assert done.audit.holds
    assert done.release.several_rows


def test_sensitive_columns_are_not_public_by_default(rows):
    X, y = rows
    X = X.assign(b=np.where(np.arange(len(X)) % 3, "p", "q"))
    model = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(X[["a", "c"]], y)
    done = repair(model, X, y, privacy=KAnonymity(10) & Confidence(0.9), sensitive=["b"])
    assert set(done.release.public) == {"a", "c"}
    assert done.audit.holds


# ---------------------------------------------------------------- the ledger: rows that come and go


def tree_of(people: pd.DataFrame, column: str | None, *, k: int = 5, target: str = "ill", several: bool = False):
    """A tree that asks for one public column of texts, or for none, with the counts of these people."""
    classes = ("no", "yes")
    values = () if column is None else tuple(sorted(set(people[column])))

    def counted(rows: pd.DataFrame) -> Node:
        own = rows.drop_duplicates([target, "who"]) if several else rows
        return Node(counts=tuple(int((own[target] == each).sum()) for each in classes))

    leaves = [counted(people[people[column] == value]) for value in values] or [counted(people)]
    split = [Node(column, tuple(Branch(1 + i, (value,)) for i, value in enumerate(values)))] if values else []
    asked = [Attribute(column, "public", "categorical", values=values)] if values else []
    release = TreeRelease(
        target,
        (*asked, Attribute(target, "private", "categorical", values=classes)),
        ({"requirement": "k-anonymity", "k": k},),
        (*split, *leaves),
        several_rows=several,
        people=people["who"].nunique() if several else None,
    )
    verdict = audit(release, people, person="who" if several else None)
    assert verdict.holds
    return release.with_audit(verdict)


def persons(n: int, **columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame({**columns, "ill": (["no", "yes"] * n)[:n], "who": [f"p{i}" for i in range(n)]})


def of_code(verdict, code):
    return [finding for finding in verdict.findings if finding.code == code]


def test_who_was_added_is_told_by_all_columns_not_by_those_that_a_release_looks_at(tmp_path):
    """To the first release everybody is alike, so only other columns tell who is new: one of the old, four young."""
    old, young = persons(20, age=["old"] * 20), persons(20, age=["young"] * 20)
    before = pd.concat([old[:-2], young[:-8]])
    first = tree_of(before, None)
    ledger = Ledger.open(tmp_path)
    assert ledger.add(first, before).holds
    # the new ones are not last in the file
    now = pd.concat([old[-2:], young[-8:], before])
    second = tree_of(now, "age")
    verdict = ledger.check(second, now)
    assert verdict.verdict == "not proven"
    assert verdict.smallest_group == 2


def test_people_who_are_gone_are_counted_group_by_group(tmp_path):
    """Eight people are gone, but only one of them from the south: whoever compares the counts has his value."""
    people = persons(40, street=["north"] * 20 + ["south"] * 20)
    ledger = Ledger.open(tmp_path)
    assert ledger.add(tree_of(people, "street"), people).holds
    now = people.drop(index=[*range(7), 39])
    verdict = ledger.check(tree_of(now, "street"), now)
    (finding,) = of_code(verdict, "rows-changed")
    assert (verdict.verdict, finding.severity) == ("not proven", "breach")
    # six from each side are enough
    now = people.drop(index=[*range(6), *range(34, 40)])
    verdict = ledger.check(tree_of(now, "street"), now)
    (finding,) = of_code(verdict, "rows-changed")
    assert (verdict.verdict, finding.severity) == ("holds", "warning")


def test_people_who_are_gone_are_told_apart_by_all_earlier_releases(tmp_path):
    """Five are gone from every leaf of both trees; only together do the trees single one of them out."""
    people = persons(40, street=["north"] * 20 + ["south"] * 20, school=(["new"] * 10 + ["old"] * 10) * 2)
    ledger = Ledger.open(tmp_path)
    for column in ("street", "school"):
        assert ledger.add(tree_of(people, column), people).holds
    gone = [0, 10, 11, 12, 13, 20, 21, 22, 23, 24]  # north: 1 new, 4 old; south: 5 new
    now = people.drop(index=gone)
    verdict = ledger.check(tree_of(now, None), now)
    assert verdict.verdict == "not proven"
    gone = [*range(5), *range(10, 15), *range(20, 25)]
    now = people.drop(index=gone)
    assert ledger.check(tree_of(now, None), now).verdict == "holds"


def test_people_who_are_gone_are_people_not_rows(tmp_path):
    people = pd.concat([persons(30, street=["north"] * 30)] * 6, ignore_index=True)
    first = tree_of(people, None, several=True)
    ledger = Ledger.open(tmp_path)
    assert ledger.add(first, people, person="who").holds
    now = people[people["who"] != "p3"]  # six rows, one person
    verdict = ledger.check(tree_of(now, None, several=True), now, person="who")
    assert verdict.verdict == "not proven"


def test_what_was_claimed_of_values_cannot_be_asked_of_people_who_are_gone(tmp_path):
    people = persons(40, street=["north"] * 40)
    release = replace(
        tree_of(people, None),
        claims=({"requirement": "k-anonymity", "k": 5}, {"requirement": "confidence", "c": 0.9}),
        verdict=None,
    )
    ledger = Ledger.open(tmp_path)
    assert ledger.add(release, people).holds
    now = people[~people["who"].isin([f"p{2 * i}" for i in range(8)])]  # eight people, none of them ill
    assert ledger.check(tree_of(now, None), now).verdict == "not proven"


def test_that_a_table_of_other_columns_is_left_out_is_said(tmp_path):
    people = persons(40, street=["north"] * 20 + ["south"] * 20, school=(["new"] * 10 + ["old"] * 10) * 2)
    ledger = Ledger.open(tmp_path)
    assert ledger.add(tree_of(people, "street"), people[["street", "ill"]]).findings == ()
    other = people[["school", "who", "street"]].assign(fit=people["ill"]).drop(columns="street")
    verdict = ledger.check(tree_of(other, "school", target="fit"), other)
    (finding,) = verdict.findings
    assert (finding.code, finding.severity) == ("other-table", "note")


def test_a_ledger_of_another_version_is_not_called_tampered_with(tmp_path):
    people = persons(20)
    Ledger.open(tmp_path).add(tree_of(people, None), people)
    file = tmp_path / ".shoal" / "ledger.jsonl"
    file.write_text(file.read_text().replace("shoal-ledger/1", "shoal-ledger/2"))
    with pytest.raises(ReleaseError, match="shoal-ledger/1") as caught:
        Ledger.open(tmp_path)
    assert caught.value.code == "ledger-version"


def test_it_cannot_be_told_who_was_added_where_other_values_changed_too(tmp_path):
    people = persons(40, street=["north"] * 20 + ["south"] * 20)
    ledger = Ledger.open(tmp_path)
    ledger.add(tree_of(people, None), people)
    changed = people.assign(street=["west"] * 40, who=[f"q{i}" for i in range(40)])
    now = pd.concat([changed, persons(20, street=["east"] * 20)])
    verdict = ledger.check(tree_of(now, None), now)
    (finding,) = of_code(verdict, "rows-changed")
    assert (verdict.verdict, finding.severity) == ("not proven", "breach")
    assert "Of 60 row(s) it cannot be told" in finding.message


# ---------------------------------------------------------------- releases of several trees


@pytest.fixture(scope="module")
def forest(rows):
    X, y = rows
    rows = X.assign(t=y)
    model = RandomForestClassifier(5, max_depth=2, max_features=1, random_state=0).fit(X, y)
    release = repair(model, rows, "t", privacy=10, prune=False).release
    assert release.kind == "ensemble"
    return release, rows


def test_trees_that_answer_together_predict_on_the_command_line(forest, tmp_path, capsys):
    release, rows = forest
    release.save(tmp_path / "trees.json")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    assert run(["predict", str(tmp_path / "trees.json"), str(tmp_path / "rows.csv"), "--proba"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "t,t=no,t=yes"
    assert [line.split(",")[0] for line in said[1:]] == release.predict(rows).tolist()
    both = [str(tmp_path / "rows.csv"), "--data", str(tmp_path / "rows.csv")]
    assert run(["attack", str(tmp_path / "trees.json"), *both]) == 0
    assert "trees that answer together" in capsys.readouterr().out


def test_trees_that_answer_together_are_linked_like_any_model(forest):
    release, rows = forest
    with pytest.raises(DataError, match=r"Try shoal.audit.linking.link"):
        attack(release, rows)
    found = link(release, rows[["a", "c"]], rows)
    groups = audit(release, rows).groups
    assert len(set(zip(found.group_of_person, groups.of_row, strict=True))) == len(groups) == len(found.group_sizes)
    assert [belief.column for belief in found.beliefs] == ["t"]
    assert np.isclose(found.beliefs[0].confidence.max(), audit(release, rows).highest_confidence)
    with pytest.raises(DataError, match="leave out domain="):
        link(release, rows, rows, domain={"a": [0, 100]})


def test_each_release_is_named_once_that_pins_somebody_down(forest):
    release, rows = forest
    subjects = [as_subject(release), as_subject(repair(release, rows, "t", privacy=60).release)]
    verdict = audit_together(subjects, to_table(rows))
    assert [each.releases for each in verdict.pinned] == [(1, 2)]


# ---------------------------------------------------------------- people, not rows


def test_people_whose_numbers_are_too_large_to_be_told_apart_are_refused(rows):
    X, y = rows
    X = X.assign(who=2**53 + np.arange(len(X)) // 2)
    with pytest.raises(DataError, match="too large to be kept exactly"):
        AnonymousTreeClassifier(privacy=5, person="who").fit(X, y)
    model = DecisionTreeClassifier(max_depth=1).fit(X[["a"]], y)
    with pytest.raises(DataError, match="too large to be kept exactly"):
        audit(model, X[["a", "who"]], y, privacy=5, person="who")
    text = X.assign(who=X["who"].astype(str))
    assert audit(model, text[["a", "who"]], y, privacy=5, person="who").n_people == len(X) // 2


def test_a_row_each_is_a_person_in_a_repair_as_in_a_miner(rows):
    X, y = rows
    X = X.assign(who=np.arange(len(X)))
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[["a"]], y)
    release = repair(model, X[["a", "who"]], y, privacy=20, person="who").release
    assert not release.several_rows
    again = repair(release, X, y, privacy=50, person="who").release
    assert not again.several_rows
    with pytest.raises(RoleError, match="it can have no other role"):
        repair(model, X[["a"]], y, privacy=20, person="a")
    with pytest.raises(RoleError, match="it can have no other role"):
        repair(model, X[["a"]].assign(t=y), "t", privacy=20, person="t")


def test_what_was_public_and_is_not_any_more_is_stated_with_people_behind_it(rows):
    X, y = rows
    X = X.assign(c=np.where(np.arange(len(X)) == 0, 777.25, X["c"]))
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    release = repair(model, X, y, privacy=10, domain={"a": [0, 60], "c": [X["c"].min(), X["c"].max()]}).release
    assert "777.25" in str(release.to_json())
    done = repair(release, X, y, privacy=20, public=["a"])
    assert "777" not in str(done.release.to_json())
    assert audit(done.release, X, y).holds
