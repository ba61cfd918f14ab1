# SPDX-License-Identifier: Apache-2.0
"""What Weka prints of a J48 tree, read as it stands, audited by the definition, and refused where Weka did not."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import audit, load_model
from shoal.audit.foreign.j48 import J48Model, J48Subject
from shoal.audit.foreign.j48_text import Split, parse
from shoal.data import to_table
from shoal.data.target import as_categorical
from shoal.errors import DataError, ReleaseError, ShoalError

HEAD = """
=== Run information ===

Scheme:       weka.classifiers.trees.J48 -C 0.25 -M 2
Relation:     weather
Instances:    14
Attributes:   5
              outlook
              temperature
              humidity
              windy
              play
Test mode:    evaluate on training data

=== Classifier model (full training set) ===

"""
WEATHER = """J48 pruned tree
------------------

outlook = sunny
|   humidity <= 75: yes (2.0)
|   humidity > 75: no (3.0)
outlook = overcast: yes (4.0)
outlook = rainy
|   windy = TRUE: no (2.0)
|   windy = FALSE: yes (3.0)

Number of Leaves  : \t5

Size of the tree : \t8


Time taken to build model: 0.02 seconds

=== Evaluation on training set ===
"""
# the tree that Weka shows of its vote data, in which many values are missing
VOTE = """J48 pruned tree
------------------

physician-fee-freeze = n: democrat (253.41/3.75)
physician-fee-freeze = y
|   synfuels-corporation-cutback = n: republican (145.71/4.0)
|   synfuels-corporation-cutback = y
|   |   mx-missile = n
|   |   |   adoption-of-the-budget-resolution = n: republican (22.61/3.32)
|   |   |   adoption-of-the-budget-resolution = y
|   |   |   |   anti-satellite-test-ban = n: democrat (5.04/0.02)
|   |   |   |   anti-satellite-test-ban = y: republican (2.21)
|   |   mx-missile = y: democrat (6.03/1.03)

Number of Leaves  : \t6

Size of the tree : \t11
"""
ROWS = """sunny,85,85,FALSE,no
sunny,80,90,TRUE,no
overcast,83,86,FALSE,yes
rainy,70,96,FALSE,yes
rainy,68,80,FALSE,yes
rainy,65,70,TRUE,no
overcast,64,65,TRUE,yes
sunny,72,95,FALSE,no
sunny,69,70,FALSE,yes
rainy,75,80,FALSE,yes
sunny,75,70,TRUE,yes
overcast,72,90,TRUE,yes
overcast,81,75,FALSE,yes
rainy,71,91,TRUE,no"""


def weather():
    columns = zip(*(line.split(",") for line in ROWS.splitlines()), strict=True)
    names = ["outlook", "temperature", "humidity", "windy", "play"]
    rows = {name: list(column) for name, column in zip(names, columns, strict=True)}
    return {name: [int(x) for x in c] if c[0].isdigit() else c for name, c in rows.items()}


def text_of(body, leaves, size, title="J48 pruned tree", head=""):
    return (
        f"{head}{title}\n------------------\n{body}\n\nNumber of Leaves  : \t{leaves}\n\nSize of the tree : \t{size}\n"
    )


# ------------------------------------------------------------------------------------------------ reading


def test_hits_and_misses_are_those_that_are_printed():
    tree = parse(VOTE)
    assert [type(node) is Split for node in tree.nodes[:3]] == [True, False, True]
    assert {(leaf.label, leaf.people, leaf.miss) for leaf in tree.leaves} == {
        ("democrat", 253.41, 3.75),
        ("republican", 145.71, 4.0),
        ("republican", 22.61, 3.32),
        ("democrat", 5.04, 0.02),
        ("republican", 2.21, 0.0),
        ("democrat", 6.03, 1.03),
    }
    assert sum(leaf.people for leaf in tree.leaves) == pytest.approx(435, abs=0.03)


@pytest.mark.parametrize("head", ["", HEAD, "\nOptions: -t weather.arff\n\n=== Classifier model ===\n\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_stands_around_the_tree_and_how_lines_end_is_no_matter(head, end):
    assert parse((head + WEATHER).replace("\n", end)) == parse(WEATHER)


def test_a_tree_of_one_leaf():
    tree = parse(text_of(": yes (14.0/5.0)", 1, 1))
    assert [(leaf.label, leaf.hit, leaf.miss) for leaf in tree.leaves] == [("yes", 9, 5)]
    verdict = audit(J48Model(text_of(": yes (14.0/5.0)", 1, 1)), weather(), "play", privacy=14)
    assert verdict.holds
    assert verdict.what == "a J48 tree of 1 leaf"


def test_names_and_values_that_read_like_tests():
    body = "\na = b: c = d: e: f (3.0)\na = b: c = g (7): h (1.0E1/2.0)"
    tree = parse(text_of(body, 2, 3))
    assert tree.nodes[0] == Split("a", (1, 2), values=("b: c = d: e", "b: c = g (7)"))
    named = parse(text_of(body, 2, 3), ["a = b: c"])
    assert named.nodes[0] == Split("a = b: c", (1, 2), values=("d: e", "g (7)"))
    assert named.leaves[1].people == 10
    listed = "Attributes:   2\n              a = b: c\n              t\n"
    assert parse(text_of(body, 2, 3, head=listed)) == named


def test_binary_splits_of_nominal_attributes():
    body = """
town = A: yes (3.0)
town != A
|   town = B: no (4.0/1.0)
|   town != B: yes (5.0)"""
    rows = {"town": [*"AAABBBBCCDDD"], "ill": [*["yes"] * 3, *["no"] * 3, *["yes"] * 6]}
    verdict = audit(J48Model(text_of(body, 3, 5)), rows, "ill", privacy=3)
    assert (verdict.holds, verdict.smallest_group) == (True, 3)
    assert sorted(verdict.groups.people.tolist()) == [3, 4, 5]


def test_quotes_that_a_filter_of_weka_put_around_values():
    body = "\nage = '(-inf-30]': yes (2.0)\nage = '(30-inf)': no (3.0)"
    bare = {"age": [*["(-inf-30]"] * 2, *["(30-inf)"] * 3], "ill": [*["yes"] * 2, *["no"] * 3]}
    quoted = {**bare, "age": [f"'{value}'" for value in bare["age"]]}
    for rows in (bare, quoted):
        assert audit(J48Model(text_of(body, 2, 3)), rows, "ill", privacy=2).holds


def test_numbers_that_are_categories_to_the_tree():
    body = "\nrooms = 1: yes (2.0)\nrooms = 2: no (3.0)\nrooms = 3: no (0.0)"
    rows = {"rooms": [1, 1, 2, 2, 2], "ill": [1, 1, 0, 0, 0]}
    body = body.replace("yes", "1").replace("no", "0")
    verdict = audit(J48Model(text_of(body, 3, 4)), rows, "ill", privacy=2)
    assert (verdict.holds, verdict.smallest_group) == (True, 2)


# ------------------------------------------------------------------------------------------------ auditing


def test_groups_are_leaves_and_the_rows_are_those_of_the_text():
    verdict = audit(J48Model(WEATHER), weather(), "play", privacy=2)
    assert (verdict.holds, verdict.exact, sorted(verdict.groups.people.tolist())) == (True, True, [2, 2, 3, 3, 4])
    assert verdict.public == ("outlook", "humidity", "windy")
    failing = audit(J48Model(WEATHER), weather(), "play", privacy=3)
    assert "A group of 2 people: outlook = sunny and humidity at most 75." in [f.message for f in failing.findings]
    # who does not know the windiness cannot tell the rainy days apart
    assert audit(J48Model(WEATHER), weather(), "play", privacy=3, public=["outlook", "temperature"]).holds


def test_other_rows_than_the_text_speaks_of():
    rows = weather()
    rows["play"][0] = "yes"  # a miss that is not printed
    codes = {finding.code for finding in audit(J48Model(WEATHER), rows, "play", privacy=2).findings}
    assert "counts-differ" in codes
    sampled = J48Model(HEAD.replace("-C 0.25", "-R") + WEATHER)  # a part of the rows was left out
    assert "counts-differ" not in {finding.code for finding in audit(sampled, rows, "play", privacy=2).findings}
    rows = weather()
    rows["humidity"][0] = None  # then only all leaves together can be compared
    assert "counts-differ" not in {f.code for f in audit(J48Model(WEATHER), rows, "play", privacy=1).findings}
    fewer = {name: column[1:] + column[:1] * 2 for name, column in rows.items()}
    assert "counts-differ" in {f.code for f in audit(J48Model(WEATHER), fewer, "play", privacy=1).findings}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda rows: {**rows, "outlook": ["foggy", *rows["outlook"][1:]]}, "model-categories"),
        (lambda rows: {**rows, "humidity": ["wet"] * 14}, "column-kind"),
        (lambda rows: {**rows, "play": ["maybe"] * 14}, "other-target"),
        (lambda rows: {name: column for name, column in rows.items() if name != "windy"}, "no-column"),
    ],
)
def test_rows_that_do_not_fit(change, code):
    with pytest.raises(DataError) as refused:
        audit(J48Model(WEATHER), change(weather()), "play", privacy=2)
    assert refused.value.code == code
    assert "foggy" not in str(refused.value)


def test_a_target_is_needed():
    with pytest.raises(DataError, match="predicts a target"):
        audit(J48Model(WEATHER), weather(), privacy=2)


# ------------------------------------------------------------------------------------------------ by the definition


@st.composite
def j48_trees(draw):
    """A random tree as (attribute, [(sign, value, subtree)]) or None for a leaf, and rows with missing values."""
    letters = {name: "abc"[: draw(st.integers(2, 3))] for name in ("c0", "c1")}
    numbers = {"c2": 3, "c3": 4}
    binary = draw(st.booleans())

    def grow(depth, left):
        if depth == 3 or (depth and draw(st.integers(0, 2)) == 0):
            return None
        name = draw(st.sampled_from(["c0", "c1", "c2", "c3"]))
        values = left[name]
        if len(values) < 2:
            return None
        if name in numbers:
            cut = draw(st.sampled_from(values[:-1]))
            parts = [("<=", cut, [v for v in values if v <= cut]), (">", cut, [v for v in values if v > cut])]
        elif binary:
            value = draw(st.sampled_from(values))
            parts = [("=", value, [value]), ("!=", value, [v for v in values if v != value])]
        else:
            parts = [("=", value, [value]) for value in values]
        return name, [(sign, value, grow(depth + 1, {**left, name: rest})) for sign, value, rest in parts]

    domain = {**{n: list(v) for n, v in letters.items()}, **{n: list(range(h + 1)) for n, h in numbers.items()}}
    tree = grow(0, domain)
    n = draw(st.integers(2, 14))
    rows = []
    gaps = draw(st.sets(st.sampled_from(sorted(domain))))
    for _ in range(n):
        row = {name: draw(st.sampled_from([*v, None] if name in gaps else v)) for name, v in domain.items()}
        rows.append({**row, "t": draw(st.sampled_from("ny"))})
    for name, values in domain.items():  # somebody has every value of a column, so that it is known
        if all(row[name] is None for row in rows):
            rows[0][name] = values[0]
    rows[0]["t"], rows[1]["t"] = "n", "y"
    seen = {name: {row[name] for row in rows} for name in domain}
    public = draw(st.sets(st.sampled_from([*domain, "t"])))
    return tree, rows, {n: [*v, *([None] if None in seen[n] else [])] for n, v in domain.items()}, public


def printed(tree):
    """The tree as Weka prints it."""
    lines, sizes = [], [1, 0]

    def walk(node, depth):
        for sign, value, below in node[1]:
            sizes[0] += 1
            line = "|   " * depth + f"{node[0]} {sign} {value}"
            if below is None:
                sizes[1] += 1
                lines.append(f"{line}: n (1.0)")
            else:
                lines.append(line)
                walk(below, depth + 1)

    if tree is None:
        return text_of(": n (1.0)", 1, 1)
    walk(tree, 0)
    return text_of("\n" + "\n".join(lines), sizes[1], sizes[0], head="Scheme:weka.classifiers.trees.J48 -R -N 3\n")


def takes(sign, value, own):
    if own is None:
        return True
    return {"<=": lambda: own <= value, ">": lambda: own > value}.get(sign, lambda: (own == value) == (sign == "="))()


def leaves_of(node, row, path=()):
    """The leaves that parts of a row are in."""
    if node is None:
        return frozenset([path])
    below = [
        leaves_of(subtree, row, (*path, place))
        for place, (sign, value, subtree) in enumerate(node[1])
        if takes(sign, value, row[node[0]])
    ]
    return frozenset().union(*below)


def asked(node):
    return set() if node is None else {node[0]}.union(*(asked(below) for _, _, below in node[1]))


@settings(max_examples=100, deadline=None)
@given(j48_trees(), st.integers(1, 4))
def test_groups_are_those_of_the_definition(case, k):
    tree, rows, domain, public = case
    hidden = [name for name in (*domain, "t") if name not in public and name in {*asked(tree), "t"}]
    spans = []
    for row in rows:
        values = itertools.product(*([*"ny"] if name == "t" else domain[name] for name in hidden))
        guesses = ({**row, **dict(zip(hidden, each, strict=True))} for each in values)
        spans.append(frozenset((leaves_of(tree, guess), guess["t"]) for guess in guesses))
    table = {name: [row[name] for row in rows] for name in rows[0]}
    stated = {n: [v for v in values if v is not None] for n, values in domain.items()}
    stated |= {name: [values[0], values[-1]] for name, values in stated.items() if name in ("c2", "c3")}
    verdict = audit(J48Model(printed(tree)), table, "t", privacy=k, public=public, domain=stated)
    for one, other in itertools.combinations(range(len(rows)), 2):
        same = verdict.groups.of_row[one] == verdict.groups.of_row[other]
        assert same == (spans[one] == spans[other])
    assert verdict.holds == all(len(span) == 1 or spans.count(span) >= k for span in spans)


def test_bins_are_sets_of_leaves():
    rows = weather()
    rows["outlook"][0] = None
    rows["windy"][0] = None  # asked of him, for a part of him is in every branch of outlook
    rows["windy"][1] = None  # not asked on a sunny day
    table = to_table(rows)
    subject = J48Subject(parse(WEATHER), table.drop(["play"]), as_categorical(table["play"]))
    bins = subject.bins(table)
    assert len(set(bins.tolist())) == 6
    assert bins[1] == bins[7]  # sunny and humid both
    assert (bins == bins[0]).sum() == 1


# ------------------------------------------------------------------------------------------------ hostile and broken


@pytest.mark.parametrize("text", [WEATHER, VOTE], ids=["weather", "vote"])
def test_a_text_that_was_cut_off_is_refused(text):
    whole = parse(text)
    end = text.index("Size of the tree")
    end = text.index("\n", end)
    for length in range(end):
        try:
            read = parse(text[:length])
        except ReleaseError:
            continue
        pytest.fail(f"read {read} after {length} characters of {end}; whole: {whole}")


@pytest.mark.parametrize("text", [WEATHER, VOTE], ids=["weather", "vote"])
def test_a_line_that_is_lost_or_doubled_is_refused(text):
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith(("outlook", "physician", "|")):
            for changed in (lines[:number] + lines[number + 1 :], lines[: number + 1] + lines[number:]):
                with pytest.raises(ReleaseError) as refused:
                    parse("\n".join(changed) + "\n")
                assert str(refused.value).count("\n") == 0


@pytest.mark.parametrize(
    ("body", "leaves", "size"),
    [
        ("\na <= 1: y (1.0)\na > 2: y (1.0)", 2, 3),  # two thresholds
        ("\na <= nan: y (1.0)\na > nan: y (1.0)", 2, 3),
        ("\na <= 1e999: y (1.0)\na > 1e999: y (1.0)", 2, 3),
        ("\na <= 1: y (-1.0)\na > 1: y (1.0)", 2, 3),
        ("\na <= 1: y (1.0/2.0)\na > 1: y (1.0)", 2, 3),  # more misses than people
        ("\na <= 1: y (NaN)\na > 1: y (1.0)", 2, 3),
        ("\na <= 1: y (1.0)\nb > 1: y (1.0)", 2, 3),
        ("\na = 1: y (1.0)\na = 1: y (1.0)", 2, 3),  # one value twice
        ("\na = 1: y (1.0)", 1, 2),
        ("\na = 1: y (1.0)\na <= 2: y (1.0)", 2, 3),
        ("\na = 1\n|   |   b = 1: y (1.0)\na = 2: y (1.0)", 2, 4),  # too far to the right
        ("\na <= 1\n|   a <= 2: y (1.0)\n|   a > 2: y (1.0)\na > 1: y (1.0)", 3, 5),  # one way only
        ("\na = 1\n|   a = 1: y (1.0)\n|   a = 2: y (1.0)\na = 2: y (1.0)", 3, 5),
        ("\na = 1\n|   b = 1: y (1.0)\n|   b = 2: y (1.0)\na = 2\n|   b <= 1: y (1.0)\n|   b > 1: y (1.0)", 4, 7),
        ("\na <= 1: y (1.0)\na > 1: y (1.0)", 3, 3),
        ("\na <= 1: y (1.0)\na > 1: y (1.0)", 2, 4),
        ("", 1, 1),
        ("\nnothing of the sort", 1, 2),
    ],
)
def test_what_j48_does_not_print_is_refused(body, leaves, size):
    with pytest.raises(ReleaseError) as refused:
        parse(text_of(body, leaves, size))
    assert refused.value.code == "broken-dump"


def test_too_deep_and_several_trees():
    deep = "".join(f"\n{'|   ' * i}a{i} = 1: y (1.0)\n{'|   ' * i}a{i} = 2" for i in range(150))
    with pytest.raises(ReleaseError) as refused:
        parse(text_of(deep + f"\n{'|   ' * 150}b = 1: y (1.0)", 151, 301))
    assert refused.value.code == "too-deep"
    with pytest.raises(ReleaseError, match="2 trees"):
        parse(WEATHER + WEATHER)
    with pytest.raises(ReleaseError, match="no text of J48"):
        parse("REPTree\n============\n")


def test_random_changes_are_read_or_refused_in_a_sentence():
    rng = random.Random(0)
    for _ in range(300):
        text = list(HEAD + WEATHER)
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(text))
            text[place] = rng.choice(["", "|   ", "\n", ": ", "=", "(", ")", "/", "9", "\x00", "é", text[place] * 3])
        try:
            audit(J48Model("".join(text)), weather(), "play", privacy=2)
        except ShoalError as error:
            assert "\n" not in str(error)


# ------------------------------------------------------------------------------------------------ files


def test_a_file_is_known_by_what_it_holds(tmp_path):
    for number, text in enumerate([WEATHER, HEAD + WEATHER, "\n\nOptions: -U\n\n" + VOTE]):
        path = tmp_path / f"tree{number}.out"
        path.write_text(text)
        model = load_model(path)
        assert isinstance(model, J48Model)
        assert model.text == text
    broken = tmp_path / "broken.txt"
    broken.write_text(WEATHER[:200])
    with pytest.raises(ReleaseError, match="cut off"):
        audit(load_model(broken), weather(), "play", privacy=2)
    broken.write_bytes(WEATHER.encode() + b"\xff")
    with pytest.raises(ReleaseError, match="UTF-8"):
        load_model(broken)


def test_a_large_tree_takes_no_long():
    n = 20_000
    values = [f"v{i}" for i in range(n)]
    body = "".join(f"\nname = {value}: {'yn'[i % 2]} (2.0/1.0)" for i, value in enumerate(values))
    rows = {"name": values * 2, "t": ["y"] * n + ["n"] * n}
    verdict = audit(J48Model(text_of(body, n, n + 1)), rows, "t", privacy=2)
    assert (verdict.holds, verdict.smallest_group) == (True, 2)
    assert np.all(verdict.groups.people == 2)
