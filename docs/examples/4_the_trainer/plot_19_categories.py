"""
Categories that are learned by heart
====================================

Columns of words need no preparation. But with a column of nearly as many words as rows, trees could
learn the rows by heart: by total gain it would be the best feature, and predictions of new rows
would be worse. Therefore words of few rows stay together, and the others are ordered by a smoothed
mean. The example shows what happens without smoothing.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from attributions import total_gain, tree_inner
from gbt import GBTRegressor

rng = np.random.default_rng(0)
n = 2000
X = pd.DataFrame({"city": rng.choice(["Bath", "Cork", "Lyon", "Oslo"], n)})
X["ticket number"] = [f"T{number}" for number in rng.integers(0, 1500, n)]
X["age"] = rng.integers(18, 80, n)
y = 2.0 * (X["city"] == "Oslo") + 0.03 * X["age"] + rng.normal(size=n)

figure, axes = plt.subplots(1, 3, figsize=(12, 3), layout="constrained")
for smoothing, ax, title in ((0.0, axes[1], "without smoothing"), (20.0, axes[2], "as it is")):
    model = GBTRegressor(max_depth=4, categorical_smoothing=smoothing, splitter="greedy").fit(
        X[:1000], y[:1000]
    )
    print(f"{title}: R2 on new rows {model.score(X[1000:], y[1000:]):.2f}")
    if smoothing == 0:
        total_gain(model).plot(ax=axes[0], title=f"{title}: total gain")
    tree_inner(model, X[1000:], y[1000:]).plot(ax=ax, title=f"{title}: new rows")
plt.show()
