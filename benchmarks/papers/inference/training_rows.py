"""How often training rows are recognised by the leaves they fill, and others mistaken for them.

Three hundred data sets are drawn, 75 for each library, and cut into halves of equal size, of
classes with as many rows of each in either half: the hardest case, since another number of rows
alone shows that they are others. A model of the first half is asked of both. What is drawn: 60 to
2,000 rows, one to eight columns of two to many values, numbers or two or three classes, depth 1 to
6, and how much one column says: in a third of the tables of classes it tells them apart without
error. ``missed`` counts first halves that are not recognised, ``false`` second halves that are.
Models that split at one place alone, or nowhere, have a line of their own, and so have tables whose
classes one column tells apart. The former rule asked whether importances are total gains within
0.001 of the largest; where a library keeps no gradients it had no answer.
"""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np

from attributions import tree_inner
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


def answers(model, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Say of rows whether they are told as those of training, by both rules; nan is no answer."""
    ensemble = replace(as_ensemble(model), seen_rows=None)  # as a model from a file
    rows, target = ensemble.as_input(X), as_target(model, ensemble, y, len(X))
    told = Rows.of(Intake(ensemble, None), Chunk(rows, target)).count_seen(n_jobs=1) > 0
    by_gain = np.nan
    if {"gradients", "hessians", "values"} <= ensemble.statistics:
        gain = ensemble.total_gain()
        importance = tree_inner(ensemble, X, target, standard_error=False, n_jobs=1).values
        by_gain = float(gain.any() and np.abs(importance - gain).max() < 1e-3 * gain.max())
    return {"told": float(told), "by_gain": by_gain}


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
        halves = {"seen": slice(half), "new": slice(half, None)}
        told = {of: answers(model, X[rows], y[rows]) for of, rows in halves.items()}
    kind = "told apart" if is_apart else "one split" if has_one_split(model) else "noisy"
    yield {"tables": kind, "rows": half, "depth": depth} | {
        f"{rule}_{of}": answer for of, by_rule in told.items() for rule, answer in by_rule.items()
    }


def table(rows: list[dict]) -> str:
    """Return the table of the page."""
    names = ["library", "tables", "models", "missed", "false", "missed, by gain", "false, by gain"]
    lines = []
    for library in (*LIBRARIES, "all"):
        for kind in ("noisy", "one split", "told apart"):
            own = chosen(rows, tables=kind)
            own = own if library == "all" else chosen(own, library=library)
            cells = [library, kind, len(own)]
            for rule in ("told", "by_gain"):
                seen, new = (column(own, f"{rule}_{of}") for of in ("seen", "new"))
                known = ~np.isnan(seen)
                of = "" if known.all() else f" of {known.sum()}"
                cells += [f"{int((1 - seen[known]).sum())}{of}", f"{int(new[known].sum())}{of}"]
            lines.append(cells)
    return markdown(names, lines)


PART = NumberedPart("training-rows", crossed(library=LIBRARIES), experiment, N_MODELS, table)
