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

import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import nan
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from attributions.classic.scores import (
    Score,
    auc_of_rows,
    is_scorer,
    negative_squares,
    score_of,
    scorer_of,
)
from attributions.classic.shuffle_errors import DropSums, ShuffleErrors
from attributions.classic.shuffled_tables import OrderOf, Pairs, random_order, shuffled_tables
from attributions.classic.whatever_predicts import Predictions, only_predicts
from attributions.inputs import as_random_state, refuse_credit
from attributions.options import whole
from attributions.results import GlobalAttribution
from attributions.rows import AllRows, Intake, Rows, Tally
from attributions.statistics.groups import Groups, check_apart
from attributions.statistics.powers_of_two import exponent_of
from gbt.kernels.rows.derivatives import GIVEN
from gbt.losses.several_outputs import SeveralTargets
from gbt.losses.squared_and_logistic import CrossEntropy
from gbt.model.ensemble import Ensemble
from gbt.model.predictor import over_transposed
from gbt.model.starting_values import raw_before
from gbt.parallel.chunks import Chunk, is_in_chunks, refuse_chunks
from gbt.tables.sparse_rows import values_at
from gbt.tables.table import collected
from gbt.tables.targets import warn_of_other_order

# Predictions that are kept at once: 64 MB.
NUMBERS_AT_ONCE = 2**23


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
        Any fitted model that ``gbt.formats.as_ensemble`` takes, or whatever else predicts: stacked
        and calibrated models, votes, neural networks, pipelines with steps, and functions of a
        table. These are asked for predictions, ``attributions.classic.whatever_predicts``.
    X : array or DataFrame of shape (n, p)
        Rows, as the model takes them; its columns are shuffled. To models of trees nan is a missing
        value. Arrays and frames of Dask are shuffled within chunks, see the notes.
    y : array of shape (n,)
        Targets, or labels of ``model.classes_``; 0 and 1 for a bare Ensemble with logistic loss.
    metric : None, str, scorer or callable
        None means the negative mean squared error for the squared error, the ROC AUC for the
        logistic loss, and the negative mean loss for all other losses, that of several classes
        among them; of models that only predict see their module. The result's ``method`` says which
        it is. A scorer of scikit-learn, given itself or by its name, is computed with the
        model's own ``predict``, so the model must be an estimator. Any other callable takes ``(y,
        prediction)`` and returns a number that is larger for better predictions (those of
        scikit-learn's ..._error, ..._loss and ..._deviance are smaller), or one such number a row,
        whose mean is then the score. ``prediction`` is the predicted mean or, with labels 0 and 1
        in ``y``, the probability of 1; with K classes it has their probabilities, of shape (n, K),
        and labels are 0 .. K - 1.
    n_repeats : int
        Shuffles of each feature.
    groups, init_score, n_jobs
        As for `held_out_gain`. Rows are shuffled across groups; starting values stay with them.
    random_state : int, RandomState, Generator or None
        Seed of the shuffles; with an int they are the same in every call.

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

    A table of Dask is shuffled within its chunks, each by random numbers of its own
    (`seed_of_chunk`), and values are the means of the chunks' drops, weighted by their rows. Scores
    that are no mean over rows, the ROC AUC among them, are those of chunks. Standard errors are
    made of the rows or groups of all chunks (:doc:`docs/guide/dask.md </guide/dask>`).

    Examples
    --------
    The log-loss in place of the AUC::

        def log_likelihood(y, p):
            return y * np.log(p) + (1 - y) * np.log1p(-p)

        permutation(model, X, y, metric=log_likelihood).p_values()
    """
    n_repeats = whole(1, n_repeats=n_repeats)
    X = collected(X)
    given = Chunk(X, y, None, groups, init_score)
    if only_predicts(model):
        return _shuffled_columns(Shuffling(model, metric, n_repeats, _seed(random_state)), given)
    is_chunked = any(map(is_in_chunks, given))
    if is_scorer(metric) and is_chunked:
        raise ValueError(
            f"metric={metric!r} is a scikit-learn scorer, which takes a table in memory; for"
            " tables of Dask give a function (y, prediction) -> one number per row."
        )
    intake = Intake.of_model(model, X)
    refuse_credit(intake.ensemble, "permutation")
    shuffling = Shuffling(None if is_chunked else model, metric, n_repeats, _seed(random_state))
    rows = AllRows.of(RowsAsGiven, intake, given, n_jobs)
    shuffled = rows.over(partial(_shuffled_rows, shuffling), Shuffled.merge)
    rows.check(shuffled.tally)
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


def seed_of_chunk(seed: int, number: int) -> int:
    """Return the ``random_state`` by which a chunk of a table of Dask is shuffled."""
    return int(np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(1, np.uint64)[0])


def _shuffled_rows(shuffling: Shuffling, rows: RowsAsGiven, n_jobs: int | None) -> "Shuffled":
    """Return the drops of the score over shuffles of each column among some rows."""
    ensemble, X, groups, chunk = rows.ensemble, rows.X, rows.groups, rows.given
    assert chunk is not None
    seed = seed_of_chunk(shuffling.seed, chunk.number) if chunk.is_part else shuffling.seed
    order_of = partial(random_order, seed, len(X))
    used = np.unique(ensemble.feature[ensemble.left >= 0])  # shuffling others changes nothing
    pairs = [(int(k), r) for k in used for r in range(shuffling.n_repeats)]
    if is_scorer(shuffling.metric):
        name, score = str(shuffling.metric), scorer_of(shuffling.model, shuffling.metric, chunk.y)
        intact, shuffled = chunk.X, shuffled_tables(chunk.X, pairs, order_of)
    else:
        name, score = _score_of(ensemble, shuffling.metric, rows.y)
        intact = ensemble.raw_predict(X, n_jobs, rows.init_score)
        shuffled = _shuffled_predictions(rows, pairs, order_of, n_jobs)
    method = f"permutation({name}{', within chunks' * chunk.is_part})"
    tally, scores, p = Tally.of(rows, n_jobs), map(score, shuffled), ensemble.n_features
    return Shuffled.of(method, tally, groups, order_of, pairs, score(intact), scores, p)


def _shuffled_columns(shuffling: Shuffling, given: Chunk) -> GlobalAttribution:
    """Return the drops of the score of a model that only predicts."""
    refuse_chunks(given.X)
    if given.init_score is not None:
        raise ValueError(
            f"init_score is for models of trees; a {type(shuffling.model).__name__} is asked for"
            " its predictions alone."
        )
    table = given.X
    predictions = Predictions.of(shuffling.model, table, given.y)
    warn_of_other_order(table, given.y, stacklevel=3)
    n, p = np.shape(table)
    groups = None if given.groups is None else Groups.of(given.groups, n)
    order_of = partial(random_order, shuffling.seed, n)
    pairs = [(k, r) for k in range(p) for r in range(shuffling.n_repeats)]
    name, score = predictions.score(shuffling.metric, given.y)
    method, tally = f"permutation({name})", Tally(n, 0, nan)
    scores = map(score, shuffled_tables(table, pairs, order_of))
    of_all = Shuffled.of(method, tally, groups, order_of, pairs, score(table), scores, p)
    return of_all.result(predictions.names)


@dataclass(frozen=True, eq=False)
class Shuffled:
    """The drops of the score in some chunks, each of which is shuffled for itself."""

    method: str
    tally: Tally
    repeats: np.ndarray  # (p, n_repeats): mean drops over the rows
    errors: list[DropSums]  # of each column; none where the metric gives one number for all rows
    groups: np.ndarray | None  # the distinct labels of rows that belong together

    @classmethod
    def of(
        cls,
        method: str,
        tally: Tally,
        groups: Groups | None,
        order_of: OrderOf,
        pairs: Pairs,
        intact: Any,
        scores: Iterator[Any],
        n_features: int,
    ) -> "Shuffled":
        """Tell the drops of single shuffles from the scores, which come in the order of pairs."""
        n_repeats = 1 + max((r for _, r in pairs), default=0)
        repeats, n_rows = np.zeros((n_features, n_repeats)), tally.n_rows
        is_by_row = np.ndim(intact) == 1
        # Shuffling a column that no tree uses changes no row's score.
        of_columns = [ShuffleErrors(n_rows).sums(groups)] * n_features if is_by_row else []
        for (k, r), shuffled in zip(pairs, scores, strict=True):
            repeats[k, r] = np.mean(intact) - np.mean(shuffled)
            if is_by_row:
                if r == 0:
                    largest = max(np.abs(intact).max(), np.abs(shuffled).max())
                    errors = ShuffleErrors(n_rows, int(exponent_of(largest)) if largest else 0)
                errors.add(intact - shuffled, order_of((k, r)))
                if r == n_repeats - 1:
                    of_columns[k] = errors.sums(groups)
        labels = None if groups is None else groups.labels
        return cls(method, tally, repeats, of_columns, labels)

    def merge(self, other: "Shuffled") -> "Shuffled":
        """Return the drops over the rows of both."""
        check_apart(self.groups, other.groups)
        tally = self.tally + other.tally
        own, others = (part.tally.n_rows / tally.n_rows for part in (self, other))
        repeats = self.repeats * own + other.repeats * others
        errors, groups = [*map(operator.add, self.errors, other.errors)], None
        if self.groups is not None and other.groups is not None:
            groups = np.concatenate([self.groups, other.groups])
        return Shuffled(self.method, tally, repeats, errors, groups)

    def result(self, feature_names: tuple[str, ...]) -> GlobalAttribution:
        """Return the mean drops with their standard errors, of which a single draw has none."""
        errors = [of.standard_error for of in self.errors if of.draws.n_rows > 1]
        return GlobalAttribution(
            values=self.repeats.mean(axis=1),
            standard_error=np.array(errors) if errors else None,
            n_samples=self.tally.n_rows,
            feature_names=feature_names,
            method=self.method,
            repeats=self.repeats,
            groups=self.groups,
        )


def _shuffled_predictions(
    given: Rows, pairs: Pairs, order_of: OrderOf, n_jobs: int | None
) -> Iterator[np.ndarray]:
    """Yield the raw predictions of all rows after each shuffle of one column."""
    ensemble, rows = given.ensemble, given.X
    start = raw_before(ensemble.base_score, len(rows), given.init_score)
    at_once = max(1, NUMBERS_AT_ONCE // max(len(rows) * ensemble.n_outputs, 1))
    for first in range(0, len(pairs), at_once):
        own = [(pair[0], order_of(pair)) for pair in pairs[first : first + at_once]]
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


def _score_of(ensemble: Ensemble, metric: Any, target: np.ndarray) -> tuple[str, Score]:
    """Return the name of a score and a function of raw predictions."""
    loss = ensemble.loss
    is_of_loss = loss.is_by_row and (loss.kind == GIVEN or isinstance(loss, CrossEntropy))
    is_of_loss &= not isinstance(loss, SeveralTargets)  # half the sum of their squared errors
    if metric is None and is_of_loss:
        name = "neg_log_loss" if loss.name == "softmax" else f"neg_{loss.name}"
        return name, lambda raw_prediction: -loss.value(target, raw_prediction)
    default: tuple[str, Any] = "neg_mean_squared_error", negative_squares
    if not loss.is_by_row:
        default = loss.name_of_score, partial(loss.score, weight=np.ones(len(target)))
    elif loss.name == "half_logistic":
        default = "roc_auc", auc_of_rows
    return score_of(metric, default, target, loss.inverse_link)


def _seed(random_state: Any) -> int:
    """Turn scikit-learn's ``random_state`` into the entropy of a SeedSequence."""
    random_state = as_random_state(random_state)
    if not isinstance(random_state, Integral):
        random_state = check_random_state(random_state).randint(2**31)
    return int(random_state)
