"""How much the model uses each feature, and how far that helps, as points."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from attributions.methods import facts_of
from attributions.plots.captions import (
    are_doubtful,
    bounded,
    ends_of,
    notes,
    unit_of,
    verdict_colors,
)
from attributions.plots.sheet import Display, Paper, Sheet, as_max_display

if TYPE_CHECKING:
    from matplotlib.transforms import Bbox, BboxBase

SEEN = "What the model uses, and what of it helps"
NAMES_WIDTH = 0.3  # of the axes
# Where a name may stand beside its point, best first: the corners are clear of intervals.
SIDES = np.array([(1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)])
DISTANCES = (0, 1, 2, 3)  # from the point, in line heights


class UsedUsefulDisplay(Display):
    """How much the model uses each feature (to the right), and how far that helps (upwards).

    A feature far to the right and above 0 is used and useful. One far to the right and below 0 is
    used, and makes predictions of new rows worse. The lines are 95 % intervals of how far it helps.

    Parameters
    ----------
    used : GlobalAttribution
        As ``attributions.absolute`` or ``total_gain`` gives it.
    useful : GlobalAttribution
        As ``attributions.held_out_gain`` or ``tree_inner`` gives it, on held-out rows.
    intervals : float64 array of shape (p, 2), optional
        Of ``useful``, drawn in place of the 95 % intervals of single features.
    max_display : int or None
        How many features are named, at most: those that stand out from the bulk. None for all.

    Attributes
    ----------
    points_ : matplotlib PathCollection
        One a feature, in the order of the columns.
    """

    def __init__(
        self,
        used: Any,
        useful: Any,
        *,
        intervals: np.ndarray | None = None,
        max_display: int | None = 12,
    ):
        if used.feature_names != useful.feature_names:
            raise ValueError(
                "used and useful must be attributions of the same features, in the same order;"
                f" they begin with {used.feature_names[:3]} and {useful.feature_names[:3]}."
            )
        self.used, self.useful = used, useful
        self.ends = ends_of(useful) if intervals is None else intervals
        self.max_display = as_max_display(max_display, len(used.values))

    def _draw(self, paper: Paper) -> Sheet:
        (to_right, label), (upwards, _) = unit_of(self.used), unit_of(self.useful)
        x, y = to_right * self.used.values, upwards * self.useful.values
        named, names = self._named(x, y), self.used.feature_names
        sheet = Sheet(paper, SEEN, [names[k] for k in named], (7.6, 5.2))
        ax, errors = sheet.ax, self.useful.standard_error
        doubtful = are_doubtful(self.useful)
        verdicts = verdict_colors(self.useful.values, self.ends)
        sheet.x = f"{label.partition(',')[0]} (used){sheet.uncrowd('x', x)}"
        sheet.x += notes(verdicts, doubtful)
        percent = self.useful.percent_of_one is not None
        what = facts_of(self.useful.method).title
        sheet.y = f"{what}{', %' * percent} (useful){sheet.uncrowd('y', y)}"
        colors = [sheet.drawn_in(color) for color in verdicts]
        if self.ends is not None:
            ends = upwards * bounded(self.useful.values, self.ends).T
            ax.vlines(x, ends[0], ends[1], colors=colors, linewidth=1.0, alpha=0.7, zorder=2)
            is_open = self.ends[:, 1] == np.inf
            ax.plot(x[is_open], ends[1][is_open], "^", color=sheet.ink, ms=3)
        self.points_ = ax.scatter(
            x,
            y,
            s=32,
            c=[sheet.background if d else c for c, d in zip(colors, doubtful, strict=True)],
            edgecolors=colors,
            linewidths=1.3,
            clip_on=False,  # points of unused features lie on the axis, and are drawn whole
            zorder=4,
        )
        sheet.zero_line("y")
        ax.margins(x=0.1, y=0.05)
        ax.autoscale_view()
        ax.set_xlim(left=0)
        if not np.any(y) and not np.any(errors):
            ax.set_ylim(-1, 1)
        sheet.say_if_nothing(x, y, errors)
        sheet.finish(grid="both").lay_out()
        self._name_points(sheet, named, np.column_stack([x, y]))
        return sheet

    def _named(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the features to name: those that stand out from the bulk, the farthest first."""
        outstanding = np.abs(x) / _bulk(x) + np.abs(y) / _bulk(y)
        order = np.argsort(-outstanding, kind="stable")
        return order[(x[order] != 0) | (y[order] != 0)][: self.max_display]

    def _name_points(self, sheet: Sheet, named: np.ndarray, points: np.ndarray) -> None:
        """Write names beside their points, each where it hides least."""
        ax = sheet.ax
        fontsize = 0.9 * float(ax.xaxis.label.get_fontsize())
        taken: list[Bbox] = []
        frame = ax.get_window_extent()
        pixels = ax.transData.transform(points)
        room = NAMES_WIDTH * frame.width
        texts = sheet.lettering.names(self.used.feature_names, named, room, fontsize)
        gap = 0.6 * fontsize * sheet.figure.dpi / 72
        line = {"arrowstyle": "-", "color": sheet.ink, "linewidth": 0.6}
        for k, text in zip(named, texts, strict=True):
            size = sheet.lettering.size(text, fontsize)
            found = place_beside(pixels[k], size, pixels, gap, taken, frame)
            if found is None:
                continue
            box, is_far = found
            taken.append(box)
            away = (np.add(box.min, box.max) / 2 - pixels[k]) * 72 / sheet.figure.dpi
            ax.annotate(
                text, points[k], xytext=away, textcoords="offset points", fontsize=fontsize,
                ha="center", va="center", zorder=5, path_effects=sheet.halo(),
                arrowprops=line if is_far else None, **sheet.write,
            )  # fmt: skip


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


def _bulk(values: np.ndarray) -> float:
    """Return the width of the middle half of the values, 1 where it has none."""
    low, high = np.quantile(values, [0.25, 0.75])
    return high - low if high > low else 1.0
