"""Example 1 of Sun 2022, every method in fractions, through the public functions.

Rows A (0, 0; 0), B (0, 1; 1), C (1, 0; -1); half squared error, lambda 1, alpha 1, one split, base
score 0. The two features are alike but for who is who, so both splits gain 5/6 and an attribution
can only say which of them the tree took::

                     structure I: x1, left A B, right C      structure II: x2, left A C, right B
    p(t)             0       1/3   -1/2                      0       -1/3   1/2
    mean leaf        1/18                                   -1/18
    PreDecomp        A, B  1/3      C  -1/2                  A, C  -1/3      B  1/2
    Saabas, SHAP     A, B  5/18     C  -5/9                  A, C  -5/18     B  5/9
"""

from fractions import Fraction as F

import numpy as np
import pytest

from attributions import (
    absolute,
    forest_inner,
    partial_inner,
    predecomp,
    saabas,
    total_gain,
    tree_inner,
    tree_shap,
)
from gbt import GBTRegressor
from tests.asserts import assert_close, assert_same
from tests.tree_cases import example_1

METHODS = {"predecomp": predecomp, "saabas": saabas, "tree_shap": tree_shap}
ROWS = {  # of the feature that is split on: A, B, C
    ("predecomp", 0): (F(1, 3), F(1, 3), F(-1, 2)),
    ("predecomp", 1): (F(-1, 3), F(1, 2), F(-1, 3)),
    ("saabas", 0): (F(5, 18), F(5, 18), F(-5, 9)),
    ("saabas", 1): (F(-5, 18), F(5, 9), F(-5, 18)),
    ("tree_shap", 0): (F(5, 18), F(5, 18), F(-5, 9)),
    ("tree_shap", 1): (F(-5, 18), F(5, 9), F(-5, 18)),
}
BASE = {
    ("predecomp", 0): F(0),
    ("predecomp", 1): F(0),
    ("saabas", 0): F(1, 18),
    ("saabas", 1): F(-1, 18),
    ("tree_shap", 0): F(1, 18),
    ("tree_shap", 1): F(-1, 18),
}
both_structures = pytest.mark.parametrize("split_on", [0, 1], ids=["I", "II"])


def floats(fractions):
    return np.array([float(f) for f in fractions])


@both_structures
@pytest.mark.parametrize("method", METHODS)
def test_per_row(method, split_on):
    model, X, _ = example_1(split_on)
    result = METHODS[method](model, X)
    assert_close(result.values[:, split_on], floats(ROWS[method, split_on]), 1.0)
    assert_same(result.values[:, 1 - split_on], np.zeros(3))
    assert_close(result.base_values, np.full(3, float(BASE[method, split_on])), 1.0)
    assert_close(result.residual(model.raw_predict(X)), np.zeros(3), 1.0)


@both_structures
@pytest.mark.parametrize("method", METHODS)
def test_per_feature(method, split_on):
    """The gradients are (0, -1, 1), so every inner product is that of B less that of C: 5/6."""
    model, X, y = example_1(split_on)
    _, b, c = ROWS[method, split_on]
    assert b - c == F(5, 6)
    expected = np.zeros(2)
    expected[split_on] = 5 / 6
    for inner in (tree_inner, partial_inner, forest_inner):
        assert_close(inner(model, X, y, ifa=method).values, expected, 1.0)
    assert_close(forest_inner(model, X, y, ifa=method, variant="target").values, expected, 1.0)
    assert_close(total_gain(model).values, expected, 1.0)
    used = float(sum(abs(f) for f in ROWS[method, split_on]))
    for level in ("tree", "forest"):
        assert_close(absolute(model, X, ifa=method, level=level).values[split_on], used, 2.0)


def test_the_trainer_grows_structure_1():
    """Both splits gain 5/6: a tie, which goes to the first feature."""
    structure_1, X, y = example_1(split_on=0)
    model = GBTRegressor(
        n_estimators=1,
        learning_rate=1.0,
        max_depth=1,
        reg_lambda=1.0,
        base_score=0.0,
        splitter="greedy",
    ).fit(X, y)
    for name in ("feature", "threshold", "value", "gain", "sum_gradient", "sum_hessian"):
        assert_same(getattr(model.ensemble_, name), getattr(structure_1, name))
