"""
All rows at once
================

Each point is the contribution of a feature to one row's prediction, coloured by the feature's
value. :func:`~attributions.tree_shap` gives Shapley values, exact at every depth;
:func:`~attributions.predecomp` and :func:`~attributions.saabas` draw the same picture faster.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from attributions import tree_shap
from gbt import GBTClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
model = GBTClassifier(max_depth=3, splitter="greedy").fit(X_fit, y_fit)

tree_shap(model, X_new).plot(max_display=10, figsize=(9, 5))
