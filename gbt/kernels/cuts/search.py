"""Search: the cut of largest gain over all cuts of all features, exactly, looking at few of them.

A cut sends rows left or right. With the integer sums G and H of both sides and the penalty lambda,

    score(cut) = G_l^2 / (H_l + lambda) + G_r^2 / (H_r + lambda)

and the gain is the score less that of the node, so the largest score is sought. For each feature:

1. Histogram. Add up g, |g|, h and rows of every coarse bin (``gbt.kernels.cuts.histogram``).
2. Boxes. Bound the score of the cuts inside each bin and of the one after it (below). Where bins
   are closed, as each holds one value or cuts inside are not asked for (``max_bins``), the box is
   that of the cut after the bin.
3. Edges. Where a box reaches the best score so far, score the cut after the bin.
4. Refinement. Where what is inside reaches the best score of all features, look at the rows of the
   bin one by one in the order of their values (``gbt.kernels.cuts.refine``).

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

The bounds of most bins are below the best score. So step 2 does not ask bin by bin whether one can
be skipped: one loop adds up the sums of all bins, and a second, whose turns do not depend on each
other and become vector instructions, computes all bounds. Steps 3 and 4 look only at bins whose
bound reaches the best score.

Scores, and the tuples of numbers that travel together, are those of ``gbt.kernels.cuts.scores``.
"""

import numpy as np

from gbt.kernels.cuts.bounds import bound_within
from gbt.kernels.cuts.histogram import magnitude_in
from gbt.kernels.cuts.scores import Cut, score_both_ways, sums_in, sums_of_bin
from gbt.kernels.platform.compiling import forced_inline, internal
from gbt.kernels.platform.instructions import max

# A bound is computed with a few roundings of 1e-16 each, and so is the score that it must not miss.
SAFETY = 1.0 + 1e-12
# Rows of ``running``.
G, H, SIZE, RUNNING = 0, 1, 2, 3
LARGEST = np.finfo(np.float64).max  # below inf, the floor of a node that no cut is good enough for

# A bin, or group of bins, whose bound reaches the best score so far.
CANDIDATE = np.dtype(
    [
        ("bin", np.int64),  # the first, of a group
        ("rows", np.int64),  # that the node has in it
        ("left_g", np.int64),  # sums over the rows before it
        ("left_h", np.int64),
        ("left_n", np.int64),
        ("bound", np.float64),  # of the cuts inside it and the one after it
    ]
)


@forced_inline
def has_closed_bins(column, bits):
    """Say whether in no bin of a column, put together in groups of 2^bits, a cut is looked for."""
    return bits == 0 and column.is_closed != 0


@forced_inline
def add_up_bins(histogram, first, n_bins, bits, width, running):
    """Write down for every bin the sums over those before it, and after the last over all.

    Returns how many bins there are, groups of 2^bits.
    """
    of_g, of_h, of_size = running[G], running[H], running[SIZE]
    # Indices are unsigned, as in ``gbt.kernels.cuts.histogram``.
    one, two, to = np.uint64(1), np.uint64(2), np.uint64(0)
    place, to_next = np.uint64(first * width), np.uint64(width << bits)
    g = h = size = np.int64(0)
    for _ in range(0, n_bins, 1 << bits):
        of_g[to], of_h[to], of_size[to] = g, h, size
        g += histogram[place]
        size += histogram[place + one]
        if width == 4:
            h += histogram[place + two]
        place += to_next
        to += one
    of_g[to], of_h[to], of_size[to] = g, h, size
    return np.int64(to)


@forced_inline
def hessians_of(running, missing, terms):
    """Return the hessians before each bin, a mask and a unit for them, and what they are held to.

    These are the node's, the missing rows' and the least of a side. Where all rows have the same
    hessian, it is the unit and rows are counted.
    """
    if terms.width == 4:
        return running[H], np.int64(-1), 1.0, terms.h, missing.h, terms.min_hessian
    mask, unit = (np.int64(1) << terms.count_bits) - 1, float(terms.hessian)
    least = max(terms.min_hessian, unit * terms.min_rows)
    return running[SIZE], mask, unit, terms.n, missing.n, least


@forced_inline
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


@forced_inline
def bound_of(box, missing_g, missing_h, node_g, node_h, h_unit, penalty, min_hessian):
    """Return what no score of a cut in a box exceeds, with missing rows of these sums on the left.

    box                           int64   IN   see ``box_of``
    missing_g, node_g             int64   IN   twice the sums
    missing_h, node_h             int64   IN   in units of ``h_unit``, as the box
    """
    low, high = box[0] + missing_g, box[1] + missing_g
    light, heavy = box[2] + missing_h, box[3] + missing_h
    left, right = h_unit * float(light), h_unit * float(node_h - heavy)
    left_weight = (left if left > min_hessian else min_hessian) + penalty
    right_weight = (right if right > min_hessian else min_hessian) + penalty
    left_g, right_g = float(low), float(node_g - low)
    at_low = left_g * left_g * right_weight + right_g * right_g * left_weight
    left_g, right_g = float(high), float(node_g - high)
    at_high = left_g * left_g * right_weight + right_g * right_g * left_weight
    largest = at_low if at_low > at_high else at_high
    product = left_weight * right_weight
    is_known = (product > 0.0) & (product < np.inf)  # a huge lambda may overflow
    score = 0.25 * SAFETY * largest / product if is_known else LARGEST
    left, right = h_unit * float(heavy), h_unit * float(node_h - light)
    may_weigh_enough = (SAFETY * left >= min_hessian) & (SAFETY * right >= min_hessian)
    return score if may_weigh_enough else -np.inf


@forced_inline
def bound_bins(running, n_bins, is_closed, missing, terms, upper):
    """Write down for every bin what no score in its box exceeds, where steps are free.

    The box of a bin is that of the cuts inside it, unless bins are closed, and of the one after it;
    with missing rows it has two, with them on either side. Where a side would be too light with all
    that may be on it, it is -inf.
    """
    of_g, of_size, count_bits, penalty = running[G], running[SIZE], terms.count_bits, terms.penalty
    of_h, h_mask, h_unit, node_h, missing_h, min_hessian = hessians_of(running, missing, terms)
    node_g, missing_g, to, zero = 2 * terms.g, 2 * missing.g, upper[:n_bins], np.int64(0)
    for b in range(len(to)):
        box = box_of(b, of_g, of_h, of_size, h_mask, count_bits, is_closed)
        to[b] = bound_of(box, zero, zero, node_g, node_h, h_unit, penalty, min_hessian)
    if missing.n == 0:
        return
    for b in range(len(to)):
        box = box_of(b, of_g, of_h, of_size, h_mask, count_bits, is_closed)
        bound = bound_of(box, missing_g, missing_h, node_g, node_h, h_unit, penalty, min_hessian)
        to[b] = bound if bound > to[b] else to[b]


@forced_inline
def bound_of_steps(box, missing_g, missing_h, any_order, terms, node_h, h_unit, min_hessian):
    """Do what `bound_of` does where steps have bounds (``gbt.kernels.cuts.bounds``)."""
    low, high = 0.5 * float(box[0] + missing_g), 0.5 * float(box[1] + missing_g)
    light, heavy = box[2] + missing_h, box[3] + missing_h
    left, right = h_unit * float(light), h_unit * float(node_h - heavy)
    left_most, right_most = h_unit * float(heavy), h_unit * float(node_h - light)
    penalty, total_weight = terms.penalty, h_unit * float(node_h) + terms.penalty
    least = max(left, min_hessian) + penalty, max(right, min_hessian) + penalty
    most = left_most + penalty, right_most + penalty
    score = bound_within(
        low, high, float(terms.g), least, most, total_weight, terms.within, any_order
    )
    may_weigh_enough = (SAFETY * left_most >= min_hessian) & (SAFETY * right_most >= min_hessian)
    return score if may_weigh_enough else -np.inf


@internal
def bound_bins_within(running, n_bins, is_closed, missing, terms, upper):
    """Do what `bound_bins` does where steps have bounds."""
    of_g, of_size, count_bits = running[G], running[SIZE], terms.count_bits
    of_h, h_mask, h_unit, node_h, missing_h, min_hessian = hessians_of(running, missing, terms)
    to, zero, count_mask = upper[:n_bins], np.int64(0), (np.int64(1) << count_bits) - 1
    for b in range(len(to)):
        box = box_of(b, of_g, of_h, of_size, h_mask, count_bits, is_closed)
        any_order = of_size[b + 1] & count_mask == terms.n - missing.n
        to[b] = bound_of_steps(box, zero, zero, any_order, terms, node_h, h_unit, min_hessian)
    if missing.n == 0:
        return
    for b in range(len(to)):
        box = box_of(b, of_g, of_h, of_size, h_mask, count_bits, is_closed)
        any_order = of_size[b + 1] & count_mask == terms.n - missing.n
        bound = bound_of_steps(
            box, 2 * missing.g, missing_h, any_order, terms, node_h, h_unit, min_hessian
        )
        to[b] = bound if bound > to[b] else to[b]


@forced_inline
def count_reaching(upper, n_bins, floor):
    """Return of how many bins the bound reaches ``floor``."""
    n_reaching, of_bin = np.int64(0), upper[:n_bins]
    for b in range(len(of_bin)):
        n_reaching += of_bin[b] >= floor
    return n_reaching


@internal
def score_bins(n_bins, bits, is_closed, first_code, missing, terms, floor, scratch):
    """Look at the bins whose bound reaches ``floor``; see ``survey``."""
    running, upper, candidates = scratch.running, scratch.upper, scratch.candidates
    n_left, first_floor = count_reaching(upper, n_bins, floor), floor
    best, largest = Cut(-np.inf, np.int64(-1), False), -np.inf
    place, one, n_candidates = np.uint64(0), np.uint64(1), np.int64(0)  # unsigned, as elsewhere
    while n_left > 0:
        if upper[place] >= first_floor:
            n_left -= 1
            if upper[place] >= floor:  # which has risen since
                b, after = np.int64(place) << bits, place + one
                left = sums_in(running[G, place], running[SIZE, place], running[H, place], terms)
                with_bin = sums_in(
                    running[G, after], running[SIZE, after], running[H, after], terms
                )
                has_one_value = bits == 0 and first_code[b + 1] - first_code[b] == 1
                if with_bin.n > left.n + 1 and not (is_closed or has_one_value):
                    largest, candidate = max(largest, upper[place]), candidates[n_candidates]
                    candidate.bin, candidate.rows = b, with_bin.n - left.n
                    candidate.left_g, candidate.left_h, candidate.left_n = left
                    candidate.bound = upper[place]
                    n_candidates += 1
                score, missing_left = score_both_ways(
                    with_bin.g, with_bin.h, with_bin.n, missing, terms
                )
                if score >= floor and with_bin.n > left.n:  # else it repeats the cut before it
                    floor, best = score, Cut(score, b, missing_left)
        place += one
    return best, largest, n_candidates


@internal
def survey(histogram, column, bits, is_closed, first_code, terms, floor, scratch):
    """Score the cuts between the bins of one column, and bound all others.

    Returns the best cut between bins, with the bin before it in place of its code, the highest of
    equals; the largest bound; and how many candidates there are, bins whose bound reaches
    ``floor``. Score and bound are -inf, and the bin is -1, where nothing reaches it.

    histogram   (bins * width,)  int64     IN
    column      COLUMN                     IN    see ``gbt.kernels.cuts.memory``
    bits                         int64     IN    bins are groups of 2^bits
    is_closed                    bool      IN    whether nothing is looked for inside any bin
    first_code  (bins + 1,)      int64     IN    of each bin, and last that of missing rows; all 0
                                                 where it is not known which hold one value
    scratch     SCRATCH                    OUT   ``running``, ``upper`` and ``candidates``
    """
    running, upper = scratch.running, scratch.upper
    missing = sums_of_bin(histogram, column.first_bin, column.missing_bin, terms)
    n_bins = add_up_bins(histogram, column.first_bin, column.n_bins, bits, terms.width, running)
    bound_bins(running, n_bins, is_closed, missing, terms, upper)
    if terms.within.binds and count_reaching(upper, n_bins, floor) > 0:
        bound_bins_within(running, n_bins, is_closed, missing, terms, upper)
    return score_bins(n_bins, bits, is_closed, first_code, missing, terms, floor, scratch)
