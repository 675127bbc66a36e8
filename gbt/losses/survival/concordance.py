"""Concordance: how often the row with the earlier event has the higher risk.

Of a time an interval is known (``gbt.losses.survival.times``). A pair can be compared if one event
had come before the other can: the upper bound of the one is below the lower bound of the
other, or the same where the other came later than that. So of two equal times an event's is before
a censored row's, which lives on. The index is the share of these pairs in which the row with the
earlier event has the higher risk; equal risks count half. 0.5 is chance, 1 is a perfect order. A
pair weighs the product of its rows' weights.

This is Harrell's index. Early events take part in many of its pairs and late ones in few, because
by then most rows may be censored; another study of the same patients with longer follow-up has
another index. Uno's weighs a pair by 1/G^2 (Uno et al. 2011), where G is the probability not to be
censored before the earlier event, which makes up for pairs that are lost. It takes it that
censoring has nothing to do with what the model knows of a row.
"""

from typing import Any

import numpy as np

from gbt.losses.survival.times import as_times, bounds_of, check_times


def concordance(
    bounds: np.ndarray,
    risk: np.ndarray,
    weight: np.ndarray | None = None,
    of_earlier: np.ndarray | float = 1.0,
) -> float:
    """Return the concordance of risks with bounds of times, (n, 2).

    ``of_earlier`` multiplies the weight of pairs in which the row has the earlier event.

    O(n log^2 n): rows come in the order of their lower bounds, latest first, so that those later
    than a row are the first ones. Bits of the risks' ranks, from the highest to the lowest, cut
    them into halves, halves of halves and so on; two rows of unequal risk are told apart at just
    one bit, where they are in one part and the higher has a 1::

        ranks       2 0 3 1
        bit 1       1 0 1 0     2 and 3 lie above 0 and 1
        bit 0       0 0 1 1     within {0, 1}: 1 above 0; within {2, 3}: 3 above 2
    """
    n = len(bounds)
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    is_open = bounds[:, 0] < bounds[:, 1]  # the event comes after the lower bound, not at it
    moments = np.stack([bounds.T, [is_open, np.zeros(n)]], axis=-1).reshape(2 * n, 2)
    _, place = np.unique(-moments, axis=0, return_inverse=True)
    start, end = place.reshape(2, n)  # row j is later than row i if start[j] < end[i]
    order = np.argsort(start, kind="stable")
    start, end, weight = start[order], end[order], weight[order]
    own = weight * np.broadcast_to(of_earlier, n)[order]
    distinct, rank = np.unique(np.asarray(risk)[order], return_inverse=True)
    n_pairs = float(np.sum(own * np.append(0.0, np.cumsum(weight))[np.searchsorted(start, end)]))
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
        cell = part[by_part] * 2 * n + start[by_part]
        n_later = np.searchsorted(cell, part * 2 * n + end)  # and those of parts before
        n_before = np.searchsorted(part[by_part], part)
        for is_earlier_high in (True, False):
            is_other = is_high[by_part] != is_earlier_high
            others = np.append(0.0, np.cumsum(weight[by_part] * is_other))
            pairs = own * (others[n_later] - others[n_before])
            pairs = float(np.sum(pairs[is_high == is_earlier_high]))
            above, below = (above + pairs, below) if is_earlier_high else (above, below + pairs)
    return (above + 0.5 * (n_pairs - above - below)) / n_pairs


def uno_concordance(
    y: Any,
    risk: np.ndarray,
    weight: np.ndarray | None = None,
    *,
    until: float = np.inf,
    y_train: Any = None,
) -> float:
    """Return Uno's concordance of risks with times and events, of events before ``until``.

    Parameters
    ----------
    y : times and events
        In any form that ``loss="cox"`` takes.
    risk : array of shape (n,)
        Larger for earlier events: what ``predict`` returns under ``loss="cox"``, and its negative
        under ``loss="aft"``.
    weight : array of shape (n,), optional
    until : float
        Only pairs of which the earlier event comes before it. Late events weigh much where few rows
        are still observed, so it should be a time that many rows have lived to see.
    y_train : times and events, optional
        Rows that tell when rows are censored; else those of ``y``.
    """
    times = as_times(y)
    check_times(times)
    known, of_known = (times, weight) if y_train is None else (as_times(y_train), None)
    censored_later = uncensored(known, of_known, times[:, 0])
    is_before = times[:, 0] < until
    if (censored_later[is_before & (times[:, 1] == 1)] == 0).any():
        raise ValueError(
            "All rows are censored before the last event, so that its pairs have no weight; give a"
            " smaller until, a time that many rows have lived to see."
        )
    with np.errstate(divide="ignore"):
        of_earlier = np.where(is_before & (censored_later > 0), censored_later**-2.0, 0.0)
    return concordance(bounds_of(times), risk, weight, of_earlier)


def uncensored(times: np.ndarray, weight: np.ndarray | None, at: np.ndarray) -> np.ndarray:
    """Return the probability of still being observed just before some times, by Kaplan and Meier.

    Of those observed up to t a share is censored at t; the events of t come before. So the
    probability is the product of 1 - (censored at t) / (at risk at t, without its events).
    """
    time, event = times.T
    weight = np.ones(len(time)) if weight is None else np.asarray(weight, dtype=np.float64)
    moments, which = np.unique(time, return_inverse=True)
    gone, had_event = (np.bincount(which, weight * part) for part in (np.ones(len(time)), event))
    at_risk = np.cumsum(gone[::-1])[::-1] - had_event
    stays = 1 - np.divide(gone - had_event, at_risk, out=np.zeros(len(gone)), where=at_risk > 0)
    return np.append(1.0, np.cumprod(stays))[np.searchsorted(moments, at)]
