"""What to do next: one or a few sentences that depend on what was found, the most urgent first."""

from collections.abc import Iterator

import numpy as np

from attributions.command.judging.findings import Findings
from attributions.command.judging.other_models import given_away_by
from attributions.command.judging.verdicts import HELPS, HURTS, UNCLEAR
from attributions.command.said.cautions import FEW_ROWS
from attributions.command.wording import option, shown_names


def next_steps(found: Findings) -> list[str]:
    """Return what a reader can do with these findings; there is always something."""
    steps = [*_about_the_rows(found), *_about_the_features(found)]
    return steps or [
        "Ask somebody who knows the subject whether the features that help are those that should."
    ]


def _about_the_rows(found: Findings) -> Iterator[str]:
    task, together, times = found.task, found.together, found.times
    if found.on_training_rows:
        yield "Judge the model on rows that it was not trained on; nothing below can be trusted."
        return
    if together is not None and not together.is_heeded:
        yield (
            f"If rows with the same {together.name!r} are of one person, place or thing, run"
            f" it again with {option('--groups', together.name)}."
        )
    if times and not task.question.time and not found.model_file:
        yield (
            "If you want to predict what comes later, run it again with"
            f" {option('--time', times[0])}."
        )
    if len(task.y_valid) < FEW_ROWS:
        yield "Get more rows, if you can: with so few, chance hides most of what there may be."
    is_fitted_to_numbers = len(task.X_train) > 0 and found.model.loss.name == "half_squared_error"
    if is_fitted_to_numbers and vary_as_counts(task.y_valid, found.raw_prediction):
        yield (
            "The target seems to count something, and larger counts vary more. Run it again with"
            " --task counts: the Poisson loss is made for such targets, and its predictions are"
            " never negative."
        )


def vary_as_counts(y: np.ndarray, predicted: np.ndarray) -> bool:
    """Say whether targets are whole numbers from 0 or 1 on, whose errors grow with predictions.

    Of counts after Poisson the variance is the mean, of numbers after Gauss it is the same
    everywhere. Between the half of smaller predictions and the half of larger ones it must grow by
    more than the root of what the mean grows by: nearer to the first than to the second.
    """
    if not 0 <= y.min() <= 1 or (y != np.floor(y)).any():
        return False
    order = np.argsort(predicted, kind="stable")
    small, large = order[: len(y) // 2], order[len(y) // 2 :]
    below, above = y[small].mean(), y[large].mean()
    errors = (y - predicted) ** 2
    grows = errors[large].mean() >= np.sqrt(above / max(below, 1e-9)) * errors[small].mean()
    return bool(above >= 1.5 * below and grows)


def _about_the_features(found: Findings) -> Iterator[str]:
    if found.saved <= 0:
        yield (
            "Do not use this model. The columns may say nothing of the target, or the rows may be"
            " too few: look for other columns, or for more rows."
        )
        return
    if names := given_away_by(found):
        drops = " ".join(option("--drop", name) for name in names)
        yield (
            f"Find out when {shown_names(names)} became known. If it was after the answer, run it"
            f" again with {drops}."
        )
    helping, hurting = found.with_verdict(HELPS), found.with_verdict(HURTS)
    if hurting and found.task.question.time:
        yield (
            f"{found.names(hurting)} made predictions of later rows worse: what held before may"
            " hold no more. Try the model without, or one of recent rows alone."
        )
    elif hurting:
        yield f"Try the model without {found.names(hurting)}, which made predictions worse."
    if helping:
        yield (
            "Ask somebody who knows the subject whether what helps is what should. That a feature"
            " helps to predict does not say that changing it would change the outcome."
        )
    elif found.with_verdict(UNCLEAR):
        yield "There is no evidence that any feature helps; more rows may give it."
