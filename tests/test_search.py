"""The search for a split: its pieces against their definitions, and that pruning is safe."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.columns import Columns
from gbt.kernels import search as search_kernels
from tests.asserts import assert_same
from tests.compiled import FromPython
from tests.node_cases import NodeCase, entries_by_definition, layout_of, node_cases

search = FromPython(search_kernels)
pytestmark = pytest.mark.kernels


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


def surveyed(case, k, bits=0):
    """Return the sums before each group of bins that holds rows, how many do, and missing."""
    histogram, n_bins = case.histogram(k), int(case.columns.n_bins[k])
    sums = np.full((5, 258), 99, dtype=np.int64)
    n_held, missing = search.add_up(histogram, 0, n_bins, bits, case.layout, sums)
    return sums, n_held, missing


group_bits = st.sampled_from([0, 0, 1, 2, 5])


@given(node_cases(), group_bits)
def test_add_up_against_cumulative_sums(case, bits):
    for k in range(case.columns.n_columns):
        sums, n_held, missing = surveyed(case, k, bits)
        assert missing == case.missing(k)
        groups = [
            np.concatenate([case.rows_in_bin(k, b) for b in bins])
            for bins in groups_of_bins(int(case.columns.n_bins[k]), 2**bits)
        ]
        held = [group for group, rows in enumerate(groups) if len(rows)]
        assert sums[4, :n_held].tolist() == held
        for c, group in enumerate(held):
            before = np.concatenate([np.empty(0, int), *groups[:group]]).astype(int)
            assert tuple(sums[:3, c]) == case.sums(before)
            assert tuple(sums[:3, c + 1]) == case.sums(np.append(before, groups[group]))
            exact = sum(map(abs, case.gradient[groups[group]].tolist()))
            assert exact <= sums[3, c] <= exact + len(groups[group]) * 2**case.layout.shift
        assert tuple(sums[:3, 0]) == (0, 0, 0)


def groups_of_bins(n_bins, size):
    return [range(b, min(b + size, n_bins)) for b in range(0, n_bins, size)]


def test_add_up_by_hand():
    """Columns of 1 and 3 bins; the second begins at bin 2, and its bin 1 is empty.

    A row of g = -3 is in the second column's bin 0, one of 5 in bin 2, one of 6 has no value.
    """
    layout = layout_of(np.array([7, 7, 7]))
    entries = entries_by_definition(np.array([-3, 5, 6]), np.array([7, 7, 7]), layout)
    a, b, c = entries.reshape(3, 2)
    histogram = np.array([99, 99, 99, 99, *a, 0, 0, *b, *c], dtype=np.int64)
    sums = np.zeros((5, 258), dtype=np.int64)
    assert search.add_up(histogram, 2, 3, 0, layout, sums) == (2, (6, 7, 1))
    assert_same(sums[:3, :3], [[0, -3, 2], [0, 7, 14], [0, 1, 2]])
    assert_same(sums[3, :2], [4, 6])  # 3 and 5 in units of 2, rounded up
    assert_same(sums[4, :2], [0, 2])
    assert search.add_up(histogram, 2, 3, 1, layout, sums) == (2, (6, 7, 1))
    assert_same(sums[:, :2], [[0, -3], [0, 7], [0, 1], [4, 6], [0, 1]])  # bins 0 and 1, bin 2
    for bits in (2, 9):
        assert search.add_up(histogram, 2, 3, bits, layout, sums) == (1, (6, 7, 1))
        assert_same(sums[:3, :2], [[0, 2], [0, 14], [0, 2]])
        assert_same(sums[3:, 0], [10, 0])


@pytest.mark.parametrize(
    ("n_bins", "n_rows", "bits"),
    [
        (255, 10**6, 0),  # 2,000 groups are asked for
        (255, 4032, 1),  # two roots of 4032 are 126.99, and halves of bins 127
        (255, 4033, 0),
        (255, 20, 4),  # at least 8.9 groups: 255 / 16 are, 255 / 32 are not
        (6, 100, 0),
        (1, 1, 0),
        (0, 1, 0),  # a column without values
    ],
)
def test_there_are_at_least_two_roots_of_the_rows_groups(n_bins, n_rows, bits):
    assert search.group_bits(n_bins, n_rows) == bits


@given(node_cases())
def test_edges_are_scored_like_any_cut(case):
    for k in range(case.columns.n_columns):
        sums, n_held, missing = surveyed(case, k)
        for more in ((0, 0, 0), missing):
            before = np.random.default_rng(k).choice([-np.inf, 1.0, 1e30], size=n_held)
            score = before.copy()
            search.score_edges(sums, n_held, np.array(more), case.node, case.limits, score)
            for c in range(n_held):
                left = (x + y for x, y in zip(sums[:3, c + 1].tolist(), more, strict=True))
                cut = search.score_cut(*left, case.node, case.limits)
                assert score[c] == max(before[c], cut)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=256))
def test_the_largest_of_some_values(values):
    padded = np.array([*values, np.inf])  # beyond the n that count
    assert search.largest_of(padded, len(values)) == max(values)


def edges_of(case, k, bits=0):
    """Return what tells whether the cut after a code has whole groups of bins on its left."""
    groups = (case.columns.bins(k)[case.rows] >> bits).tolist()
    group_of = dict(zip(case.codes(k).tolist(), groups, strict=True))

    def is_edge(code):
        above = [c for c in group_of if code < c < case.columns.n_values[k]]
        return not above or group_of[min(above)] != group_of[code]

    return is_edge


def survey(case, k, bits):
    n_bins = int(case.columns.n_bins[k])
    return search.survey(
        case.histogram(k), 0, n_bins, bits, n_bins == case.columns.n_values[k],
        case.columns.repeats_one[k], case.layout, case.node, case.limits,
        np.empty((5, 258), dtype=np.int64), np.empty(256),
    )  # fmt: skip


@given(node_cases(), group_bits)
def test_a_survey_finds_the_best_edge_and_bounds_the_rest(case, bits):
    for k in range(case.columns.n_columns):
        score, bound = survey(case, k, bits)
        is_edge = edges_of(case, k, bits)
        assert score == case.best_cut(k, is_edge)[0]
        assert bound >= case.best_cut(k, lambda code: not is_edge(code))[0]  # noqa: B023
        if bits == 0:
            is_atomic = case.columns.n_bins[k] == case.columns.n_values[k]
            assert bound == (-np.inf if is_atomic else max(bounds_of(case, k)))


@given(node_cases(), group_bits)
def test_no_cut_inside_a_group_or_at_its_end_beats_its_bound(case, bits):
    """Where nothing is inside, the cut at the end is scored, and by bins it has the same score."""
    for k in range(case.columns.n_columns):
        sums, n_held, missing = surveyed(case, k, bits)
        bound, score = np.full(258, np.nan), np.full(258, np.nan)
        search.bound_inside(sums, n_held, missing, case.node, case.limits, bound)
        search.score_both(sums, n_held, missing, case.node, case.limits, score)
        groups = (case.columns.bins(k)[case.rows] >> bits).tolist()
        for cut_score, code, _, _ in case.cuts(k):
            c = sums[4, :n_held].tolist().index(groups[case.codes(k).tolist().index(code)])
            if bound[c] > -np.inf:  # of several rows
                assert cut_score <= bound[c]
            else:
                assert cut_score == score[c]  # nothing to cut inside


@given(node_cases())
def test_the_best_edge_and_where_missing_rows_go(case):
    for k in range(case.columns.n_columns):
        sums, n_held, missing = surveyed(case, k)
        score, place, missing_left = search.best_edge(
            sums, n_held, missing, case.node, case.limits, np.full(258, np.nan)
        )
        expected, code, expected_left = case.best_cut(k, edges_of(case, k))
        assert score == expected
        if score > -np.inf:
            assert (sums[4, place], missing_left) == (case.bin_of_cut(k, code)[0], expected_left)


def bounds_of(case, k):
    """Return the bound of the cuts inside every bin, -inf where there are no rows."""
    sums, n_held, missing = surveyed(case, k)
    n_bins = int(case.columns.n_bins[k])
    bound, of_all = np.full(258, np.nan), np.full(n_bins, -np.inf)
    search.settle(sums, n_held, n_bins, case.columns.repeats_one[k])
    search.bound_inside(sums, n_held, missing, case.node, case.limits, bound)
    assert np.isnan(bound[n_held:]).all()
    of_all[sums[4, :n_held]] = bound[:n_held]
    return of_all


@given(node_cases())
def test_no_cut_inside_a_bin_beats_its_bound(case):
    """The property on which pruning rests, at every cut of every bin, missing rows on any side."""
    for k in range(case.columns.n_columns):
        bound = bounds_of(case, k)
        for score, code, _, _ in case.cuts(k):
            b, is_inside = case.bin_of_cut(k, code)
            assert not is_inside or score <= bound[b]
        for b in range(len(bound)):
            codes = case.columns.codes[k][case.columns.bins(k) == b]
            has_a_cut = len(case.rows_in_bin(k, b)) > 1 and len(set(codes.tolist())) > 1
            assert has_a_cut == (bound[b] > -np.inf)


def one_bin_in_the_middle(gradient, n_missing=0):
    """Return a column of three bins: one row, three rows, one row; missing rows have g = 8."""
    x = [0.0, 1.0, 2.0, 3.0, 4.0] + [np.nan] * n_missing
    columns = Columns.from_table(np.array(x).reshape(-1, 1))
    columns.set_bins(0, np.array([0, 1, 4]))
    n = len(x)
    gradient = np.array([*gradient, *[8] * n_missing])
    return NodeCase(columns, gradient, np.full(n, 2), np.arange(n, dtype=np.int32), (1.0, 0.0, 1))


@pytest.mark.parametrize(
    ("gradient", "min_hessian", "expected"),
    [
        # G_0 = 8, P = 16, N = 8: G_l in [0, 24], G = 12, H_0 = 2, lambda = 1
        ([8, 16, -8, 0, -4], 0.0, max(0**2 / 3 + 12**2 / 3, 24**2 / 3 + 12**2 / 3)),
        # no side weighs less than 3, so that both denominators are 3 + 1
        ([8, 16, -8, 0, -4], 3.0, 24**2 / 4 + 12**2 / 4),
        # the lower end of the arrow: G_0 = -8, P = 8, N = 16: G_l in [-24, 0], G = -12
        ([-8, -16, 8, 0, 4], 0.0, 24**2 / 3 + 12**2 / 3),
    ],
)
def test_a_bound_by_hand(gradient, min_hessian, expected):
    """Not only safe but as tight as the formula: |g| are whole units of 4."""
    case = one_bin_in_the_middle(gradient)
    case = replace(case, limits=(1.0, min_hessian, 1))
    assert case.layout.shift == 2
    bound = bounds_of(case, 0)
    assert_same(bound[[0, 2]], [-np.inf, -np.inf])
    assert expected <= bound[1] <= expected * (1 + 2e-12)


def test_a_bound_by_hand_with_a_missing_row():
    """G = 20, and G_l is in [0, 24] or, with the missing row, in [8, 32] with H_0 = 2 + 2."""
    case = one_bin_in_the_middle([8, 16, -8, 0, -4], n_missing=1)
    without = max(0 / 3 + 20**2 / 5, 24**2 / 3 + 4**2 / 5)
    with_it = max(8**2 / 5 + 12**2 / 3, 32**2 / 5 + 12**2 / 3)
    assert with_it > without
    assert with_it <= bounds_of(case, 0)[1] <= with_it * (1 + 2e-12)


def test_a_bound_without_weight_on_one_side_is_infinite():
    """No row before the bin weighs anything and lambda is 0: any score may be inside."""
    case = one_bin_in_the_middle([0, 16, -8, 0, -4])
    hessian = np.array([0, 2, 2, 2, 2])
    case = replace(case, hessian=hessian, limits=(0.0, 0.0, 1))
    assert bounds_of(case, 0)[1] == np.inf


def test_a_bound_allows_for_rounding():
    """Two light rows between heavy ones: bound and score have the same exact value, but for 1e-15.

    Without an allowance 1 in 50 of these bounds is below the score.
    """
    rng = np.random.default_rng(0)
    columns = Columns.from_table(np.arange(4.0).reshape(-1, 1))
    columns.set_bins(0, np.array([0, 1, 3]))
    rows = np.arange(4, dtype=np.int32)
    for _ in range(500):
        # |g| in the bin is a whole number of units, and the first of its rows has it all
        gradient = rng.integers(-(2**50), 2**50, size=4) * 4
        gradient[1], gradient[2] = abs(gradient[1]), 0
        hessian = np.array([rng.integers(2**50, 2**54), 1, 1, rng.integers(2**50, 2**54)])
        case = NodeCase(columns, gradient, hessian, rows, (0.5, 0.0, 1))
        score = search.score_cut(*case.sums(rows[:2]), case.node, case.limits)
        assert score <= bounds_of(case, 0)[1]
