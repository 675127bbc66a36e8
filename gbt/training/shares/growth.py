r"""Grow a tree by asking those who hold the rows.

A level of the tree takes up to three questions to all members of a team; answers are added up::

    split                              divide the rows of the nodes that split; of the smaller child
                                       of each the histograms of coarse bins, those of the larger
                                       one by subtraction
    look_into_bins, look_at_values     see ``gbt.training.shares.search``

Trees are those of ``gbt.training.histogram_growth`` to the last bit.
"""

from math import fsum
from typing import Any

import numpy as np

from gbt.kernels.cuts.memory import RULES
from gbt.kernels.cuts.search import SAFETY
from gbt.kernels.shares.parts import begin_tree
from gbt.kernels.trees.nodes import NODE, records
from gbt.losses.overflow import refuse_overflow, refuse_square_overflow
from gbt.model.tree import NODE_RECORD
from gbt.tables.columns import thresholds_between
from gbt.tables.level_sets import LevelSets
from gbt.training.grown_trees import NewTrees
from gbt.training.node_columns import NodeColumns
from gbt.training.plan import Plan
from gbt.training.shares.edges import Edges
from gbt.training.shares.search import Found, SharedSearch
from gbt.training.shares.share import Split
from gbt.training.shares.team import Team

LARGEST = np.finfo(np.float64).max


class SharedGrowth:
    """Trees on the rows of a team.

    Parameters
    ----------
    team : Team
    edges : Edges
    is_open : uint8 arrays
        Which coarse and which fine bins hold several values.
    plan : Plan
    weight, one_hessian : float, bool
        The weight of all rows, nan if they differ; whether the hessian of all rows is 1.
    levels_weigh : (int, float)
        What a row of a level weighs, if they weigh alike, and how many times its weight that is.
    """

    def __init__(
        self,
        team: Team,
        edges: Edges,
        is_open: tuple[np.ndarray, np.ndarray],
        plan: Plan,
        weight: float,
        one_hessian: bool,
        levels_weigh: tuple[int, float],
    ):
        self.team, self.edges, self.plan = team, edges, plan
        self.weight, self.one_hessian = weight, one_hessian
        self.width = 2 if one_hessian and not np.isnan(weight) else 4
        limits = plan.limits
        self.rules = records(1, RULES)
        self.rules["has_directions"] = 0
        self.rules["reg_lambda"], self.rules["width"] = limits.reg_lambda, self.width
        self.rules["min_rows"] = max(limits.min_samples_leaf, 1)
        self.rules["min_child_weight"] = limits.min_child_weight
        self.rules["min_split_gain"] = limits.min_split_gain
        self.open_columns = NodeColumns(len(edges.n_coarse), plan)
        self.rules["categorical_smoothing"] = limits.categorical_smoothing
        self.rules["weight_unit"] = levels_weigh[0]
        self.rules["most_weight"] = limits.categorical_smoothing * levels_weigh[1]
        self.search = SharedSearch(team, edges, is_open, self.rules, weight)
        self.units: dict[int, tuple] = {}  # of the last tree of every output

    def grow(self, output: int, m: int, features: np.ndarray) -> NewTrees:
        """Grow tree ``m``, which is one of ``output``; raw predictions follow."""
        root, histogram = self._open_root(output, m)
        self.nodes = records(1, NODE)
        for name, value in root.items():
            self.nodes[name] = value
        self.splits: dict[int, Split] = {}
        self.threshold: dict[int, float] = {}  # of every split
        self.leaves: list[int] | None = None  # until they are added up
        opened, histograms = np.array([0]), histogram[np.newaxis]
        self.open_columns.begin(m, features)
        while len(opened):
            searched = opened[[self._is_searched(self.nodes[j]) for j in opened]]
            if not len(searched):
                break
            if len(searched) < len(opened):
                histograms = histograms[np.isin(opened, searched)]
            nodes = self.nodes[searched]
            is_open = self.open_columns.of([(j["depth"], j["state"], j["path"]) for j in nodes])
            found = self.search.best_cuts(searched, nodes, histograms, features, is_open)
            opened, histograms = self._split(searched, found, histograms)
        return self._finish()

    # ---------------------------------------------------------------- the root

    def _open_root(self, output: int, m: int) -> tuple[dict[str, int], np.ndarray]:
        """Settle the units of a tree and its rules in them; see ``choose_scales`` of kernels.

        Units are powers of two, and seldom others than those of the tree before: with these the
        root is opened in the same round, and once more where they do not fit.
        """
        start, guess = ("start_tree", output, m), self.units.get(output)
        roots: list[Any] = []
        if guess is None:
            answers = self.team.ask(*start)
        else:
            answers, roots = self.team.ask_both(start, ("open_root", *guess))
        sums_of_g, sums_of_h, weights, are_whole, sizes = zip(*answers, strict=True)
        # Of a sum in doubt only its power of two matters, as in ``choose_scales``.
        of_g, of_h = (_exact([part[1:] for part in parts]) for parts in (sums_of_g, sums_of_h))
        totals, n, rules = np.array([of_g, of_h, sum(weights)]), sum(sizes), self.rules
        rules["n_listed"] = n
        if not begin_tree(totals, all(are_whole), self.weight, rules):
            refuse_overflow()
        scales = float(rules["g_scale"][0]), float(rules["h_scale"][0])
        layout = (self.width, int(rules["count_bits"][0]), int(rules["hessian"][0]))
        self.units[output] = units = scales, bool(rules["repeats"][0]), layout
        if units != guess:
            roots = self.team.ask("open_root", *units)
        g, h, magnitude, histogram = (sum(part) for part in zip(*roots, strict=True))
        sums = {"g": g, "h": h, "magnitude": magnitude, "stop": n}
        sums |= {"start": 0, "depth": 0, "state": 0, "path": 1}
        return sums, histogram.ravel()

    def _is_searched(self, node: Any) -> bool:
        """Say whether a node may split, as ``gbt.kernels.trees.tasks`` does."""
        deepest = self.plan.shape.max_depth
        may_split = deepest is None or node["depth"] < deepest
        has_rows = node["stop"] - node["start"] >= 2 * self.rules["min_rows"][0]
        weighs = float(node["h"]) * SAFETY >= 2.0 * self.rules["min_hessian"][0]
        return bool(may_split and has_rows and weighs)

    # ---------------------------------------------------------------- the splits

    def _split(
        self, searched: np.ndarray, found: Found, histograms: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Split the nodes whose best cut gains enough; return what is opened, and histograms."""
        best = found.best
        gain = best["score"] - best["own"]
        chosen = np.flatnonzero(gain > best["least"])
        if not len(chosen):
            return np.empty(0, dtype=np.int64), histograms[:0]
        first, children, asked = len(self.nodes), [], []
        for i, c in enumerate(chosen):
            node, cut = self.nodes[searched[c]], best[c]
            left, right = first + 2 * i, first + 2 * i + 1
            pair = self._children(node, cut)
            children += pair
            smaller = left if pair[0]["stop"] <= pair[1]["stop"] else right
            deepest = self.plan.shape.max_depth
            may_split = deepest is None or pair[0]["depth"] < deepest
            k = int(cut["column"])
            asked.append(
                Split(
                    node=int(searched[c]), column=k, cut=float(found.cut[c]),
                    missing_left=bool(cut["missing_left"]), left=left, right=right,
                    added_up=smaller if may_split else -1, levels=self._set_of(found, int(c), k),
                )
            )  # fmt: skip
        is_last = asked[0].added_up < 0
        if is_last:  # of the tree
            parents = set(self.splits).union(searched[chosen].tolist())
            self.leaves = [j for j in range(first + len(children)) if j not in parents]
            answers, self.sums = self.team.ask_both(("split", asked), ("add_up", self.leaves))
        else:
            answers = self.team.ask("split", asked)
        lows, highs, magnitudes, own = zip(*answers, strict=True)
        low, high = np.max(lows, axis=0), np.min(highs, axis=0)
        threshold = np.full(len(chosen), LARGEST)  # where no value goes right
        has_both = np.isfinite(high)
        threshold[has_both] = thresholds_between(low[has_both], high[has_both])
        opened = records(len(children), NODE)
        for j, child in enumerate(children):
            for name, value in child.items():
                opened[name][j] = value
        self.nodes = np.concatenate([self.nodes, opened]).view(type(self.nodes))
        for t, split in zip(threshold, asked, strict=True):
            self.splits[split.node] = split
            self.threshold[split.node] = t if split.levels is None else 0.0
        new = np.arange(first, len(self.nodes))
        if is_last:
            return np.empty(0, dtype=np.int64), histograms[:0]
        below = np.empty((len(new), histograms.shape[1]), dtype=np.int64)
        added_up = zip(asked, chosen, sum(magnitudes), sum(own), strict=True)
        for split, c, magnitude, histogram in added_up:
            smaller = split.added_up
            larger = split.left + split.right - smaller
            self.nodes["magnitude"][smaller] = magnitude
            self.nodes["magnitude"][larger] = self.nodes["magnitude"][split.node] - magnitude
            below[smaller - first] = histogram.ravel()
            below[larger - first] = histograms[c] - histogram.ravel()
        return new, below

    def _set_of(self, found: Found, j: int, column: int) -> np.ndarray | None:
        """Return which levels go left at a node's best cut, and last missing values."""
        n_levels = self.edges.n_levels[column]
        return found.is_left[j, : n_levels + 1].copy() if n_levels > 0 else None

    def _children(self, node: Any, cut: Any) -> list[dict[str, int]]:
        """Return what is known of the children of a node."""
        g, h, n = (int(cut[name]) for name in "ghn")
        if cut["missing_left"]:
            g, h, n = g + cut["missing_g"], h + cut["missing_h"], n + cut["missing_n"]
        depth, of_all = node["depth"] + 1, node["stop"] - node["start"]
        state = self.open_columns.after(int(node["state"]), int(cut["column"]))
        left = {"g": g, "h": h, "stop": n, "path": 2 * node["path"]}
        right = {"g": node["g"] - g, "h": node["h"] - h, "stop": of_all - n}
        right["path"] = left["path"] + np.uint64(1)
        return [{**child, "start": 0, "depth": depth, "state": state} for child in (left, right)]

    # ---------------------------------------------------------------- the grown tree

    def _finish(self) -> NewTrees:
        """Write the tree down in preorder; see ``gbt.kernels.trees.finish``."""
        if self.leaves is None:
            self.leaves = [j for j in range(len(self.nodes)) if j not in self.splits]
            self.sums = self.team.ask("add_up", self.leaves)
        leaves, sums = self.leaves, {}
        for i, j in enumerate(leaves):
            n = int(self.nodes["stop"][j] - self.nodes["start"][j])
            g, h = (_nearest([told[i][part] for told in self.sums]) for part in range(2))
            if g is None or h is None:
                answers = self.team.ask("add_up_exactly", j)
                g, h = (_exact([told[part] for told in answers]) for part in range(2))
            sums[j] = g, n * (self.weight * 1.0) if self.width == 2 else h
        tree = records(len(self.nodes), NODE_RECORD)
        tree["threshold"] = tree["gain"] = 0.0
        tree["feature"] = tree["left"] = tree["right"] = -1
        tree["missing_left"] = False
        values: dict[int, float] = {}
        self.sets: list[np.ndarray | None] = [None] * len(tree)
        self._write(0, 0, tree, sums, values)
        for name in ("sum_gradient", "sum_hessian", "gain", "value"):
            if not np.isfinite(tree[name]).all():
                refuse_square_overflow()
        has_levels = self.edges.n_levels.any()
        grown = NewTrees(tree, [len(tree)], LevelSets.of(self.sets) if has_levels else None)
        self.team.tell("add_values", leaves, [values[j] for j in leaves], grown.to_walk())
        return grown

    def _write(
        self, j: int, place: int, tree: np.ndarray, sums: dict, values: dict
    ) -> tuple[int, float, float, float]:
        """Write a branch from a place on; return where it ends, and G, H and score of its node."""
        record, end = tree[place], place + 1
        record["n_samples"] = self.nodes["stop"][j] - self.nodes["start"][j]
        if j in self.splits:
            split = self.splits[j]
            self.sets[place] = None if split.levels is None else split.levels[:-1]
            record["feature"], record["missing_left"] = split.column, split.missing_left
            record["threshold"], record["left"] = self.threshold[j], end
            end, left_g, left_h, left_score = self._write(split.left, end, tree, sums, values)
            record["right"] = end
            end, right_g, right_h, right_score = self._write(split.right, end, tree, sums, values)
            g, h, of_children = left_g + right_g, left_h + right_h, left_score + right_score
        else:
            g, h = sums[j]
        weight = h + self.plan.limits.reg_lambda
        step = -g / weight if weight > 0.0 else 0.0
        score = -g * step
        if j in self.splits:
            record["gain"] = of_children - score
        record["sum_gradient"], record["sum_hessian"] = g, h
        record["value"] = values[j] = self.plan.learning_rate * step
        return end, g, h, score


def _nearest(parts: list[np.ndarray]) -> float | None:
    """Return the number nearest to an exact sum of which members have parts; None if in doubt."""
    doubt = float(sum(part[0] for part in parts))
    sums = [part[1:] for part in parts]
    least, largest = (_exact([*sums, np.array([rest])]) for rest in (-doubt, doubt))
    return least if least == largest and np.isfinite(least) else None


def _exact(parts: list[np.ndarray]) -> float:
    """Return the number nearest to the sum of all parts; inf where that overflows."""
    try:
        return fsum(np.concatenate(parts))
    except (OverflowError, ValueError):
        return np.inf
