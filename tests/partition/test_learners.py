# SPDX-License-Identifier: Apache-2.0
"""The learners of partitionings: the paper's trees, and obvious loops on small random tables."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal._kernels.reference_c45 import C45, Feature
from shoal.data.frames import to_table
from shoal.papers.worked.dmpd_release import coded
from shoal.partition.c45 import fit_c45
from shoal.partition.encoded import Encoded, stratified_folds
from shoal.partition.learners import BayesFolds, C45Folds, EstimatorFolds
from shoal.partition.wrapper import combine
from shoal.release import Attribute, Interval, TreeRelease

RELATIONSHIP, EDUCATION, HOURS, AGE = range(4)


@pytest.fixture(scope="module")
def adult():
    return coded().select(["relationship", "education-num", "hours-per-week", "age", "income"])


@pytest.fixture(scope="module")
def encoded(adult):
    columns = list(adult.values())
    return Encoded.of_columns(columns[:-1], columns[-1])


def leaves(tree, node=0, path=()):
    """Conditions and counts of each leaf of a release's nodes."""
    if tree[node].is_leaf:
        return {path: tree[node].counts}
    found = {}
    for branch in tree[node].branches:
        found |= leaves(tree, branch.node, (*path, f"{tree[node].attribute} {branch.condition()}"))
    return found


class TestThePapersTrees:
    """Sect. 4.2."""

    def test_relationship_and_education(self, adult, encoded):
        nodes = fit_c45(encoded, [RELATIONSHIP, EDUCATION]).nodes(list(adult.values()))
        assert leaves(nodes) == {
            ("relationship = Not-in-family",): (5, 2),
            ("relationship = Husband",): (2, 5),
            ("relationship = Unmarried", "education-num at most 11"): (3, 0),  # 10 in the paper: the same rows
            ("relationship = Unmarried", "education-num above 11"): (1, 2),
        }

    def test_the_cut_is_where_j48_has_it(self, adult, encoded):
        tree = fit_c45(encoded, [RELATIONSHIP, EDUCATION])
        cut = tree.cut[tree.feature == EDUCATION]
        assert adult["education-num"].numbers[cut].tolist() == [10]

    def test_hours_and_age(self, adult, encoded):
        nodes = fit_c45(encoded, [HOURS, AGE]).nodes(list(adult.values()))
        assert leaves(nodes) == {
            ("age = (-inf-48]", "hours-per-week at most 44"): (9, 1),  # 40 in the paper
            ("age = (-inf-48]", "hours-per-week above 44"): (1, 2),
            ("age = (48-inf)",): (1, 6),
        }

    def test_the_instance_is_classified_at_most_50k(self, adult, encoded):
        instance = [
            [adult["relationship"].names.index("Unmarried")],
            [adult["education-num"].numbers.tolist().index(13)],
            [adult["hours-per-week"].numbers.tolist().index(35)],  # 30 is no value of the table; it falls in with 35
            [adult["age"].names.index("(-inf-48]")],
        ]
        first = fit_c45(encoded, [RELATIONSHIP, EDUCATION]).probabilities(instance)
        second = fit_c45(encoded, [HOURS, AGE]).probabilities(instance)
        assert first.tolist() == [[2 / 5, 3 / 5]]  # >50K by itself
        assert second.tolist() == [[10 / 12, 2 / 12]]
        both = combine([first, second], [0.55, 0.45])
        low, high = 2 / 5 * 10 / 12 / 0.55, 3 / 5 * 2 / 12 / 0.45
        assert both[0] == pytest.approx([low / (low + high), high / (low + high)])
        assert both.argmax() == adult["income"].names.index("<=50K")


class TestReleaseNodes:
    def release(self, table, nodes):
        attributes = tuple(Attribute.of(column, "private") for column in table.values())
        claims = ({"requirement": "k-anonymity", "k": 1},)
        return TreeRelease(target=table.names[-1], attributes=attributes, claims=claims, nodes=nodes)

    def test_rows_end_where_the_tree_says(self, adult, encoded):
        tree = fit_c45(encoded, [RELATIONSHIP, EDUCATION, HOURS, AGE])
        release = self.release(adult, tree.nodes(list(adult.values())[:-1]))
        counts = release.counts[release.apply(adult)]
        expected = (counts + 1) / (counts.sum(axis=1, keepdims=True) + 2)
        assert np.allclose(tree.probabilities(encoded.codes), expected)

    def test_missing_goes_where_most_go_and_nobodys_values_share_a_leaf(self):
        colour = ["red"] * 6 + ["blue"] * 5 + [None] * 3
        frame = {"colour": colour, "rich": ["no"] * 6 + ["yes"] * 5 + ["no"] * 3}
        table = to_table({name: np.array(values, dtype=object) for name, values in frame.items()})
        column = table["colour"]
        names = (*column.names, "green", "white")
        wide = type(column)("colour", "categorical", np.where(column.codes == 2, 4, column.codes), names, missing=True)
        nodes = fit_c45(Encoded.of_columns([wide], table["rich"]), [0]).nodes([wide])
        branches = {(branch.values, branch.missing): nodes[branch.node].counts for branch in nodes[0].branches}
        assert branches == {
            (("blue",), False): (0, 5),
            (("red",), True): (9, 0),
            (("green", "white"), False): (0, 0),
        }

    def test_missing_as_a_value_of_its_own(self):
        frame = {"colour": ["red"] * 6 + [None] * 5, "rich": ["no"] * 6 + ["yes"] * 5}
        table = to_table({name: np.array(values, dtype=object) for name, values in frame.items()})
        column = table["colour"]
        data = Encoded.of([column.codes], [column.n_codes], table["rich"].codes, 2)
        nodes = fit_c45(data, [0]).nodes([column])
        branches = {(branch.values, branch.missing): nodes[branch.node].counts for branch in nodes[0].branches}
        assert branches == {(("red",), False): (6, 0), ((), True): (0, 5)}

    def test_a_discretised_number_becomes_intervals(self, adult):
        codes, cuts = np.array([0, 0, 0, 2, 2, 2]), {0: np.array([10.0, 20.0])}
        data = Encoded.of([codes], [3], [0, 0, 0, 1, 1, 1], 2)
        nodes = fit_c45(data, [0]).nodes([adult["hours-per-week"]], cuts)
        intervals = {branch.intervals: nodes[branch.node].counts for branch in nodes[0].branches}
        assert intervals == {
            (Interval(None, 10.0),): (3, 0),
            (Interval(20.0, None),): (0, 3),
            (Interval(10.0, 20.0),): (0, 0),
        }


def random_data(seed, n_rows=60, n_classes=2):
    rng = np.random.default_rng(seed)
    numbers = [None, np.cumsum(rng.integers(1, 4, 6)).astype(float), None]
    n_known = [3, 6, 4]
    codes = [rng.integers(0, known + 1, n_rows) for known in n_known]
    target = np.where(rng.random(n_rows) < 0.3, rng.integers(0, n_classes, n_rows), sum(codes) % n_classes)
    data = Encoded.of(codes, [known + 1 for known in n_known], target, n_classes, numbers=numbers, missing=[True] * 3)
    return data, stratified_folds(target, 3, rng)


def test_c45_is_the_twin_fold_by_fold():
    data, folds = random_data(1)
    features = [
        Feature(codes.astype(int), int(n_known), numbers)
        for codes, n_known, numbers in zip(data.codes, data.n_known, data.numbers, strict=True)
    ]
    twin = C45(features, data.target, 2)
    found = C45Folds(data, folds).out_of_fold((0, 1))
    for fold in range(3):
        tree = twin.fit(np.flatnonzero(folds != fold), [0, 1])
        for row in np.flatnonzero(folds == fold):
            assert found[row] == pytest.approx(twin.probabilities(tree, row))


def bayes_by_hand(data, train, row, features):
    """Weka's naive Bayes for one row, value by value."""
    scores = []
    for c in range(data.n_classes):
        mine = [r for r in train if data.target[r] == c]
        score = math.log((len(mine) + 1) / (len(train) + data.n_classes))
        for f in features:
            codes, known, numbers = data.codes[f].astype(int), int(data.n_known[f]), data.numbers[f]
            if codes[row] >= known:
                continue
            there = [r for r in mine if codes[r] < known]
            if numbers is None:
                score += math.log((sum(codes[r] == codes[row] for r in there) + 1) / (len(there) + known))
                continue
            values = sorted({numbers[codes[r]] for r in train if codes[r] < known})
            gap = (values[-1] - values[0]) / (len(values) - 1)
            own = [round(numbers[codes[r]] / gap) * gap for r in there]
            mean = sum(own) / len(own)
            spread = max(math.sqrt(sum((x - mean) ** 2 for x in own) / len(own)), gap / 6)
            x = round(numbers[codes[row]] / gap) * gap

            def below(end, mean=mean, spread=spread):
                return (1 + math.erf((end - mean) / spread / math.sqrt(2))) / 2

            score += math.log(max(below(x + gap / 2) - below(x - gap / 2), 1e-75))
        scores.append(math.exp(score))
    return [score / sum(scores) for score in scores]


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from([(0,), (1,), (0, 2), (0, 1, 2)]))
def test_naive_bayes_is_that_of_weka(seed, features):
    data, folds = random_data(seed, n_classes=3)
    learner = BayesFolds(data, folds)
    found, whole = learner.out_of_fold(features), learner.fit(features).probabilities(data.codes)
    for row in range(0, data.n_rows, 7):
        train = np.flatnonzero(folds != folds[row])
        assert found[row] == pytest.approx(bayes_by_hand(data, train, row, features))
        assert whole[row] == pytest.approx(bayes_by_hand(data, range(data.n_rows), row, features))


class TestEstimatorFolds:
    def test_each_row_is_answered_by_a_model_that_has_not_seen_it(self):
        from sklearn.naive_bayes import GaussianNB

        data, folds = random_data(4)
        learner = EstimatorFolds(GaussianNB(), data, folds)
        found = learner.out_of_fold((0, 1))
        known = data.codes[1] < 6
        average = data.numbers[1][data.codes[1][known]].mean()
        X = np.column_stack(
            [*(data.codes[0] == value for value in range(3)), np.append(data.numbers[1], average)[data.codes[1]]]
        ).astype(float)
        for fold in range(3):
            test = folds == fold
            expected = GaussianNB().fit(X[~test], data.target[~test]).predict_proba(X[test])
            assert np.allclose(found[test], expected)
        everybody = GaussianNB().fit(X, data.target).predict_proba(X)
        assert np.allclose(learner.fit((0, 1)).probabilities(data.codes), everybody)

    def test_a_class_that_a_fold_lacks_has_no_probability(self):
        from sklearn.dummy import DummyClassifier

        data = Encoded.of([[0, 1, 0, 1, 0]], [2], [0, 0, 1, 1, 2], 3)
        found = EstimatorFolds(DummyClassifier(), data, [0, 1, 0, 1, 0]).out_of_fold((0,))
        assert found[4].tolist() == [0.5, 0.5, 0.0]


def test_stratified_folds_have_as_many_of_each_class():
    target = np.repeat([0, 1, 2], [50, 31, 4])
    folds = stratified_folds(target, 5, np.random.default_rng(0))
    counts = np.zeros((5, 3), dtype=int)
    np.add.at(counts, (folds, target), 1)
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()
    assert set(counts.sum(axis=1).tolist()) == {17}


def test_a_value_nobody_had_goes_where_most_go():
    data = Encoded.of([[0, 0, 0, 0, 1, 1, 1]], [2], [0, 0, 0, 0, 1, 1, 1], 2)
    assert fit_c45(data, [0]).probabilities([[7]]).tolist() == [[5 / 6, 1 / 6]]
