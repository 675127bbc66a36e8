"""Pictures of attributions: display objects in scikit-learn's manner.

A display keeps the data that it draws. ``from_attribution`` makes one and draws it; ``plot`` draws
it again, elsewhere if need be, and leaves ``ax_`` and ``figure_``.

===========================  =======================================================================
``ImportanceDisplay``        Features by importance: bars with 95 % intervals
``BoostingDisplay``          Importance along boosting: one curve a feature
``UsedUsefulDisplay``        What the model uses against what that is good for, one point a feature
``LocalAttributionDisplay``  One row as signed bars, or all rows as a swarm
===========================  =======================================================================

Blue helps or raises, vermilion hurts or lowers; the two are told apart by colour-blind readers too
(Okabe and Ito 2008). Matplotlib is imported when something is drawn.
"""

import numpy as np

from attributions.results import GlobalAttribution, LocalAttribution

BLUE, VERMILION, GREY, INK = "#0072B2", "#D55E00", "#9A9A9A", "#333333"
CURVE_COLORS = (BLUE, VERMILION, "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
TWO_SIDED_95 = 1.959963984540054

METHOD_TITLES = {
    "tree_inner": "TreeInner",
    "partial_inner": "Partial TreeInner",
    "forest_inner": "ForestInner",
    "absolute": "Absolute attribution",
    "permutation": "Permutation importance",
    "total_gain": "Total gain",
    "unbiased_gain": "Unbiased gain",
}
METHOD_UNITS = {
    "tree_inner": "loss saved per unit of learning rate",
    "partial_inner": "loss saved per unit of learning rate, own work added back",
    "forest_inner": "inner product per unit of learning rate",
    "absolute": "absolute contribution to the raw prediction",
    "permutation": "drop of the score",
    "total_gain": "gain promised on the training rows",
    "unbiased_gain": "gain",
}
IFA_TITLES = {"predecomp": "PreDecomp", "saabas": "Saabas", "tree_shap": "TreeSHAP"}

# Where a name may stand beside its point, best first.
_SIDES = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)])


class ImportanceDisplay:
    """Bars of the most important features, with 95 % intervals where there are standard errors.

    The single shuffles of permutation importance are dots.

    Parameters
    ----------
    attribution : GlobalAttribution
    n_features : int or None
        How many to show, best first; None for all.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    bars_ : matplotlib BarContainer
        From top to bottom.
    """

    def __init__(self, attribution: GlobalAttribution, *, n_features: int | None = 20):
        self.attribution = attribution
        self.n_features = n_features

    @classmethod
    def from_attribution(cls, attribution, *, n_features: int | None = 20, ax=None):
        """Make the display and draw it."""
        return cls(attribution, n_features=n_features).plot(ax)

    def plot(self, ax=None):
        """Draw on ``ax``, or on a new figure; return the display."""
        result = self.attribution
        shown = result.ranking()[: self.n_features]
        ax = _axes(ax, size=(6.4, 1.1 + 0.26 * len(shown)))
        values = result.values[shown]
        self.bars_ = ax.barh(
            np.arange(len(shown)),
            values,
            height=0.7,
            color=[VERMILION if value < 0 else BLUE for value in values],
            xerr=None
            if result.standard_error is None
            else TWO_SIDED_95 * result.standard_error[shown],
            error_kw={"ecolor": INK, "elinewidth": 1.0},
        )
        ax.set_yticks(np.arange(len(shown)), [result.feature_names[k] for k in shown])
        ax.set_ylim(len(shown) - 0.4, -0.6)
        ax.set_xlabel(_value_label(result))
        title = _title(result.method)
        if len(shown) < len(result.values):
            title += f": best {len(shown)} of {len(result.values)} features"
        ax.set_title(title, loc="left")
        if result.repeats is not None:
            shuffles = result.repeats[shown]
            ax.plot(shuffles, np.arange(len(shown)), "o", color=INK, markersize=2.5, alpha=0.6)
            ax.set_xlabel(f"{_value_label(result)} (dots: single shuffles)")
        if ax.get_xlim()[0] < 0:
            ax.axvline(0, color=INK, linewidth=0.8)
        _quiet(ax, grid="x", left=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class BoostingDisplay:
    """How the importance of features adds up tree by tree.

    A curve that rises on held-out rows is a feature that is still learning something true; one that
    turns down has begun to fit noise.

    Parameters
    ----------
    attribution : GlobalAttribution
        Computed with ``per_tree=True``.
    n_features : int
        How many curves are coloured and named, those that end farthest from 0; the others are grey.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib Line2D
        One a feature, in the order of the columns.
    """

    def __init__(self, attribution: GlobalAttribution, *, n_features: int = 6):
        if attribution.per_tree is None:
            raise ValueError(
                f"{attribution.method} has no per_tree; compute it with per_tree=True to see"
                " importance along boosting."
            )
        self.attribution = attribution
        self.n_features = n_features

    @classmethod
    def from_attribution(cls, attribution, *, n_features: int = 6, ax=None):
        """Make the display and draw it."""
        return cls(attribution, n_features=n_features).plot(ax)

    def plot(self, ax=None):
        """Draw on ``ax``, or on a new figure; return the display."""
        result = self.attribution
        n_trees, n_features = result.per_tree.shape
        curves = np.concatenate([np.zeros((1, n_features)), np.cumsum(result.per_tree, axis=0)])
        named = np.argsort(-np.abs(curves[-1]), kind="stable")[: self.n_features]
        color = dict(zip(named, _cycle(CURVE_COLORS, len(named)), strict=True))
        ax = _axes(ax, size=(7.2, 4.4))
        self.lines_ = [
            ax.plot(
                np.arange(n_trees + 1),
                curves[:, k],
                color=color.get(k, GREY),
                linewidth=1.8 if k in color else 0.7,
                alpha=1.0 if k in color else 0.5,
                zorder=3 if k in color else 2,
            )[0]
            for k in range(n_features)
        ]
        ax.axhline(0, color=INK, linewidth=0.8)
        ax.set_xlim(0, max(n_trees, 1))
        ax.set_xlabel("trees")
        ax.set_ylabel(_value_label(result, intervals=False))
        ax.set_title(f"{_title(result.method)} along boosting", loc="left")
        _quiet(ax, grid="y")
        low, high = ax.get_ylim()
        places = _spread(curves[-1, named], gap=0.055 * (high - low))
        for k, place in zip(named, places, strict=True):
            ax.annotate(
                result.feature_names[k],
                (n_trees, curves[-1, k]),
                xytext=(1.02, place),
                textcoords=ax.get_yaxis_transform(),
                color=color[k],
                verticalalignment="center",
                annotation_clip=False,
            )
        self.ax_, self.figure_ = ax, ax.figure
        return self


class UsedUsefulDisplay:
    """What the model uses (to the right) against what that is good for (upwards).

    Far right and above 0 is a feature that earns its keep. Far right and below 0 is one that the
    model leans on and that makes predictions of new rows worse.

    Parameters
    ----------
    used : GlobalAttribution
        As ``attributions.absolute`` gives it.
    useful : GlobalAttribution
        As ``attributions.tree_inner`` gives it, on held-out rows.
    highlight : sequence of int
        Features to draw in blue.
    highlight_label : str
        What they are.
    n_labels : int
        How many other features are named, at most: those that stand out from the bulk.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    points_ : matplotlib PathCollection
        One a feature, in the order of the columns.
    """

    def __init__(
        self,
        used: GlobalAttribution,
        useful: GlobalAttribution,
        *,
        highlight=(),
        highlight_label: str = "highlighted",
        n_labels: int = 8,
    ):
        if used.feature_names != useful.feature_names:
            raise ValueError(
                "used and useful must be attributions of the same features, in the same order;"
                f" they begin with {used.feature_names[:3]} and {useful.feature_names[:3]}."
            )
        self.used = used
        self.useful = useful
        self.highlight = tuple(int(k) for k in highlight)
        self.highlight_label = highlight_label
        self.n_labels = n_labels

    @classmethod
    def from_attributions(cls, used, useful, *, ax=None, **options):
        """Make the display, with the options of the class, and draw it."""
        return cls(used, useful, **options).plot(ax)

    def plot(self, ax=None):
        """Draw on ``ax``, or on a new figure; return the display."""
        x, y = self.used.values, self.useful.values
        ax = _axes(ax, size=(7.6, 5.2))
        marked = np.isin(np.arange(len(x)), self.highlight)
        for part, color, faint, zorder in ((~marked, GREY, 0.4, 2), (marked, BLUE, 0.8, 3)):
            ax.errorbar(
                x[part],
                y[part],
                xerr=_interval(self.used, part),
                yerr=_interval(self.useful, part),
                fmt="none",
                ecolor=color,
                elinewidth=1.0,
                alpha=faint,
                zorder=zorder,
            )
        self.points_ = ax.scatter(
            x,
            y,
            s=30,
            c=np.where(marked, BLUE, GREY),
            edgecolors="white",
            linewidths=0.6,
            zorder=4,
        )
        ax.axhline(0, color=INK, linewidth=0.8)
        for word, offset, side in (("helped", 3, "bottom"), ("hurt", -3, "top")):
            ax.annotate(
                word,
                (1, 0),
                xytext=(-2, offset),
                xycoords=ax.get_yaxis_transform(),
                textcoords="offset points",
                color=INK,
                fontsize=9,
                style="italic",
                horizontalalignment="right",
                verticalalignment=side,
            )
        ax.margins(x=0.1, y=0.05)
        ax.autoscale_view()
        ax.set_xlim(left=0)
        ax.set_xlabel(f"used: {_value_label(self.used)}")
        ax.set_ylabel(f"useful: {_value_label(self.useful)}")
        ax.set_title("What the model uses, and what that is good for", loc="left")
        if marked.any():
            ax.set_title(f"blue: {self.highlight_label}", loc="right", color=BLUE, fontsize=10)
        _quiet(ax, grid="both")
        outstanding = np.abs(x) / _bulk(x) + np.abs(y) / _bulk(y)
        others = np.argsort(np.where(marked, -np.inf, outstanding), kind="stable")[::-1]
        others = others[: min(self.n_labels, (~marked).sum())]
        names = np.array(self.used.feature_names, dtype=object)
        points = np.column_stack([x, y])
        written = _name_points(ax, points, names, np.flatnonzero(marked), BLUE, always=True)
        _name_points(ax, points, names, others, INK, written=written)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class LocalAttributionDisplay:
    """Signed bars for one row, or a swarm of all rows for each feature.

    Parameters
    ----------
    attribution : LocalAttribution
    row : int or None
        The row to draw as bars; None for the swarm.
    n_features : int
        How many features to show, those with the largest mean absolute contribution.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    """

    def __init__(
        self, attribution: LocalAttribution, *, row: int | None = None, n_features: int = 12
    ):
        n_rows = len(attribution.values)
        if row is not None and not -n_rows <= row < n_rows:
            raise ValueError(f"row={row}, but the attribution has {n_rows} rows.")
        self.attribution = attribution
        self.row = row
        self.n_features = n_features

    @classmethod
    def from_attribution(cls, attribution, *, row: int | None = None, n_features=12, ax=None):
        """Make the display and draw it."""
        return cls(attribution, row=row, n_features=n_features).plot(ax)

    def plot(self, ax=None):
        """Draw on ``ax``, or on a new figure; return the display."""
        rows = self.attribution.values
        weight = np.abs(rows if self.row is None else rows[[self.row]]).mean(axis=0)
        shown = np.argsort(-weight, kind="stable")[: self.n_features]
        ax = _axes(ax, size=(7.2, 1.3 + 0.36 * len(shown)))
        if self.row is None:
            self._swarm(ax, shown)
        else:
            self._bars(ax, shown)
        ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
        ax.set_ylim(len(shown) - 0.4, -0.6)
        ax.set_xlabel(_local_label(self.attribution.method))
        _quiet(ax, grid="x", left=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _bars(self, ax, shown):
        """Draw the contributions of one row; the last bar gathers the features not shown."""
        result = self.attribution
        values, names = result.values[self.row, shown], [result.feature_names[k] for k in shown]
        if result.data is not None:
            names = [
                f"{n} = {result.data[self.row, k]:.4g}" for n, k in zip(names, shown, strict=True)
            ]
        ax.barh(
            np.arange(len(shown)),
            values,
            height=0.7,
            color=[VERMILION if value < 0 else BLUE for value in values],
        )
        ax.set_yticks(np.arange(len(shown)), names)
        rest = result.values.shape[1] - len(shown)
        title = f"Row {self.row}: {_title(result.method)}"
        ax.set_title(
            title + (f", {len(shown)} of {len(shown) + rest} features" * (rest > 0)), loc="left"
        )

    def _swarm(self, ax, shown):
        """Draw every row as a point, pushed aside where many contributions are alike.

        Points are coloured by the rank of the feature's value, red where it is missing.
        """
        from matplotlib import colormaps

        result = self.attribution
        coloring = {"c": BLUE}
        for place, k in enumerate(shown):
            if result.data is not None:
                coloring = {
                    "c": _rank_share(result.data[:, k]),
                    "cmap": colormaps["cividis"].with_extremes(bad=VERMILION),
                    "vmin": 0.0,
                    "vmax": 1.0,
                    "plotnonfinite": True,
                }
            values = result.values[:, k]
            points = ax.scatter(
                values, place + _swarm_offsets(values), s=7, linewidths=0, zorder=2, **coloring
            )
        ax.set_yticks(np.arange(len(shown)), [result.feature_names[k] for k in shown])
        n_rows, n_features = result.values.shape
        title = f"{_title(result.method)} of {n_rows:,} rows"
        if len(shown) < n_features:
            title += f", {len(shown)} of {n_features} features"
        ax.set_title(title, loc="left")
        if result.data is not None:
            bar = ax.figure.colorbar(points, ax=ax, aspect=45, pad=0.02, ticks=[0, 1])
            bar.ax.set_yticklabels(["low", "high"])
            has_missing = bool(np.isnan(result.data[:, shown]).any())
            bar.set_label("feature value (rank)" + ", red: missing" * has_missing, labelpad=-12)
            bar.outline.set_visible(False)


def _axes(ax, size):
    """Return ``ax``, or the axes of a new figure."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need Matplotlib: pip install matplotlib.") from error
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def _quiet(ax, grid, left=True):
    """Take away frames and ticks that carry nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    if not left:
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
    ax.grid(axis=grid, color="#E6E6E6", linewidth=0.8)
    ax.set_axisbelow(True)


def _title(method):
    """Write ``"tree_inner(predecomp)"`` as "TreeInner (PreDecomp)"."""
    kind, _, inside = method.partition("(")
    title = METHOD_TITLES.get(kind, IFA_TITLES.get(kind, kind))
    details = [IFA_TITLES.get(word, word) for word in inside.rstrip(")").split(", ") if word]
    return f"{title} ({', '.join(details)})" if details else title


def _value_label(result, intervals=True):
    """Name the values with their units and over how many rows they are summed."""
    kind = result.method.split("(")[0]
    unit = METHOD_UNITS.get(kind, "value")
    if kind in ("total_gain", "unbiased_gain", "permutation"):
        return unit
    drawn = intervals and result.standard_error is not None
    return f"{unit},\nsum over {result.n_samples:,} rows" + ", 95 % intervals" * drawn


def _local_label(method):
    """Name the unit of one row's contributions."""
    if method.split("(")[0] in METHOD_UNITS:
        return f"{METHOD_UNITS[method.split('(')[0]]}  (above 0: helped)"
    return "contribution to the raw prediction"


def _interval(result, part):
    """Return half the 95 % intervals of some features; None without standard errors."""
    return None if result.standard_error is None else TWO_SIDED_95 * result.standard_error[part]


def _bulk(values):
    """Return the width of the middle half of the values, 1 where it has none."""
    low, high = np.quantile(values, [0.25, 0.75])
    return high - low if high > low else 1.0


def _spread(places, gap):
    """Move labels apart, as little as needed, until neighbours are ``gap`` apart.

    Neighbours that are too close become a group, centred on the mean of its members' own places; a
    group that then touches the next one takes it in.
    """
    order = np.argsort(places, kind="stable")
    groups = []
    for j in order:
        groups.append([j])
        while len(groups) > 1 and _group_end(places, groups[-2], gap, +1) + gap > _group_end(
            places, groups[-1], gap, -1
        ):
            groups[-2:] = [groups[-2] + groups[-1]]
    moved = np.array(places, dtype=np.float64)
    for group in groups:
        moved[group] = _group_end(places, group, gap, -1) + gap * np.arange(len(group))
    return moved


def _group_end(places, group, gap, side):
    """Return the highest (+1) or lowest (-1) place of a group of labels."""
    return np.mean(places[group]) + side * gap * (len(group) - 1) / 2


def _name_points(ax, points, names, which, color, always=False, written=(), fontsize=9):
    """Write the names of some points beside them, each on the side where it hides least.

    Sides are tried in the order right, left, above, below and the four corners. A name takes a box
    of a width estimated from its letters. One that would hide a point or another name, or leave the
    axes, is not written unless ``always``. Returns the boxes written, with those given.
    """
    pixels = ax.transData.transform(points)
    frame = ax.get_window_extent()
    height = fontsize * ax.figure.dpi / 72
    gap = 0.6 * height
    written = list(written)
    for k in which:
        half = np.array([0.3 * height * len(names[k]), 0.5 * height])
        hidden = []
        for side in _SIDES:
            low = pixels[k] + side * (half + gap / np.abs(side).sum()) - half
            high = low + 2 * half
            points_hidden = ((pixels > low - gap / 2) & (pixels < high + gap / 2)).all(axis=1).sum()
            names_hidden = sum(
                (low < top).all() and (high > bottom).all() for bottom, top in written
            )
            outside = (low < frame.min).any() or (high > frame.max).any()
            hidden.append((points_hidden + 3 * names_hidden + 3 * outside, (low, high)))
        best = int(np.argmin([count for count, _ in hidden]))
        if hidden[best][0] and not always:
            continue
        written.append(hidden[best][1])
        horizontal, vertical = _SIDES[best]
        ax.annotate(
            names[k],
            points[k],
            xytext=_SIDES[best] * gap / np.abs(_SIDES[best]).sum() * 72 / ax.figure.dpi,
            textcoords="offset points",
            color=color,
            fontsize=fontsize,
            horizontalalignment={1: "left", 0: "center", -1: "right"}[horizontal],
            verticalalignment={1: "bottom", 0: "center", -1: "top"}[vertical],
            zorder=5,
        )
    return written


def _cycle(colors, n):
    """Return n colours, from the start again when they are used up."""
    return [colors[j % len(colors)] for j in range(n)]


def _rank_share(column):
    """Return ranks scaled to [0, 1], equal values alike; nan stays nan."""
    known = ~np.isnan(column)
    share = np.full(len(column), np.nan)
    distinct, code = np.unique(column[known], return_inverse=True)
    share[known] = code / max(len(distinct) - 1, 1)
    return share


def _swarm_offsets(values, n_bins=100, half_width=0.38):
    """Return how far aside each point goes: alternately up and down within its bin."""
    low, high = values.min(), values.max()
    if low == high:
        bins = np.zeros(len(values), dtype=np.int64)
    else:
        bins = np.minimum(((values - low) / (high - low) * n_bins).astype(np.int64), n_bins - 1)
    order = np.argsort(bins, kind="stable")
    starts = np.searchsorted(bins[order], bins[order])
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values)) - starts
    fullest = np.bincount(bins).max()
    step = half_width / max((fullest + 1) // 2, 10)
    return step * ((rank + 1) // 2) * np.where(rank % 2, 1, -1)
