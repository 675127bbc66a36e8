"""The paper's experiments: what was published, and scores of one model from their definitions."""

import numpy as np
import pandas as pd
import pytest

from attributions import permutation
from attributions.per_row.individual import attribute_per_tree
from benchmarks.papers.treeinner import methods
from benchmarks.papers.treeinner.methods import CELLS, Cell
from benchmarks.papers.treeinner.protocol import STANDARD, TASKS, Protocol, fit, scaled_chip
from benchmarks.study.data import FOLDER
from tests.asserts import assert_close, assert_same

CHIP_R = TASKS[1]
TINY = Protocol(shrink=100)  # 4 trees, 200 rows


@pytest.fixture
def chip(tmp_path, monkeypatch):
    """Write two files in the format of the ChIP data; return the features of both."""
    rng = np.random.default_rng(7)
    parts = []
    for part in ("chip_train", "chip_valid"):
        rows = rng.integers(0, 9, size=(60, 80)).astype(float)
        rows[:, 3] = 2.0  # a constant column
        rows *= len(parts) + 1  # held-out rows beyond the extremes of the training rows
        frame = pd.DataFrame(rows).assign(enhancer=1)
        frame.to_csv(tmp_path / f"{part}.csv.gz", index=False)
        parts.append(rows)
    monkeypatch.setenv(FOLDER, str(tmp_path))
    yield parts
    scaled_chip.cache_clear()


def test_noisy_columns_are_shuffled_and_relevant_ones_are_not(chip):
    train, valid = chip
    low, high = train.min(axis=0), train.max(axis=0)
    span = np.where(high > low, high - low, 1)
    drawn = TINY.draw(CHIP_R, 0)
    assert drawn.is_relevant.sum() == 5
    for rows, X in ((train, drawn.X_train), (valid, drawn.X_valid)):
        scaled = (rows - low) / span
        assert_same(np.sort(X, axis=0), np.sort(scaled, axis=0))
        moved = (scaled != X).any(axis=0)
        moved[3] = not drawn.is_relevant[3]
        assert_same(moved, ~drawn.is_relevant)


def test_every_line_of_table_4_is_what_it_says():
    data = TINY.draw(TASKS[3], 0)
    model = fit(TASKS[3], STANDARD, 4, data.X_train, data.y_train)
    seeds = {"train": 5, "valid": 6}
    found = methods.scores_of_table_4(model.ensemble_, data, seeds)
    assert set(found) == set(CELLS)
    train, valid = (data.X_train, data.y_train), (data.X_valid, data.y_valid)
    ensemble = model.ensemble_
    for rows, (X, y) in (("train", train), ("valid", valid)):
        *before, _ = [np.full(len(y), ensemble.base_score), *ensemble.staged_raw_predict(X)]
        residual = y - np.array(before)
        for attribution, ifa in methods.IFA_NAMES.items():
            steps = np.array([values for _, values in attribute_per_tree(ensemble, X, ifa)])
            forest = steps.sum(axis=0) * residual.sum(axis=0)[:, np.newaxis]
            for score, parts in (
                ("TreeInner", steps * residual[:, :, np.newaxis] / 0.01),
                ("ForestInner", forest[np.newaxis] / 0.01),
                ("Abs", np.abs(steps)),
            ):
                terms = np.abs(steps).sum() * np.abs(residual).sum()
                assert_close(found[Cell(score, rows, attribution)], parts.sum(axis=(0, 1)), terms)
        with methods.training_rows_are_meant():
            shuffled = permutation(model, X, y, n_repeats=1, random_state=seeds[rows])
        assert_same(found[Cell("Permutation", rows, "-")], shuffled.values)
    gain = ensemble.total_gain()
    assert_close(found[methods.GAIN], gain, 1e3 * gain.sum())  # Proposition 3
