"""
Debias an attribution of your own
=================================

:func:`~attributions.tree_inner` takes any attribution of rows that adds up tree by tree: a
function of the ensemble, the number of a tree and the rows. The attribution below gives the whole
leaf value, in equal parts, to the features on the row's path. On the training rows noise looks
useful by it, as by other attributions; on new rows it does not.
"""

import matplotlib.pyplot as plt
import numpy as np

from attributions import tree_inner
from attributions.simulated import simulated
from gbt import GBTClassifier


def equal_parts(ensemble, m, X):
    """Return what each feature adds to tree m for each row."""
    tree, values = ensemble.trees[m], np.zeros(X.shape)
    parent = np.full(len(tree.feature), -1)
    for t in np.flatnonzero(tree.feature >= 0):
        parent[[tree.left[t], tree.right[t]]] = t
    leaves = ensemble.apply(X)[:, m]
    for leaf in np.unique(leaves):
        path, t = [], parent[leaf]
        while t >= 0:
            path, t = [*path, tree.feature[t]], parent[t]
        if path:
            values[np.ix_(leaves == leaf, np.unique(path))] = tree.value[leaf] / len({*path})
    return values


data = simulated("classification", random_state=1)
model = GBTClassifier(n_estimators=30, max_depth=3, splitter="greedy").fit(
    data.X_train, data.y_train
)

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, title, X, y in (
    (axes[0], "rows of the fit", data.X_train, data.y_train),
    (axes[1], "new rows", data.X_valid, data.y_valid),
):
    result = tree_inner(model, X, y, ifa=equal_parts)
    ax.boxplot(
        [result.values[data.relevant], np.delete(result.values, data.relevant)],
        tick_labels=["relevant", "noise"],
    )
    ax.axhline(0, color="0.5", linewidth=0.8)
    ax.set(title=title, ylabel="TreeInner of equal parts")
plt.show()
