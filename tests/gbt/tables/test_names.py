"""What tables, columns and rows are called, in models and in messages."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.exceptions import DataConversionWarning

from attributions import (
    cross_fit,
    held_out_gain,
    local_mdi,
    partial_dependence,
    permutation,
    predecomp,
    tree_inner,
    unbiased_gain,
)
from gbt import GBTRegressor
from tests.asserts import assert_same
from tests.greedy import GreedyClassifier, GreedyRegressor

RNG = np.random.default_rng(0)
NAMES = ["bmi", "age", "pressure"]
FRAME = pd.DataFrame(RNG.normal(size=(120, 3)), columns=NAMES)
Y = pd.Series(FRAME.bmi + 0.3 * RNG.normal(size=120))
OLD, NEW = slice(0, 60), slice(60, 120)
ROWS = FRAME[NEW], Y[NEW]


def fitted(X=FRAME, y=Y, **others):
    parameters = {"n_estimators": 3, "splitter": "greedy", "random_state": 0, **others}
    return GBTRegressor(**parameters).fit(X[OLD], y[OLD])


OF_ARRAYS = {
    "ours": lambda: fitted(FRAME.to_numpy()),
    "an ensemble": lambda: fitted(FRAME.to_numpy()).ensemble_,
    "scikit-learn": lambda: GradientBoostingRegressor(n_estimators=3).fit(
        FRAME.to_numpy()[OLD], Y[OLD]
    ),
}


@pytest.mark.parametrize("fit", OF_ARRAYS.values(), ids=OF_ARRAYS)
def test_a_frame_names_the_features_of_a_model_fitted_to_an_array(fit):
    model = fit()
    by_place = held_out_gain(model, FRAME.to_numpy()[NEW], Y[NEW], second_moments=True)
    result = held_out_gain(model, *ROWS, second_moments=True)
    assert list(result.feature_names) == NAMES
    assert_same(result.values, by_place.values)
    together = result.grouped({"body": ["bmi", "pressure"]})
    assert together["body"] == result.values[[0, 2]].sum()
    others = [predecomp(model, FRAME[NEW]), tree_inner(model, *ROWS), permutation(model, *ROWS)]
    others += [unbiased_gain(model, FRAME[OLD], Y[OLD], *ROWS)]
    others += [local_mdi(model, FRAME[OLD], Y[OLD], FRAME[NEW], linear_model="ols")]
    assert [list(other.feature_names) for other in others] == [NAMES] * 5
    assert partial_dependence(model, "age", FRAME).feature_name == "age"


def test_names_of_a_model_are_its_own_and_numbers_keep_their_order():
    assert held_out_gain(fitted(), FRAME.to_numpy()[NEW], Y[NEW]).feature_names == tuple(NAMES)
    with pytest.raises(ValueError, match="other columns than the model"):
        held_out_gain(fitted(), FRAME[NEW].set_axis(["a", "b", "c"], axis=1), Y[NEW])
    with pytest.raises(ValueError, match="in another order"):
        held_out_gain(fitted(FRAME.to_numpy()), FRAME[NEW].set_axis([2, 0, 1], axis=1), Y[NEW])
    of_lightgbm = fitted(FRAME.set_axis(["a_b", "c_d", "e"], axis=1))
    with pytest.raises(ValueError, match="in another order"):
        held_out_gain(of_lightgbm, FRAME[NEW].set_axis(["c d", "a b", "e"], axis=1), Y[NEW])


TAKES_NO_TABLE = {
    "a parameter": lambda X: GBTRegressor(X).fit(X, Y),
    "an estimator": lambda X: cross_fit(X, Y, GBTRegressor()),
    "a measure": lambda X: cross_fit(GBTRegressor(), X, Y, X),
    "a feature": lambda X: partial_dependence(fitted(), X, X),
    "a name": lambda X: held_out_gain(fitted(), *ROWS)[X],
    "an attribution": lambda X: tree_inner(fitted(), *ROWS, ifa=X),
    "a number": lambda X: held_out_gain(fitted(), *ROWS).head(X),
    "a row": lambda X: predecomp(fitted(), FRAME.to_numpy()).plot(row=X),
    "a cover": lambda X: partial_dependence(fitted(), "bmi", cover=X),
}


@pytest.mark.parametrize("use", TAKES_NO_TABLE.values(), ids=TAKES_NO_TABLE)
def test_no_message_prints_a_table(use):
    with pytest.raises((ValueError, TypeError)) as raised:
        use(FRAME)
    assert "DataFrame of shape (120, 3)" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_table_may_come_before_the_feature_as_in_scikit_learn():
    for feature in ("age", 1, np.int64(1)):
        curve = partial_dependence(fitted(), FRAME, feature)
        assert_same(curve.values, partial_dependence(fitted(), "age", FRAME).values)


@pytest.mark.parametrize("kind", [pd.Series, pd.array])
def test_intervals_are_categories(kind):
    cuts = pd.cut(FRAME.age, [-9, -0.5, 0.5, 9])
    cuts[5] = np.nan
    words = cuts.map({old: str(old) for old in cuts.cat.categories}).astype(object)
    if kind is pd.array:
        cuts = pd.arrays.IntervalArray(cuts)
    X, as_words = FRAME.assign(age=cuts), FRAME.assign(age=words)
    model, y = fitted(X, FRAME.age), fitted(as_words, FRAME.age).predict(as_words)
    assert model.ensemble_.categories[1] == ("(-0.5, 0.5]", "(-9.0, -0.5]", "(0.5, 9.0]")
    assert_same(model.predict(X), y)
    assert_same(model.predict(as_words), y)


def test_a_target_of_one_column_is_a_target():
    model, labels = fitted(), Y > 0
    with pytest.warns(DataConversionWarning):
        assert_same(fitted(y=Y.to_frame()).predict(FRAME), model.predict(FRAME))
    for measure in (held_out_gain, tree_inner, partial(permutation, random_state=0)):
        with pytest.warns(DataConversionWarning):
            result = measure(model, FRAME[NEW], Y[NEW].to_frame())
        assert_same(result.values, measure(model, *ROWS).values)
    classifier = GreedyClassifier(n_estimators=2).fit(FRAME[OLD], labels[OLD])
    with pytest.warns(DataConversionWarning):
        result = held_out_gain(classifier, FRAME[NEW], labels[NEW].to_frame())
    assert_same(result.values, held_out_gain(classifier, FRAME[NEW], labels[NEW]).values)


def test_targets_whose_labels_are_those_of_the_rows_in_another_order_are_told():
    swapped = Y[NEW].abs().iloc[[0, 2, 1, *range(3, 60)]]
    of_one_tree, ranker = (GreedyRegressor(1, loss=name) for name in (None, "ndcg"))
    for name, use in (
        ("y", lambda: held_out_gain(fitted(), FRAME[NEW], swapped)),
        ("y", lambda: of_one_tree.fit(FRAME[NEW], swapped)),
        ("sample_weight", lambda: held_out_gain(fitted(), *ROWS, sample_weight=swapped)),
        ("groups", lambda: held_out_gain(fitted(), *ROWS, groups=swapped)),
        ("by", lambda: held_out_gain(fitted(), *ROWS, by=swapped > 0.5)),
        ("sample_weight", lambda: of_one_tree.fit(*ROWS, sample_weight=swapped)),
        ("init_score", lambda: of_one_tree.fit(*ROWS, init_score=swapped)),
        ("y", lambda: ranker.fit(FRAME[NEW], swapped.round(), groups=np.arange(60) // 10)),
        ("groups", lambda: ranker.fit(FRAME[NEW], Y[NEW].abs().round(), groups=swapped > 0.5)),
    ):
        with pytest.warns(UserWarning, match="another order: row 1 of X is 61, of") as caught:
            use()
        assert caught[0].filename == __file__
        assert f"of {name} 62" in str(caught[0].message)


@pytest.mark.filterwarnings("error")
def test_labels_of_other_rows_say_nothing_of_the_order():
    held_out_gain(fitted(), FRAME[NEW], Y[NEW].reset_index(drop=True))
    held_out_gain(fitted(), FRAME[NEW].reset_index(drop=True), Y[NEW].tolist())
