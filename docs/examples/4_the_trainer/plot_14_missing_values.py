"""
Missing values say something
============================

A split sends missing values to the side where the gain is larger, and may also separate present
values from missing ones. In these data a lab value is measured only in patients who look ill, so a
missing value is the best sign of health.
"""

import numpy as np
import pandas as pd

from attributions import predecomp, tree_inner
from gbt import GBTClassifier

rng = np.random.default_rng(0)
n = 2000
illness = rng.normal(size=n)
X = pd.DataFrame({"age": rng.uniform(20, 90, n), "lab value": illness + rng.normal(size=n)})
X["visits"] = rng.poisson(3, n).astype(float)
X.loc[illness + 0.5 * rng.normal(size=n) < 0.3, "lab value"] = np.nan
y = illness + 0.5 * rng.normal(size=n) > 0.5

model = GBTClassifier(max_depth=3, splitter="greedy").fit(X[:1000], y[:1000])
print(tree_inner(model, X[1000:], y[1000:]))

# %%
# Vermilion points are rows whose lab value is missing: the model predicts "not ill" for them.

predecomp(model, X[1000:]).plot(figsize=(8, 3.5))
