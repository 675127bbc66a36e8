"""Local MDI+ beside its relatives: every method put together from its trees in the same ways.

python -m benchmarks.papers.local_mdi --write

*ranking*      are the features that matter ranked first?
*correlation*  do correlated features without effect rise?
*selection*    train on each row's best features; what is left?
*stability*    do the best features change with the seed?

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

import sys
from collections.abc import Iterator

import numpy as np
from scipy.stats import rankdata
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import train_test_split

from attributions.mdi.elastic_net import ElasticNet
from attributions.mdi.least_squares import Ridge
from attributions.mdi.local_mdi import StumpModels
from attributions.mdi.training_trees import TrainingTrees
from attributions.rows import Intake
from attributions.walk.rows_at_spots import RowsAtSpots
from benchmarks.papers.local_mdi_study.methods import AGGREGATES, Scores, stacked
from benchmarks.papers.local_mdi_study.models import forest
from benchmarks.papers.local_mdi_study.tables import Table
from benchmarks.study import NumberedPart, crossed, ours
from benchmarks.study.command import Study, main
from benchmarks.study.tables import by_values, cell_of, chosen, column, markdown
from gbt.parallel.chunks import Chunk

N_SEEDS = 10
N_TREES = 50
KINDS = ("forest", "boosted")
METHODS = {
    "saabas": "Saabas",
    "predecomp": "PreDecomp",
    "tree_shap": "TreeSHAP",
    "ridge": "local MDI, ridge",
    "elastic_net": "local MDI, elastic net",
    "tree_inner": "TreeInner of rows",
}
OF_BOOSTED = ("predecomp", "tree_inner")  # in a forest PreDecomp is Saabas
GROUPS = {"signal": slice(0, 6), "correlated": slice(6, 50), "other": slice(50, 100)}
LINEAR = {"ridge": Ridge, "elastic_net": ElasticNet}


# Models and scores ----------------------------------------------------------------------------


def fit(kind: str, X, y, seed: int, size: str = "full"):
    """Fit a forest or a boosted model; labels are 0 and 1."""
    is_labels = set(np.unique(y)) == {0, 1}
    n_trees = N_TREES if size == "full" else 3
    if kind == "boosted":
        options = {"n_estimators": n_trees, "max_depth": 4, "subsample": 0.6}
        return ours(is_labels, random_state=seed, **options).fit(X, y)
    return forest(Table(X, y, np.zeros(X.shape[1], bool), is_labels), X, n_trees, seed)


def all_scores(model, kind: str, fit_rows, new_rows) -> Iterator[tuple[dict, np.ndarray]]:
    """Yield methods with aggregates, and their scores of the new rows, not negative, (n, p)."""
    training = TrainingTrees.of(model, *fit_rows)
    for name in METHODS:
        if kind == "forest" and name in OF_BOOSTED:
            continue
        individual = "predecomp" if name == "tree_inner" else name
        if name in LINEAR:
            individual = StumpModels.fit(training, LINEAR[name](), raw=True, n_jobs=1)
        own, new = (
            Scores.of(by_tree(training.ensemble, individual, *rows, name == "tree_inner"))
            for rows in (fit_rows, new_rows)
        )
        for aggregate in AGGREGATES:
            if aggregate == "global":
                scores = np.tile(own.weights, (len(new.signed), 1))
            elif (name, aggregate) == ("tree_inner", "rank"):
                continue
            else:
                scores = new.by(aggregate)
            yield {"method": name, "aggregate": aggregate}, scores


def by_tree(ensemble, individual, X, y, is_judged: bool) -> np.ndarray:
    """Return what each tree says of rows, (M, n, p).

    The part of tree m in TreeInner is -r_mk(x_i) g_im / alpha, with PreDecomp's r and the row's
    gradient before the tree.
    """
    found = stacked(ensemble, X, individual)
    if not is_judged:
        return found
    rows = RowsAtSpots.of(Intake(ensemble, None), Chunk(X, y))
    gradients = np.concatenate([part.gradient.copy() for part in rows.stages(slice(0, len(X)))])
    return found * -gradients[:, :, np.newaxis] / ensemble.learning_rate


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


def drawn_signal(name: str, explained: float, n: int, rng) -> tuple[np.ndarray, ...]:
    """Draw 30 independent features in any order, a target, and what matters in each row."""
    X = rng.normal(size=(n, 30))
    f, matters = signal(name, X)
    order = rng.permutation(30)
    return X[:, order], noisy(f, explained, rng), matters[:, order]


def drawn_correlated(rho: float, n: int, rng) -> tuple[np.ndarray, ...]:
    """Draw 50 features that share a part and 50 independent ones, a target, and their places."""
    X = rng.normal(size=(n, 100))
    X[:, :50] = np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * X[:, :50]
    high = X > 0
    f = X[:, :6].sum(axis=1) + sum(high[:, a] & high[:, a + 1] for a in (0, 2, 4))
    y = noisy(f, 0.1, rng)
    place = rng.permutation(100)  # of a feature
    return X[:, np.argsort(place)], y, place


def mean_auc(matters, scores) -> float:
    """Return the mean over rows of the AUC of a row's scores for what matters in it."""
    n_1 = matters.sum(axis=1)
    sums = (rankdata(scores, axis=1) * matters).sum(axis=1)
    return np.mean((sums - n_1 * (n_1 + 1) / 2) / (n_1 * (matters.shape[1] - n_1)))


# Experiments: take a cell, a seed and a size, yield lines ---------------------------------------


def ranking(cell, seed: int, size: str):
    """Yield the AUC of each row's scores for the features that matter in that row, on new rows."""
    name, explained = cell["setting"].removesuffix(" explained").rsplit(", ", 1)
    X, y, matters = drawn_signal(name, float(explained), 500, np.random.default_rng([seed, 1]))
    model = fit(cell["model"], X[:300], y[:300], seed, size)
    rows = (X[:300], y[:300]), (X[300:], y[300:])
    for method, scores in all_scores(model, cell["model"], *rows):
        yield {**method, "measure": "AUC", "value": mean_auc(matters[300:], scores)}


def correlation(cell, seed: int, size: str):
    """Yield the mean rank (1 is best) of signal, correlated and other features, training rows."""
    rho = float(cell["setting"].split()[1])
    X, y, place = drawn_correlated(rho, 250, np.random.default_rng([seed, 2]))
    model = fit(cell["model"], X, y, seed, size)
    for method, scores in all_scores(model, cell["model"], (X, y), (X, y)):
        ranks = rankdata(-scores, axis=1)
        for group, columns in GROUPS.items():
            value = ranks[:, place[columns]].mean()
            yield {**method, "measure": group, "value": value}


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


def halves(cell, seed: int) -> tuple[tuple, tuple]:
    """Return rows of a table to fit on, and new ones."""
    X, y = tables()[cell["setting"]]
    X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.33, random_state=seed)
    return (X_fit, y_fit), (X_new, y_new)


def selection(cell, seed: int, size: str):
    """Keep each training row's best features, the others at their mean; fit again and score."""
    (X, y), (X_new, y_new) = halves(cell, seed)
    model = fit(cell["model"], X, y, seed, size)
    for method, scores in all_scores(model, cell["model"], (X, y), (X, y)):
        for share in (0.1, 0.3):
            again = fit("forest", np.where(top(scores, share), X, X.mean(axis=0)), y, 42, size)
            if hasattr(again, "classes_"):
                value = roc_auc_score(y_new, again.predict_proba(X_new)[:, 1])
            else:
                value = r2_score(y_new, again.predict(X_new))
            yield {**method, "measure": f"kept {share:g}", "value": value}


def stability(cell, seed: int, size: str):
    """Yield the size of the union of a row's best features over five model seeds, a share of p."""
    own, new = halves(cell, seed)
    unions: dict = {}
    for again in range(5):
        model = fit(cell["model"], *own, 100 * seed + again, size)
        for method, scores in all_scores(model, cell["model"], own, new):
            for share in (0.1, 0.3):
                key = (*method.items(), ("measure", f"best {share:g}"))
                unions[key] = unions.get(key, False) | top(scores, share)
    for key, union in unions.items():
        yield {**dict(key), "value": union.mean()}


# Tables ---------------------------------------------------------------------------------------


def table(rows) -> str:
    """Return means, a table a model: methods down, settings across."""
    text = []
    for (kind,), of_kind in by_values(rows, "model"):
        columns = [cell for cell, _ in by_values(of_kind, "setting", "measure")]
        found = dict(by_values(of_kind, "method", "aggregate"))
        lines = []
        for method, aggregate in sorted(found, key=lambda pair: [*METHODS].index(pair[0])):
            own = found[method, aggregate]
            values = [column(chosen(own, setting=s, measure=m), "value") for s, m in columns]
            cells = [cell_of(of, 1 if of.mean() >= 10 else 3) for of in values]
            lines.append([METHODS[method], aggregate, *cells])
        heads = ["", "", *(f"{s}: {m}" for s, m in columns)]
        text.append(f"*{kind}*, mean (standard error)\n\n{markdown(heads, lines, 2)}")
    return "\n\n".join(text)


def part(name: str, experiment, settings) -> NumberedPart:
    """Return a part with a cell for each setting and kind of model."""
    return NumberedPart(name, crossed(setting=settings, model=KINDS), experiment, N_SEEDS, table)


SIGNALS = ("linear", "interactions", "linear and boxes", "switch")
TABLES = ("diabetes", "breast cancer", "Friedman")
PARTS = (
    part("ranking", ranking, [f"{n}, {e:g} explained" for n in SIGNALS for e in (0.1, 0.4)]),
    part("correlation", correlation, [f"correlation {rho:g}" for rho in (0.5, 0.9, 0.99)]),
    part("selection", selection, TABLES),
    part("stability", stability, TABLES),
)
STUDY = Study("local_mdi", __doc__, PARTS)

if __name__ == "__main__":
    sys.exit(main(STUDY))
