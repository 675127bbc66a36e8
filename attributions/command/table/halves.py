"""Which rows are trained on and which are held out: at random, by groups, or the later ones.

At random, each half gets the same share of every class, so that a file sorted by its target does no
harm. Groups stay whole. In the order of time all rows of one moment, such as a day, are on one
side.
"""

import numpy as np


def random_halves(
    y: np.ndarray, is_classification: bool, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Split rows at random into two halves, each class for itself; return ascending indices."""
    order = np.random.default_rng(seed).permutation(len(y))
    if is_classification:
        order = order[np.argsort(y[order], kind="stable")]
    return np.sort(order[::2]), np.sort(order[1::2])


def halves_of_groups(
    groups: np.ndarray, y: np.ndarray, is_classification: bool, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Split whole groups at random, the larger ones first to the half that has fewer rows."""
    places = np.unique(groups, return_inverse=True)[1].reshape(-1)
    sizes = np.bincount(places)
    order = np.random.default_rng(seed).permutation(len(sizes))
    if is_classification:  # neighbours have alike targets, and go to different halves
        means = np.bincount(places, weights=y) / sizes
        order = order[np.argsort(means[order], kind="stable")]
    half_of, n_rows = np.zeros(len(sizes), dtype=np.int64), [0, 0]
    for first in range(0, len(order), 2):
        pair = order[first : first + 2]
        pair = pair[np.argsort(-sizes[pair], kind="stable")]
        smaller = int(n_rows[1] < n_rows[0])
        for group, half in zip(pair, (smaller, 1 - smaller), strict=False):
            half_of[group] = half
            n_rows[half] += sizes[group]
    is_held_out = half_of[places] == 1
    return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


def halves_in_time(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the earlier and the later half; all rows of one moment are on one side.

    The cut is before or after the moment of the middle row, wherever halves are more equal.
    """
    moments, counts = np.unique(times, return_counts=True)
    ends = np.cumsum(counts)[:-1]
    if not len(ends):
        return np.arange(len(times)), np.empty(0, dtype=np.int64)
    first_later = moments[1 + np.argmin(np.abs(ends - len(times) / 2))]
    return np.flatnonzero(times < first_later), np.flatnonzero(times >= first_later)
