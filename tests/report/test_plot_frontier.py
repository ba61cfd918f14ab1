# SPDX-License-Identifier: Apache-2.0
"""The picture of a frontier: what it says is what was found."""

from __future__ import annotations

import sys

import pytest

from shoal.errors import DataError
from shoal.partition.pareto import Corner
from shoal.report.plot_frontier import plot_frontier

# what Sect. 5.8 of the paper tells of Fig. 12a
FRONT = [Corner(0.86, 3), Corner(0.857, 35), Corner(0.856, 120), Corner(0.855, 655), Corner(0.805, 1000)]


def _lines(ax) -> dict[str, list[tuple[float, float]]]:
    return {line.get_label(): list(zip(*line.get_data(), strict=True)) for line in ax.get_lines()}


def test_one_frontier_with_its_knee_and_a_level(tmp_path) -> None:
    ax = plot_frontier(FRONT, k=50)
    lines = _lines(ax)
    assert lines["best found"] == [(1, 0.86), *((corner.level, corner.accuracy) for corner in FRONT)]
    assert lines["knee: further on costs more"] == [(655, 0.855)]
    assert sorted(text.get_text() for text in ax.texts) == ["level 120: 85.6%", "level 655: 85.5%"]
    assert "k = 50" in lines
    ax.figure.savefig(tmp_path / "frontier.png")
    ax.figure.savefig(tmp_path / "frontier.svg")
    assert (tmp_path / "frontier.png").stat().st_size > 10_000


def test_several_searches() -> None:
    other = [Corner(0.85, 30), Corner(0.80, 700)]
    lines = _lines(plot_frontier(FRONT, other, FRONT))
    assert lines["worst: all 3 searches"] == [(1, 0.85), (30, 0.85), (700, 0.8)]
    assert lines["median: at least half of them"][1:] == [(corner.level, corner.accuracy) for corner in FRONT]
    assert lines["best: at least one search"] == lines["median: at least half of them"]


def test_a_frontier_of_one_point_and_one_of_none(tmp_path) -> None:
    plot_frontier([Corner(0.7, 1)]).figure.savefig(tmp_path / "point.png")
    for fronts in ([], [[]]):
        with pytest.raises(DataError) as refused:
            plot_frontier(*fronts)
        assert refused.value.code == "no-frontier"
    with pytest.raises(DataError, match="ends at the level 1,000"):
        plot_frontier(FRONT, k=1001)


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DataError) as refused:
        plot_frontier(FRONT)
    assert refused.value.code == "no-matplotlib"
