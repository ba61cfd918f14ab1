# SPDX-License-Identifier: Apache-2.0
"""The stream engine gives the very release that the memory engine gives, whatever the batches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.strategies import Case, cases, trees
from shoal import AnonymousTreeClassifier, EntropyDiversity, KAnonymity, audit, read_table
from shoal.audit import pieces
from shoal.cli import run
from shoal.data import coarse, load_hierarchies, to_table
from shoal.data.coded import CodedRows
from shoal.data.domain import declare_column
from shoal.data.pieces import Pieces
from shoal.data.sources import open_source
from shoal.data.target import with_target
from shoal.engines import Feature, MemoryEngine
from shoal.engines.stream import StreamEngine, StreamRows
from shoal.errors import ShoalError
from shoal.privacy import people_behind
from shoal.release.predict_file import predict_file
from shoal.trees import classifier
from shoal.trees.features import make_feature
from shoal.trees.mine import mine_tree

SIZES = st.sampled_from([(1, 1), (3, 2), (5, 100), (100, 3), (100, 100)])  # rows of a batch, rows of a chunk


def _source(case: Case) -> Any:
    columns = {name: [row[name] for row in case.rows] for name in case.rows[0]}
    return open_source(
        pads.dataset(pa.table(columns)), kinds={name: column.kind for name, column in case.table.items()}
    )


def _mined(case: Case, requirement: Any, sizes: tuple[int, int] | None, **options: Any) -> Any:
    """The release and its verdict, or the refusal."""
    given = {"domain": case.domain, "hierarchies": load_hierarchies(case.hierarchies, case.roles.features), **options}
    try:
        if sizes is None:
            release = mine_tree(case.table, case.roles, requirement, **given)
        else:
            with StreamRows(_source(case), batch=sizes[0], chunk=sizes[1]) as rows:
                names = [*case.roles.features, "t"]
                coarse = [name for name in case.roles.features if name not in case.hierarchies]
                people = people_behind(requirement)
                table = rows.count(names, coarse=coarse, people=people, max_codes=options.get("max_codes", 1024))
                release = mine_tree(with_target(table, "t", "t"), case.roles, requirement, rows=rows, **given)
    except ShoalError as refusal:
        return str(refusal)
    return release.to_json(), release.verdict


@given(cases(), st.integers(1, 4), SIZES, st.sampled_from(["gain", "ratio"]), st.sampled_from([None, "cost", 0.25]))
@settings(max_examples=50)
def test_the_same_tree_of_random_tables(
    case: Case, k: int, sizes: tuple[int, int], criterion: str, pruning: Any
) -> None:
    manner = {"criterion": criterion, "pruning": pruning}
    assert _mined(case, KAnonymity(k), sizes, **manner) == _mined(case, KAnonymity(k), None, **manner)


@given(cases(private=None), st.sampled_from([1.2, 1.5]), SIZES)
@settings(max_examples=40)
def test_the_same_diverse_tree_of_random_tables(case: Case, ell: float, sizes: tuple[int, int]) -> None:
    requirement = KAnonymity(2) & EntropyDiversity(ell)
    assert _mined(case, requirement, sizes) == _mined(case, requirement, None)


@given(cases(max_rows=40), st.integers(1, 4), SIZES, st.sampled_from([0, 1]), st.booleans())
@settings(max_examples=40)
def test_the_same_tree_of_the_best_variant(
    case: Case, k: int, sizes: tuple[int, int], lookahead: int, search: bool
) -> None:
    """Looking ahead splits nodes again and again; the search looks at some of the rows of a node, in their order."""
    manner = {"criterion": "gini", "grouping": "halves", "pruning": "cost", "lookahead": lookahead, "search": search}
    assert _mined(case, KAnonymity(k), sizes, **manner) == _mined(case, KAnonymity(k), None, **manner)


@given(st.data(), SIZES, st.integers(1, 5), st.sampled_from([0, 3, pieces.FEW_KEPT]))
@settings(max_examples=50)
def test_the_audit_of_pieces_is_the_audit_of_the_table(
    data: st.DataObject, sizes: tuple[int, int], k: int, few: int
) -> None:
    case = data.draw(cases())
    release = data.draw(trees(case))
    names = [*case.roles.features, "t"]
    public = data.draw(st.none() | st.lists(st.sampled_from(names), unique=True))
    privacy = data.draw(st.sampled_from([KAnonymity(k), KAnonymity(k) & EntropyDiversity(1.5)]))

    def told(rows: Any) -> Any:
        try:
            found = audit(release, rows, "t", public=public, privacy=privacy)
        except ShoalError as refusal:
            return str(refusal)
        body = found.to_json()
        body["findings"] = sorted(map(str, body["findings"]))  # groups of the same size come in any order
        return body

    with CodedRows(_source(case), names, batch=sizes[0]) as coded, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "FEW_KEPT", few)
        assert told(Pieces(coded, coded.columns)) == told(case.table.select(names))


def test_no_row_goes_on_from_where_it_was_counted() -> None:
    """What is kept of a group is told by the tree and public values alone, so it is the same for all its people."""
    rng = np.random.default_rng(0)
    n = 4000
    age, income, sex = rng.integers(20, 90, n), rng.integers(0, 1000, n), rng.choice(["f", "m"], n)
    sick = np.where(age + income / 20 + rng.normal(0, 9, n) > 80, "y", "n")
    people = pa.table({"age": age, "income": income, "sex": sex, "sick": sick})
    tree = AnonymousTreeClassifier(100, public=["age", "sex"], domain={"income": [0, 1000]}).fit(people, "sick")
    release = tree.release_
    assert {"age", "income"} <= set(release.routing.names)
    parts: list[Any] = []
    counted = pieces._counted
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "_counted", lambda *args: parts.append(counted(*args)) or parts[-1])
        assert audit(release, people, "sick", engine="stream").holds
    kept = parts[0].kept
    thresholds = release.routing.atoms[release.routing.names.index("age")].thresholds
    ages = kept["age"].numbers[kept["age"].codes]
    assert len(set(ages)) > 1
    assert set(ages) <= {min(age[age > t], default=None) for t in [0, *thresholds]}
    for name in ("income", "sick"):
        assert set(kept[name].codes) == {0}


NUMBERS = st.floats(-50, 50, width=16) | st.integers(-3, 3).map(float) | st.none()


@given(
    st.lists(NUMBERS, min_size=20, max_size=150),
    st.integers(0, 9),
    st.sampled_from([2, 3, 5, 13]),
    st.sampled_from([2, 5, 30, 60]),
    st.sampled_from([7, 40]),
    st.booleans(),
)
@settings(max_examples=200)
def test_numbers_taken_together_change_no_cut(
    numbers: list[float | None], people: int, max_codes: int, buckets: int, batch: int, whole: bool
) -> None:
    """More numbers than are kept: the cuts and the bounds are those of all of them, and so is the place of each row."""
    numbers[0] = 1.0
    rows = pa.table({"n": pa.array([None if x is None else round(x) if whole else x for x in numbers], pa.float64())})
    source = open_source(pads.dataset(rows))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("MANY", 3), ("BUCKETS", buckets), ("SAMPLE", 10 * buckets)):
            patch.setattr(coarse, name, value)
        with CodedRows(source, ["n"], keep={"n": coarse.Keep(max_codes, people)}, batch=batch) as coded:
            found = _settled(coded.columns["n"], people, max_codes)
            wanted = _settled(to_table(rows)["n"], people, max_codes)
            if isinstance(wanted, str):
                assert found == wanted
                return
            (column, feature, codes), (whole_column, whole_feature, whole_codes) = found, wanted
            assert column.bounds == whole_column.bounds
            assert feature.cuts.tolist() == whole_feature.cuts.tolist()
            assert (feature.quantiles, feature.n_codes) == (whole_feature.quantiles, whole_feature.n_codes)
            placed = [coded.codes(replace(column, codes=codes), number) for number in range(coded.n_batches)]
            assert np.concatenate(placed).tolist() == whole_codes.tolist()


def _settled(column: Any, people: int, max_codes: int) -> Any:
    try:
        column = declare_column(column, None, people, None)
    except ShoalError as refusal:
        return str(refusal)
    return column, *make_feature(column, public=not people, hierarchies={}, max_codes=max_codes)


def _engines(chunk: int) -> tuple[MemoryEngine, StreamEngine, CodedRows]:
    rng = np.random.default_rng(4)
    columns = {"a": rng.integers(0, 3, 60), "b": rng.integers(0, 2, 60), "t": rng.integers(0, 2, 60)}
    coded = CodedRows(
        open_source(pads.dataset(pa.table(columns)), kinds=dict.fromkeys(columns, "categorical")), [*columns], batch=7
    )
    features = [Feature("a", True, 3), Feature("b", True, 2)]
    memory = MemoryEngine(
        features, [columns["a"].astype(np.uint8), columns["b"].astype(np.uint8)], columns["t"].astype(np.uint8), 2
    )
    made = [(feature, coded.columns[feature.name].codes) for feature in features]
    return memory, StreamEngine(coded, made, coded.columns["t"], [], chunk), coded


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 1)), max_size=12), st.sampled_from([1, 4, 25, 100]))
@settings(max_examples=40)
def test_any_splits_leave_everybody_at_the_same_place(splits: list[tuple[int, int]], chunk: int) -> None:
    """Also of sets that were split before: their former parts are void."""
    memory, stream, coded = _engines(chunk)
    ways = [np.array([[0, 1, 2]], dtype=np.int32), np.array([[1, 0]], dtype=np.int32)]
    with coded:
        parts: dict[int, list[int]] = {0: []}  # live sets
        for which, feature in splits:
            one = sorted(parts)[which % len(parts)]
            for dead in _below(parts, one):
                del parts[dead]
            ids = np.array([one])
            new = memory.split_nodes(ids, feature, ways[feature], 3 - feature)
            assert (stream.split_nodes(ids, feature, ways[feature], 3 - feature) == new).all()
            parts[one] = [int(each) for each in new[0] if each >= 0]
            parts |= {each: [] for each in parts[one]}
            asked = np.array(sorted(parts))
            for f in (0, 1):
                assert (memory.node_counts(asked, f) == stream.node_counts(asked, f)).all()
                for each in asked:
                    assert (memory._nodes.keys(each, f) == stream._nodes.keys(each, f)).all()
        stream.close()


def _below(parts: dict[int, list[int]], one: int) -> list[int]:
    return [each for part in parts[one] for each in (part, *_below(parts, part))]


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classifier, "open_rows", lambda _, source: StreamRows(source, batch=4000, chunk=9000))


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize(
    "manner",
    [
        {"privacy": 50, "variant": "id3"},
        {"privacy": 50, "variant": "c45"},
        {"privacy": 50},
        {"privacy": 50, "hierarchies": {"age": {"equal_size": [8, 4]}}, "variant": "c45"},
        {"privacy": KAnonymity(50) & EntropyDiversity(1.3), "private": ["education", "sex"], "max_leaves": 12},
        {"privacy": KAnonymity(50), "private": ["hours-per-week", "sex"], "sensitive": ["sex"], "max_depth": 3},
    ],
    ids=["id3", "c45", "best", "hierarchy", "diverse", "private"],
)
def test_adult(manner: dict[str, Any], shoal_data: Path) -> None:
    path = shoal_data / "adult_train.csv.gz"
    table = read_table(path)
    private = manner.pop("private", [])
    if private:
        names = ["age", "education", "sex", "race", "hours-per-week", "income"]
        table = table.select(names)
        manner["public"] = [name for name in names[:-1] if name not in private]
    wanted = AnonymousTreeClassifier(**manner).fit(table, "income").release_
    ours = AnonymousTreeClassifier(engine="stream", **manner).fit(table if private else path, "income").release_
    assert ours.to_json() == wanted.to_json()
    assert ours.verdict == wanted.verdict
    assert len(ours.leaves) > 3


@pytest.mark.usefixtures("small_batches")
def test_the_order_of_files_changes_nothing(tmp_path: Path, shoal_data: Path) -> None:
    rows = pa.table(
        {name: np.asarray(column.values)[column.codes] for name, column in _complete_adult(shoal_data).items()}
    )
    places = np.random.default_rng(0).permutation(5)
    found = []
    for name, order in (("a", range(5)), ("b", places)):
        folder = tmp_path / name
        folder.mkdir()
        for number, part in enumerate(order):
            pq.write_table(rows.slice(part * 7000, 7000), folder / f"{number}.parquet")
        found.append(AnonymousTreeClassifier(50, variant="id3", engine="stream").fit(folder, "income").release_)
    assert found[0].to_json() == found[1].to_json()


def _complete_adult(shoal_data: Path) -> Any:
    return read_table(shoal_data / "adult_train.csv.gz").select(["age", "education", "sex", "income"]).complete()


def test_predictions_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    age, sex = rng.integers(0, 90, 3000), rng.choice(["f", "m"], 3000)
    sick = np.where(rng.random(3000) < 0.2, sex == "f", age > 50)
    people = pa.table({"age": age, "sex": sex, "sick": sick})
    pq.write_table(people.drop(["sick"]), tmp_path / "people.parquet")
    release = AnonymousTreeClassifier(20).fit(people, "sick").release_
    release.save(tmp_path / "tree.json")
    monkeypatch.chdir(tmp_path)
    assert run(["predict", "tree.json", "people.parquet", "--engine", "stream", "-o", "answers.csv"]) == 0
    assert run(["predict", "tree.json", "people.parquet", "-o", "memory.csv"]) == 0
    assert read_table("answers.csv")["sick"].codes.tolist() == read_table("memory.csv")["sick"].codes.tolist()
    assert predict_file(release, "people.parquet", "answers.parquet") == 3000
    answers = pq.read_table("answers.parquet")["sick"].to_pylist()
    assert answers == [str(answer) for answer in release.predict(people)]
    assert run(["predict", "tree.json", "people.parquet", "--engine", "stream"]) == 2
    strange = pa.table({"age": [1, 2], "sex": ["f", "x"]})
    with pytest.raises(ShoalError, match="outside the release's declared domain"):
        predict_file(release, strange, "strange.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["people.parquet", "tree.json", "answers.csv", "memory.csv", "answers.parquet"]
    )


def test_a_moment_is_the_same_beside_whatever_others(tmp_path: Path) -> None:
    """Days are written as days where all of a table are, so batches of one column may write them in two ways."""
    when = [f"2020-01-0{1 + i}T{hour}" for i, hour in enumerate(["00:00:00", "00:00:00", "05:30:00.25"])] * 400
    moments = pa.array([np.datetime64(text, "us") for text in when]).cast(pa.timestamp("us", "UTC"))
    table = pa.table({"when": moments, "sick": ["y", "n", "y"] * 400})
    release = AnonymousTreeClassifier(20).fit(table, "sick").release_
    days = table.filter(pa.array([text.endswith("00:00:00") for text in when]))
    assert release.predict(days).tolist() == ["y", "n"] * 400
    assert predict_file(release, days, tmp_path / "answers.csv") == 800


@pytest.mark.parametrize("classes", [pa.int64(), pa.float64(), pa.decimal128(10, 1)])
def test_a_target_of_numbers(classes: pa.DataType) -> None:
    z = np.arange(1500) % 6
    table = pa.table({"x": z, "sick": pa.array(z % 3).cast(pa.float64()).cast(classes)})
    mined = [AnonymousTreeClassifier(20, engine=engine).fit(table, "sick").release_ for engine in ("memory", "stream")]
    assert mined[0].to_json() == mined[1].to_json()
    assert audit(mined[0], table, engine="stream").to_json() == audit(mined[0], table).to_json()


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_a_target_of_numbers_that_are_not_told_apart(engine: str) -> None:
    z = np.arange(600) % 3
    tree = AnonymousTreeClassifier(20, engine=engine).fit({"x": z, "t": 10**15 + z}, "t")
    assert tree.release_.classes == tuple(str(10**15 + i) for i in range(3))
    with pytest.raises(ShoalError, match="cannot be told apart"):
        AnonymousTreeClassifier(20, engine=engine).fit({"x": z, "t": 2**53 + z}, "t")


def test_what_batches_cannot_do() -> None:
    people = {"age": [1, 2, 3, 4] * 10, "who": list(range(20)) * 2, "t": ["x", "y"] * 20}
    with pytest.raises(ShoalError, match="name the target's column"):
        AnonymousTreeClassifier(5, engine="stream").fit({"age": people["age"]}, people["t"])
    with pytest.raises(ShoalError, match="Several rows a person need"):
        AnonymousTreeClassifier(5, engine="stream", person="who").fit(people, "t")
    with pytest.raises(ShoalError, match="'u'"):
        AnonymousTreeClassifier(5, engine="stream").fit(people, "u")
    tree = AnonymousTreeClassifier(5).fit({"age": people["age"], "t": people["t"]}, "t")
    found = audit(tree, {"age": people["age"], "u": people["t"]}, "u", engine="stream")
    assert found.holds
    assert found.n_rows == 40
    with pytest.raises(ShoalError, match="batch at a time"):
        _ = found.size_of_row
    for wrong in ({"engine": "stream", "person": "who"}, {"engine": "abacus"}):
        with pytest.raises(ShoalError):
            audit(tree, people, "t", **wrong)
