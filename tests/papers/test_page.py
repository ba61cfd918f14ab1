# SPDX-License-Identifier: Apache-2.0
"""The page of results: well formed, complete and from nowhere else."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from shoal.papers.experiment import Published, all_experiments
from shoal.papers.figure import agreement_svg, figure_svg, ticks
from shoal.papers.grids import grids, signed
from shoal.papers.judge import Beside
from shoal.papers.markdown import page_markdown
from shoal.papers.page import page_html, write_page
from shoal.papers.registry import Point, Points
from shoal.papers.runner import Done
from shoal.papers.store import Kept
from shoal.papers.told import Told, by_paper, counts, cpu_seconds, told_versions, unkept, unmeasured

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
    assert [cell.text for cell in grid.rows[2]][2:] == ["difference", "−2.00", "−2.00", "−2.00", "−2.00"]
    assert [cell.off for cell in grid.rows[2]][3:] == [True] * 4
    assert "| **−2.00** |" in grid.markdown()


def test_a_table_of_many_places_is_turned():
    experiment = all_experiments()["dmpd-fig12"]
    points = Points([Point("best", x, 80.0 - x, "top 5 public") for x in range(11)])
    (grid,) = grids(experiment, points)
    assert grid.header == ("top 5 public", "best")
    assert [cell.text for cell in grid.rows[10]] == ["10", "70.00"]


def test_in_a_list_of_facts_whole_numbers_have_no_decimals():
    experiment = all_experiments()["vldb08-sect6"]
    points = Points([Point(own.series, own.x, own.value, own.panel) for own in experiment.published])
    lines = {row[0].text: [cell.text for cell in row[1:]] for grid in grids(experiment, points) for row in grid.rows}
    assert lines["training rows"] == ["30,162", "30,162", "0"]
    assert lines["confidence at the root, %"] == ["75.100", "75.100", "0.000"]


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
    assert html.count("<table class='numbers'>") == html.count("<div class='scroll'><table class='numbers'>")
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
    assert lines["DMPD"][0] == "17 of 17"
    # half a point is within all tolerances but those of examples worked by hand; minutes have none
    assert lines["DMPD"][2] == "300 of 378"
    assert lines["Tian et al."][2] == "6 of 69"
    assert lines["Beyond"][2] == ""


def test_what_is_not_measured_is_said(tmp_path):
    experiment = all_experiments()["dmpd-fig11"]
    write_page(tmp_path / "papers.html", [Done(experiment, None, False, 80, 3, 1.0, ())])
    assert "Not measured: 3 of 80 units are there." in (tmp_path / "papers.html").read_text()


def kept(key, seconds, numpy="2.0"):
    return Kept(key, None, seconds, {"numpy": numpy}, "")


def test_what_experiments_share_counts_once(done):
    shared, one, two = kept("a", 10.0), kept("b", 1.0), kept("c", 2.0, "1.9")
    told = [Told.of(replace(done[0], kept=(shared, one))), Told.of(replace(done[1], kept=(shared, two)))]
    assert cpu_seconds(told) == 13.0
    code = "3 of 3 units were measured when Shoal's code was not yet what it is now"
    assert told_versions(told) == ["numpy 2.0 (2 units)", "numpy 1.9 (1 units)", code]


def test_what_was_not_measured_is_counted_by_itself():
    experiment = all_experiments()["vldb08-table6"]
    own = [each for each in experiment.published if each.series != "anonymous DT"]
    points = Points([Point(each.series, each.x, each.value) for each in own], experiment.published)
    told = [Told.of(Done(experiment, points, False, 1, 1, 1.0, ()))]
    assert counts(told) == (0, 0, 8, 8)
    assert unmeasured(told) == (2, 4)
    assert "; 2 more not measured" in page_html(told)
    assert "Not measured: 2 more claims and 4 more numbers." in page_markdown(told, "pictures")


def test_what_does_not_hold_is_counted_by_how_much_of_it_does(done):
    table = next(each for each in done if each.experiment.id == "dmpd-table1")
    printed = Points([Point(own.series, own.x, own.value, own.panel) for own in table.experiment.published])
    assert unkept([Told.of(replace(table, points=printed))]) == (
        "1 depend, 0 do not hold; 1 of these 1 do not by their paper's own numbers either"
    )
    assert unkept([]) == "0 depend, 0 do not hold"


def test_a_quick_run_is_said_to_be_one_everywhere(done):
    experiment = all_experiments()["beyond-nursery"]
    quick = [Told.of(each) for each in done if each.experiment == experiment]
    whole = [Told.of(replace(each.done, quick=False)) for each in quick]
    marks = len(experiment.claims) + 1  # its claims, and its head
    assert page_html(quick).count("quick run</span>") + page_html(quick).count("quick run)</span>") == marks
    assert page_markdown(quick, "pictures").count("quick run)") == marks
    assert "1 of 1 experiments are of a quick run" in page_markdown(quick, "pictures")
    for page in (page_html(whole), page_markdown(whole, "pictures")):
        assert "quick run" not in page
        assert "Beyond, Nursery" in page  # of which table a claim is that no paper makes


def test_what_is_far_off_is_told_without_colour():
    near, far = (Beside(Published("a", x, 50.0, "Table 1", 1.0), ours) for x, ours in ((1, 50.0), (2, 60.0)))
    shapes = [re.sub("[0-9.,]+|#......|#fff", "", svg) for svg in map(agreement_svg, ([near] * 10, [far] * 10))]
    assert shapes[0].count("<circle") == shapes[1].count("<polygon") == 10


def test_a_difference_has_no_sign_that_means_nothing():
    assert [signed(gap, 2) for gap in (-0.001, 0.0, 0.001, -0.01, 0.25)] == ["0.00", "0.00", "0.00", "−0.01", "+0.25"]


def test_markdown_keeps_lists_apart_and_cells_together(done):
    told = [Told.of(each) for each in done if each.experiment.id == "vldb08-fig6"]
    claim = replace(told[0].judged[0].claim, says="a | b")
    told = [replace(told[0], judged=(replace(told[0].judged[0], claim=claim),))]
    markdown = page_markdown(told, "pictures")
    assert "| a \\| b |" in markdown
    for head in ("Claims:", "Notes:", "How it was measured:"):
        assert f"\n\n{head}\n\n- " in markdown
    assert "VLDB'08, Fig. 6: test error (%) by k." in markdown


def test_only_numbers_with_a_tolerance_are_counted():
    experiment = all_experiments()["dmpd-tests"]
    points = Points([Point(own.series, own.x, own.value, own.panel) for own in experiment.published], ())
    told = Told.of(Done(experiment, points, False, 1, 1, 1.0, ()))
    assert counts([told])[2:] == (0, 0)
    assert isinstance(experiment.published[0], Published)


def test_ticks_are_round_and_inside():
    assert ticks(0, 100) == [0, 20, 40, 60, 80, 100]
    assert ticks(-0.3, 0.25) == [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2]
