"""Bounds of cuts that nobody looks at: pruning is safe, whatever is rounded, and tight.

Cuts come from the plain page, which is given codes instead of values: its thresholds then lie
between codes. Histograms are written down from their definition, with Python's numbers.

That trees are those of all cuts, whichever way these are looked at, is tested in
``tests.gbt.training.test_growing``.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbt.kernels.cuts import bounds as bound_kernels
from gbt.kernels.cuts import histogram as histogram_kernels
from gbt.kernels.cuts import scores as score_kernels
from gbt.kernels.cuts import search as search_kernels
from gbt.kernels.cuts.bounds import Within
from gbt.kernels.cuts.histogram import Layout
from gbt.kernels.cuts.memory import SCRATCH
from gbt.kernels.cuts.scores import FREE, Sums, Terms
from gbt.kernels.trees.nodes import NODE, records
from gbt.reference import splits as reference
from gbt.tables.columns import Columns
from gbt.training.histogram_growth import table_of
from tests.compiled import FromPython
from tests.trainer import growths

search, scores = FromPython(search_kernels), FromPython(score_kernels)
histogram, of_steps = FromPython(histogram_kernels), FromPython(bound_kernels)
pytestmark = pytest.mark.kernels
NAN = np.nan


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


def bounds_of(case, k=0, bits=0):
    """Return what a survey bounds: of each group of bins the cuts inside and the one after it."""
    column, scratch, first = case.table.columns[k], records(1, SCRATCH)[0], 3
    column["first_bin"] = first  # after another column's bins
    padded = np.append(np.full(first * case.layout.width, 99), case.histogram(k, bits))
    is_closed = bool(bits == 0 and column["n_bins"] == column["n_values"])
    codes = case.columns.first_code[k]
    search.survey(padded, column, bits, is_closed, codes, case.terms, 0.0, scratch)
    return scratch["upper"][: -(-int(column["n_bins"]) // 2**bits)]


@given(node_cases(), group_bits)
def test_no_cut_inside_a_group_or_at_its_end_beats_its_bound(case, bits):
    """The property on which pruning rests, at every cut of every bin, missing rows on any side."""
    for k in range(case.columns.n_columns):
        bounds = bounds_of(case, k, bits)
        codes, bins = case.codes(k).tolist(), case.columns.bins(k)[case.rows]
        for score, code in case.cuts(k):
            assert score <= bounds[int(bins[codes.index(code)]) >> bits]


def case_of(x, bins, gradient, hessian, *limits):
    """Return a node that has all rows of a column, whose bins begin at these values."""
    columns, rows = Columns.from_table(np.array(x)[:, np.newaxis]), np.arange(len(x))
    columns.set_bins(0, np.array(bins))
    return NodeCase(
        columns, np.array(gradient), np.array(hessian), rows.astype(np.int32), (*limits, 1)
    )


PLUS, MINUS = [8, 16, -8, 0, -4], [-8, -16, 8, 0, 4]


@pytest.mark.parametrize(
    ("gradient", "n_missing", "hessian", "penalty", "min_hessian", "expected"),
    [
        # G_0 = 8, P = 16, N = 8: G_l in [0, 24], G = 12, H_0 = 2, lambda = 1
        (PLUS, 0, [2] * 5, 1.0, 0.0, max(0**2 / 3 + 12**2 / 3, 24**2 / 3 + 12**2 / 3)),
        # no side weighs less than 3, so that both denominators are 3 + 1
        (PLUS, 0, [2] * 5, 1.0, 3.0, 24**2 / 4 + 12**2 / 4),
        # the lower end of the arrow: G_0 = -8, P = 8, N = 16: G_l in [-24, 0], G = -12
        (MINUS, 0, [2] * 5, 1.0, 0.0, 24**2 / 3 + 12**2 / 3),
        # G = 20, and G_l is in [0, 24] or, with the missing row, in [8, 32] with H_0 = 2 + 2
        (PLUS, 1, [2] * 6, 1.0, 0.0, max(24**2 / 3 + 4**2 / 5, 32**2 / 5 + 12**2 / 3)),
        # no row before the bin weighs anything and lambda is 0: any score may be inside
        ([0, *PLUS[1:]], 0, [0, 2, 2, 2, 2], 0.0, 0.0, np.finfo(np.float64).max),
    ],
)
def test_a_bound_by_hand(gradient, n_missing, hessian, penalty, min_hessian, expected):
    """Of three rows between single ones. |g| are whole units of 4, and missing rows have g = 8."""
    x, gradient = [0.0, 1, 2, 3, 4] + [NAN] * n_missing, gradient + [8] * n_missing
    case = case_of(x, [0, 1, 4], gradient, hessian, penalty, min_hessian)
    assert case.layout.count_bits == 3
    assert expected / (1 + 2e-12) <= bounds_of(case)[1] / (1 + 2e-12) <= expected


def heavy_sides(rng):
    """Bound and score have the same exact value; without an allowance 1 in 50 is below."""
    gradient = rng.integers(-(2**50), 2**50, size=4) * 4
    gradient[1], gradient[2] = abs(gradient[1]), 0  # the first row of the bin has all of its |g|
    return [0, 1, 3], gradient, [rng.integers(2**50, 2**54), 1, 1, rng.integers(2**50, 2**54)], 0.0


def light_side(rng):
    """A side's G, rounded with all others, is off by 1 in 10 million. Hessians are exact."""
    gradient = rng.integers([2**58, 2**31, 0, 2**31], [2**59, 2**32, 1, 2**32]) * [1, 4, 4, -4]
    return [0, 1, 3], gradient, [2**49, 0, 0, 1], 0.0


def lighter_than_rounding(rng):
    """What is rounded down on one side exceeds the hessian of the other. Gradients are exact."""
    hessian = rng.integers([2**60, 0, 0, 1], [2**60 + 2**11, 1, 1, 2**11])
    return [0, 1, 3], [2**47, 2**26, 0, -(2**26)], hessian, 0.0


def of_least_hessian(rng):
    """Of a few thousand little is left when all are rounded down to so many as 2^60 need."""
    light, heavy = rng.integers(1, 2**11, 2), np.array([2**60, 2**59]) + rng.integers(2**10, size=2)
    hessian = np.concatenate([light, heavy] if rng.integers(2) else [heavy, light])
    bins = [[0, 1, 3], [0, 1, 2], [0, 1, 2, 3]][rng.integers(3)]
    return bins, [2**26, 2**27, 0, -(2**26)], hessian, float(light.sum())


@pytest.mark.parametrize("make", [heavy_sides, light_side, lighter_than_rounding, of_least_hessian])
def test_bounds_allow_for_rounding(make):
    """The cut between rows 1 and 2 of four is inside a bin or after it, and is looked at."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        bins, gradient, hessian, least = make(rng)
        case = case_of([0.0, 1, 2, 3], bins, gradient, hessian, 0.5, least)
        score = scores.score_cut(*case.sums(case.rows[:2]), case.terms, False)
        assert -np.inf < score <= bounds_of(case)[int(case.columns.bins(0)[1])]


def test_a_bound_that_overflows_passes_over_no_cut():
    """Scores within bounds, near 2^80 / 1e300, are numbers; lambda squared is not."""
    case = case_of([0.0, 1, 2], [0, 1], [2**40, 2**41, -(2**42)], [1, 2, 3], 1e300, 0.0)
    case = replace(case, within=Within(True, -np.inf, np.inf, 1.0))
    (score, _), *_ = case.cuts(0)
    assert 0.0 < score <= bounds_of(case)[0]


small, weights = st.integers(-6, 6), st.tuples(*[st.sampled_from([1, 2, 4])] * 2)
limits = st.sampled_from([(-np.inf, np.inf), (-np.inf, 1), (-1, np.inf), (-2, -1), (-1, 1), (1, 2)])


@settings(max_examples=max(500, settings().max_examples))
@given(small, small, small, weights, weights, limits, st.sampled_from([-1, 0, 1]), st.booleans())
def test_a_box_is_passed_over_where_its_cuts_are_out_of_order_or_gain_nothing(
    a, b, rest, of_left, of_right, limits, direction, any_order
):
    """By definition, at all corners of the box: between them steps rise or fall with G and H."""
    (low, high), total = sorted([a, b]), 10
    all_g = low + rest
    sides = np.sort([of_left, of_right], axis=1)
    corners = [
        (Fraction(-g, int(left)), Fraction(g - all_g, int(right)), g, int(left), int(right))
        for g, left, right in product((low, high), *sides)
    ]
    within = Within(True, *map(float, limits), float(direction))
    bound = of_steps.bound_within(
        float(low), float(high), float(all_g), *sides.T.astype(float), float(total), within,
        any_order,
    )  # fmt: skip
    is_lost = direction != 0 and all(direction * (one - two) > 0 for one, two, *_ in corners)
    is_above = all(min(steps) >= limits[1] for *steps, _, _, _ in corners)
    is_below = all(max(steps) <= limits[0] for *steps, _, _, _ in corners)
    assert (bound == -np.inf) == (is_above or is_below or (is_lost and not any_order))
    for *_, g, left, right in corners:
        score = of_steps.score_within(
            float(g), float(left), float(all_g - g), float(right), 0.0, within, True
        )
        assert bound == -np.inf or score <= bound


@pytest.mark.parametrize(("direction", "below", "above"), [(1, 0, 1), (-1, 1, 0)])
def test_children_of_equal_steps_bound_what_grows_below_them(direction, below, above):
    parent, *children = nodes = records(3, NODE)
    nodes["g"], nodes["h"] = [-12, -4, -8], [6, 2, 4]
    nodes["lowest"], nodes["highest"] = -np.inf, np.inf
    of_steps.share_bounds(parent, *children, direction, 0.0)
    assert [children[below]["lowest"], children[below]["highest"]] == [-np.inf, 2.0]
    assert [children[above]["lowest"], children[above]["highest"]] == [2.0, np.inf]


extreme = st.sampled_from([0, 1, -1, 2**60, -(2**60), 2**60 - 1]) | st.integers(-(2**60), 2**60)


@given(st.lists(extreme, min_size=1, max_size=40))
def test_sizes_count_rows_and_never_fall_short_of_the_gradient(gradient):
    """The sum of what rows add to the size of their bin holds both."""
    total = sum(map(abs, gradient))
    gradient = np.array([g // (total // 2**60 + 1) for g in gradient])  # sum|g| is below 2^61
    layout = layout_of(np.ones(len(gradient), dtype=int))
    size = sum(added_by_definition(gradient, gradient, layout)[:, 1].tolist())
    magnitude = histogram.magnitude_in(size, layout.count_bits)
    exact = sum(map(abs, gradient.tolist()))
    assert size < 2**63
    assert size % 2**layout.count_bits == len(gradient)
    assert exact <= magnitude < exact + len(gradient) * 2 ** (layout.count_bits - 1)
