"""Predictions of a fitted estimator: final ones, those after each round, and leaves.

A prediction is the raw prediction of the `Ensemble`, transformed by the inverse link of the loss.
For a table of Dask it is a lazy array with the same chunks.
"""

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gbt.estimators.other_names import says_what_serves
from gbt.estimators.tables import ChecksTables
from gbt.model.ensemble import Ensemble
from gbt.parallel.chunks import is_in_chunks, map_chunks

OfRaw = Callable[[np.ndarray], np.ndarray]


class Predicts(ChecksTables):
    """An estimator whose trees predict."""

    ensemble_: Ensemble

    def _decide(self, raw_prediction: np.ndarray) -> np.ndarray:
        """Return the predictions that follow from raw predictions."""
        raise NotImplementedError

    def _predict(self, method: str, X: Any, init_score: Any, of_raw: OfRaw) -> Any:
        """Return what a method makes of raw predictions; for a table of Dask lazily."""
        check_is_fitted(self)
        if is_in_chunks(X):
            one = np.zeros((1, self.ensemble_.n_outputs))
            return self._lazily(method, X, init_score, of_raw(one if one.size > 1 else one[0]))
        X = self._check_table(X, reset=False)
        return of_raw(self.ensemble_.raw_predict(X, self.n_jobs, init_score))

    def _predict_stages(self, method: str, X: Any, init_score: Any, of_raw: OfRaw) -> Iterator[Any]:
        """Yield what a method returns after the first round, after two, ... after all rounds."""
        check_is_fitted(self)
        if is_in_chunks(X):
            return self._stages(method, X, init_score)
        X = self._check_table(X, reset=False)
        return map(of_raw, self.ensemble_.staged_raw_predict(X, self.n_jobs, init_score))

    @says_what_serves
    def predict(self, X: Any, init_score: Any = None) -> np.ndarray:
        """Predict the target of every row, a classifier its most probable label: (n,).

        All methods that predict take ``init_score``, (n,) or (n, K), the rows' starting values, if
        ``fit`` was given those of its rows.
        """
        return self._predict("predict", X, init_score, self._decide)

    @says_what_serves
    def staged_predict(self, X: Any, init_score: Any = None) -> Iterator[np.ndarray]:
        """Yield the predictions after the first round, after two, ... after all rounds."""
        return self._predict_stages("predict", X, init_score, self._decide)

    @says_what_serves
    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf that every row reaches in every tree, int32 of shape (n, M).

        A leaf is the number of a node within its tree, in preorder; the root is 0.
        """
        check_is_fitted(self)
        if is_in_chunks(X):
            return self._lazily("apply", X, None, np.empty((1, self.ensemble_.n_trees), np.int32))
        return self.ensemble_.apply(self._check_table(X, reset=False), self.n_jobs)

    def _lazily(self, method: str, X: Any, init_score: Any, of_one: np.ndarray) -> Any:
        """Return a method's result for a table of Dask lazily; ``of_one`` is like that of a row."""
        if init_score is not None:
            raise ValueError("init_score needs rows in memory: X.compute().")
        model = copy(self)
        model.n_jobs = 1 if self.n_jobs is None else self.n_jobs  # Dask runs other tasks meanwhile
        width = None if of_one.ndim == 1 else of_one.shape[1]
        return map_chunks(getattr(model, method), X, of_one.dtype, width)

    def _stages(self, method: str, X: Any, init_score: Any) -> Iterator[Any]:
        """Yield lazy results of the model of the first round, of two, ... of all rounds."""
        for m in range(self.ensemble_.n_rounds):
            stage = copy(self)
            stage.ensemble_ = self.ensemble_.truncate(m + 1)
            yield getattr(stage, method)(X, init_score)
