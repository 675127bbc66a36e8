"""Local MDI+ beside imodels: are the scores the same, and how long does each take.

    pip install -e '.[imodels]'                             imodels 3.0.4
    python -m benchmarks.speed.local_mdi_speed agree --write  scores on the same forests
    python -m benchmarks.speed.local_mdi_speed time --write   both on the same forests, side by side

``agree`` and ``time`` give both programs the same fitted forest. imodels has the settings of its
authors' experiments, ElasticNetCV with three folds and l1_ratio 0.1, 0.5 and 0.99 on all rows; so
have we by default. One thread each, of BLAS too, the same forest, in turn; seconds are of processor
time, which other programs on the machine lengthen less. ``agree`` tightens the solver of
scikit-learn as well, to tell the solvers' tolerance from a difference in what is computed, and ends
with an error where scores differ by more than they should, or where ranks do once imodels' scores
that are 0 but for rounding are 0.
"""

import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import ElasticNet as SklearnElasticNet
from sklearn.linear_model import ElasticNetCV, LogisticRegression, LogisticRegressionCV
from sklearn.linear_model import Ridge as SklearnRidge
from threadpoolctl import threadpool_limits

from attributions import local_mdi
from attributions.mdi.elastic_net import ElasticNet
from attributions.mdi.explicit import Explicit
from attributions.mdi.least_squares import Ridge
from attributions.mdi.logistic import LogisticElasticNet, LogisticRidge
from benchmarks.speed.timing import Page, in_turn, median
from benchmarks.study.files import RESULTS, fill

RATIOS = [0.1, 0.5, 0.99]
SHAPE = 2000, 50
TIGHT = {"tol": 1e-9, "max_iter": 10**6}
ROUNDING = 1e-12  # of a score that should be 0; imodels has some 1e-18
# Two kinds of forests, and parameters that make them.
FORESTS = {"leaves of 5 rows": {"min_samples_leaf": 5, "max_features": 0.33}, "fully grown": {}}


def data(n_rows: int, n_columns: int, seed: int = 0):
    """Return a table whose float64 values are also float32, which is what forests compare."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32).astype(np.float64)
    return X, X[:, :5].sum(axis=1) + 2 * rng.normal(size=n_rows)


def imodels_scores(forest, X, y, linear_model):
    """Return imodels' scores, and what made them."""
    from imodels.tree.rf_plus.feature_importance.rfplus_explainer import LMDIPlus
    from imodels.tree.rf_plus.rf_plus import rf_plus_models

    is_labels = hasattr(forest, "classes_")
    kind = "RandomForestPlusClassifier" if is_labels else "RandomForestPlusRegressor"
    plus = getattr(rf_plus_models, kind)(
        rf_model=forest, prediction_model=linear_model, fit_on="all", verbose=False
    )
    plus.fit(X, y, n_jobs=None)
    explainer = LMDIPlus(plus)
    return explainer.get_lmdi_plus_scores(X, y), explainer


def ranks_without_rounding(explainer, X, y) -> np.ndarray:
    """Return imodels' mean ranks where a tree's scores that are 0 but for rounding are 0."""
    of_trees = explainer._get_LFI_subtract_intercept(X, 1)
    exact = np.where(np.abs(of_trees) < ROUNDING, 0.0, of_trees)
    explainer._get_LFI_subtract_intercept = lambda X, njobs: exact
    return explainer.get_lmdi_plus_scores(X, y, ranking=True)


def agree(page: Page) -> None:
    """Compare scores and ranks; where they differ by more than is allowed, that is an error.

    Scores may differ by a share of the largest one, ranks by a number of places, and that only
    where folds choose penalties: ours may end at a neighbour of the one that ElasticNetCV chooses.
    """
    X, y = data(600, 20)
    labels = (y > 0).astype(int)
    settings = {"min_samples_leaf": 5, "max_features": 0.33, "random_state": 0}
    of_numbers = RandomForestRegressor(20, **settings).fit(X, y), y
    of_labels = RandomForestClassifier(20, **settings).fit(X, labels), labels
    folds = {"cv": 3, "l1_ratio": RATIOS, "random_state": 0}
    tight = LogisticRegression(C=0.2, tol=1e-10, max_iter=10**5)
    sparse = _sparse_logistic(C=0.2, l1_ratio=0.5, tol=1e-6, max_iter=10**5)
    rows = [
        ("ridge, penalty 5", of_numbers, SklearnRidge(5.0), Ridge(5.0), 1e-10, 0),
        ("elastic net, penalty 0.05, ratio 0.5, tol 1e-9", of_numbers,
         SklearnElasticNet(0.05, l1_ratio=0.5, **TIGHT), ElasticNet(0.05, 0.5), 1e-6, 0),
        ("elastic net, three folds, tol 1e-4", of_numbers, ElasticNetCV(**folds, max_iter=2000),
         ElasticNet(), 0.05, 1),
        ("elastic net, three folds, tol 1e-9", of_numbers, ElasticNetCV(**folds, **TIGHT),
         ElasticNet(), 0.05, 1),
        ("logistic ridge, C = 0.2", of_labels, tight, LogisticRidge(5.0), 1e-4, 0),
        ("logistic elastic net, C = 0.2, ratio 0.5, tol 1e-6", of_labels, sparse,
         LogisticElasticNet(5.0, 0.5), 1e-2, 0),
    ]  # fmt: skip
    page.head(
        "model of both", "largest score", "largest difference", "largest difference of ranks",
        "the same without imodels' rounding", "same penalty",
    )  # fmt: skip
    for name, (forest, target), peer, own, allowed, allowed_rank in rows:
        scores, explainer = imodels_scores(forest, X, target, peer)
        explain = partial(local_mdi, forest, X, target, linear_model=own, n_jobs=1)
        found, ranked = explain(), explain(aggregate="rank_where_used")
        largest, gap = np.abs(scores).max(), np.abs(found.values - scores).max()
        if not gap <= allowed * largest:
            raise SystemExit(f"{name}: scores differ by {gap:.2g}, the largest is {largest:.3g}")
        ranks = explainer.get_lmdi_plus_scores(X, target, ranking=True)
        exact = ranks_without_rounding(explainer, X, target)
        of_ranks, of_exact = (np.abs(ranked.values - theirs).max() for theirs in (ranks, exact))
        if not of_exact <= allowed_rank:
            raise SystemExit(f"{name}: ranks differ by {of_exact:.2g} without imodels' rounding")
        gaps = (f"{of:.2g}" for of in (gap, of_ranks, of_exact))
        same = same_penalties(peer, forest, X, target, found)
        page.row(name, f"{largest:.3g}", *gaps, same)


def same_penalties(peer, forest, X, y, found) -> str:
    """Say for how many trees folds chose the same penalty."""
    if not isinstance(peer, ElasticNetCV):
        return "given"
    peer = ElasticNetCV(cv=3, l1_ratio=RATIOS, **TIGHT)
    reference = local_mdi(forest, X, y, linear_model=Explicit(peer), n_jobs=1)
    n_same = np.isclose(reference.penalty, found.penalty, rtol=1e-6).sum()
    return f"{n_same} of {len(found.penalty)} trees"


def _sparse_logistic(estimator=LogisticRegression, **settings):
    """Return a regression with an elastic net, of whose kind older versions must be told."""
    kind = {"penalty": "elasticnet"} if LogisticRegression().penalty == "l2" else {}
    return estimator(solver="saga", random_state=0, **kind, **settings)


def compare(page: Page) -> None:
    """Compare the seconds of both for forests of two kinds, and of labels."""
    X, y = data(*SHAPE)
    peer = ElasticNetCV(cv=3, l1_ratio=RATIOS, max_iter=2000, random_state=0)
    own = {
        "elastic net": {"linear_model": ElasticNet()},
        "ridge, penalty by folds": {"linear_model": Ridge()},
        "least squares, no raw columns": {"linear_model": "ols", "raw": False},
    }
    of_labels = {
        "logistic elastic net": {"linear_model": "logistic_elastic_net"},
        "logistic ridge, left-out rows": {"linear_model": "logistic_ridge"},
        "elastic net of 0 and 1": {"linear_model": "elastic_net"},
    }
    n, n_label_trees, repeats = page.asked.trees, page.asked.label_trees, page.asked.repeats
    page.begin(
        f"{X.shape[0]:,} rows x {X.shape[1]}, medians of {repeats}, seconds of processor time a"
        " tree", "imodels", "scikit-learn", "numpy", n_jobs=1,
    )  # fmt: skip
    page.head("forest", "splits a tree", "imodels", "ours", "s a tree", "ratio")
    tasks = [
        (name, RandomForestRegressor(n, random_state=0, n_jobs=1, **settings).fit(X, y), y, own)
        for name, settings in FORESTS.items()
    ]
    forest = RandomForestClassifier(n_label_trees, min_samples_leaf=3, random_state=0)
    labels = (y > 0).astype(int)
    tasks.append(("labels, leaves of 3", forest.fit(X, labels), labels, of_labels))
    for name, forest, target, models in tasks:
        if hasattr(forest, "classes_"):  # what the authors fit to the trees of a classifier
            settings = {"cv": 3, "l1_ratios": RATIOS, "tol": 5e-4, "max_iter": 2000}
            peer = _sparse_logistic(LogisticRegressionCV, **settings)
        n_trees = len(forest.estimators_)
        splits = np.mean([tree.get_n_leaves() - 1 for tree in forest.estimators_])
        runs: dict = {
            label: partial(local_mdi, forest, X, target, n_jobs=1, **settings)
            for label, settings in models.items()
        }
        for run in runs.values():  # compiles
            run()
        runs["imodels"] = partial(imodels_scores, forest, X, target, peer)
        seconds = {label: median(own).processors for label, own in in_turn(runs, repeats).items()}
        theirs = seconds["imodels"] / n_trees
        for label in models:
            mine = seconds[label] / n_trees
            times = f"{mine:.4f}", f"{theirs / mine:.0f}"
            page.row(name, f"{splits:.0f}", f"{theirs:.2f}", label, *times)


PARTS: dict[str, Callable[[Page], None]] = {"agree": agree, "time": compare}


def main() -> None:
    """Run one part, and write its file and all tables of the page if asked to."""
    asked = {"trees": 100, "label_trees": 5, "repeats": 3}
    with (
        Page("local_mdi_speed", __doc__, PARTS, **asked) as page,
        warnings.catch_warnings(),
        threadpool_limits(1, user_api="blas"),
    ):
        warnings.simplefilter("ignore")
        PARTS[page.asked.part](page)
    if page.asked.write:
        tables = {part: RESULTS / f"local_mdi_speed_{part}.md" for part in PARTS}
        fill({part: path.read_text().rstrip() for part, path in tables.items()}, "local_mdi")


if __name__ == "__main__":
    main()
