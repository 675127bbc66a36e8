"""Local MDI+ beside its relatives: every method put together from its trees in the same ways.

    python -m benchmarks.papers.local_mdi ranking       are the features that matter ranked first?
    python -m benchmarks.papers.local_mdi correlation   do correlated features without effect rise?
    python -m benchmarks.papers.local_mdi selection train on each row's best features; what is left?
    python -m benchmarks.papers.local_mdi stability     do the best features change with the seed?
    python -m benchmarks.papers.local_mdi report     the tables of all of them, to docs/local_mdi.md

Each is run for a random forest and a boosted model. An experiment writes one line a number to
benchmarks/results/local_mdi_NAME.csv as it goes, and leaves out what is there already: it can be
stopped and started again, and a method that is new is added to the seeds that are there.
``--seeds`` says how many repetitions.

A method is an individual attribution and an aggregate. Attributions: Saabas, PreDecomp (the same in
a forest), TreeSHAP, local MDI with ridge and with elastic net, both with raw columns and on all
rows; and for boosted models the rows of TreeInner, which are given the targets. Aggregates: the
absolute value of the sum over trees, the sum of absolute values, and mean ranks. (TreeInner has no
ranks of its own: in a row it is PreDecomp times one number a tree, which leaves the ranks alone.)
``global`` gives every row the same scores: the mean over the training rows of the absolute sums.
Rows that share their important features cannot do better than a good global score, so no other
method has shown that it is *local* unless it beats that.

Columns are shuffled. In nodes of a few rows many features split equally well; our boosted models
then take the first column, and ranks count how often a feature is used at all: with the features
that matter in front, ranks by TreeSHAP found interactions that no model had learned (AUC 0.87).
"""

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import train_test_split

from attributions import tree_inner_rows
from attributions.inputs import SeenRowsWarning
from attributions.mdi.elastic_net import ElasticNet
from attributions.mdi.least_squares import Ridge
from attributions.mdi.local_mdi import StumpModels
from attributions.mdi.training_trees import TrainingTrees
from attributions.per_row.aggregates import aggregate_trees
from attributions.per_row.individual import attribute_per_tree
from benchmarks.study.files import RESULTS, fill, header, without_header
from gbt import GBTClassifier, GBTRegressor
from gbt.model.predictor import transposed
from gbt.model.stages import stages, start_of

AGGREGATES = ("sum", "absolute", "rank")  # of trees; and "global"
SEEDS = 10
N_TREES = 50
Pair = tuple[str, str]  # a method and an aggregate
COLUMNS = ("setting", "model", "seed", "method", "aggregate", "measure", "value")
METHODS = {
    "saabas": "Saabas",
    "predecomp": "PreDecomp",
    "tree_shap": "TreeSHAP",
    "ridge": "local MDI, ridge",
    "elastic_net": "local MDI, elastic net",
    "tree_inner": "TreeInner of rows",
}
OF_BOOSTED = ("predecomp", "tree_inner")  # in a forest PreDecomp is Saabas


# Models and scores ----------------------------------------------------------------------------


def fit(kind: str, X, y, seed: int):
    """Fit a forest or a boosted model; labels are 0 and 1."""
    is_labels = set(np.unique(y)) == {0, 1}
    if kind == "boosted":
        estimator = GBTClassifier if is_labels else GBTRegressor
        return estimator(
            n_estimators=N_TREES,
            max_depth=4,
            subsample=0.6,
            splitter="greedy",
            random_state=seed,
            n_jobs=1,
        ).fit(X, y)
    if is_labels:
        return RandomForestClassifier(N_TREES, min_samples_leaf=3, random_state=seed).fit(X, y)
    return RandomForestRegressor(
        N_TREES, min_samples_leaf=5, max_features=0.33, random_state=seed
    ).fit(X, y)


def pairs_of(kind: str) -> set[Pair]:
    """Return the methods and aggregates that a kind of model has."""
    names = [name for name in METHODS if kind == "boosted" or name not in OF_BOOSTED]
    pairs = {(name, aggregate) for name in names for aggregate in (*AGGREGATES, "global")}
    return pairs - {("tree_inner", "rank")}


def all_scores(
    model, X_train, y_train, X, y, wanted: set[Pair]
) -> Iterator[tuple[str, str, np.ndarray]]:
    """Yield method, aggregate and scores of the rows X, not negative, of shape (n, p)."""
    training = TrainingTrees.of(model, X_train, y_train)
    linear_models = {"ridge": Ridge(), "elastic_net": ElasticNet()}
    for name in METHODS:
        aggregates = [a for a in (*AGGREGATES, "global") if (name, a) in wanted]
        if not aggregates:
            continue
        if name == "tree_inner":
            scores_of = partial(scores_of_tree_inner, model)
        else:
            individual: Any = name
            if name in linear_models:
                individual = StumpModels.fit(training, linear_models[name], raw=True, n_jobs=1)
            scores_of = partial(scores_of_trees, training.ensemble, individual)
        for aggregate in aggregates:
            if aggregate == "global":
                scores = np.tile(scores_of(X_train, y_train, "sum").mean(axis=0), (len(X), 1))
            else:
                scores = scores_of(X, y, aggregate)
            yield name, aggregate, scores


def scores_of_trees(ensemble, individual, X, y, aggregate: str) -> np.ndarray:
    """Return what an individual attribution says of every row; the targets are not looked at."""
    return np.abs(aggregate_trees(ensemble, X, individual, aggregate, 1))


def scores_of_tree_inner(model, X, y, aggregate: str) -> np.ndarray:
    """Return what TreeInner says of every row.

    The part of tree m is -r_mk(x_i) g_im / alpha, with PreDecomp's r and the row's gradient before
    the tree.
    """
    if aggregate == "sum":
        with warnings.catch_warnings():  # that these are training rows, as in the paper
            warnings.simplefilter("ignore", SeenRowsWarning)
            return np.abs(tree_inner_rows(model, X, y, n_jobs=1).values)
    ensemble = model.ensemble_
    total = np.zeros(X.shape)
    stages_of_rows = stages(ensemble, transposed(X), y.astype(float), start_of(ensemble, len(X)))
    before = [part.gradient.copy() for part in stages_of_rows]
    trees = attribute_per_tree(ensemble, X, "predecomp", 1)
    for (_, values), gradient in zip(trees, np.concatenate(before), strict=True):
        total += np.abs(values * gradient[:, np.newaxis])
    return total / ensemble.learning_rate


# Simulated tables -----------------------------------------------------------------------------


def noisy(f, explained: float, rng) -> np.ndarray:
    """Add normal noise of which ``f`` is the share ``explained`` of the variance."""
    return f + rng.normal(0.0, np.sqrt(f.var() * (1 - explained) / explained), len(f))


def signal(name: str, X) -> tuple[np.ndarray, np.ndarray]:
    """Return the regression function, and which features it depends on in each row."""
    high = np.median(X, axis=0) < X
    matters = np.zeros(X.shape, dtype=bool)
    if name == "linear":
        matters[:, :5] = True
        return X[:, :5].sum(axis=1), matters
    if name == "interactions":
        matters[:, :6] = True
        return X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4] * X[:, 5], matters
    if name == "linear and boxes":
        matters[:, :6] = True
        pairs = ((0, 1), (2, 3), (4, 5))
        return sum(X[:, a] + (high[:, a] & high[:, b]) for a, b in pairs), matters
    matters[:, 0] = True  # "switch": the first feature says which others matter
    matters[high[:, 0], 1:4] = True
    matters[~high[:, 0], 4:7] = True
    return np.where(high[:, 0], X[:, 1:4].sum(axis=1), X[:, 4:7].sum(axis=1)), matters


def equicorrelated(n: int, rho: float, rng) -> np.ndarray:
    """Return 50 features that share a part, and 50 independent ones."""
    X = rng.normal(size=(n, 100))
    X[:, :50] = np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * X[:, :50]
    return X


def mean_auc(matters, scores) -> float:
    """Return the mean over rows of the AUC of a row's scores for what matters in it."""
    n_1 = matters.sum(axis=1)
    sums = (rankdata(scores, axis=1) * matters).sum(axis=1)
    return np.mean((sums - n_1 * (n_1 + 1) / 2) / (n_1 * (matters.shape[1] - n_1)))


# Experiments: yield setting, model kind, and a function of the seed and of the methods that are
# wanted, which yields lines


def ranking():
    """AUC of each row's scores for the features that matter in that row, on new rows."""
    for name in ("linear", "interactions", "linear and boxes", "switch"):
        for explained in (0.1, 0.4):
            for kind in ("forest", "boosted"):

                def run(seed, wanted, name=name, explained=explained, kind=kind):
                    rng = np.random.default_rng([seed, 1])
                    X = rng.normal(size=(500, 30))
                    f, matters = signal(name, X)
                    order = rng.permutation(30)
                    X, matters = X[:, order], matters[:, order]
                    y = noisy(f, explained, rng)
                    model = fit(kind, X[:300], y[:300], seed)
                    rows = X[:300], y[:300], X[300:], y[300:]
                    for method, aggregate, scores in all_scores(model, *rows, wanted):
                        yield method, aggregate, "AUC", mean_auc(matters[300:], scores)

                yield f"{name}, {explained:g} explained", kind, run


def correlation():
    """Mean rank (1 is best) of signal, correlated and other features, over the training rows."""
    groups = {"signal": slice(0, 6), "correlated": slice(6, 50), "other": slice(50, 100)}
    for rho in (0.5, 0.9, 0.99):
        for kind in ("forest", "boosted"):

            def run(seed, wanted, rho=rho, kind=kind):
                rng = np.random.default_rng([seed, 2])
                X = equicorrelated(250, rho, rng)
                high = X > 0
                f = X[:, :6].sum(axis=1)
                f = f + sum(high[:, a] & high[:, a + 1] for a in (0, 2, 4))
                y = noisy(f, 0.1, rng)
                place = rng.permutation(100)  # of a feature
                X = X[:, np.argsort(place)]
                model = fit(kind, X, y, seed)
                for method, aggregate, scores in all_scores(model, X, y, X, y, wanted):
                    ranks = rankdata(-scores, axis=1)
                    for group, columns in groups.items():
                        yield method, aggregate, group, ranks[:, place[columns]].mean()

            yield f"correlation {rho:g}", kind, run


def tables() -> dict:
    """Return tables that come with scikit-learn, and one that is simulated."""
    rng = np.random.default_rng(0)
    X = rng.random((600, 30))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    return {
        "diabetes": load_diabetes(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
        "Friedman": (X[:, rng.permutation(30)], noisy(f + 5 * X[:, 4], 0.6, rng)),
    }


def top(scores, share: float) -> np.ndarray:
    """Mark each row's best features: the share of them, at least one."""
    n_kept = max(1, int(np.ceil(share * scores.shape[1])))
    ranks = rankdata(-scores, method="ordinal", axis=1)
    return ranks <= n_kept


def selection():
    """Keep each training row's best features, the others at their mean; fit again and score."""
    for name, (X, y) in tables().items():
        for kind in ("forest", "boosted"):

            def run(seed, wanted, X=X, y=y, kind=kind):
                X_fit, X_new, y_fit, y_new = train_test_split(
                    X, y, test_size=0.33, random_state=seed
                )
                model = fit(kind, X_fit, y_fit, seed)
                mean = X_fit.mean(axis=0)
                rows = X_fit, y_fit, X_fit, y_fit
                for method, aggregate, scores in all_scores(model, *rows, wanted):
                    for share in (0.1, 0.3):
                        masked = np.where(top(scores, share), X_fit, mean)
                        again = fit("forest", masked, y_fit, 42)
                        if hasattr(again, "classes_"):
                            value = roc_auc_score(y_new, again.predict_proba(X_new)[:, 1])
                        else:
                            value = r2_score(y_new, again.predict(X_new))
                        yield method, aggregate, f"kept {share:g}", value

            yield name, kind, run


def stability():
    """Size of the union of each row's best features over five model seeds, as a share of p."""
    for name, (X, y) in tables().items():
        for kind in ("forest", "boosted"):

            def run(seed, wanted, X=X, y=y, kind=kind):
                X_fit, X_new, y_fit, y_new = train_test_split(
                    X, y, test_size=0.33, random_state=seed
                )
                unions: dict = {}
                for again in range(5):
                    model = fit(kind, X_fit, y_fit, 100 * seed + again)
                    rows = X_fit, y_fit, X_new, y_new
                    for method, aggregate, scores in all_scores(model, *rows, wanted):
                        for share in (0.1, 0.3):
                            best = top(scores, share)
                            key = method, aggregate, f"best {share:g}"
                            unions[key] = unions.get(key, False) | best
                for key, union in unions.items():
                    yield *key, union.mean()

            yield name, kind, run


EXPERIMENTS = {
    "ranking": ranking,
    "correlation": correlation,
    "selection": selection,
    "stability": stability,
}


# Files and tables -----------------------------------------------------------------------------


def results_of(name: str) -> list[dict]:
    """Read the lines of an experiment."""
    path = RESULTS / f"local_mdi_{name}.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(without_header(file)))


def run_experiment(name: str, n_seeds: int, minutes: float) -> None:
    """Run what is not there yet, seed by seed, until the time is over."""
    path = RESULTS / f"local_mdi_{name}.csv"
    done: dict[tuple, set[Pair]] = {}
    for line in results_of(name):
        run_of_line = line["setting"], line["model"], line["seed"]
        done.setdefault(run_of_line, set()).add((line["method"], line["aggregate"]))
    head = header(f"python -m benchmarks.papers.local_mdi {name}", "seeds from 0") + "\n"
    if not done:
        head += ",".join(COLUMNS) + "\n"
    started = time.monotonic()
    with path.open("a" if done else "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for seed in range(n_seeds):
            for setting, kind, run in EXPERIMENTS[name]():
                wanted = pairs_of(kind) - done.get((setting, kind, str(seed)), set())
                if not wanted:
                    continue
                if time.monotonic() - started > 60 * minutes:
                    print(f"{name}: stopped after {minutes:g} minutes, at seed {seed}")
                    return
                file.write(head)  # which says what made the lines below it
                head = ""
                for method, aggregate, measure, value in run(seed, wanted):
                    writer.writerow(
                        (setting, kind, seed, method, aggregate, measure, f"{value:.6g}")
                    )
                file.flush()
    print(f"{name}: {n_seeds} seeds are done")


def table_of(name: str) -> str:
    """Return an experiment's means, a table a model: methods down, settings across."""
    lines = results_of(name)
    text = []
    for kind in ("forest", "boosted"):
        values: dict = {}
        for line in lines:
            if line["model"] == kind:
                column = line["setting"], line["measure"]
                row = line["method"], line["aggregate"]
                values.setdefault(row, {}).setdefault(column, []).append(float(line["value"]))
        if not values:
            continue
        columns = list(dict.fromkeys(c for of_row in values.values() for c in of_row))
        counts = {len(v) for of_row in values.values() for v in of_row.values()}
        seeds = f"{min(counts)} to {max(counts)}" if len(counts) > 1 else f"{counts.pop()}"
        text += [f"*{kind}*, {seeds} seeds, mean (standard error)", ""]
        text.append("| | | " + " | ".join(f"{s}: {m}" for s, m in columns) + " |")
        text.append("|---|---|" + "--:|" * len(columns))
        for method, label in METHODS.items():
            for aggregate in (*AGGREGATES, "global"):
                if (method, aggregate) not in values:
                    continue
                cells = [mean_and_error(values[method, aggregate][c]) for c in columns]
                text.append(f"| {label} | {aggregate} | " + " | ".join(cells) + " |")
        text.append("")
    return "\n".join(text)


def mean_and_error(numbers) -> str:
    """Print a mean with its standard error."""
    digits = 1 if np.mean(numbers) >= 10 else 3
    error = np.std(numbers, ddof=1) / np.sqrt(len(numbers)) if len(numbers) > 1 else np.nan
    return f"{np.mean(numbers):.{digits}f} ({error:.{digits}f})"


def report() -> None:
    """Write the tables between the marks of the page."""
    fill({name: table_of(name).rstrip("\n") for name in EXPERIMENTS}, "local_mdi")


def main() -> None:
    """Run one experiment, or write the report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", choices=[*EXPERIMENTS, "report"])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--minutes", type=float, default=60.0, help="stop after so many")
    options = parser.parse_args()
    if options.name == "report":
        report()
    else:
        run_experiment(options.name, options.seeds, options.minutes)
        print(table_of(options.name))


if __name__ == "__main__":
    main()
