"""Time training against XGBoost and LightGBM, after checking that the trees are the same.

    python -m benchmarks.speed.training_speed --write                  ten minutes, and the page

Every case is fitted by all in turn, several times; by XGBoost's exact method once where it takes
long. Column preparation is included for everyone. The targets that we set ourselves stand in the
CSV file, and the last line says whether they are reached.

No time is printed unless the first tree predicts as that of XGBoost's exact method, to float32
accuracy, and all trees together leave the same training error within 5 %. (Node by node the trees
are compared in ``tests/gbt/training/test_parity_xgboost.py``. XGBoost rounds sums and gains to
float32, so that sooner or later one of two nearly equal cuts is chosen otherwise, and predictions
drift apart. In 100,000 rows of pure noise that is the root of the second tree: XGBoost 3.4 takes a
cut that gains 11.58954 where ours gains 11.59019. At depth 8 the training errors were seen to
differ by 3 %.)

XGBoost's hist and LightGBM look at no more than 255 cuts a column; we and XGBoost's exact method
look at all of them. What that costs the last ratio shows: with ``max_bins=256`` ours look at no
more cuts than theirs. Needs the extra ``peers``; reading the cases, as others do, does not.
"""

import statistics
import sys
import time
from dataclasses import dataclass, replace

import numpy as np

import gbt
from benchmarks.speed.timing import machine, settle
from benchmarks.study import Part
from benchmarks.study.command import Study, main
from benchmarks.study.files import DOCS
from benchmarks.study.pictures import TEXT, picture
from benchmarks.study.tables import markdown
from gbt.parallel.threads import available_cores

PEERS = EXACT, HIST, LIGHTGBM = "XGBoost exact / ours", "XGBoost hist / ours", "LightGBM / ours"
IN_BINS = "the faster of the last two / ours in 256 bins"
REPEATS = 5
AGAIN = 5.0  # seconds, beyond which XGBoost's exact method is timed once
COLORS = "#7a7a7a", "#0072b2", "#d55e00"
RISING = "five columns that must rise"  # `monotone_constraints` of all
LOSSES = {"half_squared_error": "squared", "half_logistic": "logistic"}


@dataclass(frozen=True)
class Case:
    """A data set, the parameters that all libraries are given, and the targets."""

    name: str
    n_rows: int
    n_columns: int
    max_depth: int
    n_rounds: int
    kind: str = "continuous"
    loss: str = "half_squared_error"
    exact_target: float = 0.0  # time of XGBoost exact / ours
    hist_target: float = 0.0  # time of the faster of XGBoost hist and LightGBM / ours

    def logistic(self):
        """Return the same case with labels, and 80 % of the targets."""
        targets = {name: 0.8 * getattr(self, name) for name in ("exact_target", "hist_target")}
        return replace(self, loss="half_logistic", **targets)

    @property
    def constraints(self):
        """The parameter that keeps columns rising, if they must, by the name that all have."""
        rising = [1] * 5 + [0] * (self.n_columns - 5)
        return {"monotone_constraints": rising} if self.kind == RISING else {}


SIZES = [
    Case("1,000 x 50", 1_000, 50, 4, 400, "discrete", exact_target=5, hist_target=1.7),
    Case("3,000 x 20", 3_000, 20, 8, 60, exact_target=2, hist_target=1.0),
    Case("20,000 x 50", 20_000, 50, 6, 100, exact_target=10, hist_target=1.25),
    Case("100,000 x 50", 100_000, 50, 6, 100, exact_target=10, hist_target=0.85),
    Case("500,000 x 28", 500_000, 28, 6, 50, exact_target=10, hist_target=0.7),
]
# Where bounds prune least: no signal, a few huge gradients, many ties, a value that most rows have,
# rows without a value on either side of every cut; and where steps have bounds.
KINDS = "pure noise", "heavy tails", "ten levels", "mostly zeros", "one in five missing", RISING
WORST = [
    Case(f"{n:,} x {p}", n, p, 6, 20, kind, exact_target=4)
    for kind in KINDS
    for n, p in ((20_000, 50), (100_000, 50))
]
CASES = [*SIZES, *(case.logistic() for case in SIZES), *WORST]


def data_of(case: Case):
    """Return float32-representable rows and targets."""
    rng = np.random.default_rng(0)
    shape = case.n_rows, case.n_columns
    if case.kind == "discrete":
        X = rng.integers(0, np.arange(2, case.n_columns + 2), size=shape)
        X = X / np.arange(1, case.n_columns + 1)
    else:
        X = rng.normal(size=shape)
    if case.kind == "mostly zeros":
        X *= rng.random(size=shape) < 0.4
    X = X.astype(np.float32)
    y = X[:, :5].sum(axis=1) + X[:, 0] * X[:, 1] + rng.normal(size=case.n_rows)
    if case.kind == "pure noise":
        y = rng.normal(size=case.n_rows)
    elif case.kind == "heavy tails":
        y = y + rng.standard_t(1.5, size=case.n_rows)
    elif case.kind == "ten levels":
        y = np.clip(np.round(y), -5, 4)
    if case.kind == "one in five missing":
        X[rng.random(size=shape) < 0.2] = np.nan
    y = y.astype(np.float32).astype(float)
    return X, (y > 0).astype(float) if case.loss == "half_logistic" else y


def fit_ours(case, X, y, max_bins=None):
    """Fit, and return what gives the predictions on the training rows."""
    options = {"n_estimators": case.n_rounds, "max_depth": case.max_depth, "base_score": 0.5}
    options |= {"splitter": "greedy", "max_bins": max_bins, **case.constraints}
    if case.loss == "half_logistic":
        model = gbt.GBTClassifier(**options).fit(X, y)
        return lambda: model.predict_proba(X)[:, 1]
    model = gbt.GBTRegressor(**options).fit(X, y)
    return lambda: model.predict(X)


def fit_xgboost(case, X, y, tree_method):
    """Fit, DMatrix included."""
    import xgboost

    data = xgboost.DMatrix(X, y)
    asked = {name: str(tuple(directions)) for name, directions in case.constraints.items()}
    asked["objective"] = "binary:logistic" if case.loss == "half_logistic" else "reg:squarederror"
    asked |= {"tree_method": tree_method, "base_score": 0.5}
    booster = xgboost_of(case.n_rounds, case.max_depth, data, **asked)
    return lambda: booster.predict(data)


def xgboost_of(n_rounds, max_depth, data, **asked):
    """Let XGBoost grow trees of some depth on all cores; its other defaults are as ours."""
    import xgboost

    alike = {"max_depth": max_depth, "eta": 0.1, "nthread": available_cores()}
    return xgboost.train(alike | asked, data, n_rounds)


def lightgbm_of(n_rounds, max_depth, X, y, group=None, **asked):
    """Let LightGBM grow trees of the same depth, leaves and penalty as ours, binning included."""
    import lightgbm

    alike = {
        "max_depth": max_depth, "num_leaves": 2**max_depth, "learning_rate": 0.1,
        "lambda_l2": 1.0, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 1.0,
        "num_threads": available_cores(), "verbose": -1,
    }  # fmt: skip
    return lightgbm.train(alike | asked, lightgbm.Dataset(X, y, group=group), n_rounds)


def fit_lightgbm(case, X, y):
    """Fit trees of the same depth."""
    objective = "binary" if case.loss == "half_logistic" else "regression"
    lightgbm_of(case.n_rounds, case.max_depth, X, y, objective=objective, **case.constraints)


def has_same_first_tree(case, X, y):
    """Say whether the first tree predicts as that of XGBoost's exact method."""
    first = replace(case, n_rounds=1)
    difference = fit_ours(first, X, y)() - fit_xgboost(first, X, y, "exact")()
    return np.abs(difference).max() < 1e-5 * np.abs(y).max()


def is_verified(case, X, y, exact=None):
    """Say whether ours and XGBoost's exact method agree on the first tree and on the error.

    ``exact`` predicts the rows by all trees of XGBoost's, which otherwise are fitted here.
    """
    if not has_same_first_tree(case, X, y):
        return False
    exact = exact or fit_xgboost(case, X, y, "exact")
    ours, theirs = (np.mean((predict() - y) ** 2) for predict in (fit_ours(case, X, y), exact))
    return abs(ours / theirs - 1) < 0.05


def timed(fit, *arguments):
    """Return the seconds of one fit, and what it returned."""
    settle()
    started = time.perf_counter()
    fitted = fit(*arguments)
    return time.perf_counter() - started, fitted


def measure(cell, rng, size):
    """Yield a line of the file; refuse to time what is not the same."""
    case = CELLS[tuple(cell[name] for name in FIELDS)]
    case = case if size == "full" else replace(case, n_rows=200, n_rounds=2)
    X, y = data_of(case)
    has_same_first_tree(case, X, y)  # libraries are imported and kernels ready before any clock
    exact_seconds, exact = timed(fit_xgboost, case, X, y, "exact")
    if size == "full" and not is_verified(case, X, y, exact):
        raise SystemExit(f"{case}: not the trees of XGBoost exact; nothing timed")
    runs = []
    for _ in range(REPEATS if size == "full" else 1):
        if exact_seconds < AGAIN:
            exact_seconds, _ = timed(fit_xgboost, case, X, y, "exact")
        ours, _ = timed(fit_ours, case, X, y)
        hist, _ = timed(fit_xgboost, case, X, y, "hist")
        lgb, _ = timed(fit_lightgbm, case, X, y)
        binned, _ = timed(fit_ours, case, X, y, 256)
        runs.append([ours, exact_seconds / ours, hist / ours, lgb / ours, min(hist, lgb) / binned])
    ours, *ratios = (statistics.median(column) for column in zip(*runs, strict=True))
    yield {
        "seconds": round(ours, 4),
        **dict(zip([*PEERS, IN_BINS], (round(ratio, 2) for ratio in ratios), strict=True)),
        "exact_target": case.exact_target,
        "histogram_target": case.hist_target,
    }


def is_reached(row):
    """Say whether a case is as fast as we set ourselves."""
    of_histograms = min(row[HIST], row[LIGHTGBM])
    return row[EXACT] >= row["exact_target"] and of_histograms >= row["histogram_target"]


def table_of(rows):
    """Return the page's table."""
    ratios = [*PEERS, IN_BINS]
    names = ["rows x columns", "data", "loss", "depth", "rounds", "ours, s", *ratios]
    lines = []
    for row in rows:
        case = [f"{row['rows']:,} x {row['columns']}", *(row[name] for name in names[1:5])]
        lines.append(case + [f"{row[name]:.3g}" for name in ("seconds", *ratios)])
    return markdown(names, lines)


def draw(rows, path, ink, paper):
    """Draw how many times as long as ours each peer takes, over the sizes of the squared error."""
    shown = [row for row in rows[: len(SIZES)] if row["loss"] == "squared"]
    labels = [f"{row['rows']:,} x {row['columns']}" for row in shown]
    style = {**TEXT, "svg.hashsalt": "speed", "font.sans-serif": ["DejaVu Sans"]}
    with picture(path, style=style, figsize=(5.6, 3.5), facecolor=paper) as (figure, ax):
        ax.set_facecolor(paper)
        for peer, color, marker in zip(PEERS, COLORS, "so^", strict=True):
            ratios = [row[peer] for row in shown]
            ax.plot(ratios, labels, marker, color=color, markersize=8, label=peer.split(" / ")[0])
        ax.plot(
            [row[IN_BINS] for row in shown], labels, "D", markersize=7, color=ink,
            fillstyle="none", label="the faster histograms, ours in 256 bins",
        )  # fmt: skip
        ax.axvline(1, color=ink, linewidth=0.8)
        ax.invert_yaxis()
        ax.set_xscale("log")
        ax.set_xticks([0.5, 1, 2, 5, 10, 20], ["0.5", "1", "2", "5", "10", "20"])
        ax.set_xticks([], minor=True)
        ax.set_xlabel("time of the peer / our time\n(right of 1: we are faster)", color=ink)
        ax.set_ylabel("rows x columns", color=ink)
        ax.tick_params(colors=ink, length=0)
        ax.grid(axis="y", color=ink, alpha=0.15)
        ax.spines[:].set_visible(False)
        figure.legend(loc="outside upper center", ncols=2, labelcolor=ink, frameon=False)


def draw_all(tables):
    """Draw the pictures, of light and dark pages."""
    draw(tables["training"], DOCS / "performance.svg", "#333333", "#ffffff")
    draw(tables["training"], DOCS / "performance_dark.svg", "#e6e6e6", "#14181e")


def verdict(tables):
    """Say whether all targets are reached."""
    reached = all(map(is_reached, tables.get("training", ())))
    return [f"All targets reached: {reached}"], 0 if reached else 1


CELLS = {
    (case.n_rows, case.n_columns, case.kind, LOSSES[case.loss], case.max_depth, case.n_rounds): case
    for case in CASES
}
FIELDS = "rows", "columns", "data", "loss", "depth", "rounds"
PART = Part(
    "training", tuple(dict(zip(FIELDS, cell, strict=True)) for cell in CELLS), measure, 1, table_of,
    is_timed=True,
)  # fmt: skip
STUDY = Study(
    "training_speed", __doc__, (PART,), verdict=verdict, draw=draw_all, page_name="performance",
    folder="speed.", is_signed=True,
    how=f"seed 0; medians of {REPEATS} runs side by side (of XGBoost's exact method one where it"
    f" takes {AGAIN:g} s); {machine()}",
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(STUDY))
