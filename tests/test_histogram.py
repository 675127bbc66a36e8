"""Histograms: entries by their definition, bins by loops, subtraction to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gbt.kernels import histogram as histogram_kernels
from gbt.kernels.histogram import LANES, layout_for
from tests.asserts import assert_same
from tests.compiled import FromPython
from tests.node_cases import entries_by_definition, layout_of

kernels = FromPython(histogram_kernels)
add_pairs, add_fours, pack_entry = kernels.add_pairs, kernels.add_fours, kernels.pack_entry
pytestmark = pytest.mark.kernels


def packed(gradient, hessian):
    layout = layout_of(np.array(hessian))
    entries = np.full(len(gradient) * layout.width, 99, dtype=np.int64)
    for row, (g, h) in enumerate(zip(gradient, hessian, strict=True)):
        pack_entry(g, h, layout, row, entries)
    return layout, entries


def rows_and_magnitude(size, layout):
    """Take a sum of sizes apart."""
    return size % 2**layout.count_bits, size // 2**layout.count_bits * 2**layout.shift


def test_equal_hessians_need_no_place_in_an_entry():
    layout, entries = packed([5, -3, 0], [7, 7, 7])
    assert (layout.width, layout.hessian) == (2, 7)
    assert_same(entries[0::2], [5, -3, 0])
    layout, entries = packed([5, -3, 0], [7, 7, 6])
    assert layout.width == 4
    assert_same(entries.reshape(3, 4)[:, [0, 2, 3]], [[5, 7, 0], [-3, 7, 0], [0, 6, 0]])


def test_a_size_by_hand():
    """Three rows need 2 bits to be counted, and |g| is kept in units of 2, rounded up."""
    layout, entries = packed([5, -4, 0], [1, 1, 1])
    assert (layout.count_bits, layout.shift) == (2, 1)
    assert_same(entries[1::2], [3 << 2 | 1, 2 << 2 | 1, 0 << 2 | 1])
    assert rows_and_magnitude(entries[1::2].sum(), layout) == (3, 10)  # at least 9


extreme = st.sampled_from([0, 1, -1, 2**60, -(2**60), 2**60 - 1]) | st.integers(-(2**60), 2**60)


@given(st.lists(extreme, min_size=1, max_size=40), st.booleans())
def test_sizes_count_rows_and_never_fall_short_of_the_gradient(gradient, is_constant):
    total = sum(map(abs, gradient))
    gradient = [g // (total // 2**60 + 1) for g in gradient]  # so that sum|g| is below 2^61
    hessian = [1] * len(gradient) if is_constant else list(range(1, len(gradient) + 1))
    layout, entries = packed(gradient, hessian)
    assert_same(entries, entries_by_definition(np.array(gradient), np.array(hessian), layout))
    sizes = [int(size) for size in entries[1 :: layout.width]]
    assert sum(sizes) < 2**63
    rows, magnitude = rows_and_magnitude(sum(sizes), layout)
    exact = sum(map(abs, gradient))
    assert rows == len(gradient)
    assert exact <= magnitude < exact + len(gradient) * 2**layout.shift


@pytest.mark.parametrize("n", [1, 2, 3, 255, 256, 2**20, 2**20 + 1])
def test_the_sum_of_all_sizes_fits_whatever_the_gradients(n):
    """n rows that each round up by almost a unit, and sum|g| = 2^61: the most there can be."""
    layout = layout_for(n, 1)
    most_units = 2**61 // 2**layout.shift + n
    assert n < 2**layout.count_bits
    assert most_units * 2**layout.count_bits + n < 2**63


@st.composite
def words_of_rows(draw):
    """Draw rows of one word of 1 to 8 columns, the bins of its lanes, and some of the rows."""
    n, n_lanes = draw(st.integers(1, 40)), draw(st.integers(1, LANES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_bins = rng.integers(1, 256, size=n_lanes)  # present ones; one more for missing rows
    bins = np.array([rng.integers(0, most + 1, size=n) for most in n_bins])
    gradient = rng.integers(-(2**55), 2**55, size=n)
    hessian = np.full(n, 3) if draw(st.booleans()) else rng.integers(0, 2**55, size=n)
    rows = np.flatnonzero(rng.random(n) < draw(st.sampled_from([1.0, 0.5])))
    start = draw(st.sampled_from([0, 5]))  # the histograms of words before this one
    return bins, n_bins + 1, start, gradient, hessian, rows


def histogram_of(bins, lengths, start, entries, width, rows, mask=2**64 - 1):
    """Fill the histograms of one word by the kernel; before and behind it nothing may change."""
    n_lanes, n = bins.shape
    words = np.zeros(n, dtype=np.uint64)
    for lane, own in enumerate(bins):
        words |= own.astype(np.uint64) << np.uint64(8 * lane)
    first = np.full(LANES, start + lengths.sum() + 4, dtype=np.uint64)  # of the unused lanes
    first[:n_lanes] = start + np.append(0, np.cumsum(lengths)[:-1])
    histogram = np.zeros((start + lengths.sum() + 5) * width, dtype=np.int64)
    gathered = entries.reshape(-1, width)[rows].ravel()
    add = add_pairs if width == 2 else add_fours
    add(words, rows.astype(np.int32), gathered, first, np.uint64(mask), n_lanes, histogram)
    histogram = histogram.reshape(-1, width)
    assert not histogram[:start].any()
    assert not histogram[start + lengths.sum() : -1].any()
    return histogram[start : start + lengths.sum()]


@given(words_of_rows())
def test_bins_add_up_the_entries_of_their_rows(drawn):
    bins, lengths, start, gradient, hessian, rows = drawn
    layout = layout_of(hessian)
    entries = entries_by_definition(gradient, hessian, layout)
    expected = []
    for own, length in zip(bins, lengths, strict=True):
        sums = np.zeros((length, layout.width), dtype=np.int64)
        for row in rows:
            sums[own[row]] += entries[row * layout.width : (row + 1) * layout.width]
        expected.append(sums)
    found = histogram_of(bins, lengths, start, entries, layout.width, rows)
    assert_same(found, np.concatenate(expected))


@given(words_of_rows(), st.data())
def test_two_children_add_up_to_their_parent(drawn, data):
    bins, lengths, start, gradient, hessian, rows = drawn
    goes_left = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    layout = layout_of(hessian)
    entries = entries_by_definition(gradient, hessian, layout)
    parent, left, right = (
        histogram_of(bins, lengths, start, entries, layout.width, own)
        for own in (rows, rows[goes_left.astype(bool)], rows[~goes_left.astype(bool)])
    )
    assert_same(parent - left, right)


@pytest.mark.parametrize("n_lanes", range(1, LANES + 1))
@pytest.mark.parametrize("width", [2, 4])
def test_every_lane_in_use_is_filled(n_lanes, width):
    """One row, whose entry must be in bin lane + 1 of every lane."""
    bins = np.arange(1, n_lanes + 1).reshape(-1, 1)
    lengths = np.full(n_lanes, 10)
    entries = np.arange(1, width + 1)
    found = histogram_of(bins, lengths, 0, entries, width, np.array([0]))
    expected = np.zeros((n_lanes, 10, width))
    expected[range(n_lanes), range(1, n_lanes + 1)] = entries
    assert_same(found, expected.reshape(-1, width))


@pytest.mark.parametrize(
    ("n_bins", "n_rows", "bits"),
    [
        (256, 10**6, 0),  # 4,000 groups are asked for
        (256, 1024, 1),  # four roots of 1024 are 128
        (256, 1025, 0),
        (240, 20, 3),  # at least 17.9 groups: 240 / 8 are, 240 / 16 are not
        (240, 1, 4),  # never more than 16 bins together
        (6, 100, 0),
        (1, 1, 0),
        (0, 1, 0),  # a column without values
    ],
)
def test_there_are_at_least_four_roots_of_the_rows_groups(n_bins, n_rows, bits):
    assert kernels.group_bits(n_bins, n_rows) == bits


@pytest.mark.parametrize("n_bins", range(257))
def test_no_mask_moves_missing_rows_to_present_ones(n_bins):
    missing = histogram_kernels.missing_bin_after(n_bins)
    assert missing >= n_bins
    for bits in range(histogram_kernels.MOST_GROUP_BITS + 1):
        assert missing % 2**bits == 0
        assert all(b // 2**bits * 2**bits < missing for b in range(n_bins))


@given(words_of_rows(), st.data())
def test_a_mask_puts_bins_together(drawn, data):
    """A group has the place of its first bin, and other places are left alone."""
    bins, lengths, start, gradient, hessian, rows = drawn
    bits = [data.draw(st.integers(0, 4)) for _ in bins]
    layout = layout_of(hessian)
    entries = entries_by_definition(gradient, hessian, layout)
    mask = sum((255 >> b << b) << 8 * lane for lane, b in enumerate(bits))
    found = histogram_of(bins, lengths, start, entries, layout.width, rows, mask)
    grouped = np.array([own >> b << b for own, b in zip(bins, bits, strict=True)])
    assert_same(found, histogram_of(grouped, lengths, start, entries, layout.width, rows))


@pytest.mark.parametrize("width", [2, 4])
@pytest.mark.parametrize("bits", range(5))
@pytest.mark.parametrize("n_bins", [1, 5, 16, 37])
def test_a_cleared_column_is_empty_where_its_groups_are(n_bins, bits, width):
    missing = histogram_kernels.missing_bin_after(n_bins)
    histogram = np.full((3 + missing + 2, width), 99)
    kernels.clear_column(3, n_bins, missing, bits, width, histogram.ravel())
    expected = np.full_like(histogram, 99)
    expected[3 : 3 + n_bins : 2**bits] = expected[3 + missing] = 0
    assert_same(histogram, expected)


@given(words_of_rows(), st.integers(0, 4))
def test_bins_put_together_after_they_were_filled(drawn, bits):
    """The same as if a mask had done it, in the places of groups."""
    bins, lengths, _, gradient, hessian, rows = drawn
    layout = layout_of(hessian)
    entries = entries_by_definition(gradient, hessian, layout)
    n_bins = int(lengths[0]) - 1
    own = np.minimum(bins[:1], n_bins - 1)  # of one column, without missing rows
    single, grouped = (
        histogram_of(bins, lengths[:1], 3, entries, layout.width, rows)
        for bins in (own, own >> bits << bits)
    )
    histogram = np.append(np.full((3, layout.width), 99), single, axis=0)
    kernels.fold_column(3, n_bins, bits, layout.width, histogram.ravel())
    assert_same(histogram[3 : 3 + n_bins : 2**bits], grouped[: n_bins : 2**bits])
    assert (histogram[:3] == 99).all()
