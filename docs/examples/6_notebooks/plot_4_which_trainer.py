"""
Which trainer?
==============

We fit boosted trees to one table in four ways: with the three splitters of this library and with
scikit-learn's histograms. We compare how well they predict, and how much they use columns of noise
that have many values.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import cross_val_score, train_test_split

from attributions import held_out_gain, total_gain
from gbt import GBTRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
rng = np.random.default_rng(0)
noise = [f"noise {i}" for i in range(1, 6)]
X[noise] = rng.normal(size=(len(X), 5))
trainers = {
    splitter: GBTRegressor(n_estimators=80, max_depth=3, splitter=splitter, random_state=0)
    for splitter in ("greedy", "cross_validated", "unbiased")
}
trainers["scikit-learn"] = HistGradientBoostingRegressor(max_iter=80, max_depth=3, random_state=0)

# %%
# How well they predict
# ---------------------
# The table has R2 over ten folds, in per cent. Differences smaller than a standard error do not say
# which trainer is better for this table.

for name, trainer in trainers.items():
    scores = 100 * cross_val_score(trainer, X, y, cv=10)
    print(f"{name:16} {scores.mean():5.1f} +- {scores.std(ddof=1) / np.sqrt(10):.1f}")

# %%
# What they make of noise
# -----------------------
# The bars show which share of all gain goes to the five columns of noise. Greedy splits take the
# largest gain, which columns of many values have by chance; in the unbiased and the cross-validated
# splitter rows that did not choose a cut decide on it.

X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
fitted = {
    name: trainer.fit(X_fit, y_fit)
    for name, trainer in trainers.items()
    if name != "scikit-learn"  # which keeps no gain that could be compared
}
share = {
    name: 100 * total_gain(model).normalized()[[c in noise for c in X.columns]].sum()
    for name, model in fitted.items()
}
figure, ax = plt.subplots(figsize=(8, 2.5), layout="constrained")
ax.barh(list(share)[::-1], list(share.values())[::-1], color="#0072B2")
ax.set(xlabel="share of noise in total gain (%)")
plt.show()

# %%
# To learn which features a model owes its success to, use new rows, whatever fitted the model.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
for ax, name in zip(axes, ("greedy", "unbiased")):
    held_out_gain(fitted[name], X_new, y_new).plot(ax=ax, title=name)
plt.show()
