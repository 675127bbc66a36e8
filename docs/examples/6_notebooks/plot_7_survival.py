"""
When does it come?
==================

1,600 customers are followed until they cancel, or until today. Which measurements tell who leaves
early? Of those who have not left, all that is known is that they stayed so long. The table is
drawn: how often a customer complains and the price matter, the region and the random numbers do
not.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from attributions import HeldOutSelector, held_out_gain
from gbt import GBTRegressor
from gbt.losses import Aft
from gbt.losses.survival import uno_concordance

rng = np.random.default_rng(0)
n = 1600
X = pd.DataFrame(
    {
        "complaints": rng.poisson(1.0, n),
        "price": rng.gamma(9.0, 5.0, n),
        "region": pd.Categorical(rng.choice(["north", "south", "east"], n)),
        "noise": rng.normal(size=n),
    }
)
log_months = 3.2 - 0.35 * X["complaints"] - 0.02 * (X["price"] - 45)
leaves = np.exp(log_months + 0.6 * rng.normal(size=n))
today = rng.uniform(3, 48, n)  # months since the customer came
y = np.column_stack([np.minimum(leaves, today), leaves <= today])
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
print(f"{y[:, 1].mean():.0%} have left")

# %%
# Who leaves first
# ----------------
# Cox's loss learns from the order of events alone. The *concordance* is the share of pairs in which
# who left first had the higher risk. Pairs are lost where a customer has come lately; Uno's
# concordance weighs the others so that they stand for those as well.

model = GBTRegressor(loss="cox", n_estimators=100, max_depth=2, splitter="greedy")
model.fit(X_fit, y_fit)
risk = model.predict(X_new)
print(f"Harrell's concordance {model.score(X_new, y_new):.2f}")
print(f"Uno's, of 30 months   {uno_concordance(y_new, risk, until=30):.2f}")

# %%
# Which measurements help
# -----------------------
# New customers judge. A measurement without effect is worth 0 but for chance, whatever its gain.

held_out_gain(model, X_new, y_new).plot(figsize=(7, 3))
plt.show()

# %%
# How long a customer stays
# -------------------------
# Accelerated failure time predicts the time itself, here the months after which half of such
# customers have left. ``y`` are bounds: equal where the time is known, infinity where the customer
# is still there.


def bounds(y):
    return np.column_stack([y[:, 0], np.where(y[:, 1] == 1, y[:, 0], np.inf)])


months = GBTRegressor(loss=Aft(scale=0.6), n_estimators=100, max_depth=2, splitter="greedy")
months.fit(X_fit, bounds(y_fit))
few, many = X_new["complaints"] == 0, X_new["complaints"] >= 3
predicted = months.predict(X_new)
print(
    f"no complaint {np.median(predicted[few]):.0f} months, three {np.median(predicted[many]):.0f}"
)
print(held_out_gain(months, X_new, bounds(y_new)))

# %%
# What leaving out the customers who are still there would have said:

left = y_fit[:, 1] == 1
wrong = GBTRegressor(n_estimators=100, max_depth=2, splitter="greedy")
wrong.fit(X_fit[left], np.log(y_fit[left, 0]))
print(f"{np.median(np.exp(wrong.predict(X_new[few]))):.0f} months without a complaint")

# %%
# Which to keep
# -------------
# Five models, each judged by customers that it has not seen.

selector = HeldOutSelector(GBTRegressor(loss="cox", n_estimators=60, max_depth=2)).fit(X, y)
print(", ".join(selector.get_feature_names_out()))
