"""Refinement: every way of looking at the cuts of one column against all its cuts by loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.kernels.cuts import refine as refine_kernels
from gbt.kernels.cuts import search as search_kernels
from gbt.kernels.cuts.memory import FOUND, RowsInTree
from gbt.kernels.cuts.scores import Cut
from gbt.kernels.trees.nodes import NODE, records
from gbt.tables.columns import Columns
from tests.compiled import FromPython
from tests.node_cases import NO_CUT, NUMBER, NodeCase, empty_scratch, node_cases

refine, search = FromPython(refine_kernels), FromPython(search_kernels)
pytestmark = pytest.mark.kernels


class Column:
    """One column of a case as the kernels take it, with memory of its own, bins in groups."""

    def __init__(self, case, k, bits=0):
        columns = case.columns
        self.case, self.k, self.bits, self.table = case, k, bits, case.table
        self.facts = self.table.columns[k]
        self.facts["first_bin"] = 3  # after another column's bins
        self.codes, self.order = columns.codes[k], columns.order[k]
        self.n_values, self.n_present = int(columns.n_values[k]), int(columns.n_present[k])
        self.bin_start, self.n_bins = columns.bin_start[k], int(columns.n_bins[k])
        self.first_code = columns.first_code[k]
        self.packed_bins, self.lane = columns.packed_bins[k // 8], k % 8
        self.missing = case.missing(k)

    @property
    def rows(self):
        return RowsInTree(
            self.case.entries, self.case.node_of_row, self.case.rows,
            buffer=np.empty(0, dtype=np.int32), side=np.empty(0, dtype=np.int32),
            weight=np.empty(0, dtype=np.int64),
        )  # fmt: skip

    def no_cut(self):
        return Cut(-np.inf, np.int64(-1), False)

    def survey(self, to_beat):
        """Return the best edge, its code that of its bin, and the candidates."""
        scratch = empty_scratch()
        is_closed = self.bits == 0 and self.n_bins == self.n_values
        edge, _, n_candidates = search.survey(
            self.histogram(), self.facts, self.bits, is_closed, self.first_code,
            self.case.terms, to_beat, scratch,
        )  # fmt: skip
        return edge, scratch["candidates"][:n_candidates].copy()

    def edge(self):
        """Return the best cut between bins."""
        edge, _ = self.survey(0.0)
        if edge.score == -np.inf:
            return self.no_cut()
        after = min(edge.code + 2**self.bits, self.n_bins)
        return edge._replace(code=int(self.first_code[after]) - 1)

    def histogram(self):
        padding = np.full(3 * self.case.layout.width, 99)
        return np.append(padding, self.case.histogram(self.k, self.bits))

    def walk(self, b, best):
        return refine.walk(
            self.first_code[b], self.order[self.bin_start[b] : self.bin_start[b + 1]],
            self.case.before(self.k, b), self.missing, NUMBER, self.rows, self.case.terms, best,
        )  # fmt: skip

    def scan(self, b, best):
        """Scan the node's rows of a bin, sorted, after another row that is not to be looked at."""
        case, rows = self.case, self.case.rows_in_bin(self.k, b)
        keys = sorted((int(self.codes[row]) << 32) + int(row) for row in rows)
        return refine.scan(
            np.array([0, *keys]), 1, 1 + len(keys), case.before(self.k, b), self.missing,
            case.entries, case.terms, best,
        )  # fmt: skip

    def narrow(self, shift, best, to_beat=0.0):
        return refine.search_narrow_bins(
            self.k, np.int64(shift), NUMBER, self.case.rows, self.table, self.rows,
            self.case.terms, to_beat, empty_scratch(), best,
        )  # fmt: skip

    def refine(self, to_beat):
        scratch, found, node = empty_scratch(), records(1, FOUND)[0], records(1, NODE)[0]
        found["bits"], node["to_beat"] = self.bits, to_beat
        node["start"], node["stop"] = 0, len(self.case.rows)
        best = refine.refine_column(
            NUMBER, self.k, found, node, self.histogram(), self.table, self.rows, self.case.terms,
            scratch,
        )  # fmt: skip
        assert (scratch["keys"][refine.MOST_SORTED + 1 :] == 99).all()
        assert not scratch["marks"].any()
        return best


@given(st.lists(st.integers(-(2**62), 2**62) | st.integers(0, 5), max_size=200))
def test_keys_are_sorted(keys):
    found = np.array([*keys, -7], dtype=np.int64)  # one more, beyond those to sort
    refine.sort_keys(found, len(keys))
    assert found.tolist() == [*sorted(keys), -7]


def columns_of(case, bits=0):
    return [Column(case, k, bits) for k in range(case.columns.n_columns)]


group_bits = st.sampled_from([0, 0, 1, 2, 4])


@given(node_cases(), st.integers(0, 8))
def test_narrow_bins_of_any_size_see_every_cut(case, shift):
    for column in columns_of(case):
        expected = case.best_cut(column.k)
        for to_beat in (0.0, max(expected[0], 0.0)):
            for known in (column.no_cut(), column.edge()):
                found = column.narrow(shift, known, to_beat)
                assert case.as_seen_here(column.k, found) == expected
                assert found[1] < column.n_values


@given(node_cases())
def test_walking_and_sorting_every_bin_finds_the_best_cut(case):
    for column in columns_of(case):
        walked = by_scans = column.edge()
        for b in range(column.n_bins):
            walked, by_scans = column.walk(b, walked), column.scan(b, by_scans)
        for found in (walked, by_scans):
            assert case.as_seen_here(column.k, found) == case.best_cut(column.k)


@given(node_cases(), group_bits, st.data())
def test_refining_finds_the_best_cut_wherever_it_reaches_the_score_to_beat(case, bits, data):
    for column in columns_of(case, bits):
        expected = case.best_cut(column.k)
        scores = sorted({cut[0] for cut in case.cuts(column.k)})
        for to_beat in {0.0, max(0.0, expected[0]), data.draw(st.sampled_from([0.0, *scores]))}:
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


@given(node_cases(), group_bits, st.floats(1e-12, 10.0))
def test_refining_in_vain_returns_some_cut(case, bits, excess):
    for column in columns_of(case, bits):
        best = case.best_cut(column.k)
        to_beat = max(best[0], 0.0) * (1 + excess) + 1e-300
        found = case.as_seen_here(column.k, column.refine(to_beat))
        cuts = [(score, code, left) for score, code, _, left in case.cuts(column.k)]
        assert found == NO_CUT or found in cuts


@pytest.mark.slow
@pytest.mark.large
def test_no_more_rows_are_sorted_than_there_is_room_for():
    """Of 1100 rows in question; sorting would have been fastest, but for the room."""
    rng = np.random.default_rng(0)
    columns = Columns.from_table(np.arange(200_000.0).reshape(-1, 1))
    columns.set_bins(0, np.array([0, 9000]))
    rows = np.append(rng.permutation(9000)[:1100], 9000 + rng.permutation(191_000)[:50_000])
    gradient = np.where(np.arange(200_000) < 4500, 1000, -1000)
    gradient[9000:] = 0
    hessian = np.ones(len(gradient), dtype=int)
    case = NodeCase(columns, gradient, hessian, np.sort(rows).astype(np.int32), (1.0, 0.0, 1))
    column = Column(case, 0)
    expected = column.walk(0, column.edge())
    assert case.as_seen_here(0, column.refine(expected[0])) == case.as_seen_here(0, expected)


def test_of_an_edge_and_a_cut_inside_that_tie_the_higher_is_taken():
    """G_l = 5 after the first row and again after the last but one, with 1 and 5 rows beside.

    Codes 0 and 5; the bins begin at 0, 1 and 6 of 7, then at 0 and 6: once the edge after code 0
    ties with a cut inside a bin, once that after 5 with one inside, below it.
    """
    gradient = np.array([5, 0, 0, 0, 0, 0, -5])
    columns = Columns.from_table(np.arange(7.0).reshape(-1, 1))
    rows, ones = np.arange(7, dtype=np.int32), np.ones(7, dtype=np.int64)
    case = NodeCase(columns, gradient, ones, rows, (1.0, 0.0, 1))
    assert case.best_cut(0)[:2] == (5**2 / 2 + 5**2 / 7, 5)
    for starts in ([0, 1], [0, 6], [0, 2]):
        columns.set_bins(0, np.array(starts))
        assert case.as_seen_here(0, Column(case, 0).refine(0.0)) == case.best_cut(0)


@pytest.mark.parametrize("n_rows", [3, 20, 60, 400])
@pytest.mark.parametrize("n_missing", [0, 40])
@pytest.mark.parametrize("is_constant", [True, False])
@pytest.mark.parametrize("edge_is_best", [True, False])
def test_bins_of_many_values(n_rows, n_missing, is_constant, edge_is_best):
    """Of 41 to 200 values; narrow bins, of 16, end elsewhere.

    Where the cut after the first bin is best it is found as an edge, and inside a narrow bin.
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
    for to_beat in (0.0, expected[0]):
        assert case.as_seen_here(0, column.refine(to_beat)) == expected
    walked = column.edge()
    for b in range(4):
        walked = column.walk(b, walked)
    narrow = column.narrow(4, column.no_cut(), to_beat=expected[0])
    assert case.as_seen_here(0, walked) == case.as_seen_here(0, narrow) == expected
