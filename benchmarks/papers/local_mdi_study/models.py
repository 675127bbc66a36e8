"""The models that are explained: a forest, ours, and an imported one.

Forests are the paper's: leaves of at least 5 rows and a third of the features a split for numbers,
3 rows and the root of the number of features for classes. (The paper has fully grown trees for
classes but in its counterfactuals.)
"""

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from benchmarks.papers.local_mdi_study.tables import Table
from benchmarks.study import model_of, ours

KINDS = {"forest": "forest", "boosted": "boosted, ours", "lightgbm": "boosted, LightGBM"}
N_TREES = 100


def forest(table: Table, X, n_trees: int, seed: int):
    """Fit a random forest to some rows, in which not all columns may be as they were."""
    if table.is_class:
        cls, options = RandomForestClassifier, {"min_samples_leaf": 3}
    else:
        cls, options = RandomForestRegressor, {"min_samples_leaf": 5, "max_features": 0.33}
    return cls(n_trees, random_state=seed, n_jobs=1, **options).fit(X, table.y)


def fitted(kind: str, table: Table, size: str, seed: int):
    """Fit one of ``KINDS``."""
    n_trees = N_TREES if size == "full" else 4
    words = np.flatnonzero(table.is_word).tolist()
    if kind == "forest":
        return forest(table, table.X, n_trees, seed)
    if kind == "boosted":
        return ours(
            table.is_class, n_estimators=n_trees, max_depth=4, subsample=0.6, random_state=seed,
            categorical_features=words,
        ).fit(table.X, table.y)  # fmt: skip
    model = model_of(
        "LightGBM", table.is_class, n_estimators=n_trees, num_leaves=15, random_state=seed,
        min_child_samples=20 if size == "full" else 3,
    )  # fmt: skip
    return model.fit(table.X, table.y, categorical_feature=words)
