r"""The closed forms of unbiased gain: one number a split, from sums over rows, and derivatives.

For a split of node t into l and r there are sums over training rows, G and the weight n, and over
validation rows, G', H' and the weight n'. Two forms need nothing else:

    symmetric   S = c (mean g'_l - mean g'_r) n'_t / H'_t    c = n_l n_r / n_t (mean g_l - mean g_r)
    by ratios   G_l r_l + G_r r_r - G_t r_t                  r = G' / H'

The standard error needs their change with a single validation row, which adds w g, w h and w to the
child that it goes to and to the node. Training rows, and so the contrast c, stay what they are.
With s = c n'_t / H'_t, a row on the left moves the symmetric gain, to first order, by

    (s / n'_l) w g  -  (S / H'_t) w h  +  (S / n'_t - s mean g'_l / n'_l) w

and one on the right by the same with -s and the numbers of r. It moves the gain by ratios by

    (G_l / H'_l - G_t / H'_t) w g  -  (G_l r_l / H'_l - G_t r_t / H'_t) w h

So either form leaves three numbers a child, which a walk down the trees multiplies with the rows.
"""

from dataclasses import dataclass

import numpy as np

from attributions.walk.layout_of_steps import Splits, lower_of
from gbt.model.ensemble import Ensemble


@dataclass(frozen=True, eq=False)
class NodeSums:
    """Sums over the rows of one node of each split: arrays of one number a split."""

    gradient: np.ndarray
    hessian: np.ndarray
    weight: np.ndarray
    n_rows: np.ndarray

    @property
    def mean_gradient(self) -> np.ndarray:
        """Mean of g."""
        return self.gradient / self.weight

    @property
    def ratio(self) -> np.ndarray:
        """The Newton step with the opposite sign."""
        return self.gradient / self.hessian


@dataclass(frozen=True, eq=False)
class JudgedSplits(Splits):
    """The splits that count, with the sums of training (G) and validation rows (V) at their nodes.

    Of a split, ``l``, ``r`` and ``t`` are the children and the node itself.
    """

    train: tuple[NodeSums, ...]
    valid: tuple[NodeSums, ...]

    @classmethod
    def of(
        cls, ensemble: Ensemble, train: np.ndarray, valid: np.ndarray, min_samples: int
    ) -> "JudgedSplits":
        """Return the splits with enough validation rows in both children."""
        right, left = lower_of(ensemble).T.astype(np.int64)
        _, _, train_weight, _ = train
        _, hessian, _, n_rows = valid
        fewest = np.minimum(n_rows[left], n_rows[right])
        lightest = np.minimum(hessian[left], hessian[right])
        counts = (left != right) & (fewest >= min_samples) & (lightest > 0) & (train_weight > 0)
        node = np.flatnonzero(counts)
        places = left[node], right[node], node
        of_train, of_valid = (
            tuple(NodeSums(*sums[:, place]) for place in places) for sums in (train, valid)
        )
        return cls(ensemble, node, left[node], right[node], of_train, of_valid)

    @property
    def training_contrast(self) -> np.ndarray:
        """n_l n_r / n_t * (mean g_l - mean g_r), which also holds where a child is empty."""
        l, r, t = self.train
        return (l.gradient * r.weight - r.gradient * l.weight) / t.weight

    def symmetric_gain(self) -> np.ndarray:
        """Training contrast times validation contrast over the pooled hessian."""
        l, r, t = self.valid
        contrast = l.mean_gradient - r.mean_gradient
        return self.training_contrast * contrast * t.weight / t.hessian

    def symmetric_parts(self) -> np.ndarray:
        """Return the derivatives of the symmetric gain by w g, w h and w, by step."""
        l, r, t = self.valid
        scale = self.training_contrast * t.weight / t.hessian
        gain = self.symmetric_gain()
        hessian, weight = -gain / t.hessian, gain / t.weight
        to_left = scale / l.weight, hessian, weight - scale * l.mean_gradient / l.weight
        to_right = -scale / r.weight, hessian, weight + scale * r.mean_gradient / r.weight
        return self.on_steps(to_left, to_right)

    def ratio_gain(self) -> np.ndarray:
        """Training sums times ratios of validation sums; the paper's where all w h are equal."""
        gain = [train.gradient * valid.ratio for train, valid in self._pairs]
        return gain[0] + gain[1] - gain[2]

    def ratio_parts(self) -> np.ndarray:
        """Return the derivatives of the gain by ratios by w g, w h and w, by step."""
        step = [train.gradient / valid.hessian for train, valid in self._pairs]
        bend = [-a * valid.ratio for a, valid in zip(step, self.valid, strict=True)]
        none = np.zeros(len(self.node))
        return self.on_steps(
            (step[0] - step[2], bend[0] - bend[2], none),
            (step[1] - step[2], bend[1] - bend[2], none),
        )

    @property
    def _pairs(self) -> list[tuple[NodeSums, NodeSums]]:
        return list(zip(self.train, self.valid, strict=True))
