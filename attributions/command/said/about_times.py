"""What is said of times to an event: how well rows are put in order, and what misleads."""

from collections.abc import Iterator

import numpy as np

from attributions.command.findings import Findings

FEW_EVENTS = 50  # among the held-out rows


def about_order(found: Findings) -> str:
    """Say what the concordance is, in words."""
    return (
        "Of 100 pairs of rows of which it is known whose event came first, the model expects the"
        f" right one first in {100 * found.scores[0].of_model:.0f}; guessing is right in 50."
    )


def about_censoring(found: Findings) -> Iterator[str]:
    """Say what censoring may hide, and that events count, not rows."""
    if not found.task.event:
        return
    is_censored = np.isin(found.task.y_valid[:, 1], (0, np.inf))
    n_rows, n_events = len(is_censored), int(np.sum(~is_censored))
    if n_events < FEW_EVENTS:
        yield (
            f"Only {n_events:,} of the {n_rows:,} held-out rows have the event, and everything"
            " rests on these: more rows without events would hardly help."
        )
    if n_events < n_rows:
        yield (
            f"{n_rows - n_events:,} of the {n_rows:,} held-out rows are censored. They are taken to"
            " be like rows that were observed for longer. If rows leave because their event is"
            " near, or will never come, all results are wrong, and no table can show it: ask"
            " whoever collected the rows why observation ended."
        )
