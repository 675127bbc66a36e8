"""Panels, and tables in which no rows belong together: how often the command speaks, how rightly.

A subject of a panel has an effect of its own, which is the share ``icc`` of what x leaves of the
target's variance. Three kinds of panels:

*plain*     a column ``id``, years, and two columns that are constant within a subject
*bare*      a column ``id`` and nothing else that tells subjects: rows are shuffled, no years
*unnamed*   subjects are words in a column ``v1``; years, and two constant columns

Tables of independent rows, of five kinds:

*numbers*   ages, counts and amounts, some rounded; all of them have effects
*words*     a town and its region, with effects, and a job of twelve words
*sorted*    rows in the order of an age, with row numbers
*grid*      an experiment: every dose at every temperature, five times
*dates*     a day a row, the year of it, and independent rows
"""

from collections.abc import Callable
from itertools import product

import numpy as np

from benchmarks.papers.report.drawn import found_in
from benchmarks.study import Part, crossed
from benchmarks.study.tables import by_values, count_of, listed, values_of

ROWS_OF_A_SUBJECT = (3, 12)  # drawn anew for each
N_APART = 600


def panel(kind: str, n_subjects: int, icc: float, rng) -> dict[str, np.ndarray]:
    """Draw a panel; of the target's variance 1 is x's, and 1 is the subjects' and the rows'."""
    sizes = rng.integers(*ROWS_OF_A_SUBJECT, n_subjects, endpoint=True)
    subject = np.repeat(np.arange(n_subjects), sizes)
    year = np.concatenate([2000 + np.arange(size) for size in sizes])
    n = len(subject)
    x = rng.normal(size=n)
    effect = np.sqrt(icc) * rng.normal(size=n_subjects)
    y = x + effect[subject] + np.sqrt(1 - icc) * rng.normal(size=n)
    born, height = 1940 + rng.integers(50, size=n_subjects), 170 + 8 * rng.normal(size=n_subjects)
    columns = {"id": subject + 1, "x": x.round(3), "z": rng.normal(size=n).round(3)}
    if kind == "unnamed":
        columns["v1"] = np.char.add("s", columns.pop("id").astype(str))
    if kind != "bare":
        columns |= {"year": year, "born": born[subject], "height": height[subject].round(1)}
    columns["y"] = y.round(3)
    order = rng.permutation(n) if kind == "bare" else np.arange(n)
    return {name: values[order] for name, values in columns.items()}


def of_numbers(rng) -> dict[str, np.ndarray]:
    """Draw columns that people round."""
    n = N_APART
    age, children = rng.integers(18, 80, n), rng.poisson(1.5, n)
    income, weight = (1000 * rng.lognormal(3, 0.5, n)).round(-3), rng.normal(75, 12, n).round()
    y = 0.03 * age + 0.3 * children + 1e-5 * income + 0.01 * weight + rng.normal(size=n)
    columns = {"age": age, "age_class": age // 10 * 10, "children": children, "income": income}
    return {**columns, "weight": weight, "y": y.round(3)}


def of_words(rng) -> dict[str, np.ndarray]:
    """Draw words, one of which says the other: a town says its region."""
    n, n_towns = N_APART, 24
    town = rng.integers(n_towns, size=n)
    region, job = town % 6, rng.integers(12, size=n)
    y = 0.5 * rng.normal(size=6)[region] + 0.5 * rng.normal(size=12)[job] + rng.normal(size=n)
    return {
        "town": np.char.add("t", town.astype(str)),
        "region": np.char.add("r", region.astype(str)),
        "job": np.char.add("j", job.astype(str)),
        "x": rng.normal(size=n).round(2),
        "y": y.round(3),
    }


def in_order(rng) -> dict[str, np.ndarray]:
    """Draw rows sorted by a column that matters."""
    columns = of_numbers(rng)
    order = np.argsort(columns["age"], kind="stable")
    ordered = {name: values[order] for name, values in columns.items()}
    return {"row": np.arange(1, N_APART + 1), **ordered}


def of_experiment(rng) -> dict[str, np.ndarray]:
    """Draw all pairs of two amounts, five times."""
    pairs = np.array([*product(range(0, 120, 10), range(20, 30))] * 5)
    dose, temperature = pairs[rng.permutation(len(pairs))].T
    y = np.sin(dose / 30) + 0.1 * temperature + rng.normal(size=len(dose))
    return {"dose": dose, "temperature": temperature, "y": y.round(3)}


def with_dates(rng) -> dict[str, np.ndarray]:
    """Draw rows of which each has a day, and nothing in common with its neighbours."""
    columns = of_numbers(rng)
    day = np.datetime64("2015-01-01") + np.sort(rng.integers(0, 2000, N_APART))
    year = day.astype("datetime64[Y]").astype(int) + 1970
    return {"day": day.astype(str), "year": year, **columns}


WITHOUT: dict[str, Callable] = {
    "numbers": of_numbers,
    "words": of_words,
    "sorted": in_order,
    "grid": of_experiment,
    "dates": with_dates,
}


def what_is_said(columns: dict[str, np.ndarray], subjects: str) -> dict[str, int]:
    """Return whether the command speaks of rows that belong together, and whether rightly."""
    found = found_in(columns)
    together = found.together
    speaks = together is not None
    rightly = speaks and together.name == subjects
    judges = speaks and together.is_heeded
    return {
        "speaks": int(speaks),
        "rightly": int(rightly),
        "judges": int(judges),
        "judges_rightly": int(judges and rightly),
        "neighbours": int(found.along is not None and not found.times),
        "silent": int(not speaks and found.along is None),
    }


def of_panel(cell, rng, size):
    """Draw one panel and ask."""
    columns = panel(cell["kind"], cell["subjects"], cell["icc"], rng)
    yield what_is_said(columns, "v1" if cell["kind"] == "unnamed" else "id")


def of_apart(cell, rng, size):
    """Draw one table of independent rows and ask."""
    yield what_is_said(WITHOUT[cell["kind"]](rng), "")


def table_of_panels(rows) -> str:
    """Return how many of the panels are spoken of, and judged, by the right column."""
    counted = ("rightly", "judges_rightly", "silent")
    heads = ["panel", "subjects"]
    for icc in values_of(rows, "icc"):
        heads += [f"{icc}: names the column", "judges by it", "says nothing"]
    return listed(
        rows, ("kind", "subjects"), heads,
        lambda own: [count_of(there, w) for _, there in by_values(own, "icc") for w in counted],
    )  # fmt: skip


def table_of_apart(rows) -> str:
    """Return how often the command speaks of rows that belong together where none do."""
    heads = ["table", "says that rows may belong together", "judges so", "speaks of neighbours"]
    counted = ("speaks", "judges", "neighbours")
    return listed(rows, ("kind",), heads, lambda own: [count_of(own, what) for what in counted])


KINDS = crossed(kind=("plain", "bare", "unnamed"), subjects=(20, 100, 500), icc=(0.2, 0.5))
PANELS = Part("panels", KINDS, of_panel, 20, table_of_panels)
APART = Part("apart", crossed(kind=WITHOUT), of_apart, 40, table_of_apart)
