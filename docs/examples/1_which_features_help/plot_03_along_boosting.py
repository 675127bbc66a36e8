"""
When does a feature begin to hurt?
==================================

An importance is a sum over trees. ``per_tree=True`` keeps the terms of the sum, and the running sum
shows when a feature no longer helps: a curve that falls again belongs to a feature that later trees
overfit.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from attributions import tree_inner
from attributions.plots import BoostingDisplay
from gbt import GBTRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True)
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
model = GBTRegressor(n_estimators=300, learning_rate=0.05, max_depth=3, splitter="greedy").fit(
    X_fit, y_fit
)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
for ax, rows, title in (
    (left, (X_fit, y_fit), "rows of the fit"),
    (right, (X_new, y_new), "new rows"),
):
    result = tree_inner(model, *rows, per_tree=True, standard_error=False)
    BoostingDisplay(result).plot(ax, title=title)
plt.show()
