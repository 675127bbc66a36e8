"""LIME of every tree of a model, at the price of LIME of the model.

LIME draws rows, asks the model what it predicts for them, and fits a ridge to the predictions. The
coefficients of a ridge are linear in what it is fitted to. So with the same rows and weights the
coefficients of all trees add up to those of the model, and one ridge with a target a tree gives
them all. They can then be put together by absolute values and by ranks, like any other method's.

The package ``lime`` does the drawing and weighting, by its defaults but for two parameters: all
features are kept (``feature_selection="none"``; "auto", as in the paper, keeps all where more than
six are asked for), and ``num_samples`` is 1,000 instead of 5,000, to save time. Its regressor is
its own ridge, with the penalty 1. Boosted classifiers are explained in log-odds, because
probabilities are no sums over trees.
"""

import numpy as np
from sklearn.linear_model import Ridge

from gbt.model.ensemble import Ensemble

N_SAMPLES = 1000


class RidgeOfTrees:
    """A regressor for LIME that fits the outputs of all trees instead of their sum."""

    outputs: np.ndarray

    def fit(self, X, y, sample_weight=None):
        """Fit the outputs of the trees, whose sum is ``y``."""
        ridge = Ridge(alpha=1).fit(X, self.outputs, sample_weight=sample_weight)
        self.by_tree = ridge.coef_.reshape(-1, X.shape[1])
        self.coef_, self.intercept_ = self.by_tree.sum(axis=0), np.sum(ridge.intercept_)
        return self

    def predict(self, X):
        """Predict as the sum of the trees' models."""
        return X @ self.coef_ + self.intercept_

    def score(self, X, y, sample_weight=None):
        """Return nothing of use; LIME asks for the fit of its regressor."""
        return np.nan


def lime_by_tree(
    ensemble: Ensemble, X_fit, is_word, X, seed: int, n_samples: int = N_SAMPLES
) -> np.ndarray:
    """Return LIME's coefficients of every tree, row and feature: (M, n, p)."""
    from lime.lime_tabular import LimeTabularExplainer

    explainer = LimeTabularExplainer(
        X_fit,
        mode="regression",
        categorical_features=np.flatnonzero(is_word).tolist(),
        feature_selection="none",
        random_state=seed,
    )
    regressor = RidgeOfTrees()

    def predict(rows):
        regressor.outputs = ensemble.value[ensemble.apply(rows) + ensemble.tree_offset[:-1]]
        return regressor.outputs.sum(axis=1)

    found = np.empty((ensemble.n_trees, *X.shape))
    for i, row in enumerate(X):
        explainer.explain_instance(
            row, predict, num_features=X.shape[1], num_samples=n_samples, model_regressor=regressor
        )
        found[:, i] = regressor.by_tree
    return found
