"""The pictures of docs/guide/other_libraries.md: each library's own importance and held-out gain.

    python -m docs.library_pictures    writes docs/guide/NAME.svg and NAME_dark.svg for each library

The programs of the page are run, and what they have fitted is drawn.
"""

import re
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from docs.first_picture import held_out, write

GUIDE = Path(__file__).parent / "guide"
OWN = {
    "xgboost": "XGBoost's importance:\nmean gain of a split",
    "lightgbm": "LightGBM's importance:\nnumber of splits",
    "catboost": "CatBoost's importance:\nchange of predictions",
    "histograms": None,  # scikit-learn's histogram boosting has no importance
    "forest": "The forest's importance:\nimpurity",
}


def fitted_on(page):
    """Return what the programs of a page of the guide have defined."""
    namespace = {}
    text = (GUIDE / f"{page}.md").read_text()
    with redirect_stdout(StringIO()), TemporaryDirectory() as folder, chdir(folder):
        for program in re.findall(r"^```python\n(.*?)^```", text, flags=re.S | re.M):
            exec(compile(program, page, "exec"), namespace)
    return namespace


if __name__ == "__main__":
    defined = fitted_on("other_libraries")
    X_new, y_new = defined["X_new"], defined["y_new"]
    for name, title in OWN.items():
        sides = (held_out(defined[name], X_new, y_new),)
        if title is not None:
            own = np.asarray(defined[name].feature_importances_, np.float64)
            sides = ((title, 100 * own / own.sum(), None), *sides)
        write(f"guide/{name}", list(X_new.columns), sides)
