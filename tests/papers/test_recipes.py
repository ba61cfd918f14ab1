# SPDX-License-Identifier: Apache-2.0
"""Recipes on made results: what becomes of what was measured."""

import ast
import importlib
import inspect

import numpy as np
import pytest

from shoal.papers import dmpd_published
from shoal.papers.dmpd_data import read_study
from shoal.papers.dmpd_tables import Measured as Tables
from shoal.papers.dmpd_tables import ranks
from shoal.papers.experiment import all_experiments
from shoal.papers.recipes import partitioning
from shoal.papers.recipes.partitioning_search import P_VALUE, PartitioningSettings, expand
from shoal.papers.recipes.partitioning_seconds import PartitioningSeconds, partition, refine, specialize
from shoal.papers.recipes.sharing import Sharing, SharingPrivate
from shoal.papers.registry import Measured, Points, get_recipe


@pytest.fixture(scope="module")
def measured():
    """German and Adult, five repetitions, with accuracies drawn by chance."""
    generator = np.random.default_rng(0)
    found = []
    for repetition in range(5):
        for table, levels in (("german", (10, 20, 30, 50)), ("adult", (50, 100, 200, 500))):
            for top in (5, 7, 9):
                lines = []
                for half in range(2):
                    for method, shift in (("dmpd", 0.03), ("tds", 0.0), ("tdr", 0.01)):
                        ks = levels if method != "dmpd" else (1, *levels)
                        for k in ks:
                            accuracy = 0.7 + shift + 0.01 * generator.random() + (0.1 if k == 1 else 0)
                            lines.append({"half": half, "method": method, "k": k, "accuracy": accuracy})
                    lines.append({"half": half, "method": "baseline", "accuracy": 0.72})
                options = {"table": table, "top": top, "learner": "c45", "repetition": repetition, "variant": "own"}
                found.append(Measured(options, lines, 1.0))
    return found


def test_table_1_has_the_baseline_and_every_level(measured):
    own = [each for each in measured if (each.options["table"], each.options["top"]) == ("german", 9)]
    points = Points(partitioning.Partitioning().points({"show": "levels"}, own))
    assert points.panels() == ["German, C4.5"]
    values = points.of("DMPD", "German, C4.5")
    assert list(values) == ["baseline", 1, 10, 20, 30, 50]
    assert values["baseline"] == pytest.approx(72)
    assert 83 <= values[1] <= 84


def test_tables_3_to_6_have_two_methods(measured):
    own = [each for each in measured if each.options["table"] == "german"]
    points = Points(partitioning.Partitioning().points({"show": "beside", "rival": "tdr"}, own))
    assert points.series() == ["DMPD", "TDR"]
    assert points.panels() == ["top 5, C4.5", "top 7, C4.5", "top 9, C4.5"]
    assert set(points.of("TDR", "top 7, C4.5")) == {10, 20, 30, 50}


def test_tests_are_those_of_the_other_program(measured):
    """`dmpd_tables.ranks` counts cases in its own way."""
    points = Points(partitioning.Partitioning().points({"show": "tests"}, measured))
    cells = {cell: own / 100 for cell, own in partitioning.gather(measured).items()}
    n, friedman, dunn = ranks(Tables(cells))
    panel = "over all cases"
    assert points.of("cases", panel) == {"all": n} == {"all": 24}
    assert points.of("Friedman's adjusted F", panel)["all"] == pytest.approx(friedman.statistic)
    assert points.of("Bonferroni–Dunn z of DMPD", panel) == pytest.approx({"TDS": dunn.z[1], "TDR": dunn.z[2]})
    # every difference is three times the noise or more
    assert points.of("DMPD better", partitioning.TEST) == {f"Table {n}": 12 for n in (3, 4, 5, 6)}
    assert set(points.of("rival better", partitioning.TEST).values()) == {0}
    assert points.of("k = 1 better than a level", partitioning.TEST) == {"Table 1": 8}


def test_fewer_repetitions_have_no_f_test(measured):
    own = [each for each in measured if each.options["repetition"] == 0]
    points = Points(partitioning.Partitioning().points({"show": "tests"}, own))
    assert points.panels() == ["over all cases"]


def test_published_numbers_are_those_of_the_pages():
    table = all_experiments()["dmpd-table1"]
    found = {(each.panel, each.x): each.value for each in table.published}
    for (name, learner), printed in dmpd_published.TABLE_1.items():
        panel = f"{partitioning.NAMES[name]}, {partitioning.LEARNERS[learner]}"
        for x, value in zip(("baseline", 1, *dmpd_published.LEVELS[name]), printed, strict=True):
            assert found.pop((panel, x)) == value
    assert not found
    for number, name, rival in ((3, "adult", "tds"), (4, "adult", "tdr"), (5, "german", "tds"), (6, "german", "tdr")):
        own = {
            (each.panel, each.series, each.x): each.value for each in all_experiments()[f"dmpd-table{number}"].published
        }
        for (other, learner, top), methods in dmpd_published.TABLES_3_TO_6.items():
            for method in ("dmpd", rival) if other == name else ():
                panel = f"top {top}, {partitioning.LEARNERS[learner]}"
                values = [own.pop((panel, method.upper(), x)) for x in dmpd_published.LEVELS[name]]
                assert tuple(values) == methods[method]
        assert not own


def test_settings_of_the_search_are_tested_against_the_usual_one():
    generator = np.random.default_rng(1)
    own = [
        Measured({"table": "german", "repetition": r, "population": 50, "generations": g}, [a, a], 1.0)
        for g in (50, 100)
        for r, a in enumerate(0.7 + 0.01 * generator.random(5) + (0.1 if g == 50 else 0))
    ]
    points = Points(PartitioningSettings().points({}, own))
    assert points.panels() == ["German", P_VALUE]
    assert points.of("German, population 50", P_VALUE)[50] < 0.001
    assert Points(PartitioningSettings().points({}, own[:2])).panels() == ["German"]


def test_an_expanded_table_has_its_rows_and_values_of_its_domains(shoal_data):
    rows = read_study(shoal_data, "german").rows
    more = expand(rows, 3, seed=0)
    assert more.n_rows == 3 * rows.n_rows
    for name, column in rows.items():
        assert (more[name].codes[: rows.n_rows] == column.codes).all()
        assert more[name].codes.max() < len(column.values)


def test_sharing_averages_over_folds_and_shows_pooled_rows_everywhere():
    lines = [
        [
            {"method": "basis", "learner": "tree", "owners": 0, "accuracy": a},
            {"method": "pgen", "learner": "tree", "owners": 2, "accuracy": a - 0.1, "path_match": 0.5},
            {"method": "pgen", "learner": "bayes", "owners": 2, "accuracy": 0.1},
        ]
        for a in (0.8, 0.9)
    ]
    own = [Measured({"table": "car", "fold": n}, each, 1.0) for n, each in enumerate(lines)]
    shows = {"owners": [1, 2], "learners": ["tree"], "methods": ["basis", "pgen"]}
    shows |= {"panels": ["table"], "series": ["method"]}
    points = Points(Sharing().points({"measure": "accuracy", **shows}, own))
    assert points.of("BASIS", "Car") == pytest.approx({1: 85, 2: 85})
    assert points.of("PGEN", "Car") == pytest.approx({2: 75})
    assert len(Points(Sharing().points({"measure": "path_match", **shows}, own))) == 1


def line(method, accuracy):
    return {"method": method, "learner": "tree", "accuracy": accuracy, "cm": 0.2}


def test_sharing_under_a_requirement_tells_leads_and_what_cannot_be_kept():
    asked = {"table": "nursery", "owners": 1}
    own = [
        Measured({**asked, "diversity": [15, 2]}, [line("atp", 0.6), line("ldm", 0.5)], 1.0),
        Measured({**asked, "diversity": [15, 3]}, [line("atp", 0.5), {"method": "ldm", "why": "no"}], 1.0),
    ]
    shows = {"owners": [1], "shows": [["accuracy", "tree"]], "leads": True, "releases": True}
    points = Points(SharingPrivate().points(shows, own))
    assert points.of("ATP", "Nursery, (c, l)") == pytest.approx({"(15, 2)": 60, "(15, 3)": 50})
    assert points.of("ATP over LDM", "mean lead, points") == pytest.approx({"Nursery, (c, l)": 10})
    kept = "Nursery, (c, l): runs with a release, %"
    assert points.of("LDM", kept) == {"(15, 2)": 100, "(15, 3)": 0}
    assert points.of("ATP", kept) == {"(15, 2)": 100, "(15, 3)": 100}


def test_one_owner_and_ten_are_told_apart_where_both_are_asked_for():
    own = [
        Measured({"table": "adult", "owners": n, "diversity": [10, 2]}, [line(method, value)], 1.0)
        for n, values in {1: (0.6, 0.5), 10: (0.5, 0.2)}.items()
        for method, value in zip(("atp", "ldm"), values, strict=True)
    ]
    shows = {"owners": [1, 10], "shows": [["accuracy", "tree"]], "leads": True, "releases": False}
    points = Points(SharingPrivate().points(shows, own))
    assert points.panels() == ["Adult, (c, l)", "mean lead, points"]
    assert points.of("LDM, ten owners", "Adult, (c, l)") == pytest.approx({"(10, 2)": 20})
    leads = {name: points.of(f"ATP over LDM, {name}", "mean lead, points") for name in ("one owner", "ten owners")}
    assert leads["one owner"] == pytest.approx({"Adult, (c, l)": 10})
    assert leads["ten owners"] == pytest.approx({"Adult, (c, l)": 30})


@pytest.mark.parametrize("quick", [False, True])
def test_leads_ask_for_nothing_that_the_figures_do_not(quick):
    """Units are kept by their options: the same are measured once."""
    leads, one, ten = (all_experiments()[f"tian12-{name}"].units(quick=quick) for name in ("leads", "fig14", "fig16"))
    assert all(unit in one or unit in ten for unit in leads)


def test_seconds_are_averaged_by_method_and_level():
    own = [
        Measured({"k": k, "run": run}, {"DMPD": 2.0 * run + k, "TDS": 0.1, "TDR": 0.2}, 1.0)
        for run in (0, 1)
        for k in (10, 20)
    ]
    points = Points(PartitioningSeconds().points({"levels": [10, 20], "runs": 2}, own))
    assert points.series() == ["DMPD", "TDS", "TDR"]
    assert points.of("DMPD") == {10: 11, 20: 21}
    assert points.of("TDR") == pytest.approx({10: 0.2, 20: 0.2})


def test_seconds_are_those_of_what_is_released(shoal_data):
    study = read_study(shoal_data, "german")
    assert partition(study, 10, 0, generations=2).release_.verdict.holds
    assert len(specialize(study, 10)) == len(refine(study, 10)) == study.rows.n_rows


def test_what_a_recipe_measures_with_is_named_with_all_that_it_imports():
    """So a result is measured again when a number or a function that it was measured with changes."""
    every = {get_recipe(experiment.recipe) for experiment in all_experiments().values()}
    plumbing = {"shoal.papers.registry", "shoal.papers.data"}
    for used in every:
        for name in used.sources:
            tree = ast.parse(inspect.getsource(importlib.import_module(name)))
            imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
            missing = {module for module in imported if module.startswith("shoal.papers.")} - {*used.sources, *plumbing}
            assert not missing, (type(used).__name__, name, missing)
