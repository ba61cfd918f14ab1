# SPDX-License-Identifier: Apache-2.0
"""What README and documentation tell of the papers, made from a folder of results of `shoal papers run --all`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from shoal.papers.experiment import all_experiments
from shoal.papers.figure import agreement_svg
from shoal.papers.markdown import page_markdown
from shoal.papers.runner import Runs
from shoal.papers.told import Told, counts, in_short, percentages

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGE = ROOT / "docs" / "explanation" / "reproduced.md"
PICTURES = PAGE.with_name("reproduced-pictures")
HEADING = "## The papers, reproduced\n"


def main() -> None:
    """Read results, and write the page, its pictures and the README's table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, required=True, help="the folder that `shoal papers run` kept")
    runs = Runs(parser.parse_args().results)
    told = [Told.of(runs.result(each, quick=False)) for each in all_experiments().values()]
    missing = [each.experiment.id for each in told if each.done.points is None]
    if missing:
        raise SystemExit(f"Not measured whole: {', '.join(missing)}. Run shoal papers run --all.")
    PICTURES.mkdir(exist_ok=True)
    for old in PICTURES.glob("*.svg"):
        old.unlink()
    for each in told:
        if each.figure:
            (PICTURES / f"{each.experiment.id}.svg").write_text(each.figure + "\n", encoding="utf-8")
    (PICTURES / "agreement.svg").write_text(agreement_svg(percentages(told)) + "\n", encoding="utf-8")
    PAGE.write_text(page_markdown(told, PICTURES.name), encoding="utf-8")
    README.write_text(readme(README.read_text(encoding="utf-8"), told), encoding="utf-8")


def readme(text: str, told: list[Told]) -> str:
    """The README with a new table, and its counts of claims and numbers."""
    before, part = text.split(HEADING, 1)
    hold, claims, near, numbers = counts(told)
    part = re.sub(r"Of \d+ claims \d+ hold", f"Of {claims} claims {hold} hold", part)
    depend = sum(one.outcome.verdict == "depends" for each in told for one in each.judged)
    part = re.sub(r"and \d+ more", f"and {depend} more", part, count=1)
    part = re.sub(r"\d+ of \d+ published", f"{near} of {numbers} published", part)
    part = re.sub(r"(^\|.*\n)+", in_short(told).markdown() + "\n", part, count=1, flags=re.MULTILINE)
    return before + HEADING + part


if __name__ == "__main__":
    main()
