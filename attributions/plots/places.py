"""Places for names: apart from one another, and beside what they name."""

from typing import Any, NamedTuple

import numpy as np

# Where a name may stand beside its point, best first: the corners are clear of intervals.
SIDES = np.array([(1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)])
DISTANCES = (0, 1, 2, 3, 4.5, 6, 8, 11)  # from the point, in line heights


class Box(NamedTuple):
    """A rectangle in pixels: its lower left and its upper right corner."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def of(cls, extent: Any) -> "Box":
        """Return the box of an artist's extent, as Matplotlib measures it."""
        return cls(extent.min, extent.max)

    def meets(self, other: "Box") -> bool:
        """Say whether the two overlap."""
        return bool((self.low < other.high).all() and (other.low < self.high).all())

    def holds(self, other: "Box") -> bool:
        """Say whether the other lies within."""
        return bool((self.low <= other.low).all() and (other.high <= self.high).all())

    def n_hidden(self, points: np.ndarray, margin: float) -> int:
        """Return how many points it hides."""
        inside = (points > self.low - margin) & (points < self.high + margin)
        return int(inside.all(axis=1).sum())


def place_beside(
    point: Any, size: Any, points: Any, gap: float, taken: Any, frame: Any
) -> tuple[Box, bool] | None:
    """Return a free place for a name of some size near its point, and whether it is far off.

    A place is free if it lies in the frame and meets no other name; None if there is none. Returned
    is the nearest that hides no point, or else the one that hides the fewest.

    Parameters
    ----------
    point, size : float64 arrays of shape (2,)
        In pixels, like all that follows.
    points : float64 array of shape (n, 2)
        What should not be hidden.
    gap : float
        Between the point and its name.
    taken : list of Box
        Other names.
    frame : Box
    """
    fewest, best = np.inf, None
    for distance in DISTANCES:
        for side in SIDES:
            away = gap / np.abs(side).sum() + distance * size[1]
            low = point + side * (size / 2 + away) - size / 2
            box = Box(low, low + size)
            if not frame.holds(box) or any(box.meets(other) for other in taken):
                continue
            n_hidden = box.n_hidden(points, gap / 2)
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
