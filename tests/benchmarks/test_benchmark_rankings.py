"""Ranks over tables: by hand, and against the published table of critical values."""

import numpy as np
import pytest

from benchmarks.papers.rankings import __main__ as rankings
from benchmarks.papers.rankings.ranks import critical_difference, draw, mean_ranks
from benchmarks.papers.rankings.trainers import TRAINERS, drawn_configuration, make


def test_mean_ranks_by_hand():
    # Best is rank 1; equal scores share the mean of their ranks.
    scores = np.array([[0.9, 0.8, 0.7], [0.5, 0.5, 0.4], [0.1, 0.2, 0.3]])
    assert mean_ranks(scores).tolist() == [(1 + 1.5 + 3) / 3, (2 + 1.5 + 2) / 3, (3 + 3 + 1) / 3]


@pytest.mark.parametrize(("n_methods", "q"), [(2, 1.960), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_critical_differences_are_those_of_demsar(n_methods, q):
    """Table 5 (a) of Demsar (2006), which rounds to three decimals."""
    expected = q * np.sqrt(n_methods * (n_methods + 1) / (6 * 30))
    assert critical_difference(n_methods, 30) == pytest.approx(expected, rel=5e-4)


def test_tables_by_hand():
    rows = [
        {"data": data, "method": method, "auc": auc, "kept": 0.1}
        for data, method, auc in [
            ("a", "x", 0.5), ("a", "x", 0.7), ("a", "y", 0.8), ("b", "x", 0.9), ("b", "y", 0.7),
        ]
    ]  # fmt: skip
    table = rankings.datasets_table(rows)
    assert "| a | 0.6000 | 0.8000 |" in table
    assert "| **mean** | 0.7500 | 0.7500 |" in table
    assert "| **mean rank** | 1.50 | 1.50 |" in table


def test_all_trainers_get_the_same_configuration():
    found = drawn_configuration(np.random.default_rng(0))
    assert found == drawn_configuration(np.random.default_rng(0))
    for trainer in TRAINERS:
        model = make(trainer, found, 7)
        assert model.get_params()["n_estimators"] == 7
        assert model.get_params()["learning_rate"] == found["learning_rate"]


def test_the_picture_is_drawn(tmp_path):
    path = tmp_path / "ranks.svg"
    draw({"four": (["a", "b", "c", "d"], np.array([1.2, 2.0, 3.1, 3.7]), 1.0)}, path)
    assert path.read_text().count("<use ") >= 4  # a point a method
