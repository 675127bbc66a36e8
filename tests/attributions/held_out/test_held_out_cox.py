"""Held-out gain under Cox's loss, where rows depend on each other: against the definition."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import attributions
from attributions import held_out_gain, held_out_gain_rows, permutation, predecomp
from attributions.reference.held_out import rounds, splits
from gbt import GBTRegressor
from gbt.losses import Cox
from gbt.model.credit import Credit
from gbt.reference import survival as page
from tests.asserts import assert_close, assert_same

N = 30


def table(n, seed):
    """Draw three columns, times in half units (with ties), and a third of the rows censored."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    time = np.ceil(4 * rng.exponential(np.exp(-np.nan_to_num(X[:, 0])))) / 2
    return X, np.column_stack([time, rng.random(n) < 0.7])


@pytest.fixture(scope="module")
def model():
    options = {"n_estimators": 8, "max_depth": 3, "splitter": "greedy"}
    return GBTRegressor(loss="cox", **options).fit(*table(200, 0))


@pytest.fixture(scope="module")
def judging():
    X, y = table(N, 1)
    return X, y, np.random.default_rng(2).integers(1, 4, N).astype(float)


def gain_of_page(model, X, y, weight, credit=None, derivatives=page.cox_derivatives):
    """Return the gain by plain loops over splits, with the derivatives of Cox's plain page.

    Other ``derivatives`` of all rows return what their sides are divided by in the second place.
    """
    of_column = range(X.shape[1]) if credit is None else credit
    ensemble, gain = model.ensemble_, np.zeros(max(of_column) + 1)
    shown = {
        name: getattr(ensemble, name)
        for name in ("trees", "base_score", "is_forest", "learning_rate", "statistics")
    }

    def rounds_of(which):
        """Yield trees, values, and minus g, or the expected events, at predictions without k."""
        sign = (1, -1)[which]
        loss = SimpleNamespace(
            n_outputs=1,
            gradient_hessian=lambda y, f: (sign * derivatives(y, f, weight)[which], None),
        )
        return rounds(SimpleNamespace(**shown, loss=loss), X, y, credit=credit)

    for (tree, value, e, _), (_, _, u, _) in zip(rounds_of(0), rounds_of(1), strict=True):
        for t, column, on_left, on_right in splits(tree, X, weight):
            k = of_column[column]
            (E_l, U_l), (E_r, U_r) = (
                [(weight * of[:, k])[side].sum() for of in (e, u)] for side in (on_left, on_right)
            )
            if U_l > 0 and U_r > 0:
                d = value[tree.left[t]] - value[tree.right[t]]
                gain[k] += U_l * U_r / (U_l + U_r) * d * (E_l / U_l - E_r / U_r)
    return gain / ensemble.learning_rate


def test_gain_and_parts_of_rows_are_those_of_the_definition(model, judging):
    """What a row adds is the derivative of the whole sum by its weight, times that weight."""
    X, y, weight = judging
    result = held_out_gain(model, X, y, sample_weight=weight)
    expected = gain_of_page(model, X, y, weight)
    assert_close(result.values, expected, 100.0, k=1e4)
    parts = held_out_gain_rows(model, X, y).values
    ones, step = np.ones(N), 1e-4
    assert_close(parts.sum(axis=0), held_out_gain(model, X, y).values, 100.0)
    for i in (0, 17, N - 1):
        move = step * np.eye(N)[i]
        ahead, back = (gain_of_page(model, X, y, ones + sign * move) for sign in (1, -1))
        np.testing.assert_allclose(parts[i], (ahead - back) / (2 * step), atol=1e-5)


def test_on_the_training_rows_the_first_tree_is_worth_its_gain():
    X, y = table(150, 4)
    options = {"loss": "cox", "n_estimators": 1, "reg_lambda": 0.0, "splitter": "greedy"}
    model = GBTRegressor(**options).fit(X, y)
    with pytest.warns(attributions.SeenRowsWarning):
        result = held_out_gain(model, X, y)
    gain = attributions.total_gain(model).values
    assert gain.min() > 1
    assert_close(result.values, gain, 150.0)


def test_columns_of_one_feature(model, judging):
    X, y, weight = judging
    credit = (0, 0, 1)
    one = replace(model.ensemble_, credit=Credit(credit, ("both", "other")))
    result = held_out_gain(one, X, y, sample_weight=weight)
    assert_close(result.values, gain_of_page(model, X, y, weight, credit=credit), 100.0, k=1e4)
    assert held_out_gain_rows(one, X, y).values.shape == (N, 2)


def test_weights_groups_and_threads(model, judging):
    X, y, weight = judging
    times = weight.astype(int)
    repeated = held_out_gain(
        model, np.repeat(X, times, axis=0), np.repeat(y, times, axis=0),
        groups=np.repeat(np.arange(N), times),
    )  # fmt: skip
    weighted = held_out_gain(model, X, y, sample_weight=weight, n_jobs=1)
    assert_close(weighted.values, repeated.values, 100.0)
    assert_same(held_out_gain(model, X, y, sample_weight=weight, n_jobs=2).values, weighted.values)
    each = held_out_gain(model, X, y, groups=np.arange(N))
    alone = held_out_gain(model, X, y)
    assert_close(each.standard_error, alone.standard_error, 10.0)


def test_per_cent_are_of_the_loss_of_the_null_model(judging):
    """By hand: the sum over event times of D log(number at risk / D)."""
    X, y = judging[:2]
    model = GBTRegressor(loss="cox", n_estimators=2, splitter="greedy").fit(*table(100, 0))
    null = 0.0
    for time in np.unique(y[y[:, 1] == 1, 0]):
        n_deaths = ((y[:, 0] == time) & (y[:, 1] == 1)).sum()
        null += n_deaths * np.log((y[:, 0] >= time).sum() / n_deaths)
    result = held_out_gain(model, X, y)
    assert_close(result.percent(), 100 * 0.1 * result.values / (2 * null), 10.0)


@pytest.mark.filterwarnings("ignore::attributions.held_out.LevelWarning")
def test_other_measures_say_that_rows_depend_on_each_other(model):
    X, y = table(60, 1)
    for name in ("tree_inner", "partial_inner", "forest_inner", "tree_inner_rows"):
        with pytest.raises(ValueError, match=r"Under the cox loss rows depend.*held_out_gain"):
            getattr(attributions, name)(model, X, y)
    with pytest.raises(ValueError, match=r"Under the cox loss rows depend.*by=labels"):
        attributions.loss_change(model, (X[:30], y[:30]), (X[30:], y[30:]))
    result = permutation(model, X, y, random_state=0, n_repeats=2)
    assert result.method == "permutation(concordance)"
    assert result.values[0] == max(result.values) > 0.05
    raw = model.predict(X)
    assert_close(predecomp(model, X).residual(raw), 0 * raw, 1 + abs(raw))


def test_rows_of_training_are_recognised(model):
    X, y = table(200, 0)
    with pytest.warns(attributions.SeenRowsWarning, match="200 of the 200"):
        held_out_gain(model, X, y)
    of_file = replace(model.ensemble_, seen_rows=None, loss=Cox())
    with pytest.warns(attributions.SeenRowsWarning):
        held_out_gain(of_file, X, y)
