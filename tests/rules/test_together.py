# SPDX-License-Identifier: Apache-2.0
"""Rules audited together with other releases of the same rows, against plain enumeration of the joint spans."""

from itertools import chain, combinations, pairwise

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import AnonymousRules, AnonymousTreeClassifier
from shoal.audit.together.joint import audit_together
from shoal.audit.together.ledger import Ledger
from shoal.audit.together.rows_read import read_rows
from shoal.audit.together.subjects import as_subject
from shoal.cli import run
from shoal.errors import DataError
from shoal.privacy import Confidence, KAnonymity
from shoal.release.rules import CountedRule, Item, RulesRelease

ITEMS = ("a", "b", "c", "x", "y")
PUBLIC = ("a", "b", "c")
PRIVATE = ("x", "y")

baskets = st.lists(st.sets(st.sampled_from(ITEMS)), min_size=4, max_size=24).filter(
    lambda lists: set(chain(*lists)) == set(ITEMS)
)
side = st.sets(st.sampled_from((*ITEMS, "a or b")), min_size=1, max_size=2)
rules = st.lists(
    st.tuples(side, side).filter(lambda rule: not rule[0] & rule[1]), min_size=1, max_size=3, unique_by=str
)


def subsets(items):
    return [frozenset(c) for size in range(len(items) + 1) for c in combinations(items, size)]


def state(rule, basket):
    has = basket | ({"a or b"} if basket & {"a", "b"} else set())
    return 0 if not rule[0] <= has else 2 if rule[1] <= has else 1


def released(chosen, lists):
    """A release of rules, whatever it breaks."""
    names = sorted(set(chain(*(one | two for one, two in chosen))))
    items = [
        Item(name, "private" if name in PRIVATE else "public", ("a", "b") if name == "a or b" else ()) for name in names
    ]
    counted = [
        CountedRule(
            tuple(sorted(rule[0])),
            tuple(sorted(rule[1])),
            sum(state(rule, basket) == 2 for basket in lists),
            max(1, sum(state(rule, basket) > 0 for basket in lists)),
        )
        for rule in chosen
    ]
    return RulesRelease(tuple(items), tuple(counted), len(lists), ({"requirement": "k-anonymity", "k": 2},))


@settings(max_examples=40, deadline=None)
@given(baskets, rules, rules, st.integers(2, 4))
def test_two_releases_of_the_same_baskets_are_one_of_all_their_rules(lists, one, other, k):
    """What names public items alone is left out: by the definition of the ledger it is a release that tells nothing."""
    telling = [rule for rule in [*one, *other] if (rule[0] | rule[1]) & set(PRIVATE)]
    spans = [
        frozenset(
            tuple(state(rule, (basket & set(PUBLIC)) | chosen) for rule in telling) for chosen in subsets(PRIVATE)
        )
        for basket in lists
    ]
    told = [spans.count(each) for each in spans if len(each) > 1]
    releases = [released(chosen, lists) for chosen in (one, other)]
    subjects = [as_subject(release) for release in releases]
    both = audit_together(subjects, read_rows(releases, lists, None), public=PUBLIC, privacy=k)
    assert both.holds == all(n >= k for n in told)
    assert (both.smallest_group or 0) == min(told, default=0)


def people(n=240):
    sex = ["f", "m"] * (n // 2)
    age = [20 + (i * 7) % 50 for i in range(n)]
    job = ["clerk", "nurse", "smith"] * (n // 3)
    ill = ["yes" if (i * 13) % 5 < 2 + (i % 2) else "no" for i in range(n)]
    vote = ["red" if (a > 40) != (j == "nurse") else "blue" for a, j in zip(age, job, strict=True)]
    return pd.DataFrame({"sex": sex, "age": age, "job": job, "ill": ill, "vote": vote})


def test_rules_over_a_table_and_a_tree_of_it():
    table = people()
    rule_release = (
        AnonymousRules(30, ["sex", "job"], min_support=20, min_confidence=0.3, rows="table")
        .fit(table.drop(columns="vote"))
        .release_
    )
    tree = AnonymousTreeClassifier(privacy=30, public=["age", "job", "sex"]).fit(table, "vote").release_
    subjects = [as_subject(rule_release), as_subject(tree)]
    assert set(subjects[0].columns) <= {"sex", "age", "job", "ill"}
    rows = read_rows([rule_release, tree], table, None)
    public = {"sex", "job"}  # so age is private in the tree as well
    both = audit_together(subjects, rows, public=public, privacy=30)

    # by enumeration: every person with every private value that somebody has, through both models
    hidden = table[["age", "ill", "vote"]].drop_duplicates()
    seen = {}
    for sex, job in set(zip(table["sex"], table["job"], strict=True)):
        asked = hidden.assign(sex=sex, job=job)
        pairs = zip(
            _states(rule_release, asked), subjects[1].bins(read_rows([tree], asked, None)), asked["vote"], strict=True
        )
        seen[sex, job] = frozenset(pairs)
    spans = [seen[pair] for pair in zip(table["sex"], table["job"], strict=True)]
    assert both.smallest_group == min(spans.count(each) for each in spans if len(each) > 1)
    assert both.holds == (both.smallest_group >= 30)


def _states(release, frame):
    """The joint state of all rules of each row, from the names of items alone."""
    found = []
    for row in frame.to_dict("records"):
        has = {f"{name}={value}" for name, value in row.items()}
        for column, cuts in release.cuts.items():
            place = sum(row[column] > cut for cut in cuts)
            ends = [*(repr(cut) if cut % 1 else str(int(cut)) for cut in cuts)]
            texts = [
                f"<={ends[0]}",
                *(f"({low}, {high}]" for low, high in pairwise(ends)),
                f">{ends[-1]}",
            ]
            has.add(f"{column}={texts[place]}")
        has |= {item.name for item in release.items if set(item.members) & has}
        found.append(
            tuple(
                0 if not set(rule.antecedent) <= has else 2 if set(rule.consequent) <= has else 1
                for rule in release.rules
            )
        )
    return found


def test_values_of_a_table_are_audited_alone():
    table = people()
    options = {"sensitive": ["ill=yes"], "min_support": 20, "min_confidence": 0.3, "rows": "table"}
    release = AnonymousRules(Confidence(0.9) & KAnonymity(10), ["sex", "job"], **options).fit(table).release_
    with pytest.raises(DataError, match="audit them alone"):
        as_subject(release)


LISTS = (
    [["bread", "pills"]] * 30 + [["bread"]] * 20 + [["eggs", "pills"]] * 14 + [["eggs"]] * 11 + [["bread", "eggs"]] * 6
)


def test_the_ledger_takes_rules(tmp_path):
    options = {"min_support": 5, "min_confidence": 0.1, "merge": False}
    one = AnonymousRules(20, ["bread"], **options).fit([[i for i in b if i != "eggs"] for b in LISTS] + [[]] * 20)
    ledger = Ledger.open(tmp_path)
    rows = [[i for i in b if i != "eggs"] for b in LISTS] + [[]] * 20
    assert ledger.add(one, rows).verdict == "holds"
    assert ledger.add(one, rows).verdict == "holds"
    assert [entry.kind for entry in ledger.entries] == ["rules"]
    everything = LISTS + [[]] * 20
    other = AnonymousRules(20, ["eggs"], **options).fit([[i for i in b if i != "bread"] for b in LISTS] + [[]] * 20)
    verdict = ledger.check(other, everything)
    assert verdict.verdict == "not proven"  # six have both bread and eggs
    assert verdict.pair == (1, 2)
    assert verdict.smallest_group == 6


def test_the_ledger_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = ["basket,item", *(f"{i},{item}" for i, basket in enumerate(LISTS) for item in basket)]
    (tmp_path / "long.csv").write_text("\n".join(lines), encoding="utf-8")
    wide = pd.DataFrame({item: [int(item in basket) for basket in LISTS] for item in ("bread", "eggs", "pills")})
    wide.to_csv("wide.csv", index=False)
    asked = ["-k", "6", "--private", "pills", "--min-support", "5", "--min-confidence", "0.1"]
    assert run(["rules", "long.csv", *asked, "-o", "rules.json"]) == 0
    assert run(["ledger", "add", "rules.json", "long.csv"]) == 0
    assert run(["ledger", "check", "rules.json", "wide.csv"]) == 0
    assert run(["rules", "wide.csv", *asked, "-o", "again.json", "--min-confidence", "0.5"]) == 0
    capsys.readouterr()
    assert run(["ledger", "add", "again.json", "wide.csv"]) == 0
    told = capsys.readouterr().out
    assert "2 release(s)" in told
    assert "other" not in told  # the same baskets, in another form
    assert run(["ledger", "list", "wide.csv"]) == 0
    assert "4 association rules" in capsys.readouterr().out
