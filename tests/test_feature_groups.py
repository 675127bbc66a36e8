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
    permutation,
    total_gain,
    tree_inner,
    tree_inner_rows,
)
from gbt import GBTClassifier
from tests.asserts import assert_close, assert_same
from tests.test_inner import fitted_rows

NAMES = ("rain", "wind", "hour", "day")


def rows_of(values):
    values = np.asarray(values, dtype=float)
    names = NAMES[: values.shape[1]]
    return LocalAttribution(values, np.zeros(len(values)), names, "tree_inner(predecomp)")


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
    groups = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)))
    )
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


def test_trees_and_gains_add_up_as_well():
    ensemble, X, y = fitted_rows(30)
    members = {"both": list(ensemble.feature_names[:2])}
    gain = total_gain(ensemble, per_tree=True)
    summed = gain.grouped(members)
    assert_close(summed.values[0], gain.values[:2].sum(), gain.values[:2].sum())
    assert_close(summed.per_tree[:, 0], gain.per_tree[:, :2].sum(axis=1), gain.values.sum())
    assert summed.standard_error is None
    without = tree_inner(ensemble, X, y, standard_error=False)
    assert without.grouped(members).standard_error is None


def test_parts_of_outputs_add_up_as_well():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    label = np.digitize(X[:, 0] - X[:, 1] + X[:, 3], [-1, 1])
    model = GBTClassifier(n_estimators=5).fit(X, label)
    gain = total_gain(model, per_output=True)

    sums = gain.grouped({"both": ["x0", "x3"]})

    expected = np.column_stack([gain.per_output[:, [0, 3]].sum(axis=1), gain.per_output[:, [1, 2]]])
    assert sums.feature_names == ("both", "x1", "x2")
    assert_close(sums.per_output, expected, expected)
    assert_close(sums.values, expected.sum(axis=0), expected.sum(axis=0))


def test_what_cannot_be_summed_is_refused():
    ensemble, X, y = fitted_rows(30)
    with pytest.raises(ValueError, match=r"needs the contributions of single rows.*from_rows"):
        tree_inner(ensemble, X, y).grouped({})
    for result in (absolute(ensemble, X), permutation(ensemble, X, y)):
        with pytest.raises(ValueError, match=r"does not add up over features.*tree_inner"):
            result.grouped({})
    result = GlobalAttribution.from_rows(rows_of(np.eye(3)))
    for members, message in (
        ({"weather": "rain"}, "'weather' is the string 'rain'; give a list"),
        ({"weather": ["snow"]}, "'weather' names 'snow', which is not a feature"),
        ({"a": ["rain"], "b": ["wind", "rain"]}, "'rain' is in the groups 'a' and 'b'"),
        ({"hour": ["rain", "wind"]}, "'hour' is the name of a group and of a feature"),
    ):
        with pytest.raises(ValueError, match=message):
            result.grouped(members)
    assert result.grouped({"rain": ["rain", "wind"]}).feature_names == ("rain", "hour")
    guarded = replace(result, kurtosis=np.ones(3))
    assert guarded.grouped({}).kurtosis is None  # that of a sum is not known


def test_an_interval_of_a_group():
    ensemble, X, y = fitted_rows(200)
    result = GlobalAttribution.from_rows(tree_inner_rows(ensemble, X, y))
    both = result.grouped({"both": list(ensemble.feature_names[:2])})
    assert both.confidence_interval(method="bootstrap-t").shape == (3, 2)
    assert (both.p_values() <= 1).all()
