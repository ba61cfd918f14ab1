# SPDX-License-Identifier: Apache-2.0
"""Accuracies of partitionings against an obvious loop over folds, rows and subsets."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal._kernels.reference_c45 import C45, Feature
from shoal.partition.encoded import Encoded, stratified_folds
from shoal.partition.learners import C45Folds
from shoal.partition.partitioning import Partitioning
from shoal.partition.wrapper import Wrapper, combine


class Told:
    """A learner that knows its answers, and counts how often it is asked."""

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def out_of_fold(self, features):
        self.asked.append(features)
        return np.array(self.answers[features])


class TestCombination:
    """Eq. 1."""

    def test_by_hand(self):
        parts = [[[0.7, 0.2, 0.1]], [[0.1, 0.6, 0.3]], [[0.3, 0.3, 0.4]]]
        prior = [0.5, 0.3, 0.2]
        scores = [0.7 * 0.1 * 0.3 / 0.25, 0.2 * 0.6 * 0.3 / 0.09, 0.1 * 0.3 * 0.4 / 0.04]
        assert combine(parts, prior)[0] == pytest.approx(np.array(scores) / sum(scores))

    def test_one_classifier_answers_as_it_is_and_none_with_the_prior(self):
        assert combine([[[0.7, 0.3]]], [0.1, 0.9])[0] == pytest.approx([0.7, 0.3])
        assert combine([], [0.1, 0.9])[0] == pytest.approx([0.1, 0.9])

    def test_a_class_nobody_has_is_never_chosen(self):
        assert combine([[[0.5, 0.5]], [[0.4, 0.6]]], [1.0, 0.0]).tolist() == [[1.0, 0.0]]

    def test_what_is_said_to_be_impossible_can_be_outvoted(self):
        both = combine([[[0.0, 1.0]], [[1.0, 0.0]], [[1.0, 0.0]]], [0.5, 0.5])
        assert both.argmax() == 0


class TestWrapper:
    def test_a_product_by_hand(self):
        # the prior outside each fold is (2/3, 1/3) and (1/3, 2/3)
        target, folds = [0, 1, 1, 0, 0, 1], [0, 0, 0, 1, 1, 1]
        one, other = [[0.6, 0.4]] * 6, [[0.35, 0.65]] * 6
        told = Told({(0,): one, (1,): other})
        wrapper = Wrapper(told, target, 2, folds)
        both, first, empty = wrapper.accuracies([Partitioning.of(2, s) for s in ([[0], [1]], [[0]], [])])
        # 0.6·0.35/prior against 0.4·0.65/prior: fold 0 has 0.315 < 0.78, fold 1 has 0.63 > 0.39
        assert both == pytest.approx((2 / 3 + 2 / 3) / 2)
        assert first == pytest.approx((1 / 3 + 2 / 3) / 2)
        assert empty == pytest.approx((1 / 3 + 1 / 3) / 2)

    def test_each_subset_is_learned_once(self):
        told = Told({(0,): [[0.5, 0.5]] * 4, (1,): [[0.5, 0.5]] * 4, (0, 1): [[0.5, 0.5]] * 4})
        wrapper = Wrapper(told, [0, 1, 0, 1], 2, [0, 0, 1, 1])
        some = [Partitioning.of(2, s) for s in ([[0]], [[0], [1]], [[0, 1]], [[1]])]
        wrapper.accuracies(some)
        wrapper.accuracies(some[::-1])
        assert sorted(told.asked) == [(0,), (0, 1), (1,)]
        assert wrapper.n_learned == 3

    def test_with_little_memory_the_answers_are_the_same(self):
        rng = np.random.default_rng(0)
        answers = {(f,): rng.dirichlet([1, 1, 1], 40) for f in range(6)}
        target, folds = rng.integers(0, 3, 40), np.arange(40) % 4
        some = [Partitioning.of(6, [[f], [(f + 1) % 6], [(f + 3) % 6]]) for f in range(6)]
        large, small = Told(answers), Told(answers)
        expected = Wrapper(large, target, 3, folds).accuracies(some)
        tight = Wrapper(small, target, 3, folds, memory=4 * 40 * 2 * 4)  # room for four subsets
        assert tight.accuracies(some).tolist() == expected.tolist()
        assert tight.accuracies(some).tolist() == expected.tolist()
        assert len(large.asked) == 6
        assert len(small.asked) > 12
        assert len(tight._odds) <= 4

    def test_on_threads_the_answers_are_the_same(self, monkeypatch):
        rng = np.random.default_rng(1)
        codes, target = rng.integers(0, 3, (6, 80)), rng.integers(0, 2, 80)
        folds = stratified_folds(target, 4, rng)
        data = Encoded.of(codes, [3] * 6, target, 2)
        some = [Partitioning.of(6, [[a, b], [c]]) for a in range(6) for b in range(a) for c in range(b)]
        one_by_one = Wrapper(C45Folds(data, folds), target, 2, folds).accuracies(some)
        monkeypatch.setattr("shoal.partition.wrapper.PASSES", 10**6)
        assert Wrapper(C45Folds(data, folds), target, 2, folds).accuracies(some).tolist() == one_by_one.tolist()

    def test_a_tie_goes_to_the_first_class(self):
        told = Told({(0,): [[0.5, 0.5]] * 4})
        assert Wrapper(told, [0, 0, 1, 1], 2, [0, 1, 0, 1]).accuracies([Partitioning.of(1, [[0]])]).tolist() == [0.5]
        assert Wrapper(told, [1, 1, 0, 1], 2, [0, 1, 0, 1]).accuracies([Partitioning.of(1, [[0]])]).tolist() == [0.25]

    @pytest.mark.parametrize("lonely", [0, 2])
    def test_a_class_that_only_one_fold_has_is_never_chosen_there(self, lonely):
        others = [c for c in range(3) if c != lonely]
        target, folds = [lonely, others[0], others[0], others[1]], [0, 1, 0, 1]
        told = Told({(0,): np.eye(3)[[lonely] * 4] * 0.8 + 0.1, (1,): np.eye(3)[[lonely] * 4] * 0.8 + 0.1})
        accuracy = Wrapper(told, target, 3, folds).accuracies([Partitioning.of(2, [[0], [1]])])
        # in fold 0 the other classes have (1, 1) people outside, a tie: rows of the first of them are right
        assert accuracy.tolist() == [0.25]


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(2, 3))
def test_accuracies_are_those_of_an_obvious_loop(seed, n_classes):
    rng = np.random.default_rng(seed)
    n_rows, n_folds = 40, 3
    codes = [rng.integers(0, 3, n_rows) for _ in range(4)]
    target = np.where(rng.random(n_rows) < 0.4, rng.integers(0, n_classes, n_rows), (codes[0] + codes[1]) % n_classes)
    folds = stratified_folds(target, n_folds, rng)
    data = Encoded.of(codes, [3] * 4, target, n_classes)
    place = rng.integers(-1, 3, (5, 4))  # the subset of each feature; −1: left out
    some = [
        Partitioning.of(4, [np.flatnonzero(own == k).tolist() for k in range(3) if (own == k).any()]) for own in place
    ]
    found = Wrapper(C45Folds(data, folds), target, n_classes, folds).accuracies(some)
    twin = C45([Feature(own, 3) for own in codes], target, n_classes)
    for partitioning, accuracy in zip(some, found, strict=True):
        by_fold = []
        for fold in range(n_folds):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            prior = np.bincount(target[train], minlength=n_classes) / len(train)
            trees = [twin.fit(train, list(features)) for features in partitioning.features]
            right = 0
            for row in test:
                scores = [
                    math.prod(twin.probabilities(tree, row)[c] for tree in trees) / prior[c] ** (len(trees) - 1)
                    if prior[c]
                    else -1.0
                    for c in range(n_classes)
                ]
                likely = [c for c in range(n_classes) if scores[c] >= max(scores) * (1 - 1e-6)]
                right += likely[0] == target[row]
            by_fold.append(right / len(test))
        assert accuracy == pytest.approx(np.mean(by_fold))
