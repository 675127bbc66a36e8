"""Held-out gain where rows start from values of their own: what they weigh at splits."""

from dataclasses import replace

import numpy as np
import pytest

from attributions import held_out_gain, held_out_gain_rows
from gbt import GBTRegressor
from gbt.losses import Gamma, Poisson, Softmax, Tweedie
from gbt.losses.half import LOSSES
from gbt.model.tree import NODE_DTYPES, Tree
from tests.asserts import assert_close, assert_same
from tests.tree_cases import ensemble_of, stump_on

STUB = Tree(
    **{
        name: np.array([-1 if name in ("feature", "left", "right") else 0], dtype)
        for name, dtype in NODE_DTYPES.items()
    }
)


def one_stump(loss):
    """Return a model of one split at 0.5, whose left side is 2 higher, with a step of 0.5."""
    value, sums = np.array([0.0, 1, -1]), np.array([2.0, 1, 1])
    tree = replace(stump_on(0, threshold=0.5), value=value, sum_hessian=sums)
    return ensemble_of([tree], n_features=1, loss=loss, learning_rate=0.5, has_init_score=None)


@pytest.mark.parametrize("d", [None, 0.7])
def test_counts_by_hand(d):
    """Exposures 1 2 | 4 4, counts 3 1 | 2 6: G = -1 | 0, U = 3 | 8.

    -(1/0.5) * 3*8/11 * 2 * (-1/3 - 0/8) = 32/11.
    """
    X, exposure = np.array([[0.0], [0], [1], [1]]), np.array([1.0, 2, 4, 4])
    model, y = one_stump(Poisson(d)), np.array([3.0, 1, 2, 6])
    result = held_out_gain(model, X, y, init_score=np.log(exposure))
    assert_close(result.values, [32 / 11], 100.0)


def test_two_classes_by_hand():
    """Starts of 0 and log 3, p = 1/2 | 3/4: of a 1 and a 0 on the left, of a 0 on the right.

    G = 0 | 3/4, U = 2/4 | 3/16: -(1/0.5) * (1/2 * 3/16) / (11/16) * 2 * (0 - 4) = 24/11.
    """
    X, start = np.array([[0.0], [0], [1]]), np.log([1.0, 1, 3])
    model, y = one_stump(LOSSES["half_logistic"]), np.array([1.0, 0, 0])
    assert_close(held_out_gain(model, X, y, init_score=start).values, [24 / 11], 100.0)
    of_softmax = ensemble_of(
        [STUB, *model.trees], n_features=1, loss=Softmax(2), learning_rate=0.5,
        has_init_score=None, base_score=np.zeros(2),
    )  # fmt: skip
    starts = np.column_stack([0 * start, start])
    assert_close(held_out_gain(of_softmax, X, y, init_score=starts).values, [24 / 11], 100.0)


@pytest.mark.parametrize("loss", [Poisson(), Tweedie(1.0), Tweedie(1.3), Tweedie(2.0), Gamma()])
def test_one_factor_for_all_rows_is_no_contrast(loss):
    """Targets are 1.7 times what is expected, whatever the exposure, of which the column tells."""
    exposure = np.array([0.1, 0.5, 2.0, 7.0, 30.0])
    X = (exposure > 1)[:, np.newaxis] * 1.0
    model, start = one_stump(loss), np.log(exposure)
    result = held_out_gain(model, X, 1.7 * exposure, init_score=start)
    assert_close(result.values, [0.0], 100.0)
    assert_close(result.standard_error, [0.0], 1e3)
    assert held_out_gain(model, X, exposure ** [1, 1, 1, 1, 1.2], init_score=start).values < -0.01


def test_what_rows_add_is_the_slope_by_their_weight():
    rng = np.random.default_rng(0)
    X, exposure = rng.normal(size=(300, 3)), rng.lognormal(size=300)
    y, start = rng.poisson(exposure * np.exp(X[:, 0])), np.log(exposure)
    asked = {"n_estimators": 8, "max_depth": 3, "splitter": "greedy"}
    model = GBTRegressor(loss="poisson", **asked)
    model.fit(X[:200], y[:200], init_score=start[:200])
    X, y, start = X[200:], y[200:], start[200:]
    parts = held_out_gain_rows(model, X, y, init_score=start).values
    ones, step = np.ones(100), 1e-4
    for i in (0, 17, 99):
        move = step * np.eye(100)[i]
        ahead, back = (
            held_out_gain(model, X, y, sample_weight=ones + move * sign, init_score=start).values
            for sign in (1, -1)
        )
        np.testing.assert_allclose(parts[i], (ahead - back) / (2 * step), atol=1e-5)
    labels = np.arange(100) % 2
    by = held_out_gain(model, X, y, init_score=start, by=labels)
    alone = held_out_gain(model, X[::2], y[::2], init_score=start[::2])
    assert_close(by[0].values, alone.values, 1e3)
    assert_same(held_out_gain(model, X, y, init_score=start, n_jobs=1).values,
                held_out_gain(model, X, y, init_score=start, n_jobs=2).values)  # fmt: skip
