"""
Total gain praises a column of noise
====================================

A column of random numbers joins the diabetes data. Total gain asks the rows that chose the
splits, so every feature that was used gets a positive number, and noise ranks in the middle. The
same question to rows that the model has not seen gives noise nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from attributions import total_gain, tree_inner
from gbt import GBTRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True)
X["noise"] = np.random.default_rng(0).normal(size=len(X))
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
model = GBTRegressor(max_depth=3).fit(X_fit, y_fit)

# %%
# Left what the rows of the fit say, right what new rows say, with 95 % intervals.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
total_gain(model).plot(ax=left)
tree_inner(model, X_new, y_new).plot(ax=right)
plt.show()
