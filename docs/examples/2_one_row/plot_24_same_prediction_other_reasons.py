"""
Same prediction, other reasons
==============================

Rows with similar predictions may have them for different reasons, which their contributions show.
Four clusters of contributions, each drawn by its mean, are four profiles. For two groups of
patients the model predicts nearly the same progress, for one because of the body mass index, for
the other because of a blood value.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import train_test_split

from attributions import saabas
from attributions.plots.colors import BLUE, VERMILION

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)


def grouped(seed):
    """Return the contributions of the new rows in a forest, their predictions, and four groups."""
    forest = RandomForestRegressor(200, min_samples_leaf=5, max_features=0.33, random_state=seed)
    forest.fit(X_fit, y_fit)
    reasons, predicted = saabas(forest, X_new).values, forest.predict(X_new)
    group = KMeans(4, n_init=20, random_state=0).fit_predict(reasons)
    order = np.argsort([predicted[group == g].mean() for g in range(4)])
    return reasons, predicted, np.argsort(order)[group]  # groups by rising prediction


reasons, predicted, group = grouped(seed=0)

fig, axes = plt.subplots(1, 4, figsize=(10, 4.2), sharex=True, sharey=True, layout="constrained")
for g, ax in enumerate(axes):
    rows = group == g
    profile = reasons[rows].mean(axis=0)
    ax.barh(X.columns, profile, color=np.where(profile > 0, VERMILION, BLUE))
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_title(
        f"{rows.sum()} patients\npredicted {predicted[rows].mean():.0f}, was "
        f"{y_new[rows].mean():.0f}",
        fontsize=11,
    )
axes[0].invert_yaxis()
fig.supxlabel("mean contribution to the predicted progress of the disease")

# %%
# The groups are not an accident of one forest: another seed finds nearly the same groups. (The
# adjusted Rand index is 1 for the same groups and 0 for groups by chance.)

print(f"adjusted Rand index: {adjusted_rand_score(group, grouped(seed=1)[2]):.2f}")

# %%
# The two groups in the middle have nearly the same prediction, so no list of predictions would tell
# them apart. These are their mean measurements, in the units of the table:

X_new.assign(progress=y_new).groupby(group)[["bmi", "s5", "bp", "progress"]].mean().round(1)

# %%
# Such groups need not be good for fitting a model to each of them; mostly they are not: see the
# last tables of :doc:`/local_mdi`.
