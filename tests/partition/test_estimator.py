# SPDX-License-Identifier: Apache-2.0
"""`PartitionedClassifier`: what it promises, what it publishes, and scikit-learn's own battery."""

from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from shoal import (
    DataError,
    EntropyDiversity,
    Hierarchy,
    KAnonymity,
    PartAL,
    PartitionedClassifier,
    PromiseError,
    RequirementError,
    audit,
    load,
    load_sample,
)
from shoal.partition.publish import publish_projections
from shoal.partition.suppress import groups_to_leave_out, rows_to_leave_out

SMALL = {"population": 10, "generations": 3, "folds": 2, "random_state": 0}

# checks we do not pass, each with its reason
EXPECTED_FAILURES: dict[str, str] = {}


@parametrize_with_checks(
    [PartitionedClassifier(privacy=1, reproducible=True, **SMALL)],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
@pytest.mark.filterwarnings("default")  # some checks warn on purpose
def test_battery(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def clinic():
    return load_sample().to_arrow().to_pandas().drop(columns=["patient", "zip"])


def test_where_no_column_can_be_published_nothing_is():
    """Fig. 8: four rows in which every public value is a person's own."""
    rows = pd.DataFrame({"a": list("pqrs"), "b": list("tuvw"), "y": list("nnny")})
    model = PartitionedClassifier(privacy=2, **SMALL).fit(rows, "y")
    assert (model.release_, model.partitioning_) == (None, ())
    assert model.predict(rows[:2]).tolist() == ["n", "n"]


def test_what_is_published_is_what_the_search_counted(clinic):
    model = PartitionedClassifier(privacy=100, public=["age", "sex", "education"], **SMALL).fit(clinic, "diabetes")
    assert model.level_ >= 100
    verdict = audit(model.release_, clinic)
    assert verdict.holds
    assert verdict.rejoined.partal == model.level_
    assert {name for names in model.partitioning_ for name in names} <= set(clinic.columns) - {"diabetes"}
    assert [table.columns[:-1] for table in model.release_.tables] == list(model.partitioning_)
    shares = model.predict_proba(clinic)
    assert shares.shape == (len(clinic), 2)
    assert np.allclose(shares.sum(axis=1), 1)
    assert (model.predict(clinic) == clinic["diabetes"]).mean() > 0.8


@pytest.mark.parametrize("estimator", ["c45", "bayes", LogisticRegression(max_iter=500)])
def test_every_learner_is_a_function_of_what_is_published(clinic, estimator):
    """Rows that are equal in all that is published have the same answer."""
    rows = clinic[["age", "sex", "education", "diabetes"]]
    model = PartitionedClassifier(estimator, privacy=50, **SMALL).fit(rows, "diabetes")
    answers = model.predict_proba(rows)
    codes = np.ascontiguousarray(model._prepared.encode(load_sample().table, "error").T)
    first = {}
    for code, answer in zip(map(bytes, codes), answers, strict=True):
        assert np.array_equal(first.setdefault(code, answer), answer)


def test_the_same_seed_is_the_same_release(clinic):
    options = {"privacy": 50, "public": ["age", "sex"], "reproducible": True, **SMALL}
    made = [PartitionedClassifier(**options).fit(clinic, "diabetes") for _ in range(2)]
    assert made[0].release_.sha256 == made[1].release_.sha256
    assert clone(made[0]).get_params() == made[0].get_params()


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"open_classes": 2}, lambda judge, p: judge.levels.open_classes(p) >= 2),
        ({"privacy": PartAL(20) & KAnonymity(30)}, lambda judge, p: judge.levels.dal(p.used) >= 30),
        (
            {"each": EntropyDiversity(1.2)},
            lambda judge, p: all(EntropyDiversity(1.2).holds(judge.levels.class_counts(m)).all() for m in p.subsets),
        ),
        ({"other_public": [["smoker", "bmi"]]}, lambda judge, p: judge.levels.dal(p.used & 0) > 0),
        ({"level_aware": True}, lambda judge, p: judge.levels.pal(p) >= 20),
        ({"level_in_fitness": True, "overlapping": True}, lambda judge, p: judge.levels.partal(p) >= 20),
    ],
)
def test_what_more_is_asked_is_kept(clinic, options, kept):
    public = ["age", "sex", "education"]
    model = PartitionedClassifier(**{"privacy": 20, "public": public, **SMALL, **options})
    model.fit(clinic, "diabetes")
    study = model._study(clinic, "diabetes")
    assert kept(study.judge, model.found_.best.partitioning)
    assert model.release_.verdict.holds


def test_rows_are_left_out_within_the_budget(clinic):
    rows = clinic[["age", "sex", "bmi", "diabetes"]].copy()
    rows.loc[:2, "sex"] = "unknown"
    options = {"privacy": 20, "public": ["age", "sex"], "partitioning": [["age", "bmi"], ["sex"]], **SMALL}
    model = PartitionedClassifier(suppress=0.01, **options).fit(rows, "diabetes")
    assert (model.release_.left_out, model.release_.n_rows) == (3, len(rows) - 3)
    assert audit(model.release_, rows).holds
    assert audit(model.release_, rows).rejoined.partal == model.level_
    with pytest.raises(PromiseError, match="have the level 3"):
        PartitionedClassifier(suppress=0.0005, **options).fit(rows, "diabetes")
    # a projection without the column needs nobody left out
    without = PartitionedClassifier(suppress=0.01, **options | {"partitioning": [["age", "bmi"]]}).fit(rows, "diabetes")
    assert without.release_.left_out == 0


def test_leaving_rows_out_counts_again():
    """The rare value of the first column costs one row, which makes one of the second rare."""
    codes = [np.array([0, 0, 0, 0, 1]), np.array([0, 0, 0, 1, 1])]
    assert rows_to_leave_out(codes, [2, 2], [0, 1], 2, budget=1).tolist() == [False] * 4 + [True]
    assert rows_to_leave_out(codes, [2, 2], [0, 1], 2, budget=2).tolist() == [False] * 3 + [True] * 2
    assert not rows_to_leave_out(codes, [2, 2], [0, 1], 2, budget=0).any()


def test_who_is_left_out_does_not_hang_on_his_class():
    """The one with a rare x is alone of his class where everybody has a = v: left out for that, he would be known."""
    rows = pd.DataFrame({"a": ["v"] * 7 + ["w"] * 20, "x": ["rare"] + ["s"] * 13 + ["t"] * 13})
    rows["y"] = ["b"] + ["a"] * 6 + ["a", "b", "c", "b"] * 5
    options = {"privacy": 3, "partitioning": [["a"]], "suppress": 0.1, **SMALL}
    assert PartitionedClassifier(**options).fit(rows, "y").release_.left_out == 0
    # published without him, everybody else of his group with their class, it would not pass its audit
    with pytest.raises(PromiseError, match="leaves out 1 row"):
        publish_projections(rows, "y", [["a"]], privacy=3, left_out=rows["x"].to_numpy() == "rare")


def test_a_group_with_a_new_class_is_left_out_whole():
    """Who comes back has a class that nobody else of his group has: once, as in another projection, so SAL is 1."""
    rows = pd.DataFrame({"a": ["v"] * 3 + ["w"] * 20, "b": ["s", "t", "t"] + ["s"] * 10 + ["t"] * 10})
    rows["x"] = ["rare"] + ["p", "q"] * 11
    rows["y"] = ["n", "m", "m"] + ["n"] + ["m"] * 9 + ["n"] + ["m"] * 9
    options = {"privacy": 2, "partitioning": [["a"], ["b"]], **SMALL}
    with pytest.raises(PromiseError, match="SAL"):
        PartitionedClassifier(suppress=0.05, **options).fit(rows, "y")
    model = PartitionedClassifier(suppress=0.2, **options).fit(rows, "y")
    assert model.release_.left_out == 3
    assert "v" not in model.release_.frame(0)["a"].tolist()
    assert audit(model.release_, rows).holds


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_whole_groups_are_left_out_and_the_fewest(data):
    n, k = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 4))
    codes = [np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))) for _ in range(3)]
    known = data.draw(st.lists(st.lists(st.integers(0, 2), unique=True), min_size=1, max_size=2))

    def small(kept):
        """The rows, of those kept, in groups of fewer than k."""
        keys = [[tuple(codes[f][i] for f in features) for i in range(n)] for features in known]
        return [i for i in kept if any(sum(key[j] == key[i] for j in kept) < k for key in keys)]

    whole = [kept for kept in map(list, powerset(range(n))) if not small(kept)]
    most = set().union(*whole)
    left_out = groups_to_leave_out(codes, known, k, np.zeros(n, dtype=bool))
    assert set(np.flatnonzero(~left_out).tolist()) == most


def powerset(items):
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def test_what_more_is_asked_is_asked_of_what_is_published(monkeypatch):
    """Should the search let something pass, the audit does not."""
    rows = pd.DataFrame({"a": list("vvww") * 10, "b": list("stst") * 10, "y": list("nmmn") * 9 + list("nnnn")})
    monkeypatch.setattr("shoal.partition.judge.TableJudge.demand", lambda self, partitioning: True)
    monkeypatch.setattr("shoal.partition.judge.TableJudge.level", lambda self, partitioning: 99)
    options = {"privacy": 5, "public": ["a"], "partitioning": [["a", "b"]], **SMALL}
    assert PartitionedClassifier(**options).fit(rows, "y").release_.verdict.holds
    for more in ({"open_classes": 3}, {"each": EntropyDiversity(1.999)}, {"other_public": [["a", "b"]], "privacy": 15}):
        with pytest.raises(PromiseError, match="failed their audit and are withheld"):
            PartitionedClassifier(**options | more).fit(rows, "y")
    with pytest.raises(PromiseError, match="trees failed their audit"):
        PartitionedClassifier(**options | {"open_classes": 3, "publish": "trees"}).fit(rows, "y")


def test_the_search_passes_over_what_its_audit_would_withhold(monkeypatch):
    """Groups are of two and more, and nobody's class is certain; yet the counts of both projections pin four down."""
    counts = {"001": 2, "010": 2, "011": 3, "100": 4, "101": 1, "110": 2}
    rows = pd.DataFrame([list(row) for row, n in counts.items() for _ in range(n)], columns=["a", "b", "y"])
    options = {"privacy": PartAL(2) & KAnonymity(2), **SMALL}
    with pytest.raises(PromiseError, match="pin down 'y' of 4 people"):
        PartitionedClassifier(partitioning=[["a"], ["b"]], **options).fit(rows, "y")
    # the more projections, the better: so a search that did not ask would take both
    monkeypatch.setattr(
        "shoal.partition.judge.TableJudge.accuracies", lambda self, all: np.array([len(p.subsets) / 2 for p in all])
    )
    model = PartitionedClassifier(**options).fit(rows, "y")
    assert (model.partitioning_, model.release_.verdict.holds) == ((("a",),), True)
    assert PartitionedClassifier(**options | {"privacy": 2}).fit(rows, "y").partitioning_ == (("a",), ("b",))


def test_a_hierarchy_makes_a_column_as_coarse_as_it_must_be():
    rng = np.random.default_rng(0)
    town = np.array(["aa"] * 60 + ["ab"] * 3 + ["ba"] * 40 + ["bb"] * 17, dtype=object)
    rows = pd.DataFrame({"town": town, "sex": rng.choice(["f", "m"], 120)})
    rows["y"] = np.where(rng.random(120) < 0.8, rows["town"].str[0] == "a", rows["sex"] == "f").astype(str)
    rows.loc[rng.choice(60, 6, replace=False), "town"] = None
    tree = Hierarchy.from_tree({"A": ["aa", "ab"], "B": ["ba", "bb"]})
    options = {"privacy": 5, "hierarchies": {"town": tree}, "partitioning": [["town"], ["sex"]], **SMALL}
    model = PartitionedClassifier(**options).fit(rows, "y")
    counts = model.release_.frame(0)["town"].value_counts(dropna=False)
    assert sorted(counts.tolist()) == [6, 57, 57]  # A and B, and what is missing
    assert audit(model.release_, rows).holds
    assert len(model.predict(rows)) == 120
    # no coarser than it must be, and never where nobody asked for it
    assert PartitionedClassifier(**options | {"privacy": 3}).fit(rows, "y").release_.frame(0)["town"].nunique() == 4
    with pytest.raises(PromiseError, match="have the level 3"):
        PartitionedClassifier(**options | {"hierarchies": None}).fit(rows, "y")
    # where nothing else does, everybody is the same
    everybody = PartitionedClassifier(**options | {"privacy": 7}).fit(rows, "y")
    assert everybody.release_.frame(0)["town"].nunique() == 1
    with pytest.raises(RequirementError, match="no hierarchies"):
        PartitionedClassifier(**options | {"publish": "trees"}).fit(rows, "y")


def test_new_rows(clinic):
    rows = clinic[["age", "sex", "education", "diabetes"]]
    model = PartitionedClassifier(privacy=20, **SMALL).fit(rows, "diabetes")
    new = pd.DataFrame({"age": [200, -3], "sex": ["female", None], "education": ["doctor of law", "none"]})
    with pytest.raises(DataError, match="does not know"):
        model.predict(new)
    assert len(model.set_params(unseen="missing").predict(new)) == 2


def test_a_frontier_is_of_levels_that_the_estimator_then_keeps(clinic):
    rows = clinic[["age", "sex", "education", "diabetes"]]
    fronts = PartitionedClassifier(privacy=1, **SMALL).frontiers(rows, "diabetes", runs=2)
    assert len(fronts) == 2
    point = fronts[0].points[0]
    names = point.partitioning.named(["age", "sex", "education"])
    model = PartitionedClassifier(privacy=point.level, partitioning=names, folds=2).fit(rows, "diabetes")
    assert model.level_ == point.level
    with pytest.raises(PromiseError, match="have the level"):
        PartitionedClassifier(privacy=point.level + 1, partitioning=names, folds=2).fit(rows, "diabetes")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"estimator": "svm"}, RequirementError, "must be 'c45', 'bayes' or a classifier"),
        ({"estimator": LogisticRegression}, RequirementError, "got LogisticRegression"),
        ({"privacy": KAnonymity(5)}, RequirementError, r"give PartAL\(k\)"),
        ({"folds": 1}, RequirementError, "folds must be an integer of at least 2"),
        ({"population": 1}, RequirementError, "^The search: population must be an integer of at least 2"),
        ({"generations": 0}, RequirementError, "^The search: generations must be an integer of at least 1"),
        ({"partitioning": [["Age"]]}, DataError, "no column 'Age'"),
        ({"partitioning": [["age"], ["age"]]}, DataError, "two projections"),
        ({"mutation": {"Age": 0.1}}, DataError, "no column 'Age'"),
        ({"other_public": [["Age"]]}, DataError, "no column 'Age'"),
        ({"privacy": 6000}, PromiseError, "has 5,000 row"),
    ],
)
def test_refusals(clinic, options, error, message):
    rows = clinic[["age", "sex", "diabetes"]]
    with pytest.raises(error, match=message):
        PartitionedClassifier(**{"privacy": 10, **SMALL, **options}).fit(rows, "diabetes")


def test_a_stated_domain_is_published_of_what_is_published(clinic):
    rows = clinic[["age", "bmi", "diabetes"]]
    domain = {"age": [0, 120], "bmi": [10, 80], "diabetes": ["unknown", "no", "yes"]}
    options = {"privacy": 20, "public": ["age"], "domain": domain, "partitioning": [["age"]], **SMALL}
    model = PartitionedClassifier(**options).fit(rows, "diabetes")
    assert model.release_.attribute("diabetes").values == ("unknown", "no", "yes")
    assert model.release_.attribute("age").bounds == (0, 120)
    assert model.classes_.tolist() == ["no", "unknown", "yes"]
    assert set(model.predict(rows)) <= {"no", "yes"}
    with pytest.raises(DataError, match="no column 'weight'"):
        PartitionedClassifier(**options | {"domain": {"weight": [0, 1]}}).fit(rows, "diabetes")


def test_trees_in_place_of_rows(clinic, tmp_path):
    options = {"privacy": 25, "public": ["age", "sex", "education"], **SMALL}
    model = PartitionedClassifier(publish="trees", **options).fit(clinic, "diabetes")
    assert model.release_.kind == "ensemble"
    assert audit(model.release_, clinic).rejoined.partal >= 25
    model.release_.save(tmp_path / "trees.json")
    again = load(tmp_path / "trees.json")
    assert (again.predict(clinic) == model.predict(clinic)).mean() > 0.999  # but for ties
    assert PartitionedClassifier(**options).fit(clinic, "diabetes").partitioning_ == model.partitioning_
    with pytest.raises(RequirementError, match="needs estimator='c45'"):
        PartitionedClassifier("bayes", publish="trees").fit(clinic, "diabetes")
