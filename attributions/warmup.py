"""Compile kernels ahead of their first use: for images, classrooms and impatient first calls.

    python -m attributions.warmup

Kernels are compiled when they are first called, and kept in the user's folder for caches, or in
``NUMBA_CACHE_DIR`` (docs/guide/threads.md). This fits small models of either loss, to float32 and
float64, and computes every kind of attribution. Later processes then find the kernels for a fit
with the default splits, a prediction and an attribution compiled. Kernels that fewer fits need are
compiled at their first use: those of the other ways to split, of categories, and of
``tree_inner_pairs``.
"""

import argparse
import time
import warnings
from collections.abc import Sequence

import numpy as np


def warm_up() -> None:
    """Fit, predict and explain with both losses, so that their kernels are compiled."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    import attributions
    from gbt import GBTClassifier, GBTRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype(np.float32)
    X[::50, 0] = np.nan
    regressor, classifier = GBTRegressor(max_depth=3), GBTClassifier(max_depth=6)
    for forest, y in ((RandomForestRegressor, X[:, 1]), (RandomForestClassifier, X[:, 1] > 0)):
        grown = forest(2, max_depth=3, random_state=0).fit(X, y)
        attributions.mdi_plus(grown, X, y)
    for model, y in ((regressor, X[:, 1]), (classifier, (X[:, 1] > 0).astype(int))):
        model.set_params(n_estimators=2)
        for splitter in ("unbiased", "greedy"):  # by default either, for few rows and for many
            model.set_params(splitter=splitter)
            for rows in (X.astype(np.float64), X):
                model.set_params(subsample=0.5).fit(rows, y)
                model.set_params(subsample=1.0).fit(rows, y)
        model.ensemble_.refit_statistics(X, y)
        for rows in (X, X.astype(np.float64)):
            model.predict(rows)
            model.apply(rows)
            attributions.tree_inner(model, rows, y, standard_error=False)
            attributions.held_out_gain(model, rows, y)
            parts = rows[:250], y[:250], rows[250:], y[250:]
            attributions.unbiased_gain(model, *parts, form="paper")
        attributions.tree_shap(model, X, background=X[:2])
        for explain in ("predecomp", "saabas", "tree_shap", "absolute"):
            getattr(attributions, explain)(model, X)
        for judge in ("tree_inner", "partial_inner", "forest_inner"):
            getattr(attributions, judge)(model, X, y)
        for linear_model in ("ridge", "elastic_net"):
            attributions.local_mdi(model, X, y, linear_model=linear_model, aggregate="rank")


def main(arguments: Sequence[str] | None = None) -> None:
    """Compile the kernels, and say how long that took."""
    from attributions.inputs import SeenRowsWarning

    command = argparse.ArgumentParser(
        prog="python -m attributions.warmup",
        description="Compile the kernels of fits with the default splits, of predictions and of"
        " attributions ahead of their first use, and keep them on disk: in your folder for"
        " caches, or in NUMBA_CACHE_DIR. That takes a minute, or a few seconds if they are there.",
    )
    command.parse_args(arguments)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeenRowsWarning)  # nobody reads these importances
        warm_up()
    print(f"Kernels are compiled ({time.perf_counter() - started:.1f} s).")


if __name__ == "__main__":
    main()
