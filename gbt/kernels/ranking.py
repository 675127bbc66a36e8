"""Ranking: codes, order and bins of one column from the rows in the order of their values.

::

    row              0     1     2     3     4
    column          0.3   7.0   nan   0.3  -1.5
    rows by value    4     0     3     1     2       missing last
    order           ~4    ~0     3    ~1    ~2       ~row where a new value starts
    codes            1     2     3     1     0
"""

from gbt.kernels.compiling import uncounted
from gbt.kernels.instructions import AHEAD, prefetch


@uncounted
def rank_rows(column, by_value, codes, order):
    """Give every row the rank of its value; missing ones share the rank after the last.

    column     (n,)   float64 or float32   IN
    by_value   (n,)   int32                IN    rows, ascending by value, missing last
    codes      (n,)   int32                OUT
    order      (n,)   int32                OUT   ``by_value``, with ~row where a new value starts
    """
    code, end = -1, len(by_value) - 1
    previous = column[by_value[0]]
    for position in range(len(by_value)):
        ahead = by_value[min(position + AHEAD, end)]
        prefetch(column, ahead)
        prefetch(codes, ahead)
        row = by_value[position]
        value = column[row]
        is_missing_too = value != value and previous != previous
        starts = position == 0 or not (value == previous or is_missing_too)
        code += starts
        codes[row] = code
        order[position] = ~row if starts else row
        previous = value


@uncounted
def bin_rows(order, bin_start, missing_bin, bins):
    """Write the bin of every row.

    order       (n,)          int32   IN    see ``rank_rows``
    bin_start   (bins + 2,)   int64   IN    bin b owns the positions bin_start[b]:bin_start[b + 1]
    missing_bin               int64   IN    number of the last bin, that of missing rows
    bins        (n,)          uint8   OUT   one lane of the packed bins
    """
    n_bins = len(bin_start) - 2
    for b in range(n_bins + 1):
        for position in range(bin_start[b], bin_start[b + 1]):
            row = order[position]
            bins[max(row, ~row)] = b if b < n_bins else missing_bin
