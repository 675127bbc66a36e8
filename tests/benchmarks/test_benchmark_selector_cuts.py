"""Cuts and folds of the selector: a small run, and what is made of sets that were kept."""

import numpy as np

from benchmarks.papers.inference import selector_cuts
from tests.asserts import assert_same


def test_a_small_run_has_a_line_for_every_way():
    rows = selector_cuts.simulate(n_rows=(60,), n_data_sets=1, n_seeds=2)
    assert [row["way"] for row in rows] == 2 * [*selector_cuts.WAYS]
    assert selector_cuts.table(rows).count("\n") == 1 + len(rows)


def test_shares_by_hand():
    kept = np.zeros((1, 3, 15), dtype=bool)
    kept[0, 0, [0, 1, 9]] = True  # two useful ones and a useless one
    kept[0, 1, [0, 1]] = True
    found = selector_cuts.summary(kept)  # the third seed keeps nothing
    assert_same([found["false"], found["found"]], [round(1 / 9, 3), round(4 / 15, 3)])
    assert found["agree"] == round((2 / 3 + 0 + 0) / 3, 3)
