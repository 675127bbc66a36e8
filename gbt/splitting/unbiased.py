"""Unbiased: three parts of a node's rows choose the cut, the feature, and whether to split.

Rows are divided at random into D, D1' and D2', once a tree, and numbers are cut at the edges of at
most 256 bins. With G and H of part i in a node written G_i and H_i, a cut has the three scores

    s_1 = G_1^2 / (H_1 + lambda)                 summed over both sides, less the same of the node
    s_2 = G_1 G_2 / (H_2 + lambda)               likewise
    s_3 = (G_1 + G_2) G_3 / (H_3 + lambda)       likewise

The cut of a feature is the one of largest s_1, the feature the one of largest s_2 (pooled trees
go by ``gbt.kernels.trees.experience``, too), and s_3 is what the split is worth. D has chosen
the cut and D1' the feature, but neither can have fitted itself to D2'; so at the root of pure noise
s_3 is 0 on average, however many values a feature has. A node is split unless s_3 is below
``min_split_gain``, which may be negative. Leaves learn from all rows.

This is Algorithm 2 of Zhang, Zhang and Li, "Unbiased Gradient Boosting Decision Tree with Unbiased
Feature Importance", IJCAI 2023, with lambda added to hessians as everywhere here. With ``merged``
D1' and D2' are one part, which chooses the feature and decides on the split (their D1' = D2'): more
rows for both, but the best of many features is worth more than 0 in noise. Limits hold for
D, and every part must have ``min_samples_leaf`` rows on either side.

Where columns have directions (``gbt.splitting.monotone``), D chooses among cuts beside which its
own steps are in order, and s_2 and s_3 are what the judges' steps within bounds, v' in place of
-G' / (H' + lambda), are worth to those who have learned: -G v'. A split is made only if the steps
of all rows are in order, too. They do not choose the cut, or D2' would have a say in it.

The importance of a feature is the sum of s_3 over all nodes that were looked at, also where s_3 was
too small for a split (the estimators' ``split_scores_``). If only splits counted, the scores of
noise would add up to more than 0, since negative ones would be left out. Algorithm 3 stops at
the first score below the limit and counts that one alone; here no order of nodes matters.
"""

from dataclasses import dataclass
from typing import ClassVar

from gbt.kernels.cuts.sets import UNBIASED, Judges
from gbt.splitting.policy import Limits

# Rounds in a row without a split, after which pooled trees have found all that they can. On real
# tables 30 are enough (docs/accuracy.md). But of 140 drawn targets that only an interaction tells,
# 30 lost five and 60 none, and some were found after 87. Rounds without a split cost little.
STUBS = 100


@dataclass(frozen=True)
class Unbiased:
    """Split where rows that chose neither the cut nor the feature confirm the split.

    Parameters
    ----------
    merged : bool, default=False
        Whether the rows that choose the feature also decide whether to split.
    pooled : bool, default=False
        Whether trees learn from what splits of recent rounds have been worth to rows that did not
        choose them. A tree is grown to a depth, drawn so that splits at a depth are made as often
        as those at that depth have been confirmed, from 500 rows on more often. No node of the
        first six depths is asked whether to split then, unless no depth has been confirmed often
        enough. And a feature is chosen by how much of the gain that its cuts claim has been
        confirmed so far, hardly by the node. Boosting ends after 100 rounds in a row without a
        split, if all trees see all rows and columns and it starts from the best constant.
    """

    judges_by_other_rows: ClassVar[bool] = True
    keeps_directions: ClassVar[bool] = True

    merged: bool = False
    pooled: bool = False

    @property
    def stop_at_stub(self) -> int:
        """After how many rounds in a row without a split boosting ends; 0 stands for never."""
        return STUBS if self.pooled else 0

    def judges(self, limits: Limits) -> Judges:
        """Return the request to the histogram search."""
        return Judges(UNBIASED, 3, 3 - self.merged, max(limits.min_samples_leaf, 1), self.pooled)

    def check_rows(self, n: int, limits: Limits) -> None:
        """Raise ValueError if trees that see n rows cannot have a split.

        Of n rows D has a third, rounded up, and D2' a third, rounded down; merged with D1' more.
        """
        on_a_side = max(limits.min_samples_leaf, 1)
        least = 6 * on_a_side - 2 * self.merged
        if n < least:
            raise ValueError(
                f"splitter='unbiased' divides the rows of a tree into {3 - self.merged} parts, each"
                f" of which needs min_samples_leaf={on_a_side} on either side of a cut: at least"
                f" {least} rows; got {n}."
            )
