# SPDX-License-Identifier: Apache-2.0
"""Publish, pool, generate: three commands, one file an owner."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from shoal import load, load_sample
from shoal.share import publish

from .conftest import CANARY, Shoal

TOML = """\
[roles]
identifier = ["patient"]
public = ["age", "sex"]
private = ["smoker"]
target = "diabetes"
[domain]
age = [18, 95]
sex = ["Female", "Male"]
smoker = ["current", "former", "no"]
diabetes = ["no", "yes"]
[privacy]
k = 40
"""


@pytest.fixture
def owners(folder: Path, shoal: Shoal) -> list[Path]:
    """Three owners with a file each; their rows are in folders of their own."""
    frame = load_sample().to_arrow().to_pandas()[["patient", "age", "sex", "smoker", "diabetes"]]
    (folder / "shoal.toml").write_text(TOML)
    files = []
    for i, name in enumerate(["north", "south", "west"]):
        (folder / name).mkdir()
        frame.iloc[i::3].to_csv(folder / name / "rows.csv", index=False)
        files.append(Path(name) / "owner.json")
        ran = shoal("publish", f"{name}/rows.csv", "-o", files[-1])
        assert ran.code == 0, ran
        assert "distributions of age, sex, smoker" in ran.out
        assert "holds: smallest group" in ran.out
    return files


def test_publish(shoal: Shoal, owners: list[Path]) -> None:
    release = load(owners[0])
    assert [each.name for each in release.attributes] == ["age", "sex", "smoker", "diabetes"]
    assert set(release.marginals) == {"age", "sex", "smoker"}
    assert release.attribute("smoker").role == "private"
    ran = shoal("audit", owners[0], "north/rows.csv")
    assert ran.code == 0
    assert shoal("audit", owners[0], "south/rows.csv").code == 3
    plain = shoal("publish", "north/rows.csv", "--no-marginals", "--json").json
    assert "marginals" not in plain["release"]
    assert plain["audit"]["holds"]
    assert plain["written"] == []


@pytest.mark.parametrize("method", ["atp", "ldm"])
def test_publish_in_the_papers_ways(shoal: Shoal, owners: list[Path], refuses: Callable[..., str], method: str) -> None:
    if method == "ldm":
        said = refuses("publish", "north/rows.csv", "--method", "ldm", "-o", "x.json")
        assert "such as --confidence 0.9, or simple = 2 under [privacy]" in said
    Path("shoal.toml").write_text(TOML + "simple = 1.05\n")
    ran = shoal("publish", "north/rows.csv", "--method", method, "-o", "paper.json")
    assert ran.code == 0, ran
    release = load("paper.json")
    assert {claim["requirement"] for claim in release.claims} == {"k-anonymity", "simple-l-diversity"}
    assert [each.name for each in release.attributes] == ["age", "sex", "smoker", "diabetes"]
    if method == "atp":
        assert "smoker" not in release.tested
    assert shoal("audit", "paper.json", "north/rows.csv").code == 0
    assert shoal("generate", "paper.json", "--rows", 10).code == 0


def test_publish_fails_closed(shoal: Shoal, owners: list[Path], refuses: Callable[..., str]) -> None:
    assert "table has" in refuses("publish", "north/rows.csv", "-k", 100_000, "-o", "x.json")
    assert "a single leaf" in shoal("publish", "north/rows.csv", "-k", 1_600).out
    assert "a single leaf" not in shoal("publish", "north/rows.csv").out
    rows = Path("north/rows.csv").read_text().splitlines()
    Path("strange.csv").write_text("\n".join([rows[0], f"p,30,{CANARY},no,no", *rows[1:]]))
    assert "'sex'" in refuses("publish", "strange.csv", "-o", "x.json")


@pytest.mark.parametrize("learner", ["tree", "bayes", "rules", "boosting", "bag", "vote"])
def test_pool_predict_and_audit(shoal: Shoal, owners: list[Path], learner: str) -> None:
    ran = shoal("pool", *owners, "--learn", learner, "-o", "joint.json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("'diabetes' from 3 owners, 5,000 people")
    assert "north: 1,667 people" in ran.out
    assert "needs no further check" in ran.out
    assert "A person at several owners" in ran.out
    assert ran.out.endswith("wrote joint.json\n")
    before = Path("joint.json").read_bytes()
    again = shoal("pool", *owners, "--learn", learner, "-o", "joint.json")
    assert again.out == ran.out
    assert Path("joint.json").read_bytes() == before
    ran = shoal("predict", "joint.json", "south/rows.csv", "--proba")
    assert ran.code == 0
    lines = list(csv.DictReader(ran.out.splitlines()))
    assert list(lines[0]) == ["diabetes", "diabetes=no", "diabetes=yes"]
    with Path("south/rows.csv").open() as file:
        truth = [row["diabetes"] for row in csv.DictReader(file)]
    assert np.mean([line["diabetes"] == own for line, own in zip(lines, truth, strict=True)]) > 0.75
    ran = shoal("audit", "joint.json", "north/rows.csv", "-k", 1)
    assert ran.code == 0, ran
    assert "a worst case" in ran.err
    assert shoal("audit", "joint.json", "north/rows.csv", "-k", 1668).code == 3


def test_a_joint_tree_is_audited_as_a_tree(shoal: Shoal, owners: list[Path]) -> None:
    """Fewer groups than values of the public columns, which is all that is known of a black box."""
    groups = {}
    for learner in ("tree", "bag", "boosting"):
        shoal("pool", *owners, "--learn", learner, "-o", "joint.json")
        groups[learner] = shoal("audit", "joint.json", "north/rows.csv", "-k", 1, "--json").json["groups"]
    assert groups["tree"] < groups["boosting"]
    assert groups["bag"] < groups["boosting"]


def test_pool_explains_where_owners_differ(shoal: Shoal, owners: list[Path], refuses: Callable[..., str]) -> None:
    Path("shoal.toml").write_text(TOML.replace("[18, 95]", "[0, 120]").replace('"no"]\nd', '"no", "never"]\nd'))
    assert shoal("publish", "west/rows.csv", "-o", "west/owner.json").code == 0
    said = refuses("pool", *owners, "-o", "joint.json")
    assert "'age' goes from 18 to 95 at north and south, from 0 to 120 at west" in said
    assert "'smoker' cannot be 'never' at north and south" in said
    assert said.rstrip().endswith("say --widen.")
    ran = shoal("pool", *owners, "-o", "joint.json", "--widen")
    assert ran.code == 0
    assert "differs: 'age' goes from" in ran.out
    found = shoal("pool", *owners, "--widen", "--learn", "bag", "--json").json
    assert {each["severity"] for each in found["disagreements"]} == {"differs"}
    assert found["rows"] is None
    assert found["promise"]
    assert "'smoker' in" not in shoal("generate", "joint.json").err


def test_pool_refuses(shoal: Shoal, owners: list[Path], refuses: Callable[..., str]) -> None:
    assert "named twice" in refuses("pool", owners[0], owners[0], code=2)
    assert "read by this command" in refuses("pool", *owners, "-o", owners[0])
    assert "none" in refuses("pool", "north/rows.csv", code=2)
    Path("copy.json").write_bytes(owners[0].read_bytes())
    assert "published the very same" in shoal("pool", owners[0], "copy.json", "--learn", "bag").out
    assert shoal("pool", owners[0], "--learn", "bag").out.startswith("'diabetes' from 1 owner, 1,667 people (bag)")
    assert "number of rows" in refuses("pool", *owners, "--rows", 0)
    assert "seed" in refuses("pool", *owners, "--seed", -1)
    shoal("pool", *owners, "-o", "joint.json")
    assert "'joint.json' is of kind joint" in refuses("pool", owners[0], "joint.json", code=2)
    assert "each owner repairs his own" in refuses("repair", "joint.json", "north/rows.csv", code=2)
    shoal("tree", "north/rows.csv", "--statement", "shares", "-o", "less.json")
    assert "states only shares" in refuses("pool", "less.json", owners[1])
    body = json.loads(owners[0].read_text())
    del body["audit"]
    Path("unaudited.json").write_text(json.dumps(body))
    assert "carries no audit" in refuses("pool", "unaudited.json", owners[1])
    body = json.loads(owners[0].read_text())
    body["nodes"][-1]["counts"]["no"] += 1
    del body["marginals"]
    Path("changed.json").write_text(json.dumps(body))
    assert "a changed file" in refuses("pool", "changed.json", owners[1])


def test_generate(shoal: Shoal, owners: list[Path], refuses: Callable[..., str]) -> None:
    shoal("pool", *owners, "-o", "joint.json")
    ran = shoal("generate", "joint.json", "--rows", 300, "-o", "rows.csv", "--seed", 5)
    assert ran.code == 0
    assert "Publish the model instead" in ran.out
    told = json.loads(Path("rows.csv.json").read_text())
    assert told["shoal"].startswith("pseudo-data")
    assert told["rows"] == 300
    rows = Path("rows.csv").read_bytes()
    assert rows.count(b"\n") == 301
    shoal("generate", "joint.json", "--rows", 300, "-o", "rows.csv", "--seed", 5)
    assert Path("rows.csv").read_bytes() == rows
    shoal("generate", "joint.json", "--rows", 300, "-o", "rows.csv")
    assert Path("rows.csv").read_bytes() != rows
    ran = shoal("generate", owners[0], "-o", "rows.parquet", "--json")
    assert ran.json["rows"] == 1667
    assert ran.json["written"] == ["rows.parquet"]
    table = pq.read_table("rows.parquet")
    assert table.num_rows == 1667
    assert table.schema.metadata[b"shoal"].startswith(b"pseudo-data")
    ran = shoal("generate", owners[0], "--rows", 5)
    assert ran.out.count("\n") == 6
    assert "pseudo-data" in ran.err
    assert ".csv or .parquet" in refuses("generate", "joint.json", "-o", "rows.xlsx", code=2)
    assert "-o" in refuses("generate", "joint.json", "--json", code=2)
    assert "rows must be" in refuses("generate", "joint.json", "--rows", 0)


def test_pseudo_data_is_like_the_rows(shoal: Shoal, owners: list[Path]) -> None:
    """Distributions beside the tree: ages of pseudo-rows are those of people, not of anybody between 18 and 95."""
    shoal("pool", *owners, "-o", "joint.json")
    shoal("generate", "joint.json", "-o", "rows.parquet", "--seed", 1)
    made = pq.read_table("rows.parquet").to_pandas()
    own = load_sample().to_arrow().to_pandas()
    assert len(made) == 5000
    assert made["diabetes"].value_counts().to_dict() == own["diabetes"].value_counts().to_dict()
    for share in (0.1, 0.5, 0.9):
        assert abs(made["age"].quantile(share) - own["age"].quantile(share)) <= 3
    shares = [frame["smoker"].value_counts(normalize=True) for frame in (made, own)]
    assert np.allclose(*shares, atol=0.03)


def test_rows_from_a_strangers_file_do_not_steer_a_terminal(
    shoal: Shoal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = load_sample().to_arrow().to_pandas()[["sex", "diabetes"]]
    steering = frame.assign(sex=frame["sex"].map({"Female": "\x1b[2J", "Male": "m"}))
    publish(steering, "diabetes", 50).save("stranger.json")
    assert "\x1b[2J" in shoal("generate", "stranger.json", "--rows", 50).out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    ran = shoal("generate", "stranger.json", "--rows", 50)
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert "\N{REPLACEMENT CHARACTER}[2J" in ran.out
