r"""Scan: one walk through a column in the order of its values finds the cuts of all open nodes.

The rows of a node fall into *sets*: one for a greedy split, the folds of a cross-validated one, the
three parts of an unbiased one. A policy says which sets it adds up to which *sums*, and for some of
the sums the best cut is found. First the walk sorts its rows by node, keeping their order::

    rows by value     a   b   c   d   e   f   g
    node              0   1   0   0   1   0   1          node 0:  a c d f      node 1:  b e g

Then, node by node and some hundred rows at a time, running sums are written down before every row
with a new value, which is where a cut may be, and all these cuts are scored in one loop::

    rows of node 0         a     c     d     f
    new value                    *           *
    left of the cuts           a          a+c+d          one line of g, h and rows for every sum

In a large node the rows at hand are so few that a box of sums is small. Left of a cut among them
stands what is left of them all, and of their own g at least the negative and at most the positive
part, of their h at most all. The score is convex in both sums, so none is above those at the
corners of this box: if they are below the best score so far, these cuts are passed by. The same
best cut is found. (Steps that are kept within bounds, see below, only make scores lower.)

So every cut between two neighbouring distinct values of a node is scored or cannot win. Sums are
integers, and the score is that of ``gbt.kernels.cuts.search``: the best cut for the sum of all sets
is the one that the greedy search finds, ties included. With a best cut come all sums on its left
side, from which a policy works out what else it wants to know of it.

Where predictions must rise or fall with a column, the steps of both sides are kept within the
bounds of the node, and their order is looked at (``gbt.splitting.monotone``).

Cost: some ten nanoseconds a row and column and, for every sum, up to five.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.cuts.search import score_of
from gbt.kernels.platform.compiling import forced_inline, internal, uncounted
from gbt.kernels.platform.instructions import max, min

# node is -1 if not open
ROW = np.dtype([(name, np.int64) for name in ("g", "h", "node", "weight")])
ROWS_AT_ONCE = 256  # of six sums 37 kB, which stay in the first-level cache
G, H, N = 0, 1, 2  # places in a sum: gradients, hessians, rows
RISE, FALL = 0, 3  # of what sets have of some rows: g where it is above 0, where it is below 0
BEYOND_ROUNDING = 1.0 + 1e-9  # a score has some ten roundings of 1e-16
LOWEST = -np.finfo(np.float64).max  # above the score of a cut that is not allowed


class Asked(NamedTuple):
    """What is asked of all columns alike; J open nodes, S sets, L sums, Q of them with cuts."""

    rows: np.ndarray  # (n,) ROW
    start: np.ndarray  # (J,) int64, where the open rows of node j begin if they lie end to end
    takes: np.ndarray  # (L, S) int64, -1 where a sum takes a set, else 0
    n_searched: int  # Q: the first sums
    penalty: float  # lambda in the units of the hessians
    min_hessian: float  # of a sum, on either side of its cut
    min_rows: int  # likewise
    min_rows_of_all: int  # of every sum, on either side of any cut
    least_rows_for_boxes: int  # of a node
    rows_of_box: int  # ROWS_AT_ONCE at most
    is_bounded: bool  # whether any column of the table must be monotone
    direction: int  # of this column: 1 if steps must rise from left to right, -1 if fall, else 0
    bounds: np.ndarray  # (J, 2) float64, least and largest step of the children of node j


class Scratch(NamedTuple):
    """A thread's own arrays."""

    place: np.ndarray  # (J,) int64
    value: np.ndarray  # (J,) int64
    by_node: np.ndarray  # (m,) int32, rows by node and value, ~row where a new value starts
    n_present: np.ndarray  # (J,) int64, rows of a node that have a value
    missing: np.ndarray  # (L, 3) int64, sums over the rows of a node that have none
    so_far: np.ndarray  # (L, 3) int64, sums over those before the rows at hand
    left: np.ndarray  # (L, 3, ROWS_AT_ONCE + 1) int64, sums left of the cuts at hand
    row: np.ndarray  # (ROWS_AT_ONCE + 1,) int64, the last one left of them
    g: np.ndarray  # (ROWS_AT_ONCE,) int64, of the rows at hand
    h: np.ndarray  # (ROWS_AT_ONCE,) int64
    own_set: np.ndarray  # (ROWS_AT_ONCE,) int64
    of_sets: np.ndarray  # (S, 4) int64, what the sets have of the rows at hand
    wanted: np.ndarray  # (Q + 1,) int64, sums for which a cut among them may win
    is_last: np.ndarray  # (ROWS_AT_ONCE,) uint64, 1 before a new value, else 0
    score: np.ndarray  # (3, ROWS_AT_ONCE) float64: missing rows right, left, and the better of both
    nothing: np.ndarray  # (L, 3) int64, 0


# The best cut for a sum.
CUT = np.dtype(
    [
        ("score", np.float64),  # -inf where no cut is allowed
        ("row", np.int64),  # with the highest value that goes left
        ("missing_left", np.int64),
    ]
)


@internal
def sort_by_node(by_value, n_present, asked, scratch):
    """Put open rows beside those of their node, in the order of their values.

    Missing rows come after the others of their node, without a mark.
    """
    place, value_of_last = scratch.place, scratch.value
    for j in range(len(place)):
        place[j], value_of_last[j] = asked.start[j], -1
    value = np.int64(0)
    for i in range(len(by_value)):
        if i == n_present:
            for j in range(len(place)):
                scratch.n_present[j] = place[j] - asked.start[j]
        row = np.int64(by_value[i])
        value += np.int64(row < 0)
        row = max(row, ~row)
        node = asked.rows[np.uint64(row)].node
        if node >= 0:
            j = np.uint64(node)
            is_new = value_of_last[j] != value and i < n_present
            scratch.by_node[np.uint64(place[j])] = ~row if is_new else row
            place[j] += 1
            value_of_last[j] = value
    if n_present == len(by_value):
        for j in range(len(place)):
            scratch.n_present[j] = place[j] - asked.start[j]


@internal
def add_up_missing(some, set_of_row, asked, scratch):
    """Add up the rows of a node that have no value, sum by sum."""
    for l in range(len(asked.takes)):
        take = asked.takes[l]
        g = h = n = np.int64(0)
        for row in some:
            mask = take[set_of_row[row]]
            g += asked.rows[row].g & mask
            h += asked.rows[row].h & mask
            n -= mask
        scratch.missing[l, G], scratch.missing[l, H], scratch.missing[l, N] = g, h, n


@internal
def read_rows(rows, has_next, set_of_row, asked, scratch):
    """Lay out some rows, and what the sets have of them; return how many cuts there are.

    rows       (m,)   int32   IN   of a node, by value, ~row where a new value starts
    has_next          bool    IN   whether a cut may be after the last of them
    """
    n_cuts, last, of_sets = np.uint64(0), len(rows) - 1, scratch.of_sets
    of_sets[:] = 0
    for i in range(len(rows)):
        number = np.int64(rows[i])
        number = max(number, ~number)
        row, own_set = asked.rows[np.uint64(number)], np.uint64(set_of_row[np.uint64(number)])
        scratch.g[i], scratch.h[i], scratch.own_set[i] = row.g, row.h, own_set
        scratch.is_last[i] = rows[i + 1] < 0 if i < last else has_next
        scratch.row[n_cuts] = number
        n_cuts += scratch.is_last[i]
        of_sets[own_set, RISE] += max(row.g, np.int64(0))
        of_sets[own_set, FALL] += min(row.g, np.int64(0))
        of_sets[own_set, H] += row.h
        of_sets[own_set, N] += 1
    return np.int64(n_cuts)


@internal
def add_up(n_rows, asked, scratch):
    """Write down the sums left of every cut among the rows at hand."""
    for l in range(len(asked.takes)):
        take, sums = asked.takes[l], scratch.so_far[l]
        of_g, of_h, of_n = scratch.left[l, G], scratch.left[l, H], scratch.left[l, N]
        g, h, n, cut = sums[G], sums[H], sums[N], np.uint64(0)
        for i in range(n_rows):
            mask = take[np.uint64(scratch.own_set[i])]
            g += scratch.g[i] & mask
            h += scratch.h[i] & mask
            n -= mask
            of_g[cut], of_h[cut], of_n[cut] = g, h, n
            cut += scratch.is_last[i]
        sums[G], sums[H], sums[N] = g, h, n


@internal
def pass_by(asked, scratch):
    """Add up the rows at hand where none of the cuts among them is wanted."""
    for l in range(len(asked.takes)):
        take, sums = asked.takes[l], scratch.so_far[l]
        for s in range(len(take)):
            of_set = scratch.of_sets[s]
            sums[G] += (of_set[RISE] + of_set[FALL]) & take[s]
            sums[H] += of_set[H] & take[s]
            sums[N] += of_set[N] & take[s]


@forced_inline
def is_below(floor, g, h, total, penalty):
    """Say whether a score, roundings included, is below ``floor``; nan is not."""
    score = score_of(
        np.float64(g), np.float64(h), np.float64(total[G] - g), np.float64(total[H] - h), penalty
    )
    return score * BEYOND_ROUNDING < floor


@forced_inline
def is_box_below(floor, low_g, high_g, low_h, high_h, total, penalty):
    """Say whether all scores of a box of g and h are below ``floor``; they are convex."""
    return (
        is_below(floor, low_g, low_h, total, penalty)
        & is_below(floor, low_g, high_h, total, penalty)
        & is_below(floor, high_g, low_h, total, penalty)
        & is_below(floor, high_g, high_h, total, penalty)
    )


@internal
def may_win(q, floor, has_missing, total, asked, scratch):
    """Say whether a cut among the rows at hand may reach the score ``floor`` for sum q.

    Left of such a cut is what is so far, and of the rows at hand no more than all that raise g, no
    less than all that lower it.
    """
    take, penalty = asked.takes[q], asked.penalty
    low_g = high_g = scratch.so_far[q, G]
    low_h = high_h = scratch.so_far[q, H]
    for s in range(len(take)):
        of_set = scratch.of_sets[s]
        low_g += of_set[FALL] & take[s]
        high_g += of_set[RISE] & take[s]
        high_h += of_set[H] & take[s]
    is_lost = is_box_below(floor, low_g, high_g, low_h, high_h, total[q], penalty)
    if is_lost and has_missing:
        g, h = scratch.missing[q, G], scratch.missing[q, H]
        is_lost = is_box_below(
            floor, low_g + g, high_g + g, low_h + h, high_h + h, total[q], penalty
        )
    return not is_lost


@internal
def allowed_range(left, missing, total, asked):
    """Return the first cut of which both sides are large enough, and the one after the last.

    From cut to cut the left side only grows, so those in between are allowed, too.
    """
    of_h, of_n, min_rows = left[H], left[N], asked.min_rows
    min_hessian = asked.min_hessian
    first, last = 0, len(of_h)
    while first < last:
        h, n = of_h[first] + missing[H], of_n[first] + missing[N]
        if h > 0 and np.float64(h) >= min_hessian and n >= min_rows:
            break
        first += 1
    while last > first:
        h, n = total[H] - of_h[last - 1] - missing[H], total[N] - of_n[last - 1] - missing[N]
        if h > 0 and np.float64(h) >= min_hessian and n >= min_rows:
            break
        last -= 1
    return first, last


@forced_inline
def step_within(g, h, penalty, bounds):
    """Return -G / (H + lambda), or the bound that it is beyond."""
    return min(max(-g / (h + penalty), bounds[0]), bounds[1])


@forced_inline
def score_of_step(g, h, penalty, v):
    """Return twice what the loss of some rows falls by where they take the step v."""
    return -(2.0 * g + (h + penalty) * v) * v


@internal
def score_within_bounds(left, missing, total, asked, bounds, n_present, score):
    """Score cuts whose sides take steps within bounds; -inf where these are in the wrong order.

    A cut between all present and all missing rows puts no values in order. See ``score_cuts``.
    """
    penalty, direction = asked.penalty, np.float64(asked.direction)
    for c in range(len(score)):
        g, h = left[G, c] + missing[G], left[H, c] + missing[H]
        left_g, left_h = np.float64(g), np.float64(h)
        right_g, right_h = np.float64(total[G] - g), np.float64(total[H] - h)
        left_step = step_within(left_g, left_h, penalty, bounds)
        right_step = step_within(right_g, right_h, penalty, bounds)
        in_order = direction * left_step <= direction * right_step
        if in_order or left[N, c] == n_present:
            score[c] = score_of_step(left_g, left_h, penalty, left_step) + score_of_step(
                right_g, right_h, penalty, right_step
            )
        else:
            score[c] = -np.inf


@internal
def score_cuts(left, missing, total, asked, bounds, n_present, score):
    """Score some cuts for one sum; -inf where a side is too light or has too few rows.

    left      (3, cuts)   int64     IN    without missing rows
    bounds    (2,)        float64   IN    of steps, if there are any
    n_present             int64     IN    rows of the node that have a value
    score     (cuts,)     float64   OUT
    """
    first, last = allowed_range(left, missing, total, asked)
    score[:first] = -np.inf
    score[last:] = -np.inf
    # What is read inside the loop might, for all the compiler knows, be overwritten there.
    of_g, of_h, to = left[G, first:last], left[H, first:last], score[first:last]
    missing_g, missing_h, total_g, total_h = missing[G], missing[H], total[G], total[H]
    penalty = asked.penalty
    if asked.is_bounded:
        score_within_bounds(left[:, first:last], missing, total, asked, bounds, n_present, to)
        return
    for c in range(len(to)):
        g, h = of_g[c] + missing_g, of_h[c] + missing_h
        to[c] = score_of(
            np.float64(g), np.float64(h), np.float64(total_g - g), np.float64(total_h - h), penalty
        )


@internal
def refuse_few_rows(missing, total, asked, scratch, score):
    """Set the score to -inf where some sum has too few rows on a side."""
    least = asked.min_rows_of_all
    for l in range(len(asked.takes)):
        of_n, more, of_all = scratch.left[l, N], missing[l, N], total[l, N]
        for c in range(len(score)):
            n = of_n[c] + more
            score[c] = score[c] if (n >= least) & (of_all - n >= least) else -np.inf


@internal
def best_of(score, floor):
    """Return the number of the highest score that reaches ``floor``, of equals the last, or -1."""
    n_above = np.int64(0)
    for c in range(len(score)):  # in vector instructions, and most often all there is to do
        n_above += score[c] >= floor
    best = -1
    for c in range(len(score) if n_above > 0 else 0):
        if score[c] >= floor:
            best, floor = c, score[c]
    return best


@internal
def keep_best(n_cuts, q, has_missing, total, asked, bounds, scratch, best, left):
    """Score some cuts for sum q and keep the best, if none before was better.

    Missing rows go where the score is higher; if it is the same, where the present rows have more
    hessian, then left.

    bounds (2,)    float64 IN      of steps, if there are any
    best           CUT     INOUT
    left   (L, 3)  int64   INOUT   what all sums have left of the best cut
    """
    n_present = total[q, N] - scratch.missing[q, N]
    right, of_sum = scratch.score[0, :n_cuts], scratch.left[q, :, :n_cuts]
    score_cuts(of_sum, scratch.nothing[q], total[q], asked, bounds, n_present, right)
    if asked.min_rows_of_all > 0:
        refuse_few_rows(scratch.nothing, total, asked, scratch, right)
    either = other = right
    if has_missing:  # in any set: where they go decides which sums have enough rows
        other, either = scratch.score[1, :n_cuts], scratch.score[2, :n_cuts]
        score_cuts(of_sum, scratch.missing[q], total[q], asked, bounds, n_present, other)
        if asked.min_rows_of_all > 0:
            refuse_few_rows(scratch.missing, total, asked, scratch, other)
        for c in range(n_cuts):
            either[c] = max(right[c], other[c])
    c = best_of(either, max(best.score, LOWEST))
    if c < 0:
        return
    h = of_sum[H, c]
    more_on_the_left = h >= total[q, H] - scratch.missing[q, H] - h
    missing_left = other[c] > right[c] or (other[c] == right[c] and more_on_the_left)
    best.score, best.row, best.missing_left = either[c], scratch.row[c], missing_left
    for l in range(len(left)):
        for line in range(3):
            left[l, line] = scratch.left[l, line, c]
            if missing_left:
                left[l, line] += scratch.missing[l, line]


@uncounted
def scan_column(by_value, n_present, set_of_row, totals, asked, scratch, cuts, left):
    """Find the best cuts of one column for every open node.

    by_value     (m,)           int32     IN    rows in the order of their values, missing ones
                                                last, with ~row where a new value starts
    n_present                   int64     IN    rows of these with a value
    set_of_row   (n,)           uint8     IN    of all rows of the table
    totals       (J, L, 3)      int64     IN    see ``add_up_sets``
    asked                       Asked     IN
    scratch                     Scratch
    cuts         (J, Q)         CUT       OUT
    left         (J, Q, L, 3)   int64     OUT   what all sums have left of the cuts
    """
    sort_by_node(by_value, n_present, asked, scratch)
    for j in range(len(cuts)):
        for q in range(asked.n_searched):
            cuts[j, q].score, cuts[j, q].row, cuts[j, q].missing_left = -np.inf, 0, 0
        start, stop = asked.start[j], scratch.place[j]
        end = start + scratch.n_present[j]  # of the rows with a value
        add_up_missing(scratch.by_node[end:stop], set_of_row, asked, scratch)
        scratch.so_far[:] = 0
        has_boxes = end - start >= asked.least_rows_for_boxes
        at_once = asked.rows_of_box if has_boxes else ROWS_AT_ONCE
        while start < end:
            some = scratch.by_node[start : min(start + at_once, end)]
            start += len(some)
            cut_after = scratch.by_node[start] < 0 if start < end else stop > end
            n_cuts = read_rows(some, cut_after, set_of_row, asked, scratch)
            n_wanted = 0
            for q in range(asked.n_searched if n_cuts > 0 else 0):
                scratch.wanted[n_wanted], floor = q, cuts[j, q].score
                n_wanted += not has_boxes or may_win(
                    q, floor, stop > end, totals[j], asked, scratch
                )
            if n_wanted == 0:
                pass_by(asked, scratch)
                continue
            add_up(len(some), asked, scratch)
            for i in range(n_wanted):
                q = scratch.wanted[i]
                keep_best(
                    n_cuts, q, stop > end, totals[j], asked, asked.bounds[j], scratch, cuts[j, q],
                    left[j, q],
                )  # fmt: skip


@uncounted
def add_up_sets(some, set_of_row, rows, takes, totals):
    """Add up g, h and rows of every open node, sum by sum.

    some         (m,)        int32   IN      the open rows
    set_of_row   (n,)        uint8   IN
    rows         (n,)        ROW     IN
    takes        (L, S)      int64   IN      see ``Asked``
    totals       (J, L, 3)   int64   INOUT   0 on entry
    """
    for number in some:
        row = rows[number]
        for l in range(len(takes)):
            mask = takes[l, set_of_row[number]]
            totals[row.node, l, G] += row.g & mask
            totals[row.node, l, H] += row.h & mask
            totals[row.node, l, N] -= mask
