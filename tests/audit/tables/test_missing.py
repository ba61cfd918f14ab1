# SPDX-License-Identifier: Apache-2.0
"""Missing public values: how they are counted, and the second figure, against all pairs of people."""

from __future__ import annotations

import itertools
from collections.abc import Collection

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import audit
from shoal.audit import unknowns
from shoal.audit.assumed import stated_domain
from shoal.audit.foreign.blackbox import BlackBox
from shoal.audit.groups import Ids, Spans
from shoal.audit.subject import Subject, audit_subject
from shoal.data.frames import to_table
from shoal.data.table import Table
from shoal.errors import ShoalError

NUMBERS, LETTERS, SECRETS = (1.0, 2.0, 3.0), ("x", "y"), ("p", "q")


class Anything(Subject):
    """A model that is any function at all of a number, a letter and a secret: a dict from cells to bins."""

    what = "a function"
    sha256 = "0" * 64

    def __init__(self, table: Table, bin_of: dict[tuple, int], domain: dict[str, list] | None = None) -> None:
        self.domain = stated_domain(table, ["number", "letter", "secret"], domain)
        self.bin_of = bin_of

    def _rows(self, table: Table) -> list[tuple]:
        columns = []
        for name in self.domain:
            column = table[name]
            cells = [*column.values, None]
            columns.append([cells[code] for code in column.codes])
        return list(zip(*columns, strict=True))

    def bins(self, table: Table) -> Ids:
        return np.array([self.bin_of[row] for row in self._rows(table)])

    def spans(self, table: Table, public: Collection[str]) -> Spans:
        assert "secret" not in public
        sets = [frozenset(self.bin_of[row[0], row[1], secret] for secret in SECRETS) for row in self._rows(table)]
        number = {each: i for i, each in enumerate(dict.fromkeys(sets))}
        keys = np.array([number[each] for each in sets])
        return Spans.numbered(keys, np.array([len(each) == 1 for each in sets]), disjoint=False)


people = st.lists(
    st.tuples(
        st.sampled_from((*NUMBERS, None)),
        st.sampled_from((*LETTERS, None)),
        st.sampled_from(SECRETS),
        st.integers(0, 4),
    ),
    min_size=1,
    max_size=14,
)


def as_table(rows: list[tuple]) -> Table:
    number, letter, secret, person = zip(*rows, strict=True)
    columns = {"number": [*number, 1.0], "letter": [*letter, "x"], "secret": [*secret, "p"], "person": [*person, 5]}
    table = to_table(columns, kinds={"number": "numeric", "letter": "categorical", "person": "categorical"})
    return table.take(np.arange(len(rows)))


def matched(rows: list[tuple], matches, counts_for: list[bool], k: int, by_person: bool) -> tuple[int, int]:
    """The smallest number of matches, and the people below k, over all pairs of rows."""
    whose = [row[3] if by_person else i for i, row in enumerate(rows)]
    found = [len({whose[j] for j, b in enumerate(rows) if matches(a, b)}) for a in rows]
    asked = [i for i in range(len(rows)) if counts_for[i]]
    return min(found[i] for i in asked), len({whose[i] for i in asked if found[i] < k})


@given(people, st.integers(1, 5), st.booleans(), st.booleans())
@settings(max_examples=150)
def test_every_public_value_tells_people_apart(rows, k, by_person, letter_is_public):
    table = as_table(rows)
    features = table.drop(["person"])
    known = ["number", "letter"] if letter_is_public else ["number"]
    verdict = audit_subject(
        BlackBox("a model", features, None, None),
        table,
        public=known,
        privacy=k,
        person="person" if by_person else None,
    )
    places = range(len(known))
    lacking = {row[3] if by_person else i for i, row in enumerate(rows) if any(row[p] is None for p in places)}
    if not lacking:
        assert verdict.missing is None
        return

    def matches(a, b):
        return all(a[p] is None or b[p] is None or a[p] == b[p] for p in places)

    smallest, below = matched(rows, matches, [True] * len(rows), k, by_person)
    assert verdict.missing == unknowns.MissingFigure(len(lacking), k, smallest, below)


cells = list(itertools.product((*NUMBERS, None), (*LETTERS, "z", None), SECRETS))


@given(people, st.lists(st.integers(0, 3), min_size=len(cells), max_size=len(cells)), st.integers(1, 5), st.booleans())
@settings(max_examples=150)
def test_a_model_is_asked_about_every_way_to_fill_in(rows, bins, k, by_person):
    table = as_table(rows)
    bin_of = dict(zip(cells, bins, strict=True))
    model = Anything(table, bin_of, domain={"letter": ["x", "y", "z"]})
    verdict = audit_subject(
        model, table, public=["number", "letter"], privacy=k, person="person" if by_person else None
    )

    def span(number, letter):
        return frozenset(bin_of[number, letter, secret] for secret in SECRETS)

    occurring = sorted({row[0] for row in rows} - {None})

    def possible(row):
        numbers = [row[0]] if row[0] is not None else occurring or [None]
        letters = [row[1]] if row[1] is not None else ["x", "y", "z"]
        return {span(number, letter) for number in numbers for letter in letters}

    lacking = {row[3] if by_person else i for i, row in enumerate(rows) if None in row[:2]}
    counts_for = [len(span(row[0], row[1])) > 1 for row in rows]
    if not lacking or not any(counts_for):
        assert verdict.missing is None
        return
    smallest, below = matched(rows, lambda a, b: bool(possible(a) & possible(b)), counts_for, k, by_person)
    assert verdict.missing == unknowns.MissingFigure(len(lacking), k, smallest, below)


def test_a_public_target_must_agree_too():
    table = to_table({"age": [None, 30, 30, None], "sick": ["no", "yes", "no", "yes"]})

    class OneLeaf(BlackBox):
        by_value = False

    for kind in (BlackBox, OneLeaf):
        model = kind("a model", table.drop(["sick"]), table["sick"], None)
        figure = audit_subject(model, table, public=["age", "sick"], privacy=2).missing
        assert figure is None  # with everything public nothing can be told
        model.domain = stated_domain(to_table({"age": [1], "hidden": [1]}), ["age", "hidden"], None)
        wide = table.with_column(to_table({"hidden": [1, 1, 1, 1]})["hidden"])
        figure = audit_subject(model, wide, public=["age", "sick"], privacy=2).missing
        assert (figure.people, figure.smallest, figure.below) == (2, 2, 0)


def test_what_is_too_much_is_said_not_worked_out(monkeypatch):
    rows = [(None, None, "p", 0), (1.0, "x", "q", 1), (2.0, "y", "q", 2)]
    table = as_table(rows)
    monkeypatch.setattr(unknowns, "FEW", 3)
    monkeypatch.setattr(unknowns, "MOST_WORK", 3)
    model = Anything(table, dict.fromkeys(cells, 0) | {(1.0, "x", "p"): 1})
    figure = audit_subject(model, table, public=["number", "letter"], privacy=2).missing
    assert figure == unknowns.MissingFigure(1, 2, None, None)
    assert "not worked out" in str(figure)
    assert figure.to_json()["any"] is None
    box = BlackBox("a model", table.drop(["person"]), None, None)
    assert audit_subject(box, table, public=["number", "letter"], privacy=2).missing.smallest is None


def test_pieces_give_what_the_whole_gives(monkeypatch):
    rng = np.random.default_rng(0)
    table = to_table({name: rng.integers(0, 3, 300) for name in "abcd"} | {"person": rng.integers(0, 200, 300)})
    holes = {
        name: table[name].numbers[table[name].codes].tolist()
        if name == "person"
        else [None if rng.random() < 0.1 else int(v) for v in table[name].codes]
        for name in "abcd"
    }
    table = to_table(holes).with_column(table["person"])
    box = BlackBox("a model", table.drop(["person"]), None, None)
    whole = [audit_subject(box, table, public=["a", "b", "c"], privacy=9, person=p).missing for p in (None, "person")]
    monkeypatch.setattr(unknowns, "AT_ONCE", 7)
    assert whole == [
        audit_subject(box, table, public=["a", "b", "c"], privacy=9, person=p).missing for p in (None, "person")
    ]
    assert whole[0].people > 50


def test_the_example_that_sdcmicro_users_asked_about():
    """Rows 5 and 6 were suppressed to be 3-anonymous: counted as values of their own they are two."""
    table = to_table(
        {
            "age": ["60-80"] * 4 + ["20-50"] * 5,
            "sex": [None, None, "F", "F", "M", "M", "M", "M", "M"],
            "state": ["CAL"] * 4 + [None, None] + ["CAL"] * 3,
            "ill": list("abababcde"),
        }
    )
    verdict = audit(BlackBox("a table", table, None, None), table, public=["age", "sex", "state"], privacy=3)
    assert (verdict.smallest_group, verdict.holds) == (2, False)
    assert verdict.missing == unknowns.MissingFigure(people=4, k=3, smallest=4, below=0)
    said = (
        "missing for 4 people: counted as a value of its own; if it could match any: smallest group 4, 0 people below 3"
    )
    assert said in str(verdict)
    assert verdict.to_json()["missing"] == {
        "counted_as": "a value of its own",
        "people": 4,
        "k": 3,
        "any": {"smallest_group": 4, "people_below": 0},
    }


def test_a_table_without_gaps_has_no_second_figure():
    table = to_table({"age": [1, 2], "ill": ["a", "b"]})
    verdict = audit(BlackBox("a table", table, None, None), table, public=["age"], privacy=1)
    assert verdict.missing is None
    assert "missing" not in str(verdict)
    with pytest.raises(ShoalError):
        audit(BlackBox("a table", table, None, None), table, public=["age"])
