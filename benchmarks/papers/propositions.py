"""Propositions 2 and 4 of Sun 2022 by simulation: how fast finite samples come near them.

python -m benchmarks.papers.propositions --write           about three minutes on two quiet cores

Both propositions speak of the population, of infinitely many rows with independent features. So
what can be measured is a distance and how it shrinks as the rows grow in number.

``recovery``  Proposition 2. y is a sum of one function of each feature plus noise of standard
              deviation 1, and F_k(x) = sum_m f_mk(x) should be the k-th function, less its mean.
              Distance: root mean square of the difference over fresh rows and all features.
``floor``     The distance that infinitely many rows leave. With features of three values the
              population is a table of 81 weighted rows without noise and is fitted as such; else it
              is 100,000 rows without noise.
``noise``     Proposition 4. The paper's simulated data: (1/n) ForestInner of the 45 features
              without effect, on n rows not seen, for n training rows.
``standard``  The same features at the paper's standard setting and 1,000 rows.

A slope is that of log distance over log n by least squares; its standard error is the jackknife's
over replications.
"""

import sys
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from attributions import forest_inner, partial_inner, predecomp, tree_inner
from attributions.simulated import TASKS, simulated
from benchmarks.study import NumberedPart, crossed, ours
from benchmarks.study.command import Study, main
from benchmarks.study.files import DOCS
from benchmarks.study.pictures import picture
from benchmarks.study.tables import chosen, markdown, mean_and_error, number, values_of

SEED = 2211_04409
POPULATION = np.inf
N_ROWS = (250, 1000, 4000, 16_000, 64_000)

# ------------------------------------------------------------------------ Proposition 2: recovery


@dataclass(frozen=True)
class Design:
    """A law of the rows, and how trees are grown on them."""

    name: str
    words: str
    max_depth: int | None
    n_estimators: int
    learning_rate: float = 0.1
    continuous: bool = False
    copied: float = 0.0  # probability that feature 2 is a copy of feature 1


DESIGNS = (
    Design("stumps", "3 values, depth 1, 400 trees", 1, 400),
    Design("full trees", "3 values, any depth, 100 trees", None, 100),
    Design("depth 3", "3 values, depth 3, 400 trees", 3, 400),
    Design("usual setting", "continuous, depth 4, 100 trees", 4, 100, continuous=True),
    Design("dependent", "3 values, half of x2 copied from x1, any depth", None, 100, copied=0.5),
)

# Components of mean 0 and root mean square 1, 0.71, 0.5 and 0: rows are features, columns values.
OF_LEVELS = np.array([[1, 0, -1], [0.5, -1, 0.5], [-0.5, -0.5, 1], [0, 0, 0]])
OF_LEVELS[0] *= np.sqrt(3 / 2)
OF_LEVELS[2] *= np.sqrt(1 / 2)
N_LEVELS = 3
N_FRESH = 4000
N_ORACLE = 100_000


def components(design: Design, X: np.ndarray) -> np.ndarray:
    """Return what each feature adds to the mean of y, centred, for rows of the design."""
    if not design.continuous:
        return np.column_stack([OF_LEVELS[k, X[:, k].astype(int)] for k in range(len(OF_LEVELS))])
    wave = np.sqrt(2) * np.sin(2 * np.pi * X[:, 0])
    bowl = np.sqrt(90) * ((X[:, 1] - 0.5) ** 2 - 1 / 12)
    step = np.where(X[:, 2] > 0.5, 0.5, -0.5)
    return np.column_stack([wave, bowl, step, np.zeros(len(X))])


def draw_features(design: Design, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw rows; independent columns unless the design copies some."""
    shape = (n, len(OF_LEVELS))
    if design.continuous:
        return rng.random(shape)
    X = rng.integers(0, N_LEVELS, shape).astype(float)
    X[:, 1] = np.where(rng.random(n) < design.copied, X[:, 0], X[:, 1])
    return X


def all_cells(design: Design) -> tuple[np.ndarray, np.ndarray]:
    """Return every row that the design can draw, and its probability."""
    X = np.array(list(product(range(N_LEVELS), repeat=len(OF_LEVELS))), dtype=float)
    given_x1 = np.where(X[:, 1] == X[:, 0], design.copied, 0.0) + (1 - design.copied) / N_LEVELS
    return X, given_x1 / N_LEVELS ** (len(OF_LEVELS) - 1)


def fit(design: Design, X, y, sample_weight=None):
    """Fit the design's trees."""
    shape = {"n_estimators": design.n_estimators, "max_depth": design.max_depth}
    return ours(learning_rate=design.learning_rate, **shape).fit(X, y, sample_weight)


def distances(design: Design, model, X, probability=None) -> dict[str, float]:
    """Return two root mean squares over rows: attributions (and features) and prediction.

    Of F_k(x) less the true component, and of the prediction less the sum of the components.
    """
    truth = components(design, X)
    attribution = ((predecomp(model, X, n_jobs=1).values - truth) ** 2).mean(axis=1)
    prediction = (model.predict(X) - truth.sum(axis=1)) ** 2
    squares = {"distance": attribution, "prediction": prediction}
    return {q: float(np.sqrt(np.average(squares[q], weights=probability))) for q in squares}


def recovery(design: Design, n: float, replication: int, size: str = "full") -> dict[str, float]:
    """Return the distances after fitting n rows, or those of the population."""
    stream = np.random.SeedSequence([SEED, 2, DESIGNS.index(design), replication])
    training, fresh = map(np.random.default_rng, stream.spawn(2))
    probability = None
    if size == "quick":
        n = min(n, 60)
    if n == POPULATION and not design.continuous:
        X_fresh, probability = all_cells(design)
        y = components(design, X_fresh).sum(axis=1)
        model = fit(design, X_fresh, y, 1e8 * probability)  # beside which lambda = 1 is nothing
    else:
        X = draw_features(design, N_ORACLE if n == POPULATION else n, training)
        y = components(design, X).sum(axis=1)
        model = fit(design, X, y if n == POPULATION else y + training.normal(size=n))
        X_fresh = draw_features(design, N_FRESH, fresh)
    return distances(design, model, X_fresh, probability)


def recovered(cell, replication: int, size: str):
    """Yield both distances of a design, after fitting so many rows or all there are."""
    design = next(design for design in DESIGNS if design.name == cell["series"])
    found = recovery(design, cell.get("n", POPULATION), replication, size)
    yield from ({"quantity": quantity, "value": value} for quantity, value in found.items())


# ---------------------------------------------------------- Proposition 4: features without effect


def forest_inner_centred(model, X, y) -> np.ndarray:
    """Return ForestInner against the target less its mean, which Definition 5 does not subtract."""
    return predecomp(model, X, n_jobs=1).values.T @ (y - y.mean()) / model.learning_rate


FOREST_SCORES = {
    "ForestInner, residual": lambda *rows: forest_inner(*rows, n_jobs=1).values,
    "ForestInner, target": lambda *rows: forest_inner(*rows, variant="target", n_jobs=1).values,
}
ALL_SCORES = {
    "TreeInner": lambda *rows: tree_inner(*rows, n_jobs=1).values,
    "partial": lambda *rows: partial_inner(*rows, n_jobs=1).values,
    **FOREST_SCORES,
    "ForestInner, target centred": forest_inner_centred,
}
STANDARD = {"n_estimators": 400, "learning_rate": 0.01}
SHORT = {"n_estimators": 40, "learning_rate": 0.1}  # the same total step, a tenth of the time


def noise(cell, replication: int, size: str, parameters=SHORT, scores=FOREST_SCORES):
    """Yield, for every score, what the features without effect have per row, in four numbers."""
    task, n = cell["task"], cell["n"] if size == "full" else 60
    stream = np.random.SeedSequence([SEED, 4, TASKS.index(task), replication])
    data = simulated(task, n, n, random_state=int(stream.generate_state(1)[0]))
    is_class = task == "classification"
    model = ours(is_class, max_depth=4, base_score=0.5 * is_class, **parameters)  # as the paper's
    model.fit(data.X_train, data.y_train)
    without_effect = np.setdiff1d(np.arange(data.X_train.shape[1]), data.relevant)
    for score, function in scores.items():
        per_row = function(model, data.X_valid, data.y_valid) / n
        values = per_row[without_effect]
        for quantity, value in (
            ("mean", values.mean()),
            ("rms", np.sqrt(np.mean(values**2))),
            ("share below 0", np.mean(values < 0)),
            ("rms of relevant", np.sqrt(np.mean(per_row[data.relevant] ** 2))),
        ):
            yield {"score": score, "quantity": quantity, "value": float(value)}


standard = partial(noise, parameters=STANDARD, scores=ALL_SCORES)

# ------------------------------------------------------------------------------- tables


def table_of(rows, **which) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of rows, ascending, and the values: replications x numbers of rows."""
    own = chosen(rows, **which)
    n_rows = sorted(values_of(own, "n"))
    columns = [[row["value"] for row in chosen(own, n=n)] for n in n_rows]
    return np.array(n_rows), np.array(columns).T


def floor_of(rows, design: Design, quantity: str = "distance") -> float:
    """Return the distance that the population leaves."""
    return chosen(rows, series=design.name, quantity=quantity)[0]["value"]


def root_mean_square(values: np.ndarray) -> np.ndarray:
    """Return one number a column."""
    return np.sqrt(np.mean(values**2, axis=0))


def slope(n_rows: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Return the slope of log root mean square over log n, and its jackknife standard error."""

    def of(rows):
        return np.polyfit(np.log(n_rows), np.log(root_mean_square(rows)), 1)[0]

    n = len(values)
    left_out = np.array([of(np.delete(values, r, axis=0)) for r in range(n)])
    error = np.sqrt((n - 1) / n * np.sum((left_out - left_out.mean()) ** 2))
    return float(of(values)), float(error)


def with_error(value: float, error: float) -> str:
    """Write a value with its standard error in the digits that the error allows."""
    digits = max(0, 1 - int(np.floor(np.log10(error)))) if error > 0 else 2
    return f"{value:.{digits}f} ({error:.{digits}f})"


def recovery_table(rows, floors) -> str:
    """Tabulate the distances of Proposition 2."""
    lines = []
    for design in DESIGNS:
        n_rows, values = table_of(rows, series=design.name, quantity="distance")
        cells = [number(v) for v in root_mean_square(values)]
        of_population = [number(floor_of(floors, design, q)) for q in ("distance", "prediction")]
        rate = with_error(*slope(n_rows, values))
        lines.append([design.name, design.words, *cells, rate, *of_population])
    header = ["series", "features and trees", *[f"n = {n:,}" for n in n_rows]]
    return markdown([*header, "slope (s.e.)", "floor", "floor of the prediction"], lines)


def noise_table(rows) -> str:
    """Tabulate mean and root mean square of both ForestInners over the features without effect."""
    lines = []
    for task, score in product(TASKS, FOREST_SCORES):
        own = chosen(rows, task=task, score=score)
        (n_rows, values), (_, means), (_, relevant) = (
            table_of(own, quantity=name) for name in ("rms", "mean", "rms of relevant")
        )
        of_means = [with_error(m, e) for m, e in zip(*mean_and_error(means), strict=True)]
        spread, of_relevant = (map(number, root_mean_square(v)) for v in (values, relevant))
        lines += [
            [f"{task}, {score}", "mean (s.e.)", *of_means, ""],
            ["", "root mean square", *spread, with_error(*slope(n_rows, values))],
            ["", "the same, relevant features", *of_relevant, ""],
        ]
    return markdown(["score", "", *[f"n = {n:,}" for n in n_rows], "slope (s.e.)"], lines)


def standard_table(rows) -> str:
    """Tabulate where the features without effect lie at the paper's standard setting."""
    lines = []
    for task, score in product(TASKS, ALL_SCORES):
        means, below = (
            table_of(rows, task=task, score=score, quantity=quantity)[1][:, 0]
            for quantity in ("mean", "share below 0")
        )
        (mean, error), share = mean_and_error(means), mean_and_error(below)
        line = [task, score, with_error(mean, error), f"{mean / error:+.1f}"]
        lines.append([*line, with_error(*share), f"{np.sum(means < 0)} of {len(means)}"])
    header = ["task", "score", "mean (s.e.)", "mean / s.e.", "share of features below 0 (s.e.)"]
    return markdown([*header, "data sets with mean below 0"], lines)


def beside(tables) -> dict[str, str]:
    """Return the table that two parts fill."""
    if not {"recovery", "floor"} <= set(tables):
        return {}
    return {"recovery": recovery_table(tables["recovery"], tables["floor"])}


# ---------------------------------------------------------------------------------- the picture

BLUE, VERMILION, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#AA4499", "#7A7A7A"
INK = "#333333"
COLORS = dict(zip([d.name for d in DESIGNS], [BLUE, GREEN, VERMILION, PURPLE, GREY], strict=True))


def draw(tables, path: Path = DOCS / "propositions.svg") -> None:
    """Draw distance over number of rows, one panel a proposition, each line named at its end."""
    with picture(path, 2, 1, figsize=(5.8, 9)) as (_, (recovery, noise)):
        lines = []
        for design in DESIGNS:
            n_rows, values = table_of(tables["recovery"], series=design.name, quantity="distance")
            level, floor = root_mean_square(values), floor_of(tables["floor"], design)
            label, color = f"{design.name}\n{slope_in_words(n_rows, values)}", COLORS[design.name]
            if floor > level[-1] / 3:
                label += f", floor {number(floor)}"
                recovery.plot(n_rows[[-2, -1]], [floor, floor], ":", color=color, lw=1.5)
            lines.append((level, color, "-", label))
        draw_lines(recovery, n_rows, lines)
        lines = []
        for task, color in zip(TASKS, [VERMILION, BLUE], strict=True):
            for variant, dashes in (("residual", "-"), ("target", "--")):
                which = {"task": task, "score": f"ForestInner, {variant}", "quantity": "rms"}
                n_rows, values = table_of(tables["noise"], **which)
                label = f"{task}, {variant}\n{slope_in_words(n_rows, values)}"
                lines.append((root_mean_square(values), color, dashes, label))
        draw_lines(noise, n_rows, lines)
        titles = {
            recovery: ("Proposition 2: PreDecomp against the true components",
                       "distance, root mean square over rows and features"),
            noise: ("Proposition 4: features without effect",
                    "(1/n) ForestInner, root mean square over features and data sets"),
        }  # fmt: skip
        for ax, (title, what) in titles.items():
            ax.set_title(f"{title}\n", loc="left")
            ax.text(0, 1.03, what, transform=ax.transAxes, color=INK, fontsize=9)
            ax.set_xlabel("training rows n", color=INK)


def slope_in_words(n_rows, values) -> str:
    """Return what is written beside a line."""
    rate, error = slope(n_rows, values)
    return f"slope {rate:.3f} \u00b1 {error:.3f}".replace("-", "\u2212")


def draw_lines(ax, n_rows, lines) -> None:
    """Draw (level, color, dashes, label) series, labels to the right and clear of one another."""
    for level, color, dashes, _ in lines:
        ax.loglog(n_rows, level, dashes, marker="o", markersize=4, color=color, linewidth=1.8)
    low, high = np.log(ax.get_ylim())
    lines = sorted(lines, key=lambda line: line[0][-1])
    heights = move_apart(np.log([level[-1] for level, *_ in lines]), 0.085 * (high - low))
    for (_, color, _, label), height in zip(lines, heights, strict=True):
        beside = (n_rows[-1] * 1.3, np.exp(height))
        ax.text(*beside, label, color=color, va="center", fontsize=9, linespacing=1.1)
    ax.set_xticks(n_rows, [f"{n:,}" for n in n_rows])
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.minorticks_off()
    ax.grid(color="#E6E6E6", linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=INK)


def move_apart(heights, gap: float) -> np.ndarray:
    """Return ascending heights at least a gap apart, each group centred where it was."""
    groups = []
    for height in heights:
        groups.append([height])
        while len(groups) > 1 and lowest(groups[-1], gap) - lowest(groups[-2], -gap) < gap:
            groups[-2:] = [groups[-2] + groups[-1]]
    return np.concatenate([lowest(g, gap) + gap * np.arange(len(g)) for g in groups])


def lowest(group, gap):
    """Return the place of a group's first label around their mean; with -gap, of the last."""
    return np.mean(group) - gap * (len(group) - 1) / 2


NAMES = [design.name for design in DESIGNS]
PARTS = (
    NumberedPart("recovery", crossed(series=NAMES, n=N_ROWS), recovered, 12, None),
    NumberedPart("floor", crossed(series=NAMES), recovered, 1, None),
    NumberedPart("noise", crossed(task=TASKS, n=N_ROWS), noise, 12, noise_table),
    NumberedPart("standard", crossed(task=TASKS, n=(1000,)), standard, 40, standard_table),
)
STUDY = Study("propositions", __doc__, PARTS, beside, draw=draw)

if __name__ == "__main__":
    sys.exit(main(STUDY))
