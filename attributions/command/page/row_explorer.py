"""Single rows as data for the page's script: which features moved the prediction, and helped.

With several classes the prediction that is explained is that of the row's most probable class.

Each row keeps the features that moved it most, and the sum over the others, so that the
contributions shown add up to the prediction.
"""

from typing import Any

import numpy as np

from attributions.command.page.cells import (
    amount,
    answer,
    cell,
    held_out_numbers,
    predicted_class,
    shortened_apart,
)
from attributions.command.page.contents import Report
from attributions.command.page.figures import raw_unit

MOST_FEATURES = 12  # of a row
SIGNIFICANT = 4


def row_data(report: Report) -> dict:
    """Return what the script shows.

    Returns
    -------
    dict
        "names" of features, "unit" of contributions, "base" (of several classes one each), and
        "rows": a list each of row number in the file, why it is here, what was predicted, the
        truth, [feature, value, contribution, helped] of the strongest features, contribution and
        helped of all others together, and of several classes the number of the predicted one.
    """
    task, chosen = report.task, report.chosen
    numbers = [held_out_numbers(task, k)[chosen.rows] for k in range(len(task.features))]
    predicted = report.model.loss.inverse_link(report.raw_prediction[chosen.rows])
    of_two = predicted_class(task) if task.is_classification and not task.classes else ""
    rows = []
    for i, row in enumerate(chosen.rows):
        c = int(predicted[i].argmax()) if task.classes else None
        contributions, helped = chosen.to_class(c)[i], report.helped[i]
        chance, label = (
            (predicted[i], of_two) if c is None else (predicted[i][c], predicted_class(task, c))
        )
        strongest = np.argsort(-np.abs(contributions), kind="stable")[:MOST_FEATURES]
        strongest = strongest[contributions[strongest] != 0]
        others = np.setdiff1d(np.arange(len(contributions)), strongest)
        said = f"{100 * chance:.1f} % for {label}" if task.is_classification else amount(chance)
        rows.append(
            [
                int(task.held_out[row]) + 1,
                report.kinds[i],
                said,
                answer(task, row),
                [
                    [
                        int(k),
                        cell(report.task.features[k], numbers[k][i]),
                        _rounded(contributions[k]),
                        _rounded(helped[k]),
                    ]
                    for k in strongest
                ],
                [_rounded(contributions[others].sum()), _rounded(helped[others].sum())],
                *([] if c is None else [c]),
            ]
        )
    return {
        "names": shortened_apart(task.feature_names),
        "base": (
            [_rounded(base) for base in chosen.base_values[0]]
            if task.classes
            else _rounded(chosen.base_values[0])
        ),
        "unit": raw_unit(report),
        "rows": rows,
    }


def _rounded(number: Any) -> Any:
    """Return a number with as many digits as are shown."""
    return float(f"{number:.{SIGNIFICANT}g}")
