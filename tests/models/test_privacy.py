# SPDX-License-Identifier: Apache-2.0
"""What a wrapped model may hold, and what the audit makes of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from shoal import (
    AnonymousModel,
    AnonymousTreeClassifier,
    Confidence,
    KAnonymity,
    PromiseError,
    RequirementError,
    RoleError,
    audit,
    load_sample,
)
from shoal.data.discretize import safe_bounds
from shoal.data.domain import clip
from shoal.data.table import Column
from shoal.models.coarse import coarse, in_classes
from shoal.release.model_file import dump_model

PUBLIC = ["age", "sex", "education"]


@pytest.fixture(scope="module")
def people():
    return load_sample().table.select([*PUBLIC, "smoker", "bmi", "diabetes"]).take(np.arange(1500))


KEEPERS = [
    KNeighborsClassifier(),
    SVC(),
    GaussianProcessClassifier(),
    make_pipeline(Nystroem(n_components=20), LogisticRegression()),
    BaggingClassifier(KNeighborsClassifier()),
    VotingClassifier([("a", LogisticRegression()), ("b", SVC())]),
    GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [3, 5]}),
    CalibratedClassifierCV(SVC()),
    KNeighborsRegressor(),
    SVR(),
    KernelRidge(),
    # one prediction for each person it was fitted on
    RandomForestClassifier(20, oob_score=True, random_state=0),
]


@pytest.mark.parametrize("keeper", KEEPERS, ids=lambda keeper: type(keeper).__name__)
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
def test_a_model_that_keeps_rows_is_refused_with_private_columns(keeper, people):
    target = "bmi" if type(keeper).__name__ in ("KNeighborsRegressor", "SVR", "KernelRidge") else "diabetes"
    with pytest.raises(PromiseError) as refused:
        AnonymousModel(keeper, privacy=100, public=PUBLIC).fit(people, target)
    assert refused.value.code == "stores-rows"


@pytest.mark.parametrize("keeper", [KNeighborsClassifier(), SVC(), KNeighborsRegressor(1)])
def test_without_private_columns_it_is_welcome(keeper, people):
    target = "bmi" if isinstance(keeper, KNeighborsRegressor) else "diabetes"
    model = AnonymousModel(keeper, privacy=100).fit(people.select([*PUBLIC, target]), target)
    assert model.release_.file is None
    assert model.release_.verdict.holds


FREE = [
    LinearSVC(),
    HistGradientBoostingClassifier(max_iter=5),
    LogisticRegression(),
    GradientBoostingClassifier(n_estimators=5),
    make_pipeline(PCA(3), RandomForestClassifier(3)),
    BaggingClassifier(DecisionTreeClassifier(max_depth=3), max_features=0.5, n_estimators=3),
    StackingClassifier([("a", DecisionTreeClassifier(max_depth=3))], RandomForestClassifier(3)),
    CalibratedClassifierCV(LinearSVC(), cv=3),
    GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3),
    MLPClassifier((4,), max_iter=300, tol=0.01),
]


@pytest.mark.parametrize("model", FREE, ids=lambda model: type(model).__name__)
def test_a_model_that_keeps_none_is_welcome(model, people):
    fitted = AnonymousModel(model, privacy=100, public=PUBLIC, random_state=0).fit(people, "diabetes")
    assert fitted.release_.verdict.holds
    assert set(fitted.predict(people)) <= {"no", "yes"}


def test_the_audit_finds_rows_in_somebody_elses_file(people):
    release = AnonymousModel(LogisticRegression(), privacy=100, public=PUBLIC).fit(people, "diabetes").release_
    keeper = KNeighborsClassifier(algorithm="brute")
    group = release.apply(people)
    keeper.fit(release.told.matrix(people, group), release.labels[people["diabetes"].codes])
    found = audit(replace(release, file=dump_model(keeper), verdict=None), people)
    assert not found.holds
    assert "stores-rows" in [finding.code for finding in found.findings]


def test_a_public_column_past_the_group_is_a_breach(people):
    release = AnonymousModel(LogisticRegression(), privacy=100, public=PUBLIC).fit(people, "diabetes").release_
    bent = tuple(replace(a, role="public") if a.name == "bmi" else a for a in release.groups.attributes)
    found = audit(replace(release, groups=replace(release.groups, attributes=bent), verdict=None), people)
    codes = [finding.code for finding in found.findings]
    assert not found.holds
    assert {"public-input", "requirement-fails"} <= set(codes)
    # the same for an attacker who knows more than the release says
    assert not audit(release, people, public=[*PUBLIC, "bmi"]).holds


def test_other_rows_are_noticed(people):
    release = AnonymousModel(LogisticRegression(), privacy=100, public=PUBLIC).fit(people, "diabetes").release_
    found = audit(release, people.take(np.arange(1400)))
    assert [finding.code for finding in found.findings if finding.severity == "breach"][-1] == "counts-differ"


def test_numbers_told_to_a_model_are_shared():
    rng = np.random.default_rng(0)
    values = np.sort(rng.choice(10_000, 400, replace=False)).astype(float)
    codes = rng.integers(0, 400, 3000)
    column = Column("x", "numeric", codes, values, bounds=(0.0, 1e4))
    told = coarse(column, 25)
    assert told.counts().min() >= 25
    assert len(told.values) > 80
    assert (np.diff(told.numbers) > 0).all()
    classes, cuts = in_classes(column, 25)
    assert classes.counts().min() >= 25
    assert 6 <= len(cuts) <= 9
    assert classes.n_codes == len(cuts) + 1
    few = coarse(Column("x", "numeric", np.array([0, 1]), np.array([3.0, 4.0]), bounds=(0.0, 10.0)), 5)
    assert few.numbers.tolist() == [5.0]


def test_no_number_in_a_file_is_one_persons(people):
    # a leaf of a full-grown tree with one person in it holds that person's number
    model = AnonymousModel(DecisionTreeRegressor(random_state=0), privacy=25, public=PUBLIC).fit(people, "bmi")
    tree = model.release_.estimator.tree_
    alone = tree.value.ravel()[(tree.children_left < 0) & (tree.n_node_samples == 1)]
    bmi = people["bmi"]
    shared = coarse(clip(bmi, *safe_bounds(bmi.numbers, bmi.counts(), 25)), 25)
    assert len(alone) > 10
    assert set(alone) <= set(shared.numbers)
    assert shared.counts().min() >= 25


def test_a_public_target_is_counted_class_by_class(people):
    model = AnonymousModel(LogisticRegression(), privacy=50, public=PUBLIC, target_role="public").fit(
        people, "diabetes"
    )
    found = audit(model, people)
    assert found.n_exempt == 0
    assert found.smallest_group >= 50
    everything = AnonymousModel(LogisticRegression(), privacy=50, target_role="public")
    everything.fit(people.select([*PUBLIC, "diabetes"]), "diabetes")
    assert audit(everything, people).smallest_group is None
    with pytest.raises(RoleError, match="regressor"):
        AnonymousModel(DecisionTreeRegressor(), target_role="public").fit(people, "bmi")


def test_diversity_of_other_columns_merges_groups(people):
    asked = KAnonymity(25) & Confidence(0.9)
    age = people["age"].numbers[people["age"].codes]
    # the old are all in one ward
    ward = ((np.arange(1500) % 2 == 0) | (age > 60)).astype(np.uint8)
    people = people.with_column(Column("ward", "categorical", ward, ("north", "south")))
    free = AnonymousModel(LogisticRegression(), privacy=asked, public=PUBLIC).fit(people, "diabetes")
    bound = AnonymousModel(LogisticRegression(), privacy=asked, public=PUBLIC, sensitive=["ward"])
    bound.fit(people, "diabetes")
    assert 1 < len(bound.release_.told.leaves) < len(free.release_.told.leaves)
    assert audit(bound, people).holds
    named = replace(free.release_.groups, sensitive=("ward",))
    assert not audit(replace(free.release_, groups=named), people).holds
    with pytest.raises(RequirementError, match="sensitive"):
        AnonymousModel(LogisticRegression(), privacy=asked, public=PUBLIC, target_role="public").fit(people, "diabetes")


def test_no_message_shows_a_private_cell(people, capsys):
    rows = load_sample().to_arrow().slice(0, 1500).select([*PUBLIC, "bmi", "diabetes"]).to_pydict()
    rows["secret"] = ["usual"] * 1499 + ["canary-7731"]
    with pytest.raises(ValueError) as refused:
        AnonymousModel(LogisticRegression(), privacy=25, public=PUBLIC).fit(rows, "diabetes")
    assert "canary" not in str(refused.value)
    rows["bmi"][7] = 77.31  # nobody else is near
    rows.pop("secret")
    model = AnonymousModel(DecisionTreeRegressor(), privacy=25).fit({n: rows[n] for n in [*PUBLIC, "bmi"]}, "bmi")
    assert "77.31" not in str(model.release_) + str(model.release_.to_json()) + repr(model)
    assert model.predict(rows).max() < 50


def test_private_columns_are_worth_having():
    clinic = load_sample()
    frame = clinic.to_arrow().to_pandas().drop(columns="patient")
    X, y = frame.drop(columns="diabetes"), frame["diabetes"]
    shared = {
        "privacy": 25,
        "public": ["age", "sex", "zip", "education", "occupation"],
        "hierarchies": clinic.hierarchies,
        "domain": {"bmi": [10, 60], "age": [18, 95], "smoker": ["current", "former", "no"]},
        "unknown": "ancestor",
    }
    model = AnonymousModel(HistGradientBoostingClassifier(max_iter=30, random_state=0), **shared)
    public = X[shared["public"]]
    groups = AnonymousTreeClassifier(
        privacy=25, hierarchies=clinic.hierarchies, domain={"age": [18, 95]}, unknown="ancestor"
    )
    assert cross_val_score(model, X, y, cv=3).mean() > cross_val_score(groups, public, y, cv=3).mean() + 0.04
