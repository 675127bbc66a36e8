"""Single rows as data for the page's script: which features moved the prediction, and helped.

Contributions are those of PreDecomp, which add up to the prediction; with several classes, to that
of the row's most probable class. The row's parts of the held-out gain, whose mean over all rows is
the importance, show whether they helped. Each row keeps the features that moved it most, and the
sum over the others.
"""

from typing import Any

import numpy as np

from attributions.amounts import amount
from attributions.command.judging.findings import Findings, excess
from attributions.command.page.figures import raw_unit
from attributions.command.table.task import Task
from attributions.command.wording import LONGEST, apart, cell
from attributions.names import elided
from attributions.per_row.predecomp import predecomp

MOST_ROWS = 200  # that can be looked at
MOST_FEATURES = 12  # of a row
SIGNIFICANT = 4
ERROR, OTHERS = "largest error", "drawn at random"


def row_data(found: Findings, seed: int) -> dict[str, Any]:
    """Return what the script shows.

    Returns
    -------
    dict
        "names" of features, "unit" of contributions, "base" (of several classes one each),
        "is_in_unit" (whether predictions are sums of contributions), and "rows": a list each of row
        number in the file, why it is here, what was predicted, the truth, [feature, value,
        contribution, helped] of the strongest features, contribution and helped of all others
        together, and of several classes the number of the predicted one.
    """
    task, loss, (unit, _) = found.task, found.model.loss, raw_unit(found)
    in_unit = f" in {unit}" * (not loss.is_by_row)  # which is not that of the truth
    prediction = loss.inverse_link(found.raw_prediction)
    errors = excess(loss, task.y_valid, found.raw_prediction)
    of_row = prediction.max(axis=1) if task.classes else found.raw_prediction
    extremes = ("most certain", "least certain") if task.classes else (
        "highest prediction", "lowest prediction"
    )  # fmt: skip
    chosen = choose_rows(errors, of_row, np.random.default_rng(seed), extremes)
    explained = predecomp(found.model, task.X_valid[[*chosen]])
    gains = found.gains_of_rows()
    # What the file holds, whatever a given model takes in its place.
    columns, in_file = task.features, task.held_out
    rows = []
    for i, (row, kind) in enumerate(chosen.items()):
        c = int(prediction[row].argmax()) if task.classes else None
        moves, helped = explained.values[i], gains[row]
        moves = moves if c is None else moves[:, c]
        strongest = np.argsort(-np.abs(moves), kind="stable")[:MOST_FEATURES]
        strongest = strongest[moves[strongest] != 0]
        others = np.setdiff1d(np.arange(len(moves)), strongest)
        values = [cell(columns[k], columns[k].numbers[in_file[row]]) for k in strongest]
        features = [
            [int(k), value, _rounded(moves[k]), _rounded(helped[k])]
            for k, value in zip(strongest, values, strict=True)
        ]
        of_others = [_rounded(part[others].sum()) for part in (moves, helped)]
        said = [predicted(task, prediction[row], c) + in_unit, truth(task, row)]
        of_class = [] if c is None else [c]
        rows.append([int(in_file[row]) + 1, kind, *said, features, of_others, *of_class])
    start, rounding = np.ravel(explained.base_values[0]), 1e-12 * np.abs(found.raw_prediction).max()
    base = [_rounded(number) if abs(number) > rounding else 0.0 for number in start]
    return {
        "names": apart(task.feature_names, LONGEST),
        "base": base if task.classes else base[0],
        "unit": unit,
        "is_in_unit": not in_unit and np.array_equal(prediction, found.raw_prediction),
        "rows": rows,
    }


def choose_rows(
    errors: np.ndarray, of_row: np.ndarray, random: Any, extremes: tuple[str, str]
) -> dict[int, str]:
    """Return the rows that can be looked at one by one, and why each; all rows of a small table.

    These are the rows of the largest errors, those for which ``of_row`` is highest and lowest,
    which ``extremes`` has words for, and some others.
    """
    if len(errors) <= MOST_ROWS:
        return dict.fromkeys(range(len(errors)), "all rows")
    orders = {
        ERROR: np.argsort(-errors, kind="stable"),
        extremes[0]: np.argsort(-of_row, kind="stable"),
        extremes[1]: np.argsort(of_row, kind="stable"),
        OTHERS: random.permutation(len(errors)),
    }
    chosen: dict[int, str] = {}
    for place, (kind, order) in enumerate(orders.items(), 1):
        others = (int(row) for row in order if int(row) not in chosen)
        while len(chosen) < place * MOST_ROWS // len(orders):
            chosen[next(others)] = kind
    return chosen


def predicted(task: Task, number: Any, c: int | None) -> str:
    """Return a prediction: a number, or the chance of a class, which has the number ``c`` of many.

    Where classes are two, it is the chance of that which the task is about.
    """
    if not task.is_classification:
        return amount(number)
    label, chance = truth(task, int(np.argmax(task.y_valid))), number
    if c is not None:
        label, chance = elided(task.classes[c], LONGEST), number[c]
    return f"{100 * chance:.1f} % for {elided(task.target.name, LONGEST)} = {label}"


def truth(task: Task, row: int) -> str:
    """Return the target of a held-out row: classes as the file writes them, numbers as others."""
    number = task.target.numbers[task.held_out[row]]
    text = cell(task.target, number) if task.is_classification else amount(number)
    is_censored = bool(task.question.event) and task.y_valid[row, 1] in (0, np.inf)
    return f"{text} or later" if is_censored else text


def _rounded(number: Any) -> float:
    return float(f"{number:.{SIGNIFICANT}g}")
