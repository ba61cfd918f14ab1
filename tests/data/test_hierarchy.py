# SPDX-License-Identifier: Apache-2.0
"""Hierarchies: every source, every refusal, and what binding promises."""

from __future__ import annotations

import copy
import csv
import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data import hierarchy_sources
from shoal.data.hierarchy import MISSING, Hierarchy, Levels, load_hierarchies
from shoal.data.table import Column
from shoal.errors import HierarchyError

relaxed = settings(deadline=None)  # a busy machine is no failure
CANARY = "canary-7f3a"
EDUCATION = {"*": {"Low": ["1st", "2nd"], "High": {"Uni": ["BSc", "MSc"]}}}


def strings(*rows: str | None, name: str = "c", domain: tuple[str, ...] = ()) -> Column:
    values = tuple(sorted({row for row in rows if row is not None} | set(domain)))
    codes = np.array([len(values) if row is None else values.index(row) for row in rows], dtype=np.int32)
    return Column(name, "categorical", codes, values, missing=None in rows)


def numbers(*rows: float | None, bounds: tuple[float, float] | None = None) -> Column:
    values = np.unique(np.array([row for row in rows if row is not None], dtype=float))
    codes = [len(values) if row is None else int(np.searchsorted(values, row)) for row in rows]
    whole = bool((values == np.floor(values)).all())
    return Column("n", "numeric", np.array(codes, dtype=np.int32), values, None in rows, integer=whole, bounds=bounds)


def write(folder: Path, text: str | bytes, name: str = "h.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def lists(levels: Levels) -> list[list[int]]:
    return [groups.tolist() for groups in levels.maps]


def check_partition(levels: Levels, column: Column) -> None:
    """Every code in one group a level, groups dense, wider groups unions of narrower ones, missing apart."""
    assert len(levels.maps) == len(levels.labels) == len(levels) >= 1
    for i, (groups, labels) in enumerate(zip(levels.maps, levels.labels, strict=True)):
        assert groups.dtype == np.int32
        assert groups.shape == (column.n_codes,)
        assert not groups.flags.writeable
        assert len(set(labels)) == len(labels)
        assert ((groups >= 0) & (groups < len(labels))).all()
        if levels.cuts is None:
            first = list(dict.fromkeys(groups.tolist()))
            assert first == list(range(len(labels)))
        else:
            assert len(levels.cuts[i]) + 1 + column.missing == len(labels)
            assert (np.diff(levels.cuts[i]) > 0).all()
        if column.missing:
            assert labels[groups[-1]] == MISSING
            assert (groups[:-1] != groups[-1]).all()
    for i, (fine, wide) in enumerate(zip(levels.maps, levels.maps[1:], strict=False)):
        assert len(set(zip(fine.tolist(), wide.tolist(), strict=True))) == len(set(fine.tolist()))
        assert len(levels.labels[i + 1]) < len(levels.labels[i])
        if levels.cuts is not None:
            assert set(levels.cuts[i + 1]) < set(levels.cuts[i])


# --- files -------------------------------------------------------------------------------------------------


def test_a_file_of_lines(tmp_path: Path) -> None:
    path = write(tmp_path, '1st;Low;*\n2nd;Low;*\n"B;Sc";"Hi ""gh";*\n')
    hierarchy = Hierarchy.from_file(path)
    assert hierarchy.values == ("1st", "2nd", "B;Sc")
    levels = hierarchy.bind(strings("2nd", "B;Sc", None, "1st"))
    assert lists(levels) == [[0, 1, 2, 3], [0, 0, 1, 2]]
    assert levels.labels == (("1st", "2nd", "B;Sc", MISSING), ("Low", 'Hi "gh', MISSING))
    assert levels.cuts is None


def test_boms_line_ends_blank_lines_and_a_missing_last_newline_change_nothing(tmp_path: Path) -> None:
    plain = Hierarchy.from_file(write(tmp_path, "á;x;*\nb;y;*\n"))
    other = Hierarchy.from_file(write(tmp_path, b"\xef\xbb\xbf" + "b;y;*\r\n\r\ná;x;*".encode(), "bom.txt"))
    assert plain == other
    assert hash(plain) == hash(other)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a;x\nb;y\n", (("a", "x", "*"), ("b", "y", "*"))),
        ("a\nb\n", (("a", "*"), ("b", "*"))),
        ("a\n", (("a", "*"),)),
        ("a;[1;9]\n".replace("[1;9]", '"[1;9]"'), (("a", "[1;9]"),)),
        ("a;Any\nb;Any\n", (("a", "Any"), ("b", "Any"))),
    ],
)
def test_the_root_is_what_all_share_or_a_star_on_top(
    tmp_path: Path, text: str, rows: tuple[tuple[str, ...], ...]
) -> None:
    assert Hierarchy.from_file(write(tmp_path, text)).rows == rows


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("h.csv", "", "hierarchy-empty"),
        ("h.csv", "\n\n", "hierarchy-empty"),
        ("h.csv", f"{CANARY};x;*\nb;*\n", "hierarchy-ragged"),
        ("h.csv", f"{CANARY};x;*\n{CANARY};y;*\n", "hierarchy-two-parents"),
        ("h.csv", f"{CANARY};x;*\n{CANARY};x;*\n", "hierarchy-value-twice"),
        ("h.csv", f"a;{CANARY};x;*\nb;{CANARY};y;*\n", "hierarchy-not-nested"),
        ("h.csv", f"{CANARY};*\nb;x\n", "hierarchy-no-root"),
        ("h.csv", f"{CANARY};*;*\nb;x;*\n", "hierarchy-no-root"),
        ("h.csv", f"*;{CANARY};Any\nb;x;Any\n", "hierarchy-no-root"),
        ("h.csv", f"{CANARY};;*\n", "hierarchy-empty-field"),
        ("h.csv", f'"{CANARY};*\n', "hierarchy-broken-csv"),
        ("h.csv", f'"{CANARY}"x;*\n', "hierarchy-broken-csv"),
        ("h.csv", "x" * 200_000 + ";*\n", "hierarchy-broken-csv"),
        ("h.csv", f"{CANARY},x,y\nb,x,y\n", "hierarchy-separator"),
        ("h.csv", f"{CANARY}\tx\nb\ty\n", "hierarchy-separator"),
        ("h.csv", f"{CANARY};".encode() + b"\xff;*\n", "hierarchy-not-utf8"),
        ("h.csv", f"{CANARY};*".encode("utf-16"), "hierarchy-not-utf8"),
        ("h.csv", ";".join([CANARY] * 80), "hierarchy-too-deep"),
        ("h.json", f'{{"{CANARY}": ', "hierarchy-broken-json"),
        ("h.json", "", "hierarchy-broken-json"),
        ("h.json", "[" + "9" * 5000 + "]", "hierarchy-broken-json"),
        ("h.json", '"' + CANARY + '"', "hierarchy-bad-tree"),
        ("h.json", f'{{"a": "{CANARY}"}}', "hierarchy-bad-tree"),
        ("h.json", f'{{"a": ["{CANARY}", 1.5]}}', "hierarchy-bad-tree"),
        ("h.json", f'{{"a": ["{CANARY}", true]}}', "hierarchy-bad-tree"),
        ("h.json", f'{{"a": ["{CANARY}", ["b"]]}}', "hierarchy-bad-tree"),
        ("h.json", f'{{"a": ["{CANARY}", null]}}', "hierarchy-bad-tree"),
        ("h.json", f'{{"a": ["{CANARY}"], "a": ["b"]}}', "hierarchy-value-twice"),
        ("h.json", f'{{"a": ["{CANARY}", "{CANARY}"]}}', "hierarchy-value-twice"),
        ("h.json", f'{{"a": ["{CANARY}"], "b": ["{CANARY}"]}}', "hierarchy-two-parents"),
        ("h.json", f'{{"a": {{"{CANARY}": ["x"]}}, "b": {{"{CANARY}": ["y"]}}}}', "hierarchy-not-nested"),
        ("h.json", '{"*": {"*": ["x"], "y": []}}', "hierarchy-no-root"),
        ("h.json", '["\\ud800"]', "hierarchy-not-utf8"),
        ("h.json", "{}", "hierarchy-empty"),
        ("h.json", '{"a":' * 70 + "[]" + "}" * 70, "hierarchy-too-deep"),
        ("h.json", "[" * 100_000, "hierarchy-too-deep"),
    ],
)
def test_a_broken_file_is_refused_by_name_and_without_its_values(
    tmp_path: Path, name: str, text: str | bytes, code: str
) -> None:
    write(tmp_path, text, name)
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_spec(name, tmp_path)
    assert caught.value.code == code
    message = str(caught.value)
    assert f"'{name}'" in message
    assert CANARY not in message
    assert message.endswith(".")
    assert "\n" not in message


def test_missing_files_and_folders_in_place_of_files(tmp_path: Path) -> None:
    for spec in ("nothing.csv", Path("nothing.json"), {"file": "nothing.csv"}, "."):
        with pytest.raises(HierarchyError, match=r"Hierarchy file '.*' (does not exist|cannot be read)") as caught:
            Hierarchy.from_spec(spec, tmp_path)
        assert caught.value.code == "hierarchy-no-file"


def test_files_and_trees_beyond_the_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hierarchy_sources.MAX_VALUES == 1_000_000
    monkeypatch.setattr(hierarchy_sources, "MAX_VALUES", 3)
    path = write(tmp_path, "a\nb\nc\nd\n")
    for make in (
        lambda: Hierarchy.from_file(path),
        lambda: Hierarchy.from_tree(list("abcd")),
    ):
        with pytest.raises(HierarchyError) as caught:
            make()
        assert caught.value.code == "hierarchy-too-large"
    assert len(Hierarchy.from_tree(list("abc")).rows) == 3
    monkeypatch.setattr(hierarchy_sources, "MAX_BYTES", 7)
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_file(path)
    assert caught.value.code == "hierarchy-too-large"


# --- nested dicts ------------------------------------------------------------------------------------------


def test_a_value_that_hangs_higher_is_repeated(tmp_path: Path) -> None:
    expected = (
        ("1st", "1st", "Low", "*"),
        ("2nd", "2nd", "Low", "*"),
        ("BSc", "Uni", "High", "*"),
        ("MSc", "Uni", "High", "*"),
    )
    tree = Hierarchy.from_tree(EDUCATION)
    assert tree.rows == expected
    assert Hierarchy.from_tree(EDUCATION["*"]) == tree == Hierarchy.from_spec(EDUCATION)
    path = write(tmp_path, json.dumps(EDUCATION), "education.JSON")
    assert Hierarchy.from_spec(path) == tree
    assert repr(tree) == "<Hierarchy: 4 values, 4 levels>"


def test_other_ways_to_hang_a_value_higher() -> None:
    expected = (("a", "a", "*"), ("b", "x", "*"))
    assert Hierarchy.from_tree({"a": [], "x": ["b"]}).rows == expected
    assert Hierarchy.from_tree({"*": ["a", {"x": ["b"]}]}).rows == expected
    assert Hierarchy.from_tree(["a", {"x": ("b",)}]).rows == expected
    assert Hierarchy.from_tree({"a": {}}).rows == (("a", "*"),)
    assert Hierarchy.from_tree({1: [2, 3]}).rows == (("2", "1"), ("3", "1"))


def test_a_dict_that_holds_itself_is_too_deep() -> None:
    tree: dict[str, Any] = {}
    tree["a"] = tree
    with pytest.raises(HierarchyError, match="deeper than 64") as caught:
        Hierarchy.from_tree(tree)
    assert caught.value.code == "hierarchy-too-deep"


labels = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4).filter(lambda s: s != "*")


@st.composite
def trees(draw: st.DrawFn) -> tuple[dict[str, Any], list[tuple[str, ...]]]:
    """A random tree under '*', and its ways from value to root, by a slow walk of its own."""
    names = iter(draw(st.lists(labels, min_size=40, max_size=40, unique=True)))
    paths: list[tuple[str, ...]] = []

    def grow(depth: int, above: tuple[str, ...]) -> Any:
        children = [next(names) for _ in range(draw(st.integers(1, 3)))]
        if depth == 0 or draw(st.booleans()):
            paths.extend((child, *above) for child in children)
            return children
        return {child: grow(depth - 1, (child, *above)) for child in children}

    return {"*": grow(2, ("*",))}, paths


@relaxed
@given(trees())
def test_nested_and_csv_are_the_same_hierarchy(
    tmp_path_factory: pytest.TempPathFactory, made: tuple[dict[str, Any], list[tuple[str, ...]]]
) -> None:
    tree, paths = made
    depth = max(map(len, paths))
    rows = [(path[0],) * (depth - len(path)) + path for path in paths]
    folder = tmp_path_factory.mktemp("h")
    with (folder / "h.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    write(folder, json.dumps(tree), "h.json")
    hierarchy = Hierarchy.from_tree(tree)
    assert sorted(hierarchy.rows) == sorted(rows)
    assert hierarchy == Hierarchy.from_file(folder / "h.csv") == Hierarchy.from_file(folder / "h.json")
    assert copy.deepcopy(hierarchy) == pickle.loads(pickle.dumps(hierarchy)) == hierarchy


@relaxed
@given(trees(), st.data())
def test_bound_levels_partition_and_nest(
    made: tuple[dict[str, Any], list[tuple[str, ...]]], data: st.DataObject
) -> None:
    tree, paths = made
    hierarchy = Hierarchy.from_tree(tree)
    values = [path[0] for path in paths]
    rows = data.draw(st.lists(st.sampled_from([*values, None]), max_size=20))
    column = strings(*rows)
    levels = hierarchy.bind(column)
    check_partition(levels, column)
    n = len(column.values)
    assert levels.maps[0].tolist() == list(range(column.n_codes))
    # the partitions, in order, are those of the rows, once each and without the root's
    table = {row[0]: row for row in hierarchy.rows}
    expected = [[table[value][level] for value in column.names] for level in range(hierarchy.n_levels - 1)]
    distinct = [names for i, names in enumerate(expected) if i == 0 or len(set(names)) > 1]
    kept = [names for i, names in enumerate(distinct) if i == 0 or len(set(names)) < len(set(distinct[i - 1]))]
    assert len(kept) == len(levels)
    for names, groups in zip(kept, levels.maps, strict=True):
        for i in range(n):
            for j in range(n):
                assert (names[i] == names[j]) == (groups[i] == groups[j])


# --- binding values ----------------------------------------------------------------------------------------


def test_unknown_values_are_counted_not_shown() -> None:
    column = strings("1st", CANARY, CANARY, "BSc", CANARY + "2", None, name="edu", domain=(CANARY + "3",))
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_tree(EDUCATION).bind(column)
    assert caught.value.code == "hierarchy-unknown-value"
    assert "'edu' has 3 value(s), in 3 row(s)," in str(caught.value)
    assert CANARY not in str(caught.value)
    assert "1st" not in str(caught.value)


def test_hierarchies_of_the_wrong_kind() -> None:
    for hierarchy in (
        Hierarchy.from_tree(EDUCATION),
        Hierarchy.prefixes([2, 1]),
        Hierarchy.dates(["year"]),
    ):
        assert not hierarchy.numeric
        with pytest.raises(HierarchyError, match=r"kinds=\{'n': 'categorical'\}") as caught:
            hierarchy.bind(numbers(1, 2))
        assert caught.value.code == "hierarchy-wrong-kind"
    for hierarchy in (Hierarchy.intervals([5]), Hierarchy.cuts([[5]]), Hierarchy.equal_size([2])):
        assert hierarchy.numeric
        assert hierarchy.values is None
        with pytest.raises(HierarchyError, match="'c' is categorical") as caught:
            hierarchy.bind(strings("1", "2"))
        assert caught.value.code == "hierarchy-wrong-kind"


def test_levels_that_split_nothing_are_dropped_but_the_finest() -> None:
    hierarchy = Hierarchy.from_tree({"*": {"A": {"P": ["a"], "Q": ["b"]}, "B": {"R": ["c", "d"]}}})
    assert lists(hierarchy.bind(strings("a", "b", None))) == [[0, 1, 2]]
    assert lists(hierarchy.bind(strings("a", "c", "d"))) == [[0, 1, 2], [0, 1, 1]]
    assert lists(hierarchy.bind(strings("a"))) == [[0]]
    assert lists(hierarchy.bind(strings(None))) == [[0]]
    assert lists(hierarchy.bind(strings())) == [[]]


def test_a_declared_domain_is_bound_too() -> None:
    levels = Hierarchy.from_tree(EDUCATION).bind(strings("1st", domain=("1st", "2nd", "BSc", "MSc")))
    assert levels.labels[1:] == (("1st", "2nd", "Uni"), ("Low", "High"))


def test_prefixes() -> None:
    hierarchy = Hierarchy.prefixes([4, 3, 2])
    assert hierarchy.values is None
    assert repr(hierarchy) == "<Hierarchy: prefix, 5 levels>"
    column = strings("47119", "47118", "4720", "4721", "81", "813", None)
    levels = hierarchy.bind(column)
    check_partition(levels, column)
    assert levels.labels[1:] == (
        ("4711*", "4720*", "4721*", "81", "813", MISSING),
        ("471*", "472*", "81", "813*", MISSING),
        ("47*", "81*", MISSING),
    )


@relaxed
@given(st.lists(st.text("ab*", max_size=5), min_size=1, max_size=20))
def test_prefixes_nest_whatever_the_lengths(values: list[str]) -> None:
    column = strings(*values)
    check_partition(Hierarchy.prefixes([4, 3, 1]).bind(column), column)


def test_dates() -> None:
    hierarchy = Hierarchy.dates(["month", "quarter", "year", "decade"])
    column = strings("2019-12-31", "2020-01-01", "2020-02-29", "2020-02-03T10:00:00", "2031-07-01", None)
    levels = hierarchy.bind(column)
    check_partition(levels, column)
    # years and decades split these dates as the quarters do, so they are left out
    assert levels.labels[1:] == (
        ("2019-12", "2020-01", "2020-02", "2031-07", MISSING),
        ("2019-Q4", "2020-Q1", "2031-Q3", MISSING),
    )
    later = Hierarchy.dates(["year", "decade"]).bind(strings("2019-12-31", "2019-01-31", "2018-12-31", "2020-05-01"))
    assert later.labels[1:] == (("2018", "2019", "2020"), ("2010s", "2020s"))


def test_what_is_no_date_is_unknown() -> None:
    column = strings("2020-01-01", "2021-02-29", "20200101", "2020-W01-1", CANARY, "2020-01-01T99", "٢٠٢٠-01-01", "")
    with pytest.raises(HierarchyError, match=r"has 7 value\(s\), in 7 row\(s\), that are no ISO dates") as caught:
        Hierarchy.dates(["year"]).bind(column)
    assert caught.value.code == "hierarchy-unknown-value"
    assert CANARY not in str(caught.value)


# --- binding numbers ---------------------------------------------------------------------------------------


def test_intervals_of_whole_numbers_hold_their_lower_end() -> None:
    levels = Hierarchy.intervals([5, 10, 20]).bind(numbers(0, 4, 5, 9, 10, 31, None))
    assert levels.cuts is not None
    assert [cuts.tolist() for cuts in levels.cuts] == [[4, 9, 14, 19, 24, 29], [9, 19, 29], [19]]
    assert lists(levels) == [[0, 0, 1, 1, 2, 6, 7], [0, 0, 0, 0, 1, 3, 4], [0, 0, 0, 0, 0, 1, 2]]
    assert levels.labels[1] == ("<=9", "10-19", "20-29", ">=30", MISSING)
    shifted = Hierarchy.intervals([5], start=18).bind(numbers(17, 18, 22, 23))
    assert lists(shifted) == [[0, 1, 1, 2]]


def test_intervals_of_other_numbers_hold_their_upper_end() -> None:
    levels = Hierarchy.intervals([0.1, 0.3]).bind(numbers(0.1, 0.15, 0.3, 0.35))
    assert levels.cuts is not None
    assert [cuts.tolist() for cuts in levels.cuts] == [[0.1, 0.2, 0.3], [0.3]]
    assert lists(levels) == [[0, 1, 2, 3], [0, 0, 0, 1]]
    assert levels.labels[0] == ("<=0.1", "(0.1, 0.2]", "(0.2, 0.3]", ">0.3")


def test_bounds_decide_which_intervals_there_are() -> None:
    hierarchy = Hierarchy.cuts([[0, 18, 30, 45, 65, 100], [30, 65]])
    by_rows = hierarchy.bind(numbers(20, 40))
    assert by_rows.cuts is not None
    assert [cuts.tolist() for cuts in by_rows.cuts] == [[30]]
    declared = hierarchy.bind(numbers(20, 40, None, bounds=(18, 65)))
    assert declared.cuts is not None
    # a cut at the lower bound leaves the bound itself below it; one at the upper bound leaves nothing above
    assert [cuts.tolist() for cuts in declared.cuts] == [[18, 30, 45], [30]]
    assert lists(declared) == [[1, 2, 4], [0, 1, 2]]
    # values outside the bounds count as being at them
    clipped = hierarchy.bind(numbers(-5, 20, 400, bounds=(18, 65)))
    assert lists(clipped) == [[0, 1, 3], [0, 0, 1]]


def test_numbers_without_cuts_inside_are_one_interval() -> None:
    for column in (numbers(7, 8), numbers(7), numbers(None), numbers()):
        levels = Hierarchy.cuts([[90, 95], [90]]).bind(column)
        assert len(levels) == 1
        assert levels.labels[0][0] == "*"
        check_partition(levels, column)


def test_too_many_intervals_are_refused_without_the_range() -> None:
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.intervals([1]).bind(numbers(3, 987654321))
    assert caught.value.code == "hierarchy-too-many-intervals"
    assert "98765" not in str(caught.value)


def test_equal_size_finds_its_bins_in_the_rows() -> None:
    column = numbers(*range(100), None, None)
    levels = Hierarchy.equal_size([8, 4, 2]).bind(column)
    check_partition(levels, column)
    sizes = [np.bincount(groups[column.codes]).tolist() for groups in levels.maps]
    assert [len(size) for size in sizes] == [9, 5, 3]
    assert sizes[2] == [50, 50, 2]
    assert max(sizes[0][:-1]) - min(sizes[0][:-1]) <= 1
    few = Hierarchy.equal_size([8, 4, 2]).bind(numbers(1, 1, 1, 2, 3))
    assert len(few.labels[0]) <= 3


number_rows = st.lists(st.none() | st.integers(-60, 60) | st.floats(-60, 60), max_size=25)
numeric_hierarchies = st.sampled_from(
    [
        Hierarchy.intervals([5, 10, 20]),
        Hierarchy.intervals([2.5, 7.5], start=-1.25),
        Hierarchy.cuts([[-10, 0, 10.5, 30], [0, 30], [0]]),
        Hierarchy.equal_size([8, 4, 2]),
        Hierarchy.equal_size([9, 3]),
    ]
)


@relaxed
@given(number_rows, numeric_hierarchies, st.none() | st.tuples(st.integers(-80, 0), st.integers(1, 80)))
def test_bound_numbers_partition_and_nest(
    rows: list[float | None], hierarchy: Hierarchy, bounds: tuple[int, int] | None
) -> None:
    column = numbers(*rows, bounds=bounds)
    levels = hierarchy.bind(column)
    check_partition(levels, column)
    assert levels.cuts is not None
    for groups, cuts in zip(levels.maps, levels.cuts, strict=True):
        ends = [-np.inf, *cuts, np.inf]
        for code, value in enumerate(column.numbers):
            assert ends[groups[code]] < value <= ends[groups[code] + 1]


def test_levels_refuse_what_does_not_nest() -> None:
    with pytest.raises(HierarchyError, match="do not nest") as caught:
        Levels(
            (np.array([0, 0, 1], dtype=np.int32), np.array([0, 1, 1], dtype=np.int32)),
            (("a", "b"), ("c", "d")),
        )
    assert caught.value.code == "hierarchy-not-nested"


# --- what a user may write ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"intervals": [5, 10, 20]}, Hierarchy.intervals([5, 10, 20])),
        ({"intervals": [5, 10], "start": 2}, Hierarchy.intervals([5.0, 10.0], start=2.0)),
        ({"cuts": [[18, 30], [30]]}, Hierarchy.cuts([(18, 30), (30,)])),
        ({"equal_size": [8, 4, 2]}, Hierarchy.equal_size([8, 4, 2])),
        ({"prefix": [4, 3, 2]}, Hierarchy.prefixes((4, 3, 2))),
        ({"dates": ["month", "year"]}, Hierarchy.dates(["month", "year"])),
        ({"tree": {"file": ["a"], "b": ["c"]}}, Hierarchy.from_tree({"file": ["a"], "b": ["c"]})),
        ({"tree": EDUCATION}, Hierarchy.from_tree(EDUCATION)),
        ({"file": ["a"], "other": ["b"]}, Hierarchy.from_tree({"file": ["a"], "other": ["b"]})),
        (Hierarchy.intervals([np.float64(5)]), Hierarchy.intervals(np.array([5]))),
    ],
)
def test_specs(spec: Any, expected: Hierarchy) -> None:
    found = Hierarchy.from_spec(spec)
    assert found == expected
    assert hash(found) == hash(expected)
    assert found != Hierarchy.intervals([7])
    assert found != "a hierarchy"


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({"intervals": [5, 12]}, "hierarchy-bad-intervals"),
        ({"intervals": [10, 5]}, "hierarchy-bad-intervals"),
        ({"intervals": [0, 5]}, "hierarchy-bad-intervals"),
        ({"intervals": [5, -10]}, "hierarchy-bad-intervals"),
        ({"intervals": []}, "hierarchy-bad-intervals"),
        ({"intervals": 5}, "hierarchy-bad-intervals"),
        ({"intervals": "5"}, "hierarchy-bad-intervals"),
        ({"intervals": ["5"]}, "hierarchy-bad-intervals"),
        ({"intervals": [True]}, "hierarchy-bad-intervals"),
        ({"intervals": [float("nan")]}, "hierarchy-bad-intervals"),
        ({"intervals": [10**400]}, "hierarchy-bad-intervals"),
        ({"intervals": [5], "start": "x"}, "hierarchy-bad-intervals"),
        ({"intervals": [5], "strat": 1}, "hierarchy-bad-spec"),
        ({"cuts": [[5]], "start": 1}, "hierarchy-bad-spec"),
        ({"intervals": [5], "cuts": [[5]]}, "hierarchy-bad-spec"),
        ({"start": 5}, "hierarchy-bad-spec"),
        (5, "hierarchy-bad-spec"),
        (None, "hierarchy-bad-spec"),
        ({"cuts": []}, "hierarchy-bad-cuts"),
        ({"cuts": [5, 6]}, "hierarchy-bad-cuts"),
        ({"cuts": [[]]}, "hierarchy-bad-cuts"),
        ({"cuts": [[5, 4]]}, "hierarchy-bad-cuts"),
        ({"cuts": [[4, 4]]}, "hierarchy-bad-cuts"),
        ({"cuts": [[18, 30], [31]]}, "hierarchy-bad-cuts"),
        ({"equal_size": [8, 3]}, "hierarchy-bad-equal-size"),
        ({"equal_size": [2, 4]}, "hierarchy-bad-equal-size"),
        ({"equal_size": [1]}, "hierarchy-bad-equal-size"),
        ({"equal_size": [2.5]}, "hierarchy-bad-equal-size"),
        ({"equal_size": [10**9]}, "hierarchy-bad-equal-size"),
        ({"prefix": [3, 3]}, "hierarchy-bad-prefix"),
        ({"prefix": [2, 3]}, "hierarchy-bad-prefix"),
        ({"prefix": [0]}, "hierarchy-bad-prefix"),
        ({"dates": ["year", "month"]}, "hierarchy-bad-dates"),
        ({"dates": ["week"]}, "hierarchy-bad-dates"),
        ({"dates": ["year", "year"]}, "hierarchy-bad-dates"),
        ({"dates": []}, "hierarchy-bad-dates"),
        ({"dates": "year"}, "hierarchy-bad-dates"),
        ({"file": ["a", "b"]}, "hierarchy-bad-file"),
        ({"tree": 5}, "hierarchy-bad-tree"),
        ({}, "hierarchy-empty"),
        ([], "hierarchy-empty"),
    ],
)
def test_specs_that_make_no_sense(spec: Any, code: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_spec(spec)
    assert caught.value.code == code
    with pytest.raises(HierarchyError, match=r"^Column 'age': ") as caught:
        load_hierarchies({"age": spec}, ["age"])
    assert caught.value.code == code


def test_a_misspelt_key_is_named() -> None:
    with pytest.raises(HierarchyError, match="Closest: 'start'"):
        Hierarchy.from_spec({"intervals": [5], "strat": 1})


# --- many at once ------------------------------------------------------------------------------------------


def test_a_mapping_of_hierarchies(tmp_path: Path) -> None:
    write(tmp_path, "a;x;*\nb;x;*\n", "e.csv")
    found = load_hierarchies({"edu": "e.csv", "age": {"intervals": [5]}}, ["age", "edu", "sex"], tmp_path)
    assert found == {"edu": Hierarchy.from_tree({"*": {"x": ["a", "b"]}}), "age": Hierarchy.intervals([5])}
    assert load_hierarchies(None, ["age"]) == load_hierarchies({}, ["age"]) == {}
    with pytest.raises(HierarchyError, match=r"'eductaion'.* Closest: 'education'") as caught:
        load_hierarchies({"eductaion": "e.csv"}, ["age", "education"])
    assert caught.value.code == "hierarchy-no-column"
    with pytest.raises(HierarchyError) as caught:
        load_hierarchies(5, ["age"])  # type: ignore[arg-type]
    assert caught.value.code == "hierarchy-bad-spec"


def test_a_folder_of_hierarchies(tmp_path: Path) -> None:
    for name in (
        "adult_tds_education.csv",
        "adult_hierarchy_native-country.TXT",
        "sex.json",
        "adult_marital_status.csv",
        "notes.csv",
        "racy.csv",
        "age.md",
        "._race.csv",
    ):
        write(tmp_path, '["a", "b"]' if name.endswith("json") else f"{name};*\n", name)
    (tmp_path / "race.csv").mkdir()
    columns = ["education", "native-country", "sex", "status", "marital_status", "age", "race"]
    found = load_hierarchies(tmp_path, columns)
    assert sorted(found) == ["education", "marital_status", "native-country", "sex"]
    assert found["marital_status"].values == ("adult_marital_status.csv",)
    assert load_hierarchies(tmp_path.name, columns, tmp_path.parent) == found
    write(tmp_path, "a;*\n", "education.txt")
    with pytest.raises(HierarchyError, match=r"'adult_tds_education.csv' and 'education.txt'") as caught:
        load_hierarchies(str(tmp_path), columns)
    assert caught.value.code == "hierarchy-two-files"


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    write(tmp_path, "a;*\n", "education.csv")
    for source in ("nowhere", "education.csv"):
        with pytest.raises(HierarchyError, match=source) as caught:
            load_hierarchies(source, ["education"], tmp_path)
        assert caught.value.code == "hierarchy-no-folder"
    write(tmp_path, f"{CANARY};x;*\n{CANARY};*\n", "education.csv")
    with pytest.raises(HierarchyError, match=r"^Column 'education': Hierarchy file '.*education.csv'") as caught:
        load_hierarchies(tmp_path, ["education"])
    assert CANARY not in str(caught.value)


def test_reprs_show_no_value() -> None:
    hierarchy = Hierarchy.from_tree({CANARY: [CANARY + "1", CANARY + "2"]})
    levels = hierarchy.bind(strings(CANARY + "1"))
    assert CANARY not in repr(hierarchy) + repr(levels)
    assert repr(levels) == "<Levels: 1 groups>"


# --- the real ones -----------------------------------------------------------------------------------------

DATA = os.environ.get("SHOAL_DATA")
real = pytest.mark.skipif(not DATA, reason="SHOAL_DATA is not set: the shared data sets are not here")


def adult(part: str = "train") -> pd.DataFrame:
    return pd.read_csv(Path(str(DATA)) / f"adult_{part}.csv.gz", dtype=str, keep_default_na=False)


def encode(frame: pd.DataFrame, name: str, missing: tuple[str, ...] = ("?",)) -> Column:
    series = frame[name]
    values = tuple(sorted(set(series) - set(missing)))
    codes = pd.Categorical(series.where(~series.isin(missing)), categories=list(values)).codes.astype(np.int32)
    codes = np.where(codes < 0, len(values), codes)
    return Column(name, "categorical", codes, values, bool((codes == len(values)).any()))


@real
@pytest.mark.parametrize(("folder", "n"), [("tds", 8), ("arx", 8), ("arx_full", 12)])
def test_real_hierarchies_know_the_adult_table(folder: str, n: int) -> None:
    frame = adult()
    # the age file of arx_full is broken: see the test of it below
    columns = [name for name in frame.columns if (folder, name) != ("arx_full", "age")]
    found = load_hierarchies(Path(str(DATA)) / "hierarchies" / folder, columns)
    assert len(found) == n
    for name, hierarchy in found.items():
        column = encode(frame, name)
        levels = hierarchy.bind(column)
        check_partition(levels, column)
        assert len(levels) <= hierarchy.n_levels - 1


@real
def test_the_real_education_hierarchy_group_by_group() -> None:
    folder = Path(str(DATA)) / "hierarchies"
    hierarchy = load_hierarchies(folder / "tds", ["education"])["education"]
    assert repr(hierarchy) == "<Hierarchy: 16 values, 5 levels>"
    column = encode(adult(), "education")
    levels = hierarchy.bind(column)
    assert [len(names) for names in levels.labels] == [16, 12, 6, 2]
    top = np.array(levels.labels[3])[levels.maps[3][column.codes]]
    assert (top == "Post-secondary").sum() == 17_807


@real
def test_the_same_taxonomy_as_nested_json() -> None:
    folder = Path(str(DATA)) / "hierarchies" / "tds"
    stored = json.loads((folder / "taxonomytree.json").read_text())

    def nest(node: dict[str, Any]) -> dict[str, Any]:
        return {leaf["parent"]: nest(leaf) for leaf in node["leaves"]}

    for name, hierarchy in load_hierarchies(folder, stored).items():
        assert Hierarchy.from_tree({"*": nest(stored[name])}) == hierarchy


@real
def test_a_real_file_with_an_interval_root_lists_ages_twice(tmp_path: Path) -> None:
    path = Path(str(DATA)) / "hierarchies" / "arx_full" / "adult_full_hierarchy_age.csv"
    with pytest.raises(HierarchyError, match="positions 1 and 72, in different groups") as caught:
        Hierarchy.from_file(path)
    assert caught.value.code == "hierarchy-two-parents"
    # its first lines, up to the first age that comes again, are fine
    once = Hierarchy.from_file(write(tmp_path, "\n".join(path.read_text().split("\n")[:71])))
    assert {row[-1] for row in once.rows} == {"[17;99]"}
    column = encode(adult().query("age <= '71'"), "age")
    check_partition(once.bind(column), column)


@real
def test_values_that_only_the_test_part_has() -> None:
    folder = Path(str(DATA)) / "hierarchies" / "arx_full"
    found = load_hierarchies(folder, ["hours-per-week", "workclass"])
    assert "?" in (found["workclass"].values or ())
    frame = adult("test")
    with pytest.raises(HierarchyError) as caught:
        found["hours-per-week"].bind(encode(frame, "hours-per-week"))
    rows = int(frame["hours-per-week"].isin(["69", "79"]).sum())
    assert f"has 2 value(s), in {rows} row(s)" in str(caught.value)
    assert "69" not in str(caught.value).replace(str(rows), "")
    # read as a value of its own, '?' generalises as the file says
    levels = found["workclass"].bind(encode(frame, "workclass", missing=()))
    assert MISSING not in levels.labels[0]


@real
def test_real_files_that_are_no_hierarchies_of_this_form() -> None:
    folder = Path(str(DATA)) / "hierarchies"
    for name, code in (
        ("mondrian/adult_workclass.txt", "hierarchy-ragged"),
        ("groceries_items.csv", "hierarchy-separator"),
        ("tds/taxonomytree.json", "hierarchy-bad-tree"),
    ):
        with pytest.raises(HierarchyError) as caught:
            Hierarchy.from_spec(name, folder)
        assert caught.value.code == code
    for path in [*folder.glob("k_anonml/*.csv"), folder / "mondrian" / "adult_race.txt"]:
        assert Hierarchy.from_file(path).n_levels >= 2


@real
def test_equal_widths_and_sizes_on_the_real_age() -> None:
    ages = adult()["age"].astype(float).to_numpy()
    values, codes = np.unique(ages, return_inverse=True)
    column = Column("age", "numeric", codes.astype(np.int32), values, integer=True, bounds=(0, 120))
    levels = Hierarchy.intervals([5, 10, 20]).bind(column)
    check_partition(levels, column)
    assert [len(names) for names in levels.labels] == [25, 13, 7]
    assert np.array_equal(levels.maps[1][codes], np.floor(ages / 10))
    sized = Hierarchy.equal_size([8, 4, 2]).bind(column)
    check_partition(sized, column)
    people = np.bincount(sized.maps[0][codes])
    assert len(people) == 8
    assert people.max() < 2 * people.min()
