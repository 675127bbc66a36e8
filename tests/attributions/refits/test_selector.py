"""Features kept by held-out p-values, as scikit-learn's selectors are used."""

from functools import partial

import numpy as np
import pandas
import pytest
from scipy.stats import false_discovery_control, kurtosis
from sklearn.base import clone
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from attributions import (
    HeldOutSelector,
    SeenRowsWarning,
    absolute,
    cross_fit,
    given_others,
    held_out_gain,
    partial_inner,
    partial_inner_rows,
    total_gain,
    tree_inner,
    tree_inner_rows,
    unbiased_gain,
)
from gbt import GBTRegressor
from tests.asserts import assert_same
from tests.greedy import GreedyRegressor

MODEL = GreedyRegressor(n_estimators=30, max_depth=2)


@pytest.mark.slow
@parametrize_with_checks(
    [
        HeldOutSelector(RandomForestRegressor(n_estimators=3, random_state=0), cv=2),
        HeldOutSelector(GradientBoostingRegressor(n_estimators=3, random_state=0), cv=2),
    ],  # of which the one takes sparse rows, the other no nan
    expected_failed_checks=lambda selector: {
        f"check_sample_weight_equivalence_on_{kind}_data": "a row of weight 2 is one draw and a row"
        " that stands there twice is two, so p-values differ, and features are kept alike by luck"
        for kind in ("dense", "sparse")
    },
    xfail_strict=False,  # by luck
)
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_its_tags_say_what_it_takes():
    tags = get_tags(HeldOutSelector(RandomForestRegressor()))
    assert get_tags(RandomForestRegressor()).input_tags.sparse
    assert tags.input_tags.sparse
    assert not get_tags(HeldOutSelector(HistGradientBoostingRegressor())).input_tags.sparse
    assert tags.input_tags.allow_nan
    assert not tags.target_tags.multi_output
    X, y = table(n=60)
    with pytest.raises(ValueError, match="1d array"):
        HeldOutSelector(RandomForestRegressor()).fit(X, np.column_stack([y, y]))
    X[:, 3] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        HeldOutSelector(GradientBoostingRegressor()).fit(X, y)


def table(n=400, p=6, seed=0):
    """Return a table of which columns 0 and 1 matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n)


def test_it_keeps_what_matters():
    X, y = table()
    selector = HeldOutSelector(MODEL, cv=None, fdr=0.01, random_state=0).fit(X, y)
    assert_same(selector.get_support(indices=True), [0, 1])
    assert_same(selector.transform(X), X[:, :2])
    assert selector.estimator_.n_features_in_ == 6
    assert selector.attribution_.n_samples == 200
    assert_same(selector.p_values_, selector.attribution_.p_values())
    again = HeldOutSelector(MODEL, cv=None, random_state=0).fit(X, y)
    assert_same(again.p_values_, selector.p_values_)


def test_every_row_judges_once():
    X, y = table()
    selector = HeldOutSelector(MODEL, fdr=0.01).fit(X, y)
    assert_same(selector.get_support(indices=True), [0, 1])
    assert selector.attribution_.n_samples == 400
    assert selector.attribution_.method == "held_out_gain(5 fits)"
    folds = HeldOutSelector(MODEL, cv=3, random_state=7).fit(X, y).attribution_
    assert_same(folds.values, cross_fit(MODEL, X, y, cv=3, random_state=7).values)
    assert not hasattr(selector, "estimator_")


@pytest.mark.parametrize("correction", ["bh", "by"])
@pytest.mark.parametrize("fdr", [0.01, 0.1, 0.9])
def test_the_correction_is_scipys(correction, fdr):
    X, y = table(n=120, p=12)
    selector = HeldOutSelector(MODEL, fdr=fdr, correction=correction, random_state=1).fit(X, y)
    adjusted = false_discovery_control(selector.p_values_, method=correction)
    assert_same(selector.support_, adjusted <= fdr)


@pytest.mark.parametrize(
    ("measure", "rows_of"),
    [(tree_inner, tree_inner_rows), (partial(partial_inner, n_jobs=1), partial_inner_rows)],
)
def test_the_rows_fitted_on_tell_which_p_values_are_reliable(measure, rows_of):
    X, y = table(n=200)
    X[:, 5] = np.arange(200) % 40 == 0  # a column that sets five rows apart, with targets of 20
    y = y + 20 * X[:, 5]
    selector = HeldOutSelector(MODEL, measure=measure, cv=None, random_state=0).fit(X, y)

    fitted_on, held_out = selector._cut(X, y, None)
    with pytest.warns(SeenRowsWarning):
        values = rows_of(selector.estimator_, X[fitted_on], y[fitted_on]).values
    tails = np.nan_to_num(kurtosis(values, fisher=False))  # nan: no tree uses the column
    expected = tails <= 0.1 * len(held_out)
    assert set(expected) == {False, True}
    assert_same(selector.attribution_.is_reliable, expected)


def test_training_rows_that_a_measure_has_got_are_kept():
    X, y = table()
    own = X[:50], y[:50]
    measure = partial(tree_inner, training=own)
    selector = HeldOutSelector(MODEL, measure=measure, cv=None, random_state=0).fit(X, y)
    expected = tree_inner(selector.estimator_, X[:2] + 1, y[:2], training=own)
    assert_same(selector.attribution_.kurtosis, expected.kurtosis)


def test_words_of_categories_are_passed_on():
    """Beside booleans scikit-learn looks for a type of numbers that holds all columns."""
    rng = np.random.default_rng(0)
    word = rng.choice(["low", "middle", "high"], 400)
    frame = pandas.DataFrame({"word": word, "noise": rng.normal(size=400)})
    frame["word"] = frame["word"].astype("category")
    frame["flag"] = frame["noise"] > 0
    y = (word == "high") + 0.1 * rng.normal(size=400)
    selector = HeldOutSelector(MODEL, fdr=0.01, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(selector.transform(frame), word[:, np.newaxis])
    chain = make_pipeline(HeldOutSelector(MODEL, random_state=0), MODEL).fit(frame, y)
    assert chain.score(frame, y) > 0.9
    kept = selector.set_output(transform="pandas").transform(frame)
    pandas.testing.assert_frame_equal(kept, frame[["word"]])


def test_lists_and_masks_say_what_arrays_say():
    X, y = table(n=60)
    words = np.array(X, dtype=object)
    words[:, 2] = np.where(X[:, 2] > 0, "a", "b")
    mask = X > 1
    for given, same in (
        (words.tolist(), words),
        (np.ma.array(X, mask=mask), np.where(mask, np.nan, X)),
    ):
        selector = HeldOutSelector(MODEL, fdr=0.9, random_state=0).fit(given, y)
        expected = HeldOutSelector(MODEL, fdr=0.9, random_state=0).fit(same, y)
        assert_same(selector.attribution_.values, expected.attribution_.values)
        np.testing.assert_array_equal(selector.transform(given), expected.transform(same))


@pytest.mark.parametrize("cv", [2, None])
def test_weights_are_those_of_fitting_and_of_judging(cv):
    """A model that has not got them predicts otherwise; a measure says what it has got."""
    X, y = table()
    weight = np.where(np.arange(400) % 7 == 0, 0.0, 1 + np.arange(400.0))
    row = {tuple(x): k for k, x in enumerate(X)}
    judged, fitted = [], []

    def remember(model, X, y, training, sample_weight, groups):
        for rows, given, places in ((X, sample_weight, judged), (training[0], training[2], fitted)):
            places.extend(row[tuple(x)] for x in rows)
            assert_same(given, weight[places[-len(rows) :]])
        expected = clone(MODEL).fit(training[0], training[1], training[2])
        assert_same(model.predict(X), expected.predict(X))
        return tree_inner(model, X, y, sample_weight=sample_weight, groups=groups)

    selector = HeldOutSelector(
        MODEL, measure=partial(remember, training=None) if cv is None else remember, cv=cv
    ).fit(X, y, groups=np.arange(400), sample_weight=weight)
    assert len(judged) == (400 if cv else 200)
    assert len(fitted) == (400 if cv else 200)
    plain = HeldOutSelector(MODEL, measure=tree_inner, cv=cv).fit(X, y)
    assert not np.array_equal(selector.p_values_, plain.p_values_)


def test_weights_that_cannot_be_are_refused_and_so_are_measures_that_take_none():
    X, y = table(n=40)
    for weight, told in ((-np.ones(40), "negative"), (np.ones(39), "40")):
        with pytest.raises(ValueError, match=told):
            HeldOutSelector(MODEL).fit(X, y, sample_weight=weight)
        with pytest.raises(ValueError, match=told):
            cross_fit(MODEL, X, y, sample_weight=weight)
    with pytest.raises(TypeError, match="sample_weight"):
        HeldOutSelector(MODEL, measure=lambda m, X, y: None).fit(X, y, sample_weight=np.ones(40))


def test_it_is_a_step_of_a_pipeline():
    X, y = table()
    chain = make_pipeline(HeldOutSelector(MODEL, random_state=0), LinearRegression())
    search = GridSearchCV(chain, {"heldoutselector__fdr": [0.01, 0.1]}, cv=2).fit(X, y)
    assert search.best_estimator_[-1].n_features_in_ >= 2
    assert clone(chain).get_params()["heldoutselector__estimator__max_depth"] == 2


def test_what_is_no_measure_or_no_estimator_is_refused():
    X, y = table(n=40)
    regressor = partial(given_others, training=(X, y), regressor="ridge")
    for fit in (
        lambda measure: HeldOutSelector(MODEL, measure=measure).fit(X, y),
        lambda measure: cross_fit(MODEL, X, y, measure),
    ):
        for measure, message in (
            ("partial_inner", "such as tree_inner itself and not its name; got 'partial_inner'"),
            (total_gain, r"must take \(model, X, y\), as tree_inner.*; total_gain does not: too"),
            (unbiased_gain, r"; unbiased_gain does not: missing .*'X_valid'"),
            (regressor, r"regressor must be an estimator, .*; got 'ridge'"),
        ):
            with pytest.raises(TypeError, match=message):
                fit(measure)
    for estimator in (tree_inner, GBTRegressor, None):
        with pytest.raises(TypeError, match="estimator must be an estimator, an object with"):
            HeldOutSelector(estimator).fit(X, y)
        with pytest.raises(TypeError, match="estimator must be an estimator, an object with"):
            cross_fit(estimator, X, y)


class NeverFitted(LinearRegression):
    """Fails where it is fitted."""

    def fit(self, X, y):
        pytest.fail("a model is fitted that cannot be read")


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (NeverFitted(), "The model must be an Ensemble.*; got NeverFitted"),
        (GridSearchCV(NeverFitted(), {"fit_intercept": [True]}), "; got NeverFitted"),
        (make_pipeline(StandardScaler(), NeverFitted()), "; got NeverFitted"),
        (BaggingRegressor(NeverFitted()), "must be an Ensemble.*got NeverFitted"),
    ],
)
def test_a_model_that_cannot_be_read_is_refused_before_it_is_fitted(estimator, message):
    X, y = table(n=40)
    for measure in (partial_inner, partial(held_out_gain, n_jobs=1)):
        with pytest.raises(TypeError, match=message):
            cross_fit(estimator, X, y, measure)
        with pytest.raises(TypeError, match=message):
            HeldOutSelector(estimator, measure=measure, cv=None).fit(X, y)


def test_a_search_and_a_pipeline_that_hand_rows_on_are_fitted():
    X, y = table(n=60)
    search = make_pipeline("passthrough", GridSearchCV(MODEL, {"max_depth": [2]}, cv=2))
    assert_same(cross_fit(search, X, y).values, cross_fit(MODEL, X, y).values)


def test_unusable_parameters_are_refused():
    X, y = table(n=40)
    for options, message in (
        ({"fdr": 5}, "fdr=5; it must lie between 0 and 1"),
        ({"fdr": "0.1"}, "fdr='0.1'; it must lie between 0 and 1"),
        ({"correction": "holm"}, "correction='holm'; use 'bh' or 'by'"),
        ({"cv": None, "test_size": 0}, "test_size=0; it must lie between 0 and 1"),
        ({"cv": None, "test_size": 1}, "test_size=1; it must lie between 0 and 1"),
        ({"measure": lambda m, X, y: absolute(m, X)}, "has no p-values"),
    ):
        with pytest.raises(ValueError, match=message):
            HeldOutSelector(MODEL, **options).fit(X, y)


def test_times_to_an_event_of_every_form_are_handed_on():
    X, _ = table()
    time = np.random.default_rng(1).exponential(np.exp(X[:, 0]))
    event = time < 2
    fields = [("event", bool), ("time", float)]
    structured = np.array([*zip(event, time, strict=True)], dtype=fields)
    pairs = np.column_stack([time, event])
    model = GreedyRegressor(loss="cox", n_estimators=10, max_depth=2)
    selectors = [HeldOutSelector(model).fit(X, y) for y in (pairs, structured, pairs.tolist())]
    for selector in selectors:
        assert selector.support_[0]
        assert selector.support_.sum() < 4
        assert_same(selector.p_values_, selectors[0].p_values_)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        HeldOutSelector(model).fit(X[1:], pairs)


def test_two_judging_rows_say_nothing_of_how_much_they_vary():
    X = np.arange(14.0).reshape(7, 2)
    for rows, how in ((7, {"cv": None, "test_size": 0.28}), (6, {"cv": 3})):
        selector = HeldOutSelector(GBTRegressor(n_estimators=5, splitter="greedy"), **how)
        with pytest.raises(ValueError, match=f"X has {rows} rows, so that only two of them judge"):
            selector.fit(X[:rows], X[:rows, 0])
