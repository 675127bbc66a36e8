"""Leaks: columns that give the answer away, since they are known only once the answer is.

Models of one column show it, and of two. A column may be a leak if a model of it alone saves nine
tenths of what the model of all columns saves, and that at least 60 % of the constant model's loss.
Two may be if all save 80 %: in many a table two honest columns explain two thirds, and nothing else
does. Where one column alone suffices, a model of the others shows whether another does as well.

Of times to an event no model saves that much. There a column may be a leak if the order of its
numbers alone is that of the events in 90 of 100 pairs: it may be made of the time.

A given model is not fitted again. There one column may be a leak if it brings 80 % of what all
columns bring.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from attributions.command.judging.findings import Findings, excess
from attributions.command.judging.simpler import some_rows
from attributions.command.rules.target import differ
from attributions.command.table.task import Task
from attributions.held_out.gain import held_out_gain
from gbt.model.ensemble import Ensemble

LEAST_SAVED = 50.0  # per cent, below which nothing is given away, and no model of one is fitted
MUCH, MUCH_OF_TWO, NEARLY_AS_GOOD, MOST_OF_IT = 60.0, 80.0, 0.9, 0.8
NEARLY_IN_ORDER = 0.9  # of pairs
MOST_NAMED = 4  # columns that are looked for, each of which alone suffices


def with_given_away(found: Findings, fit: Callable[[Task], Ensemble]) -> Findings:
    """Add how much of the loss the best column saves alone, the best two, and others alone.

    Nothing is fitted where the model saves little, or where a column is all that there is.
    """
    used = helpful(found)
    if found.task.question.event:
        return replace(found, also_enough=tuple(k for k in used if _is_in_order(found, k)))
    if found.saved < LEAST_SAVED or len(used) < 2 or found.task.has_pairs:
        return found
    task, rows = found.task, some_rows(found.task)

    def fitted(columns: list[int]) -> tuple[Task, Ensemble, float]:
        names = tuple(task.feature_names[k] for k in columns)
        X_train, X_valid = task.X_train[rows][:, columns], task.X_valid[:, columns]
        y_train = task.y_train[rows]
        part = replace(task, X_train=X_train, y_train=y_train, X_valid=X_valid, feature_names=names)
        model = fit(part)
        loss = excess(model.loss, part.y_valid, model.raw_predict(part.X_valid)).sum()
        return part, model, 100 * (1 - float(loss) / found.constant_loss)

    saved = tuple(fitted(used[:n])[2] for n in (1, 2)[: len(found.useful) - 1])
    found = replace(found, saved_by_best=saved)
    if how_many_are_enough(found) != 1:
        return found
    named = used[:1]
    while len(named) < min(MOST_NAMED, len(found.useful)):
        others = [k for k in range(len(found.useful)) if k not in named]
        part, model, saved_by_others = fitted(others)
        if saved_by_others < NEARLY_AS_GOOD * found.saved:
            break
        gain = held_out_gain(model, part.X_valid, part.y_valid, standard_error=False)
        best = others[int(gain.ranking()[0])]
        if fitted([best])[2] < NEARLY_AS_GOOD * found.saved:
            break
        named.append(best)
    return replace(found, also_enough=tuple(named[1:]))


def _is_in_order(found: Findings, k: int) -> bool:
    """Say whether a column of numbers alone puts held-out rows in the order of their events."""
    task, loss = found.task, found.model.loss
    numbers = task.features[k].numbers[task.held_out]
    known = ~np.isnan(numbers)
    y, numbers = task.y_valid[known], numbers[known]
    if task.features[k].words or not differ(y, "cox") or not np.ptp(numbers):
        return False
    order = loss.score(y, numbers, np.ones(len(y)))
    return max(order, 1 - order) >= NEARLY_IN_ORDER


def helpful(found: Findings) -> list[int]:
    """Return the features whose held-out gain is above 0, the largest first."""
    ranking, value = found.useful.ranking(), found.useful.values
    return [int(k) for k in ranking if found.is_used[k] and value[k] > 0]


def how_many_are_enough(found: Findings) -> int:
    """Return 1 or 2 if so many columns predict nearly as well as all, and that well; else 0.

    If no model was fitted to them, as when a model is given, their share of the gain decides.
    """
    used, value = helpful(found), found.useful.values
    if found.saved < MUCH or not used or found.task.has_pairs:
        return 0
    if found.saved_by_best:
        enough = [saved >= NEARLY_AS_GOOD * found.saved for saved in found.saved_by_best]
        n_enough = 1 + enough.index(True) if True in enough else 0
        return 0 if n_enough == 2 and found.saved < MUCH_OF_TWO else n_enough
    return int(len(value) > 1 and value[used[0]] >= MOST_OF_IT * value[used].sum())


def given_away_by(found: Findings) -> list[str]:
    """Return the names of the columns that may give the answer away."""
    features = [*helpful(found)[: how_many_are_enough(found)], *found.also_enough]
    return [found.task.feature_names[k] for k in features]
