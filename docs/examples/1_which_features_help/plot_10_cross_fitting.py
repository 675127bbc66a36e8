"""
Let every row judge
===================

:func:`~attributions.held_out_gain` of one model needs rows that it has not seen. If half of the
rows fit and the other half judges, both halves are small. :func:`~attributions.cross_fit` fits
five models, each on four fifths of the rows, and every row judges the model that has not seen it.
So intervals become narrower, although they allow for folds that vary together. They describe the
mean of the five models.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from attributions import cross_fit, held_out_gain
from gbt import GBTRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True)
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
model = GBTRegressor(n_estimators=60, max_depth=3, splitter="greedy")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
half = held_out_gain(model.fit(X_fit, y_fit), X_new, y_new)
half.plot(ax=left, title="half fits, half judges")
cross_fit(model, X, y).plot(ax=right, title="five folds, all rows judge")
plt.show()
