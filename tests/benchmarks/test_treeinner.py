"""The paper's experiments: what was published, and scores of one model from their definitions."""

import numpy as np
import pandas as pd
import pytest

from attributions import permutation, predecomp, tree_shap
from benchmarks.papers.treeinner import methods
from benchmarks.papers.treeinner.methods import CELLS, Cell
from benchmarks.papers.treeinner.protocol import STANDARD, TASKS, Protocol, fit, scaled_chip
from benchmarks.study.data import FOLDER
from gbt import Ensemble
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
    for rows, (X, y) in (("train", train), ("valid", valid)):
        residual = y - model.ensemble_.base_score
        by_tree = {"PreDecomp": [], "TreeSHAP": []}
        for tree in model.ensemble_.trees:
            alone = Ensemble.from_trees([tree], **others_of(model.ensemble_))
            for attribution, function in (("PreDecomp", predecomp), ("TreeSHAP", tree_shap)):
                by_tree[attribution].append((function(alone, X).values, residual))
            residual = residual - alone.raw_predict(X)
        for attribution, pairs in by_tree.items():
            contributions = np.array([r for r, _ in pairs])
            residuals = np.array([g for _, g in pairs])
            forest = contributions.sum(axis=0)
            inner = contributions * residuals[:, :, np.newaxis] / 0.01
            outer = forest * residuals.sum(axis=0)[:, np.newaxis] / 0.01
            absolutes = np.abs(contributions).sum(axis=(0, 1))
            outer_terms = np.abs(contributions).sum(axis=0).T @ np.abs(residuals).sum(axis=0) / 0.01
            for score, expected, terms in (
                ("TreeInner", inner.sum(axis=(0, 1)), np.abs(inner).sum(axis=(0, 1))),
                ("ForestInner", outer.sum(axis=0), outer_terms),
                ("Abs", absolutes, absolutes),
            ):
                assert_close(found[Cell(score, rows, attribution)], expected, terms)
            if (rows, attribution) == ("train", "PreDecomp"):  # Proposition 3
                gain = model.ensemble_.total_gain()
                assert_close(found[methods.GAIN], gain, np.abs(inner).sum(axis=(0, 1)))
        with methods.training_rows_are_meant():
            shuffled = permutation(model, X, y, n_repeats=1, random_state=seeds[rows])
        assert_same(found[Cell("Permutation", rows, "-")], shuffled.values)


def others_of(ensemble):
    names = ("learning_rate", "reg_lambda", "loss", "feature_names")
    return {name: getattr(ensemble, name) for name in names} | {"base_score": 0.0}
