"""Shapley interaction values by their definition, over all coalitions."""

from itertools import combinations
from math import factorial

import numpy as np

from attributions.reference.definitions import Game, shapley_values


def shapley_interactions(game: Game, n_features: int) -> np.ndarray:
    """Return a square of numbers that add up, row by row, to the Shapley values of a game.

    Off the diagonal is half of the interaction index (Fujimoto, Kojadinovic and Marichal 2006),

        I_jk = sum over S without j, k of |S|! (p - |S| - 2)! / (p - 1)!
               * (v(S + j + k) - v(S + j) - v(S + k) + v(S))

    and on the diagonal what is left of the Shapley value (Lundberg et al. 2020, section "SHAP
    interaction values").
    """
    p = n_features
    square = np.zeros((p, p))
    for j, k in combinations(range(p), 2):
        others = [other for other in range(p) if other not in (j, k)]
        for size in range(p - 1):
            weight = factorial(size) * factorial(p - size - 2) / factorial(p - 1)
            for chosen in combinations(others, size):
                S = frozenset(chosen)
                change = game(S | {j, k}) - game(S | {j}) - game(S | {k}) + game(S)
                square[j, k] += weight * change / 2
        square[k, j] = square[j, k]
    np.fill_diagonal(square, shapley_values(game, p) - square.sum(axis=1))
    return square
