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
some cut, or below what a split must score at least, so the result is the best of all cuts, ties
included.

Ties of the score: the lowest feature, then the highest cut; a cut with missing rows is scored with
them on either side, and at equal score they go where the present rows have more hessian, then left.

Most bins fall behind the best score in step 2, which therefore divides nothing and asks nothing: a
loop with running sums writes the boxes down, and another, whose turns do not depend on each other
and become vector instructions, compares all of them.

Arguments that travel together are tuples, or an array:

    node     int64 sums of g and h over the node's rows, int64 number of rows
    limits   float64 lambda, float64 least H of a side, int64 least rows of a side
    boxes    float64, for every bin: least and largest G_l, least H_l and H_r, and its excess
    asked    int64, a row for every bin in question: its number, its rows; sums of g, h, n before it
    cut      float64 score, int64 code, bool whether missing rows go left
"""

import numpy as np

from gbt.kernels.compiling import internal, step

# A bound is computed with a few roundings of 1e-16 each, and so is the score that it must not miss.
SAFETY = 1.0 + 1e-12
# G - G_l of floats is off by three roundings of 1.1e-16, each of what is no more than sum |g|.
ROUNDING = 1e-15
# Rows of ``boxes``.
LEAST_G, LARGEST_G, LEAST_LEFT_H, LEAST_RIGHT_H, EXCESS, BOX_LENGTH = 0, 1, 2, 3, 4, 5
# Columns of ``asked``.
BIN, ROWS, LEFT_G, LEFT_H, LEFT_N, ASKED_LENGTH = 0, 1, 2, 3, 4, 5


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
def bin_of(histogram, place, layout):
    """Return the sums of g, h, |g| and n over the rows of one bin.

    histogram   (bins * width,)   int64    IN
    place                         uint64   IN   of the bin's first number
    layout      4 x int64                  IN   see ``gbt.kernels.histogram``
    """
    width, count_bits, shift, hessian = layout
    one, size = np.uint64(1), histogram[place + np.uint64(width) - np.uint64(1)]
    rows = size & ((1 << count_bits) - 1)
    h = rows * hessian if width == 2 else histogram[place + one]
    return histogram[place], h, size >> count_bits << shift, rows


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


@internal
def draw_boxes(histogram, first, n_bins, bits, is_closed, layout, missing, node, boxes):
    """Write down for every bin the least and largest G_l, and the least H_l and H_r, of its cuts.

    Those are the cuts inside it, unless bins are closed, and the one after it; with missing rows on
    either side. Returns the number of bins, and a sum of |g| that neither G nor a G_l exceeds.
    """
    least_g, largest_g = boxes[LEAST_G], boxes[LARGEST_G]
    left_h, right_h = boxes[LEAST_LEFT_H], boxes[LEAST_RIGHT_H]
    # Unsigned indices, as in ``gbt.kernels.histogram``.
    width, n_drawn = np.uint64(layout.width), np.uint64(0)
    place, to_next = np.uint64(first) * width, width << np.uint64(bits)
    less_g, more_g = min(missing[0], np.int64(0)), max(missing[0], np.int64(0))
    sum_of_sizes, rest_h = more_g - less_g, node[1] - missing[1]
    g = h = np.int64(0)
    for _ in range(0, n_bins, 1 << bits):
        inside_g, inside_h, magnitude, _ = bin_of(histogram, place, layout)
        place += to_next
        sum_of_sizes += magnitude
        rest_h -= inside_h
        if is_closed:
            g, h = g + inside_g, h + inside_h
            least_g[n_drawn], largest_g[n_drawn] = g + less_g, g + more_g
            left_h[n_drawn] = h
        else:
            least_g[n_drawn] = g - ((magnitude - inside_g + 1) >> 1) + less_g
            largest_g[n_drawn] = g + ((magnitude + inside_g + 1) >> 1) + more_g
            left_h[n_drawn] = h
            g, h = g + inside_g, h + inside_h
        right_h[n_drawn] = rest_h
        n_drawn += np.uint64(1)
    return np.int64(n_drawn), sum_of_sizes


@internal
def compare_boxes(boxes, n_bins, sum_of_sizes, node_g, limits, floor):
    """Set the excess of every bin, not negative where a score in its box may reach ``floor``.

    Returns how many these are. This is the bound above, multiplied by its denominators.
    """
    least_g, largest_g = boxes[LEAST_G], boxes[LARGEST_G]
    left_h, right_h, excess = boxes[LEAST_LEFT_H], boxes[LEAST_RIGHT_H], boxes[EXCESS]
    penalty, min_hessian, _ = limits
    of_node, error = np.float64(node_g), np.float64(sum_of_sizes) * ROUNDING
    for b in range(n_bins):
        # Read before anything is chosen: only then is the choice a vector instruction.
        low, high, left, right = least_g[b], largest_g[b], left_h[b], right_h[b]
        left_weight = (left if left > min_hessian else min_hessian) + penalty
        right_weight = (right if right > min_hessian else min_hessian) + penalty
        right_g = abs(of_node - low) + error
        at_low = low * low * right_weight + right_g * right_g * left_weight
        right_g = abs(of_node - high) + error
        at_high = high * high * right_weight + right_g * right_g * left_weight
        largest = at_low if at_low > at_high else at_high
        excess[b] = largest * SAFETY - floor * (left_weight * right_weight)
    n_above = np.int64(0)
    for b in range(n_bins):
        n_above += excess[b] >= 0.0
    return n_above


@internal
def survey(
    histogram, first, n_bins, missing_bin, bits, is_atomic, one_value, layout, node, limits, floor,
    boxes, asked, bounds,
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
    boxes       (5, bins)      float64   scratch
    asked       (bins, 5)      int64     OUT   see above
    bounds      (bins,)        float64   OUT   of the bins in question
    """
    missing = missing_of(histogram, first, missing_bin, layout)
    n_drawn, sum_of_sizes = draw_boxes(
        histogram, first, n_bins, bits, is_atomic and bits == 0, layout, missing, node, boxes
    )
    n_left = compare_boxes(boxes, n_drawn, sum_of_sizes, node[0], limits, floor)
    excess, best, largest = boxes[EXCESS], -np.inf, -np.inf
    last, best_missing_left = np.int64(-1), False
    g = h = n = drawn = n_asked = np.int64(0)
    while n_left > 0:
        b = drawn << bits
        place = np.uint64(first + b) * np.uint64(layout.width)
        inside_g, inside_h, magnitude, rows = bin_of(histogram, place, layout)
        if excess[drawn] >= 0.0:
            n_left -= 1
            if rows > 1 and not (bits == 0 and one_value[b] == 1):
                bound = bound_both_ways(g, h, inside_g, inside_h, magnitude, missing, node, limits)
                if bound >= floor:
                    largest, bounds[n_asked] = max(largest, bound), bound
                    asked[n_asked, BIN], asked[n_asked, ROWS] = b, rows
                    asked[n_asked, LEFT_G], asked[n_asked, LEFT_H] = g, h
                    asked[n_asked, LEFT_N] = n
                    n_asked += 1
            score, missing_left = score_both_ways(
                g + inside_g, h + inside_h, n + rows, missing, node, limits
            )
            if score >= floor and rows > 0:  # a bin without rows repeats the cut before it
                best = floor = score
                last, best_missing_left = b, missing_left
        g, h, n, drawn = g + inside_g, h + inside_h, n + rows, drawn + 1
    return best, last, best_missing_left, largest, n_asked
