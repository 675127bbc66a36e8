"""Quantise: gradients as integers; see ``gbt.training.fixed_point``.

Hessians and weights may be arrays of one number, which then stands for all rows.
"""

import math

import numpy as np

from gbt.kernels.platform.compiling import forced_inline, inlined, internal, uncounted
from gbt.kernels.platform.instructions import min
from gbt.kernels.rows.sums import NOTHING, add_to_partials, merged, nearest, plus, sum_of_partials

# A whole weight multiplies the rounded x, and so its rounding error. With this many on average sums
# are as exact as those of float64 may be, one by one; see ``gbt.training.fixed_point``.
MOST_REPEATS_PER_ROW = 256
# Below 1e-283 the integers become smaller instead: a larger scale would not be a float64.
LARGEST_EXPONENT = 1000
# Rows of a block, a task for a thread: 1,000 rows are shared already, and a task still takes longer
# than claiming it, several times.
ROWS_PER_TASK = 2**9


@forced_inline
def of_row(x, row):
    """Return the number of a row, a uint64, or that of all rows."""
    return x[row] if len(x) > 1 else x[0]


@forced_inline
def add_magnitudes(x, weight, some, start, stop):
    """Return the sums of |weight * x| and of weights over some rows, and whether these are whole.

    The former is as ``gbt.kernels.rows.sums`` adds, without an order.

    x, weight     (n,) or (1,)   float64   IN
    some          (m,)           int32     IN    rows, of which the places start:stop count; none:
                                                 the rows start:stop
    """
    total, total_weight = NOTHING, 0.0
    is_whole = True
    for i in range(
        np.uint64(start), np.uint64(stop)
    ):  # unsigned, as in ``gbt.kernels.cuts.histogram``
        row = np.uint64(some[i]) if len(some) > 0 else i
        w = of_row(weight, row)
        total = plus(total, abs(w * of_row(x, row)))
        total_weight += w
        is_whole &= w == np.rint(w)
    return total, total_weight, is_whole


@internal
def settled(total, x, weight, rows, start, stop, partials):
    """Return the number nearest to the sum of weight * x over the rows in the places start:stop.

    It is ``total`` unless that leaves it in doubt; then the rows are added up once more.

    total       3 x float64            IN        see ``gbt.kernels.rows.sums``
    x, weight   (n,) or (1,) float64   IN
    rows        (m,) int32             IN
    partials    (m,) float64           scratch   in the places start:stop
    """
    rounded, is_certain = nearest(total, stop - start)
    if not is_certain:
        end = start
        for i in range(start, stop):
            row = np.uint64(rows[np.uint64(i)])
            product = of_row(weight, row) * of_row(x, row)
            end = add_to_partials(product, partials, start, end)
        rounded = sum_of_partials(partials, start, end)
    return rounded


@forced_inline
def scale_for(total, total_weight, is_whole, n_rows):
    """Return the scale for numbers of these sums, and whether whole weights multiply.

    The scale is nan where the sum is not finite.
    """
    repeats = is_whole and total_weight <= MOST_REPEATS_PER_ROW * n_rows
    if total == 0.0:
        return 1.0, repeats
    if not np.isfinite(total):
        return np.nan, repeats
    # total = m * 2^(61 - exponent) with 1/2 <= m < 1
    exponent = min(61 - math.frexp(total)[1], LARGEST_EXPONENT)
    return math.ldexp(1.0, exponent), repeats


@forced_inline
def scale_for_one(x, weight, n_rows):
    """Do what ``scale_for`` does where one x and one weight stand for all rows."""
    return scale_for(n_rows * abs(weight * x), n_rows * weight, weight == np.rint(weight), n_rows)


@uncounted
def scale_of(x, weight, rows):
    """Return the scale of weight * x in some rows, and whether whole weights multiply.

    x, weight   (n,) or (1,)   float64   IN
    rows        (m,)           int32     IN
    """
    if len(x) == 1 and len(weight) == 1:
        return scale_for_one(x[0], weight[0], len(rows))
    n = len(rows)
    total, total_weight, is_whole = add_magnitudes(x, weight, rows, 0, n)
    rounded, _ = nearest(total, n)
    return scale_for(rounded, total_weight, is_whole, n)


@forced_inline
def integer_of(x, weight, scale, repeats):
    """Return weight * x * scale, rounded; with ``repeats`` a whole number of times x * scale."""
    if repeats:
        return np.int64(weight) * np.int64(np.rint(x * scale))
    return np.int64(np.rint(weight * x * scale))


@uncounted
def quantise(x, weight, rows, scale, repeats, integers):
    """Write weight * x * scale, rounded, of some rows.

    x, weight   (n,) or (1,)   float64   IN
    rows        (n_rows,)      int32     IN
    scale                      float64   IN
    repeats                    bool      IN    see ``integer_of``
    integers    (n,)           int64     OUT   of these rows
    """
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        integers[row] = integer_of(of_row(x, row), of_row(weight, row), scale, repeats)


@internal
def measure_rows(training, rows, rules, start, stop, block):
    """Add up the magnitudes of derivatives in a block of the rows that take part.

    block   BLOCK   OUT   see ``gbt.kernels.cuts.memory``
    """
    gradient, hessian, weight = training.gradient, training.hessian, training.weight
    some = rows.listed[: 0 if rules.n_listed == len(gradient) else rules.n_listed]
    total, block.weight_total, block.is_whole = add_magnitudes(gradient, weight, some, start, stop)
    block.g_total, block.g_lost, block.g_slack = total
    if rules.width == 4:
        total, _, _ = add_magnitudes(hessian, weight, some, start, stop)
        block.h_total, block.h_lost, block.h_slack = total


@internal
def choose_scales(training, rules, blocks):
    """Choose the units of a tree, and its rules in them; return whether all sums are finite."""
    g_total, h_total, weight_total = NOTHING, NOTHING, 0.0
    is_whole, n_additions = True, rules.n_listed + 2 * len(blocks)
    for b in range(len(blocks)):
        block = blocks[b]
        g_total = merged(g_total, (block.g_total, block.g_lost, block.g_slack))
        if rules.width == 4:
            h_total = merged(h_total, (block.h_total, block.h_lost, block.h_slack))
        weight_total += block.weight_total
        is_whole &= block.is_whole != 0
    # Of a sum in doubt only its power of two matters, which an order of the rows could change only
    # if the exact sum were within 1e-20 of itself of a power of two, and not that power.
    of_g, _ = nearest(g_total, n_additions)
    of_h, _ = nearest(h_total, n_additions)
    one = (training.hessian[0], training.weight[0])
    return settle_units((of_g, of_h, weight_total), is_whole, one, rules)


@inlined
def settle_units(totals, is_whole, one, rules):
    """Choose the units of a tree from sums over its rows; return whether all sums are finite.

    totals     3 x float64   IN      of |weight * gradient|, |weight * hessian| and weights
    is_whole   bool          IN      whether all weights are whole
    one        2 x float64   IN      hessian and weight, where each stands for all rows
    rules      RULES         INOUT
    """
    g_scale, repeats = scale_for(totals[0], totals[2], is_whole, rules.n_listed)
    if rules.width == 4:
        h_scale, _ = scale_for(totals[1], totals[2], is_whole, rules.n_listed)
    else:
        h_scale, _ = scale_for_one(one[0], one[1], rules.n_listed)
    if not (np.isfinite(g_scale) and np.isfinite(h_scale)):
        return False
    rules.g_scale, rules.h_scale, rules.repeats = g_scale, h_scale, repeats
    rules.penalty, rules.min_hessian = rules.reg_lambda * h_scale, rules.min_child_weight * h_scale
    # In this order nothing overflows that is not out of reach anyway.
    rules.least_gain = rules.min_split_gain * g_scale * (g_scale / h_scale)
    rules.count_bits = rules.hessian = 0
    while rules.n_listed >> rules.count_bits > 0:
        rules.count_bits += 1
    if rules.width == 2:
        rules.hessian = integer_of(one[0], one[1], h_scale, repeats)
    return True


@internal
def quantise_rows(training, rows, rules, start, stop, block):
    """Write the entries of a block of the rows that take part, and the sums over it.

    block   BLOCK   OUT   see ``gbt.kernels.cuts.memory``
    """
    gradient, hessian, weight = training.gradient, training.hessian, training.weight
    listed, entries, node_of_row = rows.listed, rows.entries, rows.node
    has_all, has_hessian = rules.n_listed == len(gradient), rules.width == 4
    g_scale, h_scale, repeats = rules.g_scale, rules.h_scale, rules.repeats != 0
    two, one, h = np.uint64(2), np.uint64(1), rules.hessian
    sum_g = sum_h = magnitude = np.int64(0)
    for i in range(np.uint64(start), np.uint64(stop)):
        row = i if has_all else np.uint64(listed[i])
        listed[i], node_of_row[row] = row, 0
        w = of_row(weight, row)
        g = integer_of(gradient[row], w, g_scale, repeats)
        if has_hessian:
            h = integer_of(of_row(hessian, row), w, h_scale, repeats)
            entries[row * two], entries[row * two + one] = g, h
        else:
            entries[row] = g
        sum_g, sum_h, magnitude = sum_g + g, sum_h + h, magnitude + abs(g)
    block.g, block.h, block.magnitude = sum_g, sum_h, magnitude
