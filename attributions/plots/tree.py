"""One tree, with the sums that its nodes remember.

The root is at the left. The upper of two children is the left child, to which rows go if the answer
to the question in the box is yes. Text stays level, so sixteen leaves fit on a page.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from attributions.names import elided, on_one_line
from attributions.plots.colors import BLUE, VERMILION, mixed, readable
from attributions.plots.sheet import LEAST_FONT, Display, Sheet
from gbt.tables.categories import Categories, level_names
from gbt.tables.names import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from gbt.model.ensemble import Ensemble
    from gbt.model.tree import Tree

FONT = 9.0
PADDING = 0.4  # around the text of a box, in font sizes
STRONGEST = 0.4  # colour of a box
NAME_WIDTH = 14  # of a feature's name in a box, in font sizes
MOST_SHOWN, LEVEL_LETTERS = 2, 16  # levels in a question, and letters of each
YES, NO, MISSING = "yes", "no", ", missing"
NOTHING = 1e-13  # of a tree's largest number: smaller ones are rounding errors of 0
LEAST_SIZE, LARGEST_SIZE = (5.5, 2.5), 150.0  # of a new figure, in inches
LINES = (("values", "counts"), ("gradients", "hessians"))
LEGEND = {
    "values": "value: what the node adds to the raw prediction",
    "counts": "n: training rows",
    "gradients": "G: sum of their gradients",
    "hessians": "H: sum of their hessians",
}


class Arrangement(NamedTuple):
    """Where the boxes of some nodes go, in pixels from the upper left, at the font size `FONT`."""

    depth: int
    texts: dict[int, str]
    centers: dict[int, np.ndarray]
    starts: dict[int, float]  # the left side of a box
    size: np.ndarray  # of all together


class TreeDisplay(Display):
    """Boxes of nodes: their question, value, number of training rows, and sums G and H.

    Blue boxes raise the prediction, vermilion ones lower it.

    Parameters
    ----------
    tree : gbt.model.tree.Tree
        Such as ``model.ensemble_.trees[0]``.
    feature_names : sequence of str, optional
        One name a column; x0, x1, ... without.
    max_depth : int or None
        Down to which depth nodes are shown; None for all. Where the axes are too small for so many
        boxes, fewer depths are shown. The title says how many nodes are not.
    name : str
        What the title calls the tree.
    statistics : iterable of str, optional
        Which sums of the nodes are known, as in ``Ensemble.statistics``; by default all. Unknown
        ones are not written.
    categories : tuple, optional
        The levels of categorical columns, as ``Ensemble.categories`` has them.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    boxes_ : dict of int to matplotlib Text
        Of the nodes shown, by their number in the tree.
    """

    def __init__(
        self,
        tree: "Tree",
        *,
        feature_names: Sequence[str] | None = None,
        max_depth: int | None = 4,
        name: str = "Tree",
        statistics: Iterable[str] = tuple(LEGEND),
        categories: Categories | None = None,
    ):
        if max_depth is not None and not (isinstance(max_depth, int) and max_depth >= 0):
            raise ValueError(
                f"max_depth={shown(max_depth)}; it must be a whole number, from 0, or None for all."
            )
        self._columns = np.unique(tree.feature[tree.feature >= 0]).tolist()
        n_needed = max(self._columns, default=-1) + 1
        if feature_names is None:
            feature_names = [f"x{k}" for k in range(n_needed)]
        if len(feature_names) < n_needed:
            raise ValueError(
                f"feature_names has {len(feature_names)} names, but the tree splits on column"
                f" {n_needed - 1}, counted from 0; give one name for each column."
            )
        self.tree = tree
        self.feature_names = tuple(feature_names)
        self.max_depth = max_depth
        self.name = name
        self.statistics = frozenset(statistics)
        self.categories = categories

    @classmethod
    def from_tree(
        cls,
        tree: "Tree",
        *,
        feature_names: Sequence[str] | None = None,
        max_depth: int | None = 4,
        ax: "Axes | None" = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Self:
        """Make the display of a tree and draw it.

        Parameters
        ----------
        tree, feature_names, max_depth
            As for the class.
        ax, title, figsize
            As for ``GlobalAttribution.plot``.
        """
        display = cls(tree, feature_names=feature_names, max_depth=max_depth)
        return display.plot(ax, title=title, figsize=figsize)

    @classmethod
    def from_model(
        cls,
        model: Any,
        number: int = 0,
        *,
        max_depth: int | None = 4,
        ax: "Axes | None" = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Self:
        """Make the display of a model's tree and draw it.

        Parameters
        ----------
        model : estimator, Ensemble or foreign model
            Any fitted model that ``gbt.formats.as_ensemble`` takes.
        number : int
            Which tree, from 0.
        max_depth
            As for the class.
        ax, title, figsize
            As for ``GlobalAttribution.plot``.
        """
        from gbt.formats import as_ensemble

        ensemble = as_ensemble(model)
        if "gradients" in ensemble.statistics:
            ensemble.require("gradients", what="A picture of a tree")
        if not 0 <= number < ensemble.n_trees:
            raise ValueError(
                f"number={number}, but the model has {ensemble.n_trees} trees, counted from 0."
            )
        display = cls(
            ensemble.trees[number],
            feature_names=ensemble.feature_names,
            max_depth=max_depth,
            name=f"Tree {number} of {ensemble.n_trees}, from 0{_raised(model, ensemble, number)}",
            statistics=ensemble.statistics,
            categories=ensemble.categories,
        )
        return display.plot(ax, title=title, figsize=figsize)

    def _draw(self, ax: "Axes | None", title: str | None, figsize: Any) -> "Axes":
        depths = self.tree.depth
        depth = int(depths.max() if self.max_depth is None else min(self.max_depth, depths.max()))
        names = [self.feature_names[k] for k in self._columns]
        words = [*names, title or self.name, "\N{LESS-THAN OR EQUAL TO}"]
        sheet = Sheet(ax, figsize, words, width=6.4, height=4.8)
        if ax is None and figsize is None:
            inches = self._arrange(sheet, depth).size / sheet.figure.dpi + (0.3, 1.2)
            sheet.figure.set_size_inches(*np.clip(inches, LEAST_SIZE, LARGEST_SIZE))
        sheet.ax.spines[:].set_visible(False)
        sheet.ax.set(xticks=[], yticks=[])
        known = [text for name, text in LEGEND.items() if name in {"values", *self.statistics}]
        legend = ". ".join([*known, "missing: where rows go whose value is missing"])
        legend += sheet.lettering.note(self.feature_names, self._columns)
        sheet.caption(self._heading(depth) if title is None else title, legend)
        layout = self._arrange(sheet, depth)
        while layout.depth > 0 and FONT * self._scale(sheet, layout) < LEAST_FONT:
            layout = self._arrange(sheet, layout.depth - 1)
        if layout.depth < depth and title is None:
            sheet.caption(self._heading(layout.depth), legend)
        self._draw_boxes(sheet, layout)
        return sheet.ax

    def _heading(self, depth: int) -> str:
        """Return the title: which tree it is, and how many nodes are not shown."""
        depths = self.tree.depth
        n_hidden = int((depths > depth).sum())
        if not n_hidden:
            return self.name
        return (
            f"{self.name}, depth 0 to {depth} of {depths.max()}: {n_hidden:,} of {len(depths):,}"
            " nodes not shown"
        )

    def _arrange(self, sheet: Sheet, depth: int) -> Arrangement:
        """Return places for the nodes down to ``depth``: a column for each depth, a line a leaf."""
        tree, depths = self.tree, self.tree.depth
        is_end = (tree.left < 0) | (depths == depth)
        shown: list[int] = np.flatnonzero(depths <= depth).tolist()
        texts = self._texts(sheet, shown, depths == depth)
        sizes = {t: self._box_size(sheet, texts[t]) for t in shown}
        gap = sheet.lettering.size(NO + MISSING, FONT)[0] * 1.4
        widths = [max(sizes[t][0] for t in shown if depths[t] == d) for d in range(depth + 1)]
        middles = np.cumsum([0.0, *(width + gap for width in widths)])[:-1] + np.array(widths) / 2

        ends, inner = [t for t in shown if is_end[t]], [t for t in shown if not is_end[t]]
        # A box of two children has one and a half lines for itself.
        highest = max((sizes[t][1] for t in inner), default=0.0)
        line = 1.15 * max(*(sizes[t][1] for t in ends), highest / 1.5)
        heights = {t: line * (place + 0.5) for place, t in enumerate(ends)}  # preorder: from above
        for t in shown[::-1]:
            if t not in heights:
                heights[t] = (heights[tree.left[t]] + heights[tree.right[t]]) / 2
        centers = {t: np.array([middles[depths[t]], heights[t]]) for t in shown}
        starts = {t: centers[t][0] - sizes[t][0] / 2 for t in shown}
        return Arrangement(
            depth,
            texts,
            centers,
            starts,
            np.array([middles[-1] + widths[-1] / 2, line * len(ends)]),
        )

    def _texts(self, sheet: Sheet, shown: list[int], is_deepest: np.ndarray) -> dict[int, str]:
        """Return the texts of the boxes."""
        tree = self.tree
        room = NAME_WIDTH * FONT * sheet.figure.dpi / 72
        cut = sheet.lettering.names(self.feature_names, self._columns, room, FONT)
        names = dict(zip(self._columns, cut, strict=True))
        n_below = self._count_below()
        texts = {}
        for t in shown:
            lines = self._sums(t)
            if tree.left[t] >= 0 and is_deepest[t]:
                lines.append(f"... {n_below[t]:,} nodes below")
            elif tree.left[t] >= 0:
                lines.insert(0, f"{names[tree.feature[t]]} {self._question(t)}")
            texts[t] = "\n".join(lines)
        return texts

    def _question(self, t: int) -> str:
        """Return the question of a split, with a few of the levels that go left."""
        sets = self.tree.level_sets
        if sets is None or sets.of_node[t] < 0:
            return f"\N{LESS-THAN OR EQUAL TO} {self.tree.threshold[t]:.6g}"
        k = self.tree.feature[t]
        if self.categories is None or self.categories[k] is None:
            return "in a set of levels"
        levels = level_names(self.categories, sets, k, t)
        if not levels:  # an empty set: missing values alone go left
            return "is missing"
        names = [elided(on_one_line(level), LEVEL_LETTERS) for level in levels[:MOST_SHOWN]]
        more = f" or {len(levels) - MOST_SHOWN} more" * (len(levels) > MOST_SHOWN)
        return f"is {', '.join(names)}{more}"

    def _sums(self, t: int) -> list[str]:
        """Return lines with what is known of a node: its value, its rows, and sums over these."""
        tree = self.tree
        said = {
            "values": f"value {_unrounded(tree.value, t):.4g}",
            "counts": f"n {tree.n_samples[t]:,}",
            "gradients": f"G {_unrounded(tree.sum_gradient, t):.4g}",
            "hessians": f"H {tree.sum_hessian[t]:.4g}",
        }
        known = {*self.statistics, *(["values"] if tree.left[t] < 0 else [])}  # of every leaf
        lines = [[said[name] for name in pair if name in known] for pair in LINES]
        return ["   ".join(line) for line in lines if line]

    def _count_below(self) -> np.ndarray:
        """Return how many nodes hang below every node."""
        n_below = np.zeros(self.tree.n_nodes, dtype=np.int64)
        for t in np.flatnonzero(self.tree.left >= 0)[::-1]:
            children = [self.tree.left[t], self.tree.right[t]]
            n_below[t] = 2 + n_below[children].sum()
        return n_below

    def _box_size(self, sheet: Sheet, text: str) -> np.ndarray:
        """Return width and height of a box in pixels."""
        return sheet.lettering.size(text, FONT) + 2 * PADDING * FONT * sheet.figure.dpi / 72

    def _scale(self, sheet: Sheet, layout: Arrangement) -> float:
        """Return the factor by which the boxes have to shrink to fit into the axes."""
        return min(1.0, *np.divide(sheet.ax.get_window_extent().size, layout.size))

    def _draw_boxes(self, sheet: Sheet, layout: Arrangement) -> None:
        """Draw the boxes, and lines with the answers between them."""
        ax, tree = sheet.ax, self.tree
        scale = self._scale(sheet, layout)
        width, height = np.divide(sheet.ax.get_window_extent().size, scale)
        ax.set_xlim(0, width)
        ax.set_ylim(height, 0)
        moved = (np.array([width, height]) - layout.size) / 2
        fontsize = FONT * scale
        largest = np.abs(tree.value).max()
        self.boxes_: dict[int, Text] = {}
        for t, text in layout.texts.items():
            strength = STRONGEST * abs(tree.value[t]) / largest if largest > 0 else 0.0
            color = VERMILION if tree.value[t] < 0 else BLUE
            face = mixed(sheet.colors.background, color, strength)
            x, y = layout.centers[t] + moved
            self.boxes_[t] = ax.text(
                x,
                y,
                text,
                fontsize=fontsize,
                ha="center",
                va="center",
                linespacing=1.2,
                bbox={
                    "boxstyle": f"round,pad={PADDING}",
                    "facecolor": face,
                    "edgecolor": sheet.colors.ink,
                    "linewidth": 0.6,
                },
                zorder=3,
                **{**sheet.write, "color": readable(sheet.colors.ink, face)},
            )
        for t in layout.texts:
            if tree.left[t] in layout.texts:
                for child, answer, side in (
                    (tree.left[t], YES, "bottom"),
                    (tree.right[t], NO, "top"),
                ):
                    is_missing = bool(tree.missing_left[t]) == (answer == YES)
                    x, y = layout.centers[t] + moved
                    end = layout.starts[child] + moved[0]
                    at = layout.centers[child][1] + moved[1]
                    ax.plot([x, x, end], [y, at, at], color=sheet.colors.ink, linewidth=0.8)
                    ax.annotate(
                        answer + MISSING * is_missing,
                        (end, at),
                        xytext=(-0.5 * fontsize, 0.2 * fontsize * (1 if side == "bottom" else -1)),
                        textcoords="offset points",
                        fontsize=fontsize,
                        ha="right",
                        va=side,
                        **sheet.write,
                    )


def _unrounded(numbers: np.ndarray, t: int) -> float:
    """Return a node's number, or 0 if beside the tree's largest it is no more than rounding.

    Gradients of a root, for instance, add up to 0 only within rounding. 0 is never -0.
    """
    number = float(numbers[t])
    return 0.0 if abs(number) <= NOTHING * np.abs(numbers).max() else number


def _raised(model: Any, ensemble: "Ensemble", number: int) -> str:
    """Return a text that names the class or output of a tree; empty if there is one."""
    if ensemble.n_outputs == 1:
        return ""
    k = int(ensemble.tree_output[number])
    classes = getattr(model, "classes_", None)
    if classes is None or len(classes) != ensemble.n_outputs:
        return f", for output {k}"
    return f", for class {on_one_line(classes[k])}"
