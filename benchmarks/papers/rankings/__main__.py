"""Ranks of trainers and of importances over real tables, after Zhang, Zhang and Li (2023).

python -m benchmarks.papers.rankings                     both parts: datasets, selection
python -m benchmarks.papers.rankings --write        and the CSV files, docs/rankings.md, its picture
python -m benchmarks.papers.rankings --from-results      the tables again, from the CSV files
python -m benchmarks.papers.rankings --quick             tries the machinery in seconds: no numbers

Finished replications are kept in a folder (--out), and a part that was interrupted goes on from
there. Tables come from the folder --data, or $GBT_DATA; without it there is nothing to do.
"""

import sys

import numpy as np

from benchmarks.papers.rankings import selection, trainers
from benchmarks.papers.rankings.ranks import critical_difference, draw, mean_ranks
from benchmarks.papers.rankings.splits import split_table
from benchmarks.study import command
from benchmarks.study.command import own_table
from benchmarks.study.files import DOCS
from benchmarks.study.part import Part
from benchmarks.study.tables import chosen, markdown, values_of

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
        yield {
            "method": trainer,
            "valid_auc": of_valid,
            "auc": trainers.auc(trainer, model, *test),
        }


def score_table(rows, kept=None) -> tuple[list[str], list[str], np.ndarray]:
    """Return tables, methods, and mean test AUC of each."""
    if kept is not None:
        rows = chosen(rows, kept=kept)
    names, methods = values_of(rows, "data"), values_of(rows, "method")
    scores = [
        [np.mean([row["auc"] for row in chosen(rows, data=name, method=m)]) for m in methods]
        for name in names
    ]
    return names, methods, np.array(scores)


def datasets_table(rows) -> str:
    """List a line a table, and the mean ranks."""
    names, methods, scores = score_table(rows)
    lines = [
        [name, *(f"{score:.4f}" for score in line)]
        for name, line in zip(names, scores, strict=True)
    ]
    lines.append(["**mean**", *(f"{score:.4f}" for score in scores.mean(axis=0))])
    lines.append(["**mean rank**", *(f"{rank:.2f}" for rank in mean_ranks(scores))])
    return markdown(["test AUC", *methods], lines)


def selection_table(rows) -> str:
    """List mean AUC and mean rank by share of features kept."""
    lines = []
    for kept in selection.SHARES:
        _, methods, scores = score_table(rows, kept)
        lines.append([f"{kept:.0%}, AUC", *(f"{score:.4f}" for score in scores.mean(axis=0))])
        lines.append([f"{kept:.0%}, mean rank", *(f"{rank:.2f}" for rank in mean_ranks(scores))])
    return markdown(["features kept", *methods], lines)


def draw_all(tables) -> None:
    """Draw mean ranks of trainers and, all shares together, of importances."""
    panels = {}
    if "datasets" in tables:
        names, methods, scores = score_table(tables["datasets"])
        difference = critical_difference(len(methods), len(names))
        title = f"Test AUC, mean rank over {len(names)} tables"
        panels[title] = methods, mean_ranks(scores), difference
    if "selection" in tables:
        by_share = [score_table(tables["selection"], kept) for kept in selection.SHARES]
        scores = np.mean([scores for _, _, scores in by_share], axis=0)
        names, methods, _ = by_share[0]
        difference = critical_difference(len(methods), len(names))
        title = f"Selection, mean rank over {len(names)} tables of the mean AUC of three shares"
        panels[title] = methods, mean_ranks(scores), difference
    draw(panels, DOCS / "rankings.svg")


PARTS = {
    "datasets": Part(
        "datasets", tuple({"data": name} for name in TABLES), compete, 3, datasets_table, TABLES
    ),
    "selection": Part(
        "selection", tuple({"data": name} for name in WIDE), selection.experiment, 10,
        selection_table, WIDE,
    ),
}  # fmt: skip
STUDY = command.Study("rankings", __doc__, PARTS, own_table, draw=draw_all)

if __name__ == "__main__":
    sys.exit(command.main(STUDY))
