"""
Correlated features share credit
================================

The table has three copies of one measurement, each with a little noise of its own. The trees use
whichever copy happens to be best at a node, so each copy gets a part of the credit, and none looks
as important as the measurement is. ``grouped`` adds the copies up, with a standard error that
accounts for their correlation.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from attributions import GlobalAttribution, tree_inner_rows
from gbt import GBTRegressor

rng = np.random.default_rng(0)
n = 3000
signal, other = rng.normal(size=(2, n))
X = pd.DataFrame({f"copy {i}": signal + 0.3 * rng.normal(size=n) for i in (1, 2, 3)})
X["other"], X["noise"] = other, rng.normal(size=n)
y = signal + 0.7 * other + rng.normal(size=n)

model = GBTRegressor(max_depth=4, splitter="greedy").fit(X[:1500], y[:1500])
single = GlobalAttribution.from_rows(tree_inner_rows(model, X[1500:], y[1500:]))

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained", sharex=True)
single.plot(ax=left, title="each by itself")
single.grouped({"copies 1 to 3": ["copy 1", "copy 2", "copy 3"]}).plot(ax=right, title="added up")
plt.show()
