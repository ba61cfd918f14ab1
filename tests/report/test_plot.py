# SPDX-License-Identifier: Apache-2.0
"""The picture of a tree: where things stand, and that no text covers another."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from helpers.strategies import cases, trees
from shoal import AnonymousTreeClassifier, DataError, load_sample
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.report import plot_tree
from shoal.report.tree_layout import MOST_LEAVES, MOST_LEVELS, fit, one_line, place_tree, short_test

CLAIMS = ({"requirement": "k-anonymity", "k": 2},)
CLASSES = ("no", "yes")


def clinic(max_leaves: int) -> TreeRelease:
    table = load_sample().table.drop(["patient"])
    release: TreeRelease = (
        AnonymousTreeClassifier(privacy=20, max_leaves=max_leaves, variant="id3").fit(table, "diabetes").release_
    )
    return release


def chain(levels: int) -> TreeRelease:
    """A tree that peels off one number a level."""
    nodes: list[Node] = []
    for level in range(levels):
        here = (Interval(None, float(level)), Interval(float(level), None))
        nodes.append(Node("x", tuple(Branch(2 * level + 1 + i, intervals=(each,)) for i, each in enumerate(here))))
        nodes.append(Node(counts=(1, 0)))
    nodes.append(Node(counts=(0, 1)))
    x = Attribute("x", "public", "numeric", bounds=(0, levels))
    return TreeRelease("t", (x, Attribute("t", "private", "categorical", values=CLASSES)), CLAIMS, tuple(nodes))


def wide(n: int, classes: tuple[str, ...] = CLASSES) -> TreeRelease:
    """A root with many branches, whose names are long and odd."""
    values = tuple(f"a long value $that \\costs$ {i}\nmoney" for i in range(n))
    v = Attribute("a column with _a_ long name", "public", "categorical", values=values, missing=True)
    branches = (*(Branch(i + 1, values=(value,)) for i, value in enumerate(values)), Branch(n + 1, missing=True))
    leaves = [Node(counts=tuple((i * j) % 7 for j in range(len(classes)))) for i in range(n + 1)]
    return TreeRelease(
        "t",
        (v, Attribute("t", "private", "categorical", values=classes)),
        CLAIMS,
        (Node(v.name, branches), *leaves),
    )


# -------------------------------------------------------------------- layout


@given(cases().flatmap(trees), st.none() | st.integers(1, 8))
def test_nothing_in_the_layout_crosses(release, max_leaves):
    layout = place_tree(release, most_width=20, max_leaves=max_leaves)
    ends = [place for place in layout.places if place.children is None]
    assert [place.y for place in ends] == list(range(layout.n_ends))
    assert layout.n_ends <= (max_leaves or MOST_LEAVES)
    by_number = {place.number: place for place in layout.places}
    for place in layout.places:
        assert len(place.test) <= 20
        assert place.x - place.left >= len(place.test)
        if place.children is not None:
            below = [by_number[branch.node] for branch in release.nodes[place.number].branches]
            assert place.children == (below[0].y, below[-1].y)
            assert below[0].y <= place.y <= below[-1].y
            assert all(child.left == place.x for child in below)
    # texts of one column stand at least a line apart, and so do they from the lines that lead to ends
    for column in {place.left for place in layout.places}:
        lines = sorted(place.y for place in layout.places if place.left == column)
        assert all(lower - upper >= 1 for upper, lower in pairwise(lines))
    for end in ends:
        for place in layout.places:
            assert place.left < end.x or place is end or abs(place.y - end.y) >= 1
    # every leaf is there or in a fold
    shown = sum(release.nodes[place.number].is_leaf for place in ends)
    assert shown + layout.n_folded == len(release.leaves)


def test_a_fold_keeps_the_splits_of_most_people():
    release = clinic(40)
    layout = place_tree(release, max_leaves=10)
    people = release.counts.sum(axis=1)
    opened = [place.number for place in layout.places if place.children is not None]
    folded = [place.number for place in layout.places if place.folded]
    assert 0 in opened
    assert folded
    # a fold with more people than an open split could not be opened: its branches were too many
    for number in folded:
        branches = len(release.nodes[number].branches)
        smaller = [other for other in opened if people[other] < people[number]]
        assert not smaller or branches > 2


def test_trees_beyond_all_measure_are_folded():
    deep = place_tree(chain(300))
    assert max(place.y for place in deep.places) <= MOST_LEVELS
    assert deep.n_folded == 301 - MOST_LEVELS
    assert place_tree(wide(MOST_LEAVES + 5)).n_ends == 1


def test_a_tree_that_is_one_leaf():
    t = Attribute("t", "private", "categorical", values=CLASSES)
    release = TreeRelease("t", (t,), CLAIMS, (Node(counts=(3, 4)),))
    layout = place_tree(release)
    assert (layout.n_ends, len(layout.places)) == (1, 1)
    assert "yes 57 %" in texts(plot_tree(release))


def test_tests_are_shortened_in_the_order_of_what_matters_least():
    branch = Branch(1, values=("Builder", "Clerk", "Driver"), missing=True)
    assert short_test("job", branch, len, 50) == "job = Builder, Clerk, Driver or missing"
    assert short_test("job", branch, len, 32) == "job = Builder +2 or missing"
    assert short_test("a long name of a column", branch, len, 40) == "a long name of… = Builder +2 or missing"
    assert short_test("a long name of a column", branch, len, 28) == "a long n… = Builder +…issing"
    assert short_test("job", Branch(1, missing=True), len, 50) == "job is missing"
    assert short_test("job", Branch(1, values=("a", "b"), label="early"), len, 50) == "job = early"
    both = Branch(1, intervals=(Interval(None, 2), Interval(5, 7)))
    assert short_test("x", both, len, 50) == "x ≤ 2 or > 5 & ≤ 7"
    assert short_test("x", Branch(1, intervals=(Interval(None, None),)), len, 50) == "x any number"


@given(st.text(max_size=40), st.integers(1, 30), st.sampled_from([0, 0.4]))
def test_a_text_that_is_cut_fits(text, most, tail):
    cut = fit(one_line(text), len, most, tail)
    assert len(cut) <= most
    assert "\n" not in cut
    assert len(text) > most or cut == one_line(text)


# -------------------------------------------------------------------- drawing


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def boxes(ax):
    """Where each text is in the picture, and its words."""
    canvas = FigureCanvasAgg(ax.figure)
    renderer = canvas.get_renderer()
    return [(text.get_window_extent(renderer), text.get_text()) for text in ax.texts if text.get_text()]


def check_no_text_covers_another(ax, shrink: float = 0.9) -> None:
    drawn = boxes(ax)
    frame = ax.figure.bbox
    for box, words in drawn:
        assert box.x0 >= frame.x0, words
        assert box.x1 <= frame.x1, words
        assert box.y0 >= frame.y0, words
        assert box.y1 <= frame.y1, words
    for i, (box, words) in enumerate(drawn):
        for other, more in drawn[i + 1 :]:
            # a text's box has some air above its letters
            apart = (
                box.x1 <= other.x0
                or other.x1 <= box.x0
                or box.y0 + shrink * box.height <= other.y0
                or other.y0 + shrink * other.height <= box.y0
            )
            assert apart, (words, more)


@pytest.mark.parametrize("n", [2, 12, 40, 120])
def test_no_text_covers_another(n):
    release = clinic(n)
    ax = plot_tree(release)
    check_no_text_covers_another(ax)
    assert f"{release.n_people:,} people" in texts(ax)[0]
    assert texts(ax).count("bmi ≤ 28.95") == sum(
        branch.condition() == "at most 28.95" for node in release.nodes for branch in node.branches
    )


@pytest.mark.parametrize(
    "release",
    [wide(30), wide(30, tuple(f"class {i} that is long too" for i in range(9))), chain(60)],
    ids=["odd names", "many classes", "deep"],
)
def test_hard_trees_stay_readable(release):
    check_no_text_covers_another(plot_tree(release))


def test_every_leaf_has_its_people():
    release = clinic(40)
    people = sorted(f"{release.counts[leaf].sum():,}" for leaf in release.leaves)
    drawn = texts(plot_tree(release))
    for count in set(people):
        assert drawn.count(count) == people.count(count)


def test_a_share_is_a_hundred_only_where_it_is_everybody():
    t = Attribute("t", "private", "categorical", values=CLASSES)
    nearly = TreeRelease("t", (t,), CLAIMS, (Node(counts=(9999, 1)),))
    wholly = TreeRelease("t", (t,), CLAIMS, (Node(counts=(9999, 0)),))
    assert "no 99 %" in texts(plot_tree(nearly))
    assert "no 100 %" in texts(plot_tree(wholly))


@pytest.mark.parametrize("statement", ["shares", "majority"])
def test_what_is_not_stated_is_not_drawn(statement):
    release = clinic(40)
    people = {f"{count:,}" for count in release.counts.sum(axis=1)} | {"people"}
    for less in (release.stating(statement), replace(release, weights=(1.0, 4.0)).stating(statement)):
        for most in (None, 5):
            ax = plot_tree(less, max_leaves=most)
            drawn = texts(ax)
            assert not people & set(drawn)
            assert "5,000" not in drawn[0]
            assert ("predicts" in drawn) == (less.weights is not None)
            assert any(re.fullmatch(r"(no|yes)( \d+ %)?(, \d+ leaves)?", text) for text in drawn)
            assert any(text.endswith("%") for text in drawn) == (statement == "shares")
            check_no_text_covers_another(ax)


def test_folded_leaves_are_told():
    ax = plot_tree(clinic(40), max_leaves=5)
    assert texts(ax)[0].endswith("leaves are folded")
    assert any(text.endswith(" leaves") for text in texts(ax)[1:])
    check_no_text_covers_another(ax)


@pytest.mark.parametrize("size", [(6, 4), (20, 30)])
def test_letters_follow_the_size_of_given_axes(size):
    figure = Figure(figsize=size)
    ax = figure.add_subplot()
    assert plot_tree(clinic(40), ax) is ax
    check_no_text_covers_another(ax)
    # letters and lines have grown or shrunk alike, so a letter is as large in the picture as it would be by itself
    natural = plot_tree(clinic(40))
    inches = ax.get_window_extent().height / figure.dpi
    own = natural.figure.get_size_inches()[1]
    assert ax.texts[-1].get_fontsize() <= natural.texts[-1].get_fontsize() * inches / own * 1.01


def test_the_picture_is_the_same_each_time_and_can_be_saved():
    def drawn() -> bytes:
        file = io.BytesIO()
        plot_tree(clinic(12)).figure.savefig(file, format="png")
        return file.getvalue()

    assert drawn() == drawn()
    assert drawn().startswith(b"\x89PNG")


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True, "3"])
def test_a_senseless_number_of_leaves_is_refused(wrong):
    with pytest.raises(DataError, match="max_leaves") as caught:
        plot_tree(chain(2), max_leaves=wrong)
    assert caught.value.code == "unknown-option"


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DataError, match=r"pip install shoal\[plots\]") as caught:
        plot_tree(chain(2))
    assert caught.value.code == "no-matplotlib"
