"""Columns drawn anew given all others: what such a copy says about y, the others say, too.

A copy of column k needs a model of the column. Half of the rows fit it, from all other columns; the
other half *lends*: a row gets the value of one of the ten lenders whose predictions are nearest to
its own, moved by the difference of the two predictions, and to the nearest value that the column
has. So a copy has the column's own values, whatever they are, and what is not explained of it
varies as it does around there. Both halves take both parts in turn.
"""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.study import ours

N_LENDERS = 10


def linear():
    """Return a linear model of a column, its penalty chosen by cross-validation."""
    return make_pipeline(SimpleImputer(), StandardScaler(), RidgeCV(10.0 ** np.arange(-2, 4)))


class LinearThenTrees(RegressorMixin, BaseEstimator):
    """A linear model, and small trees for what it leaves."""

    def fit(self, X, y):
        """Fit one after the other."""
        self.line_ = linear().fit(X, y)
        trees = ours(n_estimators=50, max_depth=3)
        self.trees_ = trees.fit(X, y - self.line_.predict(X))
        return self

    def predict(self, X):
        """Add up."""
        return self.line_.predict(X) + self.trees_.predict(X)


class Redrawn:
    """Column k of rows that teach what it is like, as it may be drawn anew for any rows."""

    def __init__(self, X, k, column_model, rng):
        self.k, self.rng = k, rng
        order = rng.permutation(len(X))
        self.halves = order[: len(X) // 2], order[len(X) // 2 :]
        column = X[:, k]
        is_known = np.isfinite(column)
        self.values = np.unique(column[is_known])
        target = np.where(is_known, column, column[is_known].mean())
        self.fits = []
        for taught, lenders in (self.halves, self.halves[::-1]):
            model = clone(column_model).fit(self._others(X[taught]), target[taught])
            predicted = model.predict(self._others(X[lenders]))
            order = np.argsort(predicted, kind="stable")
            self.fits.append((model, predicted[order], column[lenders][order]))

    def _others(self, X):
        return np.delete(X, self.k, axis=1)

    def for_new_rows(self, X, n_copies):
        """Return copies for rows that were not among the first, of shape (n_copies, n)."""
        half = len(X) // 2
        parts = zip(self.fits, (X[:half], X[half:]), strict=True)
        return np.hstack([self._draw(fit, part, n_copies) for fit, part in parts])

    def for_own_rows(self, X):
        """Return a copy for the rows that it was made of, each from the fit without it."""
        copy = np.empty(len(X))
        for fit, lenders in zip(self.fits, self.halves[::-1], strict=True):
            copy[lenders] = self._draw(fit, X[lenders], 1)[0]
        return copy

    def _draw(self, fit, X, n_copies):
        model, predicted, lent = fit
        own = model.predict(self._others(X))
        first = np.searchsorted(predicted, own) - N_LENDERS // 2
        first = np.clip(first, 0, len(predicted) - N_LENDERS)
        lender = first + self.rng.integers(N_LENDERS, size=(n_copies, len(X)))
        moved = lent[lender] + own - predicted[lender]
        nearest = np.searchsorted((self.values[1:] + self.values[:-1]) / 2, moved)
        return np.where(
            np.isnan(moved), np.nan, self.values[np.minimum(nearest, len(self.values) - 1)]
        )
