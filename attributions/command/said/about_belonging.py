"""Sentences about rows that are not independent: of one person, one place, one stretch of time."""

from collections.abc import Iterator

from attributions.command.judging.findings import Findings
from attributions.command.judging.verdicts import HELPS
from attributions.command.wording import option, shown_names
from attributions.names import elided

FEW_GROUPS = 30


def about_belonging(found: Findings) -> Iterator[str]:
    """Yield warnings of rows that belong together, or how they were grouped."""
    if found.in_time is not None and found.in_time.columns and not found.task.in_time:
        yield from _about_time(found)
    elif found.in_time is not None and not found.in_time.columns:
        yield (
            "Rows beside each other in the file have similar errors (correlation"
            f" {found.in_time.agreement.share:.2f}), as rows of one person, one place or one"
            " stretch of time do. No column says which. If there is one, add it to the table and"
            " name it: --groups NAME, or --time NAME. Until then every verdict is too optimistic."
        )
    together = found.together
    if together is None:
        return
    name, reasons = elided(together.column.name), together.column.reasons
    if together.agreement.is_clear:
        share = 100 * together.agreement.share
        reasons += f"; the model's errors agree within one ({share:.0f} % of their variance)"
    if not together.is_heeded:
        what = "Errors are counted as those of independent rows, and verdicts may be too good."
        if not found.model_file:
            what = (
                "Here such rows stand in both halves, so that the model knows these values. If it"
                " is to predict rows of other values, the verdicts are too good."
            )
        yield (
            f"Rows with the same {name!r} may belong together ({reasons}). {what}"
            f" {option('--groups', together.column.name)} judges on values that the model has not"
            " seen."
        )
        return
    beside = (
        " Of values that are not in the table, expect what is said of values that the model has not"
        " seen; what is said of random halves holds for more rows of those that are."
    )
    halves = "all rows of a value were kept in one half, and count as one draw."
    if found.task.in_time:
        halves = "all rows of a value count as one draw; they may stand in both halves of the time."
    yield (
        f"Rows with the same {name!r} belong together ({reasons}). So {halves}"
        + beside * (found.beside is not None)
        + " --no-groups judges with random halves alone." * together.is_found
    )
    n_groups = found.useful.n_draws
    if n_groups < FEW_GROUPS:
        yield (
            f"Only {n_groups} values of {name!r} are held out, each of which counts as one draw:"
            f" with fewer than {FEW_GROUPS} little can be told, and intervals are too narrow."
        )


def compared(found: Findings) -> str:
    """Return a comparison with random halves; empty if rows were split at random."""
    other = found.beside
    if other is None:
        return ""
    which = f"later rows by {elided(found.task.in_time)}"
    if found.task.grouped_by and not found.task.in_time:
        which = f"values of {elided(found.task.grouped_by)} that it has not seen"
    return (
        f"With random halves {_saves(other)}, and {_help(other)}. On {which} {_saves(found)}, and"
        f" {_help(found)}."
    )


def _saves(found: Findings) -> str:
    """Return a clause on how good the model is."""
    if found.saved <= 0:
        return "the model is no better than a constant"
    return f"the model is {found.saved:.1f} % better than a constant"


def _help(found: Findings) -> str:
    told = found.with_verdict(HELPS)
    count = f"{len(told)} of {len(found.useful)} features help"
    return f"{count} ({found.names(told)})" if told else "no feature can be told to help"


def _about_time(found: Findings) -> Iterator[str]:
    """Yield a warning that rows have times, and how to judge on the later ones."""
    in_time = found.in_time
    assert in_time is not None
    names = shown_names(in_time.columns)
    agree = (
        ", and rows that follow each other have similar errors (correlation"
        f" {in_time.agreement.share:.2f})"
    ) * in_time.agreement.is_clear
    asked = option("--time", in_time.columns[0])
    remedy = f"{asked} fits on the earlier rows and judges on the later."
    if found.model_file:
        remedy = "Judge it on rows that are later than those of its training."
    yield (
        f"Rows have a time ({names}){agree}. If the model is to predict what comes later, rows"
        f" drawn at random are too easy. {remedy}"
    )
