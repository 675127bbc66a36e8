"""Harrell's concordance: how often the row with the earlier event has the higher risk.

A pair can be compared if the row with the smaller time had the event there; of two equal times, if
one is an event's and the other a censored row's, which lives on. The index is the share of these
pairs in which the row with the earlier event has the higher risk; equal risks count half. 0.5 is
chance, 1 is a perfect order. A pair weighs the product of its rows' weights.
"""

import numpy as np


def concordance(y: np.ndarray, risk: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Return Harrell's concordance of risks with times and events, (n, 2).

    O(n log^2 n): rows come in the order of time, latest first. Bits of the risks' ranks, from the
    highest to the lowest, cut them into halves, halves of halves and so on; two rows of unequal
    risk are told apart at just one bit, where they are in one part and the higher has a 1::

        ranks       2 0 3 1
        bit 1       1 0 1 0     2 and 3 lie above 0 and 1
        bit 0       0 0 1 1     within {0, 1}: 1 above 0; within {2, 3}: 3 above 2
    """
    time, event = y.T
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    # Later rows first; of equal times the censored one is later.
    _, when = np.unique(np.column_stack([-time, event]), axis=0, return_inverse=True)
    order = np.argsort(when, kind="stable")
    when, event, weight = when[order], event[order], weight[order]
    distinct, rank = np.unique(np.asarray(risk)[order], return_inverse=True)
    _, first = np.unique(when, return_index=True)
    later = np.append(0.0, np.cumsum(weight))[first[when]]
    n_pairs = float(np.sum(event * weight * later))
    if n_pairs == 0:
        raise ValueError(
            "No two rows can be compared, because no event comes before the time of another row;"
            " the concordance is not defined."
        )
    above = below = 0.0  # of pairs: the earlier event has the higher risk, or the lower
    for bit in range(max(int(len(distinct) - 1).bit_length(), 1)):
        is_high = rank >> bit & 1 == 1
        part = rank >> (bit + 1)
        by_part = np.argsort(part, kind="stable")  # within a part, rows stay in order of time
        cell = part[by_part] * (len(first) + 1) + when[by_part]
        _, start, which = np.unique(cell, return_index=True, return_inverse=True)
        of_part = np.searchsorted(part[by_part], part[by_part])
        w, e, high = weight[by_part], event[by_part], is_high[by_part]
        for is_earlier_high in (True, False):
            before = np.append(0.0, np.cumsum(w * (high != is_earlier_high)))
            pairs = np.sum(
                (w * e * (before[start[which]] - before[of_part]))[high == is_earlier_high]
            )
            above, below = (above + pairs, below) if is_earlier_high else (above, below + pairs)
    return float((above + 0.5 * (n_pairs - above - below)) / n_pairs)
