"""What the standard errors and p-values of held-out rows are worth, by simulation.

    python -m benchmarks.inference --jobs 2 --write      # all of it; some minutes on two cores

The design is the paper's (Sun 2022; ``attributions.simulated``): 50 independent features of 2 to 51
values, five relevant ones among the first ten, 1000 training rows, 400 trees of depth 4 at learning
rate .01. Two questions are asked of the functions as a user calls them.

**Coverage** of ``tree_inner(...).confidence_interval(.95)``. Given a fitted model the contributions
q_i of rows drawn independently are independent draws of one distribution. So they are computed once
for a million rows, which from then on *are* the population: its expectation is known without error.
A held-out table of n rows is n rows of it, drawn with replacement; thousands of tables cost no
further walk through the trees::

    model -> q, (1 000 000, p) -> n rows at random -> interval of the sum    contains n * mean(q) ?

**Testing** with ``tree_inner`` and ``partial_inner`` at 1000 held-out rows: many data sets, a model
for each; p-values below .05, and Benjamini-Hochberg at .1. Truth is which features y depends on.

Every replication has a seed of its own, made from its number alone, so results do not depend on
``--jobs``. What must hold is in `gates`; the command fails where it does not. The tables go to
``benchmarks/results``, from where ``--from-results`` makes ``docs/inference.md`` and its picture.
"""

import argparse
import csv
import platform
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import joblib
import numpy as np
import scipy.stats
from scipy.special import expit

import gbt
from attributions import (
    GlobalAttribution,
    LocalAttribution,
    partial_inner,
    tree_inner,
    tree_inner_rows,
)
from attributions.plots import BLUE, GREY, INK, VERMILION
from attributions.simulated import CANDIDATES, N_FEATURES, N_RELEVANT

SEED = 2022
LEVEL = 0.95  # of the intervals
P_VALUE = 0.05  # of single tests
FALSE_DISCOVERY_RATE = 0.1  # asked of Benjamini-Hochberg
N_TRAIN = 1000
N_HELD_OUT = 1000  # in the tests
ROWS_AT_ONCE = 20_000

SKY = "#56B4E9"
METHODS = ("tree_inner", "partial_inner")
COUNTED = (
    "n_noise",
    "n_relevant",
    "single_noise",
    "single_relevant",
    "discovered_noise",
    "discovered_relevant",
    "location_noise",
    "location_relevant",
)

HOME = Path(__file__).parent
RESULTS = {part: HOME / "results" / f"inference_{part}.csv" for part in ("coverage", "tests")}
PAGE = HOME.parent / "docs" / "inference.md"
PICTURE = HOME.parent / "docs" / "inference.svg"


@dataclass(frozen=True)
class Setting:
    """How y depends on s, the mean of the relevant features.

    Parameters
    ----------
    name : str
    task : {"regression", "classification"}
    strength : float or None
        Regression: Var(s) / Var(noise). Classification: the factor of the paper's slope, with s
        centred at 1/2. None is the paper: noise of standard deviation 100 Var(s), log-odds 2 s.
    heavy_tails : bool
        Noise of the same variance with Student's t distribution of 3 degrees of freedom: no fourth
        moment, so the estimated variance of a sum has no variance.
    n_trees : int
        400 in the paper.
    """

    name: str
    task: str
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
    """How much is simulated: a model a setting for coverage, ``n_data_sets`` for tests."""

    most_trees: int
    n_population: int
    draws: dict[int, int]  # held-out rows: tables of so many rows
    n_data_sets: int
    n_fresh: int  # rows that estimate an expectation in the tests


FULL = Size(400, 1_000_000, {200: 5000, 1000: 3000, 5000: 2000}, 80, 2000)
QUICK = Size(20, 2000, {200: 20, 1000: 10}, 2, 200)


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


def streams(part, setting, replicate, n_streams):
    """Return generators that belong to one replication, whoever runs it and when."""
    key = (list(RESULTS).index(part), SETTINGS.index(setting), replicate)
    return map(np.random.default_rng, np.random.SeedSequence(SEED, spawn_key=key).spawn(n_streams))


def fit(setting, X, y, most_trees):
    """Fit a model at the paper's standard setting."""
    is_regression = setting.task == "regression"
    model = (gbt.GBTRegressor if is_regression else gbt.GBTClassifier)(
        n_estimators=min(setting.n_trees, most_trees),
        learning_rate=0.01,
        max_depth=4,
        min_child_weight=1.0,
        reg_lambda=1.0,
        base_score=0.0 if is_regression else 0.5,
        n_jobs=1,
    )
    return model.fit(X, y)


def coverage_of_model(setting, replicate, size):
    """Fit one model and count how often its intervals contain the truth, feature by feature."""
    choice, train, fresh, tables = streams("coverage", setting, replicate, 4)
    source = Source.drawn(setting, choice)
    model = fit(setting, *source.draw(N_TRAIN, train), size.most_trees)
    used = np.unique(model.ensemble_.feature[model.ensemble_.feature >= 0])
    population = np.empty((size.n_population, len(used)))
    for first in range(0, len(population), ROWS_AT_ONCE):
        part = population[first : first + ROWS_AT_ONCE]
        X, y = source.draw(len(part), fresh)
        part[:] = tree_inner_rows(model, X, y, n_jobs=1).values[:, used]
    kurtosis = [scipy.stats.kurtosis(q, fisher=False) for q in population.T]
    return [
        {
            "setting": setting.name,
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


def count_covered(population, n_rows, n_draws, rng):
    """Return, feature by feature, how many intervals contain the expectation.

    Parameters
    ----------
    population : array of shape (n_population, p)
        Contributions q of rows. All there are: tables are drawn from them with replacement.
    n_rows, n_draws : int
        So many tables of so many rows.
    rng : Generator

    Returns
    -------
    int array of shape (p,)
    """
    expectation = n_rows * population.mean(axis=0)
    names = tuple(map(str, range(population.shape[1])))
    n_covered = np.zeros(population.shape[1], dtype=int)
    for _ in range(n_draws):
        table = population[rng.integers(len(population), size=n_rows)]
        rows = LocalAttribution(table, np.zeros(n_rows), names, "tree_inner(predecomp)")
        low, high = GlobalAttribution.from_rows(rows).confidence_interval(LEVEL).T
        n_covered += (low <= expectation) & (expectation <= high)
    return n_covered


def tests_of_data_set(setting, replicate, size):
    """Draw one data set, fit, and test every feature with both methods."""
    choice, train, held_out, fresh = streams("tests", setting, replicate, 4)
    source = Source.drawn(setting, choice)
    model = fit(setting, *source.draw(N_TRAIN, train), size.most_trees)
    X, y = source.draw(N_HELD_OUT, held_out)
    X_fresh, y_fresh = source.draw(size.n_fresh, fresh)
    is_relevant = np.isin(np.arange(N_FEATURES), source.relevant)
    rows = []
    for method in (tree_inner, partial_inner):
        result = method(model, X, y, n_jobs=1)
        many = method(model, X_fresh, y_fresh, standard_error=False, n_jobs=1)
        expectation = many.values * (N_HELD_OUT / size.n_fresh)
        error = result.standard_error
        location = np.divide(expectation, error, out=np.zeros(N_FEATURES), where=error > 0)
        rows.append(
            {"setting": setting.name, "data_set": replicate, "method": method.__name__}
            | count_rejections(result.p_values(), is_relevant)
            | {
                "location_noise": float(location[~is_relevant].mean()),
                "location_relevant": float(location[is_relevant].mean()),
            }
        )
    return rows


def count_rejections(p_values, is_relevant):
    """Count what is found, truly and falsely, by single tests and by Benjamini-Hochberg."""
    single = p_values < P_VALUE
    discovered = scipy.stats.false_discovery_control(p_values) <= FALSE_DISCOVERY_RATE
    return {
        "n_noise": int((~is_relevant).sum()),
        "n_relevant": int(is_relevant.sum()),
        "single_noise": int(single[~is_relevant].sum()),
        "single_relevant": int(single[is_relevant].sum()),
        "discovered_noise": int(discovered[~is_relevant].sum()),
        "discovered_relevant": int(discovered[is_relevant].sum()),
    }


def simulate(size, n_jobs):
    """Run all replications; return the rows of both tables, in the order of the settings."""
    gated = [setting for setting in SETTINGS if setting.is_gated]
    plans = {
        "coverage": (coverage_of_model, SETTINGS, 1),
        "tests": (tests_of_data_set, gated, size.n_data_sets),
    }
    tables = {}
    for part, (experiment, settings, n_replications) in plans.items():
        tasks = [(setting, r, size) for setting in settings for r in range(n_replications)]
        run = joblib.Parallel(n_jobs=n_jobs, return_as="generator")
        tables[part] = []
        for done, rows in enumerate(run(joblib.delayed(experiment)(*t) for t in tasks), start=1):
            tables[part] += rows
            if done % 10 == 0 or done == len(tasks):
                print(f"{part}: {done} of {len(tasks)}", file=sys.stderr, flush=True)
    return tables


# ---- what the tables say


@dataclass(frozen=True)
class Estimate:
    """A mean over independent replications and its simulation error."""

    value: float
    error: float

    @classmethod
    def of(cls, values):
        """Average."""
        values = np.asarray(values, dtype=float)
        return cls(float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))))

    def __str__(self):
        return f"{self.value:.3f} ({self.error:.3f})"


def coverage_of_features(rows):
    """Return {(setting, n_rows): coverage of every used feature}."""
    coverage = {}
    for row in rows:
        key = row["setting"], row["n_rows"]
        coverage.setdefault(key, []).append(row["n_covered"] / row["n_draws"])
    return {key: np.array(features) for key, features in coverage.items()}


def rates(rows, method, setting_names):
    """Return what one method does over all data sets of some settings, name: `Estimate`."""
    chosen = [r for r in rows if r["method"] == method and r["setting"] in setting_names]
    count = {name: np.array([r[name] for r in chosen], dtype=float) for name in COUNTED}
    n_discovered = count["discovered_noise"] + count["discovered_relevant"]
    return {
        "FDR": Estimate.of(count["discovered_noise"] / np.maximum(n_discovered, 1)),
        "power, BH": Estimate.of(count["discovered_relevant"] / count["n_relevant"]),
        "noise, p < .05": Estimate.of(count["single_noise"] / count["n_noise"]),
        "relevant, p < .05": Estimate.of(count["single_relevant"] / count["n_relevant"]),
        "noise, E/s.e.": Estimate.of(count["location_noise"]),
        "relevant, E/s.e.": Estimate.of(count["location_relevant"]),
    }


@dataclass(frozen=True)
class Gate:
    """A number that must lie between two others."""

    kind: str
    case: str
    value: float
    low: float
    high: float

    @property
    def margin(self):
        """Distance to the nearer bound; below 0 outside."""
        return min(self.value - self.low, self.high - self.value)

    @property
    def holds(self):
        """Whether the number is where it must be."""
        return bool(self.margin >= 0)


def gates(tables):
    """Return what must hold: at the paper's number of trees, without heavy tails."""
    gated = [setting.name for setting in SETTINGS if setting.is_gated]
    found = []
    for (setting, n_rows), coverage in coverage_of_features(tables["coverage"]).items():
        if setting in gated and n_rows >= 1000:
            rows = f"{n_rows} rows"
            found += [
                Gate(f"mean coverage, {rows}", setting, coverage.mean(), 0.94, 0.96),
                Gate(f"worst feature, {rows}", setting, coverage.min(), 0.92, 1.0),
            ]
    pooled = rates(tables["tests"], "tree_inner", gated)["FDR"].value
    return [
        *sorted(found, key=lambda gate: gate.kind),
        Gate("pooled FDR of tree_inner", "all settings", pooled, 0.0, FALSE_DISCOVERY_RATE),
    ]


# ---- files


def header():
    """Say which command made a table, with what."""
    versions = ", ".join(
        f"{name} {version}"
        for name, version in (
            ("gbt", gbt.__version__),
            ("numpy", np.__version__),
            ("scipy", scipy.__version__),
            ("Python", platform.python_version()),
        )
    )
    return f"# python -m benchmarks.inference --write; seed {SEED}; {versions}"


def write_tables(tables):
    """Write the two CSV files."""
    for part, path in RESULTS.items():
        path.parent.mkdir(exist_ok=True)
        with path.open("w", newline="") as file:
            file.write(header() + "\n")
            writer = csv.DictWriter(file, tables[part][0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(tables[part])


def read_tables():
    """Read the two CSV files; numbers become numbers again."""
    tables = {}
    for part, path in RESULTS.items():
        with path.open(newline="") as file:
            next(file)
            tables[part] = [
                {name: _number(text) for name, text in row.items()} for row in csv.DictReader(file)
            ]
    return tables


def _number(text):
    """Turn a cell into an int, a float or, where it is neither, leave it."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


# ---- the page and the picture


def as_markdown(names, rows):
    """Return a table."""
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def coverage_table(tables):
    """Coverage of every model: mean and worst feature for every n."""
    coverage = coverage_of_features(tables["coverage"])
    sizes = list(dict.fromkeys(n_rows for _, n_rows in coverage))
    kurtosis = {}
    for row in tables["coverage"]:
        kurtosis.setdefault(row["setting"], []).append(row["kurtosis"])
    rows = []
    for setting, peaks in kurtosis.items():
        cells = [coverage[setting, n_rows] for n_rows in sizes]
        rows.append(
            [setting, len(cells[0])]
            + [f"{features.mean():.3f} ({features.min():.3f})" for features in cells]
            + [f"{np.median(peaks):.0f}, {max(peaks):.0f}"]
        )
    names = [f"{n_rows} rows" for n_rows in sizes]
    return as_markdown(["model", "used features", *names, "kurtosis: median, largest"], rows)


def kurtosis_table(tables):
    """Coverage of all features of all models by how heavy the tails of their rows are."""
    edges = (0.0, 0.01, 0.1, 1.0, np.inf)
    ratio = np.array([row["kurtosis"] / row["n_rows"] for row in tables["coverage"]])
    coverage = np.array([row["n_covered"] / row["n_draws"] for row in tables["coverage"]])
    rows = []
    for low, high in pairwise(edges):
        inside = (low <= ratio) & (ratio < high)
        if inside.any():
            words = f"{low:g} to {high:g}" if np.isfinite(high) else f"above {low:g}"
            chosen = coverage[inside]
            rows.append([words, inside.sum(), f"{chosen.mean():.3f}", f"{chosen.min():.3f}"])
    return as_markdown(["kurtosis / held-out rows", "cases", "mean coverage", "worst"], rows)


def tests_table(tables):
    """Rates of both tests, setting by setting and pooled."""
    gated = list(dict.fromkeys(row["setting"] for row in tables["tests"]))
    rows = []
    for words, names in [*((name, [name]) for name in gated), ("**all**", gated)]:
        for method in METHODS:
            found = rates(tables["tests"], method, names)
            rows.append([words, f"`{method}`", *found.values()])
    return as_markdown(["setting", "test", *found], rows)


def gates_table(tables):
    """Gates of one kind in one line."""
    kinds = {}
    for gate in gates(tables):
        kinds.setdefault(gate.kind, []).append(gate)
    rows = [
        [
            kind,
            f"{min(g.value for g in members):.4f} to {max(g.value for g in members):.4f}",
            f"{members[0].low:g} to {members[0].high:g}",
            f"{sum(g.holds for g in members)} of {len(members)}",
            f"{min(g.margin for g in members):.4f}",
        ]
        for kind, members in kinds.items()
    ]
    return as_markdown(["gate", "found", "needed", "holds", "least margin"], rows)


SECTIONS = {
    "coverage": coverage_table,
    "kurtosis": kurtosis_table,
    "tests": tests_table,
    "gates": gates_table,
}


def page_with(tables, page):
    """Return the text of the page with its tables replaced."""
    for name, table in SECTIONS.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        if page.count(begin) != 1 or page.count(end) != 1:
            raise ValueError(f"{PAGE} needs {begin!r} and {end!r}, once each, around its table.")
        before, rest = page.split(begin)
        page = f"{before}{begin}\n{table(tables)}\n{end}{rest.split(end)[1]}"
    return page


def draw(tables, path):
    """Draw coverage, false positives and power, a line a setting."""
    import matplotlib
    from matplotlib.figure import Figure

    coverage = coverage_of_features(tables["coverage"])
    settings = list(dict.fromkeys(setting for setting, _ in coverage))
    sizes = list(dict.fromkeys(n_rows for _, n_rows in coverage))
    with matplotlib.rc_context(
        {"svg.hashsalt": "inference", "font.size": 9, "legend.frameon": False}
    ):
        figure = Figure(figsize=(10, 4.6), layout="constrained")
        intervals, noise, power = figure.subplots(1, 3, sharey=True, width_ratios=(3, 2, 2))
        _draw_coverage(intervals, coverage, settings, sizes)
        _draw_rates(noise, tables, settings, "noise, p < .05")
        noise.axvline(P_VALUE, color=GREY, linewidth=0.8, zorder=0)
        noise.set(xlim=(0, 0.1), xlabel="noise features with p < .05")
        _draw_rates(power, tables, settings, "power, BH")
        power.set(xlim=(-0.03, 1.03), xlabel="relevant features found")
        figure.legend(*intervals.get_legend_handles_labels(), loc="outside upper left", ncols=3)
        figure.legend(*noise.get_legend_handles_labels(), loc="outside upper right", ncols=2)
        for axes in (intervals, noise, power):
            axes.grid(axis="x", color="#EEEEEE")
            axes.set_axisbelow(True)
            axes.spines[["top", "right", "left"]].set_visible(False)
            axes.tick_params(axis="y", length=0)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _draw_coverage(axes, coverage, settings, sizes):
    """Draw the mean over features as a point, the way to the worst feature as a line."""
    lowest = 0.84
    for k, (n_rows, color) in enumerate(zip(sizes, (SKY, BLUE, INK), strict=False)):
        for line, setting in enumerate(settings):
            features = coverage[setting, n_rows]
            height = line + 0.22 * (k - (len(sizes) - 1) / 2)
            worst = max(features.min(), lowest)
            axes.plot([worst, features.mean()], [height] * 2, color=color, linewidth=1)
            if features.min() < lowest:
                axes.plot(lowest, height, marker="<", color=color, markersize=4, clip_on=False)
            label = f"{n_rows} rows" if line == 0 else None
            axes.plot(features.mean(), height, "o", color=color, markersize=4, label=label)
    axes.axvspan(0.94, 0.96, color="#F1F1F1", zorder=0)
    axes.axvline(LEVEL, color=GREY, linewidth=0.8, zorder=0)
    axes.set(
        yticks=range(len(settings)),
        yticklabels=settings,
        ylim=(len(settings) - 0.4, -0.6),
        xlim=(lowest, 0.965),
        xlabel="coverage of 95 % intervals",
    )


def _draw_rates(axes, tables, settings, rate):
    """Draw one rate of both tests with two simulation errors either way."""
    tested = {row["setting"] for row in tables["tests"]}
    for method, color, shift in zip(METHODS, (BLUE, VERMILION), (-0.13, 0.13), strict=True):
        for line, setting in enumerate(settings):
            if setting in tested:
                found = rates(tables["tests"], method, [setting])[rate]
                label = method if line == 0 else None
                axes.errorbar(
                    found.value,
                    line + shift,
                    xerr=2 * found.error,
                    fmt="o",
                    color=color,
                    markersize=4,
                    elinewidth=1,
                    label=label,
                )


def main(arguments=None):
    """Simulate, or read what was simulated; print the tables and every gate."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.inference", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--jobs", type=int, default=2, help="processes; results do not depend on it"
    )
    parser.add_argument(
        "--quick", action="store_true", help="try the machinery: numbers mean nothing"
    )
    parser.add_argument("--write", action="store_true", help="write CSV files, page and picture")
    parser.add_argument(
        "--from-results", action="store_true", help="read the CSV files instead of simulating"
    )
    options = parser.parse_args(arguments)
    if options.quick and (options.write or options.from_results):
        parser.error("--quick results are not worth keeping; leave out the other options")
    if options.from_results:
        tables = read_tables()
    else:
        tables = simulate(QUICK if options.quick else FULL, options.jobs)
        if options.write:
            write_tables(tables)
    for table in SECTIONS.values():
        print(table(tables) + "\n")
    for gate in gates(tables):
        print(f"{gate.holds!s:5} margin {gate.margin:7.4f}  {gate.kind}: {gate.case}")
    if options.write:
        PAGE.write_text(page_with(tables, PAGE.read_text()))
        draw(tables, PICTURE)
    return 0 if options.quick or all(gate.holds for gate in gates(tables)) else 1


if __name__ == "__main__":
    # Worker processes look functions up by module, and would not find "__main__".
    from benchmarks import inference

    sys.exit(inference.main())
