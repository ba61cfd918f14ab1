# SPDX-License-Identifier: Apache-2.0
"""The page of results: well formed, complete and from nowhere else."""

import re
from xml.etree import ElementTree

import pytest

from shoal.papers.experiment import Published, all_experiments
from shoal.papers.figure import figure_svg, ticks
from shoal.papers.grids import grids
from shoal.papers.page import write_page
from shoal.papers.registry import Point, Points
from shoal.papers.runner import Done
from shoal.papers.told import Told, by_paper, counts

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def done():
    """Every experiment as if we measured what was published, half a point more."""
    found = []
    for each in all_experiments().values():
        points = [Point(own.series, own.x, own.value + 0.5, own.panel) for own in each.published]
        points += [Point("<other>", x, 1.0, "extra & more") for x in range(12)]
        found.append(Done(each, Points(points, each.published), True, 3, 3, 61.0, ()))
    return found


def test_every_figure_is_well_formed_and_has_what_was_published(done):
    for each in done:
        svg = figure_svg(each.experiment, each.points)
        if not each.experiment.plot.table:
            root = ElementTree.fromstring(svg)
            titles = [node.text for node in root.iter(f"{SVG}title")]
            assert "<other>" in titles
            shown = "".join(node.text or "" for node in root.iter(f"{SVG}text"))
            drawn = any(len(each.points.of(own.series, own.panel)) > 1 for own in each.experiment.published)
            assert ("as published" in shown) == drawn


def test_tables_have_ours_the_paper_s_and_the_difference():
    experiment = all_experiments()["dmpd-table5"]
    points = Points([Point(own.series, own.x, own.value - 2, own.panel) for own in experiment.published])
    (grid,) = grids(experiment, points)
    assert grid.header == ("", "k", "", "10", "20", "30", "50")
    assert [cell.text for cell in grid.rows[0]] == ["top 5, C4.5", "DMPD", "ours", "72.13", "69.30", "65.56", "68.50"]
    assert [cell.text for cell in grid.rows[1]][3:] == ["74.13", "71.30", "67.56", "70.50"]
    assert [cell.text for cell in grid.rows[2]][2:] == ["difference", "-2.00", "-2.00", "-2.00", "-2.00"]
    assert [cell.off for cell in grid.rows[2]][3:] == [True] * 4
    assert "| **-2.00** |" in grid.markdown()


def test_a_table_of_many_places_is_turned():
    experiment = all_experiments()["dmpd-fig12"]
    points = Points([Point("best", x, 80.0 - x, "top 5 public") for x in range(11)])
    (grid,) = grids(experiment, points)
    assert grid.header == ("top 5 public", "best")
    assert [cell.text for cell in grid.rows[10]] == ["10", "70.00"]


def test_numbers_that_were_not_measured_are_told_as_published():
    experiment = all_experiments()["vldb08-table6"]
    lines = [[cell.text for cell in row] for grid in grids(experiment, Points([])) for row in grid.rows]
    assert any("paper" in line and "5,198" in line for line in lines)


def test_the_page_needs_nothing_from_outside_and_escapes(done, tmp_path):
    written = write_page(tmp_path / "papers.html", done)
    assert all(path.exists() for path in written)
    html = (tmp_path / "papers.html").read_text()
    assert "<script" not in html
    assert not re.search(r"""(src|href)=['"]?(http|//|file)""", html)
    assert "<other>" not in html
    assert "&lt;other&gt;" in html
    for each in done:
        assert f"id='{each.experiment.id}'" in html
        for claim in each.experiment.claims:
            assert html.count(claim.says.split("'")[0].replace("<", "&lt;")) >= 2  # in its table and at its experiment
    markdown = (tmp_path / "papers.md").read_text()
    pictures = re.findall(r"\]\((.+?\.svg)\)", markdown)
    assert pictures
    assert all((tmp_path / picture).exists() for picture in pictures)


def test_papers_are_counted_by_themselves(done):
    grid = by_paper([Told.of(each) for each in done])
    lines = {row[0].text: [cell.text for cell in row[1:]] for row in grid.rows}
    assert lines["DMPD"][0] == "9 of 9"
    assert lines["DMPD"][2] == "300 of 300"  # half a point is within all tolerances; minutes have none
    assert lines["Tian et al."][2] == "6 of 6"
    assert lines["Beyond"][2] == ""


def test_what_is_not_measured_is_said(tmp_path):
    experiment = all_experiments()["dmpd-fig11"]
    write_page(tmp_path / "papers.html", [Done(experiment, None, False, 80, 3, 1.0, ())])
    assert "Not measured: 3 of 80 units are there." in (tmp_path / "papers.html").read_text()


def test_only_numbers_with_a_tolerance_are_counted():
    experiment = all_experiments()["dmpd-tests"]
    points = Points([Point(own.series, own.x, own.value, own.panel) for own in experiment.published], ())
    told = Told.of(Done(experiment, points, False, 1, 1, 1.0, ()))
    assert counts([told])[2:] == (0, 0)
    assert isinstance(experiment.published[0], Published)


def test_ticks_are_round_and_inside():
    assert ticks(0, 100) == [0, 20, 40, 60, 80, 100]
    assert ticks(-0.3, 0.25) == [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2]
