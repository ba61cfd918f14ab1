# SPDX-License-Identifier: Apache-2.0
"""``shoal audit`` of anything: models of every library, tables and rules; what it writes; and what it refuses."""

from __future__ import annotations

import csv
import pickle
from collections.abc import Callable
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
import pytest
import skops.io as skops
import xgboost
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from shoal.cli.things import kind_of
from shoal.errors import DataError

from .conftest import CANARY, Shoal

Refuses = Callable[..., str]
FEATURES = ["age", "sex", "education", "smoker"]


@pytest.fixture
def frame(clinic: Path) -> pd.DataFrame:
    return pd.read_csv(clinic / "clinic.csv")


def fitted(frame: pd.DataFrame, model: object) -> object:
    encode = make_column_transformer((OneHotEncoder(), FEATURES[1:]), remainder="passthrough")
    return make_pipeline(encode, model).fit(frame[FEATURES], frame["diabetes"])


@pytest.fixture
def tree(clinic: Path, frame: pd.DataFrame) -> Path:
    """The working folder with a tree that scikit-learn grew."""
    skops.dump(fitted(frame, DecisionTreeClassifier(min_samples_leaf=30, random_state=0)), clinic / "tree.skops")
    return clinic


# ------------------------------------------------------------------ what is audited


def test_a_tree_of_scikit_learn(shoal: Shoal, tree: Path, frame: pd.DataFrame) -> None:
    ran = shoal("audit", "tree.skops", "-k", 10, "--report", "audit.html", "--people", "people.csv", "--json")
    assert ran.code == 3
    body = ran.json
    assert body["what"].startswith("a decision tree of")
    assert body["public"] == ["age", "sex", "zip", "education", "occupation"]
    assert {column["name"]: column["use"] for column in body["columns"]}["diabetes"] == "target"
    assert body["written"] == ["audit.html", "people.csv"]
    page = (tree / "audit.html").read_text(encoding="utf-8")
    assert "<h2>The tree</h2>" in page
    assert page.count("named in a breach") > 0
    assert shoal("audit", "tree.skops", "clinic.csv", "-k", 3).code == 0
    # only public: groups are leaves
    ran = shoal("audit", "tree.skops", "-k", 30, "--public", ",".join([*FEATURES, "zip", "occupation", "bmi"]))
    assert (ran.code, "holds: smallest group 3" in ran.out) == (0, True)


def test_the_rows_at_risk_are_numbers(shoal: Shoal, tree: Path) -> None:
    body = shoal("audit", "tree.skops", "-k", 10, "--people", "people.csv", "--json").json
    rows = list(csv.DictReader((tree / "people.csv").read_text().splitlines()))
    assert list(rows[0]) == ["row", "group", "group_size", "fails", "certain"]
    failing = [row for row in rows if row["fails"] == "true"]
    assert len(failing) == sum(part["failing_people"] for part in body["requirements"])
    assert len([row for row in rows if row["certain"] == "true"]) == body["exposed"]
    assert all(int(row["group_size"]) < 10 for row in failing)
    assert all(row["fails"] == "true" or row["certain"] == "true" for row in rows)
    assert [int(row["row"]) for row in rows] == sorted({int(row["row"]) for row in rows})
    assert 1 <= int(rows[0]["row"]) <= int(rows[-1]["row"]) <= 5000
    cells = {cell for row in rows for cell in row.values()}
    assert all(cell in ("true", "false") or cell.isdigit() for cell in cells)


def test_columns_are_ranked(shoal: Shoal, tree: Path) -> None:
    ran = shoal("audit", "tree.skops", "-k", 10, "--columns", "--report", "audit.html")
    assert "if the attacker learned one more column" in ran.out
    assert "Which columns tell" in (tree / "audit.html").read_text(encoding="utf-8")
    body = shoal("audit", "tree.skops", "-k", 10, "--columns", "--json").json["ranking"]
    assert {each["column"] for each in body["private"]} == {"smoker", "diabetes"}
    assert {each["column"] for each in body["public"]} == {"age", "sex", "education"}
    # and of a release
    assert shoal("tree", "--max-leaves", 12, "-o", "own.json").code == 0
    assert "if the attacker learned one more column" in shoal("audit", "own.json", "--columns").out


def test_forests_boosters_and_clusters(shoal: Shoal, tree: Path, frame: pd.DataFrame) -> None:
    skops.dump(fitted(frame, RandomForestClassifier(5, min_samples_leaf=50, random_state=0)), tree / "forest.skops")
    skops.dump(KMeans(3, n_init=1, random_state=0).fit(frame[["age", "bmi"]]), tree / "clusters.skops")
    forest = shoal("audit", "forest.skops", "-k", 2, "--report", "forest.html")
    assert forest.code in (0, 3)
    assert "5 trees" in (tree / "forest.html").read_text(encoding="utf-8")
    assert "worst case" in forest.out
    clusters = shoal("audit", "clusters.skops", "-k", 2, "--report", "clusters.html")
    assert clusters.code in (0, 3)
    assert clusters.err == ""


def test_models_of_lightgbm_and_xgboost(shoal: Shoal, clinic: Path, frame: pd.DataFrame) -> None:
    # LightGBM writes the ends of every column into its file: at round numbers they are nobody's own value
    X, y = frame[["age", "bmi"]].clip({"age": 0, "bmi": 20}, {"age": 99, "bmi": 40}, axis=1), frame["diabetes"] == "yes"
    options = {"objective": "binary", "verbose": -1, "num_leaves": 7}
    lightgbm.train(options, lightgbm.Dataset(X, y), 3).save_model(str(clinic / "light.txt"))
    xgboost.XGBClassifier(n_estimators=3, max_depth=3).fit(X, y).save_model(str(clinic / "boosted.json"))
    for name in ("light.txt", "boosted.json"):
        ran = shoal("audit", name, "-k", 2, "--sensitive", "bmi")
        assert ran.code == 0
        assert ran.out.startswith("holds: smallest group")


def test_a_table_that_somebody_anonymised(shoal: Shoal, clinic: Path) -> None:
    assert shoal("anonymize", "-k", 25, "-o", "anon.json").code == 0
    alone = shoal("audit", "anon.csv", "-k", 25, "--json")
    against = shoal("audit", "anon.csv", "clinic.csv", "-k", 25, "--report", "anon.html", "--json")
    assert (alone.code, against.code) == (0, 0)
    assert alone.json["smallest_group"] == against.json["smallest_group"]
    assert alone.json["measures"][0]["column"] == "diabetes"
    assert shoal("audit", "anon.csv", "-k", 1000).code == 3
    page = (clinic / "anon.html").read_text(encoding="utf-8")
    assert "Audit of a table of 5,000 rows" in page
    assert "By how sure the attacker is of diabetes" in page


def test_rules(shoal: Shoal, folder: Path) -> None:
    rng = np.random.default_rng(0)
    items = pd.DataFrame(rng.integers(0, 2, (200, 3)), columns=["milk", "bread", "pill"])
    items.to_csv(folder / "baskets.csv", index=False)
    both = int(((items["milk"] == 1) & (items["pill"] == 1)).sum())
    milk = int((items["milk"] == 1).sum())
    (folder / "rules.csv").write_text(
        f"antecedents,consequents,support,confidence\nmilk,pill,{both / 200!r},{both / milk!r}\n"
    )
    ran = shoal("audit", "rules.csv", "baskets.csv", "-k", 10, "--public", "milk,bread")
    assert ran.code == 0
    assert "an attacker knows: milk, bread" in ran.out
    assert shoal("audit", "rules.csv", "baskets.csv", "-k", 10, "--private", "pill").out == ran.out.replace(
        "milk, bread", "milk"
    )


def test_an_attack_on_a_model(shoal: Shoal, refuses: Refuses, tree: Path, frame: pd.DataFrame) -> None:
    frame[["age", "sex", "education"]].head(100).to_csv(tree / "known.csv", index=False)
    ran = shoal("attack", "tree.skops", "known.csv", "-o", "beliefs.csv", "--json")
    assert ran.code == 0
    assert ran.json["people"] == 100
    assert set(ran.json["beliefs"]) == {"diabetes"}
    assert len((tree / "beliefs.csv").read_text().splitlines()) == 101
    toml = (tree / "shoal.toml").read_text()
    (tree / "shoal.toml").write_text(toml.replace('source = "clinic.csv"', ""))
    assert "No table" in refuses("attack", "tree.skops", "known.csv", code=2)
    assert shoal("attack", "tree.skops", "known.csv", "--data", "clinic.csv").code == 0
    assert "this is a table, or rules" in refuses("attack", "clinic.csv", "known.csv", code=2)


def test_a_repaired_forest_is_used_as_any_release(
    shoal: Shoal, refuses: Refuses, clinic: Path, frame: pd.DataFrame
) -> None:
    model = RandomForestClassifier(4, max_depth=4, min_samples_leaf=60, random_state=0)
    skops.dump(fitted(frame, model), clinic / "forest.skops")
    assert shoal("repair", "forest.skops", "-k", 50, "-o", "forest.json", "--report", "forest.html").code == 0
    assert shoal("audit", "forest.json").code == 0
    assert shoal("predict", "forest.json", "clinic.csv", "-o", "new.csv").code == 0
    assert len((clinic / "new.csv").read_text().splitlines()) == 5001
    frame[["age", "sex", "education"]].head(100).to_csv(clinic / "known.csv", index=False)
    assert shoal("attack", "forest.json", "known.csv", "--json").json["people"] == 100
    assert shoal("ledger", "add", "forest.json").code == 0
    for verb in (["predict", "forest.skops", "clinic.csv"], ["ledger", "add", "forest.skops"]):
        assert "shoal repair makes one" in refuses(*verb, code=2)


def test_the_words_of_an_audit_are_few(shoal: Shoal, tree: Path, frame: pd.DataFrame) -> None:
    from sklearn.linear_model import LogisticRegression

    said = [line for line in shoal("audit", "tree.skops", "-k", 100).out.splitlines() if "A group of" in line]
    assert said
    assert all(line.count(name) <= 1 for line in said for name in ("age ", "sex ", "education "))
    skops.dump(fitted(frame, LogisticRegression(max_iter=1000)), tree / "logistic.skops")
    said = shoal("audit", "logistic.skops", "-k", 5).out.splitlines()
    # of many groups the same is said once, and of no column that the model was not given
    assert [line for line in said if "A group of 1 person" in line] == [
        "  breach: A group of 1 person: one combination of age, sex, education."
    ]
    assert not any(line.strip().startswith("diabetes:") for line in said)


# ------------------------------------------------------------------ pickles


def test_a_pickle_is_opened_only_where_it_is_trusted(refuses: Refuses, shoal: Shoal, tree: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return eval, (f"open({str(tree / 'ran')!r}, 'w').close()",)

    (tree / "evil.pkl").write_bytes(pickle.dumps(Evil()))
    assert "--trust-pickle" in refuses("audit", "evil.pkl", "clinic.csv", "-k", 5)
    assert not (tree / "ran").exists()
    model = DecisionTreeClassifier(max_depth=2)
    frame = pd.read_csv(tree / "clinic.csv")
    (tree / "tree.pkl").write_bytes(pickle.dumps(model.fit(frame[["age", "bmi"]], frame["diabetes"])))
    assert "pickle" in refuses("audit", "tree.pkl", "clinic.csv", "-k", 5)
    assert shoal("audit", "tree.pkl", "clinic.csv", "-k", 5, "--trust-pickle").code == 0


def test_the_help_says_why_a_pickle_is_dangerous(shoal: Shoal, folder: Path) -> None:
    text = " ".join(shoal("audit", "--help").out.split())
    assert "runs whatever its maker put into it" in text


# ------------------------------------------------------------------ what is refused


def test_what_has_to_be_said(refuses: Refuses, tree: Path) -> None:
    (tree / "shoal.toml").unlink()
    assert "It claims nothing itself" in refuses("audit", "tree.skops", "clinic.csv", "--target", "diabetes", code=2)
    assert "-k 10" in refuses("audit", "tree.skops", "clinic.csv", code=2)
    assert "No table" in refuses("audit", "tree.skops", "-k", 5, code=2)
    message = refuses("audit", "tree.skops", "clinic.csv", "-k", 5)
    assert "name its column with --target" in message
    assert "'diabets' (named as target). Closest: 'diabetes'" in refuses(
        "audit", "tree.skops", "clinic.csv", "-k", 5, "--target", "diabets"
    )


def test_other_columns_than_the_model_was_trained_on(refuses: Refuses, tree: Path) -> None:
    text = (tree / "clinic.csv").read_text()
    (tree / "other.csv").write_text(text.replace("smoker", "smoke", 1))
    (tree / "shoal.toml").unlink()
    given = ["-k", 5, "--target", "diabetes", "--identifier", "patient"]
    assert "'smoker', which these rows have not. Closest: 'smoke'" in refuses(
        "audit", "tree.skops", "other.csv", *given
    )
    (tree / "unseen.csv").write_text(text.replace("Bachelor", CANARY))
    assert "'education'" in refuses("audit", "tree.skops", "unseen.csv", *given)


def test_another_target_than_the_model_was_taught(refuses: Refuses, tree: Path) -> None:
    message = refuses("audit", "tree.skops", "-k", 5, "--target", "zip")
    assert "knows 2 class(es), but column 'zip' has 40 different values" in message
    text = (tree / "clinic.csv").read_text()
    (tree / "third.csv").write_text(text.replace("no\n", f"{CANARY}\n", 1))
    assert "column 'diabetes' has 3 different values" in refuses("audit", "tree.skops", "third.csv", "-k", 5)


def test_who_a_person_is_must_be_a_column(refuses: Refuses, tree: Path) -> None:
    message = refuses("audit", "tree.skops", "-k", 5, "--person", "patients")
    assert "No column 'patients' to tell people apart. Closest: 'patient'" in message


def test_other_rows_are_a_finding(shoal: Shoal, tree: Path) -> None:
    lines = (tree / "clinic.csv").read_text().splitlines(keepends=True)
    (tree / "half.csv").write_text("".join(lines[:2500]))
    ran = shoal("audit", "tree.skops", "half.csv", "-k", 2)
    assert ran.code == 3
    assert "the very rows it was trained on" in ran.out


def test_files_that_are_nothing_to_audit(refuses: Refuses, clinic: Path) -> None:
    (clinic / "empty.skops").write_bytes(b"")
    (clinic / "noise.bin").write_bytes(bytes(range(1, 200)))
    (clinic / "cut.skops").write_bytes(b"PK\x03\x04 cut off")
    (clinic / "a folder").mkdir()
    assert "There is no file 'no.skops'" in refuses("audit", "no.skops")
    assert "'a folder' is a folder" in refuses("audit", "a folder")
    assert "'empty.skops' is empty" in refuses("audit", "empty.skops")
    assert "'noise.bin'" in refuses("audit", "noise.bin")
    assert "'cut.skops'" in refuses("audit", "cut.skops")
    (clinic / "empty.csv").write_text("")
    assert "'empty.csv' is empty" in refuses("audit", "empty.csv", "-k", 5)


def test_nothing_is_written_over_what_is_read(refuses: Refuses, tree: Path) -> None:
    for option in ("--report", "--people"):
        assert "is read by this command" in refuses("audit", "tree.skops", "-k", 5, option, "tree.skops")
        assert "there is no folder" in refuses("audit", "tree.skops", "-k", 5, option, "no/x")
    assert "another output too" in refuses("audit", "tree.skops", "-k", 5, "--report", "x", "--people", "x")


def test_a_release_states_its_sensitive_columns_itself(refuses: Refuses, released: Path) -> None:
    assert "leave out --sensitive" in refuses("audit", "tree.json", "--sensitive", "smoker", code=2)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.json", b'{"format": "shoal-release/1"}', "release"),
        ("a.json", b"[1]", "release"),
        ("a.json", b'{"learner":{"a":1}}', "model"),
        ("a.txt", b"tree\nversion=v4\n", "model"),
        ("a.txt", b"age,sex\n1,f\n", "table"),
        ("a.csv", b"antecedents,consequents,support\n", "rules"),
        ("a.tsv", b"confidence\tconsequent\tantecedent\n", "rules"),
        ("a.csv.gz", b"\x1f\x8b", "table"),
        ("a.parquet", b"PAR1", "table"),
        ("a.skops", b"PK\x03\x04", "model"),
        ("model", b"tree\n", "model"),
        ("a.ubj", b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner", "model"),
    ],
)
def test_a_file_is_known_by_how_it_begins(folder: Path, name: str, content: bytes, kind: str) -> None:
    (folder / name).write_bytes(content)
    assert kind_of(folder / name) == kind


def test_no_private_cell_is_shown_or_written(shoal: Shoal, clinic: Path, frame: pd.DataFrame) -> None:
    frame.loc[3, "smoker"] = CANARY
    frame.to_csv(clinic / "clinic.csv", index=False)
    (clinic / "shoal.toml").write_text(
        (clinic / "shoal.toml").read_text().replace('smoker = ["current", "former", "no"]', "")
    )
    model = fitted(frame, DecisionTreeClassifier(random_state=0))
    skops.dump(model, clinic / "tree.skops")
    ran = shoal(
        "audit", "tree.skops", "-k", 5, "--report", "a.html", "--people", "p.csv", "--columns", "--sensitive", "smoker"
    )
    assert ran.code == 3
    assert CANARY not in ran.out + ran.err
    for name in ("a.html", "p.csv"):
        assert CANARY not in (clinic / name).read_text(encoding="utf-8")


def test_kind_of_names_what_is_not_there(folder: Path) -> None:
    with pytest.raises(DataError) as refusal:
        kind_of(folder / "no")
    assert refusal.value.code == "no-file"


def test_original_rows_must_have_the_columns_of_the_table(refuses: Refuses, clinic: Path) -> None:
    (clinic / "published.csv").write_text("age,sex,diabetes\n20-29,*,no\n20-29,*,yes\n")
    (clinic / "rows.csv").write_text("age,sex\n20,Male\n21,Female\n")
    given = ["--public", "age,sex", "--sensitive", "diabetes", "-k", 2]
    message = refuses("audit", "published.csv", "rows.csv", *given)
    assert "The original rows in 'rows.csv' have no column 'diabetes'" in message
