r"""Levels: the best set of levels of a categorical column, in one node.

A split of a categorical column is a set of levels. Ordered by their mean gradient, levels are cut
like numbers: of all sets the one of least squared error is among these (Fisher 1958), and to second
order so is that of any loss. So the sums of each level of a node are added up, levels are put in
the order of

    G / (H + smoothing)

and what stands left of a cut is scored as for numbers; levels whose key is the same stay together.
Rows whose value is missing are one level more, the last::

    level       a     b     c  missing       order of G / (H + smoothing), a cut after the second:
    sums        .     .     .     .            c   missing | a   b        c and missing go left

Of many levels with few rows each, those that chance has moved most come first, and a cut behind
them gains much and means nothing. So such levels go one way, as one level (``of_few``), at the
place of all their rows together: those of fewer rows than smoothing is, but of less than an eighth
of the node's, so that small nodes can still be split. A row counts as many times as its weight
says.

The histogram has the sums of levels if all have bins of their own and rows have no weights;
otherwise the rows are added up here. The sums of all codes are 0 between two searches. In a node of
fewer rows than the column has codes a row marks its code, and only these codes are read and set to
0 again: so a node of ten rows takes hardly longer in a column of 10,000 levels than in one of 100.
Otherwise all codes are read. A node that is split by its rows is added up once more as they are
told their sides, which is a walk through one column, and nothing has to be kept.

Where some rows choose and others judge, ``gbt.kernels.cuts.judged_levels`` does the same for each
of their sums.
"""

import numpy as np

from gbt.kernels.cuts.bounds import NO_DIRECTION
from gbt.kernels.cuts.memory import terms_of
from gbt.kernels.cuts.scores import Cut, score_cut, sums_of_bin
from gbt.kernels.platform.compiling import forced_inline, internal, uncounted
from gbt.kernels.platform.instructions import (
    AHEAD,
    add_four,
    add_pair,
    min,
    prefetch,
    trailing_zeros,
)

G, H, N, W = 0, 1, 2, 3  # places in a sum: gradients, hessians, rows, weights
LEAST_SHARE = 8  # a level of an eighth of a node's weight, or more, stands for itself
ANY_ORDER = np.bool_(True)  # of steps: no direction is along levels
OF_FEW = np.int64(2)  # in place of a side: that of all levels of few rows


@internal
def merge_sort(key, order, spare):
    """Order numbers by their keys, of equals as they stand; return which of both arrays has them.

    key            (k,)     float64   IN      by number
    order, spare   (m,)     int32     INOUT   ascending numbers on entry
    """
    width, is_spare = 1, np.uint64(0)
    while width < len(order):
        source, target = (spare, order) if is_spare > 0 else (order, spare)
        for start in range(0, len(order), 2 * width):
            a, middle = start, min(start + width, len(order))
            b, stop = middle, min(start + 2 * width, len(order))
            for i in range(start, stop):
                if b == stop or (a < middle and key[source[a]] <= key[source[b]]):
                    target[i] = source[a]
                    a += 1
                else:
                    target[i] = source[b]
                    b += 1
        width, is_spare = 2 * width, np.uint64(1) - is_spare
    return is_spare


@forced_inline
def key_of(g, h, smoothing):
    """Return what levels are ordered by; without any weight they come first.

    That is where raw predictions rise most. In the program of Adler and Painsky, who order levels
    by residuals, y - f, these stand at the same end.
    """
    weight = np.float64(h) + smoothing
    return np.float64(g) / weight if weight > 0.0 else -np.inf


@internal
def levels_of_bins(histogram, column, terms, rules, levels):
    """List the levels of a node that have bins; return how many occur."""
    n_levels = np.uint64(0)
    for b in range(column.n_bins + 1):
        place = b if b < column.n_bins else column.missing_bin
        of_bin, level = sums_of_bin(histogram, column.first_bin, place, terms), levels[n_levels]
        level.g, level.h, level.n = of_bin
        level.weight, level.code = of_bin.n * rules.weight_unit, b
        n_levels += np.uint64(of_bin.n > 0)
    return n_levels


@internal
def add_up_rows_by_code(listed, codes, n_codes, entries, weight, rules, own):
    """Add the rows of a node to the sums of their codes, and mark the codes to be read.

    Parameters are those of ``levels_of_rows``.
    """
    # Unsigned indices, as in ``gbt.kernels.cuts.histogram``.
    sums, marks = own.sums, own.marks
    one, two, four, six = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(6)
    last, is_weighted = np.uint64(len(listed) - 1), np.uint64(len(weight) > 1)
    count, is_sparse = np.int64(1), n_codes > len(listed)
    if not is_sparse:
        for code in range(np.uint64(n_codes)):
            marks[code >> six] |= one << (code & np.uint64(63))
    for i in range(np.uint64(len(listed))):
        ahead = np.uint64(listed[min(i + np.uint64(AHEAD), last)])
        prefetch(codes, ahead)
        prefetch(entries, ahead * np.uint64(rules.width >> 1))
        row = np.uint64(listed[i])
        code = np.uint64(codes[row])
        if is_sparse:
            marks[code >> six] |= one << (code & np.uint64(63))
        if rules.width == 2:
            add_pair(sums, code * two, entries[row], count)
        else:
            g, h = entries[row * two], entries[row * two + one]
            add_four(sums, code * four, g, count, h, weight[row * is_weighted])


@internal
def levels_of_rows(listed, codes, n_codes, entries, weight, rules, own):
    """Add up the levels of a node from its rows; return how many occur.

    listed    (m,)             int32   IN   rows of the node
    codes     (n,)             int32   IN   of the column, by row of the table
    n_codes                    int64   IN   that of missing rows included
    entries   (n * width/2,)   int64   IN   see ``gbt.kernels.cuts.histogram``
    weight    (n,) or (1,)     int64   IN
    """
    add_up_rows_by_code(listed, codes, n_codes, entries, weight, rules, own)
    sums, marks, levels, width = own.sums, own.marks, own.levels, np.uint64(rules.width)
    one, two, three, n_levels = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(0)
    for word in range(np.uint64((n_codes + 63) // 64)):
        bits = marks[word]
        marks[word] = 0
        while bits > 0:
            code = np.uint64(word << np.uint64(6)) | trailing_zeros(bits)
            bits &= bits - one
            level, place = levels[n_levels], code * width
            level.g, level.n, level.code = sums[place], sums[place + one], code
            n_levels += np.uint64(level.n > 0)
            sums[place] = sums[place + one] = 0
            if width == two:
                level.h, level.weight = level.n * rules.hessian, level.n * rules.weight_unit
            else:
                level.h, level.weight = sums[place + two], sums[place + three]
                sums[place + two] = sums[place + three] = 0
    return n_levels


@internal
def put_in_order(n_levels, rules, own):
    """Put the levels of a node in the order in which they are cut.

    Returns how many places the order has, and in which line of ``own.order`` it is. What orders
    levels goes to ``own.key``.
    """
    levels, key, order = own.levels, own.key, own.order
    one, n, weight = np.uint64(1), np.uint64(0), np.int64(0)
    smoothing = rules.categorical_smoothing * rules.h_scale
    for i in range(n_levels):
        weight += levels[i].weight
    enough = min(rules.most_weight, weight / LEAST_SHARE)
    of_few = levels[n_levels]
    of_few.g = of_few.h = of_few.n = 0
    for i in range(n_levels):
        level = levels[i]
        level.is_left = OF_FEW
        if level.weight < enough:
            of_few.g, of_few.h = of_few.g + level.g, of_few.h + level.h
            of_few.n += level.n
        else:
            key[i], order[0, n] = key_of(level.g, level.h, smoothing), i
            n += one
    if n < n_levels:
        key[n_levels], order[0, n] = key_of(of_few.g, of_few.h, smoothing), n_levels
        n += one
    return n, merge_sort(key[: n_levels + one], order[0, :n], order[1, :n])


@internal
def best_set(n_levels, terms, rules, own):
    """Return the best cut between levels in their order; its code is how many are left of it."""
    n, which = put_in_order(n_levels, rules, own)
    levels, key, order = own.levels, own.key, own.order[which]
    best, last = Cut(-np.inf, np.int64(-1), False), -np.inf
    g = h = n_rows = n_left = np.int64(0)
    for i in range(n):
        place = np.uint64(order[i])
        if n_left > 0 and key[place] != last:  # levels whose key is the same stay together
            score = score_cut(g, h, n_rows, terms, ANY_ORDER)
            if score > -np.inf and score >= best.score:
                best = Cut(score, n_left, h >= terms.h - h)
        level, last = levels[place], key[place]
        g, h, n_rows, n_left = g + level.g, h + level.h, n_rows + level.n, n_left + 1
    return best


@internal
def best_set_of_rows(k, node, table, rows, rules, own):
    """Return the best cut of a column whose levels have no bins."""
    listed, n_codes = rows.listed[node.start : node.stop], table.columns[k].n_values + 1
    n_levels = levels_of_rows(
        listed, table.codes[k], n_codes, rows.entries, rows.weight, rules, own
    )
    return best_set(n_levels, terms_of(NO_DIRECTION, node, rules), rules, own)


@internal
def mark_sides(node, n_levels, missing_code, rules, own):
    """Mark for every level whether it goes left at a node whose cut is a number in their order.

    Codes that no row of the node has go where missing rows go.
    """
    n, which = put_in_order(n_levels, rules, own)
    levels, order = own.levels, own.order[which]
    for i in range(n):
        levels[np.uint64(order[i])].is_left = i < np.uint64(node.cut)
    for i in range(n_levels):
        level = levels[i]
        if level.is_left == OF_FEW:
            level.is_left = levels[n_levels].is_left
        if level.code == missing_code:  # the last
            node.missing_left = level.is_left


@internal
def record_bits(node, histogram, column, terms, rules, own):
    """Store which codes go left at a node, a bit a level."""
    n_levels = levels_of_bins(histogram, column, terms, rules, own.levels)
    mark_sides(node, n_levels, column.n_bins, rules, own)
    none, one = np.uint64(0), np.uint64(1)
    for word in range(len(node.levels)):
        node.levels[word] = ~none if node.missing_left else none
    for i in range(n_levels):
        level = own.levels[i]
        if level.is_left != node.missing_left:
            node.levels[level.code >> 6] ^= one << np.uint64(level.code & 63)


@internal
def sides_by_bits(node, codes, listed, side):
    """Mark the rows of a node with their side of its set of levels: 0 left, 1 right."""
    for i in range(len(listed)):
        row = np.uint64(listed[i])
        code = np.uint64(codes[row])
        bits = node.levels[code >> np.uint64(6)] >> (code & np.uint64(63))
        side[row] = ~bits & np.uint64(1)


@internal
def sides_by_rows(node, listed, codes, n_codes, rows, rules, own):
    """Do what `sides_by_bits` does for a node without bits."""
    n_levels = levels_of_rows(listed, codes, n_codes, rows.entries, rows.weight, rules, own)
    mark_sides(node, n_levels, n_codes - 1, rules, own)
    levels, side_of_code, side = own.levels, own.order[0], rows.side  # the order has been used
    for i in range(n_levels):
        side_of_code[np.uint64(levels[i].code)] = 1 - levels[i].is_left
    for i in range(len(listed)):
        row = np.uint64(listed[i])
        side[row] = side_of_code[np.uint64(codes[row])]


@uncounted
def codes_on_the_left(codes, on_the_left, on_the_right, goes_left):
    """Mark for the codes that rows of a node have whether they went left in the partition.

    codes          (n,)   int32   IN      by row of the table
    on_the_left    (m,)   int32   IN      rows
    on_the_right   (m,)   int32   IN
    goes_left      (c,)   bool    INOUT   by code
    """
    for i in range(len(on_the_left)):
        goes_left[codes[on_the_left[i]]] = True
    for i in range(len(on_the_right)):
        goes_left[codes[on_the_right[i]]] = False
