"""The paper's simulated design: coverage of intervals, and what the tests find.

The design is that of Sun 2022 (``attributions.simulated``): 50 independent features of 2 to 51
values, five relevant ones among the first ten, 1000 training rows, 400 trees of depth 4 at learning
rate 0.01. Two questions are asked of the functions as a user calls them.

**Coverage** of ``tree_inner(...).confidence_interval(0.95)``. Given a fitted model the
contributions q_i of rows drawn independently are independent draws of one distribution. So they are
computed once for a million rows, which from then on *are* the population: its expectation is known
without error.
A held-out table of n rows is n rows of it, drawn with replacement; thousands of tables cost no
further walk through the trees::

    model -> q, (1 000 000, p) -> n rows at random -> interval of the sum    contains n * mean(q) ?

**Testing** with ``tree_inner`` and ``partial_inner``, whose steps are those of Saabas, the default,
or of PreDecomp, at 1000 held-out rows: many data sets, a model for each; p-values below 0.05, and
Benjamini-Hochberg at 0.1. Truth is which features y depends on.

Every replication has a seed of its own, made from its number alone, so results do not depend on the
number of processes. What must hold is in ``benchmarks.papers.inference.gates``.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.stats
from scipy.special import expit

import attributions
from attributions import LocalAttribution, partial_inner, tree_inner
from attributions.simulated import CANDIDATES, N_FEATURES, N_RELEVANT
from benchmarks.papers.inference.judging import P_VALUE, discovered
from benchmarks.study import SEED, ours

LEVEL = 0.95  # of the intervals
N_TRAIN = 1000
N_HELD_OUT = 1000  # in the tests
ROWS_AT_ONCE = 20_000
NUMBERED = ("coverage", "tests")  # parts by the number that their seeds have

METHODS = {
    "tree_inner": tree_inner,
    "partial_inner": partial_inner,
    "partial_inner, PreDecomp": partial(partial_inner, ifa="predecomp"),
}
COUNTED = tuple(
    f"{what}_{side}"
    for what in ("n", "single", "discovered", "location")
    for side in ("noise", "relevant")
)


@dataclass(frozen=True)
class Setting:
    """How y depends on s, the mean of the relevant features.

    ``strength`` is Var(s) / Var(noise) in regression, and in classification the factor of the
    paper's slope, with s centred at 1/2. None is the paper: noise of standard deviation 100 Var(s),
    log-odds 2 s. Heavy tails are noise of the same variance with Student's t distribution of 3
    degrees of freedom: no fourth moment, so the estimated variance of a sum has no variance.
    """

    name: str
    task: str  # "regression" or "classification"
    strength: float | None = None
    heavy_tails: bool = False
    n_trees: int = 400

    @property
    def is_gated(self):
        """Whether anything is promised here."""
        return not self.heavy_tails and self.n_trees == 400


SETTINGS = (
    Setting("regression, paper", "regression"),
    Setting("regression, .05", "regression", 0.05),
    Setting("regression, .3", "regression", 0.3),
    Setting("regression, 2", "regression", 2.0),
    Setting("classification, paper", "classification"),
    Setting("classification, x3", "classification", 3.0),
    Setting("classification, x10", "classification", 10.0),
    Setting("regression, paper, t3", "regression", heavy_tails=True),
    Setting("regression, .3, t3", "regression", 0.3, heavy_tails=True),
    Setting("regression, .3, 20 trees", "regression", 0.3, n_trees=20),
)


@dataclass(frozen=True)
class Size:
    """How much is simulated of a setting."""

    most_trees: int
    n_population: int
    draws: dict[int, int]  # held-out rows: tables of so many rows
    n_fresh: int  # rows that estimate an expectation in the tests


SIZES = {
    "full": Size(400, 1_000_000, {200: 5000, 1000: 3000, 5000: 2000}, 2000),
    "quick": Size(20, 2000, {200: 20, 1000: 10}, 200),
}


@dataclass(frozen=True)
class Source:
    """A distribution of rows: a setting and its relevant columns."""

    setting: Setting
    relevant: np.ndarray

    @classmethod
    def drawn(cls, setting, rng):
        """Choose the relevant columns."""
        return cls(setting, rng.choice(CANDIDATES["low"], size=N_RELEVANT, replace=False))

    def draw(self, n_rows, rng):
        """Draw rows: column j uniform on 0, 1/j, ..., 1, and their targets."""
        largest = np.arange(1, N_FEATURES + 1)
        X = rng.integers(0, largest, size=(n_rows, N_FEATURES), endpoint=True) / largest
        s = X[:, self.relevant].mean(axis=1)
        if self.setting.task == "regression":
            return X, s + self.noise_deviation * self._unit_noise(n_rows, rng)
        return X, (rng.random(n_rows) < expit(self.log_odds(s))).astype(np.float64)

    @property
    def signal_variance(self):
        """Var(s): a mean of independent features of variance (j + 2) / (12 j)."""
        largest = self.relevant + 1
        return ((largest + 2) / (12 * largest)).sum() / N_RELEVANT**2

    @property
    def noise_deviation(self):
        """Standard deviation of the noise in regression."""
        if self.setting.strength is None:
            return 100 * self.signal_variance
        return np.sqrt(self.signal_variance / self.setting.strength)

    def log_odds(self, s):
        """Log-odds of y = 1 in classification."""
        if self.setting.strength is None:
            return 2 * s
        return self.setting.strength * 2 * (s - 0.5)

    def _unit_noise(self, n_rows, rng):
        if self.setting.heavy_tails:
            return rng.standard_t(3, size=n_rows) / np.sqrt(3)
        return rng.normal(size=n_rows)


def setting_of(cell) -> Setting:
    """Return the setting of a cell."""
    return next(setting for setting in SETTINGS if setting.name == cell["setting"])


def streams(part, setting, replicate, n_streams):
    """Return generators that belong to one replication, whoever runs it and when."""
    key = (NUMBERED.index(part), SETTINGS.index(setting), replicate)
    return map(np.random.default_rng, np.random.SeedSequence(SEED, spawn_key=key).spawn(n_streams))


def fit(setting, X, y, most_trees):
    """Fit a model at the paper's standard setting."""
    is_class = setting.task == "classification"
    return ours(
        is_class, n_estimators=min(setting.n_trees, most_trees), learning_rate=0.01, max_depth=4,
        min_child_weight=1.0, reg_lambda=1.0, base_score=0.5 if is_class else 0.0,
    ).fit(X, y)  # fmt: skip


def coverage_of_model(cell, replicate, size):
    """Fit one model and count how often its intervals contain the truth, feature by feature."""
    setting, size = setting_of(cell), SIZES[size]
    choice, train, fresh, tables = streams("coverage", setting, replicate, 4)
    source = Source.drawn(setting, choice)
    model = fit(setting, *source.draw(N_TRAIN, train), size.most_trees)
    used = np.unique(model.ensemble_.feature[model.ensemble_.feature >= 0])
    population = np.empty((size.n_population, len(used)))
    for first in range(0, len(population), ROWS_AT_ONCE):
        part = population[first : first + ROWS_AT_ONCE]
        X, y = source.draw(len(part), fresh)
        part[:] = attributions.tree_inner_rows(model, X, y, n_jobs=1).values[:, used]
    kurtosis = [scipy.stats.kurtosis(q, fisher=False) for q in population.T]
    return [
        {
            "n_rows": n_rows,
            "n_draws": n_draws,
            "feature": int(k) + 1,
            "is_relevant": int(k in source.relevant),
            "kurtosis": float(peak),
            "n_covered": int(n_covered),
        }
        for n_rows, n_draws in size.draws.items()
        for k, peak, n_covered in zip(
            used, kurtosis, count_covered(population, n_rows, n_draws, tables), strict=True
        )
    ]


def drawn_table(population, n_rows, rng) -> attributions.GlobalAttribution:
    """Return the result of a held-out table: rows of the population, drawn with replacement."""
    table = population[rng.integers(len(population), size=n_rows)]
    names = tuple(map(str, range(population.shape[1])))
    rows = LocalAttribution(table, np.zeros(n_rows), names, "tree_inner(predecomp)")
    return attributions.GlobalAttribution.from_rows(rows)


def count_covered(population, n_rows, n_draws, rng):
    """Return, feature by feature, how many of the intervals contain the expectation, (p,).

    ``population`` has the contributions of all rows there are, (n_population, p).
    """
    expectation = n_rows * population.mean(axis=0)
    n_covered = np.zeros(population.shape[1], dtype=int)
    for _ in range(n_draws):
        low, high = drawn_table(population, n_rows, rng).confidence_interval(LEVEL).T
        n_covered += (low <= expectation) & (expectation <= high)
    return n_covered


def tests_of_data_set(cell, replicate, size):
    """Draw one data set, fit, and test every feature with every method."""
    setting, size = setting_of(cell), SIZES[size]
    choice, train, held_out, fresh = streams("tests", setting, replicate, 4)
    source = Source.drawn(setting, choice)
    model = fit(setting, *source.draw(N_TRAIN, train), size.most_trees)
    X, y = source.draw(N_HELD_OUT, held_out)
    X_fresh, y_fresh = source.draw(size.n_fresh, fresh)
    is_relevant = np.isin(np.arange(N_FEATURES), source.relevant)
    for name, method in METHODS.items():
        result = method(model, X, y, n_jobs=1)
        many = method(model, X_fresh, y_fresh, standard_error=False, n_jobs=1)
        expectation = many.values * (N_HELD_OUT / size.n_fresh)
        error = result.standard_error
        location = np.divide(expectation, error, out=np.zeros(N_FEATURES), where=error > 0)
        yield {"method": name} | count_rejections(result.p_values(), is_relevant, location)


def count_rejections(p_values, is_relevant, location) -> dict[str, float]:
    """Count what is found, truly and falsely, by single tests and by Benjamini-Hochberg."""
    single, found = p_values < P_VALUE, discovered(p_values)
    counts = [
        int((what & side).sum())
        for what in (np.ones_like(single), single, found)
        for side in (~is_relevant, is_relevant)
    ]
    locations = (float(location[side].mean()) for side in (~is_relevant, is_relevant))
    return dict(zip(COUNTED, (*counts, *locations), strict=True))
