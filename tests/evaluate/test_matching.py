# SPDX-License-Identifier: Apache-2.0
import pytest

from shoal import AnonymousTreeClassifier, DataError, to_table
from shoal.evaluate.matching import class_match, path_match
from shoal.share import paths_of


def test_class_match_counts_rows_that_both_classify_alike():
    assert class_match(["a", "a", "b"], ["a", "b", "a"]) == pytest.approx(1 / 3)
    assert class_match([1, 2], [1, 2]) == 1.0


@pytest.mark.parametrize(("one", "other"), [([], []), (["a"], ["a", "b"])])
def test_class_match_needs_the_same_rows(one, other):
    with pytest.raises(DataError, match="same length"):
        class_match(one, other)


def test_path_match_by_hand():
    """Three paths of one tree, two of the other, one in common: one of four."""
    one = [{"A": "a1"}, {"A": "a2", "B": "b1"}, {"A": "a2", "B": "b2"}]
    other = [{"A": "a1"}, {"A": "a2"}]
    assert path_match(one, other) == 1 / 4
    assert path_match(one, one) == 1.0
    assert path_match([{"A": "a2", "B": "b1"}], [{"B": "b1", "A": "a2"}]) == 1.0
    assert path_match([{}], one) == 0.0
    with pytest.raises(DataError, match="at least one path"):
        path_match([], one)


def test_path_match_of_released_trees():
    rows = to_table({"a": ["x", "x", "y", "y"] * 5, "b": ["u", "v", "u", "v"] * 5, "c": ["0", "0", "1", "0"] * 5})
    full = AnonymousTreeClassifier(privacy=1, variant="id3").fit(rows, "c").release_
    stump = AnonymousTreeClassifier(privacy=1, variant="id3", max_depth=1).fit(rows, "c").release_
    boxes = [[path.box for path in paths_of(tree)] for tree in (full, stump)]
    # a = x; a = y and b = u; a = y and b = v, beside a = x; a = y
    assert [len(each) for each in boxes] == [3, 2]
    assert path_match(*boxes) == 1 / 4
