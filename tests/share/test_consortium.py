# SPDX-License-Identifier: Apache-2.0
"""The example runs as it stands: five owners, five processes, five folders."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import shoal

EXAMPLE = Path(__file__).parents[2] / "examples" / "consortium" / "consortium.py"


def test_five_clinics_learn_one_model(tmp_path):
    where = os.pathsep.join([str(Path(shoal.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, EXAMPLE, "work"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": where, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert len(re.findall(r"^\w+: holds: smallest group \d+", ran.stdout, re.MULTILINE)) == 5
    assert "'diabetes' from 5 owners, 4,000 people (bag)" in ran.stdout
    right = [float(share) for share in re.findall(r"json: right on ([0-9.]+)%", ran.stdout)]
    alone, joint = right
    assert joint > alone
    shared = tmp_path / "work" / "shared"
    assert len(json.loads((shared / "joint.json").read_text(encoding="utf-8"))["owners"]) == 5
    assert "pseudo-data" in (shared / "pseudo.csv.json").read_text(encoding="utf-8")
    # no patient's row went along
    assert not list(shared.glob("patients*"))
