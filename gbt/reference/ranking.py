r"""Losses of an order in plain loops: which of two rows of a query comes first.

A query has n rows with grades y. In a pair (i, j) row i has the higher grade, and a model says that
i comes first with probability 1 / (1 + e^-(f_i - f_j)). The loss is the negative logarithm of it,

    sum over pairs of  weight_ij  log(1 + e^-(f_i - f_j))

Only differences within a query count. There are two weights of a pair:

*pairwise*  1 / n. A row then weighs about as much in a long query as in a short one.

*ndcg*      by how much the NDCG of the query would change if i and j changed places (LambdaRank;
Burges 2010). The NDCG is the sum of (2^grade - 1) discount(place), over the largest that any
order could have, with discount(r) = 1 / log2(1 + r) for the places r = 1 .. k. Weights follow the
predictions, and derivatives are taken as if they did not.

Rows of equal predictions have no order. They come in any order with the same probability, and
places, weights and the NDCG are averages over all these orders: without them the order of the table
would say who comes first.
"""

from collections.abc import Callable
from itertools import permutations

import numpy as np


def dcg(grades: np.ndarray, at: int | None) -> float:
    """Return the discounted cumulative gain of grades in the order in which they are shown."""
    return sum((2.0**grade - 1) * discount(r, at) for r, grade in enumerate(grades))


def discount(place: int, at: int | None) -> float:
    """Return what a place counts, of which the first is 0; 0 from place ``at`` on."""
    return 1 / np.log2(2 + place) if at is None or place < at else 0.0


def orders(f: np.ndarray) -> list[tuple[int, ...]]:
    """Return all orders of rows in which predictions do not rise."""
    return [o for o in permutations(range(len(f))) if all(np.diff(f[list(o)]) <= 0)]


def even_weight(y: np.ndarray, f: np.ndarray, i: int, j: int) -> float:
    """Return what a pair weighs in the pairwise loss."""
    return 1 / len(y)


def swap_weight(at: int | None) -> Callable[..., float]:
    """Return a function: by how much the NDCG of a query changes if two rows change places."""

    def weight(y: np.ndarray, f: np.ndarray, i: int, j: int) -> float:
        changes = []
        for order in orders(f):
            swapped = [{i: j, j: i}.get(row, row) for row in order]
            changes.append(abs(dcg(y[list(order)], at) - dcg(y[swapped], at)))
        return float(np.mean(changes)) / dcg(np.sort(y)[::-1], at)

    return weight


def of_pairs(
    y: np.ndarray, f: np.ndarray, weight: Callable[..., float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the loss of the rows of one query, their gradients and hessians.

    The loss of a pair is that of its better row; weights are taken as constants.
    """
    loss, gradient, hessian = np.zeros((3, len(y)))
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] > y[j]:
                w, wrong = weight(y, f, i, j), 1 / (1 + np.exp(f[i] - f[j]))
                loss[i] += w * np.log1p(np.exp(f[j] - f[i]))
                gradient[i] -= w * wrong
                gradient[j] += w * wrong
                hessian[i] += w * wrong * (1 - wrong)
                hessian[j] += w * wrong * (1 - wrong)
    return loss, gradient, hessian
