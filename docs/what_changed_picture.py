"""The picture of docs/guide/what_changed.md: what features save a row, month by month.

    python -m docs.what_changed_picture    writes docs/guide/what_changed.svg and .._dark.svg

The programs of the page are run, and what they have fitted is drawn.
"""

import matplotlib.pyplot as plt

from docs.first_picture import LIKE_ALWAYS, STYLES
from docs.library_pictures import fitted_on

if __name__ == "__main__":
    defined = fitted_on("what_changed")
    for suffix, (ink, paper) in STYLES.items():
        colours = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), ink)
        colours |= {"figure.facecolor": paper, "axes.facecolor": paper, "savefig.facecolor": paper}
        with plt.rc_context({**LIKE_ALWAYS, **colours}):
            display = defined["by_month"].plot(changes=defined["changes"], max_display=4)
            path = f"docs/guide/what_changed{suffix}.svg"
            display.figure_.savefig(path, metadata={"Date": None})
            plt.close(display.figure_)
