"""
Used is not useful
==================

:func:`~attributions.absolute` says how much a feature moves predictions, whether in
the right direction or not: it does not look at targets. :func:`~attributions.held_out_gain` says
whether these moves lower the loss of new rows. The picture shows one against the other: blue
features help, vermilion ones hurt, and of grey ones it cannot be told. In these simulated data five
features of fifty matter, and the model uses many others just as much. All five have few values,
which alone favours them (:doc:`/treeinner` says by how much).
"""

from attributions import absolute, held_out_gain
from attributions.plots import UsedUsefulDisplay
from attributions.simulated import simulated
from gbt import GBTClassifier

data = simulated("classification", random_state=0)
model = GBTClassifier(n_estimators=200, learning_rate=0.02, max_depth=4, splitter="greedy")
model.fit(data.X_train, data.y_train)

used = absolute(model, data.X_valid)
useful = held_out_gain(model, data.X_valid, data.y_valid)
UsedUsefulDisplay(used, useful).plot(figsize=(8, 6))
print("features that matter:", [useful.feature_names[k] for k in data.relevant])
