r"""Local MDI+: a linear model on the splits of every tree explains each row (arXiv:2506.08928).

Tree m is turned into columns, one for each of its splits and one for each feature that it splits on
(`attributions.stump_problem`), and *one* linear model is fitted to them all. Feature k's part of
the linear predictor is its score in row x:

    r_mk(x) = sum over splits t on k of beta_t psi_t(x)  +  gamma_k (scaled x_k)

Trees of a forest are averaged, those of a boosted model added with the learning rate: there tree m
has the response -g/h and the weights h. Least squares without raw columns, on the rows that grew
the tree, gives back the tree and its Saabas contributions. Everything else explains a *surrogate*
and not the model, so its prediction stands beside the scores.

Where this departs from the authors' program, imodels 3.0: forests of classifiers are explained by
the squared error of the 0/1 label, not by logistic regression; boosted models have the weights h
and the learning rate; a missing value is at its column's mean.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, pairwise
from numbers import Integral

import numpy as np

from attributions.individual import attribute
from attributions.kernels.stumps import add_raw_columns
from attributions.predecomp import PathChanges
from attributions.results import LocalAttribution
from attributions.stump_models import Coefficients, LinearModel, as_linear_model
from attributions.stump_problem import RawColumns, StumpProblem
from attributions.training_trees import TrainingTrees
from attributions.tree_ranks import AGGREGATES, aggregate_trees
from gbt.model import Ensemble
from gbt.parallel import effective_n_jobs, run_all

RAW_COLUMN = np.dtype(
    [("feature", np.int64), ("slope", np.float64), ("centre", np.float64)], align=True
)


@dataclass(frozen=True, eq=False, repr=False)
class LocalMDI(LocalAttribution):
    """Contributions of every feature to the prediction of a surrogate.

    Beside those of `LocalAttribution`:

    Parameters
    ----------
    surrogate_prediction : float64 array of shape (n,)
        What the linear models predict, in link space: base value plus summed contributions.
    model_prediction : float64 array of shape (n,)
        What the model predicts.
    penalty : float64 array of shape (M,)
        Of every tree's linear model.
    """

    surrogate_prediction: np.ndarray = field(kw_only=True)
    model_prediction: np.ndarray = field(kw_only=True)
    penalty: np.ndarray = field(kw_only=True)

    @property
    def surrogate_residual(self) -> np.ndarray:
        """The model's prediction less the surrogate's, float64 of shape (n,)."""
        return self.model_prediction - self.surrogate_prediction


def local_mdi(
    model,
    X_train,
    y_train,
    X=None,
    *,
    linear_model="elastic_net",
    raw: bool = True,
    rows: str = "all",
    aggregate: str = "sum",
    sample_weight=None,
    n_jobs: int | None = None,
) -> LocalMDI:
    """Explain rows by linear models on the splits of the trees.

    Parameters
    ----------
    model : estimator, Ensemble or foreign model
        A random forest or extra trees of scikit-learn, with one output and at most two classes, or
        a boosted model that ``gbt.formats.as_ensemble`` takes.
    X_train : array of shape (n, p)
        All rows that the model was fitted on, in their order; this is checked.
    y_train : array of shape (n,)
        Their targets, or labels.
    X : array of shape (n_new, p), optional
        Rows to explain; None for the training rows.
    linear_model : {"elastic_net", "ridge", "ols"} or LinearModel
        What is fitted to every tree; see ``attributions.stump_models`` for objects with options.
    raw : bool
        Whether the features that a tree splits on join as columns of their own.
    rows : {"all", "inbag", "oob", "uniform"}
        Which training rows it is fitted to: all, each as often as the tree drew it, or once where
        it did not; those that grew the tree; those that did not; or all of them once. The stumps
        always come from the rows that grew the tree.
    aggregate : {"sum", "absolute", "rank", "rank_where_used"}
        How trees are put together, see ``attributions.tree_ranks``. What the paper calls LMDI+ in
        its experiments is ``"rank_where_used"``.
    sample_weight : array of shape (n,), optional
        The weights that the model was fitted with.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    LocalMDI
        For a classifier's forest in units of probability, for boosted models in link space.

    Notes
    -----
    Only ``aggregate="sum"`` with ``linear_model="ols", raw=False, rows="inbag"`` and, for boosted
    models, no penalty on leaves adds up to the model's prediction. ``surrogate_residual`` says how
    far it is elsewhere.
    """
    if aggregate not in AGGREGATES:
        raise ValueError(f"aggregate={aggregate!r}; use one of {AGGREGATES}.")
    training = TrainingTrees.of(model, X_train, y_train, sample_weight, rows)
    linear_model = as_linear_model(linear_model)
    fitted = StumpModels.fit(training, linear_model, raw, n_jobs)
    ensemble = training.ensemble
    explained = training.X if X is None else X
    signed = attribute(ensemble, explained, fitted, n_jobs)
    values = signed.values
    if aggregate != "sum":
        values = aggregate_trees(ensemble, explained, fitted, aggregate, n_jobs)
    return LocalMDI(
        values=values,
        base_values=signed.base_values,
        feature_names=signed.feature_names,
        method=f"local_mdi({linear_model.name}, {aggregate})",
        data=signed.data,
        categories=signed.categories,
        index=getattr(X_train if X is None else X, "index", None),
        surrogate_prediction=signed.base_values + signed.values.sum(axis=1),
        model_prediction=ensemble.raw_predict(explained, n_jobs),
        penalty=fitted.penalty,
    )


class StumpModels:
    """The linear models of all trees, as an individual attribution (``attributions.individual``).

    Parameters
    ----------
    ensemble : Ensemble
    coefficients : list of Coefficients
        One a tree.
    problems : list of (features, centre, factor)
        Of each tree's raw columns, in standard units.
    raw : RawColumns or None
    """

    name = "local_mdi"

    def __init__(self, ensemble: Ensemble, coefficients: list[Coefficients], units, raw):
        rate = ensemble.learning_rate
        value = np.concatenate([np.empty(0), *(found.value for found in coefficients)])
        self.ensemble = ensemble
        self.penalty = np.array([found.penalty for found in coefficients])
        self.stumps = PathChanges(ensemble, rate * value)
        self.base_values = self.stumps.base_values
        self.mean = np.zeros(ensemble.n_features) if raw is None else raw.mean
        counts = [len(found.gamma) for found in coefficients]
        self.first = np.cumsum([0, *counts])
        self.columns = np.empty(self.first[-1], dtype=RAW_COLUMN)
        for found, (start, stop), (features, centre, factor) in zip(
            coefficients, pairwise(self.first), units, strict=True
        ):
            if stop > start:
                own = self.columns[start:stop]
                own["feature"] = features
                own["slope"] = rate * found.gamma * factor / raw.scale[features]
                own["centre"] = raw.mean[features] + raw.scale[features] * centre

    @classmethod
    def fit(
        cls, training: TrainingTrees, linear_model: LinearModel, raw: bool, n_jobs=None
    ) -> "StumpModels":
        """Fit a linear model to every tree."""

        def fit_one(problem):
            found = linear_model.fit(problem)
            return found, (problem.features, problem.centre, problem.factor)

        columns, problems = stump_problems(training, linear_model.folds, raw)
        fitted = over_trees(fit_one, problems, n_jobs)
        coefficients, units = [found for found, _ in fitted], [unit for _, unit in fitted]
        return cls(training.ensemble, coefficients, units, columns)

    def bind(self, ensemble: Ensemble) -> "StumpModels":
        """Return itself: it knows its model."""
        if ensemble is not self.ensemble:
            raise ValueError("These linear models were fitted to the trees of another model.")
        return self

    def add(self, X, trees, row_weight, out):
        """Add ``row_weight[m - trees.start, i] * r_mk(x_i)`` to ``out[k, i]``."""
        self.stumps.add(X, trees, row_weight, out)
        first = self.first[trees.start : trees.stop + 1]
        add_raw_columns(X, first, self.columns, self.mean, row_weight, out)


def stump_problems(training: TrainingTrees, folds, raw: bool):
    """Return the raw columns, and an iterator over the problems of all trees.

    Rows are put in the order of their folds, once.
    """
    order, edges = fold_order(folds, len(training.X))
    columns = RawColumns.of(training.X if order is None else training.X[order]) if raw else None

    def problems() -> Iterator[tuple]:
        for tree, rows in training:
            if order is not None:
                rows = rows.take(order)
            yield tree, rows, columns, edges

    return columns, problems()


def over_trees(work, problems, n_jobs: int | None) -> list:
    """Return what ``work`` makes of every tree's `StumpProblem`, some trees at a time."""
    results: list = []
    n_threads = effective_n_jobs(n_jobs)
    while batch := list(islice(problems, n_threads)):
        found = [None] * len(batch)

        def run(i, batch, found):
            found[i] = work(StumpProblem(*batch[i]))

        run_all([partial(run, i, batch, found) for i in range(len(batch))])
        results += found
    return results


def fold_order(folds, n_rows: int) -> tuple[np.ndarray | None, np.ndarray]:
    """Return an order of the rows in which folds are parts, None for their own, and the edges."""
    if isinstance(folds, str):
        if folds != "loo":
            raise ValueError(f"folds={folds!r}; use a number, a fold number a row, or 'loo'.")
        return None, np.array([0, n_rows])
    if isinstance(folds, Integral):
        folds = int(folds)
        if not 1 <= folds <= n_rows:
            raise ValueError(f"folds={folds}; use from 2 to the number of rows, {n_rows}.")
        sizes = np.full(folds, n_rows // folds)
        sizes[: n_rows % folds] += 1
        return None, np.cumsum([0, *sizes])
    numbers = np.asarray(folds)
    if numbers.shape != (n_rows,):
        raise ValueError(f"folds has shape {numbers.shape}; it needs a number a row, ({n_rows},).")
    order = np.argsort(numbers, kind="stable")
    _, counts = np.unique(numbers, return_counts=True)
    if len(counts) < 2:
        raise ValueError("folds puts all rows in one fold; at least two are needed.")
    return order, np.cumsum([0, *counts])
