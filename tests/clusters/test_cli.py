# SPDX-License-Identifier: Apache-2.0
"""``shoal clusters``."""

import json

from shoal import load, load_sample
from shoal.cli import run


def test_clusters_are_written_and_their_audit_holds(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    load_sample().to_arrow().to_pandas()[["age", "sex", "bmi"]].to_csv("people.csv", index=False)
    arguments = ["clusters", "people.csv", "--public", "age,sex", "-k", "50", "-n", "3"]
    assert run([*arguments, "-o", "clusters.json"]) == 0
    assert "the nearest centroid decides" in capsys.readouterr().out
    assert len(load("clusters.json")) > 1
    assert run(["audit", "clusters.json", "people.csv"]) == 0
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["release"]["clusters"] == json.loads((tmp_path / "clusters.json").read_text())["clusters"]
    assert told["audit"]["holds"]


def test_hierarchies_come_from_the_project_and_predict_tells_clusters(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    jobs = ["dentist", "nurse", "baker", "cook"]
    rows = [f"{20 + i % 5 + 30 * (i % 4 > 1)},{jobs[i % 4]},id{i}" for i in range(200)]
    (tmp_path / "people.csv").write_text("\n".join(["age,job,name", *rows]), encoding="utf-8")
    (tmp_path / "jobs.csv").write_text(
        "dentist;health;*\nnurse;health;*\nbaker;food;*\ncook;food;*\n", encoding="utf-8"
    )
    (tmp_path / "shoal.toml").write_text(
        '[data]\nsource = "people.csv"\n[roles]\nidentifier = ["name"]\npublic = ["age"]\nprivate = ["job"]\n'
        '[hierarchies]\njob = "jobs.csv"\nage = {intervals = [5]}\nname = {prefix = [2]}\n[privacy]\nk = 20\n',
        encoding="utf-8",
    )
    assert run(["clusters", "-o", "clusters.json"]) == 0
    release = load("clusters.json")
    assert release.encoding.scales["job"].levels == (("health", "health", "food", "food"),)
    capsys.readouterr()
    assert run(["predict", "clusters.json", "people.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    told = release.predict({"age": [int(row.split(",")[0]) for row in rows], "job": [jobs[i % 4] for i in range(200)]})
    assert lines == ["cluster", *map(str, told.tolist())]
    assert len(set(lines)) > 2
    assert run(["predict", "clusters.json", "people.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["target"] == "cluster"
    assert run(["predict", "clusters.json", "people.csv", "--proba"]) == 2


def test_no_promise_is_wrong_use(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    load_sample().to_arrow().to_pandas()[["age", "bmi"]].to_csv("people.csv", index=False)
    assert run(["clusters", "people.csv", "--public", "age"]) == 2
    assert "No promise" in capsys.readouterr().err
