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
them gains much and means nothing. So such levels go one way, as one level, which stands at the
place of all their rows together and whose sums follow those of the others: those of fewer rows than
smoothing is, but of less than an eighth of the node's, so that small nodes can still be split. A
row counts as many times as its weight says.

The histogram has the sums of levels if all have bins of their own and rows have no weights;
otherwise the rows are added up here. The sums of all codes are 0 between two searches. In a node of
fewer rows than the column has codes a row marks its code, and only these codes are read and set to
0 again: so a node of ten rows takes hardly longer in a column of 10,000 levels than in one of 100.
Otherwise all codes are read. A node that is split by its rows is added up once more as they are
told their sides, which is a walk through one column, and nothing has to be kept.

Where some rows choose and others judge (``gbt.kernels.cuts.judging``), rows are added up set by set
and each sum of sets, a q in what follows, has an order and a best cut of its own.
"""

import numpy as np

from gbt.kernels.cuts.scores import Cut, score_cut, sums_of_bin
from gbt.kernels.cuts.sets import CROSS_VALIDATED
from gbt.kernels.platform.compiling import forced_inline, internal, uncounted
from gbt.kernels.platform.instructions import (
    AHEAD,
    add_four,
    add_pair,
    min,
    prefetch,
    trailing_zeros,
)

G, H, N, W = 0, 1, 2, 3  # lines of a sum: gradients, hessians, rows, weights
LEAST_SHARE = 8  # a level of an eighth of a node's weight, or more, stands for itself
ANY_ORDER = np.bool_(True)  # of steps: no direction is along levels
OF_FEW = np.int64(2)  # in place of a side: that of all levels of few rows


@internal
def merge_sort(key, order, spare):
    """Order numbers by their keys, of equals as they stand.

    key            (k,)     float64   IN      by number
    order, spare   (m,)     int32     INOUT   ascending numbers on entry
    """
    width, source, target = 1, order, spare
    while width < len(order):
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
        width, source, target = 2 * width, target, source
    for i in range(len(order)):
        order[i] = source[i]


@forced_inline
def key_of(g, h, smoothing):
    """Return what levels are ordered by; without any weight they come first.

    That is where raw predictions rise most. In the program of Adler and Painsky, who order levels
    by residuals, y - f, these stand at the same end.
    """
    weight = np.float64(h) + smoothing
    return np.float64(g) / weight if weight > 0.0 else -np.inf


# -------------------------------------------------------------------------------------- adding up


@forced_inline
def write_sums_of_level(i, s, g, h, n, w, sums):
    """Write down what the i-th level adds up to in set s."""
    sums[s, G, i], sums[s, H, i], sums[s, N, i], sums[s, W, i] = g, h, n, w


@internal
def list_level(i, code, habits, own):
    """List the i-th level, whose sets are added up; return how many it takes: 0 if no row has it.

    Sums of sets come in place of sets where these differ.
    """
    sums, n_sets, n_rows = own.sums, habits.n_sets, np.int64(0)
    for s in range(n_sets):
        n_rows += sums[s, N, i]
    if habits.kind == CROSS_VALIDATED:
        for line in range(4):
            total = np.int64(0)
            for s in range(n_sets):
                total += sums[s, line, i]
            sums[n_sets, line, i] = total
            for s in range(n_sets):
                sums[s, line, i] = total - sums[s, line, i]
    own.code[i] = code
    return np.int64(n_rows > 0)


@internal
def levels_of_bins(histograms, column, terms, rules, habits, own):
    """List the levels of a node that have bins; return how many occur.

    histograms   (S * bins * width,)   int64   IN   those of a set end to end
    """
    n_levels, size = np.int64(0), len(histograms) // habits.n_sets
    for b in range(column.n_bins + 1):
        place = b if b < column.n_bins else column.missing_bin
        for s in range(habits.n_sets):
            of_set = histograms[s * size : (s + 1) * size]
            g, h, n = sums_of_bin(of_set, column.first_bin, place, terms)
            weight = n * rules.weight_unit
            if rules.bins_weigh:
                weight = of_set[(column.first_bin + place) * 4 + 3]
            write_sums_of_level(n_levels, s, g, h, n, weight, own.sums)
        n_levels += list_level(n_levels, b, habits, own)
    return n_levels


@internal
def add_up_rows_by_code(listed, codes, n_codes, rows, rules, judging, own):
    """Add the rows of a node to the sums of their codes, and mark the codes to be read.

    A code has [g, rows] for every set, or [g, rows, h, weight]. Parameters are those of
    ``levels_of_rows``.
    """
    # Unsigned indices, as in ``gbt.kernels.cuts.histogram``.
    by_code, marks, entries, weight = own.by_code, own.marks, rows.entries, rows.weight
    set_of_row, n_sets = judging.set_of_row, np.uint64(judging.habits[0].n_sets)
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
        code = place = np.uint64(codes[row])
        if is_sparse:
            marks[code >> six] |= one << (code & np.uint64(63))
        if n_sets > one:
            place = code * n_sets + np.uint64(set_of_row[row])
        if rules.width == 2:
            add_pair(by_code, place * two, entries[row], count)
        else:
            g, h = entries[row * two], entries[row * two + one]
            add_four(by_code, place * four, g, count, h, weight[row * is_weighted])


@internal
def levels_of_rows(listed, codes, n_codes, rows, rules, judging, own):
    """List the levels of a node from its rows, missing last; return how many occur.

    listed    (m,)   int32   IN   rows of the node
    codes     (n,)   int32   IN   of the column, by row of the table
    n_codes          int64   IN   that of missing rows included
    """
    add_up_rows_by_code(listed, codes, n_codes, rows, rules, judging, own)
    by_code, marks, habits, n_levels = own.by_code, own.marks, judging.habits[0], np.int64(0)
    one, two, three, width = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(rules.width)
    for word in range(np.uint64((n_codes + 63) // 64)):
        bits = marks[word]
        marks[word] = 0
        while bits > 0:
            code = word << np.uint64(6) | trailing_zeros(bits)
            bits &= bits - one
            place = code * np.uint64(habits.n_sets) * width
            for s in range(habits.n_sets):
                g, n = by_code[place], by_code[place + one]
                h, weight = n * rules.hessian, n * rules.weight_unit
                by_code[place] = by_code[place + one] = 0
                if width > two:
                    h, weight = by_code[place + two], by_code[place + three]
                    by_code[place + two] = by_code[place + three] = 0
                write_sums_of_level(n_levels, s, g, h, n, weight, own.sums)
                place += width
            n_levels += list_level(n_levels, np.int64(code), habits, own)
    return n_levels


# ---------------------------------------------------------------------------------- order and cuts


@internal
def put_in_order(q, n_levels, rules, habits, own):
    """Put the levels of a node in the order in which sum q cuts them; return how many are in it.

    What orders levels goes to ``own.key``.
    """
    sums, key, order, spare = own.sums, own.key, own.order[0], own.order[1]
    smoothing, weight, n = rules.categorical_smoothing * rules.h_scale, np.int64(0), np.int64(0)
    for i in range(n_levels):
        weight += sums[q, W, i]
    enough = min(rules.most_weight, weight / LEAST_SHARE)
    for l in range(habits.n_sums):
        for line in range(3):
            sums[l, line, n_levels] = 0
    for i in range(n_levels):
        own.is_left[i] = OF_FEW
        if sums[q, W, i] < enough:
            for l in range(habits.n_sums):
                for line in range(3):
                    sums[l, line, n_levels] += sums[l, line, i]
        else:
            key[i], order[n] = key_of(sums[q, G, i], sums[q, H, i], smoothing), i
            n += 1
    if n < n_levels:
        of_few = key_of(sums[q, G, n_levels], sums[q, H, n_levels], smoothing)
        key[n_levels], order[n] = of_few, n_levels
        n += 1
    merge_sort(key[: n_levels + 1], order[:n], spare[:n])
    return n


@internal
def begin_sides(n_levels, habits, own):
    """Count the rows of every sum, all of which are on the right."""
    for l in range(habits.n_sums):
        own.n_left[l] = own.n_right[l] = 0
        for i in range(n_levels):
            own.n_right[l] += own.sums[l, N, i]


@internal
def have_rows_of_all(i, habits, own):
    """Say whether on both sides every sum has enough rows; then let those of a level go left."""
    is_enough = True
    for l in range(habits.n_sums):
        n_left, n_right, n = own.n_left[l], own.n_right[l], own.sums[l, N, i]
        is_enough &= min(n_left, n_right) >= habits.min_rows_of_all
        own.n_left[l], own.n_right[l] = n_left + n, n_right - n
    return is_enough


@internal
def best_set(q, n_levels, terms, rules, habits, own):
    """Return the best cut for sum q between levels in its order; its code is how many go left."""
    n, sums = put_in_order(q, n_levels, rules, habits, own), own.sums[q]
    key, order, has_least = own.key, own.order[0], habits.min_rows_of_all > 0
    best, last = Cut(-np.inf, np.int64(-1), False), -np.inf
    g = h = n_rows = np.int64(0)
    if has_least:
        begin_sides(n_levels, habits, own)
    for i in range(n):
        place = np.uint64(order[i])
        is_enough = have_rows_of_all(place, habits, own) if has_least else True
        if i > 0 and is_enough and key[place] != last:  # levels of one key stay together
            score = score_cut(g, h, n_rows, terms, ANY_ORDER)
            if score > -np.inf and score >= best.score:
                best = Cut(score, i, h >= terms.h - h)
        g, h, n_rows = g + sums[G, place], h + sums[H, place], n_rows + sums[N, place]
        last = key[place]
    return best


# -------------------------------------------------------------------------------------------- sides


@internal
def mark_sides(node, n_levels, missing_code, rules, habits, own):
    """Mark for every level whether it goes left at a node whose cut is a number in their order.

    Codes that no row of the node has go where missing rows go.
    """
    is_left = own.is_left
    for i in range(put_in_order(habits.splits, n_levels, rules, habits, own)):
        is_left[own.order[0, i]] = i < node.cut
    for i in range(n_levels):
        if is_left[i] == OF_FEW:
            is_left[i] = is_left[n_levels]
        if own.code[i] == missing_code:  # the last
            node.missing_left = is_left[i]


@internal
def record_bits(node, histogram, column, terms, rules, habits, own):
    """Store which codes go left at a node, a bit a level."""
    n_levels = levels_of_bins(histogram, column, terms, rules, habits, own)
    mark_sides(node, n_levels, column.n_bins, rules, habits, own)
    none, one = np.uint64(0), np.uint64(1)
    for word in range(len(node.levels)):
        node.levels[word] = ~none if node.missing_left else none
    for i in range(n_levels):
        code = np.uint64(own.code[i])
        if own.is_left[i] != node.missing_left:
            node.levels[code >> np.uint64(6)] ^= one << (code & np.uint64(63))


@internal
def sides_by_bits(node, codes, listed, side):
    """Mark the rows of a node with their side of its set of levels: 0 left, 1 right."""
    for i in range(len(listed)):
        row = np.uint64(listed[i])
        code = np.uint64(codes[row])
        bits = node.levels[code >> np.uint64(6)] >> (code & np.uint64(63))
        side[row] = ~bits & np.uint64(1)


@internal
def sides_by_rows(node, listed, codes, n_codes, rows, rules, judging, own):
    """Do what `sides_by_bits` does for a node without bits."""
    n_levels = levels_of_rows(listed, codes, n_codes, rows, rules, judging, own)
    mark_sides(node, n_levels, n_codes - 1, rules, judging.habits[0], own)
    side_of_code, side = own.order[1], rows.side  # which has served
    for i in range(n_levels):
        side_of_code[np.uint64(own.code[i])] = 1 - own.is_left[i]
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
