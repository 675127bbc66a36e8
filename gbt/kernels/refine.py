"""Refinement: look at every cut inside the few bins whose bound reaches the best score so far.

A column is kept in the order of its values, so the rows of a bin stand together, and a mark says
where a new value starts. Two ways lead to the rows of one node in that order:

* Walk the bin and pass over the rows of other nodes. The root has no others.
* Pick the bin's rows out of the node's and sort them: for nodes with a small part of all rows.

Either way the sums left of the bin are known from the histogram, and each row adds to them. See
``gbt.kernels.search`` for what is meant by node, limits, sums and cut, and

    entries        (n * width,)   int64   of all rows, see ``gbt.kernels.histogram``
    node_of_row    (n,)           int32
"""

import numpy as np

from gbt.kernels.compiling import uncounted
from gbt.kernels.search import add_up, best_edge, bound_inside, score_both_ways

# In nanoseconds: a row passed on a walk, a row of the node looked at, a row picked and sorted.
WALKED, LOOKED_AT, SORTED = 3, 2, 40


@uncounted
def walk_bin(
    codes, in_bin, before, number, entries, node_of_row, layout, missing, node, limits, best
):
    """Return the better of the cut ``best`` and the best inside a bin, walking its rows.

    in_bin   (k,) int32   IN   part of the column's order
    before   3 x int64    IN   sums of g, h and rows left of the bin
    number   int64        IN   of the node, as in ``node_of_row``
    """
    width = layout.width
    g, h, n = before
    best_score, best_code, best_missing_left = best
    n_scored, last = n, np.int64(0)
    for marked_row in in_bin:
        row = np.int64(marked_row)
        if row < 0:  # a new value starts: the cut before it
            row = ~row
            if n > n_scored:
                n_scored = n
                score, missing_left = score_both_ways(g, h, n, missing, node, limits)
                if score >= best_score:  # only then read the code, which may be far away
                    code = np.int64(codes[last])
                    if score > best_score or code > best_code:
                        best_score, best_code, best_missing_left = score, code, missing_left
        if node_of_row[row] == number:
            g += entries[row * width]
            h += layout.hessian if width == 2 else entries[row * width + 1]
            n += 1
            last = row
    return best_score, best_code, best_missing_left


@uncounted
def sort_keys(keys):
    """Sort in place, by Shell's method: as fast as any for the tens of keys that are usual here.

    Numba's own sort keeps a list, and so cannot be part of kernels that count no references.
    """
    gap = 1
    while gap < len(keys) // 3:
        gap = 3 * gap + 1  # 1, 4, 13, 40, ...: Knuth's gaps
    while gap > 0:
        for i in range(gap, len(keys)):
            key, place = keys[i], i
            while place >= gap and keys[place - gap] > key:
                keys[place] = keys[place - gap]
                place -= gap
            keys[place] = key
        gap //= 3


@uncounted
def pick_rows(words, lane, codes, rows, selected, keys):
    """Pick the rows of selected bins, sort them by code, and return how many they are.

    words      (n,)       uint64   IN
    rows       (m,)       int32    IN    of the node
    selected   (256,)     int64    IN    1 or 0
    keys       (m,)       int64    OUT   code << 32 | row
    """
    n_picked = 0
    shift, byte = np.uint64(8 * lane), np.uint64(255)
    for row in rows:  # written without asking, kept if selected: no branch to mispredict
        keys[n_picked] = np.int64(codes[row]) << 32 | row
        n_picked += selected[np.int64(words[row] >> shift & byte)]
    sort_keys(keys[:n_picked])
    return n_picked


@uncounted
def follow_sorted(keys, before, entries, layout, missing, node, limits, best):
    """Return the better of the cut ``best`` and the best after any of some sorted rows."""
    width = layout.width
    g, h, n = before
    best_score, best_code, best_missing_left = best
    for k in range(len(keys)):
        row, code = keys[k] & 0xFFFFFFFF, keys[k] >> 32
        g += entries[row * width]
        h += layout.hessian if width == 2 else entries[row * width + 1]
        n += 1
        if k + 1 == len(keys) or keys[k + 1] >> 32 != code:
            score, missing_left = score_both_ways(g, h, n, missing, node, limits)
            if score > best_score or (score == best_score and code > best_code):
                best_score, best_code, best_missing_left = score, code, missing_left
    return best_score, best_code, best_missing_left


@uncounted
def edge_of_column(codes, order, bin_start, n_bins, sums, missing, node, limits):
    """Return the best cut between bins; its code is the last one of the bin before it."""
    score, b, missing_left = best_edge(sums, n_bins, missing, node, limits)
    last = order[bin_start[b + 1] - 1]
    return score, np.int64(codes[max(last, ~last)]), missing_left


@uncounted
def refine_column(
    codes, order, bin_start, n_bins, words, lane, histogram, first, layout, listed, number,
    entries, node_of_row, node, limits, to_beat, sums, bound, selected, keys,
):  # fmt: skip
    """Return the best cut of one feature, if its score reaches ``to_beat``, else some cut.

    codes, order, bin_start, n_bins   of the feature, see ``gbt.columns.Columns``
    words, lane                       its bins, see ``pick_rows``
    histogram, first, layout          see ``gbt.kernels.search.add_up``
    listed, number                    rows of the node, and its number in ``node_of_row``
    sums, bound, selected, keys       scratch
    """
    missing = add_up(histogram, first, n_bins, layout, sums)
    before_g, before_h, before_n, _ = sums
    best = edge_of_column(codes, order, bin_start, n_bins, sums, missing, node, limits)
    bound_inside(sums, n_bins, missing, node, limits, bound)
    n_walked = n_picked = np.int64(0)
    for b in range(n_bins):
        selected[b] = (bound[b] >= to_beat) & (bound[b] > -np.inf)
        n_walked += selected[b] * (bin_start[b + 1] - bin_start[b])
        n_picked += selected[b] * (before_n[b + 1] - before_n[b])
    selected[n_bins] = 0
    is_walked = n_walked * WALKED <= len(listed) * LOOKED_AT + n_picked * SORTED
    if not is_walked:
        pick_rows(words, lane, codes, listed, selected, keys)
    start = np.int64(0)
    for b in range(n_bins):
        if selected[b] == 0:
            continue
        before = (before_g[b], before_h[b], before_n[b])
        if is_walked:
            best = walk_bin(
                codes, order[bin_start[b] : bin_start[b + 1]], before, number, entries,
                node_of_row, layout, missing, node, limits, best,
            )  # fmt: skip
        else:
            stop = start + before_n[b + 1] - before_n[b]
            in_bin = keys[start:stop]
            best = follow_sorted(in_bin, before, entries, layout, missing, node, limits, best)
            start = stop
    return best


@uncounted
def sort_column(codes, missing_code, listed, entries, layout, node, limits, keys):
    """Return the best cut of one feature of a small node, by sorting all its rows."""
    width = layout.width
    n_present = 0
    missing_g = missing_h = missing_n = np.int64(0)
    for row in listed:
        if codes[row] == missing_code:
            missing_g += entries[row * width]
            missing_h += layout.hessian if width == 2 else entries[row * width + 1]
            missing_n += 1
        else:
            keys[n_present] = np.int64(codes[row]) << 32 | row
            n_present += 1
    present = keys[:n_present]
    sort_keys(present)
    zero = np.int64(0)
    missing = (missing_g, missing_h, missing_n)
    no_cut = (-np.inf, zero, zero > 0)  # typed like any other: no literals
    return follow_sorted(
        present, (zero, zero, zero), entries, layout, missing, node, limits, no_cut
    )
