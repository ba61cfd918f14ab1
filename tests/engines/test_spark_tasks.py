# SPDX-License-Identifier: Apache-2.0
"""The Spark engine on a cluster of one process: the same trees as from memory, in as many jobs as rounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.spark import RowsInProcess
from helpers.strategies import Case, cases
from shoal import Confidence, EntropyDiversity, KAnonymity, PromiseError, to_table
from shoal.data import load_hierarchies
from shoal.data.roles import Roles
from shoal.engines import MemoryEngine, known, outlook, spark
from shoal.engines.base import Feature
from shoal.trees.mine import mine_tree

MANNERS = [
    {},
    {"criterion": "ratio", "pruning": 0.5},
    {"criterion": "gini", "grouping": "halves", "pruning": 0.5, "search": True},
    {"criterion": "gini", "grouping": "halves", "pruning": "cost", "search": True},
    {"criterion": "gini", "grouping": "halves", "pruning": "cost"},
    {"grouping": "merge", "max_leaves": 5},
    {"lookahead": 1, "max_depth": 3},
]


def mined(case: Case, requirement, rows: RowsInProcess | None = None, **manner):
    hierarchies = load_hierarchies(case.hierarchies, case.roles.features)
    table = case.table if rows is None else rows.count(case.table.names)
    return mine_tree(table, case.roles, requirement, domain=case.domain, hierarchies=hierarchies, rows=rows, **manner)


@pytest.mark.parametrize("manner", MANNERS, ids=str)
@given(
    cases(max_rows=40),
    st.integers(1, 4),
    st.sampled_from([None, EntropyDiversity(1.2), Confidence(0.9)]),
    st.sampled_from([1, 3, 70]),
    st.integers(0, 9),
    st.booleans(),
)
@settings(max_examples=15)
def test_same_tree_as_from_memory(manner, case: Case, k: int, more, n_tasks: int, seed: int, on_driver: bool):
    requirement = KAnonymity(k) if more is None or case.roles.target_role == "public" else KAnonymity(k) & more
    rows = RowsInProcess(case.table, n_tasks=n_tasks, seed=seed, most_groups=1 << 20 if on_driver else 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outlook, "MOST_PEOPLE", 10)
        try:
            expected = mined(case, requirement, **manner).to_json()
        except PromiseError as refusal:
            with pytest.raises(PromiseError, match=str(refusal)[:20]):
                mined(case, requirement, rows, **manner)
            return
        assert mined(case, requirement, rows, **manner).to_json() == expected


@given(cases(max_rows=40), st.integers(1, 3))
@settings(max_examples=25)
def test_same_tree_where_counts_do_not_fit_one_job(case: Case, k: int):
    rows = RowsInProcess(case.table, most_groups=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark, "MOST_CELLS", 40)
        patch.setattr(known, "MOST_CELLS", 40)
        expected = mined(case, KAnonymity(k)).to_json() if len(case.rows) >= k else None
        if expected is not None:
            assert mined(case, KAnonymity(k), rows).to_json() == expected


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 1)), max_size=12))
@settings(max_examples=30)
def test_any_splits_give_the_same_counts(splits: list[tuple[int, int]]):
    """Also of sets that were split before, and of a set together with its parts."""
    rng = np.random.default_rng(1)
    table = to_table({name: rng.choice(list(values), 80) for name, values in (("a", "xyz"), ("b", "pq"), ("t", "01"))})
    features = [Feature("a", True, 3), Feature("b", True, 2)]
    memory = MemoryEngine(features, [table["a"].codes, table["b"].codes], table["t"].codes, 2)
    rows = RowsInProcess(table).rows
    made = [(each, rows.columns[each.name].codes) for each in features]
    engine = spark.SparkEngine(rows, made, rows.columns["t"], [])
    ways = [np.array([[0, 1, 2]], dtype=np.int32), np.array([[1, 0]], dtype=np.int32)]
    live = [0]
    for which, f in splits:
        one = live[which % len(live)]
        ids = np.array([one])
        counts = memory.node_counts(ids, f)
        assert (engine.node_counts(ids, f) == counts).all()
        new = memory.split_nodes(ids, f, ways[f], 3 - f)
        assert (engine.split_nodes(ids, f, ways[f], 3 - f) == new).all()
        live = [each for each in live if each < one] + [int(each) for each in new[0] if each >= 0] + [one]
        parts = new[new >= 0]
        assert (engine.node_classes(parts) == memory.node_classes(parts)).all()
        assert (engine.node_counts(np.append(parts, one), 1 - f)[:-1] == memory.node_counts(parts, 1 - f)).all()


@pytest.mark.parametrize(("n_tasks", "most"), [(5, 5), (70, 1)])
def test_what_reaches_the_driver_is_what_the_formula_says(n_tasks: int, most: int, monkeypatch: pytest.MonkeyPatch):
    """docs/explanation/scale.md: 12 bytes a count that is not nought, of each task; of many tasks, of all together."""
    rng = np.random.default_rng(4)
    table = to_table(
        {name: rng.integers(0, 9, 3000).astype(str) for name in "abc"} | {"t": rng.choice(["n", "y"], 3000)}
    )
    rows = RowsInProcess(table, n_tasks=n_tasks)
    unpacked, sent = spark.unpacked, []
    monkeypatch.setattr(
        spark, "unpacked", lambda size, found: sent.append((size, moved(found), found)) or unpacked(size, found)
    )
    roles = Roles.resolve(table.names, target="t")
    mine_tree(rows.count(table.names), roles, KAnonymity(5), rows=rows, max_depth=3)
    assert [size for size, *_ in sent] == [3 * 9 * 2, 9 * 3 * 9 * 2, 9 * 9 * 3 * 9 * 2]  # all nodes are open
    for size, n_bytes, found in sent:
        assert n_bytes == 12 * sum(np.count_nonzero(unpacked(size, found.slice(i, 1))) for i in range(len(found)))
        assert n_bytes <= 12 * most * min(size, 3 * 3000)


def moved(found) -> int:
    return sum(len(cell) for name in ("keys", "people") for cell in found.column(name).to_pylist())
