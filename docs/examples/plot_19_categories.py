"""
Categories that are learned by heart
====================================

Columns of words are taken as they are. A column with nearly as many words as rows lets greedy
trees learn the rows by heart: by total gain it is the best feature, and new rows pay for it. Where
features compete on held-out folds of each node's rows, it is hardly used.
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
for splitter in ("greedy", "cross_validated"):
    model = GBTRegressor(max_depth=4, splitter=splitter, random_state=0).fit(X[:1000], y[:1000])
    print(f"{splitter}: R2 on new rows {model.score(X[1000:], y[1000:]):.2f}")
    if splitter == "greedy":
        total_gain(model).plot(ax=axes[0], title="greedy: total gain")
    ax = axes[1] if splitter == "greedy" else axes[2]
    tree_inner(model, X[1000:], y[1000:]).plot(ax=ax, title=f"{splitter}: new rows")
plt.show()
