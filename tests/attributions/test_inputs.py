"""What attributions are given, and what they refuse by name."""

import datetime

import numpy as np
import pandas as pd
import pytest

from attributions import absolute, forest_inner, partial_inner, permutation, predecomp, tree_inner
from gbt import GBTClassifier, GBTRegressor

RNG = np.random.default_rng(0)
X, X_NEW = RNG.normal(size=(2, 60, 3))
Y, Y_NEW = X[:, 0], X_NEW[:, 0]
MODEL = GBTRegressor(n_estimators=2, splitter="greedy").fit(X, Y)
CLASSIFIER = GBTClassifier(n_estimators=2, splitter="greedy").fit(X, np.where(Y > 0, "yes", "no"))

TARGETS = {
    "dates": (Y_NEW.astype("datetime64[D]"), r"y holds dates \(datetime64\[D\]\)"),
    "a list of dates": ([datetime.date(2020, 2, 2)] * 60, "y holds dates"),
    "a series of dates": (pd.Series(pd.to_datetime(["2020-02-02"] * 60)), "y holds dates"),
    "numbers spelt out": (Y_NEW.astype(str), "y must be numbers, and holds text"),
    "masked": (np.ma.array(Y_NEW, mask=np.arange(60) == 7), "y is masked in row 7"),
}


@pytest.mark.parametrize(("target", "message"), TARGETS.values(), ids=TARGETS)
def test_targets(target, message):
    for measure in (tree_inner, partial_inner, forest_inner, permutation):
        with pytest.raises(ValueError, match=message):
            measure(MODEL, X_NEW, target)


def test_labels():
    dates = Y_NEW.astype("datetime64[D]")
    with pytest.raises(ValueError, match="y holds dates"):
        tree_inner(CLASSIFIER, X_NEW, dates)
    masked = np.ma.array(np.where(Y_NEW > 0, "yes", "no"), mask=Y_NEW > 1)
    with pytest.raises(ValueError, match="y is masked in row"):
        tree_inner(CLASSIFIER, X_NEW, masked)


WEIGHTS = {
    "balanced": ("balanced", r"'balanced' is not one number for each row.*compute_sample_weight\("),
    "numbers spelt out": (np.ones(60).astype(str), "sample_weight must be numbers"),
    "masked": (np.ma.array(np.ones(60), mask=Y > 1), "sample_weight is masked in row"),
    "spans": (np.ones(60, "m8[D]"), "sample_weight holds dates"),
}


@pytest.mark.parametrize(("weight", "message"), WEIGHTS.values(), ids=WEIGHTS)
def test_weights(weight, message):
    for measure in (tree_inner, partial_inner, forest_inner):
        with pytest.raises(ValueError, match=message):
            measure(MODEL, X_NEW, Y_NEW, sample_weight=weight)
    with pytest.raises(ValueError, match=message):
        absolute(MODEL, X_NEW, sample_weight=weight)


TABLES = {
    "dates": (X_NEW.astype("datetime64[D]"), r"column 0 \(datetime64\[D\]\)"),
    "numbers spelt out": (X_NEW.astype(str), r"column 0 \(<U"),
    "infinite": (np.where(X_NEW[7, 1] == X_NEW, -np.inf, X_NEW), "X holds -inf in row 7, column"),
    "a frame": (
        pd.DataFrame(X_NEW, columns=["a", "b", "c"]).astype({"b": str}),
        r"not numbers: 'b' \(str",
    ),
    "sparse": (
        pd.DataFrame(X_NEW, columns=["a", "b", "c"]).astype({"b": "Sparse[float]"}),
        r"not numbers: 'b' \(Sparse",
    ),
}


@pytest.mark.parametrize(("table", "message"), TABLES.values(), ids=TABLES)
def test_tables(table, message):
    with pytest.raises(ValueError, match=message):
        predecomp(MODEL, table)
    for measure in (tree_inner, permutation):
        with pytest.raises(ValueError, match=message):
            measure(MODEL, table, Y_NEW)


def test_entries_under_a_mask_are_missing():
    mask = RNG.random(X_NEW.shape) < 0.3
    expected = predecomp(MODEL, np.where(mask, np.nan, X_NEW))
    actual = predecomp(MODEL, np.ma.array(X_NEW, mask=mask))
    np.testing.assert_array_equal(actual.values, expected.values)
