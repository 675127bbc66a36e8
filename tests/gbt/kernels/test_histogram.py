"""Histograms: entries by their definition, bins by loops, subtraction to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.kernels.cuts import histogram as histogram_kernels
from gbt.kernels.cuts.histogram import LANE_BINS, LANE_NUMBERS, LANES
from tests.asserts import assert_same
from tests.compiled import FromPython
from tests.node_cases import added_by_definition, entries_of, layout_of

kernels = FromPython(histogram_kernels)
pytestmark = pytest.mark.kernels


def rows_and_magnitude(size, count_bits):
    """Take a sum of sizes apart."""
    return size % 2**count_bits, size // 2**count_bits * 2**count_bits // 2


extreme = st.sampled_from([0, 1, -1, 2**60, -(2**60), 2**60 - 1]) | st.integers(-(2**60), 2**60)


@given(st.lists(extreme, min_size=1, max_size=40))
def test_sizes_count_rows_and_never_fall_short_of_the_gradient(gradient):
    total = sum(map(abs, gradient))
    gradient = np.array([g // (total // 2**60 + 1) for g in gradient])  # sum|g| is below 2^61
    layout = layout_of(np.ones(len(gradient), dtype=int))
    sizes = [int(kernels.size_of(g, layout.count_bits)) for g in gradient]
    assert_same(sizes, added_by_definition(gradient, gradient, layout)[:, 1])
    assert sum(sizes) < 2**63
    rows, magnitude = rows_and_magnitude(sum(sizes), layout.count_bits)
    assert kernels.magnitude_in(sum(sizes), layout.count_bits) == magnitude
    exact = sum(map(abs, gradient.tolist()))
    assert rows == len(gradient)
    assert exact <= magnitude < exact + len(gradient) * 2 ** (layout.count_bits - 1)


@pytest.mark.parametrize("n", [1, 2, 3, 255, 256, 2**20, 2**20 + 1, 2**31 - 1])
def test_the_sum_of_all_sizes_fits_whatever_the_gradients(n):
    """n rows that each round up by almost a unit, and sum|g| = 2^61: the most there can be."""
    count_bits = n.bit_length()
    most_units = 2 * 2**61 // 2**count_bits + n
    assert n < 2**count_bits
    assert most_units * 2**count_bits + n < 2**63


@st.composite
def packed_rows(draw):
    """Draw rows of one pack of 1 to 8 columns, the bins of its lanes, and some of the rows."""
    n, n_lanes = draw(st.integers(1, 40)), draw(st.integers(1, LANES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lengths = rng.integers(1, 257, size=n_lanes)
    bins = np.array([rng.integers(0, length, size=n) for length in lengths])
    gradient = rng.integers(-(2**55), 2**55, size=n)
    hessian = np.full(n, 3) if draw(st.booleans()) else rng.integers(0, 2**55, size=n)
    rows = np.flatnonzero(rng.random(n) < draw(st.sampled_from([1.0, 0.5])))
    return bins, lengths, gradient, hessian, rows


def histogram_of(bins, lengths, entries, layout, rows, mask=2**64 - 1):
    """Fill the lanes of one pack by the kernels and move them to one histogram, all bins.

    Lanes without a column have rows in their first bins alone. In the end all lanes are empty.
    """
    (n_lanes, n), width = bins.shape, layout.width
    packed_bins = np.zeros(n, dtype=np.uint64)
    for lane, own in enumerate(bins):
        packed_bins |= own.astype(np.uint64) << np.uint64(8 * lane)
    lanes = np.zeros(LANE_NUMBERS, dtype=np.int64)
    rows = rows.astype(np.int32)
    kernels.add_rows(packed_bins, rows, entries, layout, n_lanes, np.uint64(mask), lanes)
    in_lanes = lanes[: LANES * LANE_BINS * width].reshape(LANES, LANE_BINS, width)
    assert not in_lanes[n_lanes:, 1:].any()
    histogram, start = np.full((lengths.sum() + 2, width), 99), 1
    for lane, length in enumerate(lengths.tolist()):
        place, to = np.uint64(lane * LANE_BINS * width), np.uint64(start * width)
        kernels.move(lanes, place, histogram.ravel(), to, length * width)
        start += length
    kernels.empty_lanes(lanes, n_lanes, width)
    assert not lanes.any()
    assert (histogram[[0, -1]] == 99).all()
    return histogram[1:-1]


@given(packed_rows())
def test_bins_add_up_the_entries_of_their_rows(drawn):
    bins, lengths, gradient, hessian, rows = drawn
    layout = layout_of(hessian)
    added = added_by_definition(gradient, hessian, layout)
    expected = []
    for own, length in zip(bins, lengths, strict=True):
        sums = np.zeros((length, layout.width), dtype=np.int64)
        for row in rows:
            sums[own[row]] += added[row]
        expected.append(sums)
    entries = entries_of(gradient, hessian, layout)
    found = histogram_of(bins, lengths, entries, layout, rows)
    assert_same(found, np.concatenate(expected))


@given(packed_rows(), st.data())
def test_a_mask_puts_bins_together(drawn, data):
    """A group has the place of its first bin, and other places are left alone."""
    bins, lengths, gradient, hessian, rows = drawn
    bits = [data.draw(st.integers(0, 4)) for _ in bins]
    layout = layout_of(hessian)
    entries = entries_of(gradient, hessian, layout)
    mask = sum((255 >> b << b) << 8 * lane for lane, b in enumerate(bits))
    found = histogram_of(bins, lengths, entries, layout, rows, mask)
    grouped = np.array([own >> b << b for own, b in zip(bins, bits, strict=True)])
    assert_same(found, histogram_of(grouped, lengths, entries, layout, rows))
