"""
Which pixels tell one digit from the others?
============================================

A model of ten classes grows ten trees a round, one for each class, so its importances have parts:
``per_output=True`` says in which class's trees a feature helped. The features are pixels of
handwritten digits, and the rows that judge are new.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from attributions import predecomp, tree_inner
from gbt import GBTClassifier

X, y = load_digits(return_X_y=True)
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
model = GBTClassifier(n_estimators=50, max_depth=3, splitter="greedy").fit(X_fit, y_fit)
print(f"{model.score(X_new, y_new):.0%} of the new digits are recognised")


def show(ax, pixels, title, **options):
    ax.imshow(pixels.reshape(8, 8), **options)
    ax.set(title=title, xticks=[], yticks=[])


helps = tree_inner(model, X_new, y_new, per_output=True).per_output
colours = {"cmap": "RdBu", "vmin": -np.abs(helps).max() / 2, "vmax": np.abs(helps).max() / 2}
figure, axes = plt.subplots(2, 5, figsize=(9, 4), layout="constrained")
for digit, ax in zip(model.classes_, axes.flat):
    show(ax, helps[digit], f"in the trees of {digit}", **colours)
figure.suptitle("What each pixel helped (blue) or hurt (vermilion) on new digits")

# %%
# For one digit, the difference of two classes' contributions says which pixels speak for one class
# against the other. This is the first digit that the model gets wrong.

wrong = np.flatnonzero(model.predict(X_new) != y_new)[0]
said, true = model.predict(X_new)[wrong], y_new[wrong]
why = predecomp(model, X_new[[wrong]])
against = why.output(true).values[0] - why.output(said).values[0]
figure, axes = plt.subplots(1, 2, figsize=(6, 3), layout="constrained")
show(axes[0], X_new[wrong], f"a {true}, taken for a {said}", cmap="Greys")
limit = np.abs(against).max()
show(axes[1], against, f"for {true} (blue), for {said} (red)", cmap="RdBu", vmin=-limit, vmax=limit)
plt.show()
