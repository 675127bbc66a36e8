"""
Below which splits a feature helps
==================================

Rain matters on working days only, temperature always. ``tree_inner`` says how much a feature
helped; ``tree_inner_pairs`` divides that number by the features that the trees had split on before.
By itself the kind of day says nothing of y, so it earned nothing with no other feature above, and
much below splits on rain. Temperature earned most of its own by itself. Much was earned below
temperature, too: trees often begin with it. That alone is no interaction.
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
# The numbers, with standard errors. Rows of the table add up to ``tree_inner``, exactly.
pairs.head(6)
