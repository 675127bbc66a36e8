"""Losses of a raw prediction f against a target y, with their first two derivatives in f.

============================  ===========================  ============  ===============  =========
loss                          value                        gradient g    hessian h        f means
============================  ===========================  ============  ===============  =========
``HalfSquaredError``          (y - f)^2 / 2                f - y         1                mean
``HalfLogistic``, y in 0, 1   log(1 + exp(f)) - y f        p - y         p (1 - p)        log-odds
``CrossEntropy``, y 0 to 1    the same                     p - y         p (1 - p)        log-odds
``Poisson``, y >= 0           exp(f) - y f                 m - y         max(m, y)        log mean
``Gamma``, y > 0              y exp(-f) + f                1 - y / m     max(1, y / m)    log mean
``Quantile(a)``               a (y-f)+ + (1-a) (f-y)+      -a or 1 - a   1                quantile
``Absolute``                  abs(y - f)                   sign(f - y)   1                median
``Huber(d)``                  (y - f)^2 / 2, beyond d a    f - y within  1                centre
                              line                         -d and d
``PseudoHuber(d)``            d^2 (s - 1) with             (f - y) / s   1 / s^3          centre
                              s^2 = 1 + ((y - f)/d)^2
============================  ===========================  ============  ===============  =========

with p = 1 / (1 + exp(-f)), m = exp(f), and x+ the positive part of x. The names tell the constant:
the squared error is halved, and so is the binomial deviance. Losses know no sample weights; code
that sums over rows multiplies by them. `Tweedie` and `SquaredLogError` have their formulas in
``gbt.losses.amounts``, the losses of several outputs in ``gbt.losses.several_outputs``, those of
times to an event, `Cox` and `Aft`, in ``gbt.losses.survival``, and those of an order, `Pairwise`
and `NDCG`, in ``gbt.losses.ranking``. Under `Cox` and the last two the loss of a row depends on
other rows: such losses know weights, and are asked for all rows at once (``Loss.prepared``).

Read ``loss`` first (the methods of a loss), then the losses themselves: ``squared_and_logistic``
(the two that kernels know), ``amounts``, ``robust``, ``several_outputs``. ``own`` wraps a user's
object, ``by_name`` finds a loss by its name, ``overflow`` refuses sums that do not fit into
float64.

The hessians of `Poisson` and `Gamma` are not the second derivatives at the prediction, m and y / m,
but the largest between prediction and target. With second derivatives at the prediction, Newton's
step -G/H would send a row of 5000 that is predicted as 10 to 10 exp(499), from where it returns by
a learning rate a tree, and the gamma loss would send amounts near 0 as far down. With S = sum of y
and M = sum of m over the rows of a leaf, H is at least the larger of both, and the best step is
log(S/M), so that

    -G/H = (S - M) / H      has the sign of log(S/M), and is at most 1 and at most abs(log(S/M)).

No step goes beyond the best value of its leaf, and the loss of the training rows never rises.
(For `Gamma`, S is the sum of y / m, and M of 1.) Models of other libraries keep their libraries'
hessians.

Kernels have the formulas of the first two; the derivatives of the others are computed in NumPy
before each tree. The absolute and the quantile loss have no curvature, so 1 stands in its place: a
leaf's value is then -learning_rate (rows above less rows below, weighed) / (rows + lambda). No leaf
is refitted to the quantile of its rows, as some libraries do, so a step is never longer than the
learning rate: scale a target that ranges over thousands, or take more trees. Fitting warns where
the steps of all trees together are far too short (`warn_of_short_steps`).

A new loss is a class that inherits `Loss`, adds ``value`` and ``derivatives``, and is listed
in ``OF_REGRESSION`` of ``gbt.losses.by_name``; `Gamma` is an example, and CONTRIBUTING.md says what
else to do. A user's own loss needs no file here. Only a loss that is worth compiling has its
formulas in ``gbt.kernels.rows.derivatives``, too, under a ``kind`` of its own.
"""

from gbt.losses.amounts import Gamma, Poisson, SquaredLogError, Tweedie
from gbt.losses.loss import Loss
from gbt.losses.ranking import NDCG, Pairwise
from gbt.losses.robust import Absolute, Huber, PseudoHuber, Quantile
from gbt.losses.several_outputs import SeveralTargets, Softmax
from gbt.losses.squared_and_logistic import CrossEntropy, HalfLogistic, HalfSquaredError
from gbt.losses.survival import Aft, Cox

__all__ = [
    "NDCG", "Absolute", "Aft", "Cox", "CrossEntropy", "Gamma", "HalfLogistic", "HalfSquaredError",
    "Huber", "Loss", "Pairwise", "Poisson", "PseudoHuber", "Quantile", "SeveralTargets", "Softmax",
    "SquaredLogError", "Tweedie",
]  # fmt: skip
