"""A table is judged with halves drawn at random, and where rows belong together, by groups as well.

Columns are looked at first (``attributions.command.rules.belonging``). Then a model is fitted to
half of the values of the most telling column, and its errors on the other values show whether rows
of one value have something in common. If the column and the errors agree, the report's verdicts are
those by groups, and it compares them with those of random halves.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from attributions.command.judging.findings import Findings, findings_of
from attributions.command.judging.other_models import beside_simpler, with_given_away
from attributions.command.judging.over import with_changes
from attributions.command.rules.belonging import (
    Belonging,
    agreement_along,
    agreement_within,
    belonging,
    columns_of_time,
)
from attributions.command.table.file import TableFile
from attributions.command.table.task import Question, Task, read_columns, table_task
from attributions.command.unusable import UnusableTableError
from gbt.losses.loss import Loss
from gbt.model.ensemble import Ensemble

MOST_TRIED = 2  # columns for which a model is fitted
LEAST_ALONG = 0.1  # correlation of neighbours' errors in the file that is worth reporting
SORTED = 0.1  # of the changes from row to row that chance would make
Fit = Callable[[Task], Ensemble]
TaskOf = Callable[[Question], Task]


def judged(
    table: TableFile, question: Question, fit: Fit, announce: Callable[[Task], None]
) -> Findings:
    """Return the findings of a table; ``announce`` prints the task as soon as it is known."""
    columns, target = read_columns(table, question)

    def task_of(asked: Question) -> Task:
        return table_task(table, asked, columns, target)

    is_asked = question.groups is not None or question.time is not None
    together, task, model = None, None, None
    if not (is_asked or question.no_groups):
        candidates = belonging(columns, question.target)
        together, task, model = _by_groups(candidates, question, fit, task_of)
    task = task or task_of(question)
    announce(task)
    found = replace(findings_of(model or fit(task), task), together=together)
    if question.task != "ranking":  # there groups are what is put in order, and stay whole
        if is_asked:
            found = _with_asked_groups(found) if question.groups else with_hint(found)
        if is_asked or model is not None:
            plain = task_of(replace(question, groups=None, time=None))
            found = replace(found, beside=findings_of(fit(plain), plain))
        if not is_asked:
            found = with_time(found)
    # What simpler models predict, what the best columns predict alone, and what changed.
    return with_changes(with_given_away(beside_simpler(found), fit))


def _by_groups(
    candidates: list[Belonging], question: Question, fit: Fit, task_of: TaskOf
) -> tuple[Belonging | None, Task | None, Ensemble | None]:
    """Return what is to be said of a column that may hold rows together.

    Also the task and the model by its groups, if errors show that there are some.
    """
    said = None
    for candidate in candidates[:MOST_TRIED]:
        try:
            task = task_of(replace(question, groups=candidate.name))
        except UnusableTableError:  # it is the only feature, or too few values have a target
            continue
        model = fit(task)
        raw_prediction = model.raw_predict(task.X_valid)
        together = _with_agreement(candidate, model.loss, task, raw_prediction)
        if together.is_strong:
            return replace(together, is_heeded=True), task, model
        if said is None and together.is_worth_saying:
            said = together
    return said, None, None


def _with_agreement(
    candidate: Belonging, loss: Loss, task: Task, raw_prediction: np.ndarray
) -> Belonging:
    """Add how far errors agree within the values of a column, missing ones aside."""
    values = task.columns[candidate.name].numbers[task.held_out]
    known = ~np.isnan(values)
    errors = errors_of(loss, task.y_valid, raw_prediction)
    return replace(candidate, agreement=agreement_within(errors[known], values[known]))


def _with_asked_groups(found: Findings) -> Findings:
    """Add how far errors agree within the groups that were asked for."""
    task = found.task
    column = task.columns[str(task.question.groups)]
    unknown = Belonging(column.name, max(column.n_distinct, 1), len(column.known))
    candidates = belonging(task.columns, task.target.name)
    candidate = next((c for c in candidates if c.name == column.name), unknown)
    together = _with_agreement(candidate, found.model.loss, task, found.raw_prediction)
    return replace(found, together=replace(together, is_heeded=True, is_asked=True))


def errors_of(loss: Loss, y: np.ndarray, raw_prediction: np.ndarray) -> np.ndarray:
    """Return the errors of predictions, (n, K): negative gradients."""
    gradient, _ = loss.gradient_hessian(y, raw_prediction)
    return -gradient.reshape(len(y), -1)


def with_hint(found: Findings) -> Findings:
    """Add which rows may belong together, if only this model's errors say so."""
    task, said = found.task, None
    for candidate in belonging(task.columns, task.target.name)[:MOST_TRIED]:
        together = _with_agreement(candidate, found.model.loss, task, found.raw_prediction)
        if together.is_worth_saying and (said is None or together.is_strong):
            said = together
    return replace(found, together=said)


def with_time(found: Findings) -> Findings:
    """Add whether neighbours' errors agree in the order of time, or of the file."""
    task = found.task
    errors = errors_of(found.model.loss, task.y_valid, found.raw_prediction)
    named, of_named = columns_of_time(task.columns, task.target.name), []
    for name in named:
        times = task.columns[name].numbers[task.held_out]
        known = ~np.isnan(times)
        of_named.append(agreement_along(errors[known], times[known]))
    if of_named:
        clearest = min(of_named, key=lambda agreement: agreement.p_value)
        return replace(found, times=tuple(named), along=clearest)
    along = agreement_along(errors, task.held_out)
    is_told = along.is_clear and along.share >= LEAST_ALONG and found.together is None
    return replace(found, along=along) if is_told and not _is_sorted(task) else found


def _is_sorted(task: Task) -> bool:
    """Say whether the file is in the order of its target, which makes neighbours' errors alike.

    It may be so in part, as where rows with a target above 0 come first: rows above some number
    then follow each other, and hardly ever change with rows below it.
    """
    y = task.y_valid.reshape(len(task.y_valid), -1)[np.argsort(task.held_out), 0]
    for limit in np.unique(np.quantile(y, np.arange(10) / 10, method="lower")):
        is_above = y > limit
        by_chance = 2 * is_above.mean() * (1 - is_above.mean())
        if (np.diff(is_above) != 0).mean() < SORTED * by_chance:
            return True
    return False
