"""
What changed?
=============

A model of delivery times got worse in autumn. Which column stopped helping, since when, and for
whom? One pass over the rows of the year answers: the picture shows what each column saves a row in
every month, and a ring marks what changed beyond chance.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from attributions import compare, for_whom, held_out_gain, loss_change
from gbt import GBTRegressor

rng = np.random.default_rng(0)


def deliveries(n, broken=False):
    """Draw deliveries; traffic is measured anew for each, until the sensors in the north break."""
    X = pd.DataFrame(
        {
            "distance": rng.gamma(4, size=n),
            "traffic": rng.normal(size=n),
            "rain": rng.normal(size=n),
            "district": pd.Categorical(rng.choice(["north", "south"], n)),
        }
    )
    y = X["distance"] + 2 * X["traffic"] + 0.5 * X["rain"] + rng.normal(size=n)
    if broken:
        X["traffic"] = X["traffic"].where(X["district"] == "south", rng.normal(size=n))
    return X, y


model = GBTRegressor(random_state=0).fit(*deliveries(2_000))
before, after = deliveries(2_400), deliveries(1_200, broken=True)
X, y = (pd.concat(parts, ignore_index=True) for parts in zip(before, after))
month = pd.period_range("2025-01", periods=12, freq="M").repeat(300)

by_month = held_out_gain(model, X, y, by=month)
changes = by_month.changes(reference="2025-01")
by_month.plot(changes=changes)
plt.show()

# %%
# Which differences are beyond chance?
# ------------------------------------
# All months and columns are tested together, so one such table in twenty at most has a false alarm.

table = changes.to_frame()
table[table["p_value"] < 0.05].round(4)

# %%
# Where the loss went
# -------------------
# Traffic saves less than before. *Left over* is what the model still does by a column that no
# longer says anything.

loss_change(model, before, after).to_frame()[["before", "after", "difference", "p_value"]].round(3)

# %%
# For whom
# --------
# A shallow tree finds the rows for which traffic is worth most and least on one half of the rows,
# and the other half confirms them.

for_whom(model, *after, "traffic", columns=["district", "rain"], max_groups=2).plot()
plt.show()

# %%
# Is a new model better?
# ----------------------
# Fitted to deliveries of autumn it trusts the traffic in the south alone. Both models are judged on
# the same new rows, and a difference below 0 is less loss.

newer = GBTRegressor(random_state=0).fit(*deliveries(2_000, broken=True))
compare(model, newer, *deliveries(1_000, broken=True))
