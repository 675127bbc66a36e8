"""The result in a few sentences: how good the model is, and one verdict a feature."""

from collections.abc import Iterator

import numpy as np

from attributions.command.findings import Findings
from attributions.command.said.about_belonging import compared
from attributions.command.said.about_times import about_order
from attributions.command.verdicts import HELPS, HURTS, UNCLEAR, UNUSED
from attributions.command.wording import shown_names
from attributions.results import GlobalAttribution


def in_short(found: Findings) -> Iterator[str]:
    """Yield what was found, the most important first."""
    task, n_features = found.task, len(found.useful)
    yield from about_order(found)
    if found.saved > 0:
        yield (
            f"The model's {found.loss_name} on held-out rows is {found.saved:.1f} % below that of"
            " predicting the same for every row."
        )
    else:
        yield (
            f"As a whole the model is no better than the constant: its {found.loss_name} is"
            f" {abs(found.saved):.1f} % higher."
        )
    for verdict in (HELPS, HURTS, UNCLEAR, UNUSED):
        told = found.with_verdict(verdict)
        if verdict == HELPS and found.saved <= 0:
            yield "helps: no feature, since the model is no better than a constant"
            continue
        n_carried = sum(bool(found.doubtful[k]) for k in told) if verdict == UNCLEAR else 0
        why = f" ({n_carried} because a few rows may carry it)" * (n_carried > 0)
        names = ": " * bool(told) + shown_names([task.feature_names[k] for k in told])
        yield f"{verdict}, {len(told)} of {n_features}{why}{names}"
    if task.noise is not None:
        by_gain, held_out = ranks(found.gain)[task.noise], found.order.index(task.noise) + 1
        yield (
            f"The random numbers have place {by_gain} of {n_features} by total gain, place"
            f" {held_out} by held-out gain."
        )
    if both := compared(found):
        yield both


def ranks(result: GlobalAttribution) -> np.ndarray:
    """Return the place of every feature, from 1."""
    places = np.empty(len(result.values), dtype=np.int64)
    places[result.ranking()] = np.arange(1, len(places) + 1)
    return places
