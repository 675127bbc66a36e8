"""Nodes for tests of the search: some rows of a table, and all their cuts by loops.

The cuts come from the plain page, which is given codes instead of values: its thresholds then lie
between codes. Histograms are written down from their definition, with Python's numbers.
"""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from gbt.kernels.cuts.bounds import Within
from gbt.kernels.cuts.histogram import Layout
from gbt.kernels.cuts.scores import FREE, Sums, Terms
from gbt.reference import splits as reference
from gbt.tables.columns import Columns
from gbt.training.histogram_growth import table_of
from tests.trainer import growths


@dataclass(frozen=True, eq=False)
class NodeCase:
    """A table, fixed-point derivatives of its rows, and the rows of one node, ascending."""

    columns: Columns
    gradient: np.ndarray
    hessian: np.ndarray
    rows: np.ndarray
    limits: tuple[float, float, int]  # lambda, least hessian and least rows of a side
    within: Within = FREE  # in every column

    @property
    def layout(self):
        return layout_of(self.hessian)

    @property
    def terms(self):
        """Return what enters the score of every cut."""
        return Terms(*self.node, *self.limits, *self.layout, self.within)

    @property
    def table(self):
        """Return the columns as kernels take them."""
        return table_of(self.columns)

    def sums(self, rows):
        """Return g, h and the number of rows."""
        return Sums(int(self.gradient[rows].sum()), int(self.hessian[rows].sum()), len(rows))

    @property
    def node(self):
        return self.sums(self.rows)

    def rows_in_bin(self, k, b):
        return self.rows[self.columns.bins(k)[self.rows] == b]

    def codes(self, k):
        """Return the codes of the node's rows in one column."""
        return self.columns.codes[k][self.rows]

    def histogram(self, k, bits=0):
        """Return the histogram of one column, missing rows in its last bin.

        Of groups of 2^bits bins only the first is there, what is in between is anything.
        """
        layout, missing = self.layout, int(self.columns.missing_bin[k])
        added = added_by_definition(self.gradient, self.hessian, layout)
        histogram = np.full((missing + 1, layout.width), 99, dtype=np.int64)
        for b in {*range(0, int(self.columns.n_bins[k]), 2**bits), missing}:
            group = range(b, b + (2**bits if b < missing else 1))
            rows = np.concatenate([self.rows_in_bin(k, member) for member in group])
            histogram[b] = added[rows].sum(axis=0)
        return histogram.ravel()

    def cuts(self, k):
        """Return score and highest code on the left of the allowed cuts of a column that gain."""
        (penalty, min_hessian, min_rows), (binds, *bounds, direction) = self.limits, self.within
        parameters = reference.Parameters(
            reg_lambda=penalty, min_child_weight=min_hessian, min_samples_leaf=min_rows,
            monotone=(direction,) if binds else (), bounds=tuple(bounds),
        )  # fmt: skip
        codes = self.codes(k)
        x = np.where(codes == self.columns.n_values[k], np.nan, codes)
        g, h = self.gradient[self.rows].tolist(), self.hessian[self.rows].tolist()
        sums = np.array([g, h, [1] * len(x)], dtype=object).T
        own = reference.score_of_node(sums.sum(axis=0), parameters)
        least = own + reference.least_gain(sums, parameters)
        return [
            (score, int(x[x <= cut.threshold].max()))
            for cut in reference.cuts(0, x, sums)
            if all(reference.is_allowed(side, parameters) for side in (cut.left, cut.right))
            and reference.is_monotone(cut, parameters)
            and (score := reference.score_of_cut(cut, parameters)) > least
        ]


def layout_of(hessian):
    """Return the layout for rows of these fixed-point hessians."""
    is_constant = len(set(hessian.tolist())) == 1
    return Layout(
        width=2 if is_constant else 4,
        count_bits=len(hessian).bit_length(),
        hessian=int(hessian[0]) if is_constant else 0,
    )


def added_by_definition(gradient, hessian, layout):
    """Return what every row adds to its bins, [g, size] or [g, size, h, 0], a line each."""
    added = []
    for g, h in zip(gradient.tolist(), hessian.tolist(), strict=True):
        size = -(-2 * abs(g) // 2**layout.count_bits) * 2**layout.count_bits + 1  # rounded up
        added.append([g, size] if layout.width == 2 else [g, size, h, 0])
    return np.array(added, dtype=np.int64)


group_bits = st.sampled_from([0, 0, 1, 2, 4])  # bins are in groups of 2^bits


@st.composite
def node_cases(draw):
    """Draw a node with some rows of a growth, in fixed point of few digits, or of 48 after it.

    Of few digits scores tie. Hessians are equal or differ, so entries have 2 or 4 numbers.
    """
    case, unit = draw(growths(has_levels=False)), draw(st.sampled_from([1, 2**48]))
    gradient, hessian = (np.rint(unit * x).astype(np.int64) for x in (case.gradient, case.hessian))
    every = np.arange(len(gradient), dtype=np.int32)
    limits = (
        unit * case.asked["reg_lambda"], unit * case.asked["min_child_weight"],
        case.asked["min_samples_leaf"],
    )  # fmt: skip
    rows = every if case.rows is None else case.rows
    bounds = st.sampled_from([(-np.inf, 1.0), (-1.0, 0.1), (0.1, np.inf), (-np.inf, np.inf)])
    bound = Within(True, *draw(bounds), draw(st.sampled_from([-1.0, 0.0, 1.0])))
    within = draw(st.sampled_from([FREE, bound]))
    return NodeCase(case.columns, gradient, hessian, rows, limits, within)
