# SPDX-License-Identifier: Apache-2.0
"""The rules of Sect. 4.3 of VLDB'08: 888, 82 and 30 people, safe at 30 and not at 31."""

import pytest

from shoal import Confidence, KAnonymity, audit
from shoal.audit.rules import Rules
from shoal.papers.worked.baskets import BASKETS, GROCERIES, TYLENOL, VIAGRA, both_rules


@pytest.fixture
def rules() -> Rules:
    return both_rules()


def test_holds_at_30_with_the_groups_of_the_paper(rules):
    verdict = audit(rules, BASKETS, public=GROCERIES, privacy=30)
    assert verdict.holds
    assert verdict.smallest_group == 30
    assert verdict.group_sizes.tolist() == [30, 82, 888]
    # S1 is a single bin, S3 two and S2 four
    assert sorted(zip(verdict.groups.people.tolist(), verdict.groups.n_bins.tolist(), strict=True)) == [
        (30, 4),
        (82, 2),
        (888, 1),
    ]
    assert verdict.n_exempt == 1


def test_fails_at_31_and_names_the_rule(rules):
    verdict = audit(rules, BASKETS, public=GROCERIES, privacy=31)
    assert not verdict.holds
    finding = verdict.findings[0]
    assert finding.code == "group-fails"
    assert finding.people == 30
    assert finding.message == (
        "A group of 30 people: they have 'Birthday Candles' and 'Cherries'; rule 2 (Birthday Candles, Cherries ⇒ "
        "Tylenol) alone sets them apart from those most like them."
    )
    assert len(verdict.rows_at_risk) == 30


def test_seven_bins_not_nine(rules):
    assert rules.n_bins == 7
    assert "(7 bins)" in audit(rules, BASKETS, public=GROCERIES, privacy=2).what


def test_what_supports_alone_tell(rules):
    populations = rules.populations(1000, public=GROCERIES)
    assert populations.complete
    assert [(group.people, group.exempt) for group in populations.groups] == [(30, False), (82, False), (888, True)]
    assert populations.groups[0].shares == {"'Tylenol'": (24, 24), "'Viagra'": (2, 30)}
    assert populations.groups[1].shares == {"'Viagra'": (54, 82)}
    assert populations.verdict(30).answer == "holds"
    assert str(populations.verdict(31)) == "fails: 30 people have 'Birthday Candles' and 'Cherries'."


def test_the_audit_says_what_supports_alone_tell(rules):
    notes = [f.message for f in audit(rules, BASKETS, public=GROCERIES, privacy=30).findings if f.code == "rules-tell"]
    assert len(notes) == 1
    assert "30 have 'Birthday Candles' and 'Cherries': 24 of them 'Tylenol'" in notes[0]
    assert "888" not in notes[0]  # nothing private is told of them


def test_percentages_as_the_paper_prints_them(tmp_path):
    file = tmp_path / "rules.csv"
    file.write_text(
        "antecedents,consequents,support,confidence\n"
        "Cherries,Viagra,8.4%,75%\n"
        '"Cherries, Birthday Candles",Tylenol,2.4%,80%\n',
        encoding="utf-8",
    )
    populations = Rules.read(file).populations(1000, public=GROCERIES)
    assert [group.people for group in populations.groups] == [30, 82, 888]


def test_values_of_a_private_item_can_be_asked(rules):
    # of 30 people with cherries and candles 24 have Tylenol: 80 %; of everybody else nobody has
    assert audit(rules, BASKETS, public=GROCERIES, privacy=KAnonymity(30) & Confidence(0.8), sensitive=[VIAGRA]).holds
    verdict = audit(rules, BASKETS, public=GROCERIES, privacy=Confidence(0.79), sensitive=[TYLENOL])
    assert not verdict.holds
    assert {finding.people for finding in verdict.findings if finding.code == "group-fails"} == {30, 82}


def test_without_transactions_the_audit_points_elsewhere(rules):
    with pytest.raises(ValueError, match=r"rules\.populations") as error:
        audit(rules, None, public=GROCERIES, privacy=30)
    assert error.value.code == "rows-needed"
