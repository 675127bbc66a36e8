"""How often training rows are recognised by the leaves they fill, and others mistaken for them.

Three hundred data sets are drawn, 75 for each library, and cut into halves of equal size, of
classes with as many rows of each in either half: the hardest case, since another number of rows
alone shows that they are others. A model of the first half is asked of both. What is drawn: 60 to
2,000 rows, one to eight columns of two to many values, numbers or two or three classes, depth 1 to
6, and how much one column says: in a third of the tables of classes it tells them apart without
error. ``missed`` counts first halves that are not recognised, ``false`` second halves that are.
Models that split at one place alone, or nowhere, have a line of their own, and so have tables whose
classes one column tells apart.
"""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np

from attributions.rows import Intake, Rows
from benchmarks.study import NumberedPart, crossed, model_of, ours
from benchmarks.study.tables import chosen, column, markdown
from gbt.formats import as_ensemble
from gbt.parallel.chunks import Chunk
from gbt.tables.targets import as_target

SEED, N_MODELS = 354, 75  # of each library
LIBRARIES = ("XGBoost", "LightGBM", "HistGradientBoosting", "ours, from a file")


def draw(rng: np.random.Generator):
    """Return rows, targets, whether a column tells them apart, and a depth; halves are alike."""
    half = int(rng.choice([30, 60, 150, 400, 1000]))
    n_classes = int(rng.choice([0, 2, 3]))
    n_values = rng.choice([2, 5, 30, 10_000], size=rng.integers(1, 9))
    X = np.column_stack([rng.integers(n, size=2 * half) for n in n_values]).astype(float)
    signal = rng.normal(size=2 * half) + X[:, 0] / n_values[0] * rng.choice([0, 1, 5])
    if not n_classes:
        return X, signal, False, int(rng.integers(1, 7))
    places = np.argsort(np.argsort(signal.reshape(2, half), axis=1), axis=1)
    y = (places * n_classes // half).ravel()
    is_apart = rng.random() < 1 / 3
    if is_apart:
        X[:, 0] = y + 0.5 * rng.random(2 * half) * rng.integers(2)
    return X, y, is_apart, int(rng.integers(1, 7))


def fitted(library: str, X: np.ndarray, y: np.ndarray, depth: int):
    """Fit twenty trees."""
    is_class = y.dtype.kind == "i"
    if library == "HistGradientBoosting":
        return model_of(library, is_class, max_iter=20, max_depth=depth).fit(X, y)
    make = ours if library.startswith("ours") else partial(model_of, library)
    return make(is_class, n_estimators=20, max_depth=depth).fit(X, y)


def is_told(model, X: np.ndarray, y: np.ndarray) -> bool:
    """Say whether rows are told as those of training."""
    ensemble = replace(as_ensemble(model), seen_rows=None)  # as a model from a file
    rows, target = ensemble.as_input(X), as_target(model, ensemble, y, len(X))
    return Rows.of(Intake(ensemble, None), Chunk(rows, target)).count_seen(n_jobs=1) > 0


def has_one_split(model) -> bool:
    """Say whether all trees split at one place, or nowhere: hardly anything tells rows then."""
    ensemble = as_ensemble(model)
    is_inner = ensemble.left >= 0
    places = np.column_stack([ensemble.feature, ensemble.threshold])[is_inner]
    return len(np.unique(places, axis=0)) < 2


def experiment(cell, replication: int, size: str):
    """Yield the answers about one model."""
    X, y, is_apart, depth = draw(np.random.default_rng([SEED, replication]))
    half = len(X) // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the rows are those of training; LightGBM finds few
        model = fitted(cell["library"], X[:half], y[:half], depth)
        halves = slice(half), slice(half, None)
        told = [float(is_told(model, X[rows], y[rows])) for rows in halves]
    kind = "told apart" if is_apart else "one split" if has_one_split(model) else "noisy"
    shape = {"tables": kind, "rows": half, "depth": depth}
    yield shape | dict(zip(("told_seen", "told_new"), told, strict=True))


def table(rows: list[dict]) -> str:
    """Return the table of the page."""
    lines = []
    for library in (*LIBRARIES, "all"):
        for kind in ("noisy", "one split", "told apart"):
            own = chosen(rows, tables=kind)
            own = own if library == "all" else chosen(own, library=library)
            missed, false = (1 - column(own, "told_seen")).sum(), column(own, "told_new").sum()
            lines.append([library, kind, len(own), int(missed), int(false)])
    return markdown(["library", "tables", "models", "missed", "false"], lines)


PART = NumberedPart("training-rows", crossed(library=LIBRARIES), experiment, N_MODELS, table)
