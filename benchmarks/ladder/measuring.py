"""Measuring: verify, then time. A rung that grows a wrong tree has no number.

The time of a rung is that of 20 trees, with everything that is done once before the first, divided
by 20. Rungs that would take minutes grow fewer trees, and none on the largest tables; theirs is the
time of preparation / 20 + that of one tree. Those of one size take turns, so that a ratio is that
of neighbouring runs, and each number is a median. Rungs that grow fewer trees are timed once.
"""

import statistics
import time
from functools import cache
from importlib import import_module
from typing import NamedTuple

import numpy as np

from benchmarks.ladder.problems import LEARNING_RATE, drawn_problem, problem_of
from benchmarks.ladder.verifying import verify
from benchmarks.speed.timing import settle, timed
from benchmarks.study import is_installed
from gbt.parallel.threads import available_cores

N_TREES = 20
N_DRAWN = 50  # small problems with ties
REPEATS = 5


class Rung(NamedTuple):
    """A file, its idea, and how many trees it grows of each size."""

    name: str
    idea: str
    n_trees: tuple = (N_TREES, N_TREES, N_TREES)

    @property
    def module(self):
        """The module of the rung, with ``prepare`` and ``grow``."""
        return import_module(f"benchmarks.ladder.{self.name}")


class Size(NamedTuple):
    """How many rows and columns a table has."""

    rows: int
    columns: int


SIZES = (Size(2_000, 10), Size(20_000, 20), Size(200_000, 20))
RUNGS = (
    Rung("rung_1_page", "every cut with a mask", (2, 1, 0)),
    Rung("rung_2_running_sums", "sort; the next cut is the last plus a row", (N_TREES, 2, 1)),
    Rung("rung_3_compiled", "the same loop as machine code", (N_TREES, N_TREES, 4)),
    Rung("rung_4_codes", "sort before training; a level in one walk"),
    Rung("rung_5_histograms", "few values: count in the order of memory"),
    Rung("rung_6_bounds", "bins, and a look only where a bound allows"),
    Rung("rung_7_subtraction", "count the smaller sibling only"),
    Rung("rung_8_threads", "columns shared by all cores"),
    Rung("rung_9_product", "the product"),
)
PEERS = {"exact": "XGBoost exact", "hist": "XGBoost hist"}


def trees_of(rung, problem, n_trees):
    """Return the trees of a rung, and the seconds that they took a tree."""
    module = rung.module
    settle()
    started = time.perf_counter()
    table = module.prepare(problem.X)
    prepared = time.perf_counter()
    trees = [
        module.grow(table, gradient, problem.max_depth, problem.reg_lambda)
        for gradient in problem.gradients[:n_trees]
    ]
    ended = time.perf_counter()
    return trees, (prepared - started) / N_TREES + (ended - prepared) / n_trees


@cache
def verify_on_drawn_problems(rungs=RUNGS, n_problems=N_DRAWN):
    """Compare the trees of all rungs with those of the first, on small problems with ties."""
    rng = np.random.default_rng(0)
    for _ in range(n_problems):
        problem = drawn_problem(rng)
        (expected, *others) = [trees_of(rung, problem, 1)[0][0] for rung in rungs]
        for tree in others:
            verify(expected, tree, problem.X, problem.gradients[0])


def xgboost_seconds(problem, tree_method):
    """Return the seconds a tree of XGBoost, table and derivatives included."""
    import xgboost

    parameters = {
        "tree_method": tree_method, "max_depth": problem.max_depth, "eta": LEARNING_RATE,
        "lambda": problem.reg_lambda, "base_score": float(problem.y.mean()),
        "nthread": available_cores(),
    }  # fmt: skip
    took = timed(lambda: xgboost.train(parameters, xgboost.DMatrix(problem.X, problem.y), N_TREES))
    return took.clock / N_TREES


def measure(size, index, repeats, rungs=RUNGS):
    """Return the seconds a tree of every rung and peer, by name, on a table of some size.

    The trees of every run are compared, up to the tree that a slower rung has reached with its,
    and from there on with those of the first rung that came further.
    """
    problem = problem_of(*size, N_TREES)
    known, seconds = [], {}
    for repeat in range(repeats):
        for rung in rungs:
            n_trees = rung.n_trees[index]
            if n_trees == 0 or (repeat > 0 and n_trees < N_TREES):
                continue  # too slow, or too slow to be timed again
            trees, taken = trees_of(rung, problem, n_trees)
            for expected, tree, gradient in zip(known, trees, problem.gradients, strict=False):
                verify(expected, tree, problem.X, gradient)
            known.extend(trees[len(known) :])
            seconds.setdefault(rung.name, []).append(taken)
        for peer in PEERS if is_installed("XGBoost") else ():
            seconds.setdefault(peer, []).append(xgboost_seconds(problem, peer))
    return {name: statistics.median(taken) for name, taken in seconds.items()}


def experiment(cell, rng, size):
    """Yield the seconds a tree on a table; a quick run has a tiny one."""
    verify_on_drawn_problems()
    index = SIZES.index(tuple(cell.values()))
    asked = (SIZES[index], index, REPEATS) if size == "full" else (Size(60, 2), 0, 1)
    for name, taken in measure(*asked).items():
        yield {"rung": name, "seconds": f"{taken:.6g}"}
