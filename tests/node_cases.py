"""Nodes for tests of the search: some rows of a table, and all their cuts by loops.

The cuts come from the plain page, which is given codes instead of values: its thresholds then lie
between codes. Histograms are written down from their definition, with Python's numbers.
"""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from gbt.kernels.cuts.histogram import Layout
from gbt.kernels.cuts.scores import Sums, Terms
from gbt.reference import splits as reference
from gbt.tables.columns import Columns
from gbt.training.histogram_growth import table_of

# Sums of g and h over rows left of a cut, right of it and without a value, and whether the last go
# left: on either side the score is the same to the last bit, lambda being 0, and so they join the
# side where rows with a value have more hessian, and the left one if these have the same.
MISSING_ROWS_THAT_TIE = [
    ((2, 3), (-1, 1), (0, 5), True),  # 4/3 + 1/6 = 4/8 + 1/1
    ((3, 1), (1, 3), (7, 5), False),  # 9/1 + 64/8 = 100/6 + 1/3
    ((3, 2), (-3, 2), (0, 1), True),  # 9/2 + 9/3 = 9/3 + 9/2
]


@dataclass(frozen=True, eq=False)
class NodeCase:
    """A table, fixed-point derivatives of its rows, and the rows of one node, ascending."""

    columns: Columns
    gradient: np.ndarray
    hessian: np.ndarray
    rows: np.ndarray
    limits: tuple[float, float, int]  # lambda, least hessian and least rows of a side

    @property
    def layout(self):
        return layout_of(self.hessian)

    @property
    def terms(self):
        """Return what enters the score of every cut."""
        return Terms(*self.node, *self.limits, *self.layout)

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
        """Return score and highest code on the left of every allowed cut of one column."""
        penalty, min_hessian, min_rows = self.limits
        parameters = reference.Parameters(
            reg_lambda=penalty, min_child_weight=min_hessian, min_samples_leaf=min_rows
        )
        codes = self.codes(k)
        x = np.where(codes == self.columns.n_values[k], np.nan, codes)
        g, h = self.gradient[self.rows].tolist(), self.hessian[self.rows].tolist()
        sums = np.array([g, h, [1] * len(x)], dtype=object).T
        return [
            (
                reference.score(cut.left, cut.right, penalty),
                int(np.nanmax(np.where(x <= cut.threshold, x, np.nan))),
            )
            for cut in reference.cuts(k, x, sums)
            if reference.is_allowed(cut.left, parameters)
            and reference.is_allowed(cut.right, parameters)
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


def column_of(rng, n, n_distinct, share_missing):
    """Return a column of so many distinct values at most."""
    column = rng.integers(0, n_distinct, size=n) / 7
    column[rng.random(n) < share_missing] = np.nan
    return column


def coarsen(columns, k, rng, most=6):
    """Give a column any bins, ``most`` at most."""
    starts = np.flatnonzero(columns.order[k, : columns.n_present[k]] < 0)
    if len(starts):
        others = rng.permutation(starts[1:])[: rng.integers(0, most)]
        starts = np.sort(np.append(starts[0], others))
    columns.set_bins(k, starts)


group_bits = st.sampled_from([0, 0, 1, 2, 4])  # bins are in groups of 2^bits


@st.composite
def node_cases(draw):
    """Draw a node with all, some or very few rows of a table with coarse bins or one bin a value.

    Gradients are small, or every row has a mirror image, so that scores tie; or they take all 53
    bits of a float. Hessians are equal or differ, so that entries have 2 or 4 numbers; some are 0.
    """
    n = draw(st.integers(2, 14) | st.integers(15, 100) | st.just(400))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    drawn = {
        "n_distinct": st.sampled_from([1, 3, 10, 10**9]),
        "share_missing": st.sampled_from([0.0, 0.0, 0.2, 1.0]),
    }
    n_drawn, is_mirrored = n, draw(st.booleans())
    table = [
        column_of(rng, n, **{name: draw(kind) for name, kind in drawn.items()})
        for _ in range(draw(st.integers(1, 3)))
    ]
    X = np.column_stack(table)
    if is_mirrored:  # the cuts at c and at -c score alike
        X, n = np.vstack([X, -X]), 2 * n
    columns = Columns.from_table(X)
    if draw(st.integers(0, 3)):
        for k in range(columns.n_columns):
            coarsen(columns, k, rng)

    largest = draw(st.sampled_from([2, 9, 2**52]))
    gradient = rng.integers(-largest, largest + 1, size=n_drawn)
    hessian = np.full(n_drawn, draw(st.sampled_from([1, 3])))
    if draw(st.booleans()):
        hessian = rng.integers(0, 6, size=n_drawn)
    is_in = rng.random(n_drawn) < draw(st.sampled_from([1.0, 1.0, 0.5, 0.05]))
    is_in[rng.integers(0, n_drawn, size=2)] = True
    gradient, hessian, is_in = (np.resize(a, n) for a in (gradient, hessian, is_in))
    limits = (
        draw(st.sampled_from([0.0, 0.5, 3.0, 100.0])),
        draw(st.sampled_from([0.0, 0.0, 2.0, 10.0])),
        draw(st.sampled_from([1, 1, 2, 4])),
    )
    return NodeCase(columns, gradient, hessian, np.flatnonzero(is_in).astype(np.int32), limits)
