"""A table is judged with halves drawn at random, and where rows belong together, by groups as well.

Columns are looked at first (``attributions.command.rules.belonging``). Then a model is fitted to
half of the values of the most telling column, and its errors on the other values show whether rows
of one value have something in common. If the column and the errors agree, the report's verdicts are
those by groups, and it compares them with those of random halves.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from attributions.command.findings import Findings, findings_of
from attributions.command.independence.agreement import (
    InTime,
    Together,
    agreement_along,
    agreement_within,
    errors_of,
)
from attributions.command.leaks import with_given_away
from attributions.command.over import with_changes
from attributions.command.rules.belonging import Belonging, belonging, columns_of_time
from attributions.command.rules.columns import Column
from attributions.command.rules.target import Target
from attributions.command.simpler import beside_simpler
from attributions.command.table.file import TableFile
from attributions.command.table.task import Question, Task, read_columns, table_task
from attributions.command.unusable import UnusableTableError
from gbt.model.ensemble import Ensemble

MOST_TRIED = 2  # columns for which a model is fitted
LEAST_ALONG = 0.1  # correlation of neighbours' errors in the file that is worth reporting
SORTED = 0.1  # of the changes from row to row that chance would make
Fit = Callable[[Task], Ensemble]


def judged(
    table: TableFile, question: Question, fit: Fit, announce: Callable[[Task], None]
) -> Findings:
    """Return the findings of a table; ``announce`` prints the task as soon as it is known."""
    read = read_columns(table, question)
    if question.task == "ranking":  # groups are what is put in order, and stay whole
        task = table_task(table, question, read)
        announce(task)
        return _completed(findings_of(fit(task), task), fit)
    plain = table_task(table, replace(question, groups=None, time=None), read)
    if question.groups is not None or question.time is not None:
        task = table_task(table, question, read)
        announce(task)
        return _as_asked(task, plain, fit)
    columns, _ = read
    said, task, model = None, plain, None
    for candidate in belonging(columns, question.target)[:MOST_TRIED] * question.looks_for_groups:
        with_groups = _by_groups(table, question, candidate, read)
        if with_groups is None:
            continue
        fitted = fit(with_groups)
        raw_prediction = fitted.raw_predict(with_groups.X_valid)
        errors = errors_of(fitted.loss, with_groups.y_valid, raw_prediction)
        together = Together(candidate, agreement_within(errors, _groups(with_groups)))
        if together.is_strong:
            said, task, model = replace(together, is_heeded=True), with_groups, fitted
            break
        if said is None and together.is_worth_saying:
            said = together
    announce(task)
    at_random = findings_of(fit(plain), plain)
    if model is None:
        return _completed(with_time(replace(at_random, together=said)), fit)
    found = findings_of(model, task)
    found = with_time(replace(found, together=said, beside=without_rows(at_random)))
    return _completed(found, fit)


def _completed(found: Findings, fit: Fit) -> Findings:
    """Add what simpler models predict, what the best columns predict alone, and what changed."""
    return with_changes(with_given_away(beside_simpler(found), fit))


def _by_groups(
    table: TableFile,
    question: Question,
    candidate: Belonging,
    read: tuple[dict[str, Column], Target],
) -> Task | None:
    """Return the task in which rows of a value are kept in one half; None if that cannot be."""
    try:
        return table_task(table, replace(question, groups=candidate.name), read)
    except UnusableTableError:  # it is the only feature, or too few values have a target
        return None


def _as_asked(task: Task, plain: Task, fit: Fit) -> Findings:
    """Judge by the groups or the time that were asked for, and with random halves to compare."""
    at_random = findings_of(fit(plain), plain)
    found = findings_of(fit(task), task)
    if task.grouped_by:
        name, values = task.grouped_by, task.columns[task.grouped_by]
        n_rows = int((~np.isnan(values.numbers)).sum())
        column = next(
            (c for c in belonging(task.columns, task.target.name) if c.name == name),
            Belonging(name, max(values.n_distinct, 1), n_rows, False, False),
        )
        errors = errors_of(found.model.loss, task.y_valid, found.raw_prediction)
        agreement = agreement_within(errors, _groups(task))
        together = Together(column, agreement, is_heeded=True, is_found=False)
        found = replace(found, together=together)
    else:
        found = with_hint(found)
    return _completed(replace(found, beside=without_rows(at_random)), fit)


def of_given_model(found: Findings) -> Findings:
    """Add what the rows that judge a given model have in common; nothing is fitted."""
    if not len(found.task.X_valid) or found.on_training_rows:
        return found
    return with_changes(with_time(found if found.task.grouped_by else with_hint(found)))


def with_hint(found: Findings) -> Findings:
    """Add which rows may belong together, if only this model's errors say so."""
    task = found.task
    errors = errors_of(found.model.loss, task.y_valid, found.raw_prediction)
    said = None
    for candidate in belonging(task.columns, task.target.name)[:MOST_TRIED]:
        values = task.columns[candidate.name].numbers[task.held_out]
        known = ~np.isnan(values)
        together = Together(candidate, agreement_within(errors[known], values[known]))
        if together.is_worth_saying and (said is None or together.is_strong):
            said = together
    return replace(found, together=said)


def with_time(found: Findings) -> Findings:
    """Add whether neighbours' errors agree in the order of time, or of the file."""
    task = found.task
    errors = errors_of(found.model.loss, task.y_valid, found.raw_prediction)
    named = columns_of_time(task.columns, task.target.name)
    if named:
        of_named = []
        for name in named:
            times = task.columns[name].numbers[task.held_out]
            known = ~np.isnan(times)
            of_named.append(agreement_along(errors[known], times[known]))
        clearest = min(of_named, key=lambda agreement: agreement.p_value)
        return replace(found, in_time=InTime(tuple(named), clearest))
    along = agreement_along(errors, task.held_out)
    is_told = along.is_clear and along.share >= LEAST_ALONG and found.together is None
    if is_told and not _is_sorted(task):
        return replace(found, in_time=InTime((), along))
    return found


def _groups(task: Task) -> np.ndarray:
    """Return the groups of the held-out rows of a task that has them."""
    assert task.groups is not None
    return task.groups


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


def without_rows(found: Findings) -> Findings:
    """Return findings without their rows, which a comparison does not need."""
    nothing = np.empty((0, found.task.X_valid.shape[1]))
    task = replace(found.task, X_train=nothing, X_valid=nothing)
    return replace(found, task=task, raw_prediction=np.empty(0))
