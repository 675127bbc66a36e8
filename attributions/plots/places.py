"""Places for names: apart from one another, and beside what they name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.transforms import Bbox, BboxBase

# Where a name may stand beside its point, best first: the corners are clear of intervals.
SIDES = np.array([(1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)])
DISTANCES = (0, 1, 2, 3)  # from the point, in line heights


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

    With the gaps before it subtracted, no name may be lower than the name before: what is nearest
    to the names' own places is their isotonic regression. At last, all are moved between ``low``
    and ``high``, which does not bring neighbours closer.
    """
    from sklearn.isotonic import isotonic_regression

    if not len(places):
        return places
    order, steps = np.argsort(places, kind="stable"), gap * np.arange(len(places))
    level = isotonic_regression(places[order] - steps)
    moved = np.empty(len(places))
    moved[order] = np.clip(level, low, max(high - steps[-1], low)) + steps
    return moved
