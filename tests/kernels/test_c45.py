# SPDX-License-Identifier: Apache-2.0
"""The compiled C4.5 equals its slow twin: same trees, same probabilities."""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shoal._kernels import c45, c45_prune
from shoal._kernels.reference_c45 import C45, Feature
from shoal.trees.prune import expected_errors


def random_table(seed, n_rows, n_features, n_classes, noise):
    """Features of every kind, some with missing values and values nobody has, and classes that depend on them."""
    rng = np.random.default_rng(seed)
    features = []
    for _ in range(n_features):
        n_known = int(rng.integers(1, 7))
        numbers = np.cumsum(rng.integers(1, 5, n_known)).astype(float) if rng.random() < 0.5 else None
        codes = rng.integers(0, n_known + (rng.random() < 0.3), n_rows)
        features.append(Feature(codes, n_known, numbers))
    told = sum(rng.integers(0, 3, 8)[feature.codes] for feature in features)
    classes = np.where(rng.random(n_rows) < noise, rng.integers(0, n_classes, n_rows), told % n_classes)
    return features, classes


def kernel_input(features):
    numbers = [np.empty(0) if feature.numbers is None else feature.numbers for feature in features]
    about = (
        np.array([feature.n_known + 1 for feature in features]),
        np.array([feature.numbers is not None for feature in features]),
        np.array([feature.n_known for feature in features]),
        np.concatenate(numbers),
        np.concatenate([[0], np.cumsum([len(own) for own in numbers])[:-1]]),
    )
    return np.array([feature.codes for feature in features], dtype=np.int32).T.copy(), about


def described(tree, features, node=0):
    """The kernel's tree as the twin describes its own."""
    feature, cut, first, width, _, _, _, counts = tree
    if feature[node] < 0:
        return tuple(counts[node].tolist())
    sons = tuple(described(tree, features, child) for child in range(first[node], first[node] + width[node]))
    return int(feature[node]), -1 if features[feature[node]].numbers is None else int(cut[node]), sons


@settings(max_examples=150)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 90), st.integers(1, 5), st.integers(2, 3), st.sampled_from([0.1, 0.4, 1])
)
@example(seed=6, n_rows=80, n_features=4, n_classes=2, noise=0.4)
def test_trees_and_probabilities_are_those_of_the_twin(seed, n_rows, n_features, n_classes, noise):
    features, classes = random_table(seed, n_rows, n_features, n_classes, noise)
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(rng.random(n_rows) < 0.8)
    used = np.flatnonzero(rng.random(n_features) < 0.8)
    twin = C45(features, classes, n_classes)
    slow = twin.fit(rows, used.tolist())
    codes, about = kernel_input(features)
    logs = c45.log_table(n_rows)
    fast = c45.fit(codes, classes.astype(np.int32), rows.astype(np.int32), used, about, n_classes, logs)
    assert described(fast, features) == twin.described(slow)
    out = np.empty((n_rows, n_classes))
    c45.probabilities(codes, np.arange(n_rows, dtype=np.int32), about, fast, out)
    assert np.allclose(out, [twin.probabilities(slow, row) for row in range(n_rows)], rtol=1e-12)


def test_numbers_with_many_more_values_than_a_node_has_rows():
    """Codes are then counted by themselves and sorted."""
    rng = np.random.default_rng(0)
    numbers = [np.arange(3000.0), np.sqrt(np.arange(70_000.0))]
    features = [Feature(rng.integers(0, len(own), 240), len(own), own) for own in numbers]
    features.append(Feature(rng.integers(0, 900, 240) // 30, 400))
    classes = (features[0].codes > 1700) ^ (features[1].codes > 20_000) ^ (rng.random(240) < 0.1)
    twin = C45(features, classes.astype(np.int32), 2)
    slow = twin.fit(np.arange(240), [0, 1, 2])
    codes, about = kernel_input(features)
    rows = np.arange(240, dtype=np.int32)
    fast = c45.fit(codes, classes.astype(np.int32), rows, np.arange(3), about, 2, c45.log_table(240))
    assert described(fast, features) == twin.described(slow)
    assert (fast[0] >= 0).sum() > 3


def test_more_features_than_there_are_marks_for():
    features, classes = random_table(5, 60, 70, 2, 0.3)
    twin = C45(features, classes, 2)
    slow = twin.fit(np.arange(60), range(70))
    codes, about = kernel_input(features)
    rows = np.arange(60, dtype=np.int32)
    fast = c45.fit(codes, classes.astype(np.int32), rows, np.arange(70), about, 2, c45.log_table(60))
    assert described(fast, features) == twin.described(slow)


def test_subtree_raising_is_met():
    """Among the random tables are some whose trees have a raised branch, so the test above covers it."""
    raised = 0
    for seed in range(60):
        features, classes = random_table(seed, 90, 4, 2, 0.4)
        twin = C45(features, classes, 2)
        before = twin.part_again
        calls = []
        twin.part_again = lambda tree, before=before, calls=calls: (calls.append(tree), before(tree))
        twin.fit(np.arange(90), [0, 1, 2, 3])
        raised += bool(calls)
    assert raised >= 3


def test_out_of_fold_is_a_tree_of_the_other_folds():
    features, classes = random_table(3, 70, 3, 3, 0.2)
    folds = np.random.default_rng(0).integers(0, 4, 70).astype(np.int32)
    codes, about = kernel_input(features)
    used, out = np.array([0, 2]), np.full((70, 3), np.nan)
    c45.out_of_fold(codes, classes.astype(np.int32), folds, 4, used, about, 3, c45.log_table(70), out)
    twin = C45(features, classes, 3)
    for fold in range(4):
        tree = twin.fit(np.flatnonzero(folds != fold), [0, 2])
        for row in np.flatnonzero(folds == fold):
            assert np.allclose(out[row], twin.probabilities(tree, row))


def test_expected_errors_are_those_of_our_other_trees():
    n, e = (grid.ravel() for grid in np.meshgrid(np.arange(40), np.arange(40)))
    n, e = n[e <= n], e[e <= n]
    ours = [c45_prune.expected_errors(*pair) for pair in zip(n, e, strict=True)]
    assert np.allclose(ours, expected_errors(n, e, 0.25))
