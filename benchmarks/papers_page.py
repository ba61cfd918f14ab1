# SPDX-License-Identifier: Apache-2.0
"""What README and documentation tell of the papers, made from a folder of results of `shoal papers run --all`.

After a change: ``--unpack --results FOLDER``; then ``shoal papers run --all --results FOLDER``, which measures what is
new, and nothing else; then ``--results FOLDER``.
"""

from __future__ import annotations

import argparse
import re
import tarfile
from io import BytesIO
from pathlib import Path

from shoal.papers.experiment import all_experiments
from shoal.papers.figure import agreement_svg
from shoal.papers.markdown import page_markdown
from shoal.papers.runner import Runs
from shoal.papers.told import Told, counts, in_short, percentages

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGE = ROOT / "docs" / "explanation" / "reproduced.md"
PACKED = ROOT / "benchmarks" / "results" / "papers.tar.xz"
PICTURES = PAGE.with_name("reproduced-pictures")
HEADING = "## The papers, reproduced\n"


def main() -> None:
    """Unpack the results of the last whole run, or make everything from a folder of results, and pack these."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unpack", action="store_true", help="put the results of the last whole run into the folder")
    parser.add_argument("--results", type=Path, required=True, help="the folder that `shoal papers run` keeps")
    options = parser.parse_args()
    if options.unpack:
        with tarfile.open(PACKED) as archive:
            archive.extractall(options.results / "units", filter="data")
        return
    runs = Runs(options.results)
    done = [runs.result(each, quick=False) for each in all_experiments().values()]
    missing = [each.experiment.id for each in done if each.points is None]
    if missing:
        raise SystemExit(f"Not measured whole: {', '.join(missing)}. Run shoal papers run --all.")
    write([Told.of(each) for each in done])
    pack(options.results / "units", sorted({kept.key for each in done for kept in each.kept}))


def write(told: list[Told]) -> None:
    """The page, its pictures and the README's table."""
    PICTURES.mkdir(exist_ok=True)
    for old in PICTURES.glob("*.svg"):
        old.unlink()
    for each in told:
        if each.figure:
            (PICTURES / f"{each.experiment.id}.svg").write_text(each.figure + "\n", encoding="utf-8")
    (PICTURES / "agreement.svg").write_text(agreement_svg(percentages(told)) + "\n", encoding="utf-8")
    PAGE.write_text(page_markdown(told, PICTURES.name), encoding="utf-8")
    README.write_text(readme(README.read_text(encoding="utf-8"), told), encoding="utf-8")


def pack(folder: Path, keys: list[str]) -> None:
    """Keep the results that all of it was made from, so that a change of one experiment measures that one only."""
    with tarfile.open(PACKED, "w:xz") as archive:
        for key in keys:
            told = (folder / f"{key}.json").read_bytes()
            entry = tarfile.TarInfo(f"{key}.json")  # nobody's name and no time: the same results, the same bytes
            entry.size = len(told)
            archive.addfile(entry, BytesIO(told))


def readme(text: str, told: list[Told]) -> str:
    """The README with a new table, and its counts of claims and numbers."""
    before, part = text.split(HEADING, 1)
    hold, claims, near, numbers = counts(told)
    depend = sum(one.outcome.verdict == "depends" for each in told for one in each.judged)
    for old, new in (
        (r"Of \d+ claims \d+ hold and \d+ more", f"Of {claims} claims {hold} hold and {depend} more"),
        (r"\d+ of \d+ published", f"{near} of {numbers} published"),
        (r"(^\|.*\n)+", in_short(told).markdown() + "\n"),
    ):
        part, found = re.subn(old, new, part, flags=re.MULTILINE)
        assert found == 1, f"README has {found} places for {old!r}"
    return before + HEADING + part


if __name__ == "__main__":
    main()
