"""Tables for the command, as files, and what is read back from a report."""

import json
import re

import numpy as np
import pandas as pd

HOSTILE = (
    "<script>alert(1)</script>",
    "\"quoted\" 'name' & more",
    "</script><!-- \N{GRINNING FACE}",
    "$style ${title} %s {0}",
)


def write_csv(path, columns):
    """Write columns to a file; return its path."""
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def columns(n=160, seed=0):
    """Return columns of which words and a number decide; one is noise, one has gaps."""
    rng = np.random.default_rng(seed)
    word = rng.choice(["red", "green", "blue"], n)
    x, noise = rng.normal(size=n).round(3), rng.normal(size=n).round(3)
    gaps = np.where(rng.random(n) < 0.3, "", rng.integers(0, 9, n).astype(str))
    signal = 2 * (word == "red") + x
    return {
        "color": word,
        "x": x,
        "noise": noise,
        "gaps": gaps,
        "y": np.where(signal > 0.7, "yes", "no"),
        "amount": (signal + 0.1 * rng.normal(size=n)).round(3),
    }


def several_classes(n=400, seed=0):
    """Return columns of which a word and a number decide between three classes."""
    table = columns(n, seed)
    del table["y"]
    table["kind"] = np.array(["ash", "birch", "cedar"])[np.digitize(table.pop("amount"), [0, 1.2])]
    return table


def explored(text):
    """Return the data of the row explorer of a page."""
    found = re.search(r'<script type="application/json" id="row-data">(.*?)</script>', text)
    return json.loads(found[1])
