"""Thirty real tables, into each of which three columns of noise are planted.

Of a real table hardly anything is known for certain. Planted columns say nothing of the target:
normal numbers, one of five words, and the values of a column of the table in another order. What
else is known is stated with each table: columns that its makers computed from the target or after
it, copies, and what an earlier study planted.
"""

import csv
import gzip
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.papers.report.truths import Truth
from benchmarks.study.data import folder

PLANTED = ("planted_numbers", "planted_words", "planted_order")
FRIEDMAN = tuple(f"oz{k}" for k in range(1, 6))  # the columns that Friedman's function takes


def rows_of(name: str, n: int, rng, in_order: bool = False) -> dict[str, np.ndarray]:
    """Return the columns of some rows of a table, drawn at random or the first ones."""
    with gzip.open(folder() / f"{name}.csv.gz", "rt", encoding="utf-8-sig", newline="") as file:
        names, *records = csv.reader(file)
    rows = np.arange(min(n, len(records)))
    if not in_order:
        rows = np.sort(rng.permutation(len(records))[:n])
    cells = np.array(records, dtype=object)[rows]
    return {column: cells[:, k] for k, column in enumerate(names)}


def planted(
    name: str, target: str, what: str, n: int, rng, drop=(), shuffled="", in_order=False, **known
) -> Truth:
    """Return a real table with three columns of noise among its own."""
    columns = rows_of(name, n, rng, in_order)
    n_rows = len(columns[target])
    others = [column for column in columns if column != target and column not in drop]
    words = np.array(["oak", "ash", "elm", "fir", "yew"])
    columns["planted_numbers"] = rng.normal(size=n_rows).round(4)
    columns["planted_words"] = words[rng.integers(5, size=n_rows)]
    columns["planted_order"] = rng.permutation(columns[shuffled or others[0]])
    order = [target, *rng.permutation([column for column in columns if column != target])]
    options = tuple(part for column in drop for part in ("--drop", column))
    columns = {column: columns[column] for column in order}
    return Truth(what, columns, target, options, noise=PLANTED, **known)


def _real(name: str, target: str, what: str, **known) -> Callable[..., Truth]:
    return partial(planted, name, target, what, **known)


CUT = "classes cut from a number that is there, too"
REAL: dict[str, Callable[..., Truth]] = {
    "boston": _real(
        "boston_housing", "medv", "prices of houses", matter=("lstat", "rm"), may_leak=True
    ),
    "boston crime": _real("boston_housing", "crim", "crimes a head", may_leak=True),
    "breast cancer": _real("breast_cancer_wdbc", "y", "tumours", may_leak=True),
    "bikes, riders": _real(
        "bike_kaggle_train", "count", "riders an hour, which two columns add up to",
        leaks=("registered", "casual"), shuffled="humidity",
    ),
    "bikes": _real(
        "bike_kaggle_train", "count", "riders an hour", drop=("casual", "registered"),
        shuffled="humidity",
    ),
    "houses": _real(
        "house_prices_kaggle", "SalePrice", "prices of houses", shuffled="LotArea",
        matter=("OverallQual", "GrLivArea"), may_leak=True, may_group=("Neighborhood",),
    ),
    "credit": _real("credit_g", "class", "loans that were paid back", matter=("checking_status",)),
    "customers": _real("customer_classification", "label", "classes of customers"),
    "bank": _real(
        "churn_modelling", "Exited", "customers who left", shuffled="Balance", matter=("Age",)
    ),
    "jobs": _real("hr_analysis_jobchange", "target", "who looks for a new job", shuffled="city"),
    "JM1": _real("jm1", "defects", "modules with defects", shuffled="LOC_BLANK"),
    "PC4": _real("pc4", "c", "modules with defects", shuffled="LOC_BLANK"),
    "telescope": _real(
        "magic_telescope", "target", "showers of gamma rays", matter=("FAlpha",), shuffled="FDist"
    ),
    "Friedman, leak": _real(
        "fri_c3_1000_10", "binaryClass", CUT, leaks=("target",), matter=("target",), shuffled="oz7"
    ),
    "Friedman 10": _real(
        "fri_c3_1000_10", "binaryClass", "a function of five of ten columns", drop=("target",),
        shuffled="oz7",
    ),
    "Friedman 50": _real(
        "fri_c0_1000_50", "target", "a function of five of fifty columns", drop=("binaryClass",),
        shuffled="oz7", matter=FRIEDMAN[:2] + FRIEDMAN[3:],
    ),
    "voters, leak": _real(
        "space_ga", "binaryClass", CUT, leaks=("ln(VOTES/POP)",), shuffled="INCOME"
    ),
    "voters": _real(
        "space_ga", "ln(VOTES/POP)", "votes a head in counties", drop=("binaryClass",),
        shuffled="INCOME", may_leak=True,
    ),
    "sleep, leak": _real(
        "sleepdata", "binaryClass", "classes made from a state that is there, too",
        leaks=("sleep_state",), shuffled="temperature",
    ),
    "loans": _real(
        "av_loan_prediction", "Loan_Status", "loans that were granted", matter=("Credit_History",),
        shuffled="ApplicantIncome", may_leak=True,
    ),
    "attrition": _real(
        "ibm_hr_attrition", "Attrition", "employees who left", shuffled="Age",
        said=("EmployeeCount",),
    ),
    "drugs": _real(
        "drug_consumption", "Cannabis", "how long ago, seven classes", shuffled="Nscore"
    ),
    "Lusitania": _real(
        "lusitania", "Fate", "who was saved", shuffled="Sex", may_leak=True,
        may_group=("Family name",),
    ),
    "campaign": _real(
        "marketing_campaign", "Response", "who answered", shuffled="Income", said=("Z_CostContact",)
    ),
    "telecom": _real(
        "telecom_churn_2666", "Churn", "customers who left", shuffled="State",
        twins={"Total day charge": "Total day minutes"},
    ),
    "Estonia": _real("estonia", "Survived", "who was saved", shuffled="Age", matter=("Sex",)),
    "wells": _real(
        "well_log_facies", "Facies", "rocks in wells, a row each half foot", groups="Well Name",
        shuffled="GR",
    ),
    "eyes": _real("diabetic_retinopathy", "19", "signs of disease", shuffled="8"),
    "yeast": _real("yeast", "site", "where proteins are", matter=("alm",), shuffled="mcg"),
    "income": _real(
        "adult", "y", "incomes above 50,000", shuffled="age", twins={"education_num": "education"}
    ),
}  # fmt: skip
NEEDED = tuple(sorted({make.args[0] for make in REAL.values()}))
