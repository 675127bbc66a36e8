"""The pictures of the guide's pages on times to an event and on order: gain and held-out gain.

    python docs/guide_pictures.py    writes survival.svg, ranking.svg and their dark twins

The table and the model are those of the page's own program, which is run here.
"""

import contextlib
import io
import re
from pathlib import Path

import numpy as np
from first_picture import write

GUIDE = Path(__file__).parent / "guide"


def program_of(page):
    """Run a page's blocks of code and return their names."""
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for block in re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.M):
            exec(block, names)
    return names


if __name__ == "__main__":
    for name in ("survival", "ranking"):
        page = program_of(GUIDE / f"{name}.md")
        model, result = page["model"], page["result"]
        percent = result.percent()
        unit = percent[np.argmax(np.abs(percent))] / result.values[np.argmax(np.abs(percent))]
        gain = "Gain: share of\nall gain, training rows", 100 * model.feature_importances_, None
        error = 1.96 * unit * result.standard_error
        held_out = "Held-out gain: share of\nthe loss saved, new rows", percent, error
        write(f"guide/{name}", list(page["X"]), (gain, held_out))
