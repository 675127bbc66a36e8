"""Sums over features: exact, signed, with standard errors that know how members vary together."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions import (
    GlobalAttribution,
    LocalAttribution,
    absolute,
    partial_inner,
    partial_inner_rows,
    permutation,
    total_gain,
    tree_inner,
    tree_inner_rows,
)
from gbt.parallel.in_order import ROWS_PER_BLOCK
from tests.asserts import assert_close, assert_same
from tests.attributions.held_out.test_inner import fitted_rows
from tests.greedy import GreedyClassifier

MEASURES = [(tree_inner, tree_inner_rows), (partial_inner, partial_inner_rows)]

NAMES = ("rain", "wind", "hour", "day")


def rows_of(values):
    values = np.asarray(values, dtype=float)
    names = NAMES[: values.shape[1]]
    return LocalAttribution(values, np.zeros(len(values)), names, "tree_inner(predecomp)")


def test_names_that_are_there_twice_keep_their_values():
    rows = replace(rows_of([[0, 1, 2], [0, 1, 2]]), feature_names=("a", "a", "b"))
    result = GlobalAttribution.from_rows(rows).grouped({"z": ["b"]})
    assert (*result.feature_names, *result.values) == ("z", "a", "a", 4, 0, 2)


def test_members_that_cancel_by_hand():
    """Rain saves 1, 3 and wind costs 1, 2: sums 0, 1, whose squares about a half are a half."""
    result = GlobalAttribution.from_rows(rows_of([[1, -1, 5], [3, -2, 7]]))
    weather = result.grouped({"weather": ["rain", "wind"]})
    assert weather.feature_names == ("weather", "hour")
    assert_same(weather.values, [1.0, 12.0])
    assert_same(weather.standard_error, [1.0, 2.0])  # independent members would have sqrt(4 + 1)
    assert weather.n_samples == 2
    assert weather.method == result.method
    assert_same(weather.contributions, [[0, 5], [1, 7]])


@given(st.data())
def test_sums_are_those_of_added_columns(data):
    numbers = st.floats(-100, 100)
    values = np.array(data.draw(st.lists(st.tuples(*[numbers] * 4), min_size=2, max_size=8)))
    of_feature = data.draw(st.lists(st.sampled_from(["a", "b", None]), min_size=4, max_size=4))
    n = len(values)
    groups = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    members = {
        group: [name for name, g in zip(NAMES, of_feature, strict=True) if g == group]
        for group in ("a", "b")
    }
    result = GlobalAttribution.from_rows(rows_of(values), groups=groups).grouped(members)

    for j, name in enumerate(result.feature_names):
        inside = [NAMES.index(n) for n in members.get(name, [name])]
        column = rows_of(values[:, inside].sum(axis=1)[:, np.newaxis])
        alone = GlobalAttribution.from_rows(column, groups=groups)
        terms = np.abs(values).sum()
        assert_close(result.values[j], alone.values[0], terms)
        if len(set(groups)) > 1:
            error, other = result.standard_error[j], alone.standard_error[0]
            assert_close(error**2, other**2, terms**2)
    assert sorted(result.feature_names) == sorted(
        [*members, *(n for n, g in zip(NAMES, of_feature, strict=True) if g is None)]
    )


def assert_same_errors(result, expected, values):
    """Compare squares of standard errors: rounding is relative to what cancels in them."""
    terms = (len(values) * np.abs(values).max(axis=0).sum()) ** 2
    assert_close(result.standard_error**2, expected.standard_error**2, terms)


@pytest.mark.parametrize(("measure", "rows_of"), MEASURES)
@pytest.mark.parametrize("n_groups", [0, 40])
def test_second_moments_stand_for_rows(measure, rows_of, n_groups):
    ensemble, X, y = fitted_rows(2 * ROWS_PER_BLOCK + 30)
    groups = np.arange(len(X)) % n_groups if n_groups else None
    rows = rows_of(ensemble, X, y)
    draws = rows.values
    if n_groups:
        draws = np.array([draws[groups == group].sum(axis=0) for group in range(n_groups)])
    members = {"both": list(ensemble.feature_names[:2])}

    result = measure(ensemble, X, y, groups=groups, second_moments=True)

    terms = np.abs(draws).T @ np.abs(draws)
    assert_close(result.second_moments, (len(draws) - 1) * np.cov(draws.T), 10 * terms)
    kept = GlobalAttribution.from_rows(rows, groups=groups).grouped(members)
    for found in (result, replace(result, contributions=None)):
        assert_same_errors(found.grouped(members), kept, draws)
        again = found.grouped(members).grouped({"all": kept.feature_names})
        assert_same_errors(again, kept.grouped({"all": kept.feature_names}), draws)
    two = measure(ensemble, X, y, groups=groups, second_moments=True, n_jobs=2)
    assert_same(two.second_moments, result.second_moments)


def test_second_moments_are_about_the_mean():
    """Beside 1e8 a row: products of numbers of 1e16 would have no digit left of 2, -1 and 14."""
    near, far = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 6.0]]), 1e8
    names = NAMES[:2]
    parts = [
        GlobalAttribution(
            values=row + far, standard_error=None, n_samples=1, feature_names=names,
            method="tree_inner(predecomp)", second_moments=np.zeros((2, 2)),
        )
        for row in near
    ]  # fmt: skip
    merged = parts[0].merge(parts[1]).merge(parts[2])
    assert_same(merged.second_moments, [[2.0, -1.0], [-1.0, 14.0]])
    assert_same(merged.grouped({"sum": names}).standard_error, [np.sqrt(3 / 2 * 14)])


def test_members_that_cancel_but_for_rounding():
    """Squares of the sum are below 0 by rounding: an error of 0, not of nan."""
    result = GlobalAttribution(
        [1.0, -1.0], [1.0, 1.0], 3, NAMES[:2], "tree_inner(predecomp)",
        second_moments=[[1.0, -1.0 - 2.0**-52], [-1.0 - 2.0**-52, 1.0]],
    )  # fmt: skip
    assert_same(result.grouped({"both": NAMES[:2]}).standard_error, [0.0])


def test_second_moments_where_they_make_no_sense():
    ensemble, X, y = fitted_rows(60)
    result = tree_inner(ensemble, X[:30], y[:30], second_moments=True)
    with pytest.raises(ValueError, match=r"has second_moments; .* with second_moments=True"):
        result.merge(tree_inner(ensemble, X[30:], y[30:]))
    for measure, _ in MEASURES:
        with pytest.raises(ValueError, match="leave out standard_error=False"):
            measure(ensemble, X, y, second_moments=True, standard_error=False)
    with pytest.raises(ValueError, match="second_moments"):
        replace(result, second_moments=np.ones((2, 2)))


def test_parts_of_trees_and_outputs_add_up_as_well():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    label = np.digitize(X[:, 0] - X[:, 1] + X[:, 3], [-1, 1])
    model = GreedyClassifier(n_estimators=5).fit(X, label)
    gain = total_gain(model, per_tree=True, per_output=True)
    sums = gain.grouped({"both": ["x0", "x3"]})
    assert sums.feature_names == ("both", "x1", "x2")
    assert sums.standard_error is None
    for name in ("values", "per_tree", "per_output"):
        parts = np.atleast_2d(getattr(gain, name))
        expected = np.column_stack([parts[:, [0, 3]].sum(axis=1), parts[:, [1, 2]]])
        assert_close(np.atleast_2d(getattr(sums, name)), expected, expected)


def test_what_cannot_be_summed_is_refused():
    ensemble, X, y = fitted_rows(30)
    with pytest.raises(ValueError, match=r"needs the contributions of single rows.*from_rows"):
        tree_inner(ensemble, X, y).grouped({})
    with pytest.raises(ValueError, match="No feature is called 'snow'"):
        tree_inner(ensemble, X, y).grouped({"weather": ["snow"]})  # a slip is told first
    for result in (absolute(ensemble, X), permutation(ensemble, X, y)):
        with pytest.raises(ValueError, match=r"does not add up over features.*tree_inner"):
            result.grouped({})
    result = GlobalAttribution.from_rows(rows_of(np.eye(3)))
    for members, message in (
        (["rain", "wind"], r"Groups are a dict .* got \['rain', 'wind'\]"),
        ({"weather": "rain"}, "'weather' is the string 'rain'; give a list"),
        ({"weather": ["snow"]}, "No feature is called 'snow'"),
        ({"a": ["rain"], "b": ["wind", "rain"]}, "'rain' is in the groups 'a' and 'b'"),
        ({"hour": ["rain", "wind"]}, "'hour' is the name of a group and of a feature"),
    ):
        with pytest.raises(ValueError, match=message):
            result.grouped(members)
    assert result.grouped({"rain": ["rain", "wind"]}).feature_names == ("rain", "hour")
    guarded = replace(result, kurtosis=np.ones(3))
    assert guarded.grouped({}).kurtosis is None  # that of a sum is not known
