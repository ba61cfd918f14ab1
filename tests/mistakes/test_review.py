# SPDX-License-Identifier: Apache-2.0
"""What a sceptical reading of the first version found; each was once wrong."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from shoal import (
    AnonymousTreeClassifier,
    Closeness,
    DataError,
    ReleaseError,
    attack,
    audit,
    load,
    load_sample,
    to_table,
)
from shoal.audit.attack import possible_pairs
from shoal.release import Attribute, Branch, Interval, Node, TreeRelease
from shoal.release.parse import parse_tree

CANARY = "zqx-canary"


def people(n=200):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "z": np.where(np.arange(n) < 3, "b", "a"),
            "inc": np.where(np.arange(n) < n // 2, 150.0, 20.0),
            "t": rng.choice(["n", "y"], n),
        }
    )


def tree(bounds, integer=False, cut=100.0):
    """Private income first, then public z for the rich: three of them have z = b."""
    frame = people()
    attributes = (
        Attribute("z", "public", "categorical", values=("a", "b")),
        Attribute("inc", "private", "numeric", bounds=bounds, integer=integer),
        Attribute("t", "private", "categorical", values=("n", "y")),
    )
    nodes = (
        Node("inc", (Branch(1, intervals=(Interval(None, cut),)), Branch(2, intervals=(Interval(cut, None),)))),
        Node(counts=(0, 0)),
        Node("z", (Branch(3, ("a",)), Branch(4, ("b",)))),
        Node(counts=(0, 0)),
        Node(counts=(0, 0)),
    )
    release = TreeRelease("t", attributes, ({"requirement": "k-anonymity", "k": 50},), nodes)
    ends = release.apply(frame)
    counts = [tuple(int(((ends == i) & (frame["t"] == c)).sum()) for c in "ny") for i in range(5)]
    nodes = tuple(Node(counts=c) if node.is_leaf else node for node, c in zip(nodes, counts, strict=True))
    return replace(release, nodes=nodes)


def test_bounds_that_the_rows_deny_do_not_hide_a_group():
    assert audit(tree((0, 1000)), people()).smallest_group == 3
    lying = audit(tree((0, 50)), people())  # says nobody is rich, so z would never be asked
    assert not lying.holds
    assert "outside-domain" in {finding.code for finding in lying.findings}
    whole = people()
    whole["inc"] = 5.5
    assert not audit(tree((0, 10), integer=True, cut=5.2), whole).holds


def test_rows_without_a_branch_are_not_lost():
    release = tree((0, 1000))
    first = replace(
        release.nodes[0], branches=(Branch(1, intervals=(Interval(0.0, 100.0),)), release.nodes[0].branches[1])
    )
    partial = replace(release, nodes=(first, *release.nodes[1:]))
    frame = people()
    frame.loc[5, "inc"] = -7.0
    with pytest.raises(DataError, match="no branch"):
        audit(partial, frame)
    with pytest.raises(DataError, match="no branch"):
        attack(partial, frame, public=["z", "inc"])


def test_an_audit_of_a_weaker_attacker_does_not_open_the_door(tmp_path):
    fitted = AnonymousTreeClassifier(privacy=5).fit(load_sample().table.select(["age", "sex", "diabetes"]), "diabetes")
    bold = replace(fitted.release_, claims=({"requirement": "k-anonymity", "k": 300},), verdict=None)
    weak = audit(bold, load_sample().table, public=[])
    assert weak.holds
    with pytest.raises(ReleaseError, match="another attacker"):
        bold.with_audit(weak)


def test_claims_changed_after_the_audit_are_noticed(tmp_path):
    fitted = AnonymousTreeClassifier(privacy=5).fit(load_sample().table.select(["age", "diabetes"]), "diabetes")
    fitted.release_.claims[0]["k"] = 100_000
    with pytest.raises(ReleaseError, match="changed after its audit"):
        fitted.release_.save(tmp_path / "t.json")


def test_a_files_own_word_is_not_an_audit(tmp_path):
    fitted = AnonymousTreeClassifier(privacy=5).fit(load_sample().table.select(["age", "diabetes"]), "diabetes")
    fitted.release_.save(tmp_path / "t.json")
    body = json.loads((tmp_path / "t.json").read_text())
    body["claims"][0]["k"] = 100_000
    body["audit"]["sha256"] = parse_tree({k: v for k, v in body.items() if k != "audit"}).sha256
    (tmp_path / "forged.json").write_text(json.dumps(body))
    with pytest.raises(ReleaseError, match="file's own word"):
        load(tmp_path / "forged.json").save(tmp_path / "again.json")
    assert not (tmp_path / "again.json").exists()


def test_a_dictionary_of_other_rows_changes_no_closeness():
    """Ordered closeness counts the values between two; unused ones of a longer table are not there."""
    rng = np.random.default_rng(1)
    n = 600
    table = to_table(
        {
            "sex": rng.choice(["f", "m"], n).tolist(),
            "pay": np.concatenate([rng.integers(0, 5, n - 50), rng.integers(50, 99, 50)]).tolist(),
            "t": rng.choice(["n", "y"], n).tolist(),
        }
    )
    first = np.arange(n) < n - 50
    taken = table.take(first)
    compact = to_table({name: taken[name].values[taken[name].codes] for name in ["pay"]})
    assert taken["pay"].n_codes > compact["pay"].n_codes
    fitted = AnonymousTreeClassifier(privacy=2, public=["sex"], sensitive=["pay"], domain={"pay": [0, 100]})
    release = fitted.fit(taken, "t").release_
    fresh = to_table(
        {
            "sex": [taken["sex"].names[c] for c in taken["sex"].codes],
            "pay": taken["pay"].numbers[taken["pay"].codes].tolist(),
            "t": [taken["t"].names[c] for c in taken["t"].codes],
        }
    )
    for t in (0.01, 0.02, 0.05, 0.1):
        asked = Closeness(t, "ordered")
        assert audit(release, taken, privacy=asked).holds == audit(release, fresh, privacy=asked).holds


def test_without_a_k_private_extremes_still_have_people_behind_them():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 300), "pay": rng.lognormal(8, 1, 300)})
    frame["t"] = np.where(frame["pay"] > 3000, "y", "n")
    release = AnonymousTreeClassifier(privacy=Closeness(0.9), public=["sex"]).fit(frame, "t").release_
    low, high = release.attribute("pay").bounds
    assert min((frame["pay"] <= low).sum(), (frame["pay"] >= high).sum()) >= 10


def test_columns_the_tree_does_not_ask_for_are_not_listed():
    frame = people()
    frame["name"] = [f"{CANARY} {i}" for i in range(len(frame))]
    release = AnonymousTreeClassifier(privacy=50).fit(frame, "t").release_
    assert CANARY not in json.dumps(release.to_json())


@pytest.mark.parametrize("y", [pd.Series([0, 1] * 19 + [0, CANARY], dtype=object), [*[0, 1] * 19, 0, CANARY]])
def test_a_target_of_mixed_types_shows_no_cell(y):
    frame = pd.DataFrame({"x": range(40)})
    try:
        AnonymousTreeClassifier(privacy=2).fit(frame, y)
    except ValueError as refusal:
        assert CANARY not in str(refusal)


@pytest.mark.parametrize("X", [np.array([CANARY, "x"] * 20), [CANARY, "x"], CANARY])
def test_rows_of_the_wrong_shape_show_no_cell(X):
    with pytest.raises(DataError) as refusal:
        AnonymousTreeClassifier(privacy=2).fit(X, ["a", "b"] * 20)
    assert CANARY not in str(refusal.value)


def test_a_target_that_is_also_a_feature_is_refused():
    frame = people()
    with pytest.raises(DataError, match="X has a column 't' too"):
        AnonymousTreeClassifier(privacy=5).fit(frame, frame["t"])


def test_a_number_for_every_row_is_no_class():
    frame = people()
    with pytest.raises(ValueError, match="Unknown label type"):
        AnonymousTreeClassifier(privacy=5).fit(frame[["z"]], pd.Series(np.random.default_rng(0).random(len(frame))))


def test_names_and_positions_meet_at_predict():
    frame = people()
    named = AnonymousTreeClassifier(privacy=5).fit(frame[["inc"]], frame["t"])
    with pytest.warns(UserWarning, match="feature names"):
        assert (named.predict(frame[["inc"]].to_numpy()) == named.predict(frame)).all()
    bare = AnonymousTreeClassifier(privacy=5).fit(frame[["inc"]].to_numpy(), frame["t"])
    assert (bare.predict(frame[["inc"]]) == named.predict(frame)).all()


def test_the_target_may_be_called_otherwise_at_the_audit():
    frame = people()
    fitted = AnonymousTreeClassifier(privacy=5).fit(frame[["inc"]], frame["t"].to_numpy())
    assert audit(fitted, frame[["inc", "t"]].rename(columns={"t": "income class"}), "income class").holds


def test_classes_are_in_order_whatever_the_domain_says():
    frame = people()
    fitted = AnonymousTreeClassifier(privacy=5, domain={"t": ["y", "n"]}).fit(frame[["inc", "t"]], "t")
    assert fitted.classes_.tolist() == ["n", "y"]
    assert (fitted.classes_[fitted.predict_proba(frame).argmax(axis=1)] == fitted.predict(frame)).mean() > 0.9


def test_a_category_seen_only_later_need_not_end_a_cross_validation():
    frame = people()
    lenient = AnonymousTreeClassifier(privacy=2, unknown="ancestor").fit(frame.iloc[10:][["z", "inc"]], frame["t"][10:])
    assert len(lenient.predict(frame)) == len(frame)


def test_hostile_counts_do_not_overflow():
    release = tree((0, 1000))
    body = release.to_json()
    for node in body["nodes"]:
        if "counts" in node:
            node["counts"] = {"n": 2**53, "y": 2**53}
    with pytest.raises(ReleaseError, match="more people than any table"):
        parse_tree(body)


@pytest.mark.parametrize("values", [["1", "01"], ["nan", "1"], ["1e999", "1"]])
def test_labels_that_are_one_number_are_refused(values):
    body = tree((0, 1000)).to_json()
    body["attributes"][-1].update(values=values, labels="number")
    for node in body["nodes"]:
        if "counts" in node:
            node["counts"] = {values[0]: 1}
    with pytest.raises(ReleaseError, match="labels"):
        parse_tree(body)


def test_the_audit_says_what_the_attacker_knows():
    assert "an attacker knows: z\n" in str(audit(tree((0, 1000)), people())) + "\n"


def test_what_counts_force_is_certain():
    """Two groups of ten; ten good in a leaf only the first can reach, ten bad in the leaf both can."""
    pairs = possible_pairs(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([10, 10]), np.array([10, 10]))
    assert pairs.tolist() == [True, False, True]


@pytest.mark.parametrize("seed", range(30))
def test_possible_pairs_equal_enumeration(seed):
    """Against all placings of a few people in a few bins."""
    rng = np.random.default_rng(seed)
    n_groups, n_bins = rng.integers(1, 4, 2)
    allowed = rng.random((n_groups, n_bins)) < 0.7
    allowed[np.arange(n_groups), rng.integers(0, n_bins, n_groups)] = True
    home = [int(rng.choice(np.flatnonzero(allowed[g]))) for g in range(n_groups) for _ in range(rng.integers(1, 4))]
    of_group = np.repeat(np.arange(n_groups), [3] * n_groups)[: len(home)]
    of_group = np.sort(of_group)
    home = [h if allowed[g, h] else int(np.flatnonzero(allowed[g])[0]) for g, h in zip(of_group, home, strict=True)]
    sizes = np.bincount(of_group, minlength=n_groups)
    counts = np.bincount(home, minlength=n_bins)
    groups, bins = np.nonzero(allowed)
    expected = set()

    def place(g, left, chosen):
        if g == n_groups:
            if not any(left):
                expected.update(chosen)
            return
        options = np.flatnonzero(allowed[g])

        def spread(i, people, left, chosen):
            if i == len(options):
                if not people:
                    place(g + 1, left, chosen)
                return
            for here in range(min(people, left[options[i]]) + 1):
                rest = list(left)
                rest[options[i]] -= here
                spread(i + 1, people - here, rest, chosen | ({(g, int(options[i]))} if here else set()))

        spread(0, int(sizes[g]), left, chosen)

    place(0, counts.tolist(), frozenset())
    found = {
        (int(g), int(b)) for g, b, p in zip(groups, bins, possible_pairs(groups, bins, sizes, counts), strict=True) if p
    }
    assert found == expected
