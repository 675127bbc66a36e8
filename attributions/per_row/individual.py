"""Individual feature attributions: r_mk(x), for tree m and row x one number a feature k.

An attribution is used in two steps. ``bind`` prepares what depends on the model alone (node means,
the shares of cover along paths); the bound attribution then adds blocks of rows, many trees at a
time:

    out[k, i] += sum over m of row_weight[m, i] * r_mk(x_i)

Summing over trees with weights 1 explains predictions (``attribute``); TreeInner sums over rows
with the negative gradients as weights. Nothing of shape (M, n, p) is ever held.

To write an attribution of your own, give a function ``(ensemble, m, X) -> (n, p)`` wherever an
attribution is asked for, or an object with ``name`` and ``bind``. docs/testing.md writes one and
has it checked (``attributions.testing``).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from attributions.inputs import explained_data, finite_rows, row_labels, trees_of
from attributions.results import LocalAttribution
from attributions.results.in_chunks import explain_rows
from gbt.formats import labels_of
from gbt.model.credit import Credit
from gbt.model.ensemble import Ensemble
from gbt.model.predictor import over_transposed
from gbt.model.stages import TREES_AT_ONCE, tree_blocks
from gbt.parallel.chunks import Chunk
from gbt.tables.categories import EncodedRows
from gbt.tables.names import shown

# 50 columns of a block and of its output are 580 kB; see gbt.kernels.rows.descent
ROWS_IN_CACHE = 480
MIN_ROWS = 1024

HOME = {
    "predecomp": ("attributions.per_row.predecomp", "PreDecomp"),
    "saabas": ("attributions.per_row.saabas", "Saabas"),
    "tree_shap": ("attributions.per_row.tree_shap", "TreeShap"),
}


class BoundAttribution(Protocol):
    """An attribution that knows its model."""

    base_values: np.ndarray
    """float64 of shape (M,): what the contributions to each tree start from."""

    # Optional attributes: ``rows_at_once``, the size of blocks in which `attribute` is fastest (480
    # rows without it); ``min_rows``, how many rows make a further thread worth starting (1,024
    # without it); and ``credits_features``, whether ``out`` is by the features that splits are
    # credited to (``gbt.model.credit``) and not by columns.

    def add(self, X: np.ndarray, trees: range, row_weight: np.ndarray, out: np.ndarray) -> None:
        """Add ``row_weight[m - trees.start, i] * r_mk(x_i)`` to ``out[k, i]`` for some trees.

        X is a block of rows as made by ``gbt.model.predictor.transposed``, of shape (2, p, n);
        ``row_weight`` is float64 of shape (len(trees), n), ``out`` of (p, n), both C-contiguous.
        Trees are added in order, and rows do not depend on one another. So callers may divide both
        into blocks of any size, and call from several threads at once.
        """
        ...


class IndividualAttribution(Protocol):
    """A way to split the prediction of one tree for one row among the features.

    With ``credits_splits_only = True`` it promises that r_mk is 0 for every feature k on which tree
    m does not split. Those columns are then skipped, tree by tree, which on wide tables saves most
    of the work.
    """

    name: str

    def bind(self, ensemble: Ensemble) -> BoundAttribution:
        """Prepare the attribution for a model."""
        ...


def as_individual(ifa: Any) -> IndividualAttribution:
    """Turn a name, an attribution or a function into an attribution.

    A function sees blocks of rows, from several threads.
    """
    if isinstance(ifa, str) and ifa in HOME:
        module, name = HOME[ifa]
        return getattr(import_module(module), name)()
    if hasattr(ifa, "bind") and not isinstance(ifa, type):
        return ifa
    if callable(ifa) and not isinstance(ifa, type):
        return FunctionAttribution(ifa)
    raise ValueError(
        f"ifa={shown(ifa)} is not an individual attribution; use one of {sorted(HOME)}, an object"
        " with a bind method, or a function (ensemble, m, X) -> (n, p)."
    )


def bound_to(individual: IndividualAttribution, ensemble: Ensemble) -> BoundAttribution:
    """Bind an attribution to a model; what it gives to columns is added up by their features."""
    bound = individual.bind(ensemble)
    if ensemble.credit is None or getattr(bound, "credits_features", False):
        return bound
    return _OfFeatures(bound, ensemble.credit)


class _OfFeatures:
    """An attribution of columns, added up by the features that these are credited to."""

    def __init__(self, bound: BoundAttribution, credit: Credit) -> None:
        self.bound, self.credit, self.base_values = bound, credit, bound.base_values
        self.rows_at_once = getattr(bound, "rows_at_once", ROWS_IN_CACHE)
        self.min_rows = getattr(bound, "min_rows", MIN_ROWS)

    def add(self, X: np.ndarray, trees: range, row_weight: np.ndarray, out: np.ndarray) -> None:
        """Add ``row_weight[m - trees.start, i] * r_mk(x_i)`` to ``out[k, i]``."""
        by_column = np.zeros(X.shape[1:])
        self.bound.add(X, trees, row_weight, by_column)
        self.credit.add_up(by_column, out)


def attribute(
    model: Any, X: Any, individual: Any, n_jobs: int | None = None, columns: str = "given"
) -> LocalAttribution:
    """Sum an individual attribution over the trees of a model.

    Parameters
    ----------
    model, X, n_jobs, columns
        As for `predecomp`.
    individual : str, IndividualAttribution or callable
        See `as_individual`.

    Returns
    -------
    LocalAttribution
        With values (n, p), or (n, p, K) for K outputs. The base value is the base score plus the
        attribution's base values of all trees. Neither it nor the values include starting values of
        rows (``gbt.model.starting_values``): they are what the trees add to these.
    """
    ensemble = trees_of(model, X, columns=columns)
    individual = as_individual(individual)
    bounds = [bound_to(individual, output) for output in ensemble.outputs]
    names = names_of_outputs(model, ensemble)
    explain = partial(_explained, ensemble, individual.name, bounds, names, n_jobs)
    nothing = np.empty((0, ensemble.n_features)).view(EncodedRows)
    return explain_rows(explain, Chunk(X), of_none=explain(Chunk(nothing)))


def _explained(
    ensemble: Ensemble,
    method: str,
    bounds: list[BoundAttribution],
    output_names: tuple | None,
    n_jobs: int | None,
    chunk: Chunk,
) -> LocalAttribution:
    """Explain some rows."""
    X = finite_rows(ensemble, chunk.X)
    trees = tree_blocks(ensemble.n_rounds)
    values = _contributions(ensemble, bounds, trees, X, chunk.n_jobs(n_jobs))
    return LocalAttribution(
        values=values[:, :, 0] if output_names is None else values,
        base_values=base_values_of(ensemble, bounds, len(X)),
        output_names=output_names,
        feature_names=ensemble.credited_names,
        method=method,
        index=row_labels(chunk.X),
        **explained_data(ensemble, X, None if chunk.is_part else chunk.X),
    )


def _contributions(
    ensemble: Ensemble,
    bounds: Sequence[BoundAttribution],
    trees: Sequence[range],
    X: np.ndarray,
    n_jobs: int | None,
) -> np.ndarray:
    """Return what some trees of some outputs add to rows, (n, p, number of ``bounds``)."""
    values = np.empty((len(X), ensemble.n_credited, len(bounds)))

    def add(block: np.ndarray, rows: slice) -> None:
        ones = np.ones((TREES_AT_ONCE, block.shape[2]))
        for k, bound in enumerate(bounds):
            out = np.zeros((ensemble.n_credited, block.shape[2]))
            for some in trees:
                bound.add(block, some, ones[: len(some)], out)
            values[rows, :, k] = out.T

    rows_at_once = max(getattr(bound, "rows_at_once", ROWS_IN_CACHE) for bound in bounds)
    min_rows = min(getattr(bound, "min_rows", MIN_ROWS) for bound in bounds)
    over_transposed(add, X, n_jobs, rows_at_once, min_rows=min_rows)
    return values


def base_values_of(
    ensemble: Ensemble, bounds: Sequence[BoundAttribution], n_rows: int
) -> np.ndarray:
    """Return where the contributions to every row start from, (n,) or, for K outputs, (n, K)."""
    starts = [
        output.base_score + np.sum(bound.base_values)
        for output, bound in zip(ensemble.outputs, bounds, strict=True)
    ]
    return np.tile(starts, n_rows if len(starts) == 1 else (n_rows, 1))


def attribute_per_tree(
    model: Any, X: Any, individual: Any, n_jobs: int | None = None
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the number m of every tree in turn, and r_mk(x_i), a new array of shape (n, p).

    The arguments are those of `attribute`. Of K outputs, tree m adds to the output m mod K.
    """
    ensemble = trees_of(model, X)
    individual = as_individual(individual)
    bounds = [bound_to(individual, output) for output in ensemble.outputs]
    X = finite_rows(ensemble, X)
    for m in range(ensemble.n_trees):
        own, k = divmod(m, ensemble.n_outputs)
        trees = [range(own, own + 1)]
        yield m, _contributions(ensemble, bounds[k : k + 1], trees, X, n_jobs)[:, :, 0]


def names_of_outputs(model: Any, ensemble: Ensemble) -> tuple | None:
    """Return the names of several outputs: the classes of an estimator, or numbers."""
    if ensemble.n_outputs == 1:
        return None
    classes = labels_of(model)
    if classes is not None and len(classes) == ensemble.n_outputs:
        return tuple(np.asarray(classes).tolist())
    return tuple(range(ensemble.n_outputs))


class FunctionAttribution:
    """A function ``(ensemble, m, X) -> (n, p)`` as an attribution whose base values are 0.

    It must return one finite number a row and feature.
    """

    def __init__(self, function: Callable, ensemble: Ensemble | None = None):
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)
        if ensemble is not None:
            self.ensemble, self.base_values = ensemble, np.zeros(ensemble.n_trees)

    def bind(self, ensemble: Ensemble) -> "FunctionAttribution":
        """Remember the model."""
        return FunctionAttribution(self.function, ensemble)

    def add(self, X: np.ndarray, trees: range, row_weight: np.ndarray, out: np.ndarray) -> None:
        """Add ``row_weight[m - trees.start, i] * r_mk(x_i)`` to ``out[k, i]``."""
        rows = np.ascontiguousarray(X[0].T)
        if self.ensemble.categories is not None or self.ensemble.preparation is not None:
            rows = rows.view(EncodedRows)
        for m, weight in zip(trees, row_weight, strict=True):
            out += weight * self.values_of(m, rows).T

    def values_of(self, m: int, rows: np.ndarray) -> np.ndarray:
        """Return r_mk of rows of shape (n, p), checked."""
        values = np.asarray(self.function(self.ensemble, m, rows), dtype=np.float64)
        if values.shape != rows.shape:
            raise ValueError(
                f"{self.name} returned shape {values.shape} for tree {m} and {len(rows)} rows; an"
                " individual attribution returns one number for each row and feature,"
                f" {rows.shape}."
            )
        if not np.isfinite(values).all():
            row, feature = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(
                f"{self.name} returned {values[row, feature]} for tree {m} and feature"
                f" {self.ensemble.feature_names[feature]!r}; contributions must be finite."
            )
        return values


def node_cover(ensemble: Ensemble, cover: str | None) -> np.ndarray:
    """Return what every node weighed in training, (n_nodes,).

    ``cover`` says by which: "hessian" for its sum, "count" for the number of rows. None is by
    hessians, or by rows where the model has no hessians but these.
    """
    if cover is None:
        cover = "count" if ensemble.statistics & {"hessians", "counts"} == {"counts"} else "hessian"
    covers = {"hessian": ensemble.sum_hessian, "count": ensemble.n_samples}
    if not (isinstance(cover, str) and cover in covers):
        raise ValueError(f"Nodes are weighed by 'hessian' or by 'count'; got {shown(cover)}.")
    known = {
        name
        for name, weight in covers.items()
        if f"{name}s" in ensemble.statistics and (weight.any() or not len(weight))
    }
    if cover not in known:
        about = ensemble.about_gradients if cover == "hessian" else None
        reason = "" if about is None else f" {about}."
        use = f"Weigh them by {known.pop()!r} (cover= or weights=), or t" if known else "T"
        raise ValueError(
            f"Nodes cannot be weighed by {cover!r}: the model does not have their {cover}s."
            f"{reason} {use}ake them from the rows that it was trained on and explain what this"
            " returns: gbt.formats.as_ensemble(model, X=X_train, y=y_train)."
        )
    return covers[cover].astype(np.float64)
