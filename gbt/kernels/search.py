"""Search: the cut of largest gain over all cuts of all features, exactly, looking at few of them.

A cut sends rows left or right. With the integer sums G and H of both sides and the penalty lambda,

    score(cut) = G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda)

and the gain is the score less that of the node, so the largest score is sought. For each feature:

1. Histogram. Add up g, |g|, h and rows of every coarse bin (``gbt.kernels.histogram``).
2. Groups. In a node of few rows bins are added up in groups of 2, 4, 8, ... neighbours.
3. Edges. Score the cuts between groups. Where every code is a group of its own that is all.
4. Bounds. For every group, bound the score of the cuts inside it (below).
5. Refinement. Only where a bound is not below the best score so far, look at the column again bin
   by bin, and at the rows of a bin whose own bound still reaches the best score one by one in the
   order of their values (``gbt.kernels.refine``).

The bound. Let the sums left of a bin or group be (G_0, H_0), and let it hold gradients that add up
to +P and -N and hessians that add up to h. A cut inside it has G_l in [G_0 - N, G_0 + P],
H_l >= H_0 and H_r >= H - H_0 - h::

    G_0 - N          G_0 + P          score(cut) <= the larger, over both ends of the arrow, of
       <------ G_l ------>               G_l^2 / (H_0 + lambda)
    ___________[bin]__________             + (G - G_l)^2 / (H - H_0 - h + lambda)
       H_0       h   H - H_0 - h

because smaller denominators only raise it, and what is then left is a parabola in G_l that opens
upwards and is largest at an end. A bin is passed over only where its bound is below a score that
some cut reaches, so the result is the best of all cuts, ties included.

Ties of the score: the lowest feature, then the highest cut; a cut with missing rows is scored with
them on either side, and at equal score they go where the present rows have more hessian, then left.

Edges and bounds are elementwise loops over one-dimensional arrays, without exits, which the
compiler turns into vector instructions.

Arguments that travel together are tuples, or an array:

    node     int64 sums of g and h over the node's rows, int64 number of rows
    limits   float64 lambda, float64 least H of a side, int64 least rows of a side
    sums     int64, 5 rows: g, h and n before each bin that holds rows, |g| in it or -1, its number
    cut      float64 score, int64 code, bool whether missing rows go left
"""

import numpy as np

from gbt.kernels.compiling import internal
from gbt.kernels.instructions import float_of

# A bound is computed with a few roundings of 1e-16 each, and so is the score that it must not miss.
SAFETY = 1.0 + 1e-12
# Measured with 1 to 8: fits of 20,000 x 50 differed by 7 %, the shortest with 2, those of
# 1,000 x 50 by 13 %, the shortest with 8.
GROUPS_SQUARED_PER_ROW = 4


@internal
def score_of(left_g, left_h, right_g, right_h, penalty):
    """Return the score, symmetric in left and right to the last bit, with one division."""
    left_weight = left_h + penalty
    right_weight = right_h + penalty
    return (left_g * left_g * right_weight + right_g * right_g * left_weight) / (
        left_weight * right_weight
    )


@internal
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
        & (float_of(left_h) >= min_hessian)
        & (float_of(right_h) >= min_hessian)
    )
    score = score_of(
        float_of(left_g),
        float_of(left_h),
        float_of(node[0] - left_g),
        float_of(right_h),
        penalty,
    )
    return score if is_allowed else -np.inf


@internal
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


@internal
def add_up(histogram, first, n_bins, bits, layout, sums):
    """Add up the histogram of one feature from left to right, passing over groups without rows.

    Returns how many groups of bins hold rows, and the sums over rows without a value.

    histogram   (bins * width,)   int64   IN
    first       int64                     IN    bin of the histogram where the feature begins
    bits        int64                     IN    a group is 2^bits bins
    layout      4 x int64                 IN    see ``gbt.kernels.histogram``
    sums        (5, n_bins + 1)   int64   OUT
    """
    width, count_bits, shift, constant_hessian = layout
    before_g, before_h, before_n, magnitude, number = sums[0], sums[1], sums[2], sums[3], sums[4]
    count, last_of_group = (1 << count_bits) - 1, (1 << bits) - 1
    # Unsigned indices, as in ``gbt.kernels.histogram``.
    one, step = np.uint64(1), np.uint64(width)
    place, n_held = np.uint64(first) * step, np.uint64(0)
    g = h = n = size = np.int64(0)
    before_g[n_held] = before_h[n_held] = before_n[n_held] = 0
    for b in range(n_bins):
        g += histogram[place]
        size += histogram[place + step - one]
        if width == 3:
            h += histogram[place + one]
        place += step
        if b & last_of_group == last_of_group or b == n_bins - 1:
            rows = size & count
            if width == 2:
                h += rows * constant_hessian
            n += rows
            # A group without rows is written, and then written over: cheaper than to ask.
            magnitude[n_held], number[n_held] = size >> count_bits << shift, b >> bits
            n_held += np.uint64(rows > 0)
            before_g[n_held], before_h[n_held], before_n[n_held] = g, h, n
            size = np.int64(0)
    rows = histogram[place + step - one] & count
    hessian = rows * constant_hessian if width == 2 else histogram[place + one]
    return np.int64(n_held), (histogram[place], hessian, rows)


@internal
def score_edges(sums, n_bins, on_the_left, node, limits, score):
    """Raise the score of every bin to that of the cut after it.

    on_the_left   3 x int64    IN      sums of rows that go left beside those of the bins
    score         (n_bins,)   float64   INOUT
    """
    before_g, before_h, before_n = sums[0], sums[1], sums[2]
    more_g, more_h, more_n = on_the_left
    for b in range(n_bins):
        cut = score_cut(
            before_g[b + 1] + more_g, before_h[b + 1] + more_h, before_n[b + 1] + more_n,
            node, limits,
        )  # fmt: skip
        score[b] = cut if cut > score[b] else score[b]


@internal
def bound_of(g, h, inside_g, inside_h, magnitude, node, limits):
    """Bound the score of the cuts inside a bin.

    g, h                            int64   IN   sums over all rows that go left with the bin's
    inside_g, inside_h, magnitude   int64   IN   sums of g, h and |g| over those of the bin
    """
    node_g, node_h, _ = node
    penalty, min_hessian, _ = limits
    low = g - ((magnitude - inside_g + 1) >> 1)
    high = g + ((magnitude + inside_g + 1) >> 1)
    left_h, right_h = float_of(h), float_of(node_h - h - inside_h)
    left_h = left_h if left_h > min_hessian else min_hessian
    right_h = right_h if right_h > min_hessian else min_hessian
    left_weight, right_weight = left_h + penalty, right_h + penalty
    left_g, right_g = float_of(low), float_of(node_g - low)
    at_low = left_g * left_g * right_weight + right_g * right_g * left_weight
    left_g, right_g = float_of(high), float_of(node_g - high)
    at_high = left_g * left_g * right_weight + right_g * right_g * left_weight
    product = left_weight * right_weight
    largest = (at_low if at_low > at_high else at_high) / product * SAFETY
    return largest if product > 0.0 else np.inf


@internal
def bound_bins(sums, n_bins, on_the_left, node, limits, bound):
    """Raise the bound of every bin to that of the cuts inside it.

    on_the_left   3 x int64    IN      sums of rows that go left beside those of the bins
    bound         (n_bins,)   float64   INOUT
    """
    before_g, before_h, before_n, magnitude = sums[0], sums[1], sums[2], sums[3]
    more_g, more_h, _ = on_the_left
    for b in range(n_bins):
        largest = bound_of(
            before_g[b] + more_g, before_h[b] + more_h, before_g[b + 1] - before_g[b],
            before_h[b + 1] - before_h[b], magnitude[b], node, limits,
        )  # fmt: skip
        is_open = (before_n[b + 1] - before_n[b] > 1) & (magnitude[b] >= 0)
        largest = largest if is_open else -np.inf
        bound[b] = largest if largest > bound[b] else bound[b]


@internal
def largest_of(values, n):
    """Return the largest of the first n values, halving them until one is left; destroys them."""
    while n > 1:
        half = n // 2
        for i in range(half):
            other = values[n - half + i]
            values[i] = other if other > values[i] else values[i]
        n -= half
    return values[0]


@internal
def bound_inside(sums, n_bins, missing, node, limits, bound):
    """Bound the score of the cuts inside every bin, missing rows on either side."""
    nothing = (np.int64(0), np.int64(0), np.int64(0))
    for b in range(n_bins):
        bound[b] = -np.inf
    bound_bins(sums, n_bins, nothing, node, limits, bound)
    if missing[2] > 0:
        bound_bins(sums, n_bins, missing, node, limits, bound)


@internal
def settle(sums, n_held, n_bins, repeats_one):
    """Mark the bins of several rows and one value: there is nothing to cut inside.

    repeats_one   (n_bins + 1,)   int64   IN    1 or 0; at the end whether there are any
    """
    magnitude, number = sums[3], sums[4]
    if repeats_one[n_bins]:
        for b in range(n_held):
            magnitude[b] |= -repeats_one[number[b]]  # a sum of |g|, or -1


@internal
def score_both(sums, n_bins, missing, node, limits, score):
    """Score the cut after every bin, missing rows on the better side."""
    nothing = (np.int64(0), np.int64(0), np.int64(0))
    for b in range(n_bins):  # a slice would count references
        score[b] = -np.inf
    score_edges(sums, n_bins, nothing, node, limits, score)
    if missing[2] > 0:
        score_edges(sums, n_bins, missing, node, limits, score)


@internal
def group_bits(n_bins, n_rows):
    """Return by how many bits bins are shifted to be surveyed in groups, in a node of some rows.

    Fewer groups are surveyed sooner, but prune less. Of n rows in k groups each holds n/k, whose
    gradients may raise a sum, typically sqrt(n), by about n/k. With k in proportion to sqrt(n)
    nodes of all sizes have the same chance to be pruned. There must be a row.
    """
    bits = np.int64(0)
    while (n_bins >> bits + 1) ** 2 >= GROUPS_SQUARED_PER_ROW * n_rows:
        bits += 1
    return bits


@internal
def survey(
    histogram, first, n_bins, bits, is_atomic, repeats_one, layout, node, limits, sums, work
):  # fmt: skip
    """Return the best score of the cuts between groups of one feature, and a bound on all others.

    bits              int64     IN   see ``group_bits``; with 0 a group is a bin
    is_atomic         bool      IN   whether every code has a bin of its own
    repeats_one                 IN   see ``settle``
    work     (256,)   float64   scratch
    """
    n_held, missing = add_up(histogram, first, n_bins, bits, layout, sums)
    if n_held == 0:
        return -np.inf, -np.inf
    score_both(sums, n_held, missing, node, limits, work)
    score = largest_of(work, n_held)
    if bits == 0:
        if is_atomic:
            return score, -np.inf
        settle(sums, n_held, n_bins, repeats_one)
    bound_inside(sums, n_held, missing, node, limits, work)
    return score, largest_of(work, n_held)


@internal
def best_edge(sums, n_held, missing, node, limits, work):
    """Return the best cut after a whole bin, with its place among the bins that hold rows."""
    before_g, before_h, before_n = sums[0], sums[1], sums[2]
    score_both(sums, n_held, missing, node, limits, work)
    best, place = -np.inf, np.int64(-1)
    for b in range(n_held):
        if work[b] >= best:  # of equals the highest
            best, place = work[b], b
    score, missing_left = score_both_ways(
        before_g[place + 1], before_h[place + 1], before_n[place + 1], missing, node, limits
    )
    return score, place, missing_left
