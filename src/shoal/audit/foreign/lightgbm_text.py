# SPDX-License-Identifier: Apache-2.0
"""The text that LightGBM writes of a model, read into arrays; nothing in it is believed before it is checked."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.audit.foreign import dumps
from shoal.audit.foreign.dumps import refuse
from shoal.audit.foreign.grove import Grove, Ids, Numbers, grow
from shoal.errors import ReleaseError

ZERO = float(np.float32(1e-35))  # what LightGBM takes to be zero lies within this of it
CATEGORICAL, DEFAULT_LEFT = 1, 2  # bits of a decision type
NONE, AS_ZERO, AS_NAN = 0, 1, 2  # how a split knows missing values
LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Booster:
    """What LightGBM's text says.

    Attributes
    ----------
    grove
        The trees, leaves of a tree after its splits.
    names
        The features' names, as LightGBM writes them.
    objective
        What was learned, such as "binary"; empty where a function of the user's was.
    categorical
        The features that are asked for sets of categories, or were said to be categorical.
    categories
        The categories of every pandas column that had some, in the order of these columns; None where unknown.
    zero_missing
        The features of which zero counts as missing.
    ends
        For features whose smallest and largest training value the text states: these two.
    """

    grove: Grove
    names: tuple[str, ...]
    objective: str
    categorical: frozenset[int]
    categories: tuple[tuple[str, ...], ...] | None
    zero_missing: frozenset[int]
    ends: Mapping[int, tuple[float, float]]


def parse(text: str) -> Booster:
    """Read LightGBM's text, and refuse what LightGBM does not write."""
    dumps.check_size(text)
    text = text.replace("\r\n", "\n")
    head, found, tail = text.partition("\nend of trees\n")
    if not head.startswith("tree\n"):
        raise ReleaseError("not-a-dump", "This is no text of LightGBM: it does not begin with 'tree'.")
    if not found or "\nend of parameters\n" not in tail:
        refuse("its end is not there")
    parts = re.split(r"^Tree=", head, flags=re.MULTILINE)
    header = _entries(parts[0])
    if header.get("version") not in ("v3", "v4"):
        raise ReleaseError(
            "other-version", "The text was not written by LightGBM 2.3 to 4: load it there and save it anew."
        )
    n_features = _count(header, "max_feature_idx") + 1
    n_outputs = _count(header, "num_tree_per_iteration")
    names = tuple(header.get("feature_names", "").split(" "))
    infos = header.get("feature_infos", "").split(" ")
    n_trees = len(parts) - 1
    if len(names) != n_features or len(infos) != n_features:
        refuse("it does not name every feature")
    if n_outputs == 0 or n_trees % n_outputs:
        refuse("it has not as many trees for every output")
    if n_trees == 0 or len(header.get("tree_sizes", "").split()) != n_trees:
        refuse("it has not as many trees as it says")
    rounds = n_trees // n_outputs if "average_output" in header else 1
    leaves = sum(map(int, re.findall(r"^num_leaves=(\d{1,9})$", head, flags=re.MULTILINE)))
    dumps.check_room(2 * leaves, n_outputs, n_features)
    zero: set[int] = set()
    trees = [_tree(part, i, n_features, n_outputs, rounds, zero) for i, part in enumerate(parts[1:])]
    grove = grow(trees)
    if _sampled(tail):
        grove = replace(grove, people=None)
    dumps.check_trees(grove.roots, grove.left, grove.right)
    asked = np.unique(grove.feature[grove.left_set >= 0])
    said = [i for i, info in enumerate(infos) if not info.startswith("[") and info != "none"]
    return Booster(
        grove=grove,
        names=names,
        objective=header.get("objective", "").partition(" ")[0],
        categorical=frozenset(said) | frozenset(asked.tolist()),
        categories=_categories(tail),
        zero_missing=frozenset(zero),
        ends={i: two for i, info in enumerate(infos) if (two := _ends(info)) is not None},
    )


def _ends(info: str) -> tuple[float, float] | None:
    """The two ends of a numeric feature, where the text states them."""
    found = re.fullmatch(r"\[([^:\]]+):([^:\]]+)\]", info)
    try:
        return None if found is None else (float(found[1]), float(found[2]))
    except ValueError:
        refuse("the range of a feature is none")


def _sampled(tail: str) -> bool:
    """Whether trees were grown on samples, so that their counts are of fewer rows."""
    said = dict(re.findall(r"^\[(\w+): (.*)\]$", tail, flags=re.MULTILINE))
    fractions = ("bagging_fraction", "pos_bagging_fraction", "neg_bagging_fraction")
    bagged = said.get("bagging_freq", "0") != "0" and any(said.get(name, "1") != "1" for name in fractions)
    return bagged or "goss" in (said.get("data_sample_strategy"), said.get("boosting"))


def _entries(part: str) -> dict[str, str]:
    """The lines of a part, each a key and what it is."""
    entries: dict[str, str] = {}
    for line in part.split("\n"):
        key, _, value = line.partition("=")
        if entries.setdefault(key, value) != value:
            refuse("it says two things of one")
    return entries


def _count(entries: Mapping[str, str], key: str) -> int:
    word = entries.get(key, "")
    if not re.fullmatch("[0-9]{1,9}", word):
        refuse(f"{key} is no count")
    return int(word)


def _ints(entries: Mapping[str, str], key: str, n: int) -> Ids:
    words = entries.get(key, "").split()
    try:
        numbers = np.array(words, dtype=np.int64)
    except (ValueError, OverflowError):
        refuse(f"{key} holds something that is no whole number")
    if len(numbers) != n:
        refuse(f"{key} has not as many numbers as it should")
    return numbers


def _floats(entries: Mapping[str, str], key: str, n: int) -> Numbers:
    words = entries.get(key, "").split()
    try:
        numbers = np.array(words, dtype=np.float64)
    except ValueError:
        refuse(f"{key} holds something that is no number")
    if len(numbers) != n or np.isnan(numbers).any():
        refuse(f"{key} has not as many numbers as it should")
    # a threshold may be infinite: every number goes left, and what is missing goes right
    return np.clip(numbers, -LARGEST, LARGEST)


def _tree(part: str, number: int, n_features: int, n_outputs: int, rounds: int, zero: set[int]) -> Grove:
    """One tree: its splits, then its leaves. Adds to `zero` the features of which zero counts as missing."""
    entries = _entries(f"Tree={part}")
    if _count(entries, "Tree") != number:
        refuse("its trees are not in order")
    if entries.get("is_linear", "0") != "0":
        raise ReleaseError(
            "linear-trees",
            "The model has linear models in its leaves (linear_tree), whose numbers tell people of one leaf apart. "
            "Train it without linear_tree.",
        )
    n_leaves = _count(entries, "num_leaves")
    if n_leaves == 0:
        refuse("a tree has no leaf")
    n_splits = n_leaves - 1
    leaves = np.full(n_leaves, -1)
    feature = _ints(entries, "split_feature", n_splits)
    decision = _ints(entries, "decision_type", n_splits)
    threshold = _floats(entries, "threshold", n_splits)
    if ((feature < 0) | (feature >= n_features)).any() or ((decision < 0) | (decision > 11)).any():
        refuse("a split asks for no feature, or in no way that there is")
    children = [_ints(entries, key, n_splits) for key in ("left_child", "right_child")]
    if any(((child < -n_leaves) | (child >= n_splits)).any() for child in children):
        refuse("a branch leads to no node")
    # a leaf is written as the complement of its number; here leaves come after the splits
    left, right = (np.concatenate([np.where(child < 0, n_splits + ~child, child), leaves]) for child in children)
    by_set, kind = (decision & CATEGORICAL) > 0, decision >> 2
    zero.update(feature[~by_set & (kind == AS_ZERO)].tolist())
    sets, left_set = _sets(entries, threshold, by_set)
    value = np.zeros((n_splits + n_leaves, n_outputs))
    value[n_splits:, number % n_outputs] = _floats(entries, "leaf_value", n_leaves) / rounds
    # without a way of its own, a missing number is taken to be zero; a missing category goes right
    missing_left = np.where(kind == NONE, threshold >= 0, (decision & DEFAULT_LEFT) > 0) & ~by_set
    return Grove(
        roots=np.zeros(1, dtype=np.int64),
        feature=np.concatenate([feature, leaves]).astype(np.int32),
        threshold=np.concatenate([np.where(by_set, np.nan, threshold), np.full(n_leaves, np.nan)]),
        left=left,
        right=right,
        missing_left=np.concatenate([missing_left, np.zeros(n_leaves, dtype=bool)]),
        left_set=np.concatenate([left_set, leaves]).astype(np.int32),
        sets=sets,
        value=value,
        people=_people(entries, n_leaves),
        single=False,
        combine="sum",
        base=np.zeros(n_outputs),
    )


def _people(entries: Mapping[str, str], n_leaves: int) -> Ids | None:
    if not entries.get("leaf_count") or (n_leaves > 1 and not entries.get("internal_count")):
        return None
    people = np.concatenate([_ints(entries, "internal_count", n_leaves - 1), _ints(entries, "leaf_count", n_leaves)])
    if (people < 0).any():
        refuse("a node has fewer than no people")
    return people


def _sets(entries: Mapping[str, str], threshold: Numbers, by_set: Any) -> tuple[tuple[Ids, ...], Ids]:
    """The categories that go left, bit by bit in words of 32, and which of these sets each split asks for."""
    n_sets = _count(entries, "num_cat")
    left_set = np.full(len(threshold), -1)
    if n_sets == 0 and not by_set.any():
        return (), left_set
    asked = threshold[by_set]
    if n_sets > len(threshold) or (asked != np.floor(asked)).any() or ((asked < 0) | (asked >= n_sets)).any():
        refuse("a split asks for a set that is not there")
    left_set[by_set] = asked.astype(np.int64)
    ends = _ints(entries, "cat_boundaries", n_sets + 1)
    words = _ints(entries, "cat_threshold", int(ends[-1]))
    if ends[0] != 0 or (np.diff(ends) < 0).any() or ((words < 0) | (words >= 2**32)).any():
        refuse("a set of categories is none")
    if len(words) * 32 > dumps.MOST_CATEGORIES:
        raise ReleaseError("too-large", f"A tree of the model asks for more than {dumps.MOST_CATEGORIES:,} categories.")
    bits = ((words[:, None] >> np.arange(32)) & 1).astype(bool).reshape(-1)
    return tuple(np.flatnonzero(bits[32 * a : 32 * b]) for a, b in itertools.pairwise(ends)), left_set


def _categories(tail: str) -> tuple[tuple[str, ...], ...] | None:
    """The categories of pandas columns, from the last line of the text."""
    _, found, line = tail.rpartition("\npandas_categorical:")
    if not found:
        return None
    try:
        lists = json.loads(line)
    except (ValueError, RecursionError):
        refuse("the last line is cut off")
    if lists is None:
        return ()
    if not isinstance(lists, list):
        refuse("the last line is no list of categories")
    return tuple(map(dumps.category_texts, lists))
