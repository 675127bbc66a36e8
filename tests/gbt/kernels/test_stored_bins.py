"""Histograms of sparse columns are those of the columns with all their zeros; codes of a node."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from gbt.kernels.cuts import packed_bins
from gbt.kernels.cuts.memory import RowsInTree
from gbt.tables import sparse_columns
from gbt.tables.columns import Columns
from gbt.tables.sparse_columns import columns_of_sparse_rows
from gbt.tables.sparse_rows import SparseRows
from gbt.training.histogram_growth import table_of
from tests.asserts import assert_same
from tests.compiled import FromPython
from tests.node_cases import NUMBER, added_by_definition, entries_of, layout_of
from tests.sparse_tables import tables

kernels = FromPython(packed_bins)
pytestmark = pytest.mark.kernels


class Case:
    """A table, derivatives of its rows, and some rows of a node."""

    def __init__(self, X, rng):
        n = len(X)
        self.columns = columns_of_sparse_rows(SparseRows.of(sparse.csr_array(X)), 1)
        self.dense, self.table = Columns.from_table(X, 1), table_of(self.columns)[0]
        self.gradient = rng.integers(-(2**55), 2**55, size=n)
        self.hessian = np.full(n, 3) if rng.random() < 0.5 else rng.integers(0, 2**55, size=n)
        self.rows = np.flatnonzero(rng.random(n) < rng.choice([0.5, 1.0])).astype(np.int32)

    def histograms(self):
        """Return the histograms of all sparse columns by the kernel, one after the other."""
        layout, table = layout_of(self.hessian), self.table
        entries, found = entries_of(self.gradient, self.hessian, layout), []
        size = int(table.packs["last_bin"].max(initial=0)) + 1
        for pack in table.packs[table.packs["is_sparse"] == 1]:
            histogram = np.zeros(size * layout.width, dtype=np.int64)
            kernels.add_stored(pack, table, self.rows, entries, layout, histogram)
            bins = histogram.reshape(size, -1)
            assert not bins[: pack["first_bin"]].any()  # others' bins
            assert not bins[pack["last_bin"] :].any()
            for k in table.in_packs[pack["start"] : pack["stop"]]:
                facts = table.columns[k]
                found.append(bins[facts["first_bin"] :][: facts["missing_bin"] + 1])
        return found

    def by_definition(self):
        """Return these histograms as the bins of the dense columns make them."""
        added = added_by_definition(self.gradient, self.hessian, layout_of(self.hessian))
        expected = []
        for k in np.flatnonzero(self.columns.sparse.is_sparse):
            bins = self.dense.bins(k)[self.rows]
            own = [added[self.rows[bins == b]].sum(axis=0) for b in range(bins.max(initial=0) + 1)]
            expected.append(np.zeros((self.dense.missing_bin[k] + 1, added.shape[1]), dtype=int))
            expected[-1][: len(own)] = own
        return expected

    def check_histograms(self):
        for found, expected in zip(self.histograms(), self.by_definition(), strict=True):
            assert_same(found, expected)


@given(tables(), st.integers(0, 2**32 - 1), st.sampled_from([1, 60, 2**14]))
def test_histograms_are_those_of_the_dense_columns(X, seed, bins_of_pack):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse_columns, "BINS_OF_PACK", bins_of_pack)
        case = Case(X, np.random.default_rng(seed))
    case.check_histograms()


@given(tables(), st.integers(0, 2**32 - 1))
def test_codes_of_the_rows_of_a_node(X, seed):
    case = Case(X, np.random.default_rng(seed))
    n, nothing = len(X), np.empty(0, dtype=np.int64)
    node = np.full(n, NUMBER + 1, dtype=np.int32)
    node[case.rows] = NUMBER
    for k in np.flatnonzero(case.columns.sparse.is_sparse):
        side = np.full(n, -5, dtype=np.int32)
        rows = RowsInTree(nothing, node, case.rows, case.rows, side, nothing)
        facts = case.table.columns[k]
        kernels.write_codes(NUMBER, facts, case.rows, case.table.stored, rows)
        expected = np.where(node == NUMBER, case.dense.codes[k], -5)  # others' places stay
        assert_same(side, expected.astype(np.int32))
