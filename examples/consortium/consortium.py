# SPDX-License-Identifier: Apache-2.0
"""Five clinics, five processes, one model: `python consortium.py FOLDER`."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from pathlib import Path

from shoal.data import write_sample

HERE = Path(__file__).parent
CLINICS = ("north", "south", "east", "west", "centre")
NEW = 1_000  # patients whom no clinic has
SHOAL = [sys.executable, "-c", "from shoal.cli import main; main()"]  # the command `shoal` of this very Python


def main(folder: Path) -> None:
    """Set up the clinics, let each publish, and learn from what they published."""
    rows = sample(folder)
    new, rest = rows[:NEW], rows[NEW:]
    for i, clinic in enumerate(CLINICS):
        (folder / clinic).mkdir()
        shutil.copy(HERE / "agreement.toml", folder / clinic / "shoal.toml")
        write(folder / clinic / "patients.csv", rest[i :: len(CLINICS)])

    # each clinic in a process of its own, in its own folder
    running = [start(folder / clinic, "publish", "-o", f"{clinic}.json") for clinic in CLINICS]
    for clinic, process in zip(CLINICS, running, strict=True):
        print(f"{clinic}: {next(line for line in said(process).splitlines() if line.startswith('holds'))}")

    # the published files are all that leaves
    shared = folder / "shared"
    shared.mkdir()
    files = [f"{clinic}.json" for clinic in CLINICS]
    for clinic, file in zip(CLINICS, files, strict=True):
        shutil.copy(folder / clinic / file, shared)
    write(shared / "new-patients.csv", new)
    print(said(start(shared, "pool", *files, "--learn", "bag", "-o", "joint.json")))
    making = start(shared, "generate", "joint.json", "--rows", "1000", "-o", "pseudo.csv")
    models = (files[0], "joint.json")
    running = [start(shared, "predict", model, "new-patients.csv") for model in models]
    print(said(making))
    for model, process in zip(models, running, strict=True):
        predicted = csv.DictReader(said(process).splitlines())
        right = sum(one["diabetes"] == other["diabetes"] for one, other in zip(predicted, new, strict=True))
        print(f"{model}: right on {right / len(new):.1%} of {len(new):,} new patients")


def sample(folder: Path) -> list[dict[str, str]]:
    """Invented patients."""
    write_sample(folder / "invented")
    with (folder / "invented" / "clinic.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: list[dict[str, str]]) -> None:
    """Rows as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Begin a command of Shoal in a folder."""
    return subprocess.Popen([*SHOAL, *arguments], cwd=folder, stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> str:
    """What a command prints, once it is through; where it fails, it has said why."""
    printed, _ = process.communicate()
    if process.returncode:
        sys.exit(process.returncode)
    return printed


if __name__ == "__main__":
    if len(sys.argv) != 2 or Path(sys.argv[1]).exists():
        sys.exit("Name a folder that is not there yet: python consortium.py work")
    work = Path(sys.argv[1])
    work.mkdir()
    main(work)
