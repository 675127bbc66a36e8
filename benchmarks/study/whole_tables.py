"""Whole tables from the folder of data: words and numbers, and a target.

Where a target has more than two classes and the paper that used the table does not say which two it
made of them, they are the ones named here. Columns that number the rows or tell the target are left
out, and so are names of persons, which no model can use.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from benchmarks.study.data import folder


@dataclass(frozen=True)
class Whole:
    """How a table of the folder becomes rows and a target."""

    target: str
    left_out: tuple[str, ...] = ()  # columns that say what the target is, or which row this is
    categories: tuple[str, ...] = ()  # numbers that are names; words are categories anyway
    # Takes the column of the target, returns which rows are of class 1; without, it is a number.
    is_positive: Callable[[pd.Series], pd.Series] | None = None


def equal_to(value) -> Callable[[pd.Series], pd.Series]:
    """Return a function that marks one class."""
    return lambda column: column == value


def most_frequent(column: pd.Series) -> pd.Series:
    """Mark the class that most rows have."""
    return column == column.value_counts().index[0]


AMAZON = (
    "RESOURCE", "MGR_ID", "ROLE_ROLLUP_1", "ROLE_ROLLUP_2", "ROLE_DEPTNAME", "ROLE_TITLE",
    "ROLE_FAMILY_DESC", "ROLE_FAMILY", "ROLE_CODE",
)  # fmt: skip
WHOLE = {
    "amazon_employee_access": Whole("ACTION", (), AMAZON, equal_to(1)),
    "adult": Whole("y", (), (), equal_to(">50K")),
    "income_30162": Whole("y", (), (), equal_to(">50K")),
    "bike_kaggle_train": Whole(
        "count", ("casual", "registered"), ("season", "holiday", "workingday", "weather", "hour")
    ),
    "house_prices_kaggle": Whole("SalePrice", ("Id",), ("MSSubClass",)),
    "boston_housing": Whole("medv"),
    "breast_cancer_wdbc": Whole("y", (), (), equal_to(1)),
    "customer_classification": Whole("label", (), ("region",), equal_to(1)),
    "churn_modelling": Whole("Exited", ("RowNumber", "CustomerId"), (), equal_to(1)),
    "hr_analysis_jobchange": Whole("target", ("enrollee_id",), (), equal_to(1)),
    "jm1": Whole("defects", (), (), equal_to(True)),
    "pc4": Whole("c", (), (), equal_to(True)),
    "magic_telescope": Whole("target", (), (), equal_to(1)),
    "fri_c3_1000_10": Whole("binaryClass", ("target",), (), equal_to("P")),
    "fri_c0_1000_50": Whole("binaryClass", ("target",), (), equal_to("P")),
    "credit_g": Whole("class", (), (), equal_to("bad")),
    "space_ga": Whole("binaryClass", ("ln(VOTES/POP)",), (), equal_to("P")),
    "sleepdata": Whole("binaryClass", ("sleep_state",), (), equal_to("P")),
    "av_loan_prediction": Whole("Loan_Status", ("Loan_ID",), (), equal_to("Y")),
    "ibm_hr_attrition": Whole("Attrition", ("EmployeeNumber",), (), equal_to("Yes")),
    "drug_consumption": Whole(  # used within the last year
        "Cannabis", ("ID",), (), lambda column: column > "CL2"
    ),
    "lusitania": Whole(
        "Fate", ("Family name", "Personal name", "Lifeboat", "Rescue Vessel"), (), equal_to("Saved")
    ),
    "marketing_campaign": Whole("Response", ("ID", "Dt_Customer"), (), equal_to(1)),
    "telecom_churn_2666": Whole("Churn", (), ("Area code",), equal_to("VRAI")),
    "estonia": Whole("Survived", ("PassengerId", "Firstname", "Lastname"), (), equal_to(1)),
    "well_log_facies": Whole("Facies", (), (), most_frequent),
    "diabetic_retinopathy": Whole("19", (), (), equal_to(1)),
    "clave_firm_teacher": Whole("incoherent", ("neutral", "reverse", "forward"), (), equal_to(1)),
    "yeast": Whole("site", (), (), most_frequent),
}
WITH_WORDS = (
    "amazon_employee_access", "adult", "income_30162", "bike_kaggle_train", "house_prices_kaggle",
    "churn_modelling", "hr_analysis_jobchange", "credit_g", "av_loan_prediction",
    "ibm_hr_attrition", "lusitania", "marketing_campaign", "telecom_churn_2666", "estonia",
)  # fmt: skip


@lru_cache(maxsize=4)
def whole_table(name: str) -> tuple[pd.DataFrame, np.ndarray, bool]:
    """Return columns, those of categories as such, the target, and whether it is a class."""
    return read_whole(name, WHOLE[name])


def read_whole(name: str, how: Whole) -> tuple[pd.DataFrame, np.ndarray, bool]:
    """Return what `whole_table` does, made in another way: of another target, say."""
    frame = pd.read_csv(folder() / f"{name}.csv.gz", low_memory=False)
    if name == "bike_kaggle_train":
        frame["hour"] = pd.to_datetime(frame.pop("datetime")).dt.hour
    column = frame[how.target]
    X = frame.drop(columns=[how.target, *how.left_out])
    for label in X:
        if label in how.categories or not pd.api.types.is_numeric_dtype(X[label]):
            X[label] = X[label].astype("category")
        else:
            X[label] = X[label].astype(float)
    if how.is_positive is None:
        return X, column.to_numpy(dtype=float), False
    return X, how.is_positive(column).to_numpy(dtype=float), True


def with_words(X: pd.DataFrame) -> pd.DataFrame:
    """Return a table with words in place of categories, also where they are missing: CatBoost's."""
    return X.assign(
        **{
            label: X[label].astype(object).where(X[label].notna(), "missing").astype(str)
            for label in X
            if X[label].dtype == "category"
        }
    )
