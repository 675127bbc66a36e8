"""
Rows that belong together
=========================

200 patients have ten visits each. No column is related to the target, but all columns, and most of
the target, are constant for a patient. After a random split every column looks useful, because the
model has seen other visits of the patients who judge. After a split by patient no column does, and
``groups=`` makes standard errors count patients, not visits.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit

from attributions import held_out_gain
from gbt import GBTRegressor

rng = np.random.default_rng(0)
patient = np.repeat(np.arange(200), 10)
X = rng.normal(size=(200, 8))[patient]
y = rng.normal(size=200)[patient] + 0.5 * rng.normal(size=2000)

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, splitter, title in (
    (axes[0], ShuffleSplit(1, test_size=0.5, random_state=0), "wrong: visits split at random"),
    (axes[1], GroupShuffleSplit(1, test_size=0.5, random_state=0), "right: patients split"),
):
    fitted_on, judged_on = next(splitter.split(X, y, patient))
    groups = patient[judged_on] if "right" in title else None
    model = GBTRegressor(max_depth=4, splitter="greedy").fit(X[fitted_on], y[fitted_on])
    held_out_gain(model, X[judged_on], y[judged_on], groups=groups).plot(ax=ax, title=title)
plt.show()
