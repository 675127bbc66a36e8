"""What every part shares: seeds, the tests of a model, and how false positives are counted."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.stats

from attributions import partial_inner, permutation, tree_inner
from gbt import GBTClassifier, GBTRegressor

SEED = 2022
P_VALUE = 0.05
FALSE_DISCOVERY_RATE = 0.1

MEASURES = {
    "tree_inner": tree_inner,
    "partial_inner": partial_inner,
    "permutation": permutation,
}


@dataclass(frozen=True)
class Part:
    """One simulation: cells, and what is done in each replication of a cell.

    Parameters
    ----------
    name : str
        Of the part, of its table in the page and of its file.
    cells : tuple of dict
        What distinguishes the lines of the table; the values are words or numbers.
    experiment : callable
        Takes a cell, a Generator and the size ("full" or "quick"), returns a list of dicts.
    n_replications : int
    table : callable
        Takes all rows, returns Markdown.
    needs : tuple of str
        Data sets of the folder of data without which the part is skipped.
    """

    name: str
    cells: tuple[dict, ...]
    experiment: Callable
    n_replications: int
    table: Callable
    needs: tuple[str, ...] = field(default=())

    def run(self, cell_number: int, replication: int, size: str) -> list[dict]:
        """Do one replication of a cell; its stream belongs to its numbers alone."""
        key = (*self.name.encode(), cell_number, replication)
        rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=key))
        cell = self.cells[cell_number]
        return [
            {**cell, "replication": replication, **row} for row in self.experiment(cell, rng, size)
        ]


def regressor(size: str, **options) -> GBTRegressor:
    """Return a model of one thread; a quick one has few trees."""
    return GBTRegressor(**_at_size(size, options))


def classifier(size: str, **options) -> GBTClassifier:
    """Return a model of one thread; a quick one has few trees."""
    return GBTClassifier(**_at_size(size, options))


def _at_size(size, options):
    n_trees = options.pop("n_estimators", 300)
    return {"n_estimators": n_trees if size == "full" else 5, "n_jobs": 1, **options}


def measured(name: str, model, X, y, rng, **options):
    """Return a measure's result, and the seconds that it took."""
    if name == "permutation":
        options["random_state"] = int(rng.integers(2**31))
    start = time.perf_counter()
    result = MEASURES[name](model, X, y, n_jobs=1, **options)
    return result, time.perf_counter() - start


def counted(result, is_null) -> dict[str, float]:
    """Count what is found falsely, and where the features without effect lie.

    Features that no tree uses count: they are never found.
    """
    p = result.p_values()
    found = scipy.stats.false_discovery_control(p) <= FALSE_DISCOVERY_RATE
    used = is_null & (result.standard_error > 0)
    z = result.values[used] / result.standard_error[used]
    return {
        "n_null": int(is_null.sum()),
        "false": int((p[is_null] < P_VALUE).sum()),
        "false_bh": int(found[is_null].sum()),
        "n_other": int((~is_null).sum()),
        "true": int((p[~is_null] < P_VALUE).sum()),
        "true_bh": int(found[~is_null].sum()),
        "sum_z": float(z.sum()),
        "n_used": int(used.sum()),
    }


# ------------------------------------------------------------------------------------- tables


def chosen(rows, **wanted):
    """Return the rows that have all of these values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def share(rows, part, whole) -> str:
    """Return a rate with its error over replications."""
    parts = np.array([row[part] for row in rows], dtype=float)
    wholes = np.array([row[whole] for row in rows], dtype=float)
    if not wholes.sum():
        return "-"
    rate = parts.sum() / wholes.sum()
    error = np.sqrt(np.sum((parts - rate * wholes) ** 2)) / wholes.sum()
    return f"{rate:.3f} ({error:.3f})"


def short_share(rows, part, whole) -> str:
    """Return a rate alone."""
    wholes = sum(row[whole] for row in rows)
    return f"{sum(row[part] for row in rows) / wholes:.3f}" if wholes else "-"


def any_share(rows, part) -> str:
    """Return in how many replications there was at least one."""
    return f"{np.mean([row[part] > 0 for row in rows]):.2f}"


def markdown(names, rows) -> str:
    """Return a table."""
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def values_of(rows, name):
    """Return the distinct values of a column, in their order."""
    return list(dict.fromkeys(row[name] for row in rows))
