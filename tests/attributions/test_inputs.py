"""What attributions are given, and what they refuse by name."""

import datetime

import numpy as np
import pandas as pd
import pytest

from attributions import absolute, forest_inner, held_out_gain, predecomp, tree_inner
from tests.attributions.measures import EXPLAINING, JUDGING, MEASURES
from tests.greedy import GreedyClassifier, GreedyRegressor

RNG = np.random.default_rng(0)
X, X_NEW = RNG.normal(size=(2, 60, 3))
Y, Y_NEW = X[:, 0], X_NEW[:, 0]
MODEL = GreedyRegressor(n_estimators=2).fit(X, Y)
CLASSIFIER = GreedyClassifier(n_estimators=2).fit(X, np.where(Y > 0, "yes", "no"))

ASK_TARGETS = (*JUDGING, "permutation", "unbiased_gain")
ASK_WEIGHTS = (
    "absolute", "held_out_gain", "tree_inner", "partial_inner", "forest_inner", "tree_inner_pairs"
)  # fmt: skip

TARGETS = {
    "dates": (Y_NEW.astype("datetime64[D]"), r"y holds dates \(datetime64\[D\]\)"),
    "a list of dates": ([datetime.date(2020, 2, 2)] * 60, "y holds dates"),
    "a series of dates": (pd.Series(pd.to_datetime(["2020-02-02"] * 60)), "y holds dates"),
    "numbers spelt out": (Y_NEW.astype(str), "y must be numbers, and holds text"),
    "masked": (np.ma.array(Y_NEW, mask=np.arange(60) == 7), "y is masked in row 7"),
    "too few": (np.ones(59), r"y has shape \(59,\).*\(60,\)"),
    "a table": (np.ones((60, 2)), r"y has shape \(60, 2\)"),
    "missing": (np.r_[0.0, np.nan, np.ones(58)], "nan in row 1"),
}


def test_labels():
    dates = Y_NEW.astype("datetime64[D]")
    with pytest.raises(ValueError, match="y holds dates"):
        tree_inner(CLASSIFIER, X_NEW, dates)
    with pytest.raises(ValueError, match=r"'no'; the model tells 0 from 1.* place in classes_"):
        tree_inner(CLASSIFIER.ensemble_, X_NEW, np.where(Y_NEW > 0, "yes", "no"))
    masked = np.ma.array(np.where(Y_NEW > 0, "yes", "no"), mask=Y_NEW > 1)
    with pytest.raises(ValueError, match="y is masked in row"):
        tree_inner(CLASSIFIER, X_NEW, masked)


WEIGHTS = {
    "balanced": ("balanced", r"'balanced' is not one number for each row.*compute_sample_weight\("),
    "numbers spelt out": (np.ones(60).astype(str), "sample_weight must be numbers"),
    "masked": (np.ma.array(np.ones(60), mask=Y > 1), "sample_weight is masked in row"),
    "spans": (np.ones(60, "m8[D]"), "sample_weight holds dates"),
    "too few": (np.ones(59), "sample_weight has shape"),
    "negative": (-np.ones(60), "must not be negative; row 0 has -1.0"),
    "nothing": (np.zeros(60), "sample_weight is zero for every row"),
    "missing": (np.full(60, np.nan), "sample_weight is nan in row 0"),
}


FRAME = pd.DataFrame(X_NEW, columns=["a", "b", "c"])
TABLES = {
    "dates": (X_NEW.astype("datetime64[D]"), r"column 0 \(datetime64\[D\]\)"),
    "numbers spelt out": (X_NEW.astype(str), r"column 0 \(<U"),
    "infinite": (np.where(X_NEW[7, 1] == X_NEW, -np.inf, X_NEW), "X holds -inf in row 7, column"),
    "a frame": (FRAME.astype({"b": str}), r"not numbers: 'b' \(str"),
    "sparse": (FRAME.astype({"b": "Sparse[float]"}), r"not numbers: 'b' \(Sparse"),
    "too few columns": (X_NEW[:, :2], r"shape \(60, 2\).*3 columns"),
}


REFUSED = [  # a part of what measures are given, something else, what is said, and by whom
    *(("y", *row, ASK_TARGETS) for row in TARGETS.values()),
    *(("sample_weight", *row, ASK_WEIGHTS) for row in WEIGHTS.values()),
    *(("X", *row, (*EXPLAINING, *ASK_TARGETS)) for row in TABLES.values()),
]


@pytest.mark.parametrize(
    ("part", "given", "message", "names"), REFUSED, ids=[*TARGETS, *WEIGHTS, *TABLES]
)
def test_what_is_no_table_target_or_weight_is_refused_by_all(part, given, message, names):
    for name in names:
        with pytest.raises(ValueError, match=message):
            MEASURES[name](MODEL, **{"X": X_NEW, "y": Y_NEW, part: given}, training=(X, Y))


def test_no_rows():
    for name in ("absolute", *ASK_TARGETS):
        with pytest.raises(ValueError, match="no rows"):
            MEASURES[name](MODEL, X_NEW[:0], Y_NEW[:0], (X, Y))
    for name in set(EXPLAINING) - {"absolute"}:
        assert len(MEASURES[name](MODEL, X_NEW[:0], Y_NEW[:0], (X, Y)).values) == 0


def test_groups_and_names_of_options():
    for measure, option, message in (
        (held_out_gain, {"groups": np.arange(3)}, "one label for each row"),
        (tree_inner, {"ifa": "gain"}, "ifa='gain'"),
        (forest_inner, {"variant": "both"}, "variant='both'; use 'residual' or 'target'"),
        (absolute, {"level": "leaf"}, "level='leaf'; use 'tree' or 'forest'"),
    ):
        rows = (X_NEW,) if measure is absolute else (X_NEW, Y_NEW)
        with pytest.raises(ValueError, match=message):
            measure(MODEL, *rows, **option)


def test_entries_under_a_mask_are_missing():
    mask = RNG.random(X_NEW.shape) < 0.3
    expected = predecomp(MODEL, np.where(mask, np.nan, X_NEW))
    actual = predecomp(MODEL, np.ma.array(X_NEW, mask=mask))
    np.testing.assert_array_equal(actual.values, expected.values)
