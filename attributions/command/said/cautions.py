"""What a reader of the findings should mistrust, in words; every limit has its reason beside it."""

from collections.abc import Iterator, Sequence

import numpy as np

from attributions.command.judging.findings import MODEL, Findings
from attributions.command.judging.other_models import given_away_by, helpful, how_many_are_enough
from attributions.command.judging.verdicts import UNCLEAR
from attributions.command.rules.columns import reason_to_leave_out
from attributions.command.said.in_short import right_of_100
from attributions.command.wording import N_NAMED, option, shown_names
from attributions.names import elided, first_of
from gbt.tables.names import counted

# With fewer held-out rows 95 % intervals of long-tailed features covered 92 % (docs/inference.md).
FEW_ROWS = 300
FEW_GROUPS = 30
FEW_OF_A_CLASS = 30
FEW_EVENTS = 50
MANY_WORDS = 10  # a column has many words if each stands in fewer rows than this on average
MANY_WITHOUT_TIME = 0.2  # of the rows with a target
MANY_UNSEEN = 0.1  # of the known cells of a column of a given model
NEARLY_PERFECT = 97.0  # per cent of the constant model's loss that the model saves
N_CARRYING = 10  # rows of the largest contributions
N_SHARES = 3  # features of which it is said how much these rows bring
TURNED_ROUND = 0.4  # the AUC of a model's file below which its labels may be taken for each other
SIMPLER = {"linear": "a linear model", "one tree": "a single tree"}


def cautions(found: Findings) -> list[str]:
    """Return the warnings that stand on the page and in the terminal."""
    return [
        *_about_marks(found),
        *_about_time(found),
        *_about_belonging(found),
        *_about_rows(found),
        *_about_censoring(found),
        *_about_the_model(found),
        *_about_leaks(found),
        *_about_columns(found),
        *_about_twins(found),
        *_about_intervals(found),
    ]


def _about_marks(found: Findings) -> Iterator[str]:
    task = found.task
    if unclear := [column for column in (task.target, *task.features) if column.unclear]:
        shown = [f"{elided(c.name)} (such as {elided(c.unclear)!r})" for c in unclear]
        yield (
            "Points or commas were read as decimal marks, since nothing in the file tells whether"
            f" they stand between thousands: {first_of(shown, N_NAMED)}. If they do, take them out"
            " of the file, or everything said of these columns is wrong."
        )


def _about_time(found: Findings) -> Iterator[str]:
    columns, agreement = found.times, found.along
    if agreement is None or found.task.question.time:
        return
    if not columns:
        yield (
            "Rows beside each other in the file have similar errors (correlation"
            f" {agreement.share:.2f}), as rows of one person, one place or one stretch of time do."
            " No column says which. If there is one, add it to the table and name it: --groups"
            " NAME, or --time NAME. Until then every verdict is too optimistic."
        )
        return
    agree = (
        f", and rows that follow each other have similar errors (correlation {agreement.share:.2f})"
    ) * agreement.is_clear
    remedy = f"{option('--time', columns[0])} fits on the earlier rows and judges on the later."
    if found.model_file:
        remedy = "Judge it on rows that are later than those of its training."
    yield (
        f"Rows have a time ({shown_names(columns)}){agree}. If the model is to predict what comes"
        f" later, rows drawn at random are too easy. {remedy}"
    )


def _about_belonging(found: Findings) -> Iterator[str]:
    together = found.together
    if together is None:
        return
    name, reasons = elided(together.name), together.reasons
    if not together.is_heeded:
        what = "Errors are counted as those of independent rows, and verdicts may be too good."
        if not found.model_file:
            what = (
                "Here such rows stand in both halves, so that the model knows these values. If it"
                " is to predict rows of other values, the verdicts are too good."
            )
        yield (
            f"Rows with the same {name!r} may belong together ({reasons}). {what}"
            f" {option('--groups', together.name)} judges on values that the model has not"
            " seen."
        )
        return
    halves = "all rows of a value were kept in one half, and count as one draw."
    if found.task.question.time:
        halves = "all rows of a value count as one draw; they may stand in both halves of the time."
    if found.beside is not None:
        halves += (
            " Of values that are not in the table, expect what is said of values that the model has"
            " not seen; what is said of random halves holds for more rows of those that are."
        )
    halves += " --no-groups judges with random halves alone." * (not together.is_asked)
    yield f"Rows with the same {name!r} belong together ({reasons}). So {halves}"
    n_groups = found.useful.n_draws
    if n_groups < FEW_GROUPS:
        yield (
            f"Only {n_groups} values of {name!r} are held out, each of which counts as one draw:"
            f" with fewer than {FEW_GROUPS} little can be told, and intervals are too narrow."
        )


def _about_rows(found: Findings) -> Iterator[str]:
    task, y = found.task, found.task.y_valid
    if found.on_training_rows:
        yield (
            "These are the rows that the model was trained on: they fill the leaves of its trees"
            " exactly, as other rows hardly ever do. Noise looks useful here, and p-values,"
            " intervals and verdicts mean nothing. Give rows that the model has not seen."
        )
    elif found.model_file:
        yield (
            "The model came from a file, which does not say on which rows it was trained. If some"
            " of these rows were among them, its importances are too good."
        )
    if found.n_seen:
        yield (
            f"{found.n_seen:,} of the {len(y):,} held-out rows also stand among the rows of"
            " training, more than chance explains. The table may hold the same rows several times;"
            " importances are then too good. Remove duplicates."
        )
    n_without, n_rows = task.n_without_time, len(task.y_train) + len(y)
    if n_without > MANY_WITHOUT_TIME * (n_without + n_rows):
        yield (
            f"{n_without:,} of {n_without + n_rows:,} rows with a target have no"
            f" {elided(str(task.question.time))!r} and were left out. If they are rows of another"
            " kind, what is said here is not true of them."
        )
    if len(y) < FEW_ROWS:
        yield (
            f"Only {len(y):,} rows are held out. With fewer than {FEW_ROWS} few features can be"
            " told from chance, and intervals may be too narrow."
        )
    if task.is_classification:
        counts = np.bincount(y.astype(np.intp), minlength=max(len(task.classes), 2))
        few = counts[counts < FEW_OF_A_CLASS]
        if len(few) and not task.classes:  # of two
            rows = counted(few.min(), "held-out row")
            yield f"The rarer class has only {rows}, on which everything rests."
        elif len(few):
            yield (
                f"{len(few)} of {len(task.classes)} classes have fewer than {FEW_OF_A_CLASS}"
                f" held-out rows, the rarest {few.min()}; how well these are told apart is hardly"
                " known."
            )


def _about_censoring(found: Findings) -> Iterator[str]:
    if not found.task.question.event:
        return
    is_censored = np.isin(found.task.y_valid[:, 1], (0, np.inf))
    n_rows, n_events = len(is_censored), int(np.sum(~is_censored))
    if n_events < FEW_EVENTS:
        yield (
            f"Only {counted(n_events, 'event')} happened in the {n_rows:,} held-out rows, and"
            " everything rests on that: more rows without events would hardly help."
        )
    if n_events < n_rows:
        yield (
            f"{n_rows - n_events:,} of the {n_rows:,} held-out rows are censored. They are taken to"
            " be like rows that were observed for longer. If rows leave because their event is"
            " near, or will never come, all results are wrong, and no table can show it: ask"
            " whoever collected the rows why observation ended."
        )


def _about_the_model(found: Findings) -> Iterator[str]:
    saved = found.saved
    if saved <= 0:
        yield (
            "On held-out rows the model is no better than predicting the same for every row, so"
            " nothing is said of features that help."
        )
        if found.model_file and found.scores[MODEL].get("AUC", 1.0) < TURNED_ROUND:
            yield (
                "Rows of the class that the model is judged by get lower predictions than the"
                " others. If it predicts the other class, name that: --positive LABEL."
            )
    elif found.task.is_classification and np.less(*right_of_100(found)):
        yield (
            "Always naming the commonest class would be right more often than the model is. Its"
            " probabilities save loss all the same, and that is what features are judged by."
        )
    of_model = found.scores[MODEL]
    *_, error = of_model  # the measure of which less is better
    better = [
        name
        for who, name in SIMPLER.items()
        if who in found.scores and found.scores[who][error] < of_model[error]
    ]
    if better and saved > 0:
        yield (
            f"On held-out rows {' and '.join(better)} predict{'s' * (len(better) == 1)} better than"
            " the model that is explained here. What is said of features is true of this model; in"
            " a better one they may do more."
        )
    if found.doubt:
        yield f"Total gain is doubtful: {found.doubt}."


def _about_leaks(found: Findings) -> Iterator[str]:
    used, value, saved = helpful(found), found.useful.values, found.saved
    if not used:
        return
    leaks, n_enough = given_away_by(found), how_many_are_enough(found)
    most = leaks or [found.task.feature_names[k] for k in used[:3]]
    names, is_one = shown_names(most), len(most) == 1
    reason = (
        f"Ask whether {'it' if is_one else 'each'} is known at the time when the prediction is"
        " needed, or comes after it."
    )
    if found.task.question.event and leaks:
        yield (
            f"{names} alone put{'s' * is_one} the held-out rows nearly in the order of their"
            " events, as columns do that are made of the time: the length of observation, the"
            f" number of visits. {reason}"
        )
    elif saved >= NEARLY_PERFECT:
        yield (
            f"The model is nearly perfect: it saves {saved:.1f} % of the constant model's loss."
            " Often a column then gives the answer away; the most important"
            f" {'is' if is_one else 'are'} {names}. {reason}"
        )
    elif leaks and found.saved_by_best:
        who, whose = f"{names} alone predicts", "it"
        if n_enough == 2:
            who, whose = f"{names} together predict", "these two"
        elif not is_one:
            who, whose = f"Each of {names} alone predicts", "the first"
        yield (
            f"{who} nearly as well as all features do: a model of {whose} saves"
            f" {found.saved_by_best[n_enough - 1]:.0f} % of the constant model's loss, that of all"
            f" {saved:.0f} %. {reason}"
        )
    elif leaks:
        share = value[used[0]] / value[used].sum()
        yield (
            f"{names} alone brings {100 * share:.0f} % of what all features that help bring."
            f" {reason}"
        )


def _about_columns(found: Findings) -> Iterator[str]:
    unseen = found.task.unseen
    unknown = [] if unseen is None else [*np.flatnonzero(unseen > MANY_UNSEEN)]
    like_rows, wordy, lone, empty = [], [], [], []
    for k, column in enumerate(found.task.features):
        n_missing, n_rows = int(np.isnan(column.numbers).sum()), len(column.numbers)
        if found.task.path and found.is_used[k] and reason_to_leave_out(column):
            like_rows.append(k)
        elif column.words and found.is_used[k] and n_rows < MANY_WORDS * column.n_distinct:
            wordy.append(k)
        if column.n_distinct + (n_missing > 0) < 2:  # to a tree missing is one value more
            lone.append(k)
        elif 2 * n_missing > n_rows:
            empty.append(k)
    sentences = [
        (
            unknown,
            f"Columns in which more than {100 * MANY_UNSEEN:.0f} % of the cells hold values that"
            " the model has not learned: {}. To it they are all alike. Look whether the table"
            " writes them as the rows of training did.",
        ),
        (
            like_rows,
            "Features that look like identifiers or dates: {}. They can single out rows of"
            " training, and say nothing of new ones.",
        ),
        (
            wordy,
            f"Columns of words with fewer than {MANY_WORDS} rows a word on average: {{}}. What is"
            " learned of a rare word is mostly chance.",
        ),
        (lone, "Features with one value alone, which tell nothing: {}."),
        (empty, "Features that are missing in more than half of the rows: {}."),
    ]
    yield from (text.format(found.names(features)) for features, text in sentences if features)


def _about_twins(found: Findings) -> Iterator[str]:
    if unused := [k for k in found.twins if not found.is_used[k]]:
        yield (
            "Not used, and yet not without use, since they say what another feature says, or less:"
            f" {_pairs(found, unused)}. A model needs one of them."
        )
    if used := [k for k in found.twins if found.is_used[k]]:
        yield (
            f"Used beside a feature that tells the same rows apart: {_pairs(found, used)}. Which of"
            " the two a tree takes is chance: add up what both bring, or leave one out."
        )


def _pairs(found: Findings, features: Sequence[int]) -> str:
    pairs = [f"{found.names([k])} (as {found.names([found.twins[k]])})" for k in features]
    return first_of(pairs, N_NAMED)


def _about_intervals(found: Findings) -> Iterator[str]:
    unclear = [k for k in found.with_verdict(UNCLEAR) if found.doubtful[k]]
    if not unclear or found.on_training_rows:
        return
    shown = unclear[:N_SHARES]
    carried, largest = found.carried(shown, N_CARRYING), ""
    if carried is not None:
        gains = zip(shown, carried, found.useful.values[shown], strict=True)
        parts = [f"{part:.2g} of the {gain:.2g} % of {found.names([k])}" for k, part, gain in gains]
        largest = (
            f" Of {len(found.task.y_valid):,} rows the {N_CARRYING} that count most bring"
            f" {', '.join(parts)}."
        )
    yield (
        "What a few rows may carry, so that it cannot be told whether it helps:"
        f" {found.names(unclear)}.{largest} More held-out rows are the remedy."
    )
