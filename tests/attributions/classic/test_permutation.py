import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics import log_loss, mean_poisson_deviance, mean_squared_error

from attributions import permutation
from attributions.classic.shuffled_tables import random_order
from attributions.reference import definitions as reference
from attributions.testing import ensembles, rows_for
from tests.asserts import assert_close, assert_same
from tests.attributions.held_out.test_inner import fitted_rows
from tests.greedy import GreedyRegressor


def test_seeds():
    ensemble, X, y = fitted_rows(50)
    one = permutation(ensemble, X, y, random_state=0, n_jobs=1)
    assert_same(permutation(ensemble, X, y, random_state=np.int64(0)).repeats, one.repeats)
    assert one.repeats.shape == (4, 5)
    assert (permutation(ensemble, X, y, random_state=1).repeats != one.repeats)[:2].any()
    unseeded = [permutation(ensemble, X, y).repeats for _ in range(2)]
    assert (unseeded[0] != unseeded[1])[:2].any()
    states = [permutation(ensemble, X, y, random_state=np.random.RandomState(3)) for _ in range(2)]
    assert_same(states[0].repeats, states[1].repeats)


def test_a_scorer_sees_lists_and_masks_as_they_are():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y, mask = np.where(X[:, 1] > 1, 3.0, X[:, 0]), X > 1
    words = np.array(X, dtype=object)
    words[:, 2] = np.where(X[:, 2] > 0, "a", "b")
    for table, same in (
        (words.tolist(), words),
        (np.ma.array(X, mask=mask), np.where(mask, np.nan, X)),
    ):
        model = GreedyRegressor(n_estimators=5).fit(same[:30], y[:30])
        found, expected = (
            permutation(model, rows[30:], y[30:], metric="r2", random_state=0)
            for rows in (table, same)
        )
        assert_same(found.values, expected.values)


def test_unusable_arguments_are_refused_by_name():
    ensemble, X, y = fitted_rows(10)
    for n_repeats in (0, 2.5):
        with pytest.raises(ValueError, match=f"n_repeats={n_repeats}; it must be a whole number"):
            permutation(ensemble, X, y, n_repeats=n_repeats)
    with pytest.raises(ValueError, match=r"'r2'.*needs an estimator.*Ensemble"):
        permutation(ensemble, X, y, metric="r2")
    with pytest.raises(ValueError, match="no rows"):
        permutation(ensemble, X[:0], y[:0])
    with pytest.raises(ValueError, match="The metric print returned None; it must return one"):
        permutation(ensemble, X, y, metric=print)
    result = permutation(ensemble, X, y, random_state=0)
    with pytest.raises(ValueError, match=r"permutation.*cannot be merged.*shuffling a chunk"):
        result.merge(result)
    ensemble, X, y = fitted_rows(10, loss="half_logistic")
    with pytest.raises(ValueError, match="one class only"):
        permutation(ensemble, X, np.ones(10))


def test_a_metric_of_one_number_has_no_errors():
    ensemble, X, y = fitted_rows(10)
    model = GreedyRegressor()
    model.ensemble_, model.n_features_in_ = ensemble, ensemble.n_features
    for metric in ("r2", lambda y, prediction: -np.mean(np.abs(y - prediction))):
        result = permutation(model, X, y, metric=metric, random_state=0)
        with pytest.raises(ValueError, match=r"no standard errors.*one number for all rows"):
            result.confidence_interval()
        with pytest.raises(ValueError, match="no p-values"):
            result.p_values()
    assert permutation(ensemble, X[:1], y[:1]).standard_error is None


@st.composite
def shuffled_models(draw):
    ensemble = draw(ensembles())
    X = draw(rows_for(ensemble, n=draw(st.integers(2, 8))))
    y = np.array(draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=len(X), max_size=len(X))))
    return ensemble, X, y, draw(st.integers(1, 3)), draw(st.integers(0, 3))


@pytest.mark.parametrize("metric", [None, lambda y, prediction: -np.abs(y - prediction)])
@given(drawn=shuffled_models())
def test_values_and_errors_are_their_definition(metric, drawn):
    """The metric of a model is the squared error, or of classes the AUC."""
    ensemble, X, y, n_repeats, seed = drawn
    is_class, before = ensemble.loss.name == "half_logistic", X.copy()
    if metric is None and is_class and not 0 < y.sum() < len(y):
        return

    def score(y, raw):
        if metric is None:
            return reference.auc_by_row(y, raw) if is_class else -((y - raw) ** 2)
        return metric(y, ensemble.loss.inverse_link(raw))

    result = permutation(ensemble, X, y, metric=metric, n_repeats=n_repeats, random_state=seed)

    largest = 1 + np.abs(ensemble.base_score) + np.abs(ensemble.value).sum()
    largest = largest**2 * len(X) if metric is None else largest
    for k in range(ensemble.n_features):
        own = [random_order(seed, len(X), (k, r)) for r in range(n_repeats)]
        value, error = reference.permutation(ensemble, X, y, k, own, score)
        assert_close(result.values[k], value, 2 * largest)
        assert_close(result.repeats[k].mean(), value, 2 * largest)
        # A root of cancelled squares: eps of the terms under the root.
        assert_close(result.standard_error[k] ** 2, error**2, 8 * largest**2)
    assert_same(X, before)
    name = metric.__name__ if metric else "roc_auc" if is_class else "neg_mean_squared_error"
    assert result.method == f"permutation({name})"


def my_rmse(y, prediction):
    return np.sqrt(np.mean((y - prediction) ** 2))


@pytest.mark.parametrize("error", [mean_squared_error, log_loss, mean_poisson_deviance, my_rmse])
def test_errors_are_refused_because_they_would_rank_the_best_feature_last(error):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = GreedyRegressor(n_estimators=3).fit(X, X[:, 0])
    with pytest.raises(ValueError, match=f"{error.__name__}.*smaller for better.*: -"):
        permutation(model, X[:20] + 1, X[:20, 0], metric=error)


def test_several_targets_count_by_their_mean():
    X = np.random.default_rng(0).normal(size=(80, 2))
    y = X[:, 0] + X[:, 1] ** 2
    trees = ExtraTreesRegressor(3, random_state=0)
    once, often = (
        permutation(trees.fit(X[:40], Y[:40]), X[40:], Y[40:], random_state=0)
        for Y in (y, np.column_stack([y, y, y, y]))
    )
    assert_close(often.values, once.values, np.full(2, 10.0))
    assert often.method == once.method == "permutation(neg_mean_squared_error)"
