"""Whole pipelines are fitted in every fold: no step sees the rows that judge."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, TargetEncoder

from attributions import HeldOutSelector, cross_fit, given_others, held_out_gain, tree_inner
from attributions.refits.without_column import with_constant
from attributions.testing import assert_close, assert_same
from tests.greedy import GreedyRegressor


def noisy(n=1500, n_levels=500):
    """Return words that say nothing, two numbers of which one does, and a target."""
    rng = np.random.default_rng(5)
    words = [f"level {k}" for k in rng.integers(n_levels, size=n)]
    X = pd.DataFrame({"word": words, "useful": rng.normal(size=n), "noise": rng.normal(size=n)})
    return X, (X["useful"] + rng.normal(size=n)).to_numpy()


def model(**options):
    return GreedyRegressor(n_estimators=20, max_depth=3, **options)


def encoded(encoder=None):
    """Return a pipeline of any table of words and numbers, such as a selector leaves over."""
    words = (encoder or TargetEncoder(smooth=1.0), make_column_selector(dtype_exclude="number"))
    return make_pipeline(make_column_transformer(words, remainder="passthrough"), model())


@pytest.mark.filterwarnings("ignore:.*SeenRows")
def test_an_encoder_of_targets_cannot_tell_the_targets_of_rows_that_judge():
    X, y = noisy()
    pipeline = encoded()
    told = clone(pipeline[:-1]).fit(X, y).transform(X)  # every row's own target is in its word

    old, new = cross_fit(pipeline[-1], told, y), cross_fit(pipeline, X, y)

    assert new.feature_names == ("word", "useful", "noise")
    assert old.p_values()[0] < 1e-10 < 0.05 < new.p_values()[0]
    assert new.p_values()[1] < 1e-10
    assert new.values[0] < 0.05 * old.values[0]
    selector = HeldOutSelector(pipeline).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["useful"]
    assert HeldOutSelector(pipeline[-1]).fit(told, y).support_.tolist() == [True, True, False]
    inside = make_pipeline(HeldOutSelector(pipeline).set_output(transform="pandas"), encoded())
    assert inside.fit(X, y)[:-1].transform(X).columns.tolist() == ["useful"]


def test_every_fold_fits_and_weighs_the_whole_pipeline():
    X, y = noisy(300, 5)
    weight, folds = np.tile([1.0, 2.0, 0.5], 100), KFold(3)
    search = GridSearchCV(encoded(OneHotEncoder()), {"gbtregressor__max_depth": [2]}, cv=2)

    result = cross_fit(search, X, y, tree_inner, cv=folds, sample_weight=weight)

    expected = 0.0
    for fit, judge in folds.split(X):
        fitted = clone(search).fit(X.iloc[fit], y[fit], gbtregressor__sample_weight=weight[fit])
        options = {"sample_weight": weight[judge]}
        expected = expected + tree_inner(fitted, X.iloc[judge], y[judge], **options).values
    assert_close(result.values, expected, np.abs(expected).sum(), k=1e3)


def test_groups_that_only_some_folds_have_are_worth_nothing_in_the_others():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(160, 4)), columns=["a", "b", "c", "d"])
    y = (X["a"] * X["b"] + rng.normal(size=160)).to_numpy()
    pipeline = make_pipeline(
        PolynomialFeatures(2, include_bias=False), SelectKBest(f_regression, k=3)
    )
    pipeline.steps.append(("model", model()))
    result = cross_fit(pipeline, X, y, cv=KFold(2))
    singles = [
        held_out_gain(clone(pipeline).fit(X.iloc[fit], y[fit]), X.iloc[judge], y[judge])
        for fit, judge in KFold(2).split(X)
    ]
    assert len({single.feature_names for single in singles}) == 2
    for name in result.feature_names:
        parts = [single[name] for single in singles if name in single.feature_names]
        assert_close(result[name], sum(parts), 1 + np.abs(parts).sum(), k=1e3)
    selector = HeldOutSelector(pipeline, fdr=0.3).fit(X, y)
    kept = selector.get_feature_names_out().tolist()
    assert "a x b" in selector.attribution_.feature_names
    assert kept[:2] == ["a", "b"]
    of_others = HeldOutSelector(
        make_pipeline(PCA(2), model()), measure=partial(held_out_gain, columns="transformed")
    )
    with pytest.raises(ValueError, match="leave out columns='transformed'"):
        of_others.fit(X, y)


def test_given_the_others_a_column_of_a_pipeline_is_one_value():
    X, y = noisy(600, 4)
    y = y + 2.0 * (X["word"] == "level 1")
    hot = make_column_transformer((OneHotEncoder(), ["word"]), remainder="passthrough")
    pipeline = make_pipeline(hot, model())
    fitted = clone(pipeline).fit(X[:300], y[:300])

    result = given_others(
        fitted, X[300:], y[300:], training=(X[:300], y[:300]), regressor=LinearRegression()
    )

    assert result.feature_names == ("word", "useful", "noise")
    assert (result.p_values()[:2] < 1e-6).all()
    assert result.p_values()[2] > 0.01
    constant = with_constant(X.astype({"word": "category"}), 0, X)
    assert constant["word"].nunique() == 1
    assert_same(constant["useful"].to_numpy(), X["useful"].to_numpy())
    X["word"] = [None, "level 1", *[None] * 598]
    assert with_constant(X, 0, X)["word"].unique().tolist() == ["level 1"]
    numbers = np.array([[0.0, 2.0], [1.0, 0.0], [3.0, 4.0]])
    assert_same(with_constant(csr_array(numbers), 1, csr_array(numbers))[:, 1], np.full(3, 2.0))
