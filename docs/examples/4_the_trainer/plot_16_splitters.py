"""
Three ways to choose a split
============================

The greedy splitter takes the cut of largest gain, so a column of many values wins by offering many
cuts. With ``splitter="cross_validated"`` features compete on held-out folds of the node's rows.
With ``splitter="unbiased"`` three parts of the rows decide separately on the cut, on the feature
and on whether to split at all. Below, one column of two values matters; four columns of noise have
2, 10, 100 and 600 values.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from attributions import total_gain
from gbt import GBTRegressor

rng = np.random.default_rng(0)
X = pd.DataFrame({"matters": rng.integers(0, 2, 600).astype(float)})
for values in (2, 10, 100, 600):
    X[f"noise of {values}"] = rng.permutation(600) % values + 0.0
y = 0.8 * X["matters"] + rng.normal(size=600)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained")
for ax, splitter in zip(axes, ("greedy", "cross_validated", "unbiased")):
    model = GBTRegressor(n_estimators=50, max_depth=3, splitter=splitter, random_state=0).fit(X, y)
    per_cent = 100 * total_gain(model).normalized()
    ax.barh(X.columns[::-1], per_cent[::-1], color=["0.7"] * 4 + ["#0072B2"])
    ax.set(title=splitter, xlabel="per cent of total gain", xlim=(0, 100))
plt.show()
