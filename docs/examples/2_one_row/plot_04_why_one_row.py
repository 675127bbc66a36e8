"""
Why did this row get its prediction?
====================================

A row walks from the root of every tree to a leaf, and each step is credited to the feature that
the node splits on. The credits of all trees and a base value add up to the prediction, exactly.
"""

from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from attributions import predecomp
from gbt import GBTRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
model = GBTRegressor(max_depth=3, splitter="greedy").fit(X_fit, y_fit)

why = predecomp(model, X_new)
why.plot(row=X_new.index[0], figsize=(8, 4.5))

# %%
# The numbers: each feature's value in this row, and what the feature added to the prediction.

table = X_new.iloc[[0]].T.set_axis(["value"], axis="columns")
table["contribution"] = why.to_frame().iloc[0].round(1)
table.sort_values("contribution")

# %%
# Base value and contributions add up to the prediction.

print(f"{why.base_values[0]:.1f} + {why.values[0].sum():.1f} = {model.predict(X_new)[0]:.1f}")
