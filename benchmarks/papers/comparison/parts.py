"""The two parts: simulated tables, and real ones with noise planted in them."""

from functools import partial

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.papers.comparison import designs
from benchmarks.papers.comparison.designs import KINDS, N_ROWS, REAL, USEFUL, Drawn
from benchmarks.papers.comparison.methods import METHODS, N_TREES, compared
from benchmarks.study import Part, chosen, column, crossed, markdown
from benchmarks.study.tables import listed, short_share, values_of, values_there

SIMULATED = {
    "nothing, number": partial(designs.nothing, "number"),
    "nothing, class": partial(designs.nothing, "class"),
    "mixed, number": partial(designs.mixed, "number"),
    "mixed, class": partial(designs.mixed, "class"),
    "mixed, heavy tails": partial(designs.mixed, "heavy tails"),
    "Sun (2022), number": partial(designs.of_the_paper, "regression", "low"),
    "Sun (2022), class": partial(designs.of_the_paper, "classification", "low"),
    "Sun, any columns, number": partial(designs.of_the_paper, "regression", "all"),
    "Sun, any columns, class": partial(designs.of_the_paper, "classification", "all"),
}


def counted(drawn: Drawn, size: str, rng: np.random.Generator):
    """Yield a row a method: findings among the noise and among the useful, order, and cost."""
    is_useful = drawn.kind == USEFUL
    seed = int(rng.integers(2**31))
    found = compared(drawn, N_TREES if size == "full" else 3, seed)
    for method, result in found.items():
        row = {"method": method, "seconds": result.seconds}
        for kind in KINDS:
            row[f"n {kind}"] = int((drawn.kind == kind).sum())
            row[f"false {kind}"] = int(result.is_found[drawn.kind == kind].sum())
        row["n useful"] = int(is_useful.sum())
        row["true useful"] = int(result.is_found[is_useful].sum())
        row["auc"] = roc_auc_score(is_useful, result.values) if is_useful.any() else 0.5
        yield row


def experiment(cell, rng, size):
    """Draw a simulated table, or from a real one with noise planted in it, and compare."""
    draw = SIMULATED.get(cell["data"], partial(designs.real, cell["data"]))
    yield from counted(draw(N_ROWS if size == "full" else 200, rng), size, rng)


def found_cells(rows) -> list[str]:
    """Return what one method did in some tables: false findings, true ones."""
    false = [short_share(rows, f"false {kind}", f"n {kind}") for kind in KINDS]
    return [*false, short_share(rows, "true useful", "n useful")]


def auc_cell(rows) -> str:
    """Return the mean AUC over the tables in which something is useful."""
    useful = [row["auc"] for row in rows if row["n useful"]]
    return f"{np.mean(useful):.3f}" if useful else "-"


HEADING = ("method", *(f"noise found: {kind}" for kind in KINDS), "useful found")


def table(rows) -> str:
    """List a line a table and method."""

    def cells(own):
        return [*found_cells(own), auc_cell(own), f"{1000 * median_seconds(own):.0f}"]

    return listed(rows, ("data", "method"), ["data", *HEADING, "AUC", "ms"], cells)


def median_seconds(rows) -> float:
    """Return what usually passes."""
    return np.median(column(rows, "seconds"))


def design_of(name: str) -> str:
    """Return the design of a simulated table, "" of a real one: what stands before the target."""
    return name.rpartition(", ")[0]


def summary(rows) -> str:
    """List a line a method, over all tables in which something is useful.

    Each design has an AUC of its own, since a mean over designs would rank methods by how many of
    each there happen to be.
    """
    useful = [row for row in rows if row["n useful"]]
    names = values_of(useful, "data")
    designs_there = list(dict.fromkeys(map(design_of, names)))
    lines = []
    for method in values_there(rows, "method", METHODS):
        of_method, first = chosen(useful, method=method), chosen(useful, method=METHODS[0])
        cost = [
            median_seconds(chosen(of_method, data=n)) / median_seconds(chosen(first, data=n))
            for n in names
        ]
        order = [
            auc_cell([row for row in of_method if design_of(row["data"]) == design])
            for design in designs_there
        ]
        ratio = np.exp(np.mean(np.log(cost)))
        lines.append([method, *found_cells(of_method), *order, f"{ratio:.1f}"])
    heads = [f"AUC: {design}" if design else "AUC" for design in designs_there]
    return markdown([*HEADING, *heads, "time, a greedy fit is 1"], lines)


PARTS = (
    Part("simulated", crossed(data=SIMULATED), experiment, 100, table),
    Part("real", crossed(data=REAL), experiment, 30, table, needs=REAL),
)
