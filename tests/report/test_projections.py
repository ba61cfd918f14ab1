# SPDX-License-Identifier: Apache-2.0
"""The page of an audit of projections says what PartAL is, and what it is not."""

from __future__ import annotations

import html
import re

import pandas as pd
import pytest

from shoal import audit
from shoal.partition.publish import publish_projections
from shoal.privacy import NOT_K_ANONYMITY
from shoal.report import report_html

K = 5
ROWS = [("v1", "v2", "a")] + [("v1", "w2", "b")] * K + [("w1", "v2", "a")] * (K - 1) + [("w1", "v2", "c")] * K
ROWS += [("w1", "w2", each) for each in "abc" for _ in range(K)]
PEOPLE = pd.DataFrame(ROWS, columns=["first", "second", "ill"])


@pytest.fixture(scope="module")
def release():
    return publish_projections(PEOPLE, "ill", [["first"], ["second"]], privacy=K)


def text_of(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", page)).replace("\N{NO-BREAK SPACE}", " ")


def test_the_page_tells_the_levels_and_what_all_projections_tell_together(release):
    page = text_of(report_html(release, audit(release, PEOPLE)))
    assert "Audit of 2 projections" in page
    assert NOT_K_ANONYMITY in page
    assert re.search(r"PAL\s+6", page)
    assert re.search(r"SAL\s+5", page)
    assert re.search(r"PartAL\s+5", page)
    assert "knows 'ill' of 1 of 30 people for certain" in page
    assert "PartAL holds" in page
    assert "The promise holds" not in page
    assert "with every row of every projection" in page
    assert "is a number" not in page  # the target is none


def test_a_breach_is_told(release):
    page = text_of(report_html(release, audit(release, PEOPLE, privacy=5)))
    assert "Breach" in page
    assert "The auditor asked for this instead of what the release itself claims (partal with k = 5)" in page


def test_the_page_is_the_same_for_the_same_input(release):
    verdict = audit(release, PEOPLE)
    assert report_html(release, verdict) == report_html(release, verdict)
