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

The same holds of the cut after the bin. Missing rows make two boxes, with these on either side.

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
LARGEST = np.finfo(np.float64).max  # below inf, the floor of a node that no cut is good enough for
# Columns of ``asked``.
BIN, ROWS, LEFT_G, LEFT_H, LEFT_N, ASKED_LENGTH = 0, 1, 2, 3, 4, 5


class Notes(NamedTuple):
    """What a survey writes down of the bins, or groups of bins, of a column."""

    running: np.ndarray  # (3, bins + 1) int64, of all bins before: g; h, if they have it; size
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
def box_of(b, of_g, of_h, of_size, h_mask, count_bits, is_closed):
    """Return the ends of 2 G_l and of H_l over the cuts inside a bin and the one after it.

    Where bins are closed there is only the latter.
    """
    g, with_g, h, with_h = of_g[b], of_g[b + 1], of_h[b] & h_mask, of_h[b + 1] & h_mask
    if is_closed:
        return 2 * with_g, 2 * with_g, with_h, with_h
    # P - N = with_g - g and P + N = magnitude, so that 2 (g - N) and 2 (g + P) are:
    magnitude = magnitude_in(of_size[b + 1], count_bits) - magnitude_in(of_size[b], count_bits)
    return g + with_g - magnitude, g + with_g + magnitude, h, with_h


@step
def bound_of(low, high, light, heavy, node_g, node_h, h_unit, penalty, min_hessian):
    """Return what no score of a cut exceeds with 2 G_l in low:high and H_l in light:heavy.

    low, high, node_g        int64   IN   twice the sums
    light, heavy, node_h     int64   IN   in units of ``h_unit``
    """
    left, right = h_unit * float(light), h_unit * float(node_h - heavy)
    left_weight = (left if left > min_hessian else min_hessian) + penalty
    right_weight = (right if right > min_hessian else min_hessian) + penalty
    left_g, right_g = float(low), float(node_g - low)
    at_low = left_g * left_g * right_weight + right_g * right_g * left_weight
    left_g, right_g = float(high), float(node_g - high)
    at_high = left_g * left_g * right_weight + right_g * right_g * left_weight
    largest = at_low if at_low > at_high else at_high
    product = left_weight * right_weight
    score = 0.25 * SAFETY * largest / product if product > 0.0 else LARGEST
    left, right = h_unit * float(heavy), h_unit * float(node_h - light)
    may_weigh_enough = (SAFETY * left >= min_hessian) & (SAFETY * right >= min_hessian)
    return score if may_weigh_enough else -np.inf


@step
def draw_boxes(running, start, stop, is_closed, layout, missing, node, limits, upper):
    """Write down for every bin in start:stop what no score in its box exceeds.

    The box of a bin is that of the cuts inside it, unless bins are closed, and of the one after it;
    with missing rows it has two, with them on either side. Where a side would be too light with all
    that may be on it, it is -inf.

    Several columns without missing rows, end to end, are like one, but for what is written for the
    place between two of them, which means nothing.
    """
    width, count_bits, hessian = layout
    penalty, min_hessian, min_rows = limits
    of_g, of_size = running[G, start : stop + 1], running[SIZE, start : stop + 1]
    if width == 4:
        of_h, h_mask, h_unit = running[H, start : stop + 1], np.int64(-1), 1.0
        node_h, missing_h = node[1], missing[1]
    else:  # all rows have the same hessian: it is the unit
        of_h, h_mask, h_unit = of_size, (np.int64(1) << count_bits) - 1, float(hessian)
        node_h, missing_h = node[2], missing[2]
        min_hessian = max(min_hessian, h_unit * min_rows)
    node_g, missing_g, to = 2 * node[0], 2 * missing[0], upper[start:stop]
    for b in range(len(to)):
        low, high, light, heavy = box_of(b, of_g, of_h, of_size, h_mask, count_bits, is_closed)
        to[b] = bound_of(
            low, high, light, heavy, node_g, node_h, h_unit, penalty, min_hessian
        )  # fmt: skip
    if missing[2] == 0:
        return
    for b in range(len(to)):
        low, high, light, heavy = box_of(b, of_g, of_h, of_size, h_mask, count_bits, is_closed)
        bound = bound_of(
            low + missing_g, high + missing_g, light + missing_h, heavy + missing_h,
            node_g, node_h, h_unit, penalty, min_hessian,
        )  # fmt: skip
        to[b] = bound if bound > to[b] else to[b]


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
                g, h, _, n = sums_before(place, running, layout)
                with_g, with_h, _, with_n = sums_before(place + one, running, layout)
                if with_n > n + 1 and not (bits == 0 and one_value[b] == 1):
                    largest, bounds[n_asked] = max(largest, upper[place]), upper[place]
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
