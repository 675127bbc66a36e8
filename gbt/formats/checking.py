"""Imports are kept, and checked: a few rows, predicted by the library and by the imported model.

An import is kept as long as the model exists and does not change.

Formats change without notice. Weights of trees move to another key, a comparison becomes strict, a
start is written in another way, and the import silently predicts other numbers than the model. So
whenever a model of another library is imported from an object that can predict, its raw predictions
of `N_ROWS` rows are compared, and a difference beyond rounding is a `MisreadModelError`.

The rows are made from the model itself, because thresholds are where trees differ: each number is a
threshold of its column or the next number above it, some are missing, and each category is a level
that the model knows::

    thresholds of x0: .5, 2      x0 of the rows:  .5   2.0000000000000004   nan   .5000000000000001

The rows reach only some of the leaves, so an error in all of them is found, and an error in one
leaf of thousands may not be. A file, or a dict, cannot predict and is not checked.
"""

from collections.abc import Callable, Hashable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any
from weakref import ref

import numpy as np

from gbt.formats.imported import Imported
from gbt.formats.nodes import EPS_32
from gbt.losses.loss import Loss
from gbt.losses.several_outputs import SeveralTargets, Softmax
from gbt.model.ensemble import Ensemble
from gbt.tables.categories import EncodedRows

N_ROWS = 16
SHARE_MISSING = 0.1
ROUNDINGS = 64  # of a sum of one term; a sum of M terms may have M more
EPS = float(np.finfo(np.float64).eps)

_KEPT: dict[int, tuple[ref, Hashable, Imported]] = {}  # by id, because not all models are hashable


class MisreadModelError(ValueError):
    """The import of another library's model does not predict as the model does."""


def kept(model: Any, state: Hashable, make: Callable[[], Imported]) -> Imported:
    """Return the kept import of a model in this state, or make it now and check it."""
    key = id(model)
    found = _KEPT.get(key)
    if found is None or found[0]() is not model or found[1] != state:
        found = ref(model, lambda _: _KEPT.pop(key, None)), state, make()
        check_predictions(found[2], model)
        _KEPT[key] = found
    return found[2]


def state_of_kept(model: Any) -> Hashable:
    """Return the state of the kept import of a model; None if none is kept."""
    found = _KEPT.get(id(model))
    return None if found is None or found[0]() is not model else found[1]


def forget(model: Any) -> None:
    """Forget the import of a model, for measurements of how long importing takes."""
    _KEPT.pop(id(model), None)


def check_predictions(imported: Imported, model: Any) -> None:
    """Raise `MisreadModelError` unless some predictions of an import are the model's own."""
    own = _OWN_PREDICTIONS.get(imported.library)
    ensemble = imported.ensemble
    # Before a model with a preparation the rows are answers of the library, which checks them.
    if own is None or ensemble.preparation is not None:
        return
    takes_missing = True  # some of scikit-learn's models do not
    if type(model).__module__.startswith(("sklearn.", "sksurv.")):
        takes_missing = model.__sklearn_tags__().input_tags.allow_nan
    rows = rows_to_try(ensemble, takes_missing)
    got = plainly_predicted(ensemble, rows)
    expected = np.reshape(own(model, imported, rows), got.shape)
    differ = np.abs(got - expected) > _allowed(imported)
    if differ.any() or not np.isfinite(got).all():
        _refuse(imported, got, expected, differ)


def plainly_predicted(ensemble: Ensemble, rows: np.ndarray) -> np.ndarray:
    """Return raw predictions of some rows, (n,) or (n, K), as the model's docstring defines them.

    All rows go down all trees a level at a time in NumPy: compiled kernels would take two seconds
    of a first call for these few rows.
    """
    X = ensemble.as_input(EncodedRows.of(rows, ensemble.categories)).astype(np.float64)
    offset = ensemble.tree_offset[:-1]
    at = np.tile(offset, (len(X), 1))  # (n, M)
    while (ensemble.left[at] >= 0).any():
        x = np.take_along_axis(X, ensemble.feature[at], axis=1)
        goes_left = np.where(np.isnan(x), ensemble.missing_left[at], x <= ensemble.threshold[at])
        if ensemble.level_sets is not None:
            goes_left = ensemble.level_sets.takes_left(at, x, goes_left)
        child = np.where(goes_left, ensemble.left[at], ensemble.right[at])
        at = np.where(child < 0, at, offset + child)
    raw = np.tile(np.asarray(ensemble.base_score, dtype=np.float64), (len(X), 1))
    of_output = ensemble.tree_output == np.arange(ensemble.n_outputs)[:, np.newaxis]
    raw = raw + ensemble.value[at] @ of_output.T
    return raw if ensemble.n_outputs > 1 else raw[:, 0]


def rows_to_try(ensemble: Ensemble, takes_missing: bool) -> np.ndarray:
    """Return rows at and beside thresholds, (N_ROWS, p), with our numbers for categories."""
    rng = np.random.default_rng(0)
    dtype = np.float32 if ensemble.input_dtype == np.float32 else np.float64
    largest = dtype(np.finfo(dtype).max)
    X = np.zeros((N_ROWS, ensemble.n_features), dtype=dtype)
    node = np.flatnonzero((ensemble.left >= 0) & ~ensemble.has_set)
    node = node[np.argsort(ensemble.feature[node], kind="stable")]
    n_nodes = np.bincount(ensemble.feature[node], minlength=ensemble.n_features)
    split = np.flatnonzero(n_nodes)
    first = (np.cumsum(n_nodes) - n_nodes)[split]
    drawn = first + np.floor(rng.random((N_ROWS, len(split))) * n_nodes[split]).astype(np.int64)
    at = np.clip(ensemble.threshold[node[drawn]], -largest, largest).astype(dtype)
    above = np.nextafter(at, largest)
    X[:, split] = np.where(rng.random(at.shape) < 0.5, at, above)
    is_number = np.ones(ensemble.n_features, dtype=bool)
    for k, levels in enumerate(ensemble.categories or ()):
        if levels is not None:
            X[:, k] = rng.integers(0, len(levels), N_ROWS) if levels else np.nan
            is_number[k] = False
    if takes_missing:
        is_missing = rng.random(X.shape) < SHARE_MISSING
        X[is_missing & is_number] = np.nan
    return X


def _allowed(imported: Imported) -> np.ndarray:
    """Return by how much rounding alone may move each output's raw prediction."""
    ensemble = imported.ensemble
    is_single = imported.library == "XGBoost"
    base = np.atleast_1d(np.asarray(ensemble.base_score, dtype=np.float64))
    largest = np.zeros(ensemble.n_trees)
    if ensemble.n_trees:
        largest = np.maximum.reduceat(np.abs(ensemble.value), ensemble.tree_offset[:-1])
    terms = np.abs(base) + np.bincount(ensemble.tree_output, largest, minlength=len(base))
    eps = EPS_32 if is_single else EPS
    allowed = eps * (ROUNDINGS + ensemble.n_trees / len(base)) * terms
    if is_single and not isinstance(ensemble.loss, Softmax):
        allowed = allowed + _rounding_of_start(ensemble.loss, base)
    return allowed if ensemble.n_outputs > 1 else allowed[0]


def _rounding_of_start(loss: Loss, base: np.ndarray) -> np.ndarray:
    """Return how far base scores move when the predictions that belong to them are rounded."""
    own = loss.loss if isinstance(loss, SeveralTargets) else loss
    moved = np.zeros(len(base))
    with np.errstate(all="ignore"):
        for factor in (1 - 4 * EPS_32, 1 + 4 * EPS_32):
            starts = factor * own.inverse_link(base)
            links = np.array([own.link(start) for start in starts.tolist()])
            moved = np.maximum(moved, np.abs(links - base))
    return np.where(np.isfinite(moved), moved, np.abs(base))


def _refuse(imported: Imported, got: np.ndarray, expected: np.ndarray, differ: np.ndarray) -> None:
    """Raise MisreadModelError with the library, the number of rows and an example."""
    try:
        release = f" {version(imported.library.lower())}"
    except PackageNotFoundError:  # a library that was not installed as a package
        release = ""
    is_other = differ.reshape(len(differ), -1).any(axis=1)
    row = int(np.argmax(is_other))
    raise MisreadModelError(
        f"This {imported.library}{release} model was misread: of {len(got)} rows made of its"
        f" thresholds, {int(is_other.sum())} are predicted otherwise than by {imported.library}."
        f" The raw prediction of row {row} is"
        f" {np.atleast_1d(expected[row]).tolist()} there and {np.atleast_1d(got[row]).tolist()}"
        " here. Nothing can be said of such a model. Train it with a version of"
        f" {imported.library} that is known to be read (docs/models.md), and report this one."
    )


# --------------------------------------------------------- what each library says of the same rows


def _of_xgboost(booster: Any, imported: Imported, rows: np.ndarray) -> np.ndarray:
    data = import_module("xgboost").DMatrix(
        _numbered(imported, rows),
        missing=np.nan,
        feature_names=booster.feature_names,
        feature_types=booster.feature_types,
        nthread=1,
    )
    ensemble = imported.ensemble
    rounds = (0, 1 if ensemble.is_forest else ensemble.n_rounds)
    return booster.predict(data, output_margin=True, iteration_range=rounds)


def _of_lightgbm(booster: Any, imported: Imported, rows: np.ndarray) -> np.ndarray:
    raw = booster.predict(_numbered(imported, rows), raw_score=True, num_threads=1)
    return raw / imported.ensemble.n_trees if imported.ensemble.is_forest else raw


def _of_catboost(model: Any, imported: Imported, rows: np.ndarray) -> np.ndarray:
    from gbt.formats.catboost.levels import text_of_level

    table: Any = rows
    if imported.ensemble.categories is not None:
        columns = _with_levels(imported.ensemble, rows)
        for k, levels in enumerate(imported.ensemble.categories):
            if levels is not None:  # without any known level it is text, never a missing value
                columns[k] = [text_of_level(level) if levels else "" for level in columns[k]]
        table = [list(row) for row in zip(*columns, strict=True)]
    is_raw = imported.ensemble.loss.has_queries  # whose predict takes no other type
    asked = {} if is_raw else {"prediction_type": "RawFormulaVal"}
    return model.predict(table, thread_count=1, **asked)


def _of_sklearn(model: Any, imported: Imported, rows: np.ndarray) -> np.ndarray:
    ensemble = imported.ensemble
    if hasattr(model, "_raw_predict_init"):  # gradient boosting, which looks at no names there
        return model._raw_predict(rows)
    table: Any = rows
    if any(ensemble.categories or ()):
        table = np.array(_with_levels(ensemble, rows), dtype=object).T
    if hasattr(model, "feature_names_in_"):
        table = _frame(table, model.feature_names_in_.tolist())
    if hasattr(model, "_raw_predict"):
        return model._raw_predict(table)
    if not hasattr(model, "classes_"):
        return model.predict(table)
    p = model.predict_proba(table)
    return p[:, 1] if ensemble.n_outputs == 1 else p


def _frame(table: np.ndarray, names: list[str]) -> Any:
    """Return the table as a frame with names, of whichever library is installed."""
    if find_spec("pandas") is None:
        columns = dict(zip(names, (list(column) for column in table.T), strict=True))
        return import_module("polars").DataFrame(columns, strict=False)
    return import_module("pandas").DataFrame(table, columns=names).infer_objects()


_OWN_PREDICTIONS: dict[str, Callable[[Any, Imported, np.ndarray], Any]] = {
    "XGBoost": _of_xgboost,
    "LightGBM": _of_lightgbm,
    "CatBoost": _of_catboost,
    "scikit-learn": _of_sklearn,
}


def _numbered(imported: Imported, rows: np.ndarray) -> np.ndarray:
    """Return rows in which levels have the library's numbers, or are numbers themselves."""
    rows = rows.copy()
    for k, levels in enumerate(imported.ensemble.categories or ()):
        if levels:
            order = {level: place for place, level in enumerate(imported.levels.get(k, ()))}
            own = [order.get(level, level) if order else level for level in levels]
            rows[:, k] = np.array(own, dtype=np.float64)[rows[:, k].astype(np.int64)]
    return rows


def _with_levels(ensemble: Ensemble, rows: np.ndarray) -> list[Any]:
    """Return columns of numbers and of levels."""
    return [
        rows[:, k] if not levels else [levels[int(number)] for number in rows[:, k]]
        for k, levels in enumerate(ensemble.categories or [None] * ensemble.n_features)
    ]
