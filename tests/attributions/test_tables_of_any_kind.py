"""Tables of polars, lazy ones too, and of pyarrow are taken wherever those of pandas are."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest

from attributions import HeldOutSelector, compare, cross_fit, held_out_gain, permutation, tree_shap
from tests.asserts import assert_same
from tests.attributions.measures import MEASURES
from tests.greedy import GreedyRegressor

RNG = np.random.default_rng(0)
COLUMNS = {
    "size": RNG.normal(size=160),
    "town": RNG.choice(["Bern", "Oslo", "Rome"], 160),
    "age": RNG.normal(size=160),
}
Y = COLUMNS["size"] + (COLUMNS["town"] == "Oslo") + 0.2 * RNG.normal(size=160)
Y_NEW = Y[100:]


def part(rows):
    return {name: column[rows].tolist() for name, column in COLUMNS.items()}


FIT, NEW = part(slice(100)), part(slice(100, 160))


def estimator():
    return GreedyRegressor(n_estimators=3, random_state=0)


def of_two_columns():
    return estimator().fit(pd.DataFrame(FIT)[["age", "size"]], Y[:100])


FUNCTIONS = {
    **{
        name: lambda kind, m, name=name: (
            MEASURES[name](m, kind(NEW), Y_NEW, (kind(FIT), Y[:100])).values
        )
        for name in MEASURES
        if name != "tree_shap, background"  # which takes some rows of the table
    },
    "tree_shap, background": lambda kind, m: (
        tree_shap(m, kind(NEW), background=kind(part(slice(5)))).values
    ),
    "compare": lambda kind, m: compare(of_two_columns(), m, kind(NEW), Y_NEW).values,
    "permutation by a scorer": lambda kind, m: (
        permutation(m, kind(NEW), Y_NEW, random_state=0, metric="r2").values
    ),
    "cross_fit": lambda kind, m: cross_fit(estimator(), kind(FIT), Y[:100], cv=2).values,
    "HeldOutSelector": lambda kind, m: np.asarray(
        HeldOutSelector(estimator(), random_state=0).fit(kind(FIT), Y[:100]).transform(kind(NEW))
    ),
    "fit and predict": lambda kind, m: estimator().fit(kind(FIT), Y[:100]).predict(kind(NEW)),
}


@pytest.mark.parametrize("kind", [pl.DataFrame, pl.LazyFrame, pyarrow.table])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_results_are_those_of_pandas(function, kind):
    model = estimator().fit(pd.DataFrame(FIT), Y[:100])
    assert_same(function(kind, model), function(pd.DataFrame, model))


def test_columns_are_told_by_one_name():
    model = estimator().fit(pd.DataFrame(FIT), Y[:100])
    levels = pd.DataFrame(NEW)
    levels.columns = pd.MultiIndex.from_tuples([("a", "size"), ("a", "town"), ("b", "age")])
    twice = pd.DataFrame(NEW)
    twice.columns = ["size", "town", "size"]
    for table, message in (
        (levels, r"2 levels, a MultiIndex, the first of them \('a', 'size'\)"),
        (twice, r"'size' is the name of the columns \[0, 2\]"),
    ):
        for use in (
            lambda table=table: estimator().fit(table, Y_NEW),
            lambda table=table: held_out_gain(model, table, Y_NEW),
            lambda table=table: permutation(lambda X: np.zeros(60), table, Y_NEW),
        ):
            with pytest.raises(ValueError, match=message):
                use()


def test_targets_with_other_labels_than_the_rows_are_told():
    model = estimator().fit(pd.DataFrame(FIT), Y[:100])
    days = pd.date_range("2024-01-01", periods=60)
    frame = pd.DataFrame(NEW, index=days)
    shifted = pd.Series(Y_NEW, index=days + pd.Timedelta(days=1))
    with pytest.warns(UserWarning, match=r"y has other labels.*row 0 of X is Timestamp"):
        held_out_gain(model, frame, shifted)
    held_out_gain(model, frame, pd.Series(Y_NEW))  # made of an array
    named = pd.Series(Y_NEW, index=[f"day {i}" for i in range(60)])
    held_out_gain(model, frame, named)  # labels of another kind
