"""How long other libraries' models take to become an `Ensemble`: 500 trees of depth 8 of each.

    OMP_NUM_THREADS=1 python -m benchmarks.speed.conversion --write

A row a library: nodes, seconds of one conversion (of processors, one thread; median and best), and
what part of it the library takes to hand its model over at all (to write it down as text or bytes,
where it has no arrays). Nothing is timed before raw predictions have been found equal to
the library's: to 1e-5 of their largest for XGBoost, which predicts in float32, to 1e-12 for the
others. Needs the extra ``peers``.
"""

import importlib
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.speed.timing import in_turn
from benchmarks.study import Part, crossed
from benchmarks.study.command import Study, main
from benchmarks.study.tables import markdown
from gbt.formats import as_ensemble
from gbt.formats.checking import forget

N_ROWS, N_FEATURES = 8_000, 20


class Library(NamedTuple):
    """How to train trees of depth 8 of a library, and have it hand its model over."""

    module: str
    estimator: str
    options: dict[str, Any]
    hand_over: Callable[[Any], Any]
    within: float = 1e-12
    n_trees: str = "n_estimators"  # what it calls the number of trees

    def fit(self, X: np.ndarray, y: np.ndarray, n_trees: int) -> Any:
        """Train a model."""
        kind = getattr(importlib.import_module(self.module), self.estimator)
        return kind(**{self.n_trees: n_trees}, **self.options).fit(X, y)


OF_SKLEARN = {"max_depth": 8, "max_features": 4, "random_state": 0}
LIBRARIES = {
    "XGBoost": Library(
        "xgboost", "XGBRegressor", {"max_depth": 8, "learning_rate": 0.1, "n_jobs": 1},
        lambda m: m.get_booster().save_raw("ubj"), 1e-5,
    ),
    "LightGBM": Library(
        "lightgbm", "LGBMRegressor",
        {"max_depth": 8, "num_leaves": 256, "n_jobs": 1, "min_child_samples": 5, "verbose": -1},
        lambda m: m.booster_.model_to_string(),
    ),
    "CatBoost": Library(
        "catboost", "CatBoostRegressor",
        {"depth": 8, "verbose": 0, "thread_count": 1, "allow_writing_files": False},
        lambda m: m._serialize_model(), n_trees="iterations",
    ),
    "HistGradientBoosting": Library(
        "sklearn.ensemble", "HistGradientBoostingRegressor",
        {"max_depth": 8, "max_leaf_nodes": 256, "min_samples_leaf": 5, "early_stopping": False},
        lambda m: m._predictors, n_trees="max_iter",
    ),
    "GradientBoosting": Library(
        "sklearn.ensemble", "GradientBoostingRegressor", OF_SKLEARN, lambda m: m.estimators_
    ),
    "RandomForest": Library(
        "sklearn.ensemble", "RandomForestRegressor", {**OF_SKLEARN, "n_jobs": 1},
        lambda m: m.estimators_,
    ),
}  # fmt: skip


def data(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of float32 numbers and targets."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, N_FEATURES)).astype(np.float32)
    return X, X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + rng.normal(size=n_rows)


def seconds_of(work: Callable[[], Any], repeats: int) -> np.ndarray:
    """Return the seconds of processors that each call took."""
    return in_turn({"": work}, repeats)[""][:, 1]


def measure(cell, rng, size):
    """Train a model, check what it becomes, and time that."""
    name, n_trees, repeats = cell["library"], *((500, 7) if size == "full" else (3, 1))
    library = LIBRARIES[name]
    X, y = data(N_ROWS if size == "full" else 300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = library.fit(X, y, n_trees)

        def convert() -> Any:
            forget(getattr(model, "booster_", model))
            if hasattr(model, "get_booster"):
                forget(model.get_booster())
            return as_ensemble(model)

        ensemble = convert()
        predicted = model.predict(X).astype(np.float64)
        difference = np.abs(ensemble.raw_predict(X) - predicted).max() / np.abs(predicted).max()
        if not difference <= library.within:
            raise SystemExit(f"{name}: predictions differ by {difference:.2g}; nothing timed")
        seconds = seconds_of(convert, repeats)
        own = seconds_of(lambda: library.hand_over(model), repeats)
    yield {
        "version": importlib.import_module(library.module.split(".")[0]).__version__,
        "trees": ensemble.n_trees,
        "nodes": len(ensemble.feature),
        "seconds": f"{np.median(seconds):.3f}",
        "best": f"{min(seconds):.3f}",
        "of these the library's own": f"{np.median(own):.3f}",
        "difference": f"{difference:.1g}",
        "load": f"{os.getloadavg()[0]:.0f}",
    }


def table(rows) -> str:
    """List a line a library."""
    names = "seconds", "of these the library's own"
    return markdown(
        [f"model of {rows[0]['trees']} trees", "nodes", *names],
        [
            [f"{row['library']} {row['version']}", f"{row['nodes']:,}"]
            + [f"{float(row[name]):.3f}" for name in names]
            for row in rows
        ],
    )


PART = Part("libraries", crossed(library=LIBRARIES), measure, 1, table, is_timed=True)
STUDY = Study("conversion", __doc__, (PART,), folder="speed.", how="seed 0", page_name="models")

if __name__ == "__main__":
    sys.exit(main(STUDY))
