r"""Cox's loss of times to an event in plain loops: who has the event, out of all who might have.

Row i was observed until time t_i, and d_i says whether its event came then (1) or observation just
ended (0). Of the rows that were still without the event just before t, the *risk set* of t, one has
it at t. If hazards are in proportion to e^f, it is row i with probability

    e^f_i / S(t)            S(t) = sum of w_j e^f_j over rows j with t_j >= t

and the loss is the negative logarithm of these probabilities, added up over all events. When events
come at all does not matter, nor does a constant in f. Of equal times each has the same risk set
(Breslow 1974).

Each row's f is in the risk sets of all events up to its own time. So its derivatives need

    L(t) = sum of w_i d_i / S(t_i) over events i with t_i <= t

and are e^f L - d, what was to be expected of the row less what came, and e^f L, at given L.
"""

import numpy as np


def cox_loss(y: np.ndarray, f: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the loss of every row; ``y`` has the columns time and event."""
    loss = np.zeros(len(f))
    for i, (time, event) in enumerate(y):
        if event:
            loss[i] = np.log(risk_sum(y, f, weight, time)) - f[i]
    return loss


def cox_derivatives(
    y: np.ndarray, f: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return gradient and hessian of every row."""
    gradient, hessian = np.zeros((2, len(f)))
    for j, (until, d) in enumerate(y):
        for i, (time, event) in enumerate(y):
            if event and time <= until:
                hessian[j] += np.exp(f[j]) * weight[i] / risk_sum(y, f, weight, time)
        gradient[j] = hessian[j] - d
    return gradient, hessian


def risk_sum(y: np.ndarray, f: np.ndarray, weight: np.ndarray, time: float) -> float:
    """Return S: the weighted hazards of all rows that are still without the event before a time."""
    return sum(weight[j] * np.exp(f[j]) for j, (until, _) in enumerate(y) if until >= time)


def concordance(y: np.ndarray, risk: np.ndarray, weight: np.ndarray) -> float:
    """Return Harrell's concordance: how often the row with the earlier event has the higher risk.

    Two rows can be compared if i has the event, and j lives on: its time is later, or the same but
    censored. Equal risks count half.
    """
    right = pairs = 0.0
    for i, (t_i, d_i) in enumerate(y):
        for j, (t_j, d_j) in enumerate(y):
            if d_i and (t_j > t_i or (t_j == t_i and not d_j)):
                pairs += weight[i] * weight[j]
                right += weight[i] * weight[j] * ((risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j]))
    return right / pairs
