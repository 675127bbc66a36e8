"""Time fits of times to an event and of order: beside a logistic fit, XGBoost and LightGBM.

    python -m benchmarks.speed.losses --write

All grow 100 trees of depth 6 with rate 0.1 on twenty columns of numbers, columns prepared within
the time; ours look at all cuts, or with ``max_bins=256`` at 255 a column as the others do. Fits
come in turn, a ratio is that of neighbouring runs, and the table has the medians. What the fits are
worth stands beside: concordance or NDCG on as many rows, or queries, that they have not seen. Needs
the extra ``peers``.
"""

import statistics
import sys
from functools import partial

import numpy as np

from benchmarks.speed.training_speed import lightgbm_of, timed, xgboost_of
from benchmarks.study import Part, crossed
from benchmarks.study.command import Study, main
from benchmarks.study.tables import markdown
from gbt import GBTClassifier, GBTRegressor
from gbt.losses import NDCG, Cox
from gbt.parallel.threads import available_cores

N_COLUMNS, N_ROUNDS, REPEATS = 20, 100, 5
LOGISTIC, XGBOOST, LIGHTGBM = "ours / logistic", "XGBoost / ours", "LightGBM / ours"
IN_BINS = "the faster / ours in 256 bins"
TIMES = {"cox": "survival:cox", "aft": "survival:aft"}
ORDERS = {"pairwise": "rank:pairwise", "ndcg": "rank:ndcg"}
SIZES = 20_000, 100_000
CELLS = (
    *crossed(loss=TIMES, rows=SIZES, **{"rows a query": "-"}),
    *crossed(loss=ORDERS, rows=SIZES, **{"rows a query": (10, 100)}),
)


def rows_of(loss, n, size, seed):
    """Draw X and times with events, or grades with queries of some size.

    The more five columns add up to, the earlier the event and the better the row.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N_COLUMNS)).astype(np.float32)
    signal = X[:, :5].sum(axis=1) / 2 + X[:, 0] * X[:, 1]
    event, end = rng.exponential(np.exp(-signal)), rng.exponential(2.0, size=n)
    if loss in TIMES:
        return X, np.column_stack([np.minimum(event, end), event <= end])
    grade = np.digitize(signal + rng.normal(size=n), [0.0, 1.0, 2.0, 3.0])
    return X, np.column_stack([grade, np.arange(n) // size])


def fit_ours(loss, X, y, max_bins=None):
    """Fit, and return what predicts."""
    y = np.column_stack([y[:, 0], np.where(y[:, 1] == 1, y[:, 0], np.inf)]) if loss == "aft" else y
    trees = GBTRegressor(N_ROUNDS, 0.1, 6, splitter="greedy", loss=loss, max_bins=max_bins)
    return trees.fit(X, y).predict


def fit_logistic(loss, X, y):
    """Fit by the loss that kernels know which rows have the event, or the better grades."""
    return GBTClassifier(N_ROUNDS, 0.1, 6, splitter="greedy").fit(X, y[:, int(loss in TIMES)] > 0)


def fit_xgboost(loss, X, y):
    """Fit by histograms, DMatrix included, and return what predicts."""
    import xgboost

    given = {"label": y[:, 0], "qid": y[:, 1].astype(int)}
    if loss == "cox":
        given = {"label": np.where(y[:, 1] == 1, y[:, 0], -y[:, 0])}
    elif loss == "aft":
        last = np.where(y[:, 1] == 1, y[:, 0], np.inf)
        given = {"label_lower_bound": y[:, 0], "label_upper_bound": last}
    objective = (TIMES | ORDERS)[loss]
    booster = xgboost_of(N_ROUNDS, 6, xgboost.DMatrix(X, **given), objective=objective)
    return lambda X: booster.predict(xgboost.DMatrix(X)).astype(float)


def fit_lightgbm(loss, X, y):
    """Fit trees of the same depth, and return what predicts."""
    sizes = np.bincount(y[:, 1].astype(int))
    return lightgbm_of(N_ROUNDS, 6, X, y[:, 0], sizes, objective="lambdarank").predict


def measure(cell, rng, size):
    """Yield a line of the file."""
    loss, n, n_of_query = cell["loss"], cell["rows"], cell["rows a query"]
    n = n if size == "full" else 200
    drawn = loss, n, 10 if n_of_query == "-" else n_of_query
    X_new, y_new = rows_of(*drawn, 1)
    peers = {XGBOOST: fit_xgboost} | ({LIGHTGBM: fit_lightgbm} if loss == "ndcg" else {})
    fits = {"ours": fit_ours, LOGISTIC: fit_logistic, **peers}
    fits[IN_BINS] = partial(fit_ours, max_bins=256)
    score = partial((Cox() if loss in TIMES else NDCG()).score, y_new, weight=np.ones(n))
    for fit in fits.values():  # libraries are imported and kernels ready before any clock
        fit(loss, *rows_of(loss, 200, drawn[2], 2))
    runs, worth = [], {}
    for _ in range(REPEATS if size == "full" else 1):
        seconds = {}
        for name, fit in fits.items():
            seconds[name], predict = timed(fit, loss, *rows_of(*drawn, 0))
            if name != LOGISTIC:
                worth[name] = score(predict(X_new) * (-1 if loss == "aft" else 1))
        ours = seconds["ours"]
        ratios = {LOGISTIC: ours / seconds[LOGISTIC], **{k: seconds[k] / ours for k in peers}}
        ratios[IN_BINS] = min(seconds[k] for k in peers) / seconds[IN_BINS]
        runs.append({"ours, s": ours, **ratios})
    medians = {k: f"{statistics.median(run[k] for run in runs):.3g}" for k in runs[0]}
    worth_text = ", ".join(f"{value:.4f}" for value in worth.values())
    yield {
        **dict.fromkeys(("ours, s", LOGISTIC, XGBOOST, LIGHTGBM), "-"), **medians,
        "concordance or NDCG: ours, peers, ours in 256 bins": worth_text,
    }  # fmt: skip


def table(rows) -> str:
    """List the file's lines."""
    names = [name for name in rows[0] if name != "replication"]
    return markdown(names, [[row[name] for name in names] for row in rows], 1)


PART = Part("losses", CELLS, measure, 1, table, is_timed=True)
STUDY = Study(
    "losses", __doc__, (PART,), page_name="performance", folder="speed.",
    how=f"medians of {REPEATS} runs in turn, {available_cores()} threads", is_signed=True,
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(STUDY))
