"""The scores of a fitted model, and what they are worth: AUC of relevant against noisy features.

Table 4 has fourteen scores: TreeInner, ForestInner and absolute attributions, each by PreDecomp and
by TreeSHAP, on training and on held-out rows, and permutation on both. All are calls of public
functions of ``attributions``. A model of 1000 rounds contains those of 200, 400, ... rounds, which
are its first trees, so one fit can be judged at several numbers of trees.

Three scores are not in the paper. Two know nothing of y and show what the design rewards: minus the
total gain, and the number of distinct values, fewest first. ``partial_inner`` is our own.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from sklearn.metrics import mean_squared_error, roc_auc_score
from sklearn.preprocessing import normalize

from attributions import absolute, forest_inner, partial_inner, permutation, total_gain, tree_inner
from attributions.inputs import SeenRowsWarning
from benchmarks.papers.treeinner.protocol import DataSet, Protocol, Setting, Task, fit
from gbt import Ensemble


class Cell(NamedTuple):
    """One line of Table 4: which score, of which rows, by which individual attribution."""

    score: str
    rows: str
    attribution: str

    def __str__(self):
        return " ".join(part for part in self if part != "-")


CELLS = tuple(
    Cell(score, rows, attribution)
    for score in ("Abs", "ForestInner", "Permutation", "TreeInner")
    for rows in ("train", "valid")
    for attribution in (("-",) if score == "Permutation" else ("PreDecomp", "TreeSHAP"))
)
MINUS_GAIN = Cell("Minus total gain", "train", "-")
FEWEST_VALUES = Cell("Fewest distinct values", "train", "-")
PARTIAL = Cell("Partial TreeInner", "valid", "Saabas")
GAIN = Cell("TreeInner", "train", "PreDecomp")  # the total gain, by Proposition 3
MODEL = Cell("model", "-", "-")  # risk and error of Proposition 3, which belong to no score

IFA_NAMES = {"PreDecomp": "predecomp", "TreeSHAP": "tree_shap"}
WORTH = ("auc", "noisy", "relevant")


# ---------------------------------------------------------------------------------- single numbers


def risk(task: Task, y, raw_prediction) -> float:
    """Mean squared error, or 1 - AUC."""
    if task.kind == "regression":
        return mean_squared_error(y, raw_prediction)
    return 1 - roc_auc_score(y, raw_prediction)


def worth(score, is_relevant) -> dict[str, float]:
    """Return the AUC of a score, and its mean over noisy and relevant features, unit l2 norm."""
    (unit,) = normalize([score])
    means = (float(unit[which].mean()) for which in (~is_relevant, is_relevant))
    return dict(zip(WORTH, (roc_auc_score(is_relevant, score), *means), strict=True))


# ------------------------------------------------------------------------------- scores of a model


def scores_of_table_4(
    ensemble: Ensemble, data: DataSet, seeds: dict[str, int]
) -> dict[Cell, np.ndarray]:
    """Return all fourteen scores.

    (To make the contributions of every tree once and share them among TreeInner, ForestInner and
    Abs saves nothing: one pass that hands them out tree by tree takes 3 to 4 times as long as the
    three calls at depth 4, and as long at depth 10.)
    """
    parts = {"train": (data.X_train, data.y_train), "valid": (data.X_valid, data.y_valid)}
    scores = {}
    for rows, (X, y) in parts.items():
        for attribution, ifa in IFA_NAMES.items():
            with training_rows_are_meant():
                results = {
                    "TreeInner": tree_inner(ensemble, X, y, ifa=ifa, n_jobs=1),
                    "ForestInner": forest_inner(ensemble, X, y, ifa=ifa, n_jobs=1),
                    "Abs": absolute(ensemble, X, ifa=ifa, level="tree", n_jobs=1),
                }
            scores |= {Cell(name, rows, attribution): of.values for name, of in results.items()}
        with training_rows_are_meant():
            result = permutation(ensemble, X, y, n_repeats=1, random_state=seeds[rows], n_jobs=1)
        scores[Cell("Permutation", rows, "-")] = result.values
    return scores


@contextmanager
def training_rows_are_meant():
    """Keep the warning of training rows silent: half of Table 4 judges on them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeenRowsWarning)
        yield


def judge_model(
    protocol: Protocol, task: Task, setting: Setting, rounds: tuple[int, ...], replication: int
) -> Iterator[dict]:
    """Draw one data set, fit one model, and yield what is recorded of it for numbers of rounds.

    The largest of ``rounds`` is fitted, not the setting's own. There is a row for the model, and
    one for each score.
    """
    data = protocol.draw(task, replication)
    stages = {protocol.n_trees(r): r for r in rounds}
    model = fit(task, setting, max(stages), data.X_train, data.y_train)
    seeds = {r: protocol.seed_of(task, replication, p) for p, r in enumerate(("train", "valid"), 1)}
    n_distinct = np.array([len(np.unique(column)) for column in data.X_train.T], dtype=np.float64)
    for stage, of_rounds in stages.items():
        first_trees = model.ensemble_.truncate(stage)
        scores = scores_of_table_4(first_trees, data, seeds)
        gain = total_gain(first_trees).values
        partial = partial_inner(first_trees, data.X_valid, data.y_valid, n_jobs=1)
        scores |= {MINUS_GAIN: -gain, FEWEST_VALUES: -n_distinct, PARTIAL: partial.values}
        raw_prediction = first_trees.raw_predict(data.X_valid, n_jobs=1)
        found = {MODEL: {"risk": risk(task, data.y_valid, raw_prediction),
                         "identity_error": identity_error(gain, scores[GAIN])}}  # fmt: skip
        found |= {cell: worth(score, data.is_relevant) for cell, score in scores.items()}
        yield from ({"rounds": of_rounds, **cell._asdict(), **of} for cell, of in found.items())


def identity_error(gain, inner) -> float:
    """Return the largest difference of total gain and TreeInner, each divided by its l1 norm."""
    first, second = normalize([gain, inner], norm="l1")
    return float(np.abs(first - second).max())
