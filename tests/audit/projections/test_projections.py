# SPDX-License-Identifier: Apache-2.0
"""What the audit says of projections: the paper's example, what PartAL does not promise, and releases that lie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from shoal import Confidence, DataError, KAnonymity, PromiseError, ReleaseError, RequirementError, audit
from shoal.audit.telling import rank_columns
from shoal.errors import ShoalError
from shoal.partition.publish import publish_projections
from shoal.privacy import NOT_K_ANONYMITY, PartAL
from shoal.release import ProjectionsRelease

from .examples import DOMAIN, FIG1, SUBSETS, counter_example, fig7


def codes(verdict, severity=None) -> list[str]:
    return [each.code for each in verdict.findings if severity in (None, each.severity)]


def message(verdict, code: str) -> str:
    return next(each.message for each in verdict.findings if each.code == code)


def test_sect_4_2_has_pal_6_and_7_and_sal_2_and_groups_of_one():
    verdict = audit(fig7(), FIG1)
    assert verdict.holds
    assert verdict.rejoined.groups == (6, 7)
    assert (verdict.rejoined.pal, verdict.rejoined.sal, verdict.rejoined.partal) == (6, 2, 2)
    # by hand: Unmarried and over 48, Not-in-family and over 48
    product = FIG1.groupby(["relationship", FIG1["age"] > 48]).size()
    assert verdict.smallest_group == product.min() == 1
    assert verdict.people_alone == (product == 1).sum()
    assert "product-groups" in codes(verdict, "warning")


def test_what_sect_4_2_releases_is_fig_7():
    release = fig7()
    first, second = release.frame(0), release.frame(1)
    assert first["relationship"].value_counts().to_dict() == {"Husband": 7, "Not-in-family": 7, "Unmarried": 6}
    assert sorted(second["age"].value_counts()) == [7, 13]
    assert sorted(second["hours-per-week"]) == sorted(FIG1["hours-per-week"])
    assert list(first.columns) == ["education-num", "relationship", "income"]


def test_a_higher_level_than_there_is_is_withheld():
    with pytest.raises(PromiseError, match="PartAL is 2 and not 3"):
        fig7(3)


@pytest.mark.parametrize("k", [2, 5, 30])
def test_partal_holds_and_yet_a_class_is_certain(k: int):
    people = counter_example(k)
    release = publish_projections(people, "ill", [["first"], ["second"]], privacy=k)
    verdict = audit(release, people)
    assert verdict.holds
    assert verdict.rejoined.sal == k
    assert verdict.rejoined.pal == k + 1
    assert (verdict.classes_left, verdict.class_certain, verdict.certain_in_one) == (1, 1, 0)
    assert verdict.people_alone == 1
    assert "knows 'ill' of 1 of " in message(verdict, "class-certain-together")
    assert codes(verdict, "breach") == []


def test_that_a_class_is_certain_is_a_breach_of_whatever_else_is_claimed():
    people = counter_example(5)
    release = publish_projections(people, "ill", [["first"], ["second"]], privacy=5)
    for privacy in (KAnonymity(2), Confidence(0.99), PartAL(5) & KAnonymity(1)):
        verdict = audit(release, people, privacy=privacy)
        assert not verdict.holds
        assert "class-certain-together" in codes(verdict, "breach")
    with pytest.raises(PromiseError, match="fails for 1 person"):
        publish_projections(people, "ill", [["first"], ["second"]], privacy=PartAL(5) & KAnonymity(5))


def test_it_is_never_k_anonymity():
    release = fig7()
    verdict = audit(release, FIG1)
    assert NOT_K_ANONYMITY in str(release)
    assert NOT_K_ANONYMITY in message(verdict, "partal-not-k-anonymity")
    assert NOT_K_ANONYMITY in str(verdict)
    assert verdict.to_json()["notice"] == NOT_K_ANONYMITY
    assert [claim["requirement"] for claim in verdict.claims] == ["partal"]
    assert not audit(release, FIG1, privacy=2).holds  # a whole number still means k-anonymity
    assert audit(release, FIG1, privacy=1).smallest_group == 1


def test_groups_cannot_be_asked_for_it():
    with pytest.raises(RequirementError, match="asked of projections only") as caught:
        audit(fig7().tables[0], FIG1, privacy=PartAL(2))
    assert caught.value.code == "not-of-groups"


def test_each_projection_is_a_k_anonymous_table_of_its_own():
    for table in fig7().tables:
        assert [dict(claim) for claim in table.claims] == [{"requirement": "k-anonymity", "k": 2}]
        assert audit(table, FIG1).holds
    assert audit(fig7().tables[0], FIG1, privacy=6).holds
    assert not audit(fig7().tables[0], FIG1, privacy=7).holds


def test_a_product_whose_groups_are_large_may_be_called_k_anonymous():
    people = pd.DataFrame({"a": ["x", "y"] * 40, "b": ["x", "x", "y", "y"] * 20, "ill": ["n"] * 40 + ["y"] * 40})
    release = publish_projections(people, "ill", [["a"], ["b"]], privacy=PartAL(10) & KAnonymity(20))
    verdict = audit(release, people)
    assert (verdict.smallest_group, verdict.holds) == (20, True)
    assert [claim["requirement"] for claim in verdict.claims] == ["partal", "k-anonymity"]


# ---------------------------------------------------------------- releases that lie


def changed(release: ProjectionsRelease, number: int, column: str, row: int, code: int) -> ProjectionsRelease:
    """One cell of one projection, changed."""
    table = release.tables[number]
    values = table.rows[column].codes.copy()
    assert values[row] != code
    values[row] = code
    rows = table.rows.with_column(replace(table.rows[column], codes=values))
    tables = [*release.tables]
    tables[number] = replace(table, rows=rows)
    return replace(release, tables=tuple(tables), verdict=None)


def test_a_moved_row_is_caught():
    release = fig7(reproducible=True)
    other = 1 - int(release.tables[1].rows["age"].codes[0])
    verdict = audit(changed(release, 1, "age", 0, other), FIG1)
    assert "counts-differ" in codes(verdict, "breach")
    assert message(verdict, "counts-differ").startswith("Projection 2: ")


def test_other_private_values_are_caught():
    release = fig7(reproducible=True)
    column = release.tables[0].rows["education-num"]
    verdict = audit(changed(release, 0, "education-num", 0, (int(column.codes[0]) + 1) % 3), FIG1)
    assert "counts-differ" in codes(verdict, "breach")


def test_a_claim_that_is_too_high_is_caught():
    release = replace(fig7(), claims=({"requirement": "partal", "k": 3},), verdict=None)
    verdict = audit(release, FIG1)
    assert codes(verdict, "breach") == ["partal-fails"]
    assert "of some rows of two projections joined again there are 2 (SAL)" in message(verdict, "partal-fails")
    with pytest.raises(ReleaseError, match="found a breach"):
        release.with_audit(verdict).save("never.json")
    too_high = audit(replace(release, claims=({"requirement": "partal", "k": 7},)), FIG1)
    assert "projection 1 has a group of 6 (PAL)" in message(too_high, "partal-fails")
    assert "Projection 1: " in message(too_high, "requirement-fails")


def test_rows_of_other_people_are_caught():
    assert "counts-differ" in codes(audit(fig7(), FIG1.iloc[:-1]), "breach")
    other = FIG1.assign(relationship=["Husband", *FIG1["relationship"][1:]])
    assert not audit(fig7(), other).holds


# ---------------------------------------------------------------- further questions


def test_people_with_several_rows_are_refused():
    with pytest.raises(DataError, match="take every row for a person") as caught:
        audit(fig7(), FIG1.assign(who=np.arange(20) // 2), person="who")
    assert caught.value.code == "person-not-counted"


def test_people_with_one_row_each_may_be_named():
    assert audit(fig7(), FIG1.assign(who=np.arange(20)), person="who").holds


def test_a_public_number_without_cuts_between_is_hidden_and_not_needed():
    release = publish_projections(
        FIG1, "income", SUBSETS, privacy=2, public=["relationship", "age"], cuts={"age": []}, domain=DOMAIN
    )
    assert set(release.frame(1)["age"]) == {"*"}
    verdict = audit(release, FIG1.drop(columns="age"))
    assert verdict.holds
    assert verdict.rejoined.groups == (6, 20)


def test_the_target_may_be_given_beside_the_rows():
    y = FIG1["income"].map({"<=50K": 0, ">50K": 1}).rename("rich")
    release = publish_projections(FIG1.drop(columns="income"), y, [["relationship"]], privacy=2)
    assert (release.target, audit(release, FIG1, y).holds) == ("rich", True)
    assert set(release.frame(0)["rich"]) == {0, 1}


@pytest.mark.parametrize(
    ("subsets", "options", "why"),
    [
        ([], {}, "nothing is released"),
        ([["age"], []], {}, "no column but the target"),
        ([["agee"]], {}, "no column 'agee' to project on. Closest: 'age'"),
        ([["income"]], {}, "no column 'income'"),
        ([["relationship"]], {"public": ["relation"]}, "no column 'relation'"),
        ([["relationship"]], {"privacy": KAnonymity(2)}, "give PartAL"),
    ],
)
def test_what_cannot_be_projected_is_refused(subsets, options, why):
    with pytest.raises(ShoalError, match=why):
        publish_projections(FIG1, "income", subsets, **{"privacy": 2, **options})


def test_it_needs_the_rows():
    with pytest.raises(DataError, match="Give them") as caught:
        audit(fig7())
    assert caught.value.code == "rows-needed"


def test_missing_is_a_value_of_its_own():
    people = pd.DataFrame({"a": [None, None, "x", "x"] * 5, "b": ["u", "v"] * 10, "ill": ["n", "n", "n", "y"] * 5})
    release = publish_projections(people, "ill", [["a"], ["b"]], privacy=3)
    verdict = audit(release, people)
    assert verdict.rejoined.groups == (10, 10)
    assert verdict.rejoined.sal == 5 * 5  # (x, n) five times and (v, n) five times
    assert verdict.missing is not None
    assert verdict.missing.people == 10
    assert sorted(release.frame(0)["a"].isna()) == [False] * 10 + [True] * 10


def test_another_attacker_may_know_more():
    release = fig7()
    verdict = audit(release, FIG1, public=["relationship", "age", "hours-per-week"])
    assert verdict.rejoined.groups == (6, 1)
    assert not verdict.holds
    assert {"relationship", "age", "hours-per-week"} == set(verdict.public)
    fewer = audit(release, FIG1, public=["age"])
    assert fewer.rejoined.groups == (20, 7)
    assert (fewer.smallest_group, fewer.holds) == (7, True)


def test_columns_are_ranked():
    ranking = rank_columns(fig7(), FIG1)
    assert {each.column for each in ranking.public} == {"relationship", "age"}


def test_rows_may_be_left_out():
    people = pd.concat([FIG1, FIG1.iloc[:1].assign(relationship="Wife")], ignore_index=True)
    out = np.append(np.zeros(20, dtype=bool), True)
    release = publish_projections(
        people,
        "income",
        SUBSETS,
        privacy=2,
        public=["relationship", "age"],
        cuts={"age": [48]},
        domain=DOMAIN,
        left_out=out,
    )
    verdict = audit(release, people)
    assert verdict.holds
    assert verdict.rejoined.groups == (6, 7)
    assert "left-out" in codes(verdict, "note")
    assert "Wife" not in release.tables[0].to_csv()
    lying = replace(release, left_out=2, verdict=None)
    assert "counts-differ" in codes(audit(lying, people), "breach")


def test_overlapping_projections_are_joined_on_what_they_share():
    people = pd.DataFrame({"a": ["x"] * 8 + ["y"] * 8, "b": ["u", "v"] * 8, "c": ["p", "p", "q", "q"] * 4, "ill": "n"})
    people["ill"] = ["n", "n", "n", "n", "y", "y", "y", "y"] * 2
    with pytest.raises(ReleaseError, match="column 'a' is in several"):
        publish_projections(people, "ill", [["a", "b"], ["a", "c"]], privacy=2)
    release = publish_projections(people, "ill", [["a", "b"], ["a", "c"]], privacy=2, overlapping=True)
    # (a, b, ill) and (a, c, ill) have two rows of each, joined on a and ill: 2 × 2
    assert audit(release, people).rejoined.sal == 4
    # where a is private, joined rows of both its values count: 2 × 2 twice
    hidden = publish_projections(
        people, "ill", [["a", "b"], ["a", "c"]], privacy=2, overlapping=True, public=["b", "c"]
    )
    assert audit(hidden, people).rejoined.sal == 8


def test_a_private_column_in_two_projections_links_their_rows():
    """Each value of a and of b has both classes, but rows with the same number are one person's: a and b tell it."""
    people = pd.DataFrame({"a": list("vvww") * 5, "b": list("stst") * 5, "number": [f"n{i:02}" for i in range(20)]})
    people["ill"] = list("nyyn") * 5
    linked = publish_projections(
        people,
        "ill",
        [["a", "number"], ["b", "number"]],
        privacy=5,
        public=["a", "b"],
        domain={"number": list(people["number"])},
        overlapping=True,
    )
    verdict = audit(linked, people)
    assert (verdict.holds, verdict.classes_left, verdict.class_certain) == (True, 1, 20)
    assert "linked-by-private" in codes(verdict, "warning")
    apart = audit(publish_projections(people, "ill", [["a"], ["b"]], privacy=5), people)
    assert (apart.classes_left, apart.class_certain) == (2, 0)


def test_no_private_cell_is_told():
    people = FIG1.assign(income=["canary-one" if each == ">50K" else "canary-two" for each in FIG1["income"]])
    release = publish_projections(
        people, "income", SUBSETS, privacy=2, public=["relationship", "age"], cuts={"age": [48]}, domain=DOMAIN
    )
    verdict = audit(release, people)
    assert "canary" not in str(verdict) + str(verdict.to_json()) + repr(release) + str(release)
