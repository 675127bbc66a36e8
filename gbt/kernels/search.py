"""Search: the cut of largest gain over all cuts of all features, exactly, looking at few of them.

A cut sends rows left or right. With the integer sums G and H of both sides and the penalty lambda,

    score(cut) = G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda)

and the gain is the score less that of the node, so the largest score is sought. For each feature:

1. Histogram. Add up g, |g|, h and rows of every coarse bin (``gbt.kernels.histogram``).
2. Boxes. Bound the score of the cuts inside each bin and of the one after it (below). Where every
   bin holds one value there is only the latter.
3. Edges. Where a box reaches the best score so far, score the cut after the bin.
4. Refinement. Where what is inside reaches the best score of all features, look at the rows of the
   bin one by one in the order of their values (``gbt.kernels.refine``).

In a node of few rows bins are put together to groups of 2, 4, 8, ... neighbours, which are nothing
but larger bins. A group goes by the number of its first bin, and its sums stand in that place.

The bound. Let the sums left of a bin be (G_0, H_0), and let it hold gradients that add up to +P
and -N and hessians that add up to h. A cut inside it has G_l in [G_0 - N, G_0 + P],
H_l >= H_0 and H_r >= H - H_0 - h::

    G_0 - N          G_0 + P          score(cut) <= the larger, over both ends of the arrow, of
       <------ G_l ------>               G_l^2 / (H_0 + lambda)
    ___________[bin]__________             + (G - G_l)^2 / (H - H_0 - h + lambda)
       H_0       h   H - H_0 - h

because smaller denominators only raise it, and what is then left is a parabola in G_l that opens
upwards and is largest at an end. A bin is passed over only where its bound is below the score of
some cut, or below what a split must score at least, or where no cut leaves enough on both sides, so
the result is the best of all cuts, ties included.

Ties of the score: the lowest feature, then the highest cut; a cut with missing rows is scored with
them on either side, and at equal score they go where the present rows have more hessian, then left.

Most bins fall behind the best score in step 2, which therefore asks nothing: a loop adds up, and
another, whose turns do not depend on each other and become vector instructions, draws all boxes, of
several columns at once. Only boxes that reach the best score are opened.

Arguments that travel together are tuples:

    node     int64 sums of g and h over the node's rows, int64 number of rows
    limits   float64 lambda, float64 least H of a side, int64 least rows of a side
    cut      float64 score, int64 code, bool whether missing rows go left
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.compiling import internal, step
from gbt.kernels.histogram import magnitude_in

# A bound is computed with a few roundings of 1e-16 each, and so is the score that it must not miss.
SAFETY = 1.0 + 1e-12
# Rows of ``running``.
G, H, SIZE, RUNNING = 0, 1, 2, 3
BITS_OF_2_52 = np.uint64(0x4330000000000000)  # as a float; the last 52 are those of what is added
ALL_BITS = np.uint64(2**64 - 1)
LARGEST = np.finfo(np.float64).max  # below inf, the floor of a node that no cut is good enough for
# Columns of ``asked``.
BIN, ROWS, LEFT_G, LEFT_H, LEFT_N, ASKED_LENGTH = 0, 1, 2, 3, 4, 5


class Notes(NamedTuple):
    """What a survey writes down of the bins, or groups of bins, of a column."""

    running: (
        np.ndarray
    )  # (3, bins + 1) int64, sums over the bins before: g, h if they have it, size
    upper: np.ndarray  # (bins,) float64, what no score in a bin's box exceeds
    asked: np.ndarray  # (bins, 5) int64, of those in question: number, rows; g, h, n before it
    bounds: np.ndarray  # (bins,) float64, of those in question


@step
def score_of(left_g, left_h, right_g, right_h, penalty):
    """Return the score, symmetric in left and right to the last bit, with one division."""
    left_weight = left_h + penalty
    right_weight = right_h + penalty
    return (left_g * left_g * right_weight + right_g * right_g * left_weight) / (
        left_weight * right_weight
    )


@step
def score_cut(left_g, left_h, left_n, node, limits):
    """Return the score of a cut, or -inf where a side is too light or has too few rows.

    left_g, left_h, left_n   int64   IN   sums over the rows that go left
    """
    right_h = node[1] - left_h
    right_n = node[2] - left_n
    penalty, min_hessian, min_rows = limits
    is_allowed = (
        (left_h > 0)
        & (right_h > 0)
        & (left_n >= min_rows)
        & (right_n >= min_rows)
        & (np.float64(left_h) >= min_hessian)
        & (np.float64(right_h) >= min_hessian)
    )
    score = score_of(
        np.float64(left_g),
        np.float64(left_h),
        np.float64(node[0] - left_g),
        np.float64(right_h),
        penalty,
    )
    return score if is_allowed else -np.inf


@step
def score_both_ways(g, h, n, missing, node, limits):
    """Return the score of a cut and whether missing rows go left.

    g, h, n     int64       IN   sums over the present rows left of the cut
    missing     3 x int64   IN   sums over the node's rows without a value
    """
    missing_right = score_cut(g, h, n, node, limits)
    more_on_the_left = h >= node[1] - missing[1] - h
    if missing[2] == 0:
        return missing_right, more_on_the_left
    missing_left = score_cut(g + missing[0], h + missing[1], n + missing[2], node, limits)
    if missing_left > missing_right or (missing_left == missing_right and more_on_the_left):
        return missing_left, True
    return missing_right, False


@step
def sums_in(g, size, h, layout):
    """Return the sums of g, h, |g| and n in the numbers of a bin, or in those of several added up.

    layout   3 x int64   IN   see ``gbt.kernels.histogram``
    """
    width, count_bits, hessian = layout
    rows = size & ((1 << count_bits) - 1)
    return g, rows * hessian if width == 2 else h, magnitude_in(size, count_bits), rows


@step
def bin_of(histogram, place, layout):
    """Return the sums of g, h, |g| and n over the rows of one bin.

    histogram   (bins * width,)   int64    IN
    place                         uint64   IN   of the bin's first number
    layout      3 x int64                  IN   see ``gbt.kernels.histogram``
    """
    one, before_last = np.uint64(1), np.uint64(layout.width - 2)  # h, where an entry has it
    return sums_in(histogram[place], histogram[place + one], histogram[place + before_last], layout)


@step
def missing_of(histogram, first, missing_bin, layout):
    """Return the sums of g, h and n over the node's rows without a value in one column."""
    g, h, _, n = bin_of(histogram, np.uint64(first + missing_bin) * np.uint64(layout.width), layout)
    return g, h, n


@step
def bound_of(g, h, inside_g, inside_h, magnitude, node, limits):
    """Bound the score of the cuts inside a bin.

    g, h                            int64   IN   sums over all rows that go left with the bin's
    inside_g, inside_h, magnitude   int64   IN   sums of g, h and |g| over those of the bin
    """
    node_g, node_h, _ = node
    penalty, min_hessian, _ = limits
    low = g - ((magnitude - inside_g + 1) >> 1)
    high = g + ((magnitude + inside_g + 1) >> 1)
    left_weight = max(np.float64(h), min_hessian) + penalty
    right_weight = max(np.float64(node_h - h - inside_h), min_hessian) + penalty
    left_g, right_g = np.float64(low), np.float64(node_g - low)
    at_low = left_g * left_g * right_weight + right_g * right_g * left_weight
    left_g, right_g = np.float64(high), np.float64(node_g - high)
    at_high = left_g * left_g * right_weight + right_g * right_g * left_weight
    product = left_weight * right_weight
    return max(at_low, at_high) / product * SAFETY if product > 0.0 else np.inf


@step
def bound_both_ways(g, h, inside_g, inside_h, magnitude, missing, node, limits):
    """Bound the score of the cuts inside a bin, missing rows on either side."""
    bound = bound_of(g, h, inside_g, inside_h, magnitude, node, limits)
    if missing[2] > 0:
        g, h = g + missing[0], h + missing[1]
        bound = max(bound, bound_of(g, h, inside_g, inside_h, magnitude, node, limits))
    return bound


@step
def groups_in(n_bins, bits):
    """Return how many groups of 2^bits bins there are."""
    return (n_bins + (1 << bits) - 1) >> bits


@step
def add_up(histogram, first, n_bins, bits, width, start, running):
    """Write down for every bin the sums over those before it, and at the end over all.

    They begin at ``start``. Returns where they end, the place of the sums over all.
    """
    of_g, of_h, of_size = running[G], running[H], running[SIZE]
    # Widths are written out and indices unsigned, as in ``gbt.kernels.histogram``.
    one, two, to = np.uint64(1), np.uint64(2), np.uint64(start)
    place, to_next = np.uint64(first * width), np.uint64(width << bits)
    g = h = size = np.int64(0)
    if width == 2:
        for _ in range(0, n_bins, 1 << bits):
            of_g[to], of_size[to] = g, size
            g += histogram[place]
            size += histogram[place + one]
            place += to_next
            to += one
    else:
        for _ in range(0, n_bins, 1 << bits):
            of_g[to], of_h[to], of_size[to] = g, h, size
            g += histogram[place]
            size += histogram[place + one]
            h += histogram[place + two]
            place += to_next
            to += one
    of_g[to], of_h[to], of_size[to] = g, h, size
    return np.int64(to)


@step
def sums_before(b, running, layout):
    """Return the sums of g, h, |g| and n over the rows of all bins before one."""
    return sums_in(running[G, b], running[SIZE, b], running[H, b], layout)


@step
def float_of(whole):
    """Return a number from 0 to 2^52 - 1, a uint64, as a float, by steps that vectors have, too."""
    return np.uint64(whole | BITS_OF_2_52).view(np.float64) - 2.0**52


@step
def bits_beyond(number, n_bits):
    """Return by how many bits to shift a number, not negative, so that it has no more than some."""
    exponent = (np.float64(number).view(np.int64) >> 52) - 1023  # it is below 2^(exponent + 1)
    return max(exponent + 1 - n_bits, np.int64(0))


@step
def draw_boxes(running, start, stop, is_closed, layout, missing, node, limits, upper):
    """Write down for every bin in start:stop what no score in its box exceeds.

    It is -inf where a side would be too light with all that may be on it.

    The box of a bin is that of the cuts inside it, unless bins are closed, and of the one after it,
    with missing rows on either side. Several columns without missing rows, end to end, are like
    one, but for what is written for the place between two of them, which means nothing.
    """
    width, count_bits, hessian = layout
    of_g, of_size = running[G, start : stop + 1], running[SIZE, start : stop + 1]
    n_bins, to = stop - start, upper[start:stop]
    penalty, min_hessian, min_rows = limits
    if width == 2:
        min_hessian = max(min_hessian, float(hessian) * min_rows)

    # G and |g| in units of 2^g_shift, rounded down, so that no sum has more than 51 bits.
    less_g, more_g = min(missing[0], np.int64(0)), max(missing[0], np.int64(0))
    sum_of_sizes = magnitude_in(of_size[n_bins], count_bits) + more_g - less_g
    g_shift = bits_beyond(sum_of_sizes, 51)
    bias, unit = np.int64(1) << (51 + g_shift), float(np.int64(1) << g_shift)
    node_g, less_g, more_g = node[0] / unit, less_g / unit, more_g / unit
    # Less than 1 from G, 1/2 from half of |g|, and four roundings of floats by 1/4 each.
    error = 3.0 if g_shift > 0 else 0.0
    size_bits = max(g_shift - (count_bits - 1), np.int64(0))
    half = 0.5 / unit * float(np.int64(1) << (count_bits - 1) << size_bits)

    # H in units of 2^h_shift, rounded down; or rows, where all have the same hessian.
    if width == 4:
        of_h, h_mask = running[H, start : stop + 1], ALL_BITS
        h_shift = bits_beyond(node[1], 51)
        h_unit, rest = float(np.int64(1) << h_shift), node[1] - missing[1]
    else:
        of_h, h_mask, h_shift = of_size, np.uint64((1 << count_bits) - 1), np.int64(0)
        h_unit, rest = float(hessian), node[2] - missing[2]
    h_error = 1.0 if h_shift > 0 else 0.0
    rest_h = float(rest >> h_shift) - h_error
    # A side that is as heavy as it can be and yet too light: no cut in the box is allowed.
    least_h = min_hessian / SAFETY - float(missing[1])

    square = SAFETY * (unit * unit)
    g_bits, h_bits = np.uint64(g_shift), np.uint64(h_shift)
    count_bits, size_bits = np.uint64(count_bits), np.uint64(size_bits)
    for b in range(n_bins):
        g_before = float_of(np.uint64(of_g[b] + bias) >> g_bits) - 2.0**51
        g_after = float_of(np.uint64(of_g[b + 1] + bias) >> g_bits) - 2.0**51
        h_before = float_of((np.uint64(of_h[b]) & h_mask) >> h_bits)
        h_after = float_of((np.uint64(of_h[b + 1]) & h_mask) >> h_bits)
        size = (np.uint64(of_size[b + 1]) >> count_bits) - (np.uint64(of_size[b]) >> count_bits)
        reach = 0.0 if is_closed else half * float_of(size >> size_bits)
        middle = g_after if is_closed else 0.5 * (g_before + g_after)
        low, high = middle - reach + less_g, middle + reach + more_g
        left, right = h_unit * (h_after if is_closed else h_before), h_unit * (rest_h - h_after)
        left_weight = (left if left > min_hessian else min_hessian) + penalty
        right_weight = (right if right > min_hessian else min_hessian) + penalty
        left_g, right_g = abs(low) + error, abs(node_g - low) + error
        at_low = left_g * left_g * right_weight + right_g * right_g * left_weight
        left_g, right_g = abs(high) + error, abs(node_g - high) + error
        at_high = left_g * left_g * right_weight + right_g * right_g * left_weight
        largest = at_low if at_low > at_high else at_high
        product = left_weight * right_weight
        score = square * largest / product if product > 0.0 else LARGEST
        most_left = h_unit * (h_after + h_error)
        most_right = h_unit * (rest_h - (h_after if is_closed else h_before) + 2.0 * h_error)
        to[b] = score if most_left >= least_h and most_right >= least_h else -np.inf


@step
def count_boxes(start, stop, upper, floor):
    """Return of how many bins in start:stop the box may hold a score of ``floor``."""
    n_above, of_bin = np.int64(0), upper[start:stop]
    for b in range(len(of_bin)):
        n_above += of_bin[b] >= floor
    return n_above


@internal
def open_boxes(start, stop, bits, one_value, layout, missing, node, limits, floor, notes):
    """Look at the bins in start:stop whose box may hold a score of ``floor``; see ``survey``."""
    running, upper, asked, bounds = notes
    n_left, first_floor = count_boxes(start, stop, upper, floor), floor
    best, largest = -np.inf, -np.inf
    last, best_missing_left = np.int64(-1), False
    place, one, n_asked = np.uint64(start), np.uint64(1), np.int64(0)  # unsigned, as elsewhere
    while n_left > 0:
        if upper[place] >= first_floor:
            n_left -= 1
            if upper[place] >= floor:  # which has risen since
                b = (np.int64(place) - start) << bits
                g, h, magnitude, n = sums_before(place, running, layout)
                with_g, with_h, with_magnitude, with_n = sums_before(place + one, running, layout)
                if with_n > n + 1 and not (bits == 0 and one_value[b] == 1):
                    bound = bound_both_ways(
                        g, h, with_g - g, with_h - h, with_magnitude - magnitude, missing, node,
                        limits,
                    )  # fmt: skip
                    if bound >= floor:
                        largest, bounds[n_asked] = max(largest, bound), bound
                        asked[n_asked, BIN], asked[n_asked, ROWS] = b, with_n - n
                        asked[n_asked, LEFT_G], asked[n_asked, LEFT_H] = g, h
                        asked[n_asked, LEFT_N] = n
                        n_asked += 1
                score, missing_left = score_both_ways(with_g, with_h, with_n, missing, node, limits)
                if score >= floor and with_n > n:  # a bin without rows repeats the cut before it
                    best = floor = score
                    last, best_missing_left = b, missing_left
        place += one
    return best, last, best_missing_left, largest, n_asked


@internal
def survey(
    histogram, first, n_bins, missing_bin, bits, is_atomic, one_value, layout, node, limits, floor,
    notes,
):  # fmt: skip
    """Score the cuts between the bins of one feature, and bound all others.

    Returns the best score, the highest bin before such a cut and whether missing rows go left; the
    largest bound; and how many bins are in question because their bound reaches ``floor``. Score
    and bound are -inf, and the bin is -1, where nothing reaches it.

    histogram                  int64     IN    see ``bin_of``
    first                      int64     IN    bin of the histogram where the feature begins
    n_bins, missing_bin        int64     IN    of the feature, see ``gbt.columns.Columns``
    bits                       int64     IN    bins are groups of 2^bits
    is_atomic                  bool      IN    whether nothing is inside any single bin
    one_value   (bins,)        int64     IN    1 if nothing is inside a single bin, else 0
    notes                                OUT   see ``Notes``
    """
    start, running = np.int64(0), notes.running
    missing = missing_of(histogram, first, missing_bin, layout)
    stop = add_up(histogram, first, n_bins, bits, layout.width, start, running)
    is_closed = is_atomic and bits == 0
    draw_boxes(running, start, stop, is_closed, layout, missing, node, limits, notes.upper)
    return open_boxes(start, stop, bits, one_value, layout, missing, node, limits, floor, notes)
