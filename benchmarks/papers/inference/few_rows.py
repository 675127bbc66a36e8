"""Whether `given_others` keeps its level where few rows, or few groups of rows, train and judge.

As many rows judge as train. Of eight columns two make y (``signal``), or none does (``noise``); two
are noisy copies of the first, of correlation 0.8 and 0.95; four are noise. In groups of ten rows
the columns are constant, and of the noise in y four fifths is its group's. Each line is the share
of columns with p < 0.05, its standard error over data sets in brackets, and the mean of value/SE.
``not rid`` leaves out what `given_others` does last, which is
`attributions.refits.given_others.residuals_of_line`.
"""

from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from unittest.mock import patch

import numpy as np
from scipy.special import ndtr

from attributions import given_others
from benchmarks.papers.inference.conditional import LinearThenTrees
from benchmarks.study import NumberedPart, crossed, ours
from benchmarks.study.tables import by_values, chosen, markdown, values_of

module = import_module("attributions.refits.given_others")  # the package has a function so called

SEED = 35
LEVEL = 0.05
KINDS = {"real": [0, 1], "kin": [2, 3], "noise": [4, 5, 6, 7]}


@dataclass(frozen=True)
class Setting:
    """How many draws train, and as many judge; how many rows a draw has; and how often."""

    words: str
    n_draws: int
    rows_a_draw: int
    n_data_sets: int


SETTINGS = (
    Setting("100 + 100 rows", 100, 1, 120),
    Setting("300 + 300 rows", 300, 1, 50),
    Setting("1,000 + 1,000 rows", 1000, 1, 15),
    Setting("100 + 100 groups of 10", 100, 10, 20),
)


def draw(setting: Setting, design: str, rng: np.random.Generator):
    """Return rows, targets and groups, of which the first half trains."""
    n_draws, size = 2 * setting.n_draws, setting.rows_a_draw
    group = np.repeat(np.arange(n_draws), size)
    X = rng.normal(size=(n_draws, 8))
    for copy, correlation in ((2, 0.8), (3, 0.95)):
        X[:, copy] = correlation * X[:, 0] + np.sqrt(1 - correlation**2) * X[:, copy]
    X = X[group]
    y = rng.normal(size=len(X))
    if size > 1:
        y = np.sqrt(0.8) * rng.normal(size=n_draws)[group] + np.sqrt(0.2) * y
    if design == "signal":
        y += X[:, 0] + 0.7 * X[:, 1]
    return X, y, group


def ratios(setting: Setting, place: int, design: str, replication: int) -> dict[str, np.ndarray]:
    """Return value/SE of each column as `given_others` has it, and as it would not be rid."""
    rng = np.random.default_rng([SEED, place, design == "signal", replication])
    X, y, group = draw(setting, design, rng)
    half = len(X) // 2
    model = ours(max_depth=4).fit(X[:half], y[:half])
    left, residuals_of_line = [], module.residuals_of_line

    def noting(values, prediction):
        left.append(values)
        return residuals_of_line(values, prediction)

    with patch.object(module, "residuals_of_line", noting):
        result = given_others(
            model, X[half:], y[half:], training=(X[:half], y[:half]), regressor=LinearThenTrees(),
            groups=group[half:], n_jobs=1,
        )  # fmt: skip
    products = np.zeros((half, X.shape[1]))
    used = np.unique(model.ensemble_.feature[model.ensemble_.left >= 0])
    products[:, used] = np.column_stack(left[::2]) * np.column_stack(left[1::2])
    sums = np.add.reduceat(products, np.flatnonzero(np.diff(group[half:], prepend=-1)))
    errors = np.sqrt(len(sums)) * sums.std(axis=0, ddof=1)
    return {
        "not rid": divided(sums.sum(axis=0), errors),
        "given_others": divided(result.values, np.asarray(result.standard_error)),
    }


def divided(value: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Return value / error; a column that no tree uses has -inf, as in `p_values`."""
    return np.divide(value, error, out=np.full(len(value), -np.inf), where=error > 0)


def experiment(cell, replication: int, size: str):
    """Yield what is found in one data set, a line a way and kind of column."""
    place = next(k for k, setting in enumerate(SETTINGS) if setting.words == cell["setting"])
    setting = SETTINGS[place]
    if replication >= setting.n_data_sets:
        return
    if size == "quick":
        setting = replace(setting, n_draws=20)
    kinds = KINDS if cell["design"] == "signal" else {"noise": [*range(8)]}
    for way, z in ratios(setting, place, cell["design"], replication).items():
        for kind, places in kinds.items():
            of_kind = z[places]
            yield {
                "way": way,
                "columns": kind,
                "share": float((ndtr(-of_kind) < LEVEL).mean()),
                "sum_z": float(of_kind[np.isfinite(of_kind)].sum()),
                "n_z": int(np.isfinite(of_kind).sum()),
            }


def summary(rows) -> list[dict]:
    """Return the share of ratios that are significant, its error over data sets, and the mean."""
    found, names = [], ("setting", "design", "way", "columns")
    for cell, own in by_values(rows, *names):
        shares = np.array([row["share"] for row in own])
        of_z = [sum(row[name] for row in own) for name in ("sum_z", "n_z")]
        found.append(
            {
                **dict(zip(names, cell, strict=True)),
                "data_sets": len(own),
                "share": round(float(shares.mean()), 4),
                "error": round(float(shares.std(ddof=1) / np.sqrt(len(own))), 4),
                "mean_z": round(of_z[0] / max(of_z[1], 1), 3),
            }
        )
    return found


def table(rows: list[dict]) -> str:
    """Return the table of the page."""
    names = ["rows", "way", "y is noise", "mean z", "kin", "noise beside signal", "real, found"]
    columns = [("noise", "noise"), ("signal", "kin"), ("signal", "noise"), ("signal", "real")]
    lines = []
    for setting in values_of(rows, "setting"):
        for way in values_of(rows, "way"):
            of_line = partial(chosen, rows, setting=setting, way=way)
            cells = [of_line(design=d, columns=kind)[0] for d, kind in columns]
            shares = [f"{cell['share']:.3f} ({cell['error']:.3f})" for cell in cells]
            lines.append([setting, way, shares[0], f"{cells[0]['mean_z']:.2f}", *shares[1:]])
    return markdown(names, lines)


PART = NumberedPart(
    "few-rows",
    crossed(setting=[setting.words for setting in SETTINGS], design=("noise", "signal")),
    experiment,
    max(setting.n_data_sets for setting in SETTINGS),
    table,
    summary=summary,
)
