"""The picture at the top of README: what gain says of random numbers, and what new rows say.

    python docs/first_picture.py    writes docs/first_picture.svg and docs/first_picture_dark.svg,
                                    and prints what is said of random numbers in 100 draws

The table, the model and its seed, 0, are those of the demonstration, ``python -m attributions``.
Gain is in per cent of all gain, held-out gain in per cent of the loss of a constant prediction on
the new rows, with 95 % intervals.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from attributions import held_out_gain, total_gain
from attributions.command.table.demonstration import GREEDY, demonstration
from attributions.plots.colors import BLUE, VERMILION
from gbt import GBTRegressor

NOISE = {"random numbers", "noise"}
STYLES = {"": ("#333333", "#ffffff"), "_dark": ("#e6e6e6", "#0d1117")}  # of GitHub's two pages
LIKE_ALWAYS = {"svg.hashsalt": "gbt", "svg.fonttype": "none"}  # the same file at each run


def fitted(seed):
    """Return the demonstration's model of half of the table, and the rows that it has not seen."""
    task = demonstration(seed)
    model = GBTRegressor(**GREEDY).fit(task.X_train, task.y_train)
    X_new = pd.DataFrame(task.X_valid, columns=task.feature_names)
    return model, X_new, task.y_valid


def held_out(model, X_new, y_new):
    """Return the title, the per cent and the half of the 95 % intervals of held-out gain."""
    frame = held_out_gain(model, X_new, y_new).to_frame().loc[list(X_new.columns)]
    unit = frame["percent"].iloc[0] / frame["value"].iloc[0]
    error = 1.96 * unit * frame["standard_error"].to_numpy()
    return "Held-out gain: loss\nsaved on new rows", frame["percent"].to_numpy(), error


def draw(names, sides, ink, paper):
    """Draw importances of the same model beside each other; noise in another colour."""
    width = 3.2 * len(sides)  # letters can be read where this fills a phone
    figure, axes = plt.subplots(
        1, len(sides), figsize=(width, 3.8), layout="constrained", facecolor=paper, squeeze=False
    )
    for ax, (title, values, errors) in zip(axes[0], sides, strict=True):
        order = np.argsort(values)
        shown = [names[k] for k in order]
        colors = [VERMILION if name in NOISE else BLUE for name in shown]
        whiskers = None if errors is None else errors[order]
        ax.barh(shown, values[order], color=colors, xerr=whiskers, ecolor=ink, height=0.7)
        ax.axvline(0, color=ink, linewidth=0.8)
        ax.set_title(title, color=ink, fontsize=10, loc="left")
        ax.set_facecolor(paper)
        ax.tick_params(colors=ink, length=0)
        ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.xaxis.set_major_formatter("{x:g} %")
        ax.spines[:].set_visible(False)
        for label, name in zip(ax.get_yticklabels(), shown, strict=True):
            if name in NOISE:
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


def said_of_noise(n_draws):
    """Return where noise ranks by gain, and the p-value of its held-out gain: (n, 2)."""
    said = np.zeros((n_draws, 2))
    for seed in range(n_draws):
        model, X_new, y_new = fitted(seed)
        gain = total_gain(model).values
        p_value = held_out_gain(model, X_new, y_new).p_values()[-1]
        said[seed] = 1 + (gain > gain[-1]).sum(), p_value
    return said


if __name__ == "__main__":
    model, X_new, y_new = fitted(seed=0)
    gain = total_gain(model).values
    by_gain = "Gain: share of\ntraining rows' gain", 100 * gain / gain.sum(), None
    write("first_picture", list(X_new.columns), (by_gain, held_out(model, X_new, y_new)))
    ranks, p_values = said_of_noise(100).T
    print(f"by gain random numbers rank {ranks[0]:.0f} of 11 features;")
    print(f"over 100 draws {ranks.mean():.1f}, and held-out gain has p < 0.05 in", end=" ")
    print(f"{(p_values < 0.05).sum()} of them")
