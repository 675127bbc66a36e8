"""What the paper says, as statements that a program finds true or false, with margins.

"As published" compares what the paper calls LMDI+, its elastic net by ranks, with others by sums:
in simulations by the authors' rule for ranks, on tables by ours. "Put together alike" gives ours to
all of them, "all by the authors' rule" theirs. A margin is above 0 where the statement holds. In
simulations its standard error is over repetitions, each the mean over all settings; on tables it is
over tables, since it is other tables that a reader has.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from benchmarks.papers.local_mdi_study.cost import slopes
from benchmarks.papers.local_mdi_study.counterfactuals import excess_of
from benchmarks.papers.local_mdi_study.methods import LABELS, LADDER, WHERE_USED
from benchmarks.papers.local_mdi_study.models import KINDS
from benchmarks.papers.local_mdi_study.selection import as_named, mean_over_shares
from benchmarks.papers.local_mdi_study.subgroups import mean_over_counts
from benchmarks.study.claims import Claim
from benchmarks.study.tables import chosen, mean_and_error, means_by, values_there

OURS = ("elastic_net", "rank")
THEIRS = ("elastic_net", WHERE_USED)  # as the authors put it together
SIGNED = ("elastic_net", "sum")
OTHERS = ("tree_shap", "lime", "saabas")
ALIKE = "put together alike"
PUBLISHED = "as published"
BY_THEIR_RULE = "all by the authors' rule"
WAYS = (PUBLISHED, ALIKE, BY_THEIR_RULE)
Claims = Iterator[Claim]


def check(tables: dict[str, list[dict]]) -> list[Claim]:
    """Check every claim that the parts there can decide."""
    checks = (ranking, correlation, selection, counterfactuals, subgroups, cost)
    there = [of for of in checks if of.__name__ in tables]
    return [claim for of in there for claim in of(tables[of.__name__])]


def by_unit(rows, unit: str, value, pair: tuple[str, str]) -> np.ndarray:
    """Return the mean value of every unit: of every repetition, or of every table."""
    return means_by(chosen(rows, method=pair[0], aggregate=pair[1]), unit, value)


def one_sample(statement, case, margins, first, second) -> Claim:
    """Return a claim that some numbers are above 0 in the mean."""
    mean, error = margins.mean(), None
    if len(margins) > 1:
        mean, error = map(float, mean_and_error(margins))
    return Claim(statement, case, float(mean), error, f"{first}, {second}")


def comparison(statement, case, rows, unit, value, ours, theirs) -> Claims:
    """Compare two methods in the same units; a larger value is better. None if one is missing."""
    first, second = (by_unit(rows, unit, value, pair) for pair in (ours, theirs))
    if len(first) and len(second):
        means = (f"{abs(mean.mean()):.4g}" for mean in (first, second))
        yield one_sample(statement, case, first - second, *means)


def by_kind(rows) -> Iterator[tuple[str, str, list[dict]]]:
    """Yield each kind of model that is there, what it is called, and its rows."""
    for kind in values_there(rows, "model", KINDS):
        yield kind, KINDS[kind], chosen(rows, model=kind)


def against_all(words, rows, unit, value, alike=OURS, published=None) -> Claims:
    """Compare with every other method, as published and put together alike."""
    pairs = {PUBLISHED: (published or alike, "sum"), ALIKE: (alike, alike[1])}
    if published:
        pairs[BY_THEIR_RULE] = published, published[1]
    if alike[1] == "sum":
        del pairs[ALIKE]
    for _, case, own in by_kind(rows):
        for how, (ours, aggregate) in pairs.items():
            for other in OTHERS:
                statement = f"{words} than {LABELS[other]}, {how}"
                yield from comparison(statement, case, own, unit, value, ours, (other, aggregate))


def against_own_mean(words, rows, value, aggregate: str) -> Claims:
    """Compare the scores of rows with their own mean, which is the same for all rows."""
    for method in ("elastic_net", *OTHERS, "held_out"):
        statement = f"scores of rows {words} than their mean for all: {LABELS[method]}"
        for _, case, own in by_kind(rows):
            pairs = (method, aggregate), (method, "global")
            yield from comparison(statement, case, own, "data", value, *pairs)


def ranking(rows) -> Claims:
    """Compare AUCs for the features that matter; and local scores with global ones."""

    def value(row):
        return row["auc"]

    words = "LMDI+ ranks the features that matter better"
    yield from against_all(words, rows, "replication", value, OURS, THEIRS)
    for _, case, of_kind in by_kind(rows):
        for function in values_there(rows, "function", ("interactions", "switch")):
            yield from comparison(
                "LMDI+ ranks better than its own mean over all rows", f"{case}, {function}",
                chosen(of_kind, function=function), "replication", value, OURS,
                ("elastic_net", "global"),
            )  # fmt: skip


def correlation(rows) -> Claims:
    """Compare both numbers of the groups: of LMDI+ alone, and beside TreeSHAP, from 0.9 on."""
    strong = [row for row in rows if row["correlation"] >= 0.9]
    for _, name, own in by_kind(strong):
        case = f"{name}, correlation .9 and more"
        for number, words in (("rank", "by mean ranks"), ("code", "by the public code's number")):

            def mean(group, number=number, own=own):
                return by_unit(own, "replication", lambda row: row[f"{number} {group}"], THEIRS)

            signal = mean("signal")
            for other in ("correlated", "other"):
                statement = f"LMDI+ puts features that matter before {other} ones, {words}"
                shown = (f"{of.mean():.1f}" for of in (signal, mean(other)))
                yield one_sample(statement, case, mean(other) - signal, *shown)
            for how, ours, aggregate in (
                (PUBLISHED, THEIRS, "sum"),
                (ALIKE, OURS, "rank"),
                (BY_THEIR_RULE, THEIRS, WHERE_USED),
            ):
                yield from comparison(
                    "LMDI+ ranks correlated features that matter better than TreeSHAP,"
                    f" {words}, {how}",
                    case, own, "replication", lambda row, n=number: -row[f"{n} signal"], ours,
                    ("tree_shap", aggregate),
                )  # fmt: skip


def selection(rows) -> Claims:
    """Compare scores after removal, on tables; the steps of the ablation; local and global."""
    value = mean_over_shares
    yield from against_all("LMDI+ keeps what predicts better", rows, "data", value)
    names = [*(words for words, *_ in LADDER.values()), "ranks"]
    for kind, case, own in by_kind(rows):
        steps = [*(as_named((name, "sum"), kind) for name in LADDER), OURS]
        for (before, after), words in zip(pairwise(steps), names[1:], strict=True):
            statement = f"the ablation's step to {words} helps"
            yield from comparison(statement, case, own, "data", value, after, before)
    yield from against_own_mean("keep what predicts better", rows, value, "rank")


def counterfactuals(rows) -> Claims:
    """Compare distances, as shares of the least possible one; signed scores for all."""
    excess = excess_of(rows)

    def value(row):
        return -excess(row)

    words = "LMDI+ finds nearer counterfactuals"
    yield from against_all(words, rows, "data", value, SIGNED)
    yield from against_own_mean("find nearer counterfactuals", rows, value, "sum")
    for _, case, own in by_kind(rows):
        for other, what in (("columns", "the nearest row"), ("prediction", "the prediction")):
            statement = f"{words} than {what} does"
            yield from comparison(statement, case, own, "data", value, SIGNED, (other, ""))


def subgroups(rows) -> Claims:
    """Compare errors within groups, as shares of that of one linear model; signed scores."""

    def value(row):
        return -mean_over_counts(row)

    words = "LMDI+'s groups have smaller errors"
    yield from against_all(words, rows, "data", value, SIGNED)
    yield from against_own_mean("make groups of smaller errors", rows, value, "sum")
    others = {
        "columns": "groups of the columns",
        "prediction": "groups of the prediction alone",
        "chance": "groups by chance",
    }
    for _, case, own in by_kind(rows):
        for other, what in others.items():
            statement = f"{words} than {what}"
            yield from comparison(statement, case, own, "data", value, SIGNED, (other, ""))
        margin = 1 + by_unit(own, "data", value, SIGNED)
        statement = f"{words} than one linear model"
        yield one_sample(statement, case, margin, f"{1 - margin.mean():.3f}", 1)


def cost(rows) -> Claims:
    """Find the power of the number of splits with which time grows as trees get deeper."""
    for (name, n), power in slopes(rows).items():
        if who := {"elastic net": "local MDI+", "imodels": "imodels"}.get(name):
            yield Claim(
                f"{who} takes no more than in proportion to splits, whatever the depth",
                f"{n:,} rows", 1.0 - power, detail=f"splits to the power {power:.2f}",
            )  # fmt: skip
