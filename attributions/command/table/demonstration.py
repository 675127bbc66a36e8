"""The demonstration: a table that ships with scikit-learn, joined by a column of random numbers.

Nothing can be predicted from random numbers, so a reader sees at once what an importance makes of
a column that is useless. The trees are greedy ones of depth 3, such as most libraries grow.
"""

from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes

from attributions.command.rules.columns import column_of_numbers
from attributions.command.table.halves import random_halves
from attributions.command.table.task import Task

GREEDY: dict[str, Any] = {
    "splitter": "greedy", "n_estimators": 100, "learning_rate": 0.1, "max_depth": 3,
}  # fmt: skip
# scikit-learn's age, sex, bmi, bp and s1 to s6, as its description of the table spells them out.
NAMES = (
    "age", "sex", "body mass index", "blood pressure", "total cholesterol", "LDL cholesterol",
    "HDL cholesterol", "cholesterol / HDL", "log triglycerides", "blood sugar", "random numbers",
)  # fmt: skip


def demonstration(seed: int) -> Task:
    """Predict how far diabetes gets in a year; the seed draws random numbers and rows."""
    table = load_diabetes(scaled=False)
    y = table.target.astype(np.float64)
    X = np.column_stack([table.data, np.random.default_rng(seed).normal(size=len(y))])
    train, valid = random_halves(y, False, seed)
    return Task(
        [
            "Diabetes: 442 patients, and how far their disease got within a year. The table ships"
            " with scikit-learn.",
            f"A column of random numbers (seed {seed}), marked *, has joined it.",
            f"Drawn at random: {len(train)} rows to train on, {len(valid)} held out.",
        ],
        False,
        X[train],
        y[train],
        X[valid],
        y[valid],
        NAMES,
        noise=len(NAMES) - 1,
        target=column_of_numbers("progression", y),
        columns={name: column_of_numbers(name, X[:, k]) for k, name in enumerate(NAMES)},
        held_out=valid,
    )
