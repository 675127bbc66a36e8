"""The picture at the top of README: what gain says of random numbers, and what new rows say.

    python docs/first_picture.py    writes docs/first_picture.svg and docs/first_picture_dark.svg,
                                    and prints where random numbers rank over 100 draws

The model is scikit-learn's, the table comes with scikit-learn, and the column ``noise`` is drawn
here. Gain is in per cent of all gain, held-out gain in per cent of the loss of a constant
prediction on the new rows, with 95 % intervals.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import train_test_split

from attributions import held_out_gain
from attributions.plots.colors import BLUE, VERMILION

STYLES = {"": ("#333333", "#ffffff"), "_dark": ("#e6e6e6", "#0d1117")}  # of GitHub's two pages
LIKE_ALWAYS = {"svg.hashsalt": "gbt", "svg.fonttype": "none"}  # the same file at each run


def fitted(noise, split):
    """Return a model of half of the table, which a column of noise has joined, and the rest."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X["noise"] = np.random.default_rng(noise).normal(size=len(X))
    X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=split)
    return GradientBoostingRegressor(random_state=0).fit(X_fit, y_fit), X_new, y_new


def held_out(model, X_new, y_new):
    """Return the title, the per cent and the half of the 95 % intervals of held-out gain."""
    frame = held_out_gain(model, X_new, y_new).to_frame().loc[list(X_new.columns)]
    unit = frame["percent"].iloc[0] / frame["value"].iloc[0]
    error = 1.96 * unit * frame["standard_error"].to_numpy()
    return "Held-out gain: share of\nthe loss saved, new rows", frame["percent"].to_numpy(), error


def draw(names, sides, ink, paper):
    """Draw importances of the same model beside each other; noise in another colour."""
    width = 2.9 * len(sides)  # letters can be read where this fills a phone
    figure, axes = plt.subplots(
        1, len(sides), figsize=(width, 3.8), layout="constrained", facecolor=paper, squeeze=False
    )
    for ax, (title, values, errors) in zip(axes[0], sides, strict=True):
        order = np.argsort(values)
        shown = [names[k] for k in order]
        colors = [VERMILION if name == "noise" else BLUE for name in shown]
        whiskers = None if errors is None else errors[order]
        ax.barh(shown, values[order], color=colors, xerr=whiskers, ecolor=ink, height=0.7)
        ax.axvline(0, color=ink, linewidth=0.8)
        ax.set_title(title, color=ink, fontsize=10, loc="left")
        ax.set_facecolor(paper)
        ax.tick_params(colors=ink, length=0)
        ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.xaxis.set_major_formatter("{x:g} %")
        ax.spines[:].set_visible(False)
        label = ax.get_yticklabels()[shown.index("noise")]
        label.set(color=VERMILION, fontweight="bold")
    return figure


def write(name, names, both_sides):
    """Write a picture for light pages, and one for dark pages."""
    for suffix, (ink, paper) in STYLES.items():
        with plt.rc_context(LIKE_ALWAYS):
            picture = draw(names, both_sides, ink, paper)
            path = Path(__file__).parent / f"{name}{suffix}.svg"
            picture.savefig(path, metadata={"Date": None})
            plt.close(picture)


def ranks_of_noise(n_draws):
    """Return where noise ranks of the eleven features, by gain and by held-out gain: (n, 2)."""
    ranks = np.zeros((n_draws, 2))
    for m in range(n_draws):
        model, X_new, y_new = fitted(noise=m, split=m)
        for j, values in enumerate(
            (model.feature_importances_, held_out_gain(model, X_new, y_new).values)
        ):
            ranks[m, j] = 1 + (values > values[-1]).sum()
    return ranks


if __name__ == "__main__":
    model, X_new, y_new = fitted(noise=0, split=1)
    gain = "Gain: share of\nall gain, training rows", 100 * model.feature_importances_, None
    write("first_picture", list(X_new.columns), (gain, held_out(model, X_new, y_new)))
    by_gain, on_new = ranks_of_noise(100).mean(axis=0)
    print(f"mean rank of noise among 11 features: {by_gain:.1f} by gain, {on_new:.1f} held out")
