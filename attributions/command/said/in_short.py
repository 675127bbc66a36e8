"""The result in a few sentences: how good the model is, one verdict a feature, what changed."""

from collections.abc import Iterator

import numpy as np

from attributions.command.judging.findings import CONSTANT, MODEL, Findings
from attributions.command.judging.over import Over
from attributions.command.judging.verdicts import HELPS, HURTS, UNCLEAR, UNUSED, rows_needed
from attributions.command.wording import shown_names
from attributions.names import elided
from attributions.results import GlobalAttribution

N_NEAREST = 3  # features of which it is said how many rows would tell
MANY_ROWS = 100  # times as many: nobody can have so many more
OF_UNIT = {"loss": " of loss a row", "percent": " % of the constant model's loss"}


def in_short(found: Findings) -> Iterator[str]:
    """Yield what was found, the most important first."""
    task, n_features = found.task, len(found.useful)
    yield how_good(found)
    for verdict in (HELPS, HURTS, UNCLEAR, UNUSED):
        told = found.with_verdict(verdict)
        if verdict == HELPS and found.saved <= 0:
            yield "helps: no feature, since the model is no better than a constant"
            continue
        if verdict == UNUSED and not told:
            continue
        n_carried = sum(bool(found.doubtful[k]) for k in told) if verdict == UNCLEAR else 0
        why = f" ({n_carried} because a few rows may carry it)" * (n_carried > 0)
        names = ": " * bool(told) + found.names(told)
        what_would_tell = _rows_that_would_tell(found) if verdict == UNCLEAR else ""
        yield f"{verdict}, {len(told)} of {n_features}{why}{names}{what_would_tell}"
    if task.noise is not None:
        by_gain, held_out = ranks(found.gain)[task.noise], found.order.index(task.noise) + 1
        yield (
            f"The random numbers have place {by_gain} of {n_features} by total gain, place"
            f" {held_out} by held-out gain."
        )
    if (other := found.beside) is not None:
        asked = task.question
        which = f"values of {elided(str(asked.groups))} that it has not seen"
        which = f"later rows by {elided(asked.time)}" if asked.time else which
        yield f"With random halves {_in_a_clause(other)}. On {which} {_in_a_clause(found)}."


def _in_a_clause(found: Findings) -> str:
    told, better = found.with_verdict(HELPS), "no better"
    if found.saved > 0:
        better = f"{found.saved:.1f} % better"
    helps = "helps" if len(told) == 1 else "help"
    helps = f"{len(told)} of {len(found.useful)} features {helps} ({found.names(told)})"
    helps = helps if told else "no feature can be told to help"
    return f"the model is {better} than a constant, and {helps}"


def how_good(found: Findings) -> str:
    """Say how good the model is by a number that needs no explanation."""
    if found.saved <= 0:
        return (
            f"As a whole the model is no better than the constant: its {found.loss_name} is"
            f" {abs(found.saved):.1f} % higher."
        )
    of_model = found.scores[MODEL]
    if found.task.question.event:
        return (
            "Of 100 pairs of rows of which it is known whose event came first, the model expects"
            f" the right one first in {100 * of_model['concordance']:.0f}; guessing is right in 50."
        )
    if found.task.has_pairs:
        return (
            f"The model's order of the rows of a group is worth {100 * of_model['NDCG']:.0f} % of"
            " the best there is, where early places count most (NDCG); a random order is worth"
            f" {100 * found.scores[CONSTANT]['NDCG']:.0f} %."
        )
    n_rows = len(found.task.y_valid)
    rows = f"{n_rows:,} rows" + " that it has not seen" * (not found.model_file)
    if found.loss_name == "log-loss":
        right, commonest = map(_of_100, right_of_100(found))
        said = (
            f"The model is right in {right} of 100 cases, on {rows}; always naming the commonest"
            f" class would be right in {commonest}."
        )
        if (auc := of_model.get("AUC")) is not None:
            said += (
                " Of two rows of different classes it tells which is which in"
                f" {_of_100(100 * auc)} of 100 pairs; guessing is right in 50."
            )
        return said
    if (explained := of_model.get("R^2")) is not None:
        spread = f"the spread of {elided(found.task.target.name)}"
        return f"The model explains {_of_100(max(100 * explained, 0.0))} % of {spread} in {rows}."
    return (
        f"In {rows} the model's {found.loss_name} is {found.saved:.1f} % below that of predicting"
        " the same for every row."
    )


def of_constant(found: Findings) -> str:
    """Say what the constant model predicts."""
    task = found.task
    if not found.model.loss.is_by_row:
        what = "risk" if task.question.event else "score"
        return f"The constant model gives every row the same {what}, so that chance orders them."
    average = "shares of the classes" if task.classes else "share of the class"
    if not task.is_classification:
        average = "mean" if found.loss_name == "squared error" else "best constant"
    whose = "training rows'" if len(task.y_train) else "held-out rows'"  # a model from a file
    return f"The constant model predicts the {whose} {average} for every row."


def right_of_100(found: Findings) -> tuple[float, float]:
    """Return in how many of 100 cases the model names the class, and always the commonest one."""
    y, raw = found.task.y_valid.astype(np.intp), found.raw_prediction
    is_right = (raw > 0) == y if raw.ndim == 1 else raw.argmax(axis=1) == y
    return 100 * is_right.mean(), 100 * np.bincount(y).max() / len(y)


def _of_100(number: float) -> str:
    """Return a share without decimals, but for one near the ends."""
    return f"{number:.0f}" if 10 <= number <= 99 else f"{number:.1f}"


def _rows_that_would_tell(found: Findings) -> str:
    """Say how many rows would give the features nearest to a verdict one, if it is known."""
    useful, told = found.useful, found.with_verdict(UNCLEAR)
    errors = np.asarray(useful.standard_error)
    needed = {
        k: rows_needed(useful.values[k], found.said.intervals[k], errors[k], useful.n_samples)
        for k in told
        if not (found.doubtful[k] or np.isnan(found.said.intervals[k]).any())
    }
    names = [
        f"{elided(found.task.feature_names[k])} {float(f'{needed[k]:.2g}'):,.0f}"
        for k in sorted(needed, key=needed.__getitem__)[:N_NEAREST]
        if needed[k] < MANY_ROWS * useful.n_samples
    ]
    if not names:
        return ""
    others = "; the others take more" * (len(told) > len(names))
    half = ", about half of the table" * (not found.model_file)
    return (
        ". If what was measured is true, this many held-out rows would tell (there are"
        f" {useful.n_samples:,}{half}): {', '.join(names)}{others}."
    )


def changes(found: Findings) -> Iterator[str]:
    """Yield what changed beyond chance, column by column."""
    for over in found.over:
        yield from changes_of(found, over)


def changes_of(found: Findings, over: Over) -> Iterator[str]:
    """Yield what changed over time or by one column, of the most important feature first."""
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
        what_judges = "events" if found.task.question.event else "rows"
        yield f"{by}: too few {what_judges} to judge: {shown_names(few)}."


def ranks(result: GlobalAttribution) -> np.ndarray:
    """Return the place of every feature, from 1."""
    return 1 + np.argsort(result.ranking())
