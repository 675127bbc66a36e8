"""Refinement: every way of looking at the cuts of one column against all its cuts by loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.columns import Columns
from gbt.kernels import refine as refine_kernels
from gbt.kernels import search as search_kernels
from tests.asserts import assert_same
from tests.compiled import FromPython
from tests.node_cases import NO_CUT, NUMBER, NodeCase, node_cases

refine, search = FromPython(refine_kernels), FromPython(search_kernels)
pytestmark = pytest.mark.kernels


class Column:
    """One column of a case as the kernels take it, with memory of its own."""

    def __init__(self, case, k):
        columns = case.columns
        self.case, self.k = case, k
        self.codes, self.order = columns.codes[k], columns.order[k]
        self.bin_start, self.n_bins = columns.bin_start[k], int(columns.n_bins[k])
        self.words, self.lane = columns.words[k // 8], k % 8
        self.sums = np.full((4, 258), 99, dtype=np.int64)
        self.missing = search.add_up(case.histogram(k), 0, self.n_bins, case.layout, self.sums)

    def before(self, b):
        return tuple(self.sums[:3, b])

    def no_cut(self):
        return -np.inf, np.int64(0), False

    def edge(self):
        case = self.case
        if self.n_bins == 0:
            return self.no_cut()
        return refine.edge_of_column(
            self.codes, self.order, self.bin_start, self.n_bins, self.sums, self.missing,
            case.node, case.limits,
        )  # fmt: skip

    def walk(self, b, best):
        case = self.case
        return refine.walk(
            self.codes, self.order[self.bin_start[b] : self.bin_start[b + 1]], self.before(b),
            NUMBER, case.entries, case.node_of_row, case.layout, self.missing, case.node,
            case.limits, best,
        )  # fmt: skip

    def divide(self, bins):
        """Divide these bins; return what is known of them, and the sums over the narrow bins."""
        case, width = self.case, self.case.layout.width
        ranges = np.full((4, 258), 99, dtype=np.int64)
        bound = np.full(258, -np.inf)
        bound[bins] = 1.0
        n_narrow, n_walked = refine.divide_bins(
            self.codes, self.order, self.bin_start, self.n_bins, bound, 1.0, ranges
        )
        assert n_walked == sum(self.bin_start[b + 1] - self.bin_start[b] for b in bins)
        narrow = np.zeros(n_narrow * width, dtype=np.int64)
        refine.fill_narrow_bins(
            self.words, self.lane, self.codes, case.rows, case.entries, width, ranges, narrow
        )
        return ranges, narrow.reshape(-1, width)

    def narrow(self, b, best, to_beat=-np.inf):
        case = self.case
        ranges, narrow = self.divide([b])
        return refine.search_narrow_bins(
            b, self.codes, self.order, self.bin_start, ranges, narrow.ravel(), self.before(b),
            NUMBER, case.entries, case.node_of_row, case.layout, self.missing, case.node,
            case.limits, to_beat, best,
        )  # fmt: skip

    def refine(self, to_beat):
        case = self.case
        if self.n_bins == 0:
            return self.no_cut()
        padding = np.full(3 * case.layout.width, 99)  # histograms of columns before this one
        most_narrow = 1 + refine.NARROW_BINS * self.n_bins
        return refine.refine_column(
            self.codes, self.order, self.bin_start, self.n_bins, self.words, self.lane,
            np.append(padding, case.histogram(self.k)), 3, case.layout, case.rows, NUMBER,
            case.entries, case.node_of_row, case.node, case.limits, to_beat,
            np.full((4, 258), 99, dtype=np.int64), np.full(258, np.nan),
            np.full((4, 258), 99, dtype=np.int64), np.full(most_narrow * 3, 99, dtype=np.int64),
        )  # fmt: skip

    def sort(self):
        case = self.case
        return refine.sort_column(
            self.codes, int(case.columns.n_values[self.k]), case.rows, case.entries, case.layout,
            case.node, case.limits, np.empty(len(case.rows), dtype=np.int64),
        )  # fmt: skip


@given(st.lists(st.integers(-(2**62), 2**62) | st.integers(0, 5), max_size=200))
def test_keys_are_sorted(keys):
    found = np.array(keys, dtype=np.int64)
    refine.sort_keys(found)
    assert found.tolist() == sorted(keys)


def columns_of(case):
    return [Column(case, k) for k in range(case.columns.n_columns)]


def two_bins_of_three_values():
    """Rows in the order of their values, row 4 in another node, row 0 missing::

    bin       ___0___   ___1___
    value      1  2  2   3  4  5
    row        1  2  3   4  5  6
    g          1 -3  4  50  5 -7
    """
    x = np.array([np.nan, 1.0, 2.0, 2.0, 3.0, 4.0, 5.0]).reshape(-1, 1)
    columns = Columns.from_table(x)
    columns.set_bins(0, np.array([0, 3]))
    gradient = np.array([-2, 1, -3, 4, 50, 5, -7])
    rows = np.array([0, 1, 2, 3, 5, 6], dtype=np.int32)
    return NodeCase(columns, gradient, np.ones(7, dtype=np.int64), rows, (0.0, 0.0, 1))


def test_a_walk_by_hand():
    """G = -2. Inside bin 0 only 1 | 2, inside bin 1 only 4 | 5; each with -2 on either side."""
    column = Column(two_bins_of_three_values(), 0)
    assert column.missing == (-2, 1, 1)
    # 1 row of g = 1 against 5 of -3, or 2 rows of g = -1 against 4 of -1
    assert column.walk(0, column.no_cut()) == (1**2 / 1 + 3**2 / 5, 0, False)
    # with the missing row on the left 5 rows of g = 5 against -7; else 4 of 7 against 2 of -9
    assert 5**2 / 5 + 7**2 / 1 > 7**2 / 4 + 9**2 / 2
    assert column.walk(1, column.no_cut()) == (5**2 / 5 + 7**2 / 1, 3, True)


def test_narrow_bins_by_hand():
    """Few codes have a narrow bin each; the first one is for rows elsewhere."""
    ranges, narrow = Column(two_bins_of_three_values(), 0).divide([0])
    assert_same(ranges[:, 0], [0, 0, 1, 1])  # codes from 0, not shifted, to 1
    assert_same(ranges[2, 1:3], [0, 0])
    assert_same(narrow[:, 0], [-2 + 5 - 7, 1, -3 + 4])


def test_forty_codes_share_ten_narrow_bins():
    columns = Columns.from_table(np.arange(40.0).reshape(-1, 1))
    columns.set_bins(0, np.array([0]))
    rows, ones = np.arange(40, dtype=np.int32), np.ones(40, dtype=np.int64)
    case = NodeCase(columns, np.arange(40), ones, rows, (1.0, 0.0, 1))
    ranges, narrow = Column(case, 0).divide([0])
    assert_same(ranges[:, 0], [0, 2, 1, 39])  # 39 >> 1 is 19, too many; 39 >> 2 is 9, the last
    assert_same(narrow[1:, 0], [4 * 4 * i + 6 for i in range(10)])


@given(node_cases())
def test_the_best_edge_of_a_column(case):
    for column in columns_of(case):
        k = column.k
        expected = case.best_cut(k, lambda code, k=k: not case.bin_of_cut(k, code)[1])
        assert case.as_seen_here(k, column.edge()) == expected


@given(node_cases())
def test_a_walk_sees_every_cut_inside_a_bin(case):
    """And perhaps the cut after it: behind the node's last row others may start a new value."""
    for column in columns_of(case):
        k = column.k
        for b in range(column.n_bins):
            inside = case.best_cut(k, lambda code, k=k, b=b: case.bin_of_cut(k, code) == (b, True))
            or_after = case.best_cut(k, lambda code, k=k, b=b: case.bin_of_cut(k, code)[0] == b)
            assert case.as_seen_here(k, column.walk(b, column.no_cut())) in (inside, or_after)


@given(node_cases())
def test_narrow_bins_see_every_cut_inside_a_bin_and_the_one_after_it(case):
    for column in columns_of(case):
        k = column.k
        for b in range(column.n_bins):
            cut = column.narrow(b, column.no_cut())
            assert cut[1] <= column.codes[case.columns.bins(k) == b].max()
            found = case.as_seen_here(k, cut)
            assert found == case.best_cut(
                k, lambda code, k=k, b=b: case.bin_of_cut(k, code)[0] == b
            )


@given(node_cases())
def test_walking_and_dividing_every_bin_finds_the_best_cut(case):
    for column in columns_of(case):
        walked = divided = column.edge()
        for b in range(column.n_bins):
            walked = column.walk(b, walked)
            divided = column.narrow(b, divided, to_beat=divided[0])
        for found in (walked, divided):
            assert case.as_seen_here(column.k, found) == case.best_cut(column.k)


@given(node_cases(), st.data())
def test_narrow_bins_hold_the_rows_of_their_codes(case, data):
    for column in columns_of(case):
        bins = sorted(data.draw(st.sets(st.integers(0, max(column.n_bins - 1, 0)), max_size=3)))
        bins = bins if column.n_bins else []
        (first, shift, start, last), narrow = column.divide(bins)
        expected = np.zeros_like(narrow)
        entries = case.entries.reshape(-1, case.layout.width)
        for row in case.rows:
            b, code = int(case.columns.bins(column.k)[row]), int(column.codes[row])
            place = start[b] + (code - first[b]) // 2 ** shift[b] if b in bins else 0
            expected[place] += entries[row]
        assert_same(narrow, expected)
        following = 1
        for b in bins:
            codes = column.codes[case.columns.bins(column.k) == b]
            span = int(codes.max() - codes.min())
            count = span // 2 ** shift[b] + 1
            assert (start[b], first[b], last[b]) == (following, codes.min(), codes.max())
            assert count <= refine.NARROW_BINS
            assert shift[b] == 0 or span // 2 ** (shift[b] - 1) >= refine.NARROW_BINS
            following += count
        assert len(narrow) == following


@given(node_cases(), st.data())
def test_refining_finds_the_best_cut_wherever_it_reaches_the_score_to_beat(case, data):
    for column in columns_of(case):
        expected = case.best_cut(column.k)
        scores = sorted({cut[0] for cut in case.cuts(column.k)})
        for to_beat in {-np.inf, expected[0], data.draw(st.sampled_from([0.0, *scores]))}:
            if to_beat <= expected[0]:
                found = column.refine(to_beat)
                assert case.as_seen_here(column.k, found) == expected


def test_a_score_to_beat_that_is_only_reached_is_beaten():
    """All gradients are 0, and so are all scores and bounds: the highest cut is the best."""
    columns = Columns.from_table(np.arange(6.0).reshape(-1, 1))
    columns.set_bins(0, np.array([0, 2]))
    rows, zeros = np.arange(6, dtype=np.int32), np.zeros(6, dtype=np.int64)
    case = NodeCase(columns, zeros, zeros + 1, rows, (1.0, 0.0, 1))
    assert case.as_seen_here(0, Column(case, 0).refine(0.0)) == (0.0, 4, True)


@given(node_cases(), st.floats(1e-12, 10.0))
def test_refining_in_vain_returns_some_cut(case, excess):
    for column in columns_of(case):
        best = case.best_cut(column.k)
        to_beat = max(best[0], 0.0) * (1 + excess) + 1e-300
        found = case.as_seen_here(column.k, column.refine(to_beat))
        cuts = [(score, code, left) for score, code, _, left in case.cuts(column.k)]
        assert found == NO_CUT or found in cuts


@pytest.mark.parametrize("n_rows", [3, 90, 100])
@pytest.mark.parametrize("n_missing", [0, 20])
def test_refining_nodes_with_all_and_with_few_rows_of_their_bins(n_rows, n_missing):
    """Of 100 rows in 2 bins: for 3 these are divided; to 90 and 100 the way leads past all."""
    rng = np.random.default_rng(n_rows)
    x = np.append(rng.permutation(np.arange(100.0)), np.full(n_missing, np.nan))
    columns = Columns.from_table(x.reshape(-1, 1))
    columns.set_bins(0, np.array([0, 50]))
    rows = np.append(rng.permutation(100)[:n_rows], range(100, 100 + n_missing))
    gradient = rng.integers(-9, 10, size=len(x))
    hessian = rng.integers(1, 5, size=len(x))
    case = NodeCase(columns, gradient, hessian, np.sort(rows).astype(np.int32), (1.0, 0.0, 1))
    cost = len(rows) * refine.PER_ROW + 33 * refine.PER_NARROW_BIN
    is_walked = 100 * refine.cost_of_walking(len(x)) <= cost
    assert is_walked == (n_rows > 3)
    found = case.as_seen_here(0, Column(case, 0).refine(-np.inf))
    assert found == case.best_cut(0)


@pytest.mark.parametrize(("n_codes", "shift", "n_narrow"), [(16, 0, 16), (17, 1, 9), (33, 2, 9)])
def test_a_bin_has_sixteen_narrow_bins_at_most(n_codes, shift, n_narrow):
    columns = Columns.from_table(np.arange(float(n_codes)).reshape(-1, 1))
    columns.set_bins(0, np.array([0]))
    rows, ones = np.arange(n_codes, dtype=np.int32), np.ones(n_codes, dtype=np.int64)
    ranges, narrow = Column(NodeCase(columns, ones, ones, rows, (1.0, 0.0, 1)), 0).divide([0])
    assert (ranges[1, 0], len(narrow)) == (shift, 1 + n_narrow)


def light_rows_between_heavy_ones(missing):
    """Bins of code 0, of 1 to 32 and of 33; of the light rows 15 have g = -1, and 17 have 1."""
    x = np.append(np.arange(34.0), np.nan)
    columns = Columns.from_table(x.reshape(-1, 1))
    columns.set_bins(0, np.array([0, 1, 33]))
    gradient = np.array([-1000, *[-1] * 15, *[1] * 17, 1000, missing]) * 2**20
    hessian = np.array([1000, *[1] * 32, 1000, abs(missing)])
    return NodeCase(columns, gradient, hessian, np.arange(35, dtype=np.int32), (1.0, 0.0, 1))


@pytest.mark.parametrize("missing", [-500, 500])
def test_inside_a_narrow_bin_scores_differ_little(missing):
    """The best cut is between 15 and 16, which share a narrow bin; those beside it nearly as good.

    The missing row belongs to one side: on the other even the bounds are below the best score.
    """
    case = light_rows_between_heavy_ones(missing)
    column, expected = Column(case, 0), case.best_cut(0)
    assert expected[1:] == (15, missing < 0)
    for to_beat in (-np.inf, expected[0]):
        assert case.as_seen_here(0, column.narrow(1, column.edge(), to_beat)) == expected


@pytest.mark.parametrize("n_rows", [3, 20, 60, 400])
@pytest.mark.parametrize("n_missing", [0, 40])
@pytest.mark.parametrize("is_constant", [True, False])
@pytest.mark.parametrize("edge_is_best", [True, False])
def test_bins_of_many_values(n_rows, n_missing, is_constant, edge_is_best):
    """Of 41 to 200 values, in narrow bins of 4 to 16, the last of which are not full.

    Where the cut after the first bin is best it is found as an edge, and as that of a narrow bin.
    """
    rng = np.random.default_rng(n_rows)
    x = np.append(rng.permutation(np.arange(400.0)), np.full(n_missing, np.nan))
    columns = Columns.from_table(x.reshape(-1, 1))
    columns.set_bins(0, np.array([0, 41, 90, 200]))
    rows = np.append(rng.permutation(400)[:n_rows], range(400, 400 + n_missing))
    gradient = rng.integers(-9, 10, size=len(x))
    if edge_is_best:
        gradient += np.where(x < 41, -40, 40)
    hessian = np.ones(len(x), dtype=int) if is_constant else rng.integers(1, 5, size=len(x))
    case = NodeCase(columns, gradient, hessian, np.sort(rows).astype(np.int32), (1.0, 0.0, 1))
    column, expected = Column(case, 0), case.best_cut(0)
    for to_beat in (-np.inf, expected[0]):
        assert case.as_seen_here(0, column.refine(to_beat)) == expected
    walked = divided = column.edge()
    for b in range(4):
        walked, divided = column.walk(b, walked), column.narrow(b, divided, to_beat=expected[0])
    assert case.as_seen_here(0, walked) == case.as_seen_here(0, divided) == expected


@given(node_cases(), st.integers(-1, 200))
def test_the_first_position_of_a_code(case, code):
    for column in columns_of(case):
        n_present = int(case.columns.n_present[column.k])
        in_order = np.where(column.order < 0, ~column.order, column.order)[:n_present]
        expected = np.searchsorted(column.codes[in_order], code)
        assert refine.position_of(column.codes, column.order, 0, n_present, code) == expected


@given(node_cases())
def test_sorting_all_rows_finds_the_best_cut(case):
    for column in columns_of(case):
        assert case.as_seen_here(column.k, column.sort()) == case.best_cut(column.k)
