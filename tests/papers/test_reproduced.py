# SPDX-License-Identifier: Apache-2.0
"""The page of a whole run in the documentation: it is of the experiments as they are now, and explains what differs."""

import re
from pathlib import Path

from shoal.papers.experiment import all_experiments

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "reproduced.md"
VERDICT = re.compile(r"^- \*\*(holds|does not hold|depends|not measured)\*\*: (.*)$", re.MULTILINE)


def test_it_has_every_experiment_and_every_claim():
    text = PAGE.read_text(encoding="utf-8")
    told = [sentence for _, sentence in VERDICT.findall(text)]
    claims = [claim for each in all_experiments().values() for claim in each.claims]
    assert len(told) == len(claims)
    for sentence, claim in zip(told, claims, strict=True):
        assert sentence.startswith(f"{claim.says} ({claim.place})")
    for each in all_experiments().values():
        assert f"### {each.title} ({each.place})" in text  # so it is of a whole run
        for note in each.notes:
            assert f"- {note}" in text


def test_every_claim_that_does_not_hold_is_explained():
    text = PAGE.read_text(encoding="utf-8")
    found = VERDICT.findall(text)
    assert all(" Why: " in sentence for verdict, sentence in found if verdict != "holds")
    hold = sum(verdict == "holds" for verdict, _ in found)
    assert f"{hold} of {len(found)} claims hold" in text
    depend = sum(verdict == "depends" for verdict, _ in found)
    readme = " ".join((PAGE.parents[2] / "README.md").read_text(encoding="utf-8").split())
    assert f"Of {len(found)} claims {hold} hold and {depend} more" in readme


def test_its_pictures_are_there():
    text = PAGE.read_text(encoding="utf-8")
    named = re.findall(r"\]\((reproduced-pictures/[^)]+)\)", text)
    assert {PAGE.parent / name for name in named} == set((PAGE.parent / "reproduced-pictures").glob("*.svg"))
