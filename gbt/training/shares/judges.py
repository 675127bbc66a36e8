"""The splits of nodes whose rows others hold, where some rows choose and others judge.

Cuts lie between coarse bins, whose histograms are here, one for every set of rows; so members are
asked for nothing more.
"""

import numpy as np

from gbt.kernels.cuts.memory import FOUND, OF_LEVELS
from gbt.kernels.cuts.sets import Judging
from gbt.kernels.shares.judges import judge_nodes
from gbt.kernels.trees.nodes import records
from gbt.training.histogram_growth import zeros
from gbt.training.shares.edges import Edges
from gbt.training.shares.search import Found


class SharedJudges:
    """The search of judged splits; it is asked as `SharedSearch` is.

    Parameters
    ----------
    edges : Edges
    rules : RULES record
    judging : Judging
    """

    def __init__(self, edges: Edges, rules: np.ndarray, judging: Judging):
        self.edges, self.rules, self.judging = edges, rules, judging
        self.columns, self.of_levels = edges.columns(), zeros(OF_LEVELS, 1)

    def best_cuts(
        self,
        searched: np.ndarray,
        nodes: np.ndarray,
        histograms: np.ndarray,
        allowed: np.ndarray,
        is_open: np.ndarray,
    ) -> Found:
        """Find the splits of some nodes."""
        found = Found.nothing(nodes, self.edges)
        judge_nodes(
            nodes, histograms, self.columns[allowed], is_open, self.rules, self.judging,
            records(1, FOUND), self.of_levels, found.best, found.is_left,
        )  # fmt: skip
        column, last_bin = found.best["column"], found.best["part"]
        has_cut = (column >= 0) & (self.edges.n_levels[column] == 0)  # all bins are coarse ones
        found.cut[has_cut] = self.edges.upper[(self.edges.first_fine[column] + last_bin)[has_cut]]
        return found
