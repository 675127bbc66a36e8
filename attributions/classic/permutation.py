"""Permutation importance: how much the score drops when a feature's values are shuffled.

One column at a time is shuffled among the rows, which cuts its tie to the target and to the other
columns, and the model is scored again (Breiman 2001; Sun 2022 uses one shuffle, of the negative
mean squared error or the ROC AUC). Where the score is a mean over rows, single rows give it a
standard error (``attributions.classic.shuffle_errors``). The ROC AUC is such a mean, too: a row
contributes the share of the other class that it is ranked on the right side of (DeLong, DeLong and
Clarke-Pearson 1988).

Each pair (feature, repeat) has a random stream of its own, so the answer for a feature depends
neither on the other features nor on the order of work.

Models predict a block of rows at a time: the block is transposed once, one column after the other
is exchanged in it, and the predictions of some shuffles are kept until they are scored.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse
from scipy.stats import rankdata

from attributions.classic.shuffle_errors import DropSums, ShuffleErrors
from attributions.inputs import as_random_state
from attributions.results import GlobalAttribution
from attributions.rows import AllRows, Intake, Rows, Tally
from attributions.statistics.groups import Groups, check_apart, labels_of
from attributions.statistics.powers_of_two import exponent_of
from gbt.kernels.rows.derivatives import GIVEN
from gbt.losses.half import CrossEntropy
from gbt.losses.own import is_name_of_error
from gbt.model.ensemble import Ensemble
from gbt.model.predictor import over_transposed
from gbt.model.starts import raw_before
from gbt.parallel.chunks import Chunk, is_in_chunks
from gbt.tables.given import as_given
from gbt.tables.names import shown
from gbt.tables.sparse_rows import values_at

# Predictions that are kept at once: 64 MB.
NUMBERS_AT_ONCE = 2**23

Pairs = list[tuple[int, int]]  # a column and the number of a shuffle
Score = Callable[[Any], Any]


def permutation(
    model: Any,
    X: Any,
    y: Any,
    *,
    metric: Any = None,
    n_repeats: int = 5,
    groups: Any = None,
    init_score: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> GlobalAttribution:
    """Return by how much a score drops, on average, when a feature is shuffled.

    Parameters
    ----------
    model : estimator, Ensemble or foreign model
        Any fitted model that ``gbt.formats.as_ensemble`` takes.
    X : array or DataFrame of shape (n, p)
        Rows; nan is a missing value. Arrays and frames of Dask are shuffled within chunks, see the
        notes.
    y : array of shape (n,)
        Targets, or labels of ``model.classes_``; 0 and 1 for a bare Ensemble with logistic loss.
    metric : None, str, scorer or callable
        None means the negative mean squared error for the squared error, the ROC AUC for the
        logistic loss, and the negative mean loss for all other losses, that of several classes
        among them. A scorer of scikit-learn, given itself or by its name, is computed with the
        model's own ``predict``, so the model must be an estimator. Any other callable takes ``(y,
        prediction)`` and returns a number that is larger for better predictions (those of
        scikit-learn's ..._error, ..._loss and ..._deviance are smaller), or one such number a row,
        whose mean is then the score. ``prediction`` is the predicted mean or, with labels 0 and 1
        in ``y``, the probability of 1; with K classes it has their probabilities, of shape (n, K),
        and labels are 0 .. K - 1.
    n_repeats : int
        Shuffles of each feature.
    groups : array of shape (n,), optional
        Labels of rows that belong together, as for `held_out_gain`. Rows are shuffled across them.
    init_score : array of shape (n,), or (n, K), optional
        Starting values, as for `held_out_gain`; they stay with their rows.
    random_state : int, RandomState, Generator or None
        Seed of the shuffles; with an int they are the same in every call.
    n_jobs : int, optional
        Threads; None for all cores. The result does not depend on it.

    Returns
    -------
    GlobalAttribution
        ``values`` are the means of ``repeats``, of shape (p, n_repeats), whose spread is that of
        shuffling these rows. Standard errors, which are over draws of rows, come with the default
        metrics and with a callable that returns one number a row; scorers of scikit-learn have
        none.

    Notes
    -----
    Shuffling one of several correlated features makes rows that do not occur. An overfitted model
    may predict anything for them, and the score drops: where columns were strongly correlated and y
    was noise, up to 58 % of the features had p < 0.05 (:doc:`docs/inference.md </inference>`). With
    columns that are nearly independent the p-values hold their level.

    A table of Dask is shuffled within its chunks: a row gets the value of another row of its chunk,
    each chunk has random numbers of its own (`seed_of_chunk`), and values are the means of the
    chunks' drops, weighted by their rows. So no row leaves its chunk. Where rows lie in random
    order, this estimates the drop of shuffling all of them. Where chunks differ, as days do, only
    what a feature tells within a chunk counts, not how it tells chunks apart. Scores that are no
    mean over rows, the ROC AUC among them, are those of chunks, each of which needs rows of both
    classes. Rows of a group must lie in one chunk. Standard errors are made of the rows or groups
    of all chunks.

    Examples
    --------
    The log-loss in place of the AUC::

        def log_likelihood(y, p):
            return y * np.log(p) + (1 - y) * np.log1p(-p)

        permutation(model, X, y, metric=log_likelihood).p_values()
    """
    if not isinstance(n_repeats, Integral) or n_repeats < 1:
        raise ValueError(f"n_repeats={shown(n_repeats)}; it must be a whole number, at least 1.")
    given = Chunk(X, y, None, groups, init_score)
    is_chunked = any(map(is_in_chunks, given))
    if _is_scorer(metric) and is_chunked:
        raise ValueError(
            f"metric={metric!r} is a scikit-learn scorer, which takes a table in memory; for"
            " tables of Dask give a function (y, prediction) -> one number per row."
        )
    intake = Intake.of_model(model, X)
    shuffling = Shuffling(None if is_chunked else model, metric, n_repeats, _seed(random_state))
    rows = AllRows.of(RowsAsGiven, intake, given, n_jobs)
    shuffled = rows.over(partial(_shuffled_rows, shuffling), Shuffled.merge)
    rows.check(shuffled.tally, stacklevel=2)
    return shuffled.result(intake.ensemble.feature_names)


@dataclass(eq=False)
class RowsAsGiven(Rows):
    """Rows with the table and targets as they were given, which scikit-learn's scorers take."""

    given: Chunk | None = None

    asks_all_at_once = True

    @classmethod
    def of(cls, model: Any, given: Chunk) -> Self:
        """Check and convert the rows, and keep what was given."""
        return replace(super().of(model, given), given=given)


class Shuffling(NamedTuple):
    """The arguments of `permutation` but for the rows, sent to the workers that hold these."""

    model: Any  # for scorers of scikit-learn
    metric: Any
    n_repeats: int
    seed: int

    def seed_of(self, chunk: Chunk) -> int:
        """Return the seed of a chunk's shuffles, another one for every chunk."""
        if not chunk.is_part:
            return self.seed
        return seed_of_chunk(self.seed, chunk.number)


def seed_of_chunk(seed: int, number: int) -> int:
    """Return the ``random_state`` by which a chunk of a table of Dask is shuffled."""
    return int(np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(1, np.uint64)[0])


def _shuffled_rows(shuffling: Shuffling, rows: RowsAsGiven, n_jobs: int | None) -> "Shuffled":
    """Return the drops of the score over shuffles of each column among some rows."""
    ensemble, X, groups, chunk = rows.ensemble, rows.X, rows.groups, rows.given
    assert chunk is not None
    orders = Orders(shuffling.seed_of(chunk), len(X))
    used = np.unique(ensemble.feature[ensemble.left >= 0])  # shuffling others changes nothing
    pairs = [(int(k), r) for k in used for r in range(shuffling.n_repeats)]
    if _is_scorer(shuffling.metric):
        name, score = str(shuffling.metric), _scorer(shuffling.model, shuffling.metric, chunk.y)
        intact, scores = score(chunk.X), map(score, _shuffled_tables(chunk.X, pairs, orders))
    else:
        name, score = _score_of(ensemble, shuffling.metric, rows.y)
        intact = _checked_score(
            score(ensemble.raw_predict(X, n_jobs, rows.init_score)), name, len(X)
        )
        scores = map(score, _shuffled_predictions(rows, pairs, orders, n_jobs))
    repeats = np.zeros((ensemble.n_features, shuffling.n_repeats))
    is_by_row = np.ndim(intact) == 1
    of_columns = [_of_unused(len(X), groups)] * ensemble.n_features if is_by_row else []
    for (k, r), shuffled in zip(pairs, scores, strict=True):
        repeats[k, r] = np.mean(intact) - np.mean(shuffled)
        if is_by_row:
            if r == 0:
                largest = max(np.abs(intact).max(), np.abs(shuffled).max())
                errors = ShuffleErrors(len(X), int(exponent_of(largest)) if largest else 0)
            errors.add(intact - shuffled, orders.of((k, r)))
            if r == shuffling.n_repeats - 1:
                of_columns[k] = errors.sums(groups)
    return Shuffled(
        method=f"permutation({name}{', within chunks' * chunk.is_part})",
        tally=Tally.of(rows, n_jobs),
        repeats=repeats,
        errors=DropSums.beside(of_columns) if is_by_row else None,
        groups=labels_of(groups),
    )


def _of_unused(n_rows: int, groups: Groups | None) -> DropSums:
    """Return the sums of a column that no tree uses: shuffling it changes no row's score."""
    errors = ShuffleErrors(n_rows)
    errors.add(np.zeros(n_rows), np.arange(n_rows))
    return errors.sums(groups)


@dataclass(frozen=True, eq=False)
class Shuffled:
    """The drops of the score in some chunks, each of which is shuffled for itself.

    Parameters
    ----------
    method : str
    tally : Tally
    repeats : float64 array of shape (p, n_repeats)
        Mean drops over the rows.
    errors : DropSums or None
        None where the metric gives one number for all rows.
    groups : array of shape (G,) or None
        The distinct labels of rows that belong together.
    """

    method: str
    tally: Tally
    repeats: np.ndarray
    errors: DropSums | None
    groups: np.ndarray | None

    def merge(self, other: "Shuffled") -> "Shuffled":
        """Return the drops over the rows of both."""
        check_apart(self.groups, other.groups)
        tally = self.tally.merge(other.tally)
        own, others = (part.tally.n_rows / tally.n_rows for part in (self, other))
        errors, groups = None, None
        if self.errors is not None and other.errors is not None:
            errors = self.errors.merge(other.errors)
        if self.groups is not None and other.groups is not None:
            groups = np.concatenate([self.groups, other.groups])
        return Shuffled(
            self.method,
            tally,
            self.repeats * own + other.repeats * others,
            errors,
            groups,
        )

    def result(self, feature_names: tuple[str, ...]) -> GlobalAttribution:
        """Return the mean drops with their standard errors."""
        return GlobalAttribution(
            values=self.repeats.mean(axis=1),
            standard_error=None if self.errors is None else self.errors.standard_error,
            n_samples=self.tally.n_rows,
            feature_names=feature_names,
            method=self.method,
            repeats=self.repeats,
            groups=self.groups,
        )


class Orders:
    """The random orders of the rows, one a shuffle, each from a random stream of its own."""

    def __init__(self, seed: int, n_rows: int) -> None:
        self._seed, self._n_rows = seed, n_rows

    def of(self, pair: tuple[int, int]) -> np.ndarray:
        """Return the order of the rows for a feature and a repeat."""
        stream = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=pair))
        return stream.permutation(self._n_rows)


def _shuffled_predictions(
    given: Rows, pairs: Pairs, orders: Orders, n_jobs: int | None
) -> Iterator[np.ndarray]:
    """Yield the raw predictions of all rows after each shuffle of one column."""
    ensemble, rows = given.ensemble, given.X
    start = raw_before(ensemble.base_score, len(rows), given.init_score)
    at_once = max(1, NUMBERS_AT_ONCE // max(len(rows) * ensemble.n_outputs, 1))
    for first in range(0, len(pairs), at_once):
        own = [(pair[0], orders.of(pair)) for pair in pairs[first : first + at_once]]
        predictions = np.empty((len(own), ensemble.n_outputs, len(rows)))
        predictions[:] = start

        def add(
            block: np.ndarray,
            part: slice,
            own: Any = own,
            predictions: np.ndarray = predictions,
        ) -> None:
            for (k, order), prediction in zip(own, predictions, strict=True):
                intact = block[:, k].copy()
                block[0, k] = values_at(rows, order[part], k)
                np.fmax(block[0, k], -np.inf, out=block[1, k])
                for output, of_output in zip(ensemble.outputs, prediction, strict=True):
                    output.predictor.add_values(block, of_output[part])
                block[:, k] = intact

        over_transposed(add, rows, n_jobs, dtype=rows.dtype)
        yield from predictions[:, 0] if ensemble.n_outputs == 1 else predictions.swapaxes(1, 2)


def _shuffled_tables(X: Any, pairs: Pairs, orders: Orders) -> Iterator:
    """Yield a table whose columns are shuffled in turn: a frame if one was given or an array."""
    if hasattr(X, "isetitem"):  # estimators check the names of columns
        table = X.copy()
        for pair in pairs:
            column = X.iloc[:, pair[0]].array
            table.isetitem(pair[0], column[orders.of(pair)])
            yield table
            table.isetitem(pair[0], column)
        return
    if issparse(X):
        by_column = X.tocsc()
        for k, repeat in pairs:
            # The value of row order[i] comes to row i.
            place = np.argsort(orders.of((k, repeat)))
            own = slice(by_column.indptr[k], by_column.indptr[k + 1])
            table = by_column.copy()
            table.indices[own] = place[by_column.indices[own]]
            table.has_sorted_indices = table.has_canonical_format = False
            yield table.tocsr()
        return
    rows = np.asarray(as_given(X))
    table = rows.copy()
    for pair in pairs:
        table[:, pair[0]] = rows[orders.of(pair), pair[0]]
        yield table
        table[:, pair[0]] = rows[:, pair[0]]


def _is_scorer(metric: Any) -> bool:
    """Say whether a metric is a scikit-learn scorer, or the name of one."""
    if metric is None or isinstance(metric, str):
        return metric is not None
    from sklearn.dummy import DummyRegressor
    from sklearn.metrics import check_scoring, get_scorer

    return isinstance(metric, type(get_scorer("r2")) | type(check_scoring(DummyRegressor())))


def _scorer(model: Any, metric: Any, y: Any) -> Score:
    """Return the score of a scikit-learn scorer as a function of a table."""
    from sklearn.metrics import get_scorer

    if not hasattr(model, "predict"):
        raise ValueError(
            f"metric={metric!r} is a scikit-learn scorer, which needs an estimator, and the model"
            f" is {type(model).__name__}. Give a function (y, prediction) -> number instead."
        )
    scorer = get_scorer(metric)
    return lambda rows: scorer(model, rows, y)


def _score_of(ensemble: Ensemble, metric: Any, target: np.ndarray) -> tuple[str, Score]:
    """Return the name of a score and a function of raw predictions."""
    loss = ensemble.loss
    is_of_loss = loss.is_by_row and (loss.kind == GIVEN or isinstance(loss, CrossEntropy))
    if metric is None and is_of_loss:
        name = "neg_log_loss" if loss.name == "softmax" else f"neg_{loss.name}"
        return name, lambda raw_prediction: -loss.value(target, raw_prediction)
    name, measure = _metric_of(ensemble, metric, target)
    return name, lambda raw_prediction: measure(target, loss.inverse_link(raw_prediction))


def _metric_of(ensemble: Ensemble, metric: Any, target: np.ndarray) -> tuple[str, Callable]:
    """Return the name of the metric and a function (y, prediction), larger for better."""
    if callable(metric):
        name = getattr(metric, "__name__", type(metric).__name__)
        if is_name_of_error(name):
            raise ValueError(
                f"metric={name} is, by its name, smaller for better predictions, so that the best"
                " feature would come last. Give a function (y, prediction) that is larger for"
                f" better ones, such as the negative: lambda y, prediction: -{name}(y, prediction)."
            )
        return name, metric
    if metric is not None:
        raise ValueError(
            f"metric={shown(metric)}; use None, the name of a scikit-learn scorer, or a function"
            " (y, prediction) -> number."
        )
    if not ensemble.loss.is_by_row:
        weight = np.ones(len(target))
        return ensemble.loss.name_of_score, partial(ensemble.loss.score, weight=weight)
    if ensemble.loss.name == "half_logistic":
        if len(np.unique(target)) < 2:
            raise ValueError(
                "y holds one class only, for which the ROC AUC does not exist; give rows of both"
                " classes, or another metric."
            )
        return "roc_auc", _roc_auc
    return "neg_mean_squared_error", lambda y, prediction: -((y - prediction) ** 2)


def _roc_auc(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Return one number per row, whose mean is the ROC AUC and whose spread is that of the AUC.

    The AUC is the probability that a row of class 1 is ranked above one of 0, ties counting half. A
    row's placement is the share of the other class that it is ranked on the right side of, so the
    AUC is the mean placement of either class, and varies as both means do. Each class therefore
    counts half, whatever its size: AUC + n / n_class (placement - AUC).
    """
    is_1 = y == 1
    n, n_1 = len(y), int(is_1.sum())
    among_all, within = rankdata(prediction), np.empty(n)
    for of_class in (is_1, ~is_1):
        within[of_class] = rankdata(prediction[of_class])
    below = among_all - within  # of the other class
    placement = np.where(is_1, below / (n - n_1), 1 - below / n_1)
    auc = placement[is_1].mean()
    return auc + n / np.where(is_1, n_1, n - n_1) * (placement - auc)


def _checked_score(score: Any, name: str, n_rows: int) -> np.ndarray:
    """Return the score, one number or one a row; refuse anything else that a metric returned."""
    if score is None:
        raise ValueError(
            f"The metric {name} returned None; it must return one number, or one for each row."
        )
    score = np.asarray(score, dtype=np.float64)
    if score.shape not in ((), (n_rows,)):
        raise ValueError(
            f"The metric {name} returned shape {score.shape}; it must return one number, or one"
            f" for each row, ({n_rows},)."
        )
    return score


def _seed(random_state: Any) -> int:
    """Turn scikit-learn's ``random_state`` into the entropy of a SeedSequence."""
    random_state = as_random_state(random_state)
    if random_state is None:
        return int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31))
