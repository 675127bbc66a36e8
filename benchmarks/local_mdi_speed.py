"""Local MDI+ beside imodels: are the scores the same, how long does each take, and how it grows.

    pip install imodels six                              # beside this package; a benchmark extra
    python -m benchmarks.local_mdi_speed agree               scores on the same forest
    python -m benchmarks.local_mdi_speed time                both on the same forests, side by side
    python -m benchmarks.local_mdi_speed grow                rows from 10,000 to 1,000,000; boosting

``agree`` and ``time`` give both programs the same fitted forest. imodels has the settings of its
authors' experiments, ElasticNetCV with three folds and l1_ratio .1, .5 and .99 on all rows; so have
we by default. One thread each, the same forest, in turn; seconds are of processor time, which
other programs on the machine lengthen less. ``agree`` tightens the solver of
scikit-learn as well, to tell the solvers' tolerance from a difference in what is computed.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import ElasticNetCV
from sklearn.linear_model import Ridge as SklearnRidge

from attributions import local_mdi
from attributions.stump_models import ElasticNet, Ridge
from gbt import GBTClassifier, GBTRegressor

RATIOS = [0.1, 0.5, 0.99]
SHAPE = 2000, 50


def data(n_rows: int, n_columns: int, seed: int = 0):
    """Return a table whose float64 values are also float32, which is what forests compare."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32).astype(np.float64)
    return X, X[:, :5].sum(axis=1) + 2 * rng.normal(size=n_rows)


def imodels_scores(forest, X, y, linear_model):
    """Return imodels' scores and mean ranks, and the seconds that fitting and scoring took."""
    from imodels.tree.rf_plus.feature_importance.rfplus_explainer import LMDIPlus
    from imodels.tree.rf_plus.rf_plus.rf_plus_models import RandomForestPlusRegressor

    started = time.process_time()
    plus = RandomForestPlusRegressor(
        rf_model=forest, prediction_model=linear_model, fit_on="all", verbose=False
    )
    plus.fit(X, y, n_jobs=None)
    explainer = LMDIPlus(plus)
    scores = explainer.get_lmdi_plus_scores(X, y)
    seconds = time.process_time() - started
    return scores, explainer.get_lmdi_plus_scores(X, y, ranking=True), seconds


def agree() -> None:
    """Print how far the scores are apart."""
    X, y = data(600, 20)
    forest = RandomForestRegressor(20, min_samples_leaf=5, max_features=0.33, random_state=0)
    forest.fit(X, y)
    settings = {"cv": 3, "l1_ratio": RATIOS, "random_state": 0}
    models = {
        "ridge, penalty 5": (SklearnRidge(5.0), Ridge(5.0)),
        "elastic net, tol 1e-4": (ElasticNetCV(**settings, max_iter=2000), ElasticNet()),
        "elastic net, tol 1e-9": (
            ElasticNetCV(**settings, tol=1e-9, max_iter=10**6),
            ElasticNet(),
        ),
    }
    print("| model of both | largest score | largest difference | largest difference of ranks |")
    print("|---|--:|--:|--:|")
    for name, (peer, own) in models.items():
        scores, ranks, _ = imodels_scores(forest, X, y, peer)
        found = local_mdi(forest, X, y, linear_model=own, n_jobs=1)
        ranked = local_mdi(forest, X, y, linear_model=own, aggregate="rank_where_used", n_jobs=1)
        print(
            f"| {name} | {np.abs(scores).max():.3g} | {np.abs(found.values - scores).max():.2g} |"
            f" {np.abs(ranked.values - ranks).max():.2g} |"
        )


def compare(n_trees: int, repeats: int) -> None:
    """Print the seconds of both for forests of two kinds."""
    X, y = data(*SHAPE)
    peer = ElasticNetCV(cv=3, l1_ratio=RATIOS, max_iter=2000, random_state=0)
    forests = {
        "leaves of 5 rows": {"min_samples_leaf": 5, "max_features": 0.33},
        "fully grown": {},
    }
    own = {"elastic net": ElasticNet(), "ridge": Ridge(), "least squares, no raw columns": "ols"}
    print(f"{n_trees} trees, {X.shape[0]:,} rows x {X.shape[1]}; medians of {repeats} rounds")
    print("| forest | splits | imodels, s | ours | s | ratio |")
    print("|---|--:|--:|---|--:|--:|")
    for name, settings in forests.items():
        forest = RandomForestRegressor(n_trees, random_state=0, n_jobs=1, **settings).fit(X, y)
        splits = np.mean([tree.get_n_leaves() - 1 for tree in forest.estimators_])
        seconds = {label: [] for label in (*own, "imodels")}
        for linear_model in own.values():  # compiles
            local_mdi(forest, X, y, linear_model=linear_model, raw=linear_model != "ols", n_jobs=1)
        for _ in range(repeats):
            for label, linear_model in own.items():
                started = time.process_time()
                raw = linear_model != "ols"
                local_mdi(forest, X, y, linear_model=linear_model, raw=raw, n_jobs=1)
                seconds[label].append(time.process_time() - started)
            seconds["imodels"].append(imodels_scores(forest, X, y, peer)[-1])
        theirs = np.median(seconds["imodels"])
        for label in own:
            mine = np.median(seconds[label])
            print(
                f"| {name} | {splits:.0f} | {theirs:.1f} | {label} | {mine:.3f} |"
                f" {theirs / mine:.0f} |",
                flush=True,
            )


def grow() -> None:
    """Print how time grows with rows, and what a boosted model takes."""
    print("| model | rows x columns | linear model | s | ns a row and tree |")
    print("|---|---|---|--:|--:|")
    trees = RandomForestRegressor(5, max_leaf_nodes=64, max_samples=10_000, random_state=0)
    tasks = [
        ("forest, 5 trees of 64 leaves", trees, n, name)
        for n in (10_000, 100_000, 1_000_000)
        for name in ("ridge", "elastic_net")
    ]
    tasks += [
        (f"boosted, 400 trees of depth 6, {loss}", estimator(400, n_jobs=2), 100_000, name)
        for loss, estimator in (("squared", GBTRegressor), ("logistic", GBTClassifier))
        for name in ("ridge", "elastic_net")
    ]
    for label, estimator, n_rows, name in tasks:
        X, y = data(n_rows, 20)
        y = y > 0 if isinstance(estimator, GBTClassifier) else y
        model = estimator.fit(X, y)
        local_mdi(model, X, y, X[:10], linear_model=name)
        started = time.process_time()
        local_mdi(model, X, y, linear_model=name)
        seconds = time.process_time() - started
        n_trees = 5 if label.startswith("forest") else 400
        print(
            f"| {label} | {n_rows:,} x 20 | {name} | {seconds:.2f} |"
            f" {1e9 * seconds / n_rows / n_trees:.0f} |",
            flush=True,
        )


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", choices=["agree", "time", "grow"])
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if options.part == "agree":
            agree()
        elif options.part == "time":
            compare(options.trees, options.repeats)
        else:
            grow()


if __name__ == "__main__":
    main()
