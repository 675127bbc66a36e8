"""
One row
=======

A patient's prediction is far above the mean. Which of the measurements is the reason? Three
methods divide the prediction among the features, and the parts of each add up to it exactly. Where
they agree, the answer does not depend on the method.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from attributions import predecomp, saabas, tree_shap
from gbt import GBTRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
model = GBTRegressor(n_estimators=60, max_depth=3, random_state=0, splitter="greedy").fit(
    X_fit, y_fit
)

predicted = model.predict(X_new)
position = int(predicted.argmax())
row = X_new.index[position]
print(f"predicted {predicted[position]:.0f}, measured {y_new[row]:.0f}, mean {y_fit.mean():.0f}")

# %%
# As a picture
# ------------
# Each step of the row through the trees is credited to the feature that the node splits on.

why = predecomp(model, X_new)
why.plot(row=row, figsize=(8, 4.5))
plt.show()

# %%
# Three methods
# -------------
# ``predecomp`` and ``saabas`` follow the path of the row; ``tree_shap`` averages over the orders in
# which features could become known. In each, base value and contributions add up to the prediction.

methods = {"predecomp": why, "saabas": saabas(model, X_new), "tree_shap": tree_shap(model, X_new)}
for name, result in methods.items():
    total = result.base_values[position] + result.values[position].sum()
    print(f"{name:10} {result.base_values[position]:6.1f} + contributions = {total:6.1f}")
table = pd.DataFrame({name: m.values[position] for name, m in methods.items()}, index=X.columns)
table.insert(0, "measured", X_new.loc[row])
table.sort_values("predecomp", key=np.abs, ascending=False).round(1)

# %%
# What would change it
# --------------------
# A contribution says how the model came to its prediction, not what would happen to another
# patient. To see what the model predicts for other values, compute it: here for every value of the
# feature that contributed most.

feature = X.columns[np.abs(why.values[position]).argmax()]
values = np.linspace(X[feature].min(), X[feature].max(), 200)
others = pd.concat([X_new.loc[[row]]] * len(values), ignore_index=True).assign(**{feature: values})
figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
ax.plot(values, model.predict(others))
ax.plot(X_new.loc[row, feature], predicted[position], "o")
ax.set(xlabel=feature, ylabel="prediction")
plt.show()
