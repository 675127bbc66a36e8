"""
A waterfall beside shap's
=========================

shap's waterfall stacks the contributions of one row, from the base value at the bottom to the
prediction at the top. ``to_shap()`` gives the waterfall the values of
:func:`~attributions.predecomp` or :func:`~attributions.tree_shap`. Beside them stand the values
that shap itself computes for the LightGBM model of this page.
"""

import matplotlib.pyplot as plt
import numpy as np
import shap
from lightgbm import LGBMRegressor
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from attributions import predecomp, tree_shap

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
model = LGBMRegressor(n_estimators=100, num_leaves=7, verbose=-1).fit(X_fit, y_fit)
highest = model.predict(X_new).argmax()  # the row that we ask about


def waterfall(explanation, title):
    shap.plots.waterfall(explanation[highest], max_display=7, show=False).set_title(title)
    plt.tight_layout()
    plt.show()


# %%
# Our Shapley values in shap's picture, beside shap's own: the numbers are equal.

ours, theirs = tree_shap(model, X_new).to_shap(), shap.TreeExplainer(model)(X_new)
difference = np.abs(ours.values - theirs.values).max()
print(f"largest difference of {ours.values.size:,} values: {difference:.0e}")
waterfall(ours, "tree_shap")

# %%
waterfall(theirs, "shap.TreeExplainer")

# %%
# PreDecomp credits the steps that this row took, whereas Shapley values average over the orders in
# which features could have become known. PreDecomp adds up to the prediction as well, from the
# model's starting value, and takes a fraction of the time.

why = predecomp(model, X_new)
waterfall(why.to_shap(), "predecomp")

# %%
# Our own waterfall does not need shap; ``kind="force"`` draws the same in one line.

why.plot(row=X_new.index[highest], figsize=(8, 4.5))
plt.show()
