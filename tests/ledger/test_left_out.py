# SPDX-License-Identifier: Apache-2.0
"""Tables that leave rows out, alone and in the ledger: being left out is a bin that everybody can see."""

import itertools
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import audit, load, to_table
from shoal.audit.together.joint import audit_together
from shoal.audit.together.ledger import Ledger
from shoal.audit.together.product import Product
from shoal.audit.together.subjects import as_subject

from .test_released import DOMAIN, release_of

KEPT = {"a": [("p",), ("q",), ("p", "q")], "b": [("p",), ("q",), ()]}
WHOLE = {"a": [("p",), ("q",), ("r",), ("q", "r"), ()], "b": [("p",), ("q",), ()]}


def fits(part, value):
    return not part or value in part


def generalise(draw, rows, parts):
    return [
        {name: draw(st.sampled_from([part for part in parts[name] if fits(part, row[name])])) for name in parts}
        for row in rows
    ]


@st.composite
def tables(draw):
    """People; a table without those whose a is r; and a table of everybody."""
    person = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in DOMAIN.items()})
    rows = draw(st.lists(person, min_size=2, max_size=9))
    kept = [row for row in rows if row["a"] != "r"] or rows[:1]
    rows = rows if kept[0]["a"] != "r" else [{**rows[0], "a": "p"}, *rows[1:]]
    kept = [row for row in rows if row["a"] != "r"]
    some = generalise(draw, kept, KEPT)
    first = replace(release_of(kept, some), left_out=len(rows) - len(kept))
    everybody = generalise(draw, rows, WHOLE)
    return rows, (first, some), (release_of(rows, everybody), everybody)


def spans(rows, public, releases):
    """Every tuple of bins that somebody may be in: a published group and private values, or being left out."""
    hidden = [name for name in DOMAIN if name not in public]
    answer = []
    for row in rows:
        found = set()
        for values in itertools.product(*(DOMAIN[name] for name in hidden)):
            guess = {**row, **dict(zip(hidden, values, strict=True))}
            bins = []
            for release, published in releases:
                groups = {tuple(each.items()) for each in published}
                own = [(g, guess["c"], guess["t"]) for g in groups if all(fits(part, guess[n]) for n, part in g)]
                bins.append(own or (["out"] if release.left_out else []))
            found |= set(itertools.product(*bins))
        answer.append(frozenset(found))
    return answer


@given(tables(), st.sampled_from([{"a", "b"}, {"a"}, {"b"}]))
@settings(max_examples=120)
def test_spans_of_two_tables_of_which_one_leaves_people_out(case, public):
    rows, *releases = case
    table = to_table({name: [row[name] for row in rows] for name in DOMAIN})
    product = Product([as_subject(release) for release, _ in releases], table, public, [None, None])
    for which in ([0], [1], [0, 1]):
        expected = spans(rows, public, [releases[i] for i in which])
        found = product.spans(which)
        pairs = set(zip(found.of_row.tolist(), expected, strict=True))
        assert len(pairs) == len(found)  # nobody is put together with whom he can be told from
        if public == {"a", "b"}:
            assert len(pairs) == len(set(expected))
        single = {i for i, each in enumerate(expected) if len(each) == 1}
        assert {i for i in range(len(rows)) if found.n_bins[found.of_row[i]] == 1} <= single


def people(n_left_out, *, k=3):
    """People of p and q and some of r, in a table that leaves those of r out and in one that tells nothing public."""
    rows = [{"a": a, "b": "p", "c": "u", "t": t} for a in "pq" for t in ("n", "y") * 3]
    rows += [{"a": "r", "b": "p", "c": "v", "t": "n"} for _ in range(n_left_out)]
    first = release_of(rows[:12], [{"a": (row["a"],), "b": ()} for row in rows[:12]])
    second = release_of(rows, [{"a": (), "b": ()}] * len(rows))
    claims = ({"requirement": "k-anonymity", "k": k},)
    table = to_table({name: [row[name] for row in rows] for name in DOMAIN})
    first, second = replace(first, left_out=n_left_out, claims=claims), replace(second, claims=claims)
    return [each.with_audit(audit(each, table)) for each in (first, second)], table


def test_few_who_are_left_out_are_told_apart_by_a_table_of_everybody(tmp_path):
    (first, second), table = people(2)
    ledger = Ledger.open(tmp_path)
    assert ledger.add(first, table).verdict == "holds"
    verdict = ledger.check(second, table)
    assert (verdict.verdict, verdict.pair, verdict.smallest_group) == ("not proven", (1, 2), 2)
    # both are of r: all counts less those of p and q say what they have
    assert {found.column: found.people for found in verdict.pinned} == {"c": 2, "t": 2}


def test_enough_who_are_left_out_are_a_group(tmp_path):
    (first, second), table = people(3)
    ledger = Ledger.open(tmp_path)
    assert ledger.add(first, table).verdict == "holds"
    assert ledger.check(second, table).verdict == "holds"


def test_whoever_is_left_out_of_every_table_is_in_no_group():
    (first, _), table = people(1)
    joint = audit_together([as_subject(first), as_subject(first)], table)
    assert (joint.verdict, joint.smallest_group, joint.n_exempt) == ("holds", 6, 1)


def test_what_is_said_of_rows_left_out_must_be_true(tmp_path):
    (first, second), table = people(3)

    def breaches(release, rows=table):
        return {finding.code for finding in audit(release, rows).findings if finding.severity == "breach"}

    assert breaches(first) == set()
    for forged in (0, 2, 4):
        assert breaches(replace(first, left_out=forged)) == {"not-covered" if not forged else "counts-differ"} | (
            {"counts-differ"} if not forged else set()
        )
    assert breaches(replace(second, left_out=1)) == {"counts-differ"}  # everybody fits its only group
    # a row dropped from a group is no row that is left out
    dropped = replace(first, rows=first.rows.take(range(1, 12)), left_out=4)
    assert breaches(dropped) == {"counts-differ"}
    # strangers in the place of those who are left out fit no group either: nothing is told of them
    strangers = table.take(range(12))
    assert breaches(first, strangers) == {"counts-differ"}
    first.save(tmp_path / "t.json")
    text = (tmp_path / "t.json").read_text(encoding="utf-8")
    (tmp_path / "t.json").write_text(text.replace('"left_out": 3', '"left_out": 2'), encoding="utf-8")
    changed = load(tmp_path / "t.json")
    assert changed.left_out == 2
    with pytest.raises(ValueError, match="audit"):
        changed.save(tmp_path / "again.json")


def test_rows_of_a_person_of_which_some_are_left_out():
    """Five people with two rows each; one row of one of them, and both of another, are left out."""
    rows = pd.DataFrame(
        {
            "a": ["p"] * 7 + ["r"] * 3,
            "b": ["p"] * 10,
            "c": ["u", "v"] * 5,
            "t": ["n", "n", "y", "n", "y", "y", "n", "n", "y", "y"],
            "who": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
        }
    )
    kept = rows.iloc[:7].to_dict("records")
    release = release_of(kept, [{"a": ("p",), "b": ()}] * 7)
    release = replace(release, left_out=3, people=4)
    verdict = audit(release, rows, person="who")
    assert verdict.holds
    assert (verdict.n_people, verdict.smallest_group) == (4, 4)
    assert not audit(release, rows, person="who", privacy=5).holds
    for forged in (replace(release, left_out=2), replace(release, people=5), replace(release, people=3)):
        assert "counts-differ" in {each.code for each in audit(forged, rows, person="who").findings}


def test_everybody_left_out_or_nobody():
    (first, _), table = people(3)
    only_left_out = table.take(range(12, 15))
    assert "not-covered" in {each.code for each in audit(first, only_left_out).findings}
