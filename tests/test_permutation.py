import numpy as np
import pandas
import pytest
from sklearn.metrics import roc_auc_score

from attributions import permutation
from gbt.estimators import GBTClassifier, GBTRegressor
from tests.asserts import assert_close, assert_same
from tests.test_inner import fitted_rows
from tests.tree_cases import ensemble_of


def by_loops(ensemble, X, y, score, seed, n_repeats):
    """Return the drops of the score from tables shuffled one by one, each made from scratch."""
    drops = np.zeros((X.shape[1], n_repeats))
    for k in range(X.shape[1]):
        for r in range(n_repeats):
            stream = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(k, r)))
            shuffled = X.copy()
            shuffled[:, k] = X[stream.permutation(len(X)), k]
            drops[k, r] = score(y, ensemble.raw_predict(X)) - score(
                y, ensemble.raw_predict(shuffled)
            )
    return drops


def negative_squared_error(y, prediction):
    return -np.mean((y - prediction) ** 2)


@pytest.mark.parametrize(
    ("loss", "score", "name"),
    [
        ("half_squared_error", negative_squared_error, "neg_mean_squared_error"),
        ("half_logistic", roc_auc_score, "roc_auc"),
    ],
)
def test_it_is_a_loop_over_shuffled_tables(loss, score, name):
    ensemble, X, y = fitted_rows(60, loss=loss)
    before = X.copy()

    result = permutation(ensemble, X, y, n_repeats=3, random_state=7)

    expected = by_loops(ensemble, X, y, score, 7, 3)
    assert_close(result.repeats, expected, 4 * np.mean(y**2) + 4)
    assert_close(result.values, expected.mean(axis=1), 4 * np.mean(y**2) + 4)
    assert result.values[0] > 0
    assert result.values[1] != 0
    assert_same(result.values[2:], [0.0, 0.0])  # no tree splits on them
    assert result.standard_error is None
    assert result.n_samples == 60
    assert result.method == f"permutation({name})"
    assert_same(X, before)


def test_a_shuffle_by_hand():
    """Two rows: a shuffle either exchanges the values of a column or leaves them."""
    ensemble, _, _ = fitted_rows(2)
    X = np.array([[-2.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]])
    low, high = ensemble.raw_predict(X)
    y = np.array([low, high])  # the intact score is 0
    result = permutation(ensemble, X, y, n_repeats=20, random_state=0)
    drops = set(np.round(result.repeats[0], 12))
    assert drops == {0.0, np.round((high - low) ** 2, 12)}


def test_a_feature_does_not_depend_on_the_others_or_on_the_number_of_repeats():
    ensemble, X, y = fitted_rows(50)
    few = permutation(ensemble, X, y, n_repeats=2, random_state=1)
    many = permutation(ensemble, X, y, n_repeats=4, random_state=1)
    assert_same(many.repeats[:, :2], few.repeats)
    alone = ensemble_of([ensemble.trees[1]], n_features=4)  # feature 0 is not used
    again = permutation(alone, X, y, n_repeats=2, random_state=1)
    order = np.random.default_rng(np.random.SeedSequence(1, spawn_key=(1, 0))).permutation(50)
    shuffled = X.copy()
    shuffled[:, 1] = X[order, 1]
    expected = negative_squared_error(y, alone.raw_predict(X)) - negative_squared_error(
        y, alone.raw_predict(shuffled)
    )
    assert_same(again.repeats[1, 0], expected)


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


def test_a_metric_of_ones_own():
    ensemble, X, y = fitted_rows(50, loss="half_logistic")

    def mean_probability_of_the_truth(y, prediction):
        assert set(np.unique(y)) == {0.0, 1.0}
        assert ((prediction > 0) & (prediction < 1)).all()
        return np.mean(np.where(y == 1, prediction, 1 - prediction))

    result = permutation(ensemble, X, y, metric=mean_probability_of_the_truth, random_state=0)
    assert result.method == "permutation(mean_probability_of_the_truth)"
    assert (result.values[:2] > 0).all()


def as_estimator(estimator, ensemble, names=None):
    """Return a fitted estimator that has a given model."""
    estimator.ensemble_, estimator.n_features_in_ = ensemble, ensemble.n_features
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return estimator


def test_a_scorer_of_scikit_learn_uses_the_models_own_predictions():
    ensemble, X, y = fitted_rows(50)
    model = as_estimator(GBTRegressor(), ensemble)
    named = permutation(model, X, y, metric="neg_mean_squared_error", random_state=3)
    default = permutation(ensemble, X, y, random_state=3)
    assert_close(named.repeats, default.repeats, 4 * np.mean(y**2))
    assert named.method == "permutation(neg_mean_squared_error)"


def test_a_scorer_sees_the_labels_and_a_data_frame():
    ensemble, X, y = fitted_rows(50, loss="half_logistic")
    names = ["a", "b", "c", "d"]
    model = as_estimator(GBTClassifier(), ensemble, names)
    model.classes_ = np.array(["no", "yes"])
    words = np.where(y == 1, "yes", "no")
    frame = pandas.DataFrame(X, columns=names)
    before = frame.copy()

    named = permutation(model, frame, words, metric="roc_auc", random_state=3)

    assert_close(named.repeats, permutation(ensemble, X, y, random_state=3).repeats, 1.0)
    assert_close(named.repeats, permutation(model, frame, words, random_state=3).repeats, 1.0)
    pandas.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("layout", ["read-only", "F", "float32", "integers", "list"])
def test_the_callers_table_is_not_touched(layout):
    """Not even for a while: it may be read-only, or in use by another thread."""
    ensemble, X, y = fitted_rows(30)
    X.flags.writeable = False
    table = {
        "read-only": X,
        "F": np.asfortranarray(X),
        "float32": X.astype(np.float32),
        "integers": X.round().astype(int),
        "list": X.tolist(),
    }[layout]
    before = np.array(table)
    permutation(ensemble, table, y, random_state=0)
    assert_same(table, before)


def test_unusable_arguments_are_refused_by_name():
    ensemble, X, y = fitted_rows(10)
    for n_repeats in (0, 2.5):
        with pytest.raises(ValueError, match=f"n_repeats={n_repeats}; it must be a whole number"):
            permutation(ensemble, X, y, n_repeats=n_repeats)
    with pytest.raises(ValueError, match="metric=3"):
        permutation(ensemble, X, y, metric=3)
    with pytest.raises(ValueError, match=r"'r2'.*needs an estimator.*Ensemble"):
        permutation(ensemble, X, y, metric="r2")
    with pytest.raises(ValueError, match="no rows"):
        permutation(ensemble, X[:0], y[:0])
    ensemble, X, y = fitted_rows(10, loss="half_logistic")
    with pytest.raises(ValueError, match="one class only"):
        permutation(ensemble, X, np.ones(10))


def test_no_merging_no_intervals_no_test():
    ensemble, X, y = fitted_rows(10)
    result = permutation(ensemble, X, y, random_state=0)
    with pytest.raises(ValueError, match=r"permutation.*cannot be merged.*scores are not sums"):
        result.merge(result)
    with pytest.raises(ValueError, match=r"no standard errors.*scores are not sums"):
        result.confidence_interval()
    with pytest.raises(ValueError, match="no p-values"):
        result.p_values()
