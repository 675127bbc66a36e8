"""
Explain a LightGBM model
========================

Every function accepts fitted LightGBM, XGBoost, CatBoost and scikit-learn models. Nothing is
trained again: the trees are read. Begin with :func:`~attributions.held_out_gain`.
"""

import matplotlib.pyplot as plt
from lightgbm import LGBMClassifier
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from attributions import held_out_gain, predecomp

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
booster = LGBMClassifier(n_estimators=60, num_leaves=7, verbose=-1).fit(X_fit, y_fit)

# %%
# These features help most on new rows; beside them are those that LightGBM's gain puts first.

result = held_out_gain(booster, X_new, y_new)
result.plot(max_display=10, figsize=(8, 5), title="LightGBM, judged on new rows")

own = booster.booster_.feature_importance("gain")
print("by LightGBM's gain:", *X.columns[own.argsort()[:-6:-1]], sep="\n  ")

# %%
# These contributions, in log-odds, explain the prediction of one row.

predecomp(booster, X_new).plot(row=X_new.index[0], max_display=8, figsize=(8, 4))
plt.show()
