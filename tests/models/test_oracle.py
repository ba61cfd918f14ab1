# SPDX-License-Identifier: Apache-2.0
"""What the wrapper promises, by brute force on tiny tables."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from helpers import oracle
from helpers.strategies import Case, cases
from shoal import AnonymousModel, Confidence, KAnonymity, PromiseError, audit

INSIDE = [DecisionTreeClassifier(random_state=0), LogisticRegression()]


def fitted(case: Case, estimator: object, privacy: object) -> AnonymousModel:
    model = AnonymousModel(
        estimator,
        privacy=privacy,
        public=list(case.roles.public),
        target_role=case.roles.target_role,
        domain=case.domain,
        hierarchies=case.hierarchies,
    )
    try:
        return model.fit(case.table, "t")
    except PromiseError:
        assume(False)
        raise


def told(case: Case, row: dict) -> tuple:
    return tuple(row[name] for name in case.roles.private)


@settings(max_examples=60)
@given(case=cases(), k=st.integers(2, 4), inside=st.sampled_from(INSIDE))
def test_a_model_is_a_function_of_groups_and_private_values(case, k, inside):
    model = fitted(case, inside, k)
    body = model.release_.to_json()["groups"]
    leaves = [oracle.model(body, row)[0] for row in case.rows]
    shares = model.predict_proba(case.table)
    answers: dict[tuple, tuple] = {}
    for leaf, row, own in zip(leaves, case.rows, shares.tolist(), strict=True):
        assert answers.setdefault((leaf, told(case, row)), tuple(own)) == tuple(own)


@settings(max_examples=40)
@given(case=cases(), k=st.integers(2, 4), data=st.data())
def test_other_public_values_of_the_same_group_change_nothing(case, k, data):
    model = fitted(case, INSIDE[0], k)
    body = model.release_.to_json()["groups"]
    leaves = [oracle.model(body, row)[0] for row in case.rows]
    rows = []
    for leaf, row in zip(leaves, case.rows, strict=True):
        others = [other for at, other in zip(leaves, case.rows, strict=True) if at == leaf]
        other = data.draw(st.sampled_from(others))
        rows.append({**row, **{name: other[name] for name in case.roles.public}})
    changed = Case(rows, case.roles, case.domain, case.hierarchies)
    before, after = (model.release_.predict_proba(each.table) for each in (case, changed))
    np.testing.assert_array_equal(before, after)


@settings(max_examples=60)
@given(case=cases(), k=st.integers(2, 4))
def test_the_audit_counts_leaves(case, k):
    model = fitted(case, INSIDE[0], k)
    body = model.release_.to_json()["groups"]
    known = case.roles.target_role == "public"
    groups = Counter((oracle.model(body, row)[0], row["t"] if known else None) for row in case.rows)
    found = audit(model, case.table)
    assert found.group_sizes.tolist() == sorted(groups.values())
    exempt = known and not case.roles.private
    assert found.n_exempt == (len(groups) if exempt else 0)
    assert found.holds
    if not exempt:
        assert found.smallest_group == min(groups.values()) >= k


@settings(max_examples=40)
@given(case=cases(), data=st.data())
def test_knowing_an_input_splits_groups_by_it(case, data):
    assume(case.roles.private)
    model = fitted(case, INSIDE[0], 2)
    body = model.release_.to_json()["groups"]
    name = data.draw(st.sampled_from(case.roles.private))
    known = case.public | {name}
    groups = Counter((oracle.model(body, row)[0], row[name], row["t"] if "t" in known else None) for row in case.rows)
    assert audit(model, case.table, public=sorted(known)).group_sizes.tolist() == sorted(groups.values())


@settings(max_examples=40)
@given(case=cases())
def test_other_sensitive_columns_keep_the_requirement_in_every_leaf(case):
    plain = [name for name in case.roles.private if all(row[name] is not None for row in case.rows)]
    assume(plain)
    name = plain[0]
    model = AnonymousModel(
        INSIDE[0],
        privacy=KAnonymity(2) & Confidence(0.75),
        public=list(case.roles.public),
        target_role=case.roles.target_role,
        sensitive=[name],
        domain=case.domain,
        hierarchies=case.hierarchies,
    )
    try:
        model.fit(case.table, "t")
    except PromiseError:
        assume(False)
    body = model.release_.to_json()["groups"]
    known = case.roles.target_role == "public"
    keys = [(oracle.model(body, row)[0], row["t"] if known else None) for row in case.rows]
    sizes, values = Counter(keys), Counter((key, row[name]) for key, row in zip(keys, case.rows, strict=True))
    assert all(4 * n <= 3 * sizes[key] for (key, _), n in values.items())


@settings(max_examples=40)
@given(case=cases(private=False), numbers=st.lists(st.integers(0, 30), min_size=16, max_size=16))
def test_a_regressor_answers_by_group(case, numbers):
    y = np.array(numbers[: len(case.rows)], dtype=float)
    runs = np.sort(y)
    assume(len(y) >= 4 and runs[1] < runs[-2])
    features = case.table.drop(["t"])
    domain = {name: values for name, values in case.domain.items() if name != "t"}
    model = AnonymousModel(DecisionTreeRegressor(random_state=0), privacy=2, domain=domain)
    try:
        model.fit(features, y)
    except ValueError as error:
        assume(getattr(error, "code", "") == "one-class" and False)
        raise
    group = model.release_.apply(features)
    assert np.bincount(group).min() >= 2
    answers = model.predict(features)
    for number in np.unique(group):
        assert len(set(answers[group == number])) == 1
    low, high = runs[1], runs[-2]  # beyond these fewer than k people are
    assert low <= answers.min()
    assert answers.max() <= high
    assert audit(model, features, y).holds
