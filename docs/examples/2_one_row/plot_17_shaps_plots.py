"""
With shap's plots
=================

``to_shap()`` turns any attribution of rows into a ``shap.Explanation``, which all of shap's plots
can draw. The values are exact, and computed by this library from the model's own sums.
"""

import shap
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from attributions import tree_shap
from gbt import GBTRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
model = GBTRegressor(max_depth=3, splitter="greedy").fit(X_fit, y_fit)

explanation = tree_shap(model, X_new).to_shap()
shap.plots.scatter(explanation[:, "bmi"], color=explanation[:, "bp"])
