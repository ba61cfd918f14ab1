# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/explanation/clusters-of-patients.md are those that benchmarks/masses.py measures."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT, PAGE = ROOT / "benchmarks" / "masses.py", ROOT / "docs" / "explanation" / "clusters-of-patients.md"


@pytest.fixture(scope="module")
def masses():
    if not SCRIPT.is_file() or not PAGE.is_file():
        pytest.skip("the benchmarks or the pages are not beside the package")
    spec = importlib.util.spec_from_file_location("masses", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["masses"] = module  # dataclasses look their module up
    yield spec.loader.exec_module(module) or module
    del sys.modules["masses"]


@pytest.fixture(scope="module")
def rows(masses, shoal_data):
    return masses.patients(shoal_data)


@pytest.fixture(scope="module")
def pairs(masses, rows):
    return {wish: masses.compare(rows, *wish) for wish in masses.WISHES}


@pytest.fixture(scope="module")
def page():
    return PAGE.read_text(encoding="utf-8")


def test_the_page_has_the_figures_that_are_measured(masses, rows, pairs, page):
    shown = pairs[masses.SHOWN]
    lines = [*masses.comparison(pairs), *str(shown.ours.release_).splitlines(), *filter(None, shown.groups(rows))]
    missing = [line for line in lines if line not in page.splitlines()]
    assert not missing, "run benchmarks/masses.py, and correct the page"
    assert f"{len(rows)} patients" in page
    assert f"{(rows['severity'] == 'malignant').sum()} of the masses were malignant" in page
    assert f"So {shown.free_audit.people_at_risk} of {len(rows)} patients share their group" in page
    assert f"only {shown.smallest} patients stand behind" in page


def test_what_is_released_holds_and_k_means_never_does(pairs):
    for (k, _), pair in pairs.items():
        assert pair.own_audit.holds
        assert pair.own_audit.smallest_group >= k
        assert min(pair.ours.release_.people) >= k
        assert not pair.free_audit.holds
        assert pair.own_silhouette >= 0.8 * pair.free_silhouette  # "between nothing and a fifth"


def test_rings_are_around_the_patients_of_the_groups_that_fail(masses, rows, pairs):
    from shoal.report.axes import scatter

    shown = pairs[masses.SHOWN]
    free = scatter(shown.free, rows, shown.free_audit, len(rows))
    assert free.fails.sum() == shown.free_audit.people_at_risk
    ages = rows["age"].to_numpy()
    assert not set(ages[free.fails]) & set(ages[~free.fails])  # nothing but age sets them apart
    assert len(free.few) == 1
    assert not scatter(shown.ours, rows, shown.own_audit, len(rows)).fails.any()
