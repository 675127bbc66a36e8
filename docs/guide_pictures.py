"""The picture of the guide's page on times to an event: gain and held-out gain of its model.

    python docs/survival_picture.py    writes docs/guide/survival.svg and survival_dark.svg

The table and the model are those of the page's own program, which is run here.
"""

import contextlib
import io
import re
from pathlib import Path

import numpy as np
from first_picture import write

PAGE = Path(__file__).parent / "guide" / "survival.md"


def program_of_page():
    """Run the page's blocks of code and return their names."""
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for block in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.M):
            exec(block, names)
    return names


if __name__ == "__main__":
    page = program_of_page()
    model, result = page["model"], page["result"]
    percent = result.percent()
    unit = percent[np.argmax(np.abs(percent))] / result.values[np.argmax(np.abs(percent))]
    gain = "Gain: share of\nall gain, training rows", 100 * model.feature_importances_, None
    error = 1.96 * unit * result.standard_error
    held_out = "Held-out gain: share of\nthe loss saved, new rows", percent, error
    write("guide/survival", list(page["X"]), (gain, held_out))
