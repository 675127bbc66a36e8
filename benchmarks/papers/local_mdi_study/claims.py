"""What the paper says, as statements that a program finds true or false, with margins.

"As published" compares what the paper calls LMDI+, its elastic net by ranks, with others by sums:
in simulations by the authors' rule for ranks, on tables by ours. "Put together alike" gives ours to
all of them, "all by the authors' rule" theirs. A margin is above 0 where the statement holds. In
simulations its standard error is over repetitions, each the mean over all settings; on tables it is
over tables, since it is other tables that a reader has.
"""

from itertools import pairwise
from operator import itemgetter

import numpy as np

from benchmarks.papers.local_mdi_study.cost import slopes
from benchmarks.papers.local_mdi_study.methods import LABELS, LADDER, WHERE_USED
from benchmarks.papers.local_mdi_study.models import KINDS
from benchmarks.papers.local_mdi_study.selection import KEPT
from benchmarks.papers.local_mdi_study.subgroups import measures_of
from benchmarks.study.claims import Claim
from benchmarks.study.tables import chosen, values_of, values_there

OURS = ("elastic_net", "rank")
THEIRS = ("elastic_net", WHERE_USED)  # as the authors put it together
OTHERS = ("tree_shap", "lime", "saabas")
ALIKE = "put together alike"
PUBLISHED = "as published"
BY_THEIR_RULE = "all by the authors' rule"
WAYS = (PUBLISHED, ALIKE, BY_THEIR_RULE)


def check(tables: dict[str, list[dict]]) -> list[Claim]:
    """Check every claim that the parts there can decide."""
    checks = {
        "ranking": ranking,
        "correlation": correlation,
        "selection": selection,
        "counterfactuals": counterfactuals,
        "subgroups": subgroups,
        "cost": cost,
    }
    return [claim for name, of in checks.items() if name in tables for claim in of(tables[name])]


def by_unit(rows, unit: str, value, method: str, aggregate: str) -> np.ndarray:
    """Return the mean value of every unit: of every repetition, or of every table."""
    of_method = chosen(rows, method=method, aggregate=aggregate)
    return np.array(
        [
            np.mean([value(row) for row in of_method if row[unit] == name])
            for name in values_of(rows, unit)
        ]
    )


def comparison(statement, case, rows, unit, value, ours, theirs) -> Claim | None:
    """Compare two methods in the same units; a larger value is better. None if one is missing."""
    if not (chosen(rows, method=ours[0], aggregate=ours[1])
            and chosen(rows, method=theirs[0], aggregate=theirs[1])):  # fmt: skip
        return None
    first, second = (by_unit(rows, unit, value, *pair) for pair in (ours, theirs))
    margin = first - second
    error = None
    if len(margin) > 1:
        error = float(margin.std(ddof=1) / np.sqrt(len(margin)))
    detail = f"{abs(first.mean()):.4g}, {abs(second.mean()):.4g}"
    return Claim(statement, case, float(margin.mean()), error, detail)


def against_all(words, rows, unit, value, alike=OURS, published=None) -> list[Claim]:
    """Compare with every other method, as published and put together alike."""
    pairs = {PUBLISHED: (published or alike, "sum"), ALIKE: (alike, alike[1])}
    if published:
        pairs[BY_THEIR_RULE] = published, published[1]
    if alike[1] == "sum":
        del pairs[ALIKE]
    found = []
    for kind in values_there(rows, "model", KINDS):
        of_kind = chosen(rows, model=kind)
        for how, (ours, aggregate) in pairs.items():
            for other in OTHERS:
                found.append(
                    comparison(
                        f"{words} than {LABELS[other]}, {how}", KINDS[kind], of_kind, unit,
                        value, ours, (other, aggregate),
                    )
                )  # fmt: skip
    return [claim for claim in found if claim is not None]


def against_own_mean(words, rows, value, aggregate: str) -> list[Claim]:
    """Compare the scores of rows with their own mean, which is the same for all rows."""
    found = [
        comparison(
            f"scores of rows {words} than their mean for all: {LABELS[method]}", KINDS[kind],
            chosen(rows, model=kind), "data", value, (method, aggregate), (method, "global"),
        )
        for method in ("elastic_net", *OTHERS, "held_out")
        for kind in values_there(rows, "model", KINDS)
    ]  # fmt: skip
    return [claim for claim in found if claim is not None]


def ranking(rows) -> list[Claim]:
    """Compare AUCs for the features that matter; and local scores with global ones."""
    words = "LMDI+ ranks the features that matter better"
    claims = against_all(words, rows, "replication", lambda row: row["auc"], OURS, THEIRS)
    for kind in values_there(rows, "model", KINDS):
        for function in values_there(rows, "function", ("interactions", "switch")):
            some = chosen(rows, model=kind, function=function)
            claims.append(
                comparison(
                    "LMDI+ ranks better than its own mean over all rows",
                    f"{KINDS[kind]}, {function}", some, "replication",
                    lambda row: row["auc"], OURS, ("elastic_net", "global"),
                )
            )  # fmt: skip
    return claims


def correlation(rows) -> list[Claim]:
    """Compare both numbers of the groups: of LMDI+ alone, and beside TreeSHAP, from 0.9 on."""
    claims = []
    strong = [row for row in rows if row["correlation"] >= 0.9]
    for kind in values_there(strong, "model", KINDS):
        of_kind = chosen(strong, model=kind)
        for number, words in (("rank", "by mean ranks"), ("code", "by the public code's number")):
            for other in ("correlated", "other"):
                own = {
                    group: by_unit(of_kind, "replication", itemgetter(f"{number} {group}"), *THEIRS)
                    for group in ("signal", other)
                }
                claims.append(
                    one_sample(
                        f"LMDI+ puts features that matter before {other} ones, {words}",
                        f"{KINDS[kind]}, correlation .9 and more", own[other] - own["signal"],
                        f"{own['signal'].mean():.1f}, {own[other].mean():.1f}",
                    )
                )  # fmt: skip
            for how, ours, aggregate in (
                (PUBLISHED, THEIRS, "sum"),
                (ALIKE, OURS, "rank"),
                (BY_THEIR_RULE, THEIRS, WHERE_USED),
            ):
                claims.append(
                    comparison(
                        f"LMDI+ ranks correlated features that matter better than TreeSHAP, "
                        f"{words}, {how}",
                        f"{KINDS[kind]}, correlation .9 and more", of_kind, "replication",
                        lambda row, n=number: -row[f"{n} signal"], ours, ("tree_shap", aggregate),
                    )
                )  # fmt: skip
    return claims


def one_sample(statement, case, margins, detail) -> Claim:
    """Return a claim that some numbers are above 0 in the mean."""
    error = float(margins.std(ddof=1) / np.sqrt(len(margins))) if len(margins) > 1 else None
    return Claim(statement, case, float(margins.mean()), error, detail)


def selection(rows) -> list[Claim]:
    """Compare scores after removal, on tables; the steps of the ablation; local and global."""

    def value(row):
        return np.mean([row[f"kept {share:g}"] for share in KEPT])

    claims = against_all("LMDI+ keeps what predicts better", rows, "data", value)
    for kind in values_there(rows, "model", KINDS):
        of_kind = chosen(rows, model=kind)
        steps = [(name if kind != "forest" or name != "ols" else "saabas", "sum")
                 for name in LADDER] + [OURS]  # fmt: skip
        names = [words for words, *_ in LADDER.values()] + ["ranks"]
        for (before, after), words in zip(pairwise(steps), names[1:], strict=True):
            claims.append(
                comparison(
                    f"the ablation's step to {words} helps", KINDS[kind], of_kind, "data", value,
                    after, before,
                )
            )  # fmt: skip
    claims += against_own_mean("keep what predicts better", rows, value, "rank")
    return [claim for claim in claims if claim is not None]


def counterfactuals(rows) -> list[Claim]:
    """Compare distances, as shares of the least possible one; signed scores for all."""
    ours = ("elastic_net", "sum")
    least = {
        (row["data"], row["model"], row["replication"]): row["distance"]
        for row in chosen(rows, method="columns")
    }

    def value(row):
        return -row["distance"] / least[row["data"], row["model"], row["replication"]]

    claims = against_all("LMDI+ finds nearer counterfactuals", rows, "data", value, ours)
    claims += against_own_mean("find nearer counterfactuals", rows, value, "sum")
    for kind in values_there(rows, "model", KINDS):
        for other, words in (("columns", "the nearest row"), ("prediction", "the prediction")):
            claims.append(
                comparison(
                    f"LMDI+ finds nearer counterfactuals than {words} does", KINDS[kind],
                    chosen(rows, model=kind), "data", value, ours, (other, ""),
                )
            )  # fmt: skip
    return claims


def subgroups(rows) -> list[Claim]:
    """Compare errors within groups, as shares of that of one linear model; signed scores."""
    ours, measures = ("elastic_net", "sum"), measures_of(rows)

    def value(row):
        return -np.mean([row[name] for name in measures])

    claims = against_all("LMDI+'s groups have smaller errors", rows, "data", value, ours)
    claims += against_own_mean("make groups of smaller errors", rows, value, "sum")
    for kind in values_there(rows, "model", KINDS):
        of_kind = chosen(rows, model=kind)
        for other, words in (
            ("columns", "groups of the columns"),
            ("prediction", "groups of the prediction alone"),
            ("chance", "groups by chance"),
        ):
            claims.append(
                comparison(
                    f"LMDI+'s groups have smaller errors than {words}", KINDS[kind], of_kind,
                    "data", value, ours, (other, ""),
                )
            )  # fmt: skip
        own = 1 + by_unit(of_kind, "data", value, *ours)
        words = "LMDI+'s groups have smaller errors than one linear model"
        claims.append(one_sample(words, KINDS[kind], own, f"{1 - own.mean():.3f}, 1"))
    return claims


def cost(rows) -> list[Claim]:
    """Find the power of the number of splits with which time grows as trees get deeper."""
    return [
        Claim(
            f"{'local MDI+' if name == 'elastic net' else 'imodels'} takes no more than in"
            " proportion to splits, whatever the depth",
            f"{n:,} rows",
            1.0 - power,
            detail=f"splits to the power {power:.2f}",
        )
        for (name, n), power in slopes(rows).items()
        if name in ("elastic net", "imodels")
    ]
