"""Feature selection: train once more on the features that an importance ranks first.

A greedy model with parameters found for all features gives the importances: gain and SHAP from what
it has seen, the others from rows that it has not. So a quarter of the training rows decides when to
stop, and the validation rows are kept for the importances. The best 10, 20 and 30 % of the features
are kept, the model is fitted again, and test rows judge it.
"""

from collections.abc import Callable

import numpy as np

from attributions import (
    held_out_gain,
    partial_inner,
    permutation,
    total_gain,
    tree_inner,
    tree_shap,
    unbiased_gain,
)
from benchmarks.papers.rankings import trainers
from benchmarks.papers.rankings.splits import split_table

SHARES = (0.1, 0.2, 0.3)
Importance = Callable[..., np.ndarray]
IMPORTANCES: dict[str, Importance] = {
    "gain": lambda model, train, valid: total_gain(model).values,
    "SHAP": lambda model, train, valid: np.abs(tree_shap(model, train[0]).values).mean(axis=0),
    "permutation": lambda model, train, valid: permutation(model, *valid, random_state=0).values,
    "held-out gain": lambda model, train, valid: held_out_gain(model, *valid).values,
    "unbiased gain": lambda model, train, valid: (
        unbiased_gain(model, *train, *valid, standard_error=False).values
    ),
    "tree_inner": lambda model, train, valid: tree_inner(model, *valid).values,
    "partial_inner": lambda model, train, valid: partial_inner(model, *valid).values,
}


def experiment(cell, rng, size):
    """Select by every importance from one model, and test what is left."""
    train, valid, test = split_table(cell["data"], rng, size)
    configurations = np.random.default_rng(rng.integers(2**31))
    n_fit = 3 * len(train[1]) // 4  # rows are in random order
    fit, stop = (
        (train[0].iloc[part], train[1][part]) for part in (slice(n_fit), slice(n_fit, None))
    )
    model, _ = trainers.searched("greedy", configurations, size, fit, stop)
    most_trees = trainers.MOST_TREES if size == "full" else 5
    found = {"learning_rate": model.learning_rate, "min_rows": model.min_samples_leaf}
    found |= {"min_split_gain": model.min_split_gain, "seed": model.random_state}
    for name, importance in IMPORTANCES.items():
        order = np.argsort(-importance(model, fit, valid), kind="stable")
        for share in SHARES:
            kept = np.sort(order[: max(int(np.rint(share * len(order))), 1)])
            parts = [(X.iloc[:, kept], y) for X, y in (fit, stop)]
            again = trainers.fitted("greedy", found, most_trees, *parts)
            auc = trainers.auc("greedy", again, test[0].iloc[:, kept], test[1])
            yield {"method": name, "kept": share, "auc": auc}
