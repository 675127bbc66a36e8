"""Categories as users have them: unseen, missing and wrong levels, and files that keep them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbt
from gbt import GBTRegressor
from tests.asserts import assert_same
from tests.greedy import GreedyRegressor

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

COLORS = ["red", "blue", "green", "white", None]
POLICIES = ("greedy", "cross_validated", "unbiased")


def frame_and_target(n=300):
    rng = np.random.default_rng(0)
    color = rng.integers(len(COLORS), size=n)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n).round(2),
            "color": pd.Series([COLORS[c] for c in color], dtype=object),
            "zip": rng.integers(100, 112, size=n),
        }
    )
    y = np.isin(color, [0, 2, 4]) * 2.0 + frame["size"] + (frame["zip"] % 3) + rng.normal(size=n)
    return frame, y.to_numpy()


def fitted(splitter="greedy", **parameters):
    X, y = frame_and_target()
    model = GBTRegressor(
        n_estimators=8, max_depth=4, splitter=splitter, categorical_smoothing=2.0,
        categorical_features=["color", "zip"], random_state=0, **parameters,
    )  # fmt: skip
    return model.fit(X, y), X, y


def test_unseen_and_missing_levels_go_the_same_way():
    model, X, _ = fitted()
    nothing, unseen = X.copy(), X.copy()
    nothing["color"], unseen["color"] = None, "violet"
    assert_same(model.predict(unseen), model.predict(nothing))


LEVELS = {
    "words": ["a", "b\n", "\N{GREEK SMALL LETTER ALPHA}", ""],
    "numbers": [-5, 0, 7, 2**53 + 1],
    "booleans": [False, True],
}


@pytest.mark.parametrize("kind", LEVELS)
def test_files_and_pickles_keep_levels_and_their_types(kind, tmp_path):
    rng = np.random.default_rng(0)
    levels = LEVELS[kind]
    place = rng.integers(len(levels), size=200)
    X = pd.DataFrame({"level": pd.Series([levels[i] for i in place], dtype=object)})
    model = GreedyRegressor(n_estimators=2, categorical_features=["level"]).fit(X, place * 1.0)
    model.save(tmp_path / "model.json")
    for other in (gbt.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        assert other.ensemble_.categories == (tuple(sorted(levels)),)
        assert list(map(type, other.ensemble_.categories[0])) == [type(levels[0])] * len(levels)
        assert_same(other.predict(X), model.predict(X))
        assert other.get_params()["categorical_features"] == ["level"]
    model.ensemble_.save(tmp_path / "trees.json")
    assert_same(gbt.load(tmp_path / "trees.json").raw_predict(X), model.predict(X))


def fit_column(values, categorical_features="from_dtype"):
    X = pd.DataFrame({"c": values})
    return GreedyRegressor(n_estimators=1, categorical_features=categorical_features).fit(
        X, np.arange(len(X), dtype=float)
    )


@pytest.mark.parametrize(
    ("values", "which", "message"),
    [
        ([1.0, 2.5], ["c"], "'c' is declared categorical and holds 2.5: .* must be whole"),
        ([1.0, np.inf], ["c"], "must be whole"),
        (["1", 1], "from_dtype", "same text.*astype"),
        (["a", 1], "from_dtype", "words such as 'a'.*numbers such as 1|numbers such as 1.*words"),
        ([True, 1], ["c"], "booleans such as True"),
        ([{"a": 1}, {"b": 2}], ["c"], "levels are words, whole numbers or booleans"),
        ([1, 2], ["d"], "names 'd', which is no column"),
        ([1, 2], [3], "has column 3; X has the columns 0 to 0"),
        ([1, 2], [True, False], "mask of 2 columns; X has 1"),
        (["a", "b"], None, "not numbers.*categorical_features"),
        (["a", "b"], [], "not numbers.*categorical_features"),
    ],
)
def test_bad_columns_are_named(values, which, message):
    with pytest.raises(ValueError, match=message):
        fit_column(pd.Series(values, dtype=object), which)


def test_levels_of_another_type_are_refused_when_predicting():
    model = fit_column(["1", "2"] * 10)
    with pytest.raises(ValueError, match=r"numbers such as 1, but .* words such as '1'.*astype"):
        model.predict(pd.DataFrame({"c": [1, 2]}))


def test_a_column_without_any_level():
    X = pd.DataFrame({"c": pd.Series([None] * 20, dtype="category"), "x": np.arange(20.0)})
    model = GreedyRegressor(n_estimators=2).fit(X, np.arange(20.0))
    assert model.ensemble_.categories == ((), None)
    assert np.ptp(model.predict(X)) > 0


@given(st.integers(0, 2**32 - 1), st.sampled_from(POLICIES), st.sampled_from([0.0, 20.0]))
def test_booleans_make_the_same_trees_as_numbers_and_as_categories(seed, splitter, smoothing):
    """Without missing values two levels are split in one way; sides may be exchanged.

    Other policies than greedy draw at random side by side, so only their roots draw alike.
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"is_{k}": rng.random(80) < rng.uniform(0.05, 0.95) for k in range(3)})
    frame["size"] = rng.normal(size=80)
    y = 2.0 * (frame["is_0"] ^ frame["is_1"]) + frame["size"] + rng.normal(size=80)
    models = [
        GBTRegressor(
            n_estimators=3, max_depth=3 if splitter == "greedy" else 1, splitter=splitter,
            categorical_features=which, categorical_smoothing=smoothing, random_state=0,
        ).fit(frame, y)
        for which in ("from_dtype", ["is_0", "is_1", "is_2"])
    ]  # fmt: skip
    numbers, categories = (model.ensemble_ for model in models)
    assert numbers.categories is None
    assert_same(np.sort(numbers.feature), np.sort(categories.feature))
    assert_same(models[0].predict(frame), models[1].predict(frame))


def test_text_that_spells_numbers_is_refused_beside_a_category_as_elsewhere():
    X = np.array([["a", "1.5"], ["b", "2.5"], ["a", "3.5"], ["b", "0.5"]])
    for table in (X, X.astype(object)):
        with pytest.raises(ValueError, match=r"columns that are not numbers: x1|not numbers: .*1"):
            GreedyRegressor(categorical_features=[0]).fit(table, np.arange(4.0))


def test_rows_that_another_model_looked_up_are_refused():
    X, y = frame_and_target()
    model = GreedyRegressor(n_estimators=2, categorical_features=["zip"]).fit(X[["size", "zip"]], y)
    rows = model.ensemble_.as_input(X[["size", "zip"]])
    few = X[X["zip"] < 110][["size", "zip"]]
    others = [
        GreedyRegressor(n_estimators=2, categorical_features=["zip"]).fit(few, y[few.index]),
        GreedyRegressor(n_estimators=2).fit(X[["size", "zip"]].to_numpy(), y),
    ]
    for other in others:
        for asked in (other.predict, other.ensemble_.raw_predict):
            with pytest.raises(ValueError, match=r"numbers of another model.*np.asarray\(X\)"):
                asked(rows)
    for which in ("from_dtype", [1]):
        with pytest.raises(ValueError, match="became the numbers of another model"):
            GreedyRegressor(n_estimators=2, categorical_features=which).fit(rows, y)
    assert others[1].predict(np.asarray(rows)).shape == (300,)
    again = pickle.loads(pickle.dumps(model))
    assert_same(again.predict(rows), model.predict(rows))


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2], [1, 1, 0]])
@pytest.mark.parametrize("gap", [pd.NA, pd.NaT, None, np.nan])
def test_words_may_begin_with_any_missing_value(order, gap):
    words = pd.Series(["a", gap, "b"], dtype=object)
    column = pd.concat([words.iloc[order], *[words] * 20], ignore_index=True)
    X, y = pd.DataFrame({"w": column}), np.arange(63.0)
    y[column.isna()] = 500.0
    for table in (X, X.to_numpy()):
        model = GreedyRegressor(n_estimators=1, max_depth=2).fit(table, y)
        assert model.ensemble_.categories == (("a", "b"),)
        predicted = model.predict(table)
        assert len(set(predicted[column.isna()])) == 1
        assert predicted[column.isna()].min() > predicted[~column.isna()].max()
