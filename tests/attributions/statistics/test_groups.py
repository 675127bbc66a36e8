"""Rows that belong together: their contributions are summed before they are squared."""

from dataclasses import replace

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions import (
    FewGroupsWarning,
    GlobalAttribution,
    cross_fit,
    permutation,
    tree_inner,
    tree_inner_rows,
)
from attributions.reference import definitions as reference
from attributions.statistics.groups import Groups
from attributions.testing import judged
from gbt import GBTRegressor
from gbt.parallel.in_order import ROWS_PER_BLOCK
from tests.asserts import assert_close, assert_same
from tests.attributions.held_out.test_inner import fitted_rows
from tests.attributions.measures import MEASURES
from tests.attributions.statistics.test_bootstrap import rows_of


def test_two_subjects_by_hand():
    """Subject a has 1 and 2, subject b 5 and -1: sums 3 and 4, squares about 3.5 are a half."""
    rows = rows_of([[1], [5], [2], [-1]])
    result = GlobalAttribution.from_rows(rows, groups=["a", "b", "a", "b"])
    assert_same(result.values, [7.0])
    assert_same(result.standard_error, [1.0])  # sqrt(2 / 1 * .5)
    assert result.n_samples == 4
    assert_same(result.groups, ["a", "b"])


@pytest.mark.parametrize("measure", ["tree_inner", "partial_inner", "forest_inner", "absolute"])
@given(case=judged(), data=st.data())
def test_pieces_that_share_groups_merge_to_the_whole(measure, case, data):
    n = len(case.X)
    groups = np.array(data.draw(st.lists(st.sampled_from("abcd"), min_size=n, max_size=n)))
    left = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    if 0 < left.sum() < n:
        moments = {"second_moments": True} if measure in ("tree_inner", "partial_inner") else {}
        one, other, whole = (
            MEASURES[measure](
                case.ensemble, case.X[rows], case.y[rows], None, groups=groups[rows], **moments
            )
            for rows in (left, ~left, left | True)
        )
        merged = one.merge(other)
        terms = np.maximum(case.terms, 1.0) * n * case.ensemble.n_trees
        assert_close(merged.values, whole.values, terms)
        assert (merged.standard_error is None) == (whole.standard_error is None)
        if whole.standard_error is not None:
            assert_close(merged.standard_error**2, whole.standard_error**2, terms**2)
        assert_same(merged.groups, whole.groups)
        assert_close(merged.contributions, whole.contributions, terms)
        if moments and len(whole.groups) > 1:
            assert_close(merged.second_moments, whole.second_moments, terms**2)
            all_of = {"all": list(whole.feature_names)}
            errors = [result.grouped(all_of).standard_error ** 2 for result in (merged, whole)]
            assert_close(*errors, 16 * terms**2)


def test_a_group_in_two_pieces_is_refused_where_its_sum_is_not_kept():
    ensemble, X, y = fitted_rows(20)
    whole = replace(tree_inner(ensemble, X, y, groups=np.arange(20) // 2), contributions=None)
    other = tree_inner(ensemble, X, y, groups=9 + np.arange(20) // 2)
    with pytest.raises(ValueError, match=r"1 groups have rows in both attributions, .*9"):
        whole.merge(other)
    with pytest.raises(ValueError, match="Only one of the attributions was computed with groups"):
        whole.merge(tree_inner(ensemble, X, y))
    with pytest.raises(ValueError, match="Only one of the attributions was computed with groups"):
        tree_inner(ensemble, X, y).merge(whole)


def test_groups_lie_over_blocks():
    n = 3 * ROWS_PER_BLOCK + 5
    ensemble, X, y = fitted_rows(n)
    groups = np.random.default_rng(0).permutation(np.arange(n) // 7)
    one = tree_inner(ensemble, X, y, groups=groups)
    rows = tree_inner_rows(ensemble, X, y)
    expected = reference.standard_error(rows.values, groups)
    assert_close(one.standard_error, expected, np.abs(rows.values).sum(axis=0))
    from_rows = GlobalAttribution.from_rows(rows, groups=groups)
    assert_same(from_rows.values, one.values)
    assert_same(from_rows.standard_error, one.standard_error)
    by_tree = tree_inner(ensemble, X, y, groups=groups, per_tree=True)
    assert_close(by_tree.per_tree.sum(axis=0), by_tree.values, np.abs(rows.values).sum(axis=0))


def test_without_standard_errors_groups_are_kept():
    ensemble, X, y = fitted_rows(20)
    result = tree_inner(ensemble, X, y, groups=np.arange(20) // 2, standard_error=False)
    assert result.standard_error is None
    assert len(result.groups) == 10
    assert len(result.merge(result).groups) == 10


def test_permutation_sums_parts_of_groups():
    """What their errors are ``tests.attributions.test_dask`` tells of chunks."""
    ensemble, X, y = fitted_rows(60)
    X, y, copies = np.repeat(X, 4, axis=0), np.repeat(y, 4), np.repeat(np.arange(60), 4)
    plain = permutation(ensemble, X, y, random_state=0)
    grouped = permutation(ensemble, X, y, random_state=0, groups=copies)
    assert_same(grouped.values, plain.values)
    assert (grouped.standard_error[:2] > 1.4 * plain.standard_error[:2]).all()
    single = permutation(ensemble, X, y, random_state=0, groups=np.zeros(240))
    assert single.standard_error is None


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b", "a"],
        pandas.Series([1, 2, 1], index=[7, 8, 9]),
        pandas.Categorical(["u", "v", "u"]),
        np.array(["2020-01-01", "2020-01-02", "2020-01-01"], dtype="datetime64[D]"),
    ],
    ids=["list", "Series", "Categorical", "dates"],
)
def test_labels_of_any_kind(labels):
    assert_same(Groups.of(labels, 3).of_row, [0, 1, 0])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, 2], r"groups has shape \(2,\); it needs one label for each row of X, \(3,\)"),
        ([[1], [2], [3]], r"groups has shape \(3, 1\)"),
        ("city", r"groups='city' is a single value; .* Of a column of X, give X\['city'\]"),
        ([1.0, np.nan, 2.0], "groups has missing labels"),
        (np.array(["a", np.nan, None], dtype=object), r"missing labels.*fillna\('missing'\)"),
        (pandas.array(["a", pandas.NA, "b"]), "groups has missing labels"),
        (np.array([1, "a", 2], dtype=object), "groups mixes labels"),
    ],
)
def test_unusable_groups_are_refused(labels, message):
    ensemble, X, y = fitted_rows(3)
    for measure in (tree_inner, permutation):
        with pytest.raises(ValueError, match=message):
            measure(ensemble, X, y, groups=labels)
    with pytest.raises(ValueError, match=message):
        cross_fit(GBTRegressor(2), X, y, groups=labels)


@pytest.mark.parametrize("ask", [GlobalAttribution.p_values, GlobalAttribution.confidence_interval])
def test_few_groups_are_warned_of_where_the_normal_tail_is_asked(ask):
    """Of three groups Student's p with 2 degrees of freedom is several times the normal one."""
    rows = rows_of(np.random.default_rng(0).normal(1.0, 1.0, size=(120, 2)))
    few, enough = (GlobalAttribution.from_rows(rows, groups=np.arange(120) % g) for g in (29, 30))
    with pytest.warns(FewGroupsWarning):
        assert "120 rows, 29 groups\n" in repr(few)
    with pytest.warns(FewGroupsWarning, match="from 29 groups.*p-values too small") as told:
        ask(few)
    assert told[0].filename == __file__
    ask(enough)  # warnings are errors here
    ask(GlobalAttribution.from_rows(rows))
    pieces = [  # of few groups each, merged before anything is asked
        GlobalAttribution.from_rows(rows_of(part), groups=np.arange(20).repeat(3) + start)
        for part, start in ((rows.values[:60], 0), (rows.values[60:], 20))
    ]
    ask(pieces[0].merge(pieces[1]))


def test_a_single_group_is_said_to_have_no_standard_errors():
    result = GlobalAttribution.from_rows(rows_of([[1.0], [2.0]]), groups=["a", "a"])
    assert "2 rows, 1 group: no standard errors\n" in repr(result)
    with pytest.raises(ValueError, match="a single group"):
        result.confidence_interval()
