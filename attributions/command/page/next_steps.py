"""What to do next: one or a few sentences that depend on what was found, the most urgent first."""

from collections.abc import Iterator

from attributions.command.cautions import FEW_ROWS, MUCH, how_many_are_enough
from attributions.command.findings import Findings
from attributions.command.verdicts import HELPS, HURTS, UNCLEAR
from attributions.command.wording import option, shown_names


def next_steps(found: Findings) -> list[str]:
    """Return what a reader can do with these findings; there is always something."""
    steps = [*_about_the_rows(found), *_about_the_features(found)]
    return steps or [
        "Ask somebody who knows the subject whether the features that help are those that should."
    ]


def _about_the_rows(found: Findings) -> Iterator[str]:
    """Say what to do about rows that know or repeat each other, or are too few."""
    if found.on_training_rows:
        yield "Judge the model on rows that it was not trained on; nothing below can be trusted."
        return
    together, in_time = found.together, found.in_time
    if together is not None and not together.is_heeded:
        yield (
            f"If rows with the same {together.column.name!r} are of one person, place or thing, run"
            f" it again with {option('--groups', together.column.name)}."
        )
    if in_time is not None and in_time.columns and not found.task.in_time and not found.model_file:
        yield (
            "If you want to predict what comes later, run it again with"
            f" {option('--time', in_time.columns[0])}."
        )
    if len(found.task.y_valid) < FEW_ROWS:
        yield "Get more rows, if you can: with so few, chance hides most of what there may be."


def _about_the_features(found: Findings) -> Iterator[str]:
    """Say what to do about what the features bring."""
    if found.saved <= 0:
        yield (
            "Do not use this model. The columns may say nothing of the target, or the rows may be"
            " too few: look for other columns, or for more rows."
        )
        return
    useful = found.useful
    used = [k for k in useful.ranking() if found.is_used[k] and useful.values[k] > 0]
    n_enough = how_many_are_enough(found, used) if used else 0
    if n_enough and found.saved >= MUCH:
        names = [found.task.feature_names[k] for k in used[:n_enough]]
        drops = " ".join(option("--drop", name) for name in names)
        yield (
            f"Find out when {shown_names(names)} became known. If it was after the answer, run it"
            f" again with {drops}."
        )
    helping, hurting = found.with_verdict(HELPS), found.with_verdict(HURTS)
    if hurting:
        names = [found.task.feature_names[k] for k in hurting]
        yield f"Try the model without {shown_names(names)}, which made predictions worse."
    if helping:
        yield (
            "Ask somebody who knows the subject whether what helps is what should. That a feature"
            " helps to predict does not say that changing it would change the outcome."
        )
    elif found.with_verdict(UNCLEAR):
        yield "Of no feature can it be told that it helps: more rows would tell."
