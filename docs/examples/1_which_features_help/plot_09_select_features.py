"""
Keep only features that help
============================

:class:`~attributions.HeldOutSelector` is a scikit-learn selector. It makes five fits, so that
every row judges a model that has not seen it, takes one-sided p-values of
:func:`~attributions.held_out_gain`, and keeps features at a false-discovery rate. In this example
10 columns of 60 matter.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_regression
from sklearn.pipeline import make_pipeline

from attributions import HeldOutSelector
from gbt import GBTRegressor

X, y, slope = make_regression(2000, 60, n_informative=10, noise=300, coef=True, random_state=0)
selector = HeldOutSelector(GBTRegressor(max_depth=3, splitter="greedy"), fdr=0.1, random_state=0)
pipeline = make_pipeline(selector, GBTRegressor(max_depth=3, splitter="greedy")).fit(X, y)

kept = pipeline[0].get_support()
print(f"{kept.sum()} features kept, {np.sum(kept & (slope == 0))} of them noise; 10 matter")

# %%
# The steeper a column's true slope, the smaller its p-value. (Those below 1e-20 are drawn there.)

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
p_values = np.maximum(pipeline[0].p_values_, 1e-20)
for chosen, label, color in ((kept, "kept", "#0072B2"), (~kept, "dropped", "#D55E00")):
    ax.scatter(np.abs(slope[chosen]), p_values[chosen], label=label, color=color, alpha=0.7)
ax.set(xlabel="size of the true slope", ylabel="p-value", yscale="log")
ax.legend()
plt.show()
