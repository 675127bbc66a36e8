"""Places for names: apart from one another, and beside what they name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.transforms import Bbox, BboxBase

# Where a name may stand beside its point, best first: the corners are clear of intervals.
SIDES = np.array([(1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)])
DISTANCES = (0, 1, 2, 3, 4.5, 6, 8, 11)  # from the point, in line heights


def place_beside(
    point: Any, size: Any, points: Any, gap: float, taken: "Sequence[Bbox]", frame: "BboxBase"
) -> "tuple[Bbox, bool] | None":
    """Return a free place for a name of some size near its point, and whether it is far off.

    A place is free if it lies in the frame and meets none of those ``taken`` by other names; None
    if there is none. Returned is the nearest that hides none of the ``points``, (n, 2), or else the
    one that hides the fewest. All is in pixels; ``gap`` is kept between the point and its name.
    """
    from matplotlib.transforms import Bbox

    fewest, best = np.inf, None
    for distance in DISTANCES:
        for side in SIDES:
            away = gap / np.abs(side).sum() + distance * size[1]
            low = point + side * (size / 2 + away) - size / 2
            box = Bbox([low, low + size])
            is_within = frame.contains(*box.min) and frame.contains(*box.max)
            if not is_within or box.count_overlaps(taken):
                continue
            n_hidden = box.padded(gap / 2).count_contains(points)
            if n_hidden < fewest:
                fewest, best = n_hidden, (box, distance > 0)
        if fewest == 0:
            break
    return best


def spread(places: np.ndarray, gap: float, low: float, high: float) -> np.ndarray:
    """Move names apart, as little as needed, until neighbours are ``gap`` apart.

    Neighbours that are too close become a group, centred on the mean of its members' own places; a
    group that then touches the next one is merged with it. At last, all are moved between ``low``
    and ``high``, which does not bring neighbours closer.
    """
    order = np.argsort(places, kind="stable")
    groups: list[list[int]] = []
    for j in order:
        groups.append([j])
        while len(groups) > 1 and _end(places, groups[-2], gap, +1) + gap > _end(
            places, groups[-1], gap, -1
        ):
            groups[-2:] = [groups[-2] + groups[-1]]
    starts = np.repeat([_end(places, group, gap, -1) for group in groups], [*map(len, groups)])
    firsts = np.repeat(np.cumsum([0, *map(len, groups)])[:-1], [*map(len, groups)])
    steps = gap * np.arange(len(order))
    # With the gaps before it subtracted, no name is lower than the name before. So if the first and
    # the last are within the bounds, all are.
    level = np.clip(starts - gap * firsts, low, max(high - gap * (len(order) - 1), low))
    moved = np.empty(len(places))
    moved[order] = level + steps
    return moved


def _end(places: Any, group: Any, gap: float, side: int) -> float:
    """Return the highest (+1) or lowest (-1) place of a group of names."""
    return np.mean(places[group]) + side * gap * (len(group) - 1) / 2
