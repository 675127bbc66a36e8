"""
Below which splits a feature helps
==================================

In these data rain matters on working days only, and temperature on all days. ``tree_inner`` says
how much a feature helped; ``tree_inner_pairs`` divides this number among the features that the
path had split on before. The kind of day alone says nothing about y, so its splits at the top of a
tree earned nothing, and its splits below rain earned much. Temperature earned most of its
importance without another feature above. Other features earned much below temperature, too,
because trees often begin with temperature. That alone is no interaction.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from attributions import tree_inner_pairs
from gbt import GBTRegressor

rng = np.random.default_rng(0)
n = 4000
X = pd.DataFrame(rng.normal(size=(n, 4)), columns=["temperature", "rain", "wind", "noise"])
X["working day"] = rng.integers(0, 2, size=n)
y = X["temperature"] - 2 * X["working day"] * X["rain"] + rng.normal(size=n)

model = GBTRegressor(max_depth=3, splitter="greedy").fit(X[:2000], y[:2000])
pairs = tree_inner_pairs(model, X[2000:], y[2000:])
pairs.plot()
plt.show()

# %%
# The table has the numbers with standard errors. Its rows add up to ``tree_inner`` exactly.
pairs.head(6)
