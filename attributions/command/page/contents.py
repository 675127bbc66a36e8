"""The contents of the report: findings, and single rows explained.

Contributions to single rows are those of PreDecomp, which add up to the prediction. Whether they
helped is shown by the rows' parts of the held-out gain, whose mean is the importance.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attributions.command.findings import Findings, excess
from attributions.command.table.task import Task
from attributions.held_out.gain import held_out_gain_rows
from attributions.inputs import SeenRowsWarning
from attributions.per_row.predecomp import predecomp
from gbt.model.ensemble import Ensemble

MOST_ROWS = 200  # in the row explorer
KINDS_OF_ROWS = ("largest error", "highest prediction", "lowest prediction", "drawn at random")
KINDS_OF_CLASSIFIED_ROWS = ("largest error", "most certain", "least certain", "drawn at random")


@dataclass(frozen=True, eq=False)
class RowContributions:
    """Some held-out rows, and what every feature did to their predictions.

    Parameters
    ----------
    rows : int64 array of shape (n,)
        Which of the held-out rows.
    contributions : float64 array of shape (n, p), or (n, p, K) of K classes
        To the raw prediction.
    base_values : float64 array of shape (n,), or (n, K)
        The raw prediction is ``base_values`` plus all contributions.
    """

    rows: np.ndarray
    contributions: np.ndarray
    base_values: np.ndarray

    def to_class(self, c: int | None) -> np.ndarray:
        """Return the contributions to one class, or to the only output; shape (n, p)."""
        return self.contributions if c is None else self.contributions[:, :, c]

    @classmethod
    def of(cls, model: Ensemble, task: Task, rows: np.ndarray) -> "RowContributions":
        """Explain held-out rows."""
        explained = predecomp(model, task.X_valid[rows])
        return cls(rows, explained.values, explained.base_values)


@dataclass(frozen=True, eq=False)
class Report:
    """All that the report says, before it is written down.

    Parameters
    ----------
    found : Findings
    made : dict of str to str
        How it came about, so that it can be repeated.
    raw_prediction : float64 array
        Of all held-out rows.
    chosen : RowContributions
        Those of the row explorer.
    kinds : list of str
        Why each was chosen: one of ``KINDS_OF_ROWS``; all the same where all rows are shown.
    helped : float64 array of shape (n_chosen, p)
        What the row adds to the held-out gain of every feature, times the number of rows.
    """

    found: Findings
    made: Mapping[str, str]
    raw_prediction: np.ndarray
    chosen: RowContributions
    kinds: list[str]
    helped: np.ndarray

    @property
    def task(self) -> Task:
        """What the findings are about."""
        return self.found.task

    @property
    def model(self) -> Ensemble:
        """The model that was judged."""
        return self.found.model

    @classmethod
    def of(cls, found: Findings, made: Mapping[str, str], seed: int) -> "Report":
        """Compute what the report needs beyond the findings."""
        model, task = found.model, found.task
        X, y = task.X_valid, task.y_valid
        raw_prediction = found.raw_prediction
        loss = excess(model.loss, y, raw_prediction)
        random = np.random.default_rng(seed)
        of_classes = raw_prediction.ndim > 1
        chosen, kinds = choose_rows(
            loss,
            model.loss.inverse_link(raw_prediction).max(axis=1) if of_classes else raw_prediction,
            random,
            KINDS_OF_CLASSIFIED_ROWS if of_classes else KINDS_OF_ROWS,
        )
        with warnings.catch_warnings():  # the report itself says it
            warnings.simplefilter("ignore", SeenRowsWarning)
            helped = held_out_gain_rows(model, X, y).values[chosen]
        return cls(
            found,
            made,
            raw_prediction,
            chosen=RowContributions.of(model, task, chosen),
            kinds=kinds,
            helped=helped * found.per_cent_of_row,
        )


def choose_rows(
    loss: Any, prediction: np.ndarray, random: Any, kinds: Sequence[str] = KINDS_OF_ROWS
) -> tuple[np.ndarray, list[str]]:
    """Return the rows that can be looked at one by one, and why each; all rows of a small table.

    Parameters
    ----------
    loss, prediction : float64 arrays of shape (n,)
        The second: raw predictions, or probabilities of the most probable class.
    random : numpy Generator
    kinds : sequence of str
        What rows of the largest loss, of the highest and the lowest prediction, and others are
        called.
    """
    n_rows = len(loss)
    if n_rows <= MOST_ROWS:
        return np.arange(n_rows), ["all rows"] * n_rows
    chosen: dict[int, str] = {}
    orders = (
        np.argsort(-loss, kind="stable"),
        np.argsort(-prediction, kind="stable"),
        np.argsort(prediction, kind="stable"),
        random.permutation(n_rows),
    )
    for place, (kind, order) in enumerate(zip(kinds, orders, strict=True), 1):
        others = (int(row) for row in order if int(row) not in chosen)
        while len(chosen) < place * MOST_ROWS // len(kinds):
            chosen[next(others)] = kind
    return np.array([*chosen]), [*chosen.values()]
