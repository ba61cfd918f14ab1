# SPDX-License-Identifier: Apache-2.0
"""Mondrian by worked examples, its edges, and what it refuses."""

import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from shoal import audit, load
from shoal.anonymize import Mondrian
from shoal.errors import DataError, RequirementError
from shoal.evaluate import measure_table
from shoal.privacy import DistinctDiversity

# checks we do not pass, each with its reason


@parametrize_with_checks(
    [  # texts cannot be subtracted, as some checks do
        Mondrian(privacy=3, numbers="midpoints", reproducible=True),
        Mondrian(privacy=3, numbers="midpoints", criterion="gain", reproducible=True),
    ],
)
@pytest.mark.filterwarnings("default")  # some checks warn on purpose
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture
def patients():
    """Fig. 1 of the paper, with sex in front: the first of equally wide columns is cut."""
    return pd.DataFrame(
        {
            "sex": ["Male", "Female", "Male", "Male", "Female", "Male"],
            "age": [25, 25, 26, 27, 27, 28],
            "zip": [53711, 53712, 53711, 53710, 53712, 53711],
            "disease": ["Flu", "Hepatitis", "Bronchitis", "Broken arm", "AIDS", "Hang nail"],
        }
    )


def test_the_patients_of_the_paper_get_its_multidimensional_classes(patients):
    """Fig. 3: men of 25-26 in 53711, men of 27-28 in 53710-53711, women of 25-27 in 53712; all of 2."""
    out = Mondrian(2, public=["sex", "age", "zip"]).fit_transform(patients, "disease")
    assert out["sex"].tolist() == patients["sex"].tolist()
    assert out["age"].tolist() == ["<=26", "*", "<=26", ">=27", "*", ">=27"]
    # of the two others the zip is not told: one man each stands behind 53710 and 53711
    assert out["zip"].tolist() == ["53711", ">=53712", "53711", "*", ">=53712", "*"]


def test_a_region_is_narrowed_only_to_numbers_that_k_people_share():
    table = pd.DataFrame({"sex": list("mmmmffff"), "gain": [0, 0, 0, 0, 0, 0, 7, 9], "who": [1, 1, 2, 3, 4, 5, 6, 7]})
    out = Mondrian(4, public=["sex", "gain"]).fit_transform(table.drop(columns="who"))
    assert out["gain"].tolist() == ["<=3"] * 4 + ["*"] * 4  # nobody shares 9, and below 0 there is nothing
    out = Mondrian(3, person="who").fit_transform(table)
    assert out["gain"].tolist() == ["<=3"] * 4 + ["*"] * 4
    out = Mondrian(4, hierarchies={"gain": {"cuts": [[2, 8]]}}).fit_transform(table.drop(columns="who"))
    assert out["gain"].tolist() == ["<=2"] * 4 + ["*"] * 4


def test_by_hand_with_a_column_that_is_wider():
    """Ages are 4 of 4 wide and rooms 3 of 6: the age is cut first, between 2 and 3, then each side by its rooms."""
    table = pd.DataFrame({"age": [0, 1, 2, 3, 4, 4], "rooms": [1, 4, 2, 1, 3, 4]})
    out = Mondrian(1, domain={"rooms": [0, 6]}, public=["age", "rooms"]).fit_transform(table)
    assert len(out.drop_duplicates()) == 6
    out = Mondrian(3, domain={"rooms": [0, 6]}).fit_transform(table)
    assert out["age"].tolist() == ["<=2"] * 3 + [">=3"] * 3
    assert set(out["rooms"]) == {"*"}


def test_the_cut_is_nearest_to_the_median_and_round():
    table = pd.DataFrame({"x": [1.0, 1, 1, 1, 1, 2.7, 16.2, 23.9]})
    assert Mondrian(2).fit_transform(table)["x"].tolist() == ["<=2"] * 5 + [">2"] * 3
    assert Mondrian(1).fit_transform(table)["x"].tolist() == ["<=2"] * 5 + ["(2, 10]", "(10, 20]", ">20"]


def test_missing_numbers_go_with_the_highest_until_they_are_parted():
    table = pd.DataFrame({"x": [1, 2, 3, None, None]})
    assert Mondrian(2).fit_transform(table)["x"].tolist() == ["<=2", "<=2", *[">=3 or (missing)"] * 3]
    assert Mondrian(1).fit_transform(table)["x"].fillna("").tolist() == ["<=1", "2", ">=3", "", ""]


def test_a_hierarchy_of_numbers_says_where_they_may_be_cut():
    table = pd.DataFrame({"age": [12, 17, 21, 29, 33, 38, 44, 90]})
    found = Mondrian(2, hierarchies={"age": {"intervals": [10, 20]}}).fit_transform(table)["age"]
    assert found.tolist() == ["<=19", "<=19", "20-29", "20-29", "30-39", "30-39", ">=40", ">=40"]
    found = Mondrian(2, hierarchies={"age": {"cuts": [[50]]}}).fit_transform(table)["age"]
    assert set(found) == {"*"}


def test_hierarchies_that_are_made_are_said():
    table = pd.DataFrame({"age": [1, 2, 3, 4], "town": list("abab"), "sex": list("fmfm"), "ill": list("nnyy")})
    mondrian = Mondrian(2, hierarchies={"sex": {"*": ["f", "m"]}}).fit(table, "ill")
    assert mondrian.made_hierarchies_ == {"age": "cut at any round number", "town": "each value, or *"}


def test_gain_cuts_where_the_classes_part():
    table = pd.DataFrame(
        {"wide": [70, 10, 20, 30, 40, 50, 60, 0], "x": [1, 1, 2, 2, 2, 2, 2, 2], "ill": list("yynnnnnn")}
    )
    assert Mondrian(2, criterion="gain").fit_transform(table, "ill")["x"].tolist()[:3] == ["<=1", "<=1", ">=2"]
    assert Mondrian(4).fit_transform(table, "ill")["wide"].tolist() == [">=36", *["<=35"] * 3, *[">=36"] * 3, "<=35"]


def test_a_node_with_all_people_in_one_child_is_narrowed():
    tree = {"*": {"north": ["A", "B"], "south": ["C", "D"]}}
    table = pd.DataFrame({"town": ["A", "A", "B"]})
    found = Mondrian(2, hierarchies={"town": tree}).fit_transform(table)["town"]
    assert set(found) == {"north"}


def test_new_rows_are_recoded_by_region_also_where_nobody_was(tmp_path):
    tree = {"*": {"north": ["A", "B"], "south": ["C", "D"]}}
    table = pd.DataFrame({"town": ["A", "A", "B", "B"], "age": [20] * 4, "ill": list("ynyn")})
    mondrian = Mondrian(2, hierarchies={"town": tree}, reproducible=True).fit(table, "ill")
    new = mondrian.transform(pd.DataFrame({"town": ["A", "B", "C"], "age": [99, -1, 20]}))
    assert new["town"].tolist() == ["A", "B", "south"]
    mondrian.release_.save(tmp_path / "t.json")
    assert audit(load(tmp_path / "t.json"), table).holds
    with pytest.raises(DataError, match="does not know"):
        mondrian.transform(pd.DataFrame({"town": ["E"], "age": [20]}))
    table["age"] = [20, 30, 20, 30]
    with pytest.raises(DataError, match="'age' has value"):
        Mondrian(1).fit(table, "ill").transform(pd.DataFrame({"town": ["A"], "age": [None]}).astype({"age": float}))
    with pytest.raises(DataError, match="is categorical here but was numeric"):
        Mondrian(1).fit(table, "ill").transform(pd.DataFrame({"town": ["A"], "age": ["x"]}))


def test_relaxed_recodings_offer_the_nearest_class():
    table = pd.DataFrame({"x": [1, 2, 2, 2, 2, 3], "ill": list("ynynyn")})
    mondrian = Mondrian(3, relaxed=True)
    out = mondrian.fit_transform(table, "ill")
    assert sorted(out["x"]) == ["<=2"] * 3 + [">=2"] * 3
    with pytest.raises(DataError, match="nearest_class"):
        mondrian.transform(table[["x"]])
    assert mondrian.nearest_class(pd.DataFrame({"x": [0, 9]}))["x"].tolist() == ["<=2", ">=2"]


def test_ties_are_dealt_out_by_a_fixed_shuffle_not_by_the_order_of_rows():
    """In a file that is sorted by class, the first half at the median must not be one class."""
    table = pd.DataFrame({"x": [1] + [2] * 200 + [3], "ill": ["y"] * 101 + ["n"] * 101})
    out = Mondrian(50, relaxed=True).fit_transform(table, "ill")
    shares = out.groupby("x")["ill"].apply(lambda ill: (ill == "y").mean())
    assert shares.between(0.3, 0.7).all()
    assert out.equals(Mondrian(50, relaxed=True).fit_transform(table, "ill"))


def test_requirements_about_values_find_a_cut_beside_the_median():
    table = pd.DataFrame({"x": [1, 2, 3, 4, 5, 6], "ill": list("ynnnny")})
    # at the median each side has both; without the first person, only a cut beyond it would do
    assert Mondrian(DistinctDiversity(2)).fit_transform(table, "ill")["x"].nunique() == 2
    out = Mondrian(DistinctDiversity(2)).fit_transform(table.assign(ill=list("nnnyny")), "ill")
    assert out["x"].tolist() == ["<=4"] * 4 + [">=5"] * 2


def test_bad_options_are_one_sentence():
    table = pd.DataFrame({"x": [1, 2, 3, 4], "ill": list("ynyn")})
    with pytest.raises(RequirementError, match="criterion must be 'width' or 'gain'"):
        Mondrian(2, criterion="best").fit(table, "ill")
    with pytest.raises(RequirementError, match="cannot be chosen by gain"):
        Mondrian(2, criterion="gain", relaxed=True).fit(table, "ill")
    with pytest.raises(RequirementError, match="relaxed regions overlap"):
        Mondrian(2, relaxed=True, person="who").fit(table.assign(who=[1, 1, 2, 3]), "ill")
    with pytest.raises(DataError, match="the target y is None"):
        Mondrian(2, criterion="gain").fit(table)
    assert clone(Mondrian(7, relaxed=True)).get_params()["relaxed"]


def test_one_column_of_one_value_is_hidden():
    release = Mondrian(2).fit(pd.DataFrame({"x": [5, 5, 5], "town": list("aaa")})).release_
    assert [release.is_hidden(name) for name in release.public] == [True, True]


COLUMNS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]


@pytest.mark.parametrize(("k", "options"), [(10, {}), (100, {}), (10, {"relaxed": True}), (100, {"criterion": "gain"})])
def test_adult(shoal_data, k, options):
    from shoal.papers.adult import Adult

    table = Adult.read(shoal_data).train.select([*COLUMNS, "income"])
    folder = shoal_data / "hierarchies" / "arx"
    hierarchies = {name: folder / f"adult_hierarchy_{name}.csv" for name in COLUMNS if name != "age"}
    release = Mondrian(k, hierarchies=hierarchies, reproducible=True, **options).fit(table, "income").release_
    sizes = pd.Series(release.groups).value_counts()
    assert sizes.min() >= k
    assert release.n_rows == 30_162
    measured = measure_table(release)
    assert measured.average_class_size < 1.8
    assert measured.lm < (0.31 if k == 10 and not options.get("criterion") else 0.62)
