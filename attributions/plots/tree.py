"""One tree, with the sums that its nodes remember.

The root is at the left. The upper of two children is the left child, to which rows go if the answer
to the question in the box is yes. Text stays level, so sixteen leaves fit on a page.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from attributions.names import elided, on_one_line
from attributions.options import whole
from attributions.plots.colors import BLUE, VERMILION, mixed, readable
from attributions.plots.sheet import LEAST_FONT, Display, Paper, Sheet
from gbt.formats import as_ensemble
from gbt.model.ensemble import Ensemble
from gbt.model.tree import Tree
from gbt.tables.categories import Categories, level_names

if TYPE_CHECKING:
    from matplotlib.text import Text

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


class Grid(NamedTuple):
    """Which cells the boxes of some nodes are in: a column for each depth, a line for each leaf."""

    texts: dict[int, str]
    lines: dict[int, float]
    sizes: dict[int, np.ndarray]  # of boxes, in pixels at the font size `FONT`
    cell: np.ndarray  # its size
    n_cells: np.ndarray  # how many columns and lines there are


class TreeDisplay(Display):
    """Boxes of nodes: their question, value, number of training rows, and sums G and H.

    Vermilion boxes raise the prediction, blue ones lower it.

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
    boxes_ : dict of int to matplotlib Text
        Of the nodes shown, by their number in the tree.
    """

    def __init__(
        self,
        tree: Tree,
        *,
        feature_names: Sequence[str] | None = None,
        max_depth: int | None = 4,
        name: str = "Tree",
        statistics: Iterable[str] = tuple(LEGEND),
        categories: Categories | None = None,
    ):
        if max_depth is not None:
            max_depth = whole(0, max_depth=max_depth)
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
    def from_model(
        cls, model: Any, number: int = 0, *, max_depth: int | None = 4, **drawing: Any
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
        **drawing
            ``ax``, ``title`` and ``figsize`` of `plot`.
        """
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
        return display.plot(**drawing)

    def _draw(self, paper: Paper) -> Sheet:
        deepest = int(self.tree.depth.max())
        depth = deepest if self.max_depth is None else min(self.max_depth, deepest)
        words = [*(self.feature_names[k] for k in self._columns), "\N{LESS-THAN OR EQUAL TO}"]
        sheet = Sheet(paper, self.name, words, (6.4, 4.8))
        if paper.ax is None and paper.figsize is None:
            grid = self._grid(sheet, depth)
            inches = grid.n_cells * grid.cell / sheet.figure.dpi + (0.3, 1.2)
            sheet.figure.set_size_inches(*np.clip(inches, LEAST_SIZE, LARGEST_SIZE))
        sheet.ax.spines[:].set_visible(False)
        sheet.ax.set(xticks=[], yticks=[])
        known = [text for name, text in LEGEND.items() if name in {"values", *self.statistics}]
        for shown_depth in range(depth, -1, -1):
            sheet.more = self._hidden(shown_depth)
            sheet.caption(". ".join([*known, "missing: where rows go whose value is missing"]))
            grid = self._grid(sheet, shown_depth)
            if FONT * self._scale(sheet, grid) >= LEAST_FONT:
                break
        self._draw_boxes(sheet, grid)
        return sheet

    def _hidden(self, depth: int) -> str:
        """Say how many nodes are not shown."""
        depths = self.tree.depth
        hidden = f"{(depths > depth).sum():,} of {len(depths):,} nodes not shown"
        return f", depth 0 to {depth} of {depths.max()}: {hidden}" * bool(depth < depths.max())

    def _grid(self, sheet: Sheet, depth: int) -> Grid:
        """Return the cells of the nodes down to ``depth``, and how large cells have to be."""
        tree, depths = self.tree, self.tree.depth
        shown: list[int] = np.flatnonzero(depths <= depth).tolist()
        texts = self._texts(sheet, shown, depths == depth)
        margin = 2 * PADDING * FONT * sheet.figure.dpi / 72
        sizes = {t: sheet.lettering.size(texts[t], FONT) + margin for t in shown}
        ends = [t for t in shown if tree.left[t] < 0 or depths[t] == depth]
        lines = {t: float(line) for line, t in enumerate(ends)}  # preorder: from above
        for t in shown[::-1]:
            if t not in lines:
                lines[t] = (lines[tree.left[t]] + lines[tree.right[t]]) / 2
        width = max(size[0] for size in sizes.values())
        width += 1.4 * sheet.lettering.size(NO + MISSING, FONT)[0]
        # A box of two children has one and a half lines for itself.
        height = 1.15 * max(size[1] / (1 if t in ends else 1.5) for t, size in sizes.items())
        n_cells = np.array([depth + 1, len(ends)])
        return Grid(texts, lines, sizes, np.array([width, height]), n_cells)

    def _texts(self, sheet: Sheet, shown: list[int], is_deepest: np.ndarray) -> dict[int, str]:
        tree = self.tree
        room = NAME_WIDTH * FONT * sheet.figure.dpi / 72
        cut = sheet.lettering.names(self.feature_names, self._columns, room, FONT)
        names = dict(zip(self._columns, cut, strict=True))
        texts = {}
        for t, following in pairwise([*shown, tree.n_nodes]):
            lines = self._sums(t)
            if tree.left[t] >= 0 and is_deepest[t]:  # between the two are, in preorder, those below
                lines.append(f"... {following - t - 1:,} nodes below")
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
        names = [elided(level, LEVEL_LETTERS) for level in levels[:MOST_SHOWN]]
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

    def _scale(self, sheet: Sheet, grid: Grid) -> float:
        """Return the factor by which the cells have to shrink to fit into the axes."""
        return min(1.0, *sheet.ax.get_window_extent().size / (grid.n_cells * grid.cell))

    def _draw_boxes(self, sheet: Sheet, grid: Grid) -> None:
        """Draw the boxes, and lines with the answers between them."""
        ax, tree, ink = sheet.ax, self.tree, sheet.ink
        scale = self._scale(sheet, grid)
        n_seen = ax.get_window_extent().size / (scale * grid.cell)
        (width, height), (beside, above) = n_seen, (n_seen - grid.n_cells) / 2 + 0.5
        ax.set(xlim=(-beside, width - beside), ylim=(height - above, -above))
        fontsize = FONT * scale
        box = {"boxstyle": f"round,pad={PADDING}", "edgecolor": ink, "linewidth": 0.6}
        largest = np.abs(tree.value).max()
        self.boxes_: dict[int, Text] = {}
        for t, text in grid.texts.items():
            strength = STRONGEST * abs(tree.value[t]) / largest if largest > 0 else 0.0
            color = BLUE if tree.value[t] < 0 else VERMILION
            face = mixed(sheet.background, color, strength)
            self.boxes_[t] = ax.text(
                tree.depth[t], grid.lines[t], text, fontsize=fontsize, ha="center", va="center",
                linespacing=1.2, bbox=box | {"facecolor": face}, zorder=3,
                **{**sheet.write, "color": readable(ink, face)},
            )  # fmt: skip
            if tree.left[t] not in grid.texts:
                continue
            for child, answer, up in ((tree.left[t], YES, 1), (tree.right[t], NO, -1)):
                is_missing = bool(tree.missing_left[t]) == (answer == YES)
                x, at = tree.depth[child], grid.lines[child]
                end = x - grid.sizes[child][0] / grid.cell[0] / 2
                ax.plot([x - 1, x - 1, x], [grid.lines[t], at, at], color=ink, linewidth=0.8)
                ax.annotate(
                    answer + MISSING * is_missing, (end, at), fontsize=fontsize, ha="right",
                    xytext=(-0.5 * fontsize, 0.2 * fontsize * up), textcoords="offset points",
                    va="bottom" if up > 0 else "top", **sheet.write,
                )  # fmt: skip


def _unrounded(numbers: np.ndarray, t: int) -> float:
    """Return a node's number, or 0 if beside the tree's largest it is no more than rounding.

    Gradients of a root, for instance, add up to 0 only within rounding. 0 is never -0.
    """
    number = float(numbers[t])
    return 0.0 if abs(number) <= NOTHING * np.abs(numbers).max() else number


def _raised(model: Any, ensemble: Ensemble, number: int) -> str:
    """Return a text that names the class or output of a tree; empty if there is one."""
    if ensemble.n_outputs == 1:
        return ""
    k = int(ensemble.tree_output[number])
    classes = getattr(model, "classes_", None)
    if classes is None or len(classes) != ensemble.n_outputs:
        return f", for output {k}"
    return f", for class {on_one_line(classes[k])}"
