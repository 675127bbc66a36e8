"""
Stop early
==========

With ``early_stopping_rounds`` boosting ends when the loss of an evaluation set has not improved
for that many trees, and the trees after the best are dropped. Judge features on *other* rows,
because those of the evaluation set have decided when to stop.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from gbt import GBTRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True)
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
X_stop, X_judge, y_stop, y_judge = train_test_split(X_new, y_new, test_size=0.5, random_state=0)

model = GBTRegressor(
    n_estimators=500, learning_rate=0.05, max_depth=3, early_stopping_rounds=30, splitter="greedy"
)
model.fit(X_fit, y_fit, eval_set=[(X_fit, y_fit), (X_stop, y_stop)])

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for name, label in (("eval_0", "rows of the fit"), ("eval_1", "rows that decide when to stop")):
    ax.plot(model.evals_result_[name], label=label)
ax.axvline(model.best_iteration_, color="0.5", linestyle=":", label="best tree")
ax.set(xlabel="tree", ylabel="mean loss")
ax.legend()
plt.show()
