"""
A random forest without the bias of its importance
==================================================

The mean decrease of impurity of a random forest favours columns with many values, even if
they are noise. :func:`~attributions.held_out_gain` measures on new rows what every split is worth,
starting from the mean at which the forest starts, and so has no such bias.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from attributions import held_out_gain

rng = np.random.default_rng(0)
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean texture", "mean smoothness", "mean symmetry", "mean fractal dimension"]].copy()
X["noise, continuous"] = rng.normal(size=len(X))
X["noise, 0 or 1"] = rng.integers(0, 2, size=len(X)).astype(float)
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
forest = RandomForestClassifier(200, random_state=0).fit(X_fit, y_fit)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
order = np.argsort(forest.feature_importances_)
left.barh(X.columns[order], forest.feature_importances_[order], color="0.6")
left.set(title="mean decrease of impurity")
held_out_gain(forest, X_new, y_new).plot(ax=right, title="on new rows")
plt.show()
