"""The two parts: simulated tables, and real ones with noise planted in them."""

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.papers.comparison import designs
from benchmarks.papers.comparison.designs import KINDS, N_ROWS, REAL, USEFUL, Drawn
from benchmarks.papers.comparison.methods import METHODS, N_TREES, compared
from benchmarks.study.command import own_table
from benchmarks.study.part import Part
from benchmarks.study.tables import (
    by_values,
    chosen,
    markdown,
    short_share,
    values_of,
    values_there,
)

SIMULATED = {
    "nothing, number": lambda n, rng: designs.nothing("number", n, rng),
    "nothing, class": lambda n, rng: designs.nothing("class", n, rng),
    "mixed, number": lambda n, rng: designs.mixed("number", n, rng),
    "mixed, class": lambda n, rng: designs.mixed("class", n, rng),
    "mixed, heavy tails": lambda n, rng: designs.mixed("heavy tails", n, rng),
    "Sun (2022), number": lambda n, rng: designs.of_the_paper("regression", "low", n, rng),
    "Sun (2022), class": lambda n, rng: designs.of_the_paper("classification", "low", n, rng),
    "Sun, any columns, number": lambda n, rng: designs.of_the_paper("regression", "all", n, rng),
    "Sun, any columns, class": lambda n, rng: designs.of_the_paper("classification", "all", n, rng),
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


def simulate(cell, rng, size):
    """Draw one of the simulated tables and compare."""
    yield from counted(SIMULATED[cell["data"]](N_ROWS if size == "full" else 200, rng), size, rng)


def plant(cell, rng, size):
    """Draw from a real table, plant noise, and compare."""
    yield from counted(
        designs.real(cell["data"], N_ROWS if size == "full" else 200, rng), size, rng
    )


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
    lines = []
    for cell, own in by_values(rows, "data", "method"):
        milliseconds = 1000 * np.median([row["seconds"] for row in own])
        lines.append([*cell, *found_cells(own), auc_cell(own), f"{milliseconds:.0f}"])
    return markdown(["data", *HEADING, "AUC", "ms"], lines)


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
        of_method = chosen(useful, method=method)
        cost = [
            np.median([row["seconds"] for row in chosen(of_method, data=name)])
            / np.median([row["seconds"] for row in chosen(useful, data=name, method=METHODS[0])])
            for name in names
        ]
        order = [
            auc_cell([row for row in of_method if design_of(row["data"]) == design])
            for design in designs_there
        ]
        ratio = np.exp(np.mean(np.log(cost)))
        lines.append([method, *found_cells(of_method), *order, f"{ratio:.1f}"])
    heads = [f"AUC: {design}" if design else "AUC" for design in designs_there]
    return markdown([*HEADING, *heads, "time, a greedy fit is 1"], lines)


def sections(parts, tables) -> dict[str, str]:
    """Return the long table of every part and its summary."""
    found = own_table(parts, tables)
    return {**found, **{f"{name} summary": summary(rows) for name, rows in tables.items()}}


PARTS = {
    part.name: part
    for part in (
        Part("simulated", tuple({"data": name} for name in SIMULATED), simulate, 100, table),
        Part("real", tuple({"data": name} for name in REAL), plant, 30, table, needs=REAL),
    )
}
