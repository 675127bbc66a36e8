"""
One tree and the sums in its nodes
==================================

Every node keeps G and H, the sums of the gradients and hessians of its training rows. The node's
value, the gain of its split, and every attribution follow from these sums.
"""

from sklearn.datasets import load_breast_cancer

from attributions.plots import TreeDisplay
from gbt import GBTClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = GBTClassifier(n_estimators=10, max_depth=3, splitter="greedy").fit(X, y)

TreeDisplay.from_model(model, 0, max_depth=2, figsize=(11, 5))

# %%
# The tree as a table, with one line per node.

model.ensemble_.to_frame().head(7).round(3)
