"""Relevance given the other columns: ten ways to ask, and columns that only look relevant.

``shadows``   12 normal columns; y is the sum of some, of a quarter of others, *weak* ones, and of
              noise of variance 3. *Copies*: three columns, three noisy copies of these, two weak
              columns and four of noise. *Blocks*: four blocks of three correlated columns. y takes
              the first of two, weakly the first of the third, and not the fourth.
``few-rows``  the first of these designs, by the last of the ways, with fewer rows, and with a y
              that is nothing but noise.

Copies and the other members of blocks are *kin*: correlated with what matters, and null given it.
"""

import time

import numpy as np

from benchmarks.papers.inference import judging
from benchmarks.papers.inference.ways import WAYS, Table
from benchmarks.study import Part, chosen, column, crossed, markdown
from benchmarks.study.tables import by_values, listed, share, short_share, values_of, values_there

N = 1000
N_TREES = 100
DESIGNS = ("copies .8", "copies .95", "blocks .5", "blocks .8", "blocks .95")
FEW_Y = ("noise", "of columns")
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


def of_few_rows(cell, rng, size):
    """Ask `given_others` of a table of copies with few rows, or of one with another y."""
    X, y, kinds = simulated(DESIGNS[0], 2 * cell["rows"] if size == "full" else 120, rng)
    if cell["y"] == "noise":
        y, kinds = rng.normal(size=len(y)), np.full_like(kinds, NOISE)
    table = Table.of(X, y, lambda: judging.model(size, n_estimators=N_TREES, max_depth=4))
    yield from asked(table, kinds, ["given_others"], rng)


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


def table(rows) -> str:
    """Tabulate a line a way: kin and weak columns by design, false discoveries, power."""
    lines = []
    for way in values_there(rows, "way", WAYS):
        found = chosen(rows, way=way)
        fdp = column(found, "fdp")
        rate = f"{np.mean(fdp):.3f} ({np.std(fdp) / np.sqrt(len(fdp)):.3f})"
        both = [
            " / ".join(short_share(own, kind, f"n_{kind}") for kind in ("kin", "weak"))
            for _, own in by_values(found, "design")
        ]
        shares = [share(found, kind, f"n_{kind}") for kind in ("kin", "noise")]
        power = [short_share(found, name, f"n_{name[:4]}") for name in ("true", "weak_bh")]
        seconds = f"{np.median(column(found, 'seconds')):.2g}"
        lines.append([way, *both, *shares, rate, *power, seconds])
    names = ["way", *values_of(rows, "design"), "kin, all", "noise", "FDR, BH", "strong"]
    return markdown([*names, "weak, BH", "s"], lines)


def few_table(rows) -> str:
    """Tabulate what `given_others` finds, a line a number of rows."""

    def cells(found):
        of_noise, signal = (chosen(found, y=y) for y in FEW_Y)
        kinds = ((of_noise, "noise"), *((signal, kind) for kind in ("noise", "kin", "true")))
        return [share(own, kind, f"n_{kind}") for own, kind in kinds]

    names = ["rows", "y is noise: found", "y of columns: noise found", "kin found", "strong found"]
    return listed(rows, ("rows",), names, cells)


PARTS = (
    Part("shadows", crossed(design=DESIGNS), of_design, 60, table),
    Part("few-rows", crossed(rows=(100, 300), y=FEW_Y), of_few_rows, 60, few_table),
)
