"""SHAP interaction values: the Shapley value of each feature of a row, divided among pairs.

The interaction index of two features is what one adds to the marginal contribution of the other,
averaged over orders in which features become known. A square of numbers has half of it in either
place of the pair; what is left of a feature's Shapley value, its *main effect*, stands on the
diagonal. So every row of the square adds up to a Shapley value of `tree_shap`, and the whole
square, with the base value, to the raw prediction (Lundberg et al. 2020; XGBoost's
``pred_interactions``).

An additive model has main effects alone. The game is the path-dependent one of `tree_shap`.
"""

from typing import Any

import numpy as np

from attributions.inputs import finite_rows, row_labels, trees_of
from attributions.kernels.shap_pairs import MOST_SLOTS_OF_WORDS, PairWalk, add_shapley_pairs
from attributions.per_row.individual import base_values_of, names_of_outputs
from attributions.per_row.tree_shap import BoundTreeShap, TreeShap
from attributions.results import LocalPairAttribution
from gbt.model.credit import Credit
from gbt.model.predictor import over_transposed

ROWS_AT_ONCE = 512
NUMBERS_AT_ONCE = 2**21  # of a block of rows, p^2 each: 16 MB a thread


def tree_shap_pairs(
    model: Any,
    X: Any,
    *,
    cover: str | None = None,
    columns: str = "given",
    n_jobs: int | None = None,
) -> LocalPairAttribution:
    """Divide the Shapley values of rows among pairs of features.

    Parameters
    ----------
    model, X, cover, columns, n_jobs
        As for `tree_shap`, rows in memory. The result holds n p^2 numbers.

    Returns
    -------
    LocalPairAttribution
        With values (n, p, p), or (n, p, p, K) for K outputs. ``values[i, j, k]`` and
        ``values[i, k, j]`` are each half of the interaction of features j and k for row i.
    """
    ensemble = trees_of(model, X, columns=columns)
    rows = finite_rows(ensemble, X)
    n, p = rows.shape
    outputs = [TreeShap(cover=cover).bind(output) for output in ensemble.outputs]
    values = np.empty((n, *2 * (ensemble.n_credited,), ensemble.n_outputs))

    def add(block: np.ndarray, some: slice) -> None:
        for k, bound in enumerate(outputs):
            values[some, :, :, k] = _by_features(ensemble.credit, _squares(bound, block))

    rows_at_once = max(1, min(ROWS_AT_ONCE, NUMBERS_AT_ONCE // p**2))
    over_transposed(add, rows, n_jobs, rows_at_once, min_rows=min(64, rows_at_once))
    return LocalPairAttribution(
        values=values[..., 0] if ensemble.n_outputs == 1 else values,
        base_values=base_values_of(ensemble, outputs, n),
        feature_names=ensemble.credited_names,
        method=TreeShap(cover=cover).name.replace("tree_shap", "tree_shap_pairs"),
        output_names=names_of_outputs(model, ensemble),
        index=row_labels(X),
    )


def _squares(bound: BoundTreeShap, block: np.ndarray) -> np.ndarray:
    """Return the squares of a block of rows, (n, p, p)."""
    _, p, n = block.shape
    n_trees = len(bound.trees.tree_offset) - 1
    shapley, below = np.zeros((p, n)), np.zeros((p, p, n))
    bound.add(block, range(n_trees), np.ones((n_trees, n)), shapley)
    add_shapley_pairs(bound.trees, bound.edge_share, block, _work(bound.longest_path, n), below)
    squares = np.empty((n, p, p))
    squares[:] = (below + below.transpose(1, 0, 2)).transpose(2, 0, 1)
    diagonal = np.arange(p)
    squares[:, diagonal, diagonal] = shapley.T - squares.sum(axis=2)
    return squares


def _by_features(credit: Credit | None, squares: np.ndarray) -> np.ndarray:
    """Return the squares of columns added up by features, whose main effects have all within."""
    if credit is None:
        return squares
    (n, p, _), n_features = squares.shape, len(credit.names)
    rows = credit.add_up(squares.transpose(1, 0, 2), np.zeros((n_features, n, p)))
    both = credit.add_up(rows.transpose(2, 1, 0), np.zeros((n_features, n, n_features)))
    return both.transpose(1, 2, 0)


def _work(depth: int, n_rows: int) -> PairWalk:
    """Return the memory for explaining ``n_rows`` rows at once."""
    n_words = max(n_rows, 2 ** min(depth, MOST_SLOTS_OF_WORDS))
    return PairWalk(
        node=np.empty(depth, dtype=np.int64),
        slot=np.empty(depth, dtype=np.int64),
        share=np.ones(depth + 1),
        feature=np.empty(depth, dtype=np.int64),
        last=np.empty(depth, dtype=np.int64),
        decision=np.empty((depth, n_rows), dtype=np.bool_),
        inside=np.ones((depth + 1, n_rows), dtype=np.bool_),
        place=np.empty(n_rows, dtype=np.int64),
        met=np.empty((depth, n_words), dtype=np.bool_),
        product=np.empty(n_words),
        credit=np.empty((depth, n_words)),
        table=np.empty((depth * (depth - 1) // 2, n_words)),
    )
