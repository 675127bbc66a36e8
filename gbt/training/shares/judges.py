"""The splits of nodes whose rows others hold, where some rows choose and others judge.

Cuts lie between coarse bins, whose histograms are here, one for every set of rows; so members are
asked for nothing more.
"""

import numpy as np

from gbt.kernels.cuts.memory import FOUND, OF_LEVELS
from gbt.kernels.cuts.sets import Judging
from gbt.kernels.shares.judges import judge_nodes
from gbt.kernels.shares.parts import BEST
from gbt.kernels.trees.nodes import records
from gbt.training.histogram_growth import zeros
from gbt.training.shares.edges import MOST_COARSE, Edges
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
        is_open: np.ndarray | None,
    ) -> Found:
        """Find the splits of some nodes."""
        n_codes = MOST_COARSE + 1 if self.edges.n_levels.any() else 0
        best, is_left = records(len(nodes), BEST), np.zeros((len(nodes), n_codes), dtype=bool)
        if is_open is None:
            is_open = np.ones((len(nodes), len(allowed)), dtype=bool)
        judge_nodes(
            nodes, histograms, self.columns[allowed], is_open, self.rules, self.judging,
            records(1, FOUND), self.of_levels, best, is_left,
        )  # fmt: skip
        after = zip(best["column"].tolist(), best["part"].tolist(), strict=True)
        cut = [np.nan if k < 0 else self.edges.upper(k, part) for k, part in after]
        return Found(nodes, best, np.array(cut), is_left)
