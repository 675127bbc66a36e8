r"""Local MDI+: a linear model on the splits of every tree explains each row (arXiv:2506.08928).

Tree m is turned into columns, one for each of its splits and one for each feature that it splits on
(`attributions.mdi.stump_problem`), and *one* linear model is fitted to them all. Feature k's part
of the linear predictor is its score in row x:

    r_mk(x) = sum over splits t on k of beta_t psi_t(x)  +  gamma_k (scaled x_k)

Trees of a forest are averaged, those of a boosted model added with the learning rate: there tree m
has the response -g/h and the weights h. Least squares without raw columns, on the rows that grew
the tree, gives back the tree and its Saabas contributions. Everything else explains a *surrogate*
and not the model, so results have the surrogate's prediction beside the scores.

This departs from the authors' program, imodels 3.0, in four ways: forests of classifiers are
explained by the squared error of the 0/1 label unless a logistic model is asked for; each of K
classes has a linear model of its own label; boosted models use the weights h and the learning rate;
a missing value counts as its column's mean, and categories have no raw columns.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from attributions.inputs import row_labels
from attributions.kernels.stumps import add_raw_columns
from attributions.mdi.least_squares import Coefficients, LinearModel
from attributions.mdi.linear_models import as_linear_model
from attributions.mdi.stump_problem import RawColumns, StumpProblem
from attributions.mdi.training_trees import TrainingTrees
from attributions.options import check_one_of
from attributions.per_row.aggregates import AGGREGATES, aggregate_trees
from attributions.per_row.individual import attribute, names_of_outputs
from attributions.per_row.predecomp import PathChanges
from attributions.results import LocalAttribution
from gbt.model.ensemble import Ensemble
from gbt.parallel.blas import one_blas_thread
from gbt.parallel.threads import effective_n_jobs, run_all
from gbt.tables.names import shown

if TYPE_CHECKING:
    import shap

RAW_COLUMN = np.dtype(
    [("feature", np.int64), ("slope", np.float64), ("centre", np.float64)], align=True
)


@dataclass(frozen=True, eq=False, repr=False)
class LocalMDI(LocalAttribution):
    """Contributions of every feature to the prediction of a surrogate.

    Parameters
    ----------
    values, base_values, ...
        As for `LocalAttribution`.
    surrogate_prediction : float64 array of shape (n,), or (n, K)
        Prediction of the linear models, whatever the aggregate: in the units of the model's raw
        prediction, or log-odds if the linear models are logistic.
    model_prediction : float64 array of shape (n,), or (n, K)
        Raw prediction of the model.
    penalty : float64 array of shape (M,)
        Penalty of every tree's linear model.
    aggregate : str
        How trees were combined. Only with "sum" are scores parts of the surrogate's prediction;
        absolute values and ranks have the base value 0.
    is_logistic : bool
        Whether the surrogate predicts log-odds where the model predicts probabilities.
    """

    surrogate_prediction: np.ndarray = field(kw_only=True)
    model_prediction: np.ndarray = field(kw_only=True)
    penalty: np.ndarray = field(kw_only=True)
    aggregate: str = field(kw_only=True)
    is_logistic: bool = field(kw_only=True, default=False)

    @property
    def surrogate_residual(self) -> np.ndarray:
        """The model's prediction less the surrogate's, in the units of the model's.

        Log-odds of a logistic surrogate are turned into probabilities first.
        """
        surrogate = self.surrogate_prediction
        return self.model_prediction - (expit(surrogate) if self.is_logistic else surrogate)

    def residual(self, raw_prediction: ArrayLike) -> np.ndarray:
        """Return the unexplained part; refuse scores that do not add up to a prediction."""
        self._refuse_other_aggregates("residual")
        return super().residual(raw_prediction)

    def to_shap(self) -> "shap.Explanation":
        """Return a shap.Explanation; refuse scores that do not add up to a prediction."""
        self._refuse_other_aggregates("to_shap")
        return super().to_shap()

    def _refuse_other_aggregates(self, name: str) -> None:
        if self.aggregate != "sum":
            raise ValueError(
                f"{name} needs scores that add up to a prediction, which those of"
                f" aggregate={self.aggregate!r} do not: use aggregate='sum'."
            )

    def _of_output(self, k: int) -> dict[str, Any]:
        n_outputs = self.values.shape[2]
        return {
            **super()._of_output(k),
            "surrogate_prediction": self.surrogate_prediction[:, k],
            "model_prediction": self.model_prediction[:, k],
            "penalty": self.penalty[k::n_outputs],
        }


def local_mdi(
    model: Any,
    X_train: Any,
    y_train: Any,
    X: Any = None,
    *,
    linear_model: Any = "elastic_net",
    raw: bool = True,
    rows: str = "all",
    aggregate: str = "sum",
    sample_weight: Any = None,
    init_score: Any = None,
    n_jobs: int | None = None,
) -> LocalMDI:
    """Explain rows by linear models on the splits of the trees.

    Parameters
    ----------
    model : estimator, Ensemble or foreign model
        A random forest or extra trees of scikit-learn, or a boosted model that
        ``gbt.formats.as_ensemble`` takes.
    X_train : array of shape (n, p)
        All rows that the model was fitted on, in their order; this is checked.
    y_train : array of shape (n,), or (n, K) for K targets
        Their targets, or labels.
    X : array of shape (n_new, p), optional
        Rows to explain; None for the training rows.
    linear_model : str, linear model or estimator
        The model that is fitted to every tree: "elastic_net", "ridge" or "ols"; for forests of
        classifiers also "logistic_elastic_net" or "logistic_ridge". For objects with options and
        other estimators see ``attributions.mdi.linear_models``.
    raw : bool
        Whether the linear model has, beside the splits, the features that a tree splits on as
        columns; those of categories it never has. Among columns that say nearly the same, raw
        columns divide the credit arbitrarily: choose False where you have such columns (measured in
        docs/local_mdi.md).
    rows : {"all", "inbag", "oob", "uniform"}
        Which training rows a linear model is fitted to. "all": all, each as often as the tree drew
        it, or once if it was not drawn; "inbag": those that grew the tree; "oob": those that did
        not; "uniform": all of them once. The stumps always come from the rows that grew the tree.
    aggregate : {"sum", "absolute", "rank", "rank_where_used"}
        How trees are combined, see ``attributions.per_row.aggregates``. Only sums are parts of a
        prediction; for ranking the features of a row, "rank" finds more of those that matter
        (docs/local_mdi.md). The paper's LMDI+ is ``"rank_where_used"`` in its experiments.
    sample_weight : array of shape (n,), optional
        The weights that the model was fitted with.
    init_score : array of shape (n,), or (n, K), optional
        Raw predictions from which the training rows started, if the model was fitted with such.
        Predictions are then those of the trees, without the starting values.
    n_jobs : int, optional
        Threads; None for all cores.

    Returns
    -------
    LocalMDI
        For boosted models in link space; for a classifier's forest in units of probability, or of
        log-odds if the linear models are logistic. Values are (n, p), or (n, p, K) for K classes or
        targets.

    Notes
    -----
    Only ``aggregate="sum"`` with ``linear_model="ols", raw=False, rows="inbag"`` and, for boosted
    models, no penalty on leaves adds up to the prediction; ``surrogate_residual`` is what is left.
    """
    check_one_of(AGGREGATES, aggregate=aggregate)
    training = TrainingTrees.of(model, X_train, y_train, sample_weight, rows, n_jobs, init_score)
    fitted_by = as_linear_model(linear_model, training)
    fitted = StumpModels.fit(training, fitted_by, raw, n_jobs)
    ensemble = training.ensemble
    explained = training.X if X is None else X
    signed = attribute(ensemble, explained, fitted, n_jobs)
    values, base_values = signed.values, signed.base_values
    if aggregate != "sum":
        values = aggregate_trees(ensemble, explained, fitted, aggregate, n_jobs)
        base_values = np.zeros_like(base_values)
    of_trees = None if init_score is None else np.zeros((len(values), ensemble.n_outputs))
    return LocalMDI(
        values=values,
        base_values=base_values,
        feature_names=signed.feature_names,
        method=f"local_mdi({fitted_by.name}, {aggregate})",
        data=signed.data,
        categories=signed.categories,
        output_names=names_of_outputs(model, ensemble),
        index=row_labels(X_train if X is None else X),
        surrogate_prediction=signed.base_values + signed.values.sum(axis=1),
        model_prediction=ensemble.raw_predict(explained, n_jobs, of_trees),
        penalty=fitted.penalty,
        aggregate=aggregate,
        is_logistic=fitted_by.is_for_labels,
    )


class StumpModels:
    """The linear models of all trees, as an individual attribution.

    Of every tree there are the coefficients and an array of `RAW_COLUMN`: columns of the table as
    it was given. A missing value counts as the ``mean`` of its column.
    """

    name = "local_mdi"

    def __init__(self, ensemble: Ensemble, trees: list, mean: np.ndarray):
        n_outputs = ensemble.n_outputs
        self.penalty = np.array([found.penalty for found, _ in trees])
        self.outputs = [
            BoundStumpModels(output, trees[k::n_outputs], mean)
            for k, output in enumerate(ensemble.outputs)
        ]

    @classmethod
    def fit(
        cls,
        training: TrainingTrees,
        linear_model: LinearModel,
        raw: bool,
        n_jobs: int | None = None,
    ) -> "StumpModels":
        """Fit a linear model to every tree."""
        rate = training.ensemble.learning_rate

        def fit_one(problem: StumpProblem) -> tuple[Coefficients, np.ndarray]:
            found, table, k = linear_model.fit(problem), problem.raw, problem.raw_features
            columns = np.empty(len(k), dtype=RAW_COLUMN)
            columns["feature"] = k
            columns["slope"] = rate * found.gamma * problem.factor / table.scale[k]
            columns["centre"] = table.mean[k] + table.scale[k] * problem.centre
            return found, columns

        table, trees = over_trees(fit_one, training, linear_model, raw, n_jobs)
        return cls(training.ensemble, trees, table.mean)

    def bind(self, ensemble: Ensemble) -> "BoundStumpModels":
        """Return the linear models of ``ensemble``: the whole model, or one of its outputs."""
        for output in self.outputs:
            if output.ensemble is ensemble:
                return output
        raise ValueError(
            "These linear models were fitted to the trees of another model; fit them again, to this"
            " one."
        )


class BoundStumpModels:
    """The linear models of the trees of one output."""

    def __init__(self, ensemble: Ensemble, trees: list, mean: np.ndarray):
        value = np.concatenate([np.empty(0), *(found.value for found, _ in trees)])
        self.ensemble, self.mean = ensemble, mean
        self.stumps = PathChanges(ensemble, ensemble.learning_rate * value)
        self.base_values = self.stumps.base_values
        self.first = np.cumsum([0, *(len(columns) for _, columns in trees)])
        self.columns = np.empty(self.first[-1], dtype=RAW_COLUMN)
        for start, (_, columns) in zip(self.first, trees, strict=False):
            self.columns[start : start + len(columns)] = columns

    def add(self, X: np.ndarray, trees: range, row_weight: np.ndarray, out: np.ndarray) -> None:
        """Add ``row_weight[m - trees.start, i] * r_mk(x_i)`` to ``out[k, i]``."""
        self.stumps.add(X, trees, row_weight, out)
        first = self.first[trees.start : trees.stop + 1]
        add_raw_columns(X, first, self.columns, self.mean, row_weight, out)


def over_trees(
    work: Callable[[StumpProblem], Any],
    training: TrainingTrees,
    linear_model: LinearModel,
    raw: bool,
    n_jobs: int | None,
) -> tuple[RawColumns, list]:
    """Return the raw columns, and ``work`` of every tree's `StumpProblem`, some trees at a time.

    Rows are sorted by the linear model's folds, once.
    """
    labels = training.labels if linear_model.is_for_labels else None
    order, edges = fold_order(linear_model.folds, len(training.X), labels)
    columns = RawColumns.none(training.X.shape[1])
    if raw:
        X = training.X if order is None else training.X[order]
        columns = RawColumns.of(X, training.ensemble.categories)
    results: list = []
    trees, n_threads = iter(training), effective_n_jobs(n_jobs)
    with one_blas_thread():
        while batch := list(islice(trees, n_threads)):
            found: list = [None] * len(batch)

            def run(i: int, batch: list = batch, found: list = found) -> None:
                tree, rows = batch[i]
                rows = rows if order is None else rows.take(order)
                found[i] = work(StumpProblem(tree, rows, columns, edges))

            run_all([partial(run, i) for i in range(len(batch))])
            results += found
    return columns, results


def fold_order(
    folds: Any, n_rows: int, labels: np.ndarray | None = None
) -> tuple[np.ndarray | None, np.ndarray]:
    """Return an order of the rows that makes folds contiguous (None: as they are), and the edges.

    A number of folds cuts the table into parts or, with ``labels``, every class into such parts.
    """
    if isinstance(folds, str):
        if folds != "loo":
            raise ValueError(f"folds={shown(folds)}; use a number, a fold number a row, or 'loo'.")
        return None, np.array([0, n_rows])
    if isinstance(folds, Integral):
        folds = int(folds)
        if not 1 <= folds <= n_rows:
            raise ValueError(f"folds={folds}; use from 2 to the number of rows, {n_rows}.")
        if labels is None or folds == 1:
            parts = np.array_split(np.arange(n_rows), folds)
            return None, np.cumsum([0, *map(len, parts)])
        folds = _stratified(labels, folds)
    numbers = np.asarray(folds)
    if numbers.shape != (n_rows,):
        raise ValueError(
            f"folds has shape {numbers.shape}; it needs one fold number for each row, ({n_rows},)."
        )
    order = np.argsort(numbers, kind="stable")
    _, counts = np.unique(numbers, return_counts=True)
    if len(counts) < 2:
        raise ValueError("folds puts all rows in one fold; at least two are needed.")
    return order, np.cumsum([0, *counts])


def _stratified(labels: np.ndarray, folds: int) -> np.ndarray:
    """Return the fold of every row, as ``StratifiedKFold`` assigns them."""
    from sklearn.model_selection import StratifiedKFold

    least = np.unique(labels, return_counts=True)[1].min()
    if least < folds:
        raise ValueError(
            f"folds={folds}, but one of the classes has {least} rows, and every fold needs a row of"
            " every class. Use fewer folds, or give a penalty."
        )
    numbers = np.empty(len(labels), dtype=np.int64)
    for number, (_, inside) in enumerate(StratifiedKFold(folds).split(labels, labels)):
        numbers[inside] = number
    return numbers
