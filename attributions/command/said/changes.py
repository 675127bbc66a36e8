"""Sentences on what changed over time, or differs between values of a column."""

from collections.abc import Iterator

import numpy as np

from attributions.command.judging.findings import Findings
from attributions.command.judging.over import Over
from attributions.command.wording import shown_names
from attributions.names import elided

OF_UNIT = {"loss": " of loss a row", "percent": " % of the constant model's loss"}


def changes(found: Findings) -> Iterator[str]:
    """Yield what changed beyond chance, column by column."""
    for over in found.over:
        yield from _about(over, "events" if found.task.question.event else "rows")


def _about(over: Over, what_judges: str) -> Iterator[str]:
    result, changed = over.result, over.changes.changed()
    texts, about = result.label_texts, np.array(over.changes.about)
    other = repr(texts[over.reference])
    if other.startswith("'from "):
        other = f"the {'period' if over.is_time else 'range'} {texts[over.reference]}"
    by = f"Over {elided(over.column)}" if over.is_time else f"By {elided(over.column)}"
    saved = result.values_in(over.changes.unit)
    for k in result.ranking():
        for is_less in (True, False):
            at = about[changed[:, k] & ((over.changes.values[:, k] < 0) == is_less)]
            if len(at):
                where = shown_names([f"{texts[j]} ({saved[j, k]:.3g})" for j in at])
                yield (
                    f"{by}: {elided(result.feature_names[k])} is worth"
                    f" {'less' if is_less else 'more'} than in {other}, where it saves"
                    f" {saved[over.reference, k]:.3g}{OF_UNIT[over.changes.unit]}: {where}."
                )
    if not changed.any():
        yield f"{by}: what features are worth differs from {other} nowhere beyond chance."
    if over.is_time:
        yield (
            f"{by}: only the rows held out are compared, period by period. What changed before them"
            " is not seen here: the model was fitted to those rows."
        )
    few = [texts[j] for j in about[np.isnan(over.changes.values).all(axis=1)]]
    if few:
        yield f"{by}: too few {what_judges} to judge: {shown_names(few)}."
