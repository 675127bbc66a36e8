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
otherwise the rows are added up here. The sums of all codes are 0 between two searches. In
a node of fewer rows than the column has codes a row marks its code, and only these codes are read
and set to 0 again: so a node of ten rows takes hardly longer in a column of 10,000 levels than in
one of 100. Otherwise all codes are read. A node that is split by its rows is added up once more as
they are told their sides, which is a walk through one column, and nothing has to be kept.

Where some rows choose and others judge (``gbt.kernels.cuts.judging``), every set is added up apart,
and each sum of sets, a q in what follows, has an order and a best cut of its own.
"""

import numpy as np

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

G, H, N, W = 0, 1, 2, 3  # lines of a sum: gradients, hessians, rows, weights
# Unsigned, as indices in ``gbt.kernels.cuts.histogram``.
ONE, TWO, THREE, FOUR = (np.uint64(number) for number in range(1, 5))
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
def place_of_sum(i, l, n_sums):
    """Return where the lines of sum l of the i-th level begin, a uint64.

    What a record has is read before a loop: in it every store might overwrite that.
    """
    return np.uint64(4 * (i * n_sums + l))


@forced_inline
def write_sums_of_level(place, g, h, n, w, sums):
    """Write down what a level adds up to."""
    sums[place], sums[place + ONE], sums[place + TWO], sums[place + THREE] = g, h, n, w


@internal
def take_all_but_each(i, n_sets, sums):
    """Turn the sums of a level's sets into those of all but each, and add that of all."""
    n_sums = n_sets + 1
    of_all = place_of_sum(i, n_sets, n_sums)
    for line in range(FOUR):
        total = np.int64(0)
        for s in range(n_sets):
            total += sums[place_of_sum(i, s, n_sums) + line]
        sums[of_all + line] = total
        for s in range(n_sets):
            place = place_of_sum(i, s, n_sums) + line
            sums[place] = total - sums[place]


@forced_inline
def list_level(i, code, n_rows, n_sets, n_sums, own):
    """List the i-th level, whose sets are added up; return 1, or 0 if no row has it."""
    if n_sums > n_sets:  # those of a cross-validated policy
        take_all_but_each(i, n_sets, own.sums)
    own.code[np.uint64(i)] = code
    return np.int64(n_rows > 0)


@internal
def levels_of_bins(histograms, column, terms, rules, habits, own):
    """List the levels of a node that have bins; return how many occur.

    histograms   (S * bins * width,)   int64   IN   those of a set end to end
    """
    n_levels, n_sets, n_sums = np.int64(0), habits.n_sets, habits.n_sums
    unit, bins_weigh, first = rules.weight_unit, rules.bins_weigh != 0, column.first_bin
    size, n_bins, missing_bin = len(histograms) // n_sets, column.n_bins, column.missing_bin
    for b in range(n_bins + 1):
        place, n_rows = b if b < n_bins else missing_bin, np.int64(0)
        for s in range(n_sets):
            of_set = histograms[s * size : (s + 1) * size]
            g, h, n = sums_of_bin(of_set, first, place, terms)
            weight = of_set[(first + place) * 4 + 3] if bins_weigh else n * unit
            write_sums_of_level(place_of_sum(n_levels, s, n_sums), g, h, n, weight, own.sums)
            n_rows += n
        n_levels += list_level(n_levels, b, n_rows, n_sets, n_sums, own)
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
    count, is_sparse, has_sets = np.int64(1), n_codes > len(listed), n_sets > one
    numbers, has_hessian = np.uint64(rules.width >> 1), rules.width == 4
    if not is_sparse:
        for code in range(np.uint64(n_codes)):
            marks[code >> six] |= one << (code & np.uint64(63))
    for i in range(np.uint64(len(listed))):
        ahead = np.uint64(listed[min(i + np.uint64(AHEAD), last)])
        prefetch(codes, ahead)
        prefetch(entries, ahead * numbers)
        row = np.uint64(listed[i])
        code = place = np.uint64(codes[row])
        if is_sparse:
            marks[code >> six] |= one << (code & np.uint64(63))
        if has_sets:
            place = code * n_sets + np.uint64(set_of_row[row])
        if has_hessian:
            g, h = entries[row * two], entries[row * two + one]
            add_four(by_code, place * four, g, count, h, weight[row * is_weighted])
        else:
            add_pair(by_code, place * two, entries[row], count)


@internal
def levels_of_rows(listed, codes, n_codes, rows, rules, judging, own):
    """List the levels of a node from its rows, missing last; return how many occur.

    listed    (m,)   int32   IN   rows of the node
    codes     (n,)   int32   IN   of the column, by row of the table
    n_codes          int64   IN   that of missing rows included
    """
    add_up_rows_by_code(listed, codes, n_codes, rows, rules, judging, own)
    by_code, marks, habits, n_levels = own.by_code, own.marks, judging.habits[0], np.int64(0)
    width, n_sets, n_sums = np.uint64(rules.width), habits.n_sets, habits.n_sums
    hessian, unit = rules.hessian, rules.weight_unit
    for word in range(np.uint64((n_codes + 63) // 64)):
        bits = marks[word]
        marks[word] = 0
        while bits > 0:
            code = word << np.uint64(6) | trailing_zeros(bits)
            bits &= bits - ONE
            place, n_rows = code * np.uint64(n_sets) * width, np.int64(0)
            for s in range(n_sets):
                g, n = by_code[place], by_code[place + ONE]
                h, weight = n * hessian, n * unit
                by_code[place] = by_code[place + ONE] = 0
                if width > TWO:
                    h, weight = by_code[place + TWO], by_code[place + THREE]
                    by_code[place + TWO] = by_code[place + THREE] = 0
                write_sums_of_level(place_of_sum(n_levels, s, n_sums), g, h, n, weight, own.sums)
                place, n_rows = place + width, n_rows + n
            n_levels += list_level(n_levels, np.int64(code), n_rows, n_sets, n_sums, own)
    return n_levels


# ---------------------------------------------------------------------------------- order and cuts


@internal
def add_up_few(n_levels, habits, own):
    """Add up the levels of few rows, as one more."""
    sums, n_sums = own.sums, habits.n_sums
    for l in range(n_sums):
        g = h = n = np.int64(0)
        for i in range(n_levels):
            if own.is_left[np.uint64(i)] == OF_FEW:
                place = place_of_sum(i, l, n_sums)
                g, h, n = g + sums[place], h + sums[place + ONE], n + sums[place + TWO]
        write_sums_of_level(place_of_sum(n_levels, l, n_sums), g, h, n, np.int64(0), sums)


@internal
def put_in_order(q, n_levels, rules, habits, own):
    """Put the levels of a node in the order in which sum q cuts them; return how many are in it.

    What orders levels goes to ``own.key``.
    """
    sums, key, order, spare = own.sums, own.key, own.order[0], own.order[1]
    n_sums = habits.n_sums
    smoothing, weight, n = rules.categorical_smoothing * rules.h_scale, np.int64(0), np.uint64(0)
    for i in range(n_levels):
        weight += sums[place_of_sum(i, q, n_sums) + THREE]
    enough = min(rules.most_weight, weight / LEAST_SHARE)
    for i in range(n_levels):
        place = place_of_sum(i, q, n_sums)
        is_few = sums[place + THREE] < enough
        own.is_left[np.uint64(i)] = OF_FEW * is_few
        if not is_few:
            key[np.uint64(i)] = key_of(sums[place], sums[place + ONE], smoothing)
            order[n] = i
            n += ONE
    if n < n_levels:
        add_up_few(n_levels, habits, own)
        place = place_of_sum(n_levels, q, n_sums)
        key[n_levels] = key_of(sums[place], sums[place + ONE], smoothing)
        order[n] = n_levels
        n += ONE
    merge_sort(key[: n_levels + 1], order[:n], spare[:n])
    return np.int64(n)


@internal
def begin_sides(n_levels, habits, own):
    """Count the rows of every sum, all of which are on the right."""
    for l in range(habits.n_sums):
        own.n_left[l] = own.n_right[l] = 0
        for i in range(n_levels):
            own.n_right[l] += own.sums[place_of_sum(i, l, habits.n_sums) + TWO]


@internal
def have_rows_of_all(i, habits, own):
    """Say whether on both sides every sum has enough rows; then let those of a level go left."""
    is_enough = True
    for l in range(habits.n_sums):
        n_left, n_right, n = (
            own.n_left[l],
            own.n_right[l],
            own.sums[place_of_sum(i, l, habits.n_sums) + TWO],
        )
        is_enough &= min(n_left, n_right) >= habits.min_rows_of_all
        own.n_left[l], own.n_right[l] = n_left + n, n_right - n
    return is_enough


@internal
def best_set(q, n_levels, terms, rules, habits, own):
    """Return the best cut for sum q between levels in its order; its code is how many go left."""
    n, sums = put_in_order(q, n_levels, rules, habits, own), own.sums
    key, order, has_least = own.key, own.order[0], habits.min_rows_of_all > 0
    n_sums = habits.n_sums
    best, last = Cut(-np.inf, np.int64(-1), False), -np.inf
    g = h = n_rows = np.int64(0)
    if has_least:
        begin_sides(n_levels, habits, own)
    for i in range(n):
        level = np.int64(order[np.uint64(i)])
        is_enough = have_rows_of_all(level, habits, own) if has_least else True
        of_level = key[np.uint64(level)]
        if i > 0 and is_enough and of_level != last:  # levels of one key stay together
            score = score_cut(g, h, n_rows, terms, ANY_ORDER)
            if score > -np.inf and score >= best.score:
                best = Cut(score, i, h >= terms.h - h)
        place, last = place_of_sum(level, q, n_sums), of_level
        g, h, n_rows = g + sums[place], h + sums[place + ONE], n_rows + sums[place + TWO]
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
def record_bits(node, n_levels, missing_code, rules, habits, own):
    """Store which codes go left at a node, a bit a level; see `mark_sides`."""
    mark_sides(node, n_levels, missing_code, rules, habits, own)
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
