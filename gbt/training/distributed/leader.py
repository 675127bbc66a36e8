r"""The leader of a team: it grows a tree by asking the members, who hold the rows.

A depth of the tree takes up to three questions to all members of a team; answers are added up::

    split                              divide the rows of the nodes that split; of the smaller child
                                       of each the histograms of coarse bins, those of the larger
                                       one by subtraction
    look_into_bins, look_at_values     see ``gbt.training.distributed.exact_search``

Trees are those of ``gbt.training.histogram_growth`` to the last bit. Where some rows choose splits
and others judge them, histograms are those of every set of rows, and no more is asked for.
"""

from collections.abc import Sequence
from functools import reduce
from math import fsum
from operator import add

import numpy as np

from gbt.kernels.cuts.memory import Training
from gbt.kernels.cuts.search import SAFETY
from gbt.kernels.cuts.sets import Judges
from gbt.kernels.distributed.pieces import open_children
from gbt.kernels.distributed.trees import begin_tree, end_tree_by_sums
from gbt.kernels.trees.nodes import NODE, records
from gbt.losses.overflow import refuse_overflow, refuse_square_overflow
from gbt.model.tree import NODE_RECORD
from gbt.tables.columns import thresholds_between
from gbt.tables.level_sets import LevelSets
from gbt.training.distributed.bin_search import BinSearch, Found, levels_on_the_left
from gbt.training.distributed.edges import Edges
from gbt.training.distributed.exact_search import ExactSearch
from gbt.training.distributed.questions import Divided, Fit, Measured, Root, Split, Units
from gbt.training.distributed.team import Team
from gbt.training.grown_trees import NewTrees
from gbt.training.histogram_growth import lay_out, zeros
from gbt.training.node_columns import allow, open_to
from gbt.training.plan import Plan

LARGEST = np.finfo(np.float64).max


class Leader:
    """Grows trees on the rows of a team; ``is_open`` is as `ExactSearch` takes it."""

    def __init__(
        self,
        team: Team,
        edges: Edges,
        is_open: tuple[np.ndarray, np.ndarray],
        plan: Plan,
        fit: Fit,
        judges: Judges | None,
        weighing: tuple[np.ndarray, dict[str, float]],
    ):
        self.team, self.edges, self.fit = team, edges, fit
        columns, nothing = edges.columns(), np.empty(0)
        one = np.ones(1)  # in place of weights and hessians that are equal
        training = Training(nothing, one, nothing, nothing, one if fit.are_alike else nothing)
        work = lay_out(columns, training, plan, judges, weighing, n_threads=1, trees_at_once=1)
        self.work, self.rules, self.judging = work, work.rules, work.judging
        self.rules["n_grown"], self.rules["bins_weigh"] = 0, np.isnan(fit.weight)
        self.search = (
            ExactSearch(team, edges, is_open, work)
            if judges is None
            else BinSearch(edges, work, judges)
        )
        self.units: dict[int, Units] = {}  # of the last tree of every output

    def grow(self, output: int, m: int, features: np.ndarray) -> NewTrees:
        """Grow tree ``m``, which is one of ``output``; raw predictions follow."""
        self.rules["first_tree"] = m
        histograms = self._open_root(output, m)
        self.splits: list[Split] = []
        self.thresholds: list[float] = []
        self.sums: list[np.ndarray] = []  # see `Member.add_up`, of every member
        allow(features, self.work)
        opened = np.array([0])
        while len(searched := opened[self._are_searched(self.nodes[opened])]):
            if len(searched) < len(opened):
                histograms = histograms[np.isin(opened, searched)]
            nodes = self.nodes[searched]
            of_features = open_to(nodes, features, self.work)
            is_open = np.zeros((len(nodes), len(self.edges.n_coarse)), dtype=bool)
            is_open[:, features] = True if of_features is None else of_features
            found = self.search.best_cuts(searched, nodes, histograms, is_open)
            self.nodes[searched] = found.nodes
            opened, histograms = self._split(searched, found, histograms)
        return self._finish()

    # ---------------------------------------------------------------- the root

    def _open_root(self, output: int, m: int) -> np.ndarray:
        """Settle the units of a tree and its rules in them, and open its root.

        Units are powers of two, and seldom others than those of the tree before: with these the
        root is opened in the same round, and once more where they do not fit.
        """
        start, guess = ("start_tree", output, m), self.units.get(output)
        measured: list[Measured]
        roots: list[Root] = []
        if guess is None:
            measured = self.team.ask(*start)
        else:
            measured, roots = self.team.ask_both(start, ("open_root", guess))
        # Of a sum in doubt only its power of two matters, as in ``choose_scales``.
        of_g = _exact([own.of_g[1:] for own in measured])
        of_h = _exact([own.of_h[1:] for own in measured])
        totals = np.array([of_g, of_h, sum(own.weight for own in measured)])
        is_whole = all(own.is_whole for own in measured)
        rules, n_rows = self.rules, sum(own.n_rows for own in measured)
        rules["n_listed"] = n_rows
        if not begin_tree(totals, is_whole, self.fit.weight, rules, self.judging):
            refuse_overflow()
        units = self.units[output] = Units(*(rules[name][0].item() for name in Units._fields))
        if units != guess:
            roots = self.team.ask("open_root", units)
        self.nodes = zeros(NODE, 1)
        for name in ("g", "h", "magnitude"):
            self.nodes[name] = sum(getattr(own, name) for own in roots)
        for name in ("feature", "candidate", "left", "right"):
            self.nodes[name] = -1
        self.nodes["stop"], self.nodes["path"] = n_rows, 1
        self.nodes["lowest"], self.nodes["highest"] = -np.inf, np.inf
        return _added_up(roots).reshape(1, -1)

    def _may_split(self, depth: np.ndarray) -> np.ndarray:
        deepest = self.rules["max_depth"][0]
        return (depth < deepest) | (deepest < 0)

    def _are_searched(self, nodes: np.ndarray) -> np.ndarray:
        """Say whether nodes are searched, as ``gbt.kernels.trees.tasks`` does."""
        has_rows = nodes["stop"] >= 2 * self.rules["min_rows"]
        weighs = nodes["h"].astype(np.float64) * SAFETY >= 2.0 * self.rules["min_hessian"]
        return self._may_split(nodes["depth"]) & has_rows & weighs

    # ---------------------------------------------------------------- the splits

    def _split(
        self, searched: np.ndarray, found: Found, histograms: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Split the nodes that have a cut; return what is opened, and its histograms."""
        chosen = np.flatnonzero(found.best["column"] >= 0)
        if not len(chosen):
            return chosen, histograms[:0]
        parents, best, first = searched[chosen], found.best[chosen], len(self.nodes)
        nodes = records(first + 2 * len(parents), NODE)
        nodes[:first], self.nodes = self.nodes, nodes
        open_children(parents, best, nodes, self.rules, self.work.following)
        new = np.arange(first, len(self.nodes))
        left, right = new[0::2], new[1::2]
        n_rows = self.nodes["stop"]
        smaller = np.where(n_rows[left] <= n_rows[right], left, right)
        goes_on = bool(self._may_split(self.nodes["depth"][first]))
        n_levels = self.edges.n_levels[best["column"]]
        splits = [
            Split(
                node=int(parents[i]),
                column=int(best["column"][i]),
                cut=float(found.cut[c]),
                missing_left=bool(best["missing_left"][i]),
                left=int(left[i]),
                right=int(right[i]),
                added_up=int(smaller[i]) if goes_on else -1,
                levels=levels_on_the_left(found.nodes[c], n_levels[i]) if n_levels[i] else None,
            )
            for i, c in enumerate(chosen)
        ]
        divided = self._divide(splits, adds_up_leaves=not goes_on)
        if not goes_on:
            return chosen[:0], histograms[:0]
        magnitude, larger = self.nodes["magnitude"], left + right - smaller
        magnitude[smaller] = sum(own.magnitude for own in divided)
        magnitude[larger] = magnitude[parents] - magnitude[smaller]
        below = np.empty((len(new), histograms.shape[1]), dtype=np.int64)
        below[smaller - first] = _added_up(divided).reshape(len(chosen), -1)
        below[larger - first] = histograms[chosen] - below[smaller - first]
        return new, below

    def _divide(self, splits: list[Split], adds_up_leaves: bool) -> list[Divided]:
        """Let members divide the rows of some nodes; with the last ones they add up the leaves."""
        divided: list[Divided]
        if adds_up_leaves:
            divided, self.sums = self.team.ask_both(("split", splits), ("add_up", self._leaves()))
        else:
            divided = self.team.ask("split", splits)
        low = np.max([own.low for own in divided], axis=0)
        high = np.min([own.high for own in divided], axis=0)
        threshold = np.full(len(splits), LARGEST)  # where no value goes right
        has_both = np.isfinite(high)
        threshold[has_both] = thresholds_between(low[has_both], high[has_both])
        threshold[[split.levels is not None for split in splits]] = 0.0
        self.splits += splits
        self.thresholds += threshold.tolist()
        return divided

    # ---------------------------------------------------------------- the grown tree

    def _leaves(self) -> list[int]:
        return [int(j) for j in np.flatnonzero(self.nodes["left"] < 0)]

    def _finish(self) -> NewTrees:
        """Write the tree down in preorder, and let raw predictions follow."""
        leaves = self._leaves()
        of_members = self.sums or self.team.ask("add_up", leaves)
        sums = np.zeros((len(self.nodes), 2))
        for j, parts in zip(leaves, np.stack(of_members, axis=1), strict=True):
            sums[j] = self._sums_of_leaf(j, parts)
        tree, rows_at_cut = records(len(sums), NODE_RECORD), np.empty((len(sums), 2), np.int32)
        if not end_tree_by_sums(self.nodes, sums, self.rules, self.judging, tree, rows_at_cut):
            refuse_square_overflow()
        place_of_node, sets = self.nodes["place"], np.full(len(tree), None)
        for split, threshold in zip(self.splits, self.thresholds, strict=True):
            place = place_of_node[split.node]
            tree["threshold"][place] = threshold
            sets[place] = None if split.levels is None else split.levels[:-1]
        level_sets = LevelSets.of(sets.tolist()) if self.edges.n_levels.any() else None
        scores = self.judging.scores.copy() if self.rules["has_sets"][0] else None
        grown = NewTrees(tree, [len(tree)], level_sets, scores)
        values = tree["value"][place_of_node[leaves]]
        self.team.tell("add_values", leaves, values.tolist(), grown.to_walk())
        return grown

    def _sums_of_leaf(self, j: int, parts: np.ndarray) -> tuple[float, float]:
        g, h = _nearest(parts[:, 0]), _nearest(parts[:, 1])
        if g is None or h is None:
            g, h = map(_exact, zip(*self.team.ask("add_up_exactly", j), strict=True))
        return g, int(self.nodes["stop"][j]) * self.fit.weight if self.fit.are_alike else h


def _added_up(parts: Sequence[Root] | Sequence[Divided]) -> np.ndarray:
    return reduce(add, [part.histogram for part in parts])


def _nearest(parts: np.ndarray) -> float | None:
    """Return the number nearest to an exact sum of which members have parts; None if in doubt."""
    doubt = float(parts[:, 0].sum())
    least, largest = (_exact([*parts[:, 1:], np.array([rest])]) for rest in (-doubt, doubt))
    return least if least == largest and np.isfinite(least) else None


def _exact(parts: Sequence[np.ndarray]) -> float:
    """Return the number nearest to the sum of all parts; inf where that overflows."""
    try:
        return fsum(np.concatenate(parts))
    except (OverflowError, ValueError):
        return np.inf
