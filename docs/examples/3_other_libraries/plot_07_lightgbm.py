"""
Explain a LightGBM model
========================

Every function accepts fitted LightGBM, XGBoost, CatBoost and scikit-learn models. Nothing is
trained again: the trees are read. :func:`~attributions.held_out_gain` is where to begin.
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
# Which features help on new rows, beside the features that LightGBM's gain puts first.

result = held_out_gain(booster, X_new, y_new)
result.plot(max_display=10, figsize=(8, 5), title="LightGBM, judged on new rows")

own = booster.booster_.feature_importance("gain")
print("by LightGBM's gain:", *X.columns[own.argsort()[:-6:-1]], sep="\n  ")

# %%
# Why one row got its prediction, in log-odds.

predecomp(booster, X_new).plot(row=X_new.index[0], max_display=8, figsize=(8, 4))
plt.show()
