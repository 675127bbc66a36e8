r"""Value sums: sums over the rows of each distinct value of a column, node by node.

Levels of a categorical column have no order of their own, so their sums come before their cuts; and
of numbers that take few distinct values, the sums of these are all that their cuts need. Either the
rows are walked as they are listed, and each is added to the sums of its value's code::

    rows of node 0     a   b   c   d   f
    codes              0   -   0   2   2        sums of code    0: a + c    2: d + f    missing: b

or, where most of the codes would have no row in most of the nodes, rows are sorted by node and
value first (``gbt.kernels.cuts.scan``), and the rows of a value lie together::

    rows by value      a   c   d   f   b
    new value          *       *

Either way the values that occur in the node are numbered in their order, missing is the last.

Cost: a nanosecond or two a row for the first way, five for the second, and some for every value.
"""

from typing import NamedTuple

import numpy as np

from gbt.kernels.cuts.scan import G, H, N
from gbt.kernels.platform.compiling import internal
from gbt.kernels.platform.instructions import max

W = 3  # the line of weights, by which levels of few rows are told


class ValuesOfColumn(NamedTuple):
    """A column as its values are added up; m open rows."""

    by_value: np.ndarray  # (m' >= m,) int32, rows by value as for ``scan_column``; or none
    n_present: int  # rows of these with a value
    rows: np.ndarray  # (m,) int32, open rows, those of a node beside each other
    codes: np.ndarray  # (n,) int32, by row of the table
    n_values: int  # the code of missing rows


class ValueSums(NamedTuple):
    """Sums of a node's values, in a thread's own memory; S sets, L sums."""

    of_codes: np.ndarray  # (codes and missing, S, 4) int64, or of one value alone
    row_of_code: np.ndarray  # (codes and missing,) int32
    sums: np.ndarray  # (values, missing and one more, L, 4) int64, by number of a value
    row: np.ndarray  # (values and missing,) int32, one of a value's rows
    key: np.ndarray  # (values, missing and one more,) float64, what they are ordered by


@internal
def add_up_sums(of_sets, asked, sums):
    """Turn what rows add up to set by set into what they add up to sum by sum.

    of_sets   (S, 4)   int64   IN
    sums      (L, 4)   int64   OUT
    """
    for l in range(len(asked.takes)):
        g = h = n = w = np.int64(0)
        for s in range(len(of_sets)):
            mask = asked.takes[l, s]
            g += of_sets[s, G] & mask
            h += of_sets[s, H] & mask
            n += of_sets[s, N] & mask
            w += of_sets[s, W] & mask
        sums[l, G], sums[l, H], sums[l, N], sums[l, W] = g, h, n, w


@internal
def add_up_codes(rows, column, set_of_row, asked, values):
    """Add up the values of a node, code by code; return how many occur.

    rows   (m,)   int32   IN   of the node
    """
    of_codes = values.of_codes[: column.n_values + 1]
    of_codes[:] = 0
    for number in rows:
        i = np.uint64(number)
        row, code = asked.rows[i], np.uint64(column.codes[i])
        own = of_codes[code, np.uint64(set_of_row[i])]
        own[G] += row.g
        own[H] += row.h
        own[N] += 1
        own[W] += row.weight
        values.row_of_code[code] = number
    n_values = 0
    for code in range(len(of_codes)):
        n_rows = np.int64(0)
        for s in range(of_codes.shape[1]):
            n_rows += of_codes[code, s, N]
        if n_rows > 0:
            add_up_sums(of_codes[code], asked, values.sums[n_values])
            values.row[n_values] = values.row_of_code[code]
            n_values += 1
    return n_values


@internal
def add_up_sorted(rows, n_present, set_of_row, asked, values):
    """Add up the values of a node, whose rows are sorted; return how many there are.

    rows   (m,)   int32   IN   by value, ~row where a new one starts, from n_present on missing
    """
    n_values, of_sets = 0, values.of_codes[0]
    of_sets[:] = 0
    for i in range(len(rows)):
        number = np.int64(rows[i])
        number = max(number, ~number)
        row, own = asked.rows[np.uint64(number)], of_sets[set_of_row[np.uint64(number)]]
        own[G] += row.g
        own[H] += row.h
        own[N] += 1
        own[W] += row.weight
        if i + 1 < len(rows) and i + 1 != n_present and rows[i + 1] >= 0:
            continue  # the next row has the same value
        add_up_sums(of_sets, asked, values.sums[n_values])
        values.row[n_values] = number
        of_sets[:] = 0
        n_values += 1
    return n_values


@internal
def add_up_values(j, column, set_of_row, asked, scratch, values):
    """Add up the values of node j; return how many there are, and whether the last is missing.

    If the column has rows by value, they are sorted by node before.
    """
    start = asked.start[j]
    stop = asked.start[j + 1] if j + 1 < len(asked.start) else len(column.rows)
    if len(column.by_value) > 0:
        some, n_present = scratch.by_node[start:stop], scratch.n_present[j]
        n_values = add_up_sorted(some, n_present, set_of_row, asked, values)
        return n_values, n_present < len(some)
    n_values = add_up_codes(column.rows[start:stop], column, set_of_row, asked, values)
    last = values.row[max(n_values, 1) - 1]
    return n_values, column.codes[last] == column.n_values
