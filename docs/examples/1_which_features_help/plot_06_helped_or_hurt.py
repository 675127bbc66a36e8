"""
For whom did a feature help?
============================

:func:`~attributions.held_out_gain_rows` gives one number for each row and feature: positive if the
row confirms the splits on the feature, negative if it contradicts them. The numbers of all rows add
up to :func:`~attributions.held_out_gain`; those of some rows say for whom a feature is useful.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from attributions import GlobalAttribution, held_out_gain_rows
from gbt import GBTRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
model = GBTRegressor(max_depth=3, splitter="greedy").fit(X_fit, y_fit)
rows = held_out_gain_rows(model, X_new, y_new)

# %%
# The row that the model gets most wrong: what misled it?

worst = (model.predict(X_new) - y_new).abs().idxmax()
rows.plot(row=worst, figsize=(8, 4))

# %%
# Weights of 0 and 1 pick the rows to sum over: here younger and older patients.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharex=True)
for ax, chosen, title in zip(axes, (X_new.age < 50, X_new.age >= 50), ("below 50", "50 and older")):
    title += f": {chosen.sum()} of the {len(chosen)} rows"
    GlobalAttribution.from_rows(rows, sample_weight=chosen).plot(ax=ax, title=title)
plt.show()
