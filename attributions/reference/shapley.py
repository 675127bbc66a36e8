"""Shapley values of one row and their interactions, over all coalitions: slow, and to be read."""

from collections.abc import Callable
from itertools import combinations
from math import factorial

import numpy as np

from attributions.reference.definitions import Tree, path, takes_left

Game = Callable[[frozenset[int]], float]  # v(S): the worth of a coalition of features


def shapley_values(game: Game, n_features: int) -> np.ndarray:
    """Return each player's mean marginal contribution (Shapley 1953), over all 2^p coalitions.

        phi_k = sum over S without k of |S|! (p - |S| - 1)! / p! * (v(S + k) - v(S))

    ``game`` takes a frozenset of features and returns v.
    """
    p = n_features
    coalitions = [frozenset(S) for size in range(p + 1) for S in combinations(range(p), size)]
    v = {S: game(S) for S in coalitions}
    phi = np.zeros(p)
    for S in coalitions:
        for k in set(range(p)) - S:
            weight = factorial(len(S)) * factorial(p - len(S) - 1) / factorial(p)
            phi[k] += weight * (v[S | {k}] - v[S])
    return phi


def path_dependent_game(tree: Tree, x: np.ndarray, cover: np.ndarray) -> Game:
    """Return v(S): known features follow x, unknown ones both children in shares of the cover.

    A child of a node without cover has share 0. Lundberg et al. 2020, Algorithm 1.
    """

    def v(S: frozenset[int], t: int = 0) -> float:
        l, r = tree.left[t], tree.right[t]
        if l < 0:
            return tree.value[t]
        if tree.feature[t] in S:
            return v(S, l if takes_left(tree, t, x) else r)
        if cover[t] == 0:
            return 0.0
        return cover[l] / cover[t] * v(S, l) + cover[r] / cover[t] * v(S, r)

    return v


def interventional_game(tree: Tree, x: np.ndarray, background: np.ndarray) -> Game:
    """Return v(S): the mean prediction of the background rows with the features S taken from x."""

    def v(S: frozenset[int]) -> float:
        known = list(S)
        total = 0.0
        for z in background:
            hybrid = z.copy()
            hybrid[known] = x[known]
            total += tree.value[path(tree, hybrid)[-1]]
        return total / len(background)

    return v


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
