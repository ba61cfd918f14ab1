# SPDX-License-Identifier: Apache-2.0
"""``--plot``: a picture for use in house beside what leaves."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd
import pytest
import skops.io
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from shoal import load_sample

from .conftest import Shoal

MINE = ["clusters", "people.csv", "--public", "age,sex", "-k", "50", "-n", "3"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    load_sample().to_arrow().to_pandas()[["age", "sex", "bmi"]].head(900).to_csv("people.csv", index=False)
    return tmp_path


def test_clusters_are_drawn_and_the_release_is_the_same(shoal: Shoal, here: Path) -> None:
    plain = shoal(*MINE, "-o", "plain.json")
    drawn = shoal(*MINE, "-o", "drawn.json", "--plot", "rows.png")
    assert (plain.code, drawn.code) == (0, 0)
    assert (here / "plain.json").read_bytes() == (here / "drawn.json").read_bytes()
    assert (here / "rows.png").read_bytes().startswith(b"\x89PNG")
    assert "rows.png shows single rows with their private values: keep it in house." in drawn.err
    assert "wrote rows.png" in drawn.out


def test_an_audit_marks_groups_and_the_same_picture_is_the_same_bytes(shoal: Shoal, here: Path) -> None:
    assert shoal(*MINE, "-o", "clusters.json").code == 0
    pictures = []
    for _ in range(2):
        ran = shoal("audit", "clusters.json", "people.csv", "-k", "890", "--plot", "rows.svg", "--json")
        assert ran.code == 3
        told = json.loads(ran.out)
        assert told["written"] == ["rows.svg"]
        pictures.append((here / "rows.svg").read_text(encoding="utf-8"))
    assert pictures[0] == pictures[1]
    assert "<svg" in pictures[0]


def test_the_clustering_of_somebody_else_is_drawn(shoal: Shoal, here: Path) -> None:
    rows = pd.read_csv("people.csv")
    encode = make_column_transformer((StandardScaler(), ["age", "bmi"]), (OneHotEncoder(), ["sex"]))
    model = make_pipeline(encode, KMeans(4, n_init=1, random_state=0)).fit(rows)
    (here / "model.skops").write_bytes(skops.io.dumps(model))
    rows.assign(name=[f"p{i}" for i in range(len(rows))]).to_csv("people.csv", index=False)
    ran = shoal(
        *(
            "audit",
            "model.skops",
            "people.csv",
            "-k",
            "200",
            "--public",
            "age",
            "--person",
            "name",
            "--plot",
            "rows.png",
        )
    )
    assert ran.code == 3, ran.err
    assert (here / "rows.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([*MINE, "--plot", "rows.gif"], 2, ".png, .svg, .pdf"),
        ([*MINE, "--plot", "people.csv"], 1, "is read by this command"),
        (["audit", "tree.json", "people.csv", "--plot", "rows.png"], 1, "nearest centroid"),
    ],
)
def test_what_cannot_be_drawn_is_refused_first(
    shoal: Shoal, here: Path, arguments: list[str], code: int, said: str
) -> None:
    assert shoal("tree", "people.csv", "--target", "sex", "-k", "50", "-o", "tree.json").code == 0
    ran = shoal(*arguments)
    assert (ran.code, said in ran.err) == (code, True), ran.err
    assert not (here / "rows.png").exists()


def test_without_matplotlib_nothing_is_done(shoal: Shoal, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ran = shoal(*MINE, "-o", "clusters.json", "--plot", "rows.png")
    assert ran.code == 1
    assert "pip install shoal[plots]" in ran.err
    assert not (here / "clusters.json").exists()
