"""Columns that give the answer away: how often the command warns of them, and of others.

A table has 600 rows and eight columns, of which two are words. Three to five of them matter, so
that they explain a share of a number's variance, or of what two classes are cut from. In half of
the tables stands one column more, planted among them:

*copy*    the target with noise, a fifth of its spread; of classes the number with noise
*code*    the target once more in words: of a number its tenth, of a class one of two names
*later*   something that the target brings about: four fifths of it and as much noise as makes them
          one; of a class a count that is 1 on average, or 5
"""

import numpy as np

from attributions.command.said.cautions import cautions
from benchmarks.papers.report.drawn import found_in
from benchmarks.study import Part, crossed
from benchmarks.study.tables import count_of, listed

N_ROWS, N_NUMBERS, N_WORDS, WORDS = 600, 6, 2, 5
SIGN = "is known at the time"  # of a warning: whoever reads it asks when a column is known


def honest(is_class: bool, explained: float, rng) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Draw columns and a target of which they explain a share; it is 0 or 1 for classes."""
    numbers = rng.normal(size=(N_ROWS, N_NUMBERS))
    words = rng.integers(WORDS, size=(N_ROWS, N_WORDS))
    effects = [*numbers.T, *(rng.normal(size=WORDS)[codes] for codes in words.T)]
    matter = rng.permutation(len(effects))[: rng.integers(3, 5, endpoint=True)]
    signal = sum(rng.uniform(0.5, 1.0) * effects[k] for k in matter)
    signal = (signal - signal.mean()) / signal.std()
    y = np.sqrt(explained) * signal + np.sqrt(1 - explained) * rng.normal(size=N_ROWS)
    columns = {f"x{k + 1}": x.round(3) for k, x in enumerate(numbers.T)}
    columns |= {f"w{k + 1}": np.array(list("abcde"))[codes] for k, codes in enumerate(words.T)}
    return columns, (y > 0).astype(np.int64) if is_class else y


def leak(kind: str, y: np.ndarray, is_class: bool, rng) -> np.ndarray:
    """Draw a column that gives the target away."""
    if kind == "copy":
        return (y + (0.25 if is_class else 0.2) * rng.normal(size=len(y))).round(3)
    if kind == "code":
        if is_class:
            names = np.array(["north", "east", "south", "west"])
            return names[2 * y + rng.integers(2, size=len(y))]
        tenth = np.searchsorted(np.quantile(y, np.arange(1, 10) / 10), y)
        return np.char.add("grade ", tenth.astype(str))
    if is_class:
        return rng.poisson(1 + 4 * y)
    return (0.8 * y + 0.6 * rng.normal(size=len(y))).round(3)


def experiment(cell, rng, size):
    """Draw one table, plant a leak or none, and read the warnings."""
    is_class = cell["target"] == "two classes"
    columns, y = honest(is_class, cell["explained"], rng)
    if cell["leak"] != "none":
        columns["status"] = leak(cell["leak"], y, is_class, rng)
    table = {name: columns[name] for name in rng.permutation(list(columns))}
    table["y"] = np.array(["no", "yes"])[y] if is_class else y.round(3)
    warnings = [text for text in cautions(found_in(table)) if SIGN in text]
    is_named = any("status" in text for text in warnings)
    yield {"warned": int(bool(warnings)), "named": int(is_named)}


def table(rows) -> str:
    """Return how many tables are warned of, and of how many the column is named."""
    return listed(
        rows, ("target", "leak"), ["target", "planted", "warned of a leak", "the column is named"],
        lambda own: [
            count_of(own, "warned"), "" if own[0]["leak"] == "none" else count_of(own, "named")
        ],
    )  # fmt: skip


CELLS = crossed(
    target=("a number", "two classes"), explained=(0.3, 0.6, 0.85),
    leak=("none", "none", "none", "copy", "code", "later"),  # as many with as without
)  # fmt: skip
LEAKS = Part("leaks", CELLS, experiment, 6, table)
