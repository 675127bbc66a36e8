r"""Policy growth: who grows trees, and how a policy in Python is asked for their splits.

Trees grow in compiled code (``gbt.training.histogram_growth``), from gradients to finished trees.
Our own policies have their search there, too: for greedy splits bounds limit what a cut may gain
(``gbt.kernels.cuts.search``), the other two have a histogram for each set of rows
(``gbt.kernels.cuts.judging``). Any other policy is asked in Python, depth by depth, and nothing
else differs::

    start a tree: gradients, integers, root    compiled
      find the splits of the open nodes        HistogramGrowth: compiled, from histograms
                                               PolicyGrowth: policy.split, mostly in `best_cuts`
      divide the rows, open the children       compiled; again, until no node is split
    end it: sums, values, raw predictions      compiled

Depth-wise growth splits all open nodes at once, best-first growth (``max_leaves``) the one of
largest gain. Greedy trees are the same either way, to the last bit
(``tests/gbt/training/test_growing.py``). In the histogram search levels of a categorical column are
bins, or are added up from the rows if there are too many of them, rows have weights, or sets of
rows judge (``gbt.training.histogram_levels``). Where columns have directions a node also has bounds
for its step, and values are kept within them when the tree is finished
(``gbt.splitting.monotone``).
"""

from dataclasses import replace

import numpy as np

from gbt.kernels.cuts.memory import BY_POLICY, Training
from gbt.splitting.greedy import Greedy
from gbt.splitting.policy import Derivatives, Frontier, Policy, Splits
from gbt.tables.columns import Columns
from gbt.tables.level_sets import LevelSets
from gbt.training.fixed_point import to_fixed_point
from gbt.training.grown_trees import NewTrees
from gbt.training.histogram_growth import HistogramGrowth
from gbt.training.node_columns import open_to
from gbt.training.plan import Plan

DRAWS_OF_POLICY = 2  # the number of a random stream; ``gbt.training.sampling`` uses 0 and 1


def growth_of(policy: Policy, columns: Columns, training: Training, plan: Plan) -> HistogramGrowth:
    """Return what grows trees on one table by a policy."""
    if not searches_histograms(policy):
        return PolicyGrowth(policy, columns, training, plan)
    judges = policy.judges(plan.limits) if hasattr(policy, "judges") else None
    return HistogramGrowth(columns, training, plan, judges)


def searches_histograms(policy: Policy) -> bool:
    """Say whether trees of a policy grow in compiled code, or are asked of it node by node."""
    return type(policy) is Greedy or not hasattr(policy, "split")


class PolicyGrowth(HistogramGrowth):
    """Growth of a tree a call, whose splits are those of a policy in Python."""

    def __init__(self, policy: Policy, columns: Columns, training: Training, plan: Plan):
        by_itself = replace(plan, n_jobs=1, has_guest=False)  # a policy is asked by one thread
        super().__init__(columns, training, by_itself, searches=False)
        self.policy, self.limits, self.n_jobs = policy, plan.limits, plan.n_jobs
        self.n_steps = 1  # then the policy is asked
        self.ways[self.ways > 0] = BY_POLICY
        self.seed = plan.seed
        self.weight = to_fixed_point(np.ones(1), training.weight, None, columns.n_rows)

    def grow(self, m: int, rows: np.ndarray | None, features: np.ndarray, most: int) -> NewTrees:
        """Grow one tree, however many ``most`` allows; see `HistogramGrowth`."""
        self.random = np.random.default_rng([self.seed, m, DRAWS_OF_POLICY])
        self.goes_left: dict[int, np.ndarray] = {}  # of nodes on categorical columns, by code
        self.scores: np.ndarray | None = None  # added up by feature
        grown = super().grow(m, rows, features, 1)
        return grown._replace(split_scores=None if self.scores is None else self.scores[np.newaxis])

    def take_steps(self) -> None:
        """Ask the policy for the splits of the nodes opened last, and make them."""
        first, n_nodes = (int(self.rules[name][0]) for name in ("first_open", "n_nodes"))
        if n_nodes > 0:
            self._find_splits(np.arange(first, n_nodes))
            self.rules["is_searched"] = 1
        super().take_steps()
        self._refuse_empty_sides(n_nodes)

    def _find_splits(self, opened: np.ndarray) -> None:
        """Ask the policy for splits of the opened nodes that may be split."""
        nodes, limits = self.work.nodes[opened], self.limits
        may_split = nodes["stop"] - nodes["start"] >= 2 * limits.min_samples_leaf
        if limits.max_depth is not None:
            may_split &= nodes["depth"] < limits.max_depth
        asked, nodes = opened[may_split], nodes[may_split]
        if not len(asked):
            return
        bounds = np.column_stack([nodes["lowest"], nodes["highest"]])
        features = np.asarray(self.features, dtype=np.int64)
        frontier = Frontier(
            self.columns,
            features,
            self._derivatives(),
            self.rows.listed[: int(self.rules["n_listed"][0])],
            nodes["start"],
            nodes["stop"],
            self.random,
            None if limits.directions is None else bounds,
            open_to(nodes, features, self.work),
        )
        splits = self.policy.split(frontier, limits, self.n_jobs)
        _refuse_other_columns(splits, frontier)
        if splits.candidate is not None:
            self._add_scores(splits.candidate, splits.gain, frontier.derivatives)
        for name in ("feature", "cut", "missing_left", "gain"):
            self.work.nodes[name][asked] = getattr(splits, name)
        for i, k in enumerate(splits.feature.tolist()):
            goes_left = None if splits.goes_left is None else splits.goes_left[i]
            if goes_left is not None:
                own = frontier.rows_of(i)
                self.rows.side[own] = ~goes_left[self.columns.codes_of(k)[own]]
                self.goes_left[int(asked[i])] = goes_left
            elif k >= 0 and self.columns.n_levels[k]:
                raise ValueError(
                    "The policy split a categorical column and returned no levels that go left."
                )

    def _derivatives(self) -> Derivatives:
        """Return the integers of the tree, which stand in the rows' entries."""
        rules, entries = self.rules, self.rows.entries
        of_g, of_h = entries[0::2], entries[1::2]
        if rules["width"][0] == 2:  # all rows have the same hessian
            of_g, of_h = entries, np.broadcast_to(rules["hessian"], len(entries))
        scales = float(rules["g_scale"][0]), float(rules["h_scale"][0])
        return Derivatives(of_g, of_h, *scales, *self.weight)

    def _add_scores(
        self, candidate: np.ndarray, gain: np.ndarray, derivatives: Derivatives
    ) -> None:
        """Add up what the policy found its candidates worth."""
        judged = candidate >= 0
        gain = derivatives.from_units(gain[judged])
        scores = np.bincount(candidate[judged], gain, minlength=self.columns.n_columns)
        self.scores = scores if self.scores is None else self.scores + scores

    def _refuse_empty_sides(self, n_before: int) -> None:
        """Raise ValueError if a child has no rows, because growth would never end."""
        nodes = self.work.nodes[: int(self.rules["n_nodes"][0])]
        children = nodes[n_before:]
        if n_before > 0 and (children["stop"] == children["start"]).any():
            raise ValueError("The policy returned a split that sends no row to one of its sides.")
        if (nodes["low_row"][nodes["left"] >= 0] < 0).any():
            raise ValueError("The policy returned a split that sends only missing values left.")

    def level_sets(self, trees: np.ndarray, n_nodes: int) -> LevelSets:
        """Return which levels go left at the nodes of the tree, in preorder."""
        sets: list[np.ndarray | None] = [None] * n_nodes
        for j, goes_left in self.goes_left.items():
            node = self.work.nodes[j]
            if node["left"] >= 0:
                sets[node["place"]] = self.columns.levels_left(
                    int(node["feature"]), goes_left, bool(node["missing_left"])
                )
        return LevelSets.of(sets)


def _refuse_other_columns(splits: Splits, frontier: Frontier) -> None:
    """Raise ValueError if a policy has split a node on a column that is not open to it."""
    for j, feature in enumerate(splits.feature.tolist()):
        may_be = frontier.features
        if frontier.is_open is not None:
            may_be = may_be[frontier.is_open[j]]
        if feature not in (-1, *may_be):
            raise ValueError(
                f"The policy split a node on column {feature}; it may be split on"
                f" {may_be.tolist()}, and -1 stands for a leaf."
            )
