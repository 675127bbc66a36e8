"""Categories beside the fast lane: what sets of levels gain, once all numbers have been searched.

Numbers have an order that stays, and the fast lane lives on it. Levels are put in order anew in
every node. So in a table that has categorical columns the kernels stop when the nodes opened last
have been searched, and these columns are searched as on the common road::

    search_level        numbers, in the kernels: the best cut of every node and its gain
    LevelSearch.join    categories, by ``best_cuts``: where a set of levels gains more, it is taken
    split_level         rows go where the cut sends them, or where ``Rows.side`` says

Both add up the same integers and compute a score by the same formula, so the larger of two is told
to the last bit; of equal ones the lower column is taken, as everywhere.
"""

import numpy as np

from gbt.columns import Columns
from gbt.fixed_point import to_fixed_point
from gbt.kernels.memory import Rows, Training
from gbt.kernels.nodes import BY_SIDE, LEFT, RIGHT
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
        self.random = np.random.default_rng(0)  # a frontier has one; greedy splits draw nothing
        self.features = np.empty(0, dtype=np.int64)
        self.goes_left: dict[int, np.ndarray] = {}  # by number of a node, of every code

    def begin(self, features: np.ndarray) -> None:
        """Start a tree that may split on these columns; those of numbers are left out here."""
        self.features = features[self.columns.n_levels[features] > 0]
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
        if not len(asked) or not len(self.features):
            return
        frontier = Frontier(
            self.columns,
            self.features,
            self._derivatives(),
            self.rows.listed,
            nodes["start"][asked],
            nodes["stop"][asked],
            self.random,
        )
        cuts = best_cuts(frontier, self.plan.limits, self.plan.n_jobs)
        splits, score = largest_gain(cuts, frontier, self.plan.limits), cuts.score[:, :, 0].max(0)
        feature, of_number = nodes["feature"][asked], nodes["to_beat"][asked]  # of the best cut
        is_better = (score > of_number) | ((score == of_number) & (splits.feature < feature))
        is_taken = (splits.feature >= 0) & (is_better | (feature < 0))
        for i in np.flatnonzero(is_taken):
            j, k, goes_left = asked[i], splits.feature[i], splits.goes_left[i]
            nodes["feature"][j], nodes["cut"][j] = k, BY_SIDE
            nodes["missing_left"][j], nodes["gain"][j] = splits.missing_left[i], splits.gain[i]
            rows = frontier.rows_of(i)
            self.rows.side[rows] = np.where(goes_left[self.columns.codes[k, rows]], LEFT, RIGHT)
            self.goes_left[first + j] = goes_left

    def sets_of(self, tree: np.ndarray) -> LevelSets:
        """Return the sets of a tree that has grown, whose nodes then have no threshold."""
        in_preorder: list[np.ndarray | None] = [None] * len(tree)
        for j, goes_left in self.goes_left.items():
            if self.nodes["left"][j] >= 0:
                feature, missing_left = self.nodes["feature"][j], self.nodes["missing_left"][j]
                of_levels = self.columns.levels_left(feature, goes_left, missing_left != 0)
                in_preorder[self.nodes["place"][j]] = of_levels
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
