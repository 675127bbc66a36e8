"""Levels that training has not seen, where they are not missing values: XGBoost's are not.

An oracle that knows no unseen levels: the same trees with one more level in every column of
categories, which is in no set of any node.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import attributions
from attributions.results.per_row import UNSEEN
from gbt.formats import as_ensemble
from tests.asserts import assert_same, peer
from tests.attributions.measures import MEASURES, all_but

TYPES = ["c", "q", "c", "c"]
ONE_MORE = 999  # a level that no node lists


def table(seed=0, n=400):
    """Return numbers of levels, few and many, beside numbers, and targets."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(k, size=n) for k in (5, 9, 3, 90)]).astype(np.float64)
    X[:, 1] = rng.normal(size=n)
    y = (X[:, 0] % 3) + X[:, 1] + 2.0 * (X[:, 3] * 17 % 11 > 5) + rng.normal(size=n)
    X[::13, 0], X[::11, 1], X[::7, 3] = np.nan, np.nan, np.nan
    return X, y


def rows_with(level):
    """Return new rows, some levels replaced by one that the model has not seen."""
    X, y = table(seed=1)
    X[::4, 0], X[1::4, 3], X[2::8, 2] = level, level, level
    return X, y


@cache
def trained():
    """Return XGBoost's model of an array of numbers, which takes any number for a level."""
    xgboost = peer("xgboost")
    X, y = table()
    rows = xgboost.DMatrix(X, y, feature_types=TYPES, enable_categorical=True)
    asked = {"nthread": 1, "max_depth": 4, "max_cat_to_onehot": 1}
    booster = xgboost.train(asked, rows, 6)
    return booster, as_ensemble(booster, X, y)


def with_one_more_level(ensemble):
    """Return the model with a last level in each column of categories: its bits are all 0."""
    categories = tuple(None if c is None else (*c, ONE_MORE) for c in ensemble.categories)
    assert all(len(c) % 64 != 1 for c in categories if c is not None)  # as many words as before
    return replace(ensemble, categories=categories)


EXPLAIN = {
    **{name: MEASURES[name] for name in all_but("given_others")},
    "local_mdi, rows of training": lambda model, X, y, _: attributions.local_mdi(model, X, y),
    "local_mdi, ranks": lambda model, X, y, _: attributions.local_mdi(
        model, X, y, linear_model="ridge", aggregate="rank"
    ),
}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("name", EXPLAIN)
def test_an_unseen_level_is_as_one_that_no_node_lists(name):
    def explained(ensemble, X):
        if name.startswith("local_mdi, "):  # want the rows that the model was fitted on
            ensemble = ensemble.refit_statistics(X, y)
        return EXPLAIN[name](ensemble, X, y, table()).values

    _, ensemble = trained()
    X, y = rows_with(777)
    found = explained(ensemble, X)
    assert np.isfinite(found).all()
    assert_same(found, explained(with_one_more_level(ensemble), rows_with(ONE_MORE)[0]))
    assert (explained(ensemble, np.where(X == 777, np.nan, X)) != found).any()


def test_what_is_shown_in_place_of_a_level():
    _, ensemble = trained()
    X, _ = rows_with(777)
    result = attributions.predecomp(ensemble, X)
    shown = result.shown_data()
    assert {*shown[X[:, 0] == 777, 0].tolist()} == {UNSEEN}
    assert shown[np.isnan(X[:, 0]), 0].tolist() == [None] * int(np.isnan(X[:, 0]).sum())
    known = np.isin(X[:, 0], ensemble.categories[0])
    assert shown[known, 0].tolist() == X[known, 0].tolist()
    names = [text.get_text() for text in result.plot(row=0).ax_.get_yticklabels()]
    assert any(UNSEEN in name for name in names)
    result.plot()


def test_infinite_numbers_are_refused_beside_unseen_levels():
    _, ensemble = trained()
    X, y = rows_with(777)
    X[9, 1] = np.inf
    with pytest.raises(ValueError, match=r"X holds inf in row 9, column 'f1'; numbers must be fin"):
        attributions.tree_inner(ensemble, X, y)
