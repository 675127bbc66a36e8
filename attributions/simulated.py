"""The simulated data of Sun 2022: five relevant features of few values among fifty.

Feature j = 1..50 is uniform on 0, 1, ..., j: the first has two values, the last fifty-one. Every
column is scaled to [0, 1] by its extremes in the training rows. Five features are relevant, and s
is their mean in a row. A feature with many values offers many cuts, so noise can be fitted with it
better: gain ranks the last features high, although all relevant ones are among the first ten.

The paper's text and the data behind its Table 4 differ; ``protocol`` chooses.

==============  ==============================================  ===================================
task            ``"code"``: what made Table 4                   ``"text"``: what the paper says
==============  ==============================================  ===================================
regression      y = s + noise of standard deviation 100 Var(s)  s + noise of *variance* 100 Var(s)
classification  P(y = 1) = e^s / (e^s + e^-s) = logistic(2 s)   logistic(2 s - 1)
==============  ==============================================  ===================================

(2 s is 2/5 of the sum of the five features.) In regression by ``"code"`` the signal is 0.4 % of the
variance of y and no method can find much in 1000 rows. Var(s) is taken over the training rows for
the training noise and over the held-out rows for the held-out noise. Since all relevant features
have few values, *any* score that punishes many values does well here; ``relevant="all"`` draws them
from all fifty.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from attributions.options import check_one_of

N_FEATURES = 50
N_RELEVANT = 5
TASKS = ("regression", "classification")
PROTOCOLS = ("code", "text")
CANDIDATES = {"low": 10, "all": N_FEATURES}


@dataclass(frozen=True, eq=False)
class SimulatedData:
    """Training and held-out rows, and the truth.

    Parameters
    ----------
    X_train, X_valid : float64 arrays of shape (n_train, 50), (n_valid, 50)
    y_train, y_valid : float64 arrays of shape (n_train,), (n_valid,)
        For classification 0 and 1.
    relevant : int64 array of shape (5,)
        Columns that y depends on, in ascending order.
    feature_names : tuple of str
        ``"x1"`` to ``"x50"``; ``"xj"`` has j + 1 distinct values.
    """

    X_train: np.ndarray
    y_train: np.ndarray
    X_valid: np.ndarray
    y_valid: np.ndarray
    relevant: np.ndarray
    feature_names: tuple[str, ...]


def simulated(
    task: str = "classification",
    n_train: int = 1000,
    n_valid: int = 1000,
    *,
    relevant: str = "low",
    protocol: str = "code",
    random_state: int | None = None,
) -> SimulatedData:
    """Draw the paper's simulated data.

    Parameters
    ----------
    task : {"classification", "regression"}
    n_train, n_valid : int
        Rows to fit on and rows to judge on.
    relevant : {"low", "all"}
        Whether the relevant features are five of the first ten, as in the paper, or of all fifty.
    protocol : {"code", "text"}
        See the module's docstring.
    random_state : int or None
        The seed. Train and held-out rows have streams of their own: changing ``n_train`` leaves
        the drawn values of the held-out rows as they are.
    """
    check_one_of(TASKS, task=task)
    check_one_of([*CANDIDATES], relevant=relevant)
    check_one_of(PROTOCOLS, protocol=protocol)
    if n_train < 2 or n_valid < 1:
        raise ValueError(
            f"n_train={n_train} and n_valid={n_valid}; at least 2 and 1 rows are needed."
        )
    choice, train, valid = map(np.random.default_rng, np.random.SeedSequence(random_state).spawn(3))
    columns = np.sort(choice.choice(CANDIDATES[relevant], size=N_RELEVANT, replace=False))
    X_train, X_valid = _draw_features(train, n_train), _draw_features(valid, n_valid)
    low, high = X_train.min(axis=0), X_train.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    X_train, X_valid = (X_train - low) / span, (X_valid - low) / span
    return SimulatedData(
        X_train=X_train,
        y_train=_draw_target(train, X_train[:, columns].mean(axis=1), task, protocol),
        X_valid=X_valid,
        y_valid=_draw_target(valid, X_valid[:, columns].mean(axis=1), task, protocol),
        relevant=columns,
        feature_names=tuple(f"x{j}" for j in range(1, N_FEATURES + 1)),
    )


def _draw_features(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """Draw column j uniformly from 0, 1, ..., j."""
    largest = np.arange(1, N_FEATURES + 1)
    return rng.integers(0, largest, size=(n_rows, N_FEATURES), endpoint=True).astype(np.float64)


def _draw_target(rng: np.random.Generator, s: np.ndarray, task: str, protocol: str) -> np.ndarray:
    """Draw y given the mean s of the relevant features."""
    if task == "regression":
        scale = 100 * np.var(s) if protocol == "code" else np.sqrt(100 * np.var(s))
        return s + rng.normal(0.0, scale, size=len(s))
    log_odds = 2 * s if protocol == "code" else 2 * s - 1
    return (rng.random(len(s)) < expit(log_odds)).astype(np.float64)
