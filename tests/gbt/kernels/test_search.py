"""The search for a split: its pieces against their definitions, and that pruning is safe."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.kernels.cuts import scores as score_kernels
from gbt.kernels.cuts import search as search_kernels
from gbt.kernels.cuts.histogram import Layout
from gbt.tables.columns import Columns
from tests.asserts import assert_same
from tests.compiled import FromPython
from tests.node_cases import NodeCase, empty_scratch, node_cases

search, scores = FromPython(search_kernels), FromPython(score_kernels)
Sums, Terms = score_kernels.Sums, score_kernels.Terms
LAYOUT = Layout(2, 8, 1)  # does not enter the score of a cut
pytestmark = pytest.mark.kernels


group_bits = st.sampled_from([0, 0, 1, 2, 4])


class Surveyed:
    """One column of a case after a survey, with memory of its own."""

    def __init__(self, case, k, bits=0, *, floor):
        column, scratch, first = case.table.columns[k], empty_scratch(), 3
        column["first_bin"] = first  # after another column's bins
        histogram = np.append(np.full(first * case.layout.width, 99), case.histogram(k, bits))
        is_closed = bool(bits == 0 and column["n_bins"] == column["n_values"])
        cut, self.largest, n_candidates = search.survey(
            histogram, column, bits, is_closed, case.columns.first_code[k], case.terms, floor,
            scratch,
        )  # fmt: skip
        self.score, self.last, self.missing_left = cut
        self.candidates = scratch["candidates"][:n_candidates].copy()
        self.bound = dict(
            zip(self.candidates["bin"].tolist(), self.candidates["bound"], strict=True)
        )
        self.upper = scratch["upper"][: -(-int(column["n_bins"]) // 2**bits)]
        self.n_above = (self.upper >= floor).sum()

    def bound_of(self, group):
        return self.bound.get(group, -np.inf)


def groups_of(case, k, bits):
    """Return for every group of bins its first bin and its rows, groups without rows included."""
    n_bins, bins = int(case.columns.n_bins[k]), case.columns.bins(k)[case.rows]
    return {
        b: case.rows[(bins >= b) & (bins < min(b + 2**bits, n_bins))]
        for b in range(0, n_bins, 2**bits)
    }


def edges_of(case, k, bits=0):
    """Return what tells whether the cut after a code has whole groups of bins on its left."""
    groups = (case.columns.bins(k)[case.rows] >> bits).tolist()
    group_of = dict(zip(case.codes(k).tolist(), groups, strict=True))

    def is_edge(code):
        above = [c for c in group_of if code < c < case.columns.n_values[k]]
        return not above or group_of[min(above)] != group_of[code]

    return is_edge


@given(node_cases(), group_bits)
def test_a_survey_finds_the_best_edge_and_bounds_the_rest(case, bits):
    """The floor is 0, and rises with every edge. What is left of a group is written down."""
    for k in range(case.columns.n_columns):
        found, is_edge = Surveyed(case, k, bits, floor=0.0), edges_of(case, k, bits)
        score, code, missing_left = case.best_cut(k, is_edge)
        assert found.score == score
        if score > -np.inf:  # of equals the highest, and missing rows as in the plain page
            bins, codes = case.columns.bins(k)[case.rows], case.codes(k).tolist()
            assert found.last == int(bins[codes.index(code)]) >> bits << bits
            assert found.missing_left == missing_left
        else:
            assert found.last == -1
        inside = case.best_cut(k, lambda code: not is_edge(code))[0]  # noqa: B023
        assert inside <= max(found.largest, score)
        assert found.largest == max(found.bound.values(), default=-np.inf)
        groups = groups_of(case, k, bits)
        for group, n, *left, _ in found.candidates.tolist():
            assert n == len(groups[group])
            assert tuple(left) == case.before(k, group)


@given(node_cases(), group_bits)
def test_no_cut_inside_a_group_or_at_its_end_beats_its_bound(case, bits):
    """The property on which pruning rests, at every cut of every bin, missing rows on any side."""
    for k in range(case.columns.n_columns):
        found = Surveyed(case, k, bits, floor=0.0)
        codes, bins = case.codes(k).tolist(), case.columns.bins(k)[case.rows]
        for score, code, _, _ in case.cuts(k):
            assert score <= found.upper[int(bins[codes.index(code)]) >> bits]


@given(node_cases(), group_bits, st.data())
def test_what_a_survey_passes_over_is_below_the_floor(case, bits, data):
    """Floors are scores of cuts and bounds, and what is a little beside them."""
    for k in range(case.columns.n_columns):
        full = Surveyed(case, k, bits, floor=0.0)
        values = {0.0, *(cut[0] for cut in case.cuts(k)), *full.bound.values()} - {np.inf}
        floor = data.draw(st.sampled_from(sorted(values)))
        floor *= data.draw(st.sampled_from([1 - 1e-9, 1.0, 1.0, 1 + 1e-9]))
        found, is_edge = Surveyed(case, k, bits, floor=floor), edges_of(case, k, bits)
        best = case.best_cut(k, is_edge)[0]
        assert found.score == (best if best >= floor else -np.inf)
        inside = [cut for cut in case.cuts(k) if not is_edge(cut[1])]
        codes, bins = case.codes(k).tolist(), case.columns.bins(k)[case.rows]
        for score, code, _, _ in inside:
            group = int(bins[codes.index(code)]) >> bits << bits
            if score >= max(floor, best):  # the floor rises with every edge that reaches it
                assert found.bound_of(group) == full.bound_of(group) >= score
        assert all(bound >= floor for bound in found.bound.values())


def bounds_of(case, k):
    """Return the bound of the cuts inside every bin, -inf where there is none."""
    found = Surveyed(case, k, floor=0.0)
    return np.array([found.bound_of(b) for b in range(int(case.columns.n_bins[k]))])


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
    assert case.layout.count_bits == 3
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


def test_a_bound_without_weight_on_one_side_is_the_largest_number():
    """No row before the bin weighs anything and lambda is 0: any score may be inside."""
    case = one_bin_in_the_middle([0, 16, -8, 0, -4])
    hessian = np.array([0, 2, 2, 2, 2])
    case = replace(case, hessian=hessian, limits=(0.0, 0.0, 1))
    assert bounds_of(case, 0)[1] == np.finfo(np.float64).max


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
        score = scores.score_cut(*case.sums(rows[:2]), case.terms, False)
        assert score <= bounds_of(case, 0)[1]


MISSING = np.nan


def is_seen(x, bins, gradient, hessian, min_hessian=0.0):
    """Say whether a survey sees the cut after two of four rows, where its score is the floor.

    The cut is inside the bin before the last, or after it; a missing first row goes left.
    """
    columns = Columns.from_table(np.array(x, dtype=float).reshape(-1, 1))
    columns.set_bins(0, np.array(bins))
    rows = np.arange(4, dtype=np.int32)
    case = NodeCase(columns, np.array(gradient), np.array(hessian), rows, (0.5, min_hessian, 1))
    score = scores.score_cut(*case.sums(rows[:2]), case.terms, False)
    assert score > -np.inf
    found = Surveyed(case, 0, floor=score)
    return max(found.score, found.bound_of(bins[-2])) >= score


@pytest.mark.parametrize("sign", [1, -1])
def test_boxes_hold_cuts_with_missing_rows_on_the_left(sign):
    """Only the missing row makes both sides pure, -36 and 36. All are whole units of 4."""
    gradient = sign * np.array([-32, -4, 16, 20])
    assert is_seen([MISSING, 1, 2, 3], [0, 2], gradient, [1, 1, 1, 1])


def test_boxes_allow_for_the_rounding_of_gradients():
    """One side is so light that its G, rounded with all others, is off by 1 in 10 million.

    Hessians are exact.
    """
    rng = np.random.default_rng(0)
    for _ in range(100):
        gradient = rng.integers([2**58, 2**31, 0, 2**31], [2**59, 2**32, 1, 2**32]) * [1, 4, 4, -4]
        assert is_seen([0, 1, 2, 3], [0, 1, 3], gradient, [2**49, 0, 0, 1])


def test_boxes_allow_for_the_rounding_of_hessians():
    """One side is so light that what is rounded down on the other exceeds its hessian.

    Gradients are exact.
    """
    rng = np.random.default_rng(0)
    for _ in range(100):
        hessian = rng.integers([2**60, 0, 0, 1], [2**60 + 2**11, 1, 1, 2**11])
        assert is_seen([0, 1, 2, 3], [0, 1, 3], [2**47, 2**26, 0, -(2**26)], hessian)


@pytest.mark.parametrize("bins", [[0, 1, 3], [0, 1, 2], [0, 1, 2, 3]])
@pytest.mark.parametrize("is_left", [True, False])
def test_a_side_of_the_least_hessian_is_not_too_light(bins, is_left):
    """Of its few thousand little is left when all are rounded down to so many as 2^60 need."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        light = rng.integers(1, 2**11, size=2)
        heavy = np.array([2**60, 2**59]) + rng.integers(2**10, size=2)
        hessian = np.concatenate([light, heavy] if is_left else [heavy, light])
        least = float(light.sum())
        assert is_seen([0, 1, 2, 3], bins, [2**26, 2**27, 0, -(2**26)], hessian, least)
