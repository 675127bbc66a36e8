"""
Panel data
==========

300 shops report twelve months each. A shop's rows resemble each other, so they are not independent:
a model that has seen other months of a shop recognises it by its constants, and a standard error
that counts rows counts the same shop twelve times.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import r2_score
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from attributions import cross_fit, held_out_gain
from gbt import GBTRegressor

rng = np.random.default_rng(0)
shop = np.repeat(np.arange(300), 12)
X = pd.DataFrame(
    {
        "advertising": rng.normal(size=3600),
        "season": np.tile(np.cos(2 * np.pi * np.arange(12) / 12), 300),
        "floor area": rng.normal(size=300)[shop],  # a constant of the shop, of no use
        "distance": rng.normal(size=300)[shop],  # likewise
    }
)
y = 0.5 * X["advertising"] + X["season"] + rng.normal(size=300)[shop] + 0.5 * rng.normal(size=3600)

# %%
# Whole shops are held out
# ------------------------
# After a random split the two constants seem to help, because they tell the model which shop a row
# belongs to. On shops that the model has not seen they do not help.

rows = np.arange(3600)
splits = {
    "wrong: months at random": train_test_split(rows, test_size=0.5, random_state=0),
    "right: whole shops": next(
        GroupShuffleSplit(1, test_size=0.5, random_state=0).split(X, y, shop)
    ),
}
figure, axes = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained", sharex=True)
for ax, (title, (fit, new)) in zip(axes, splits.items()):
    model = GBTRegressor(max_depth=4, splitter="greedy").fit(X.iloc[fit], y.iloc[fit])
    score = r2_score(y.iloc[new], model.predict(X.iloc[new]))
    groups = shop[new] if title.startswith("right") else None
    result = held_out_gain(model, X.iloc[new], y.iloc[new], groups=groups)
    result.plot(ax=ax, title=f"{title}, R2 {score:.2f}")
plt.show()

# %%
# Standard errors count shops
# ---------------------------
# With ``groups=`` the rows of a shop are added up first. The standard errors of features that
# differ between shops grow; those of features that vary within shops may not.

table = pd.DataFrame(
    {
        name: held_out_gain(model, X.iloc[new], y.iloc[new], groups=labels).standard_error
        for name, labels in (("by rows", None), ("by shops", shop[new]))
    },
    index=X.columns,
)
table["ratio"] = table["by shops"] / table["by rows"]
table.round(2)

# %%
# All shops judge
# ---------------
# :func:`~attributions.cross_fit` puts every shop into one of five folds, so that each shop
# judges a model that has not seen it.

cross_fit(GBTRegressor(max_depth=4, splitter="greedy"), X, y, groups=shop).plot(figsize=(8, 3))
plt.show()
