"""Categories on the fast lane: sets of levels, in the kernels or beside them.

Numbers have an order that stays, and bounds and histograms live on it. Levels are put in order anew
in every node, by their sums. Where every level has a bin of its own, and rows no weights, the
histogram has these sums, and the kernels search such a column like others
(``gbt.kernels.level_bins``). Columns of more levels are searched as on the common road: the kernels
stop when the nodes opened last have been searched, and sets of levels that gain more are joined::

    search_level        in the kernels: the best cut of every node and its score
    LevelSearch.join    other categorical columns, by ``best_cuts``: what scores more is taken
    split_level         rows go where the cut sends them, or the side that they have been told

Both add up the same integers and compute a score by the same formula, so the larger of two is told
to the last bit; of equal ones the lower column is taken, as everywhere.
"""

import numpy as np

from gbt.columns import Columns
from gbt.fixed_point import to_fixed_point
from gbt.kernels.memory import Rows, Training
from gbt.kernels.nodes import BY_LEVELS, BY_SIDE, LEFT, MOST_CODES, RIGHT
from gbt.level_sets import LevelSets
from gbt.splitting.cuts import best_cuts
from gbt.splitting.frontier import Derivatives, Frontier, Plan
from gbt.splitting.greedy import largest_gain


class LevelSearch:
    """The categorical columns of a table while greedy trees grow on it.

    Parameters
    ----------
    columns : Columns
    training : Training
    plan : Plan
    rows, nodes, rules
        What the kernels work on, see ``gbt.kernels.memory``.

    Attributes
    ----------
    joins : bool array of shape (p,)
        The categorical columns that the kernels cannot search.
    """

    def __init__(
        self,
        columns: Columns,
        training: Training,
        plan: Plan,
        rows: Rows,
        nodes: np.ndarray,
        rules: np.ndarray,
    ):
        self.columns, self.plan = columns, plan
        self.rows, self.nodes, self.rules = rows, nodes, rules
        self.weight = to_fixed_point(np.ones(1), training.weight, None, columns.n_rows)
        rules["categorical_smoothing"] = plan.limits.categorical_smoothing
        rules["most_weight"] = plan.limits.categorical_smoothing * self.weight[1]
        rules["weight_unit"] = self.weight[0][0]
        has_bins = (columns.n_bins == columns.n_values) & (columns.n_values < MOST_CODES)
        self.joins = (columns.n_levels > 0) & ~(has_bins & (len(training.weight) == 1))
        self.random = np.random.default_rng(0)  # a frontier has one; greedy splits draw nothing
        self.joining = np.empty(0, dtype=np.int64)
        self.goes_left: dict[int, np.ndarray] = {}  # by number of a node, of every code

    def begin(self, features: np.ndarray) -> None:
        """Start a tree that may split on these columns; `join` looks at some of them."""
        self.joining = features[self.joins[features]]
        self.goes_left = {}

    def join(self) -> None:
        """Let sets of levels split those of the nodes opened last where they gain most."""
        first, stop = (int(self.rules[name][0]) for name in ("first_open", "n_nodes"))
        nodes = self.nodes[first:stop]
        deepest, least = self.plan.shape.max_depth, 2 * self.plan.limits.min_samples_leaf
        may_split = nodes["stop"] - nodes["start"] >= max(least, 2)
        if deepest is not None:
            may_split &= nodes["depth"] < deepest
        asked = np.flatnonzero(may_split)
        if not len(asked) or not len(self.joining):
            return
        frontier = Frontier(
            self.columns,
            self.joining,
            self._derivatives(),
            self.rows.listed,
            nodes["start"][asked],
            nodes["stop"][asked],
            self.random,
        )
        cuts = best_cuts(frontier, self.plan.limits, self.plan.n_jobs)
        splits, score = largest_gain(cuts, frontier, self.plan.limits), cuts.score[:, :, 0].max(0)
        feature, in_kernels = nodes["feature"][asked], nodes["to_beat"][asked]  # the best score
        is_better = (score > in_kernels) | ((score == in_kernels) & (splits.feature < feature))
        is_taken = (splits.feature >= 0) & (is_better | (feature < 0))
        for i, goes_left in enumerate(splits.goes_left or ()):
            if goes_left is None or not is_taken[i]:
                continue
            j, k = int(asked[i]), int(splits.feature[i])
            nodes["feature"][j], nodes["cut"][j] = k, BY_SIDE
            nodes["missing_left"][j], nodes["gain"][j] = splits.missing_left[i], splits.gain[i]
            rows = frontier.rows_of(i)
            self.rows.side[rows] = np.where(goes_left[self.columns.codes[k, rows]], LEFT, RIGHT)
            self.goes_left[first + j] = goes_left

    def sets_of(self, tree: np.ndarray) -> LevelSets:
        """Return the sets of a tree that has grown, whose nodes then have no threshold."""
        nodes = self.nodes[: len(tree)]
        in_preorder: list[np.ndarray | None] = [None] * len(tree)
        for j in np.flatnonzero((nodes["left"] >= 0) & (nodes["cut"] < 0)).tolist():
            k = int(nodes["feature"][j])
            if nodes["cut"][j] == BY_LEVELS:
                bits = np.unpackbits(nodes["levels"][j].view(np.uint8), bitorder="little")
                goes_left = bits[: self.columns.n_values[k] + 1].astype(bool)
            else:
                goes_left = self.goes_left[j]
            of_levels = self.columns.levels_left(k, goes_left, nodes["missing_left"][j] != 0)
            in_preorder[nodes["place"][j]] = of_levels
        sets = LevelSets.of(in_preorder)
        tree["threshold"][sets.of_node >= 0] = 0.0
        return sets

    def _derivatives(self) -> Derivatives:
        """Return the integers that the kernels have made of gradients and hessians."""
        rules, n = self.rules, self.columns.n_rows
        entries = self.rows.entries.reshape(n, -1)
        hessian = entries[:, 1] if entries.shape[1] == 2 else np.repeat(rules["hessian"], n)
        scales = float(rules["g_scale"][0]), float(rules["h_scale"][0])
        return Derivatives(entries[:, 0], hessian, *scales, *self.weight)
