"""Relevance given the other columns: ten ways to ask, and columns that only look relevant.

``shadows``       12 normal columns; y is the sum of some, of a quarter of others, *weak* ones, and
                  of noise of variance 3. *Copies*: three columns, three noisy copies of these, two
                  weak columns and four of noise. *Blocks*: four blocks of three correlated columns.
                  y takes the first of two, weakly the first of the third, and not the fourth.
``shadows-real``  real tables with noisy copies of the column that the model gains most from, and
                  with ten columns of noise.

Copies and the other members of blocks are *kin*: correlated with what matters, and null given it.
"""

import time

import numpy as np
import scipy.stats

from attributions import total_gain
from benchmarks.papers.inference import judging
from benchmarks.papers.inference.real import planted
from benchmarks.papers.inference.ways import WAYS, Table
from benchmarks.study import Part, chosen, column, crossed, data, markdown
from benchmarks.study.tables import share, short_share, values_of, values_there

N = 1000
N_TREES = 100
DESIGNS = ("copies .8", "copies .95", "blocks .5", "blocks .8", "blocks .95")
CORRELATIONS = (0.8, 0.95)  # of the planted copies
OF_REAL_SETS = ("tree_inner", "partial_inner", "permutation", "held_out_gain", "given_others")
SETS = tuple(name for name in data.SETS if name not in ("house_prices_kaggle", "pc4"))
KIN, NOISE, MATTERS, WEAK = 0, 1, 2, 3
COEFFICIENT = np.array([0.0, 0.0, 1.0, 0.25])


def simulated(design: str, n: int, rng) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw columns, y, and what every column is."""
    name, rho = design.split()
    rho = float(rho)
    X = rng.normal(size=(n, 12))
    if name == "copies":
        X[:, 3:6] = rho * X[:, :3] + np.sqrt(1 - rho**2) * X[:, 3:6]
        kinds = np.repeat([MATTERS, KIN, WEAK, NOISE], [3, 3, 2, 4])
    else:
        X = np.sqrt(rho) * np.repeat(rng.normal(size=(n, 4)), 3, axis=1) + np.sqrt(1 - rho) * X
        kinds = np.array([MATTERS, KIN, KIN] * 2 + [WEAK, KIN, KIN] + [NOISE] * 3)
    return X, X @ COEFFICIENT[kinds] + np.sqrt(3) * rng.normal(size=n), kinds


def of_design(cell, rng, size):
    """Ask of a simulated table."""
    X, y, kinds = simulated(cell["design"], 2 * N if size == "full" else 120, rng)
    table = Table.of(X, y, lambda: judging.model(size, n_estimators=N_TREES, max_depth=4))
    yield from asked(table, kinds, WAYS, rng)


def of_real(cell, rng, size):
    """Ask of a real table with kin and noise in it."""
    X, y, is_class = data.drawn(cell["data"], rng, 2 * N if size == "full" else 120)

    def make():
        return judging.model(size, is_class, N_TREES, max_depth=4)

    best = int(total_gain(make().fit(X[: len(X) // 2], y[: len(X) // 2])).ranking()[0])
    column = scipy.stats.zscore(X[:, best], nan_policy="omit")
    kin = [r * column + np.sqrt(1 - r**2) * rng.normal(size=len(X)) for r in CORRELATIONS]
    noise = planted(X, rng)
    kinds = np.repeat([MATTERS, KIN, NOISE], [X.shape[1], len(kin), noise.shape[1]])
    table = Table.of(np.column_stack([X, *kin, noise]), y, make)
    yield from asked(table, kinds, OF_REAL_SETS, rng)


def asked(table, kinds, ways, rng):
    """Yield what every way finds, truly and falsely, and how long it takes."""
    for name in ways:
        start = time.perf_counter()
        p = WAYS[name](table, rng).p_values()
        seconds = time.perf_counter() - start
        found = judging.discovered(p)
        row = {"way": name, "seconds": seconds}
        for words, kind in (("kin", KIN), ("noise", NOISE), ("true", MATTERS), ("weak", WEAK)):
            row |= {
                f"n_{words}": int((kinds == kind).sum()),
                words: int((p[kinds == kind] < judging.P_VALUE).sum()),
                f"{words}_bh": int(found[kinds == kind].sum()),
            }
        n_false = row["kin_bh"] + row["noise_bh"]
        yield {**row, "fdp": n_false / max(int(found.sum()), 1)}


def cells(rows, column: str, found: str) -> list[str]:
    """Return kin that is found and others that are, case by case; then kin and noise of all."""
    by_case = [chosen(rows, **{column: case}) for case in values_of(rows, column)]
    both = [(short_share(r, "kin", "n_kin"), short_share(r, found, f"n_{found}")) for r in by_case]
    shares = [share(rows, name, f"n_{name}") for name in ("kin", "noise")]
    return [*(" / ".join(pair) for pair in both), *shares]


def median_seconds(rows) -> str:
    """Return what a way usually takes."""
    return f"{np.median(column(rows, 'seconds')):.2g}"


def table(rows) -> str:
    """Tabulate a line a way: kin and weak columns by design, false discoveries, power."""
    lines = []
    for way in values_there(rows, "way", WAYS):
        found = chosen(rows, way=way)
        fdp = column(found, "fdp")
        rate = f"{np.mean(fdp):.3f} ({np.std(fdp) / np.sqrt(len(fdp)):.3f})"
        power = [short_share(found, name, f"n_{name[:4]}") for name in ("true", "weak_bh")]
        lines.append([way, *cells(found, "design", "weak"), rate, *power, median_seconds(found)])
    names = ["way", *values_of(rows, "design"), "kin, all", "noise", "FDR, BH", "strong"]
    return markdown([*names, "weak, BH", "s"], lines)


def real_table(rows) -> str:
    """Tabulate a line a way: kin and the tables' own columns by data set."""
    lines = []
    for way in values_there(rows, "way", OF_REAL_SETS):
        found = chosen(rows, way=way)
        own = short_share(found, "true_bh", "n_true")
        lines.append([way, *cells(found, "data", "true"), own, median_seconds(found)])
    names = ["way", *values_of(rows, "data"), "kin, all", "noise", "real, BH", "s"]
    return markdown(names, lines)


PARTS = (
    Part("shadows", crossed(design=DESIGNS), of_design, 60, table),
    Part("shadows-real", crossed(data=SETS), of_real, 5, real_table, needs=SETS),
)
