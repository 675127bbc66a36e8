r"""What rows weigh at a split if they start from values of their own, such as log exposures.

If the model is off by one factor for all rows of a node, because other features have not been
learned yet, residuals of a policy of twelve months are twelve times those of one month, and a
feature that says how long, and nothing of the rate, would have a contrast of mean g between its
sides. So a side is not divided by its rows, but by U, the sum of w u, with u the hessian of the row
if its target were as predicted: the events to be expected::

    loss        u                      E g if all rows of a node belong higher by delta
    Poisson     m                      -m (e^delta - 1)                    in proportion to u
    Tweedie     m^(2 - p)              -m^(2 - p) (e^delta - 1)            in proportion to u
    logistic    p (1 - p)              -p (1 - p) delta                    if delta is small
    gamma, squared error: 1            the same for all rows

G / U is a step that all rows of a side may have in common. u does not depend on the row's own
target, as a fit's hessian may: else U would be larger where residuals are. The logistic loss stands
for softmax, too, class by class. Where all rows start from one number, u says what other features
have told already, and rows weigh the same; so do they in models of several targets, and of classes
under a loss of one's own.
"""

from typing import Any

import numpy as np

from gbt.losses.loss import Loss
from gbt.losses.several_outputs import Softmax


def have_exposures(loss: Loss, init_score: Any) -> bool:
    """Say whether rows of a loss by row weigh something at splits beside their weights."""
    differ = loss.n_outputs == 1 and not (loss.has_one_hessian or loss.has_pairs)
    return init_score is not None and (differ or isinstance(loss, Softmax))


def exposures(loss: Loss, raw_prediction: np.ndarray) -> np.ndarray:
    """Return u of rows, in the shape of their raw predictions, (..., n) or (..., n, K)."""
    if isinstance(loss, Softmax):  # whose hessian no target changes
        of_rows = raw_prediction.reshape(-1, loss.n_outputs)
        _, u = loss.gradient_hessian(np.zeros(len(of_rows)), of_rows)
        return u.reshape(raw_prediction.shape)
    raw = raw_prediction.reshape(-1)
    _, u = loss.gradient_hessian(loss.inverse_link(raw), raw)
    return u.reshape(raw_prediction.shape)
