"""The search for a split: its pieces against their definitions, and that pruning is safe."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.kernels import search
from gbt.kernels.search import GRADIENT, HESSIAN, ROWS

pytestmark = pytest.mark.kernels


def data_of(gradient, hessian):
    """Return rows, gradients and hessians as the kernels take them."""
    n = len(gradient)
    return (
        np.arange(n, dtype=np.int32),
        np.array(gradient, dtype=np.int64),
        np.array(hessian, dtype=np.int64),
    )


def node_of(data):
    return data[1].sum(), data[2].sum(), len(data[0])


def test_score_by_hand():
    # 3^2 / (2 + 1) + 4^2 / (1 + 1) = 3 + 8
    assert search.score_of(3.0, 2.0, -4.0, 1.0, 1.0) == 11.0


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2), st.floats(1e-3, 1e3))
def test_score_is_symmetric_to_the_last_bit(sums, hessian):
    left, right = sums
    one = search.score_of(left, hessian, right, 1.0, 0.1)
    assert one == search.score_of(right, 1.0, left, hessian, 0.1)


@pytest.mark.parametrize(
    ("left", "limits", "allowed"),
    [
        ((1, 2, 2), (0.0, 0.0, 1), True),
        ((1, 0, 2), (0.0, 0.0, 1), False),  # no hessian on the left
        ((1, 5, 2), (0.0, 0.0, 1), False),  # none on the right
        ((1, 2, 2), (0.0, 2.0, 1), True),  # 2 and 3, both at least 2
        ((1, 2, 2), (0.0, 2.5, 1), False),
        ((1, 2, 2), (0.0, 0.0, 2), True),
        ((1, 2, 2), (0.0, 0.0, 3), False),
    ],
)
def test_cuts_that_are_not_allowed_score_minus_infinity(left, limits, allowed):
    score = search.score_cut(*left, (3, 5, 4), limits)
    assert (score > -np.inf) == allowed


def test_missing_rows_go_where_the_score_is_larger():
    """Present rows g = +2 | -2; one missing row of g = -2 belongs to the right."""
    node, missing, limits = (-2, 3, 3), (-2, 1, 1), (0.0, 0.0, 1)
    score, missing_left = search.score_both_ways(2, 1, 1, missing, node, limits)
    assert (score, missing_left) == (2**2 / 1 + 4**2 / 2, False)


@pytest.mark.parametrize("n_missing", [0, 1])
@pytest.mark.parametrize(("left_h", "missing_left"), [(1, False), (2, True), (3, True)])
def test_where_it_makes_no_difference_missing_rows_join_the_heavier_side(
    left_h, missing_left, n_missing
):
    """There are none, or one without gradient and hessian."""
    node, missing, limits = (0, 4, 4 + n_missing), (0, 0, n_missing), (0.0, 0.0, 1)
    assert search.score_both_ways(1, left_h, 2, missing, node, limits)[1] == missing_left


def test_histogram_by_hand():
    bins = np.array([1, 0, 1, 2, 1], dtype=np.uint8)
    rows = np.array([0, 2, 3], dtype=np.int32)
    data = rows, np.array([5, -3, 7]), np.array([1, 2, 3])
    histogram = np.full((3, 4), 99)
    search.fill_histogram(bins, data, histogram)
    np.testing.assert_array_equal(histogram, [[0, 0, 0, 0], [2, 8, 3, 2], [7, 7, 3, 1]])


@st.composite
def binned_nodes(draw):
    """Draw a node whose rows are in the order of their codes, and where its bins end."""
    n = draw(st.integers(2, 14))
    gradient = draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n))
    hessian = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    ends = sorted(draw(st.sets(st.integers(1, n - 1), max_size=4)) | {n})
    n_missing = draw(st.integers(0, 3))
    missing = draw(st.lists(st.integers(-9, 9), min_size=n_missing, max_size=n_missing))
    reg_lambda = draw(st.sampled_from([0.0, 0.5, 3.0]))
    limits = reg_lambda, draw(st.sampled_from([0.0, 2.0])), draw(st.integers(1, 3))
    return gradient, hessian, ends, missing, limits


def histogram_of(gradient, hessian, ends, missing):
    """Return the histogram by its definition; missing rows have h = 1."""
    histogram = np.zeros((len(ends) + 1, 4), dtype=np.int64)
    for b, (first, last) in enumerate(zip([0, *ends], ends, strict=False)):
        g, h = np.array(gradient[first:last]), np.array(hessian[first:last])
        histogram[b] = g.sum(), np.abs(g).sum(), h.sum(), last - first
    m = np.array(missing, dtype=np.int64)
    histogram[-1] = m.sum(), np.abs(m).sum(), len(m), len(m)
    return histogram


@given(binned_nodes())
def test_no_cut_inside_a_bin_beats_its_bound(drawn):
    """The property on which pruning rests, at every cut of every bin."""
    gradient, hessian, ends, missing, limits = drawn
    histogram = histogram_of(gradient, hessian, ends, missing)
    node = tuple(histogram[:, [GRADIENT, HESSIAN, ROWS]].sum(axis=0))
    missing_sums = tuple(histogram[-1, [GRADIENT, HESSIAN, ROWS]])
    bounds = np.full(len(ends) + 1, np.nan)
    largest = search.bound_bins(histogram, len(ends), node, limits, bounds)
    assert largest == bounds.max()
    assert bounds[-1] == -np.inf
    for b, (first, last) in enumerate(zip([0, *ends], ends, strict=False)):
        for cut in range(first + 1, last):
            left = sum(gradient[:cut]), sum(hessian[:cut]), cut
            score, _ = search.score_both_ways(*left, missing_sums, node, limits)
            assert score <= bounds[b]
