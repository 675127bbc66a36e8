r"""Losses of times to an event in plain loops: Cox's, accelerated failure time; concordances.

**Cox: who has the event, out of all who might have.**

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

**Accelerated failure time: when it comes.** log T = f + scale Z, with Z of a known law. Of T it is
known to lie between a lower and an upper bound, which are the same if the event was seen.
"""

from collections.abc import Callable
from math import erf, exp, inf, log, pi, sqrt

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
            if event and weight[i] and time <= until:
                hessian[j] += np.exp(f[j]) * weight[i] / risk_sum(y, f, weight, time)
        gradient[j] = hessian[j] - d
    return gradient, hessian


def risk_sum(y: np.ndarray, f: np.ndarray, weight: np.ndarray, time: float) -> float:
    """Return S: the weighted hazards of all rows that are still without the event before a time."""
    return sum(weight[j] * np.exp(f[j]) for j, (until, _) in enumerate(y) if until >= time)


LAWS: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    # the density of Z, and the probability below
    "normal": (lambda z: exp(-(z**2) / 2) / sqrt(2 * pi), lambda z: 0.5 * (1 + erf(z / sqrt(2)))),
    "logistic": (lambda z: exp(-z) / (1 + exp(-z)) ** 2, lambda z: 1 / (1 + exp(-z))),
    "extreme": (lambda z: exp(z - exp(z)), lambda z: 1 - exp(-exp(z))),
}


def aft_loss(bounds: np.ndarray, f: np.ndarray, law: str, scale: float) -> np.ndarray:
    """Return the loss of every row; ``bounds`` has the columns lower and upper."""
    density, below = LAWS[law]
    loss = np.zeros(len(f))
    for i, (lower, upper) in enumerate(bounds):
        if lower == upper:
            loss[i] = -log(density((log(lower) - f[i]) / scale) / (scale * lower))
        else:
            up_to = 1.0 if upper == inf else below((log(upper) - f[i]) / scale)
            before = 0.0 if lower == 0 else below((log(lower) - f[i]) / scale)
            loss[i] = -log(up_to - before)
    return loss


def aft_derivatives(
    bounds: np.ndarray, f: np.ndarray, law: str, scale: float, step: float = 1e-4
) -> tuple[np.ndarray, np.ndarray]:
    """Return slope and bend of the loss of every row, from its values on either side."""
    below, at, above = (aft_loss(bounds, f + move, law, scale) for move in (-step, 0.0, step))
    return (above - below) / (2 * step), (above - 2 * at + below) / step**2


def concordance(
    bounds: np.ndarray, risk: np.ndarray, weight: np.ndarray, of_earlier: np.ndarray
) -> float:
    """Return how often the row with the earlier event has the higher risk.

    Two rows can be compared if event i has come by the time from which on event j can come: its
    upper bound is below the lower bound of j, or the same where j comes later than that. Equal
    risks count half. Harrell's index has 1 for ``of_earlier``, Uno's the weights of `uno_weight`.
    """
    right = pairs = 0.0
    for i, (_, by) in enumerate(bounds):
        for j, (after, until) in enumerate(bounds):
            if by < after or (by == after and after < until):
                pair = weight[i] * weight[j] * of_earlier[i]
                pairs += pair
                right += pair * ((risk[i] > risk[j]) + 0.5 * (risk[i] == risk[j]))
    return right / pairs


def uno_weight(y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return 1 / G^2 of each row: G is the probability not to be censored before its time.

    It is the product over earlier times of the share of rows that were not censored there, out of
    those who were still observed then and without the event (Kaplan and Meier 1958). ``y`` has the
    columns time and event.
    """
    of_row = np.ones(len(y))
    for i, (time, _) in enumerate(y):
        for t in {t for t, _ in y if t < time}:
            at_risk = [j for j, (t_j, d_j) in enumerate(y) if t_j > t or (t_j == t and not d_j)]
            censored = sum(weight[j] for j in at_risk if y[j][0] == t)
            of_row[i] *= 1 - censored / sum(weight[j] for j in at_risk)
    return of_row**-2
