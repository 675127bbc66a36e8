"""What is said of times to an event, and of an order: how good it is, and what misleads."""

from collections.abc import Iterator

import numpy as np

from attributions.command.findings import Findings

FEW_EVENTS = 50  # among the held-out rows


def about_order(found: Findings) -> str:
    """Say what the concordance is, or the NDCG, in words."""
    score = found.scores[0]
    if found.task.event:
        return (
            "Of 100 pairs of rows of which it is known whose event came first, the model expects"
            f" the right one first in {100 * score.of_model:.0f}; guessing is right in 50."
        )
    return (
        f"The model's order of the rows of a group is worth {100 * score.of_model:.0f} % of the"
        " best there is, where early places count most (NDCG); a random order is worth"
        f" {100 * score.of_constant:.0f} %."
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
