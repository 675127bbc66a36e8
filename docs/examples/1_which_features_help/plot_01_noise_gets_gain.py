"""
Total gain rewards a column of noise
====================================

We add a column of random numbers to the diabetes data. Total gain is computed on training data, so
every used feature looks good, and the noise ranks fourth of eleven.
:func:`~attributions.held_out_gain` is computed on rows that the model has not seen, where the noise
saves nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from attributions import held_out_gain, total_gain
from gbt import GBTRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True)
X["noise"] = np.random.default_rng(0).normal(size=len(X))
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=1)
model = GBTRegressor(max_depth=3, splitter="greedy").fit(X_fit, y_fit)

# %%
# Left: total gain, from the training rows. Right: held-out gain, from new rows, with 95 %
# intervals.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
total_gain(model).plot(ax=left)
held_out_gain(model, X_new, y_new).plot(ax=right)
plt.show()
