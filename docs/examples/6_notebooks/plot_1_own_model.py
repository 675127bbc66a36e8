"""
Your own model in five minutes
==============================

You have a fitted model and some rows that it has not seen. Which features does it owe its success
to, which ones mislead it, and why did one row get its prediction? The model in this notebook
is from scikit-learn; a model of XGBoost, LightGBM or CatBoost can replace it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from attributions import held_out_gain, predecomp
from gbt.formats import as_ensemble

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
model = HistGradientBoostingClassifier(max_iter=60, max_depth=4).fit(X_fit, y_fit)
print(f"{model.score(X_new, y_new):.1%} of the new rows are classified correctly")

# %%
# Which features help
# -------------------
# :func:`~attributions.held_out_gain` sends the new rows through the model's trees; nothing is
# fitted again. *Per cent* is the share of a constant prediction's loss that the feature saves.

result = held_out_gain(model, X_new, y_new)
result.plot(max_display=12, figsize=(8, 5))

# %%
# The result as a table. These rows cannot tell a feature whose interval contains 0 from noise.

result.to_frame().head(8).round(4)

# %%
# Why one row got its prediction
# ------------------------------
# :func:`~attributions.predecomp` divides a prediction among the features, here in log-odds. It
# needs the sums of gradients in the trees, which scikit-learn does not keep: ``as_ensemble``
# computes them from the training rows. Models of XGBoost, LightGBM and CatBoost need no
# ``as_ensemble``.

why = predecomp(as_ensemble(model, X_fit, y_fit), X_new)
why.plot(row=X_new.index[0], max_display=8, figsize=(8, 4))
plt.show()
