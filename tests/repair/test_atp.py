# SPDX-License-Identifier: Apache-2.0
"""Trees repaired by merging branches: what is left alone, what leaves, and what is refused."""

from __future__ import annotations

import sqlite3
import sys
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from helpers import oracle
from helpers.strategies import cases, trees
from shoal import audit, load, load_sample
from shoal.audit.foreign.j48 import J48Model
from shoal.errors import DataError, PromiseError, ReleaseError, ShoalError
from shoal.privacy import Confidence, KAnonymity, RecursiveDiversity, SimpleDiversity
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.repair import prune_by_hits, repair
from shoal.trees.atp import ByHits, Hits, prune_by_merging

REQUIREMENTS = st.one_of(
    st.integers(1, 6).map(KAnonymity),
    st.sampled_from([SimpleDiversity(1.5), SimpleDiversity(2), RecursiveDiversity(2, 2), Confidence(0.7)]),
)
TOWNS = """J48 pruned tree
------------------

town = A: ill (5.0)
town = B: well (9.0/4.0)
town = C
|   age <= 40: well (12.0/3.0)
|   age > 40: ill (8.0/2.0)

Number of Leaves  : \t4

Size of the tree : \t6
"""


def towns():
    parts = [("A", 30, 5, 0), ("B", 30, 4, 5), ("C", 40, 3, 9), ("C", 50, 6, 2)]
    rows = [(town, age, state) for town, age, ill, well in parts for state in ["ill"] * ill + ["well"] * well]
    return dict(zip(("town", "age", "state"), map(list, zip(*rows, strict=True)), strict=True))


# ------------------------------------------------------------------------------------------------ what is left alone


@settings(max_examples=100, deadline=None)
@given(st.data(), REQUIREMENTS)
def test_a_path_that_passes_and_need_not_merge_is_left_alone(data, requirement):
    """It need not where every child of every node above keeps the requirement, all people below it taken together."""
    case = data.draw(cases(private=False))
    release = data.draw(trees(case))
    keeps = requirement.holds(release.counts, release.counts[0])
    assume(keeps[0])
    pruned = prune_by_merging(release, requirement)
    after = Counter((tuple(steps(pruned, leaf)), pruned.nodes[leaf].counts) for leaf in pruned.leaves)
    for leaf in release.leaves:
        above, number = [], leaf
        while number:
            number = int(release.parents[number])
            above.append(number)
        if all(keeps[branch.node] for number in above for branch in release.nodes[number].branches):
            assert after[tuple(steps(release, leaf)), release.nodes[leaf].counts] > 0


def steps(release, leaf):
    """The tests on the way to a leaf that ask something; a node with one branch does not."""
    for name, branch in release.path(leaf):
        parent = int(release.parents[branch.node])
        if len(release.nodes[parent].branches) > 1:
            yield name, branch.values, branch.intervals, branch.missing


@cache
def wide_tree(n_leaves, seed):
    """A random tree of splits in two."""
    rng = np.random.default_rng(seed)
    nodes = [None]
    waiting = [0]
    for place in range(n_leaves - 1):
        number, cut, first = waiting[place], float(rng.random()), len(nodes)
        low, high = Branch(first, intervals=(Interval(None, cut),)), Branch(first + 1, intervals=(Interval(cut, None),))
        nodes[number] = Node(f"c{rng.integers(8)}", (low, high))
        nodes += [None, None]
        waiting += [first, first + 1]
    counts = rng.integers(0, 6, (len(nodes), 3)).tolist()
    nodes = [Node(counts=tuple(own)) if node is None else node for node, own in zip(nodes, counts, strict=True)]
    attributes = [Attribute(f"c{i}", "public", "numeric", bounds=(0, 1)) for i in range(8)]
    target = Attribute("t", "private", "categorical", values=("a", "b", "c"))
    return TreeRelease("t", (*attributes, target), ({"requirement": "k-anonymity", "k": 1},), tuple(nodes))


@pytest.mark.parametrize("by", ["counts", "hits"])
def test_work_grows_as_the_tree_does(by):
    """What is counted is that four times as many nodes take no sixteen times as many calls."""
    work = []
    for n_leaves in (2_500, 10_000):
        release = wide_tree(n_leaves, 0)
        release.counts  # noqa: B018 - counted before
        pruned, calls = counting_calls(lambda release=release: prune_by_merging(release, 10, by=by))
        work.append(calls)
        assert 1 < len(pruned.nodes) < len(release.nodes)
        sizes = pruned.counts[list(pruned.leaves)].sum(axis=1)
        assert sizes[sizes > 0].min() >= 10
    assert work[1] < 6 * work[0]


def counting_calls(do):
    """What a function returns, and how many calls of anything it takes."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        return do(), calls
    finally:
        sys.setprofile(None)


# ------------------------------------------------------------------------------------------------ what leaves


@settings(max_examples=60, deadline=None)
@given(data=st.data(), requirement=REQUIREMENTS)
def test_a_merged_tree_is_a_release_like_any_other(data, requirement, tmp_path_factory):
    case = data.draw(cases(private=False))
    release = data.draw(trees(case))
    assume(requirement.holds(release.counts, release.counts[0])[0])
    try:
        done = repair(release, case.table, privacy=requirement, method="atp")
    except PromiseError as refused:
        assert refused.code == "impossible"
        return
    path = tmp_path_factory.mktemp("atp") / "tree.json"
    done.release.save(path)
    read = load(path)
    assert read.to_json() == done.release.to_json()
    # spans by enumeration of the definition
    spans = oracle.groups(read.to_json(), case.rows, case.public)
    assert min(Counter(spans).values()) == done.audit.smallest_group
    for one in range(len(spans)):
        same = np.flatnonzero(done.audit.groups.of_row == done.audit.groups.of_row[one])
        assert set(same.tolist()) == {other for other in range(len(spans)) if spans[other] == spans[one]}
    # prediction by enumeration, and by what the tree is exported to
    likeliest = [read.classes[int(np.argmax(read.believed[oracle.model(read.to_json(), row)[0]]))] for row in case.rows]
    assert read.predict(case.table).tolist() == likeliest
    assert audit(read, case.table).holds
    assert read.to_text()
    assert read.to_sql()


@pytest.fixture(scope="module")
def merged():
    """A tree with sets of values and of intervals: six of the towns and two of the ages have too few people."""
    target = Attribute("ill", "private", "categorical", values=("no", "yes"))
    town = Attribute("town", "public", "categorical", values=("A", "B", "C", "D", "E", "F", "G"))
    age = Attribute("age", "public", "numeric", bounds=(0, 100), integer=True)
    pieces = [Interval(None, 20), Interval(20, 40), Interval(40, 60), Interval(60, None)]
    nodes = (
        Node("town", (Branch(1, ("A",)), *(Branch(2 + i, (name,)) for i, name in enumerate("BCDEFG")))),
        Node("age", tuple(Branch(8 + i, intervals=(piece,)) for i, piece in enumerate(pieces))),
        *(Node(counts=counts) for counts in [(2, 1), (1, 2), (3, 0), (0, 3), (2, 2), (1, 3)]),
        *(Node(counts=counts) for counts in [(1, 1), (4, 4), (5, 4), (0, 3)]),
    )
    claim = ({"requirement": "k-anonymity", "k": 1},)
    release = TreeRelease("ill", (town, age, target), claim, nodes)
    people = []
    for leaf in release.leaves:
        path = dict(release.path(leaf))
        where = path["town"].values[0]
        years = 30 if "age" not in path else {20: 20, 40: 40, 60: 60, None: 80}[path["age"].intervals[0].at_most]
        no, yes = release.nodes[leaf].counts
        people += [(where, years, "no")] * no + [(where, years, "yes")] * yes
    rows = dict(zip(("town", "age", "ill"), map(list, zip(*people, strict=True)), strict=True))
    return repair(release, rows, privacy=5, method="atp"), rows


def test_merged_branches_are_sets_of_values_and_of_intervals(merged):
    done, _ = merged
    branches = [branch for node in done.release.nodes for branch in node.branches]
    assert any(len(branch.values) > 1 for branch in branches)
    assert any(len(branch.intervals) > 1 for branch in branches)
    text = str(done.release)
    assert "above" in text
    assert " or " in text


def test_merged_branches_are_exported(merged):
    done, rows = merged
    release = done.release
    expected = release.predict(rows).tolist()
    frame = pd.DataFrame(rows)
    with sqlite3.connect(":memory:") as database:
        frame.to_sql("people", database, index=False)
        answers = database.execute(f"SELECT {release.to_sql()} FROM people").fetchall()
    assert [answer for (answer,) in answers] == expected
    assert release.to_sklearn().predict(frame[["town", "age"]]).tolist() == expected
    assert "SimpleSetPredicate" in release.to_pmml()
    assert release.to_dot().count("->") == sum(len(node.branches) for node in release.nodes)


def test_merged_branches_are_drawn(merged, tmp_path):
    from shoal.report import write_report

    done, _ = merged
    write_report(tmp_path / "audit.html", done.release, done.audit)
    assert "town" in (tmp_path / "audit.html").read_text()
    from shoal.report.plot import plot_tree

    assert plot_tree(done.release).texts


# ------------------------------------------------------------------------------------------------ repair


def test_a_j48_tree_is_repaired_from_the_rows():
    done = repair(J48Model(TOWNS), towns(), "state", privacy=6, method="atp")
    assert (done.before.holds, done.audit.holds, done.leaves) == (False, True, (4, 3))
    assert str(done.release).splitlines()[1:] == [
        "town = A or B: ill 9, well 5",
        "town = C",
        "  age at most 45: ill 3, well 9",
        "  age above 45: ill 6, well 2",
    ]
    assert done.accuracy[0] == pytest.approx((5 + 5 + 9 + 6) / 34)
    splits = repair(J48Model(TOWNS), towns(), "state", privacy=6)
    assert splits.audit.holds


def test_missing_values_go_the_way_of_most():
    rows = towns()
    rows["town"][0] = None
    done = repair(J48Model(TOWNS), rows, "state", privacy=4, method="atp")
    assert done.audit.holds
    ways = {branch.values: branch.missing for branch in done.release.nodes[0].branches}
    assert ways == {("A",): False, ("B",): False, ("C",): True}


def test_trees_of_scikit_learn_keep_more_paths_than_with_the_other_method():
    people = pd.DataFrame(load_sample().to_arrow().to_pydict())
    X, y = people[["age", "bmi"]], people["diabetes"]
    model = DecisionTreeClassifier(max_leaf_nodes=300, random_state=0).fit(X, y)
    done = repair(model, X, y, privacy=50, method="atp")
    assert done.audit.holds
    assert done.audit.smallest_group >= 50
    assert 1 < done.leaves[1] < done.leaves[0]
    assert done.release.counts[0].sum() == len(y)
    intervals = [i for node in done.release.nodes for branch in node.branches for i in branch.intervals]
    cuts = [end for i in intervals for end in (i.above, i.at_most) if end is not None]
    assert max(len(f"{cut:g}") for cut in cuts) <= 5  # round numbers
    forest = RandomForestClassifier(2, random_state=0, max_depth=2).fit(X, y)
    with pytest.raises(DataError, match="single tree"):
        repair(forest, X, y, privacy=50, method="atp")
    with pytest.raises(DataError, match="'splits' or 'atp'"):
        repair(model, X, y, privacy=50, method="luck")
    with pytest.raises(DataError, match="asks private 'bmi'"):
        repair(model, X, y, privacy=50, method="atp", public=["age"])


def test_what_merging_does_not_look_at_is_refused():
    rows = {**towns(), "who": [*range(33), 32], "salary": ["low", "high"] * 17}
    with pytest.raises(DataError, match="one person each"):
        repair(J48Model(TOWNS), rows, "state", privacy=6, method="atp", public=["town", "age"], person="who")
    with pytest.raises(DataError, match="sensitive"):
        repair(
            J48Model(TOWNS),
            rows,
            "state",
            privacy=SimpleDiversity(1.2),
            method="atp",
            public=["town", "age"],
            sensitive=["salary"],
        )
    counted = replace(wide_tree(4, 0), several_rows=True, people=20)
    with pytest.raises(DataError, match="one person each"):
        prune_by_merging(counted, 2)


def test_a_requirement_that_no_tree_can_keep_is_said():
    for method, said in (("atp", "so no tree can"), ("splits", "Not even a tree of one leaf")):
        with pytest.raises(PromiseError, match=said):
            repair(J48Model(TOWNS), towns(), "state", privacy=SimpleDiversity(2), method=method)


# ------------------------------------------------------------------------------------------------ without rows


def test_hits_and_misses_alone_give_what_the_paper_says():
    estimated = prune_by_hits(J48Model(TOWNS), 6, target="state")
    assert str(estimated).splitlines()[1:] == [
        "town = A or B: (ill, 9, 5)",  # 5 + 4 of 9, misses of two classes being known
        "town = C and age at most 40: (well, 9, 3)",
        "town = C and age above 40: (ill, 6, 2)",
    ]
    knowledge = ByHits(KAnonymity(6), 2)
    assert knowledge.together([Hits(0, 5, 0), Hits(1, 5, 4)]) == Hits(0, 9, 5)
    assert estimated.tree.predict({"town": ["A", "C"], "age": [90, 90]}).tolist() == ["ill", "ill"]


def test_more_classes_than_leaves_name_change_the_estimates():
    with pytest.raises(DataError, match="Name all with classes="):
        prune_by_hits(J48Model(TOWNS.replace("9.0/4.0", "9.0/8.0")), 6)
    five = prune_by_hits(J48Model(TOWNS), 6, classes=["ill", "well", "x", "y", "z"])
    assert five.hits[1] == Hits(0, 6, 8)  # ill 5 + 4/4, well 5


def test_an_estimated_tree_is_marked_and_cannot_be_saved(tmp_path):
    estimated = prune_by_hits(J48Model(TOWNS), 6)
    assert "estimated" in str(estimated)
    assert "nobody has audited it" in str(estimated)
    with pytest.raises(ShoalError) as refused:
        estimated.tree.save(tmp_path / "tree.json")
    assert isinstance(refused.value, ReleaseError | PromiseError)
    assert not list(tmp_path.iterdir())


def test_estimates_may_fail_an_audit():
    """Eq. 1 takes (2, 2) to be two people of one class and one each of two others."""
    text = TOWNS[: TOWNS.index("town")] + "town = A: ill (4.0/2.0)\ntown = B: well (9.0/6.0)\n\n"
    text += "Number of Leaves  : \t2\n\nSize of the tree : \t3\n"
    estimated = prune_by_hits(J48Model(text), RecursiveDiversity(3, 3), classes=["ill", "well", "other"])
    assert estimated.hits == (Hits(0, 5, 8), Hits(0, 2, 2), Hits(1, 3, 6))  # nothing had to be merged
    assert not RecursiveDiversity(3, 3).holds([[2, 2, 0]])[0]
    with pytest.raises(PromiseError, match="as far as hits and misses can tell"):
        prune_by_hits(J48Model(TOWNS), SimpleDiversity(3), classes=["ill", "well", "other"])
