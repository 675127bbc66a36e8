"""Ranks of trainers and of importances over real tables, after Zhang, Zhang and Li (2023).

python -m benchmarks.papers.rankings --write
"""

import sys

import numpy as np

from benchmarks.papers.rankings import selection, trainers
from benchmarks.papers.rankings.ranks import critical_difference, draw, mean_ranks
from benchmarks.papers.rankings.splits import split_table
from benchmarks.study import Part, crossed
from benchmarks.study.command import Study, main
from benchmarks.study.files import DOCS
from benchmarks.study.tables import chosen, column, markdown, values_of

TABLES = (
    "adult", "income_30162", "customer_classification", "churn_modelling", "hr_analysis_jobchange",
    "jm1", "pc4", "magic_telescope", "fri_c3_1000_10", "fri_c0_1000_50", "credit_g", "space_ga",
    "sleepdata", "av_loan_prediction", "ibm_hr_attrition", "drug_consumption", "lusitania",
    "marketing_campaign", "telecom_churn_2666", "estonia", "well_log_facies",
    "diabetic_retinopathy", "clave_firm_teacher", "yeast",
)  # fmt: skip
WIDE = (
    "fri_c0_1000_50", "pc4", "ibm_hr_attrition", "drug_consumption", "breast_cancer_wdbc",
    "marketing_campaign",
)  # fmt: skip


def compete(cell, rng, size):
    """Let every trainer search on the same rows, and test what it found."""
    train, valid, test = split_table(cell["data"], rng, size)
    seed = int(rng.integers(2**31))
    for trainer in trainers.TRAINERS:
        configurations = np.random.default_rng(seed)  # the same for all
        model, of_valid = trainers.searched(trainer, configurations, size, train, valid)
        of_test = trainers.auc(trainer, model, *test)
        yield {"method": trainer, "valid_auc": of_valid, "auc": of_test}


def score_table(rows, kept=None) -> tuple[list[str], list[str], np.ndarray]:
    """Return tables, methods, and mean test AUC of each."""
    if kept is not None:
        rows = chosen(rows, kept=kept)
    names, methods = values_of(rows, "data"), values_of(rows, "method")
    scores = [
        [column(chosen(rows, data=name, method=method), "auc").mean() for method in methods]
        for name in names
    ]
    return names, methods, np.array(scores)


def of_all(scores) -> dict[str, list[str]]:
    """Return mean scores and mean ranks as tables show them."""
    means, ranks = scores.mean(axis=0), mean_ranks(scores)
    return {"mean": [f"{mean:.4f}" for mean in means], "rank": [f"{rank:.2f}" for rank in ranks]}


def datasets_table(rows) -> str:
    """List a line a table, and the mean ranks."""
    names, methods, scores = score_table(rows)
    lines = [
        [name, *(f"{score:.4f}" for score in line)]
        for name, line in zip(names, scores, strict=True)
    ]
    found = of_all(scores)
    lines += [["**mean**", *found["mean"]], ["**mean rank**", *found["rank"]]]
    return markdown(["test AUC", *methods], lines)


def selection_table(rows) -> str:
    """List mean AUC and mean rank by share of features kept."""
    lines = []
    for kept in selection.SHARES:
        _, methods, scores = score_table(rows, kept)
        found = of_all(scores)
        lines.append([f"{kept:.0%}, AUC", *found["mean"]])
        lines.append([f"{kept:.0%}, mean rank", *found["rank"]])
    return markdown(["features kept", *methods], lines)


def draw_all(tables) -> None:
    """Draw mean ranks of trainers and, all shares together, of importances."""
    by_share = [score_table(tables["selection"], kept) for kept in selection.SHARES]
    of_shares = *by_share[0][:2], np.mean([scores for _, _, scores in by_share], axis=0)
    panels = {}
    for (names, methods, scores), title in (
        (score_table(tables["datasets"]), "Test AUC, mean rank over {} tables"),
        (of_shares, "Selection, mean rank over {} tables of the mean AUC of three shares"),
    ):
        difference = critical_difference(len(methods), len(names))
        panels[title.format(len(names))] = methods, mean_ranks(scores), difference
    draw(panels, DOCS / "rankings.svg")


PARTS = (
    Part("datasets", crossed(data=TABLES), compete, 3, datasets_table, TABLES),
    Part("selection", crossed(data=WIDE), selection.experiment, 10, selection_table, WIDE),
)
STUDY = Study("rankings", __doc__, PARTS, draw=draw_all)

if __name__ == "__main__":
    sys.exit(main(STUDY))
