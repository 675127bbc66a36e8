"""Time predictions and attributions against the C++ libraries, after checking that they agree.

    python -m benchmarks.speed.attribution_speed

One XGBoost model a case, imported by ``gbt.formats.as_ensemble``, so that both explain the same
trees; reg_lambda is 0, where XGBoost's ``approx_contribs`` are PreDecomp and Saabas at once.
LightGBM explains a model of its own of the same shape. Rows are float32, what XGBoost takes without
a copy; its DMatrix is made beforehand. ``shap.TreeExplainer`` hands XGBoost models to XGBoost, so
its time is that of XGBoost and of the way there. shapiq explains the same model, where it is
installed; it is no part of the extra.

Every pair runs in turn. No time is printed unless predictions, contributions and Shapley values are
those of XGBoost to float32 accuracy and add up to the predictions.
TreeInner has no peer: it is compared with what it cannot do without, one prediction of its rows.
On training rows it needs no pass at all, see ``attributions.total_gain``.

Needs the extra ``peers``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np

from attributions import predecomp, saabas, tree_inner, tree_shap
from benchmarks.speed.timing import Page, in_turn, median
from benchmarks.speed.training_speed import lightgbm_of, xgboost_of
from gbt.formats import as_ensemble

N_COLUMNS = 50
N_ROWS = 5_000


@dataclass(frozen=True)
class Case:
    """The shape of a model, and the rows that the slow peers explain."""

    n_trees: int
    max_depth: int
    n_shap_rows: int = N_ROWS

    @property
    def name(self):
        """The shape as the table has it."""
        return f"{self.n_trees} trees, depth {self.max_depth}"


CASES = [Case(400, 4), Case(100, 6), Case(100, 10, n_shap_rows=2_000)]


def data_of(n_rows, seed=0):
    """Return float32 rows and targets with signal, interaction and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_COLUMNS)).astype(np.float32)
    y = X[:, :5].sum(axis=1) + X[:, 0] * X[:, 1] + rng.normal(size=n_rows)
    return X, y.astype(np.float32).astype(float)


def boosted(case, X, y):
    """Train the model that both explain."""
    import xgboost

    asked = {"reg_lambda": 0.0, "base_score": 0.5}
    return xgboost_of(case.n_trees, case.max_depth, xgboost.DMatrix(X, y), **asked)


def contributions_of(booster, X, **options):
    """Return XGBoost's contributions, the base value last."""
    import xgboost

    return booster.predict(xgboost.DMatrix(X), pred_contribs=True, **options)


def accuracy_of(ensemble) -> float:
    """Return what float32 sums of trees allow."""
    return 64 * np.finfo(np.float32).eps * np.abs(ensemble.value).max() * ensemble.n_trees


def is_verified(booster, ensemble, X):
    """Say whether all numbers are those of XGBoost, up to what float32 sums of trees allow."""
    prediction = ensemble.raw_predict(X)
    differences = [prediction - booster.inplace_predict(X)]
    approximate = contributions_of(booster, X, approx_contribs=True)
    for explain, theirs in (
        (predecomp, approximate),
        (saabas, approximate),
        (tree_shap, contributions_of(booster, X)),
    ):
        ours = explain(ensemble, X)
        differences += [ours.values - theirs[:, :-1], ours.residual(prediction)]
    return all(np.abs(difference).max() < accuracy_of(ensemble) for difference in differences)


def paired(ours: Callable, peer: Callable, repeats: int) -> tuple[str, str]:
    """Run both in turn; return our milliseconds, and how many times as long the peer takes."""
    ours()  # compiled, and in the caches
    runs = in_turn({"ours": ours, "peer": peer}, repeats)
    seconds = median(runs["ours"]).clock
    ratio = median(runs["peer"] / runs["ours"]).clock
    return f"{1e3 * seconds:.{0 if seconds > 0.1 else 1}f}", f"{ratio:.1f}"


def show(page, what, case, n_rows, ours, peer, name) -> None:
    """Add a line to the table: our milliseconds, and how many times as long a peer takes."""
    milliseconds, ratio = paired(ours, peer, page.asked.repeats)
    page.row(what, case.name, f"{n_rows:,}", milliseconds, name, ratio)


def time_paths(page, case, booster, ensemble, X):
    """Predictions and what costs about as much."""
    import xgboost

    data = xgboost.DMatrix(X)
    predict = partial(booster.inplace_predict, X)
    approximate = partial(booster.predict, data, pred_contribs=True, approx_contribs=True)
    contributions = approximate, "XGBoost approx_contribs"
    for what, ours, *beside in (
        ("raw_predict", ensemble.raw_predict, predict, "XGBoost inplace_predict"),
        ("predecomp", partial(predecomp, ensemble), *contributions),
        ("saabas", partial(saabas, ensemble), *contributions),
    ):
        show(page, what, case, len(X), partial(ours, X), *beside)


def shapiq_of(booster, ensemble, rows):
    """Return how shapiq explains rows, after checking that its Shapley values are ours."""
    import shapiq

    explainer = shapiq.TreeExplainer(booster, index="SV", max_order=1)
    few = rows[:20]
    theirs = [one.get_n_order_values(1) for one in explainer.explain_X(few)]
    if not np.allclose(theirs, tree_shap(ensemble, few).values, rtol=0, atol=1e-5):
        raise SystemExit("shapiq has other Shapley values; not timed")
    return lambda: explainer.explain_X(rows)


def time_shap(page, case, booster, ensemble, X, y):
    """TreeSHAP against all peers."""
    import shap
    import xgboost

    rows = X[: case.n_shap_rows]
    data = xgboost.DMatrix(rows)
    other = lightgbm_of(case.n_trees, case.max_depth, X, y, lambda_l2=0.0)
    peers = {
        "XGBoost pred_contribs": partial(booster.predict, data, pred_contribs=True),
        "LightGBM pred_contrib": partial(other.predict, rows, pred_contrib=True),
        "shap TreeExplainer": partial(shap.TreeExplainer(booster).shap_values, rows),
    }
    if find_spec("shapiq"):
        peers["shapiq TreeExplainer"] = shapiq_of(booster, ensemble, rows)
    for name, peer in peers.items():
        ours = partial(tree_shap, ensemble, rows)
        show(page, "tree_shap", case, len(rows), ours, peer, name)


def time_inner(page, case, booster, ensemble):
    """TreeInner on new rows against one prediction of them."""
    X, y = data_of(page.asked.inner_rows, seed=1)
    beside = partial(booster.inplace_predict, X), "XGBoost inplace_predict"
    for what, standard_error in (("with standard errors", True), ("without", False)):
        ours = partial(tree_inner, ensemble, X, y, standard_error=standard_error)
        show(page, f"tree_inner {what}", case, len(X), ours, *beside)


def main():
    """Verify, then time, and print a Markdown table."""
    asked = {"repeats": 5, "inner_rows": 1_000_000}
    libraries = ["xgboost", "lightgbm", "shap", *(["shapiq"] if find_spec("shapiq") else [])]
    with Page("attribution_speed", __doc__, **asked) as page:
        words = f"float32 rows of {N_COLUMNS} columns; medians of {page.asked.repeats} paired runs"
        page.begin(words, *libraries)
        page.head("what", "model", "rows", "ours, ms", "peer", "peer / ours")
        X, y = data_of(N_ROWS)
        for case in CASES:
            booster = boosted(case, X, y)
            ensemble = as_ensemble(booster)
            if not is_verified(booster, ensemble, X[:200]):
                raise SystemExit(f"{case.name}: not the numbers of XGBoost; nothing timed")
            time_paths(page, case, booster, ensemble, X)
            if case is CASES[0]:
                time_inner(page, case, booster, ensemble)
            time_shap(page, case, booster, ensemble, X, y)


if __name__ == "__main__":
    main()
