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


def test_no_promise_is_wrong_use(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    load_sample().to_arrow().to_pandas()[["age", "bmi"]].to_csv("people.csv", index=False)
    assert run(["clusters", "people.csv", "--public", "age"]) == 2
    assert "No promise" in capsys.readouterr().err
