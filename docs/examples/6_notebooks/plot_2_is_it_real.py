"""
Is this feature real?
=====================

If a column ranks high in a model, ask three questions: does it help on new rows, does it beat
columns of pure noise, and does it say anything that the other columns do not? We use the diabetes
data, and add a column of random numbers and a noisy copy of ``bmi``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split

from attributions import cross_fit, given_others, held_out_gain, total_gain
from gbt import GBTRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
rng = np.random.default_rng(0)
X["noise"] = rng.normal(size=len(X))
X["bmi copy"] = X["bmi"] + 0.5 * rng.normal(size=len(X))
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=1)
model = GBTRegressor(n_estimators=60, max_depth=3, random_state=0, splitter="greedy").fit(
    X_fit, y_fit
)

# %%
# Does it help on new rows?
# -------------------------
# Total gain is computed on the training rows, where every used feature looks good. Held-out gain is
# computed on new rows.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
total_gain(model).plot(ax=left)
held_out_gain(model, X_new, y_new).plot(ax=right)
plt.show()

# %%
# Does it beat noise?
# -------------------
# We shuffle every column once, add the shuffled columns to the table and let all rows judge in turn
# (:func:`~attributions.cross_fit`). No shuffled column can be real, so the values of these columns
# show how far chance goes.

shuffled = X.apply(lambda column: rng.permutation(column)).add_prefix("shuffled ")
both = cross_fit(
    GBTRegressor(n_estimators=60, max_depth=3, splitter="greedy"), X.join(shuffled), y
).to_frame()
is_shuffled = both.index.str.startswith("shuffled")
limit = both["percent"][is_shuffled].max()
print(f"the best shuffled column saves {limit:.2f} % of the loss; these columns save more:")
both[~is_shuffled & (both["percent"] > limit)][["percent", "p_value"]].round(4)

# %%
# Does it say what the others do not?
# -----------------------------------
# ``bmi`` and its copy both help, because the model uses both. :func:`~attributions.given_others`
# asks about the columns instead: it fits the model without each of them in turn. The copy says
# nothing that ``bmi`` does not, and ``bmi`` itself says less once its copy is known.

regressor = HistGradientBoostingRegressor(max_iter=50, max_depth=3, random_state=0)
alone = given_others(model, X_new, y_new, training=(X_fit, y_fit), regressor=regressor)
alone.to_frame()[["p_value"]].round(4).sort_values("p_value")
