"""Cross-fitting: how often its intervals cover what the K models are worth on new rows.

1,000 rows in five folds. The truth of a replication is the mean over its five models of what 5,000
fresh rows say; its own error is added to the intervals, root of sum of squares. Beside it, one
model fitted on half of the same rows and judged on the other half.

Five intervals are tried: of independent rows about the common mean, and about the means of the
folds; Student's t of the five sums of folds; the first one 1.2 times as wide, which `cross_fit`
returns, and sqrt(2) times. The last is an upper bound under a simple model: where a contribution is
a sum of products of a judging row and of fitted rows, as it is for noise in a linear smoother, each
pair of rows counts twice, once either way round, and the variance of the sum is twice that of
single rows. What is found is counted by the first interval and by what `cross_fit` returns.

The factor was chosen on the part *cross-fit*. The part *cross-fit-other* confirms it elsewhere:
other signals, noise, numbers of rows, folds and trees, our default trainer, and real tables with
ten columns of noise, on which the other rows of the table tell the truth.
"""

from dataclasses import replace

import numpy as np
import scipy.stats
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

import attributions
from attributions import cross_fit
from attributions.refits.cross_fit import WIDER
from benchmarks.papers.inference.judging import counted
from benchmarks.papers.inference.paper import N_FEATURES, SETTINGS, Source, fit
from benchmarks.study import Part, crossed, data, ours
from benchmarks.study.tables import by_values, cell_of, chosen, column, markdown, share, short_share

N, N_FOLDS = 1000, 5
N_FRESH, QUICK_FRESH = 5_000, 200
REAL_N = 600  # small, so that a table has other rows to tell the truth
N_PLANTED = 10  # columns of noise in a real table
METHODS = ("tree_inner", "partial_inner", "held_out_gain")
INTERVALS = {
    "pooled": "coverage",
    "within": "within folds",
    "t": "t of folds",
    "wider": "1.2 times",
    "wide": "sqrt 2",
}
WAYS = {"half": "half", "plain": "cross-fit, plain", "cross-fit": "cross-fit"}
CELLS = ("regression, .05", "regression, .3", "classification, paper")
OTHER = (
    {"setting": "regression, 2"},
    {"setting": "classification, x3"},
    {"setting": "regression, .3, t3"},
    {"setting": "regression, .3, 20 trees"},
    {"setting": "regression, .3", "rows": 300},
    {"setting": "regression, .3", "rows": 3000},
    {"setting": "regression, .3", "folds": 2},
    {"setting": "regression, .3", "folds": 10},
    {"setting": "regression, .3", "trainer": "default"},
    {"setting": "classification, x3", "trainer": "default"},
    *({"setting": name, "trainer": "default", "rows": REAL_N} for name in data.SETS),
)


class Fitted:
    """Hands out models that have been fitted, one after the other."""

    def __init__(self, models):
        self.models = iter(models)

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y):
        """Return the next model."""
        return next(self.models)


def experiment(cell, rng, size):
    """Cross-fit on the paper's design, and fit on one half."""
    X, y, fresh, is_null = simulated(cell["setting"], N, rng, size)
    yield from compared(X, y, fresh, is_null, paper_fit(cell["setting"], size), N_FOLDS, rng)


def other_experiment(cell, rng, size):
    """Cross-fit on another design or on a real table, by the measure that is the default."""
    name = cell["setting"]
    if name in data.SETS:
        X, y, fresh, is_null, is_class = of_table(name, rng, size)
    else:
        X, y, fresh, is_null = simulated(name, cell["rows"], rng, size)
        is_class = name.startswith("classification")
    fitted = paper_fit(name, size) if cell["trainer"] == "paper" else default_fit(is_class, size)
    yield from compared(X, y, fresh, is_null, fitted, cell["folds"], rng, METHODS[-1:])


def simulated(name, n_rows, rng, size):
    """Return rows and targets, fresh ones, and which features have no effect."""
    source = Source.drawn(next(s for s in SETTINGS if s.name == name), rng)
    fresh = source.draw(N_FRESH if size == "full" else QUICK_FRESH, rng)
    is_null = ~np.isin(np.arange(N_FEATURES), source.relevant)
    return *source.draw(n_rows, rng), fresh, is_null


def of_table(name, rng, size):
    """Return the same of a real table with noise in it, and whether it has classes."""
    n_rows, n_fresh = (REAL_N, N_FRESH) if size == "full" else (100, 100)
    X, y, is_class = data.drawn(name, rng, n_rows + n_fresh)
    X = np.column_stack([X, planted(X, rng)])
    is_null = np.arange(X.shape[1]) >= X.shape[1] - N_PLANTED
    return X[:n_rows], y[:n_rows], (X[n_rows:], y[n_rows:]), is_null, is_class


def planted(X, rng) -> np.ndarray:
    """Return normal columns, shuffled copies of the table's own, and columns of 200 levels."""
    normal = rng.normal(size=(len(X), 4))
    copies = X[:, rng.choice(X.shape[1], size=3, replace=False)]
    copies = np.column_stack([rng.permutation(column) for column in copies.T])
    return np.column_stack([normal, copies, rng.integers(200, size=(len(X), 3))])


def paper_fit(name, size):
    """Return a function that fits the paper's model."""
    setting = next(s for s in SETTINGS if s.name == name)
    return lambda X, y: fit(setting, X, y, 400 if size == "full" else 5)


def default_fit(is_class, size):
    """Return a function that fits what our estimators fit without arguments."""
    options = {"splitter": "auto"} if size == "full" else {"splitter": "auto", "n_estimators": 5}
    return lambda X, y: ours(is_class, random_state=0, **options).fit(X, y)


def compared(X, y, fresh, is_null, fitted, n_folds, rng, methods=METHODS):
    """Yield what is found and covered by one half, and by all rows in folds."""
    n, half = len(y), len(y) // 2
    folds = KFold(n_folds, shuffle=True, random_state=int(rng.integers(2**31)))
    of_half = fitted(X[:half], y[:half])
    models = [fitted(X[own], y[own]) for own, _ in folds.split(X)]
    for name in methods:
        method, rows_of = getattr(attributions, name), getattr(attributions, f"{name}_rows")
        of_folds = []

        def measure(*model_and_rows, method=method, of_folds=of_folds):
            of_folds.append(method(*model_and_rows, n_jobs=1))
            return of_folds[-1]

        result = cross_fit(Fitted(models), X, y, measure, cv=folds)
        plain = replace(result, standard_error=result.standard_error / WIDER)
        on_fresh = sum(rows_of(m, *fresh, n_jobs=1).values for m in models) / n_folds
        truth = n * on_fresh.mean(axis=0), n / np.sqrt(len(on_fresh)) * on_fresh.std(axis=0)
        single = method(of_half, X[half:], y[half:], n_jobs=1)
        for way, found in (("half", single), ("plain", plain), ("cross-fit", result)):
            row = {"method": name, "way": way, **counted(found, is_null)}
            row |= covered(plain, of_folds, truth, is_null, way == "plain")
            yield {**row, "auc": roc_auc_score(~is_null, found.values)}


def covered(result, of_folds, truth, is_null, is_counted) -> dict:
    """Count the features whose truth lies in each of the intervals; unused features are left out.

    ``result`` has the standard errors of independent rows.
    """
    n_folds, expected, error = len(of_folds), *truth
    normal, t = scipy.stats.norm.ppf(0.975), scipy.stats.t.ppf(0.975, n_folds - 1)
    sums = np.array([fold.values for fold in of_folds])
    half_width = {
        "pooled": normal * result.standard_error,
        "within": normal * np.sqrt(sum(fold.standard_error**2 for fold in of_folds)),
        "t": t * np.sqrt(n_folds) * sums.std(axis=0, ddof=1),
        "wider": normal * WIDER * result.standard_error,
        "wide": normal * np.sqrt(2) * result.standard_error,
    }
    used = is_counted & (result.standard_error > 0)
    counts = {"n": int(used.sum()), "n_relevant": int((used & ~is_null).sum())}
    for name, width in half_width.items():
        inside = used & (np.abs(result.values - expected) <= np.hypot(width, normal * error))
        counts |= {name: int(inside.sum()), f"{name}_relevant": int(inside[~is_null].sum())}
    return counts


def table(rows) -> str:
    """Coverage, false positives, power and ranking."""
    lines = []
    for (setting, method), found in by_values(rows, "setting", "method"):
        lines += [[setting, f"`{method}`", *line] for line in of_ways(found, INTERVALS)]
    return markdown(["setting", "measure", *names_of(INTERVALS)], lines)


def other_table(rows) -> str:
    """Return the same of all other designs and tables, but only the two intervals in question."""
    intervals = ("pooled", "wider")
    lines = []
    for cell in dict.fromkeys((r["setting"], r["rows"], r["folds"], r["trainer"]) for r in rows):
        setting, n_rows, folds, trainer = cell
        found = chosen(rows, setting=setting, rows=n_rows, folds=folds, trainer=trainer)
        named = [setting, f"{int(n_rows):,}", str(int(folds)), trainer]
        lines += [[*named, *line] for line in of_ways(found, intervals)]
    return markdown(["setting", "rows", "folds", "trainer", *names_of(intervals)], lines)


def names_of(intervals):
    """Return the names of the columns that `of_ways` fills."""
    rates = ["noise, p < .05", "relevant, p < .05", "FDR, BH", "power, BH", "AUC"]
    return ["judged by", *(INTERVALS[name] for name in intervals), "of relevant", *rates]


def of_ways(rows, intervals):
    """Yield a line for each way of judging; what is covered stands in one of them."""
    for way, words in WAYS.items():
        found = chosen(rows, way=way)
        false, true = column(found, "false_bh"), column(found, "true_bh")
        yield [
            words,
            *(short_share(found, name, "n") for name in intervals),
            short_share(found, "wider_relevant", "n_relevant"),
            share(found, "false", "n_null"),
            short_share(found, "true", "n_other"),
            cell_of(false / np.maximum(false + true, 1), 3),
            short_share(found, "true_bh", "n_other"),
            f"{column(found, 'auc').mean():.3f}",
        ]


PARTS = (
    Part("cross-fit", crossed(setting=CELLS), experiment, 60, table),
    Part(
        "cross-fit-other",
        tuple({"rows": N, "folds": N_FOLDS, "trainer": "paper"} | cell for cell in OTHER),
        other_experiment, 40, other_table, needs=tuple(data.SETS),
    ),
)  # fmt: skip
