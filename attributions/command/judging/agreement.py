"""Whether errors of a model agree within groups of rows, or from one row to the next.

A person's rows have errors in common that a model cannot learn from other persons. For errors r of
rows in G groups the analysis of variance compares the variance between groups with that within
them:

    F = B / W      B = sum_g n_g (mean_g - mean)^2 / (G - 1)      W = sum (r - mean_g)^2 / (n - G)

and (B - W) / (B + (m - 1) W), m rows a group, is the share of the errors' variance that rows of a
group have in common. The rows must be of groups that the model has not seen: on those that it has
seen it may have learned the persons.
"""

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import norm

from attributions.command.rules.belonging import Agreement
from gbt.losses.loss import Loss

FEWEST_GROUPS = 5
TINY = 1e-12  # of the errors' variance is what rounding leaves of it within groups


def errors_of(loss: Loss, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
    """Return the errors of predictions, (n, K): negative gradients."""
    gradient, _ = loss.gradient_hessian(y, raw_prediction)
    return -gradient.reshape(len(y), -1)


def agreement_within(errors: np.ndarray, groups: np.ndarray) -> Agreement:
    """Return how far errors agree within groups; of several outputs those that agree most."""
    places = np.unique(groups, return_inverse=True)[1].reshape(-1)
    sizes = np.bincount(places).astype(np.float64)
    n, n_groups = len(places), len(sizes)
    if n_groups < FEWEST_GROUPS or n <= n_groups:
        return Agreement()
    r = errors - errors.mean(axis=0)
    squares = (r**2).sum(axis=0)
    of_means = np.array([(np.bincount(places, own) ** 2 / sizes).sum() for own in r.T])
    within = np.maximum((squares - of_means) / (n - n_groups), TINY * squares + TINY)
    between = of_means / (n_groups - 1)
    mean_size = (n - (sizes**2).sum() / n) / (n_groups - 1)
    shares = (between - within) / (between + (mean_size - 1) * within)
    return _clearest(shares, f_distribution.sf(between / within, n_groups - 1, n - n_groups))


def agreement_along(errors: np.ndarray, order: np.ndarray) -> Agreement:
    """Return how far errors of neighbours agree, where rows are put in ascending ``order``."""
    n = len(order)
    if n < 10 * FEWEST_GROUPS:
        return Agreement()
    r = (errors - errors.mean(axis=0))[np.argsort(order, kind="stable")]
    shares = (r[1:] * r[:-1]).sum(axis=0) / np.maximum((r**2).sum(axis=0), TINY)
    return _clearest(shares, norm.sf(shares * np.sqrt(n)))


def _clearest(shares: np.ndarray, p_values: np.ndarray) -> Agreement:
    """Return the agreement of the output that shows it best, allowing for the number of outputs."""
    k = np.lexsort((-shares, p_values))[0]
    return Agreement(float(shares[k]), min(1.0, float(p_values[k]) * len(p_values)))
