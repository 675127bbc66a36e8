"""Times to an event: noise beside censored times, a weak column beside permutation's, intervals.

Hazards are e^signal. Times of censoring are drawn beside, so that a share of the events is not
seen: 0, 50 or 80 % of all; or 90 % of the rows of a group and 10 % of the others, where the group,
half of the rows, is a column without effect on the hazard. With ties the times of events and those
of censoring are rounded up to quarters of the mean time to an event. There are three columns of
noise of each kind, 50 trees of depth 3, and as many rows to judge on as to fit on.

The parts of accelerated failure time have the same tables. With the normal law its noise is not
that of the times, which is the extreme law's; "visits" are at quarters of the mean time, and an
event is known to lie between two of them, or not to have come by the last.

Counts of rows that were seen for unequal times ask the same: does a column that tells for how long,
and nothing of the rate, look useful? The logarithm of the exposure is where their predictions
start, or rates have exposures for weights, which is the same likelihood. Two classes of which one
is rare start from log-odds that are the logarithm of the exposure, less 2.
"""

from itertools import product

import numpy as np
import pandas as pd

from attributions import held_out_gain, permutation
from benchmarks.papers.held_out.coverage import cell_texts, judged_again
from benchmarks.papers.held_out.noise import KINDS, added_up, counted, noise_columns, rate_text
from benchmarks.papers.held_out.targets import TARGETS, Target
from benchmarks.study.part import Part
from benchmarks.study.tables import chosen, markdown, values_of
from gbt.losses import Aft
from gbt.losses.survival.times import bounds_of

AFT = {"normal law": Aft(), "extreme law, visits": Aft("extreme")}
OF_GROUP = "90 % of a group"
SHARES = (0.0, 0.5, 0.8, OF_GROUP)
EFFECTS = {"strong": 0.6, "weak": 0.2}
BY = ("censored", "ties", "signal", "rows", "kind")
GROUP = "the group"
COLUMNS = ("strong", "weak", "continuous")  # of which intervals are asked


def censored(signal, share, when, rng) -> np.ndarray:
    """Draw times and events, (n, 2); ``share`` of the rows is censored if the signal is 0."""
    time = rng.exponential(np.exp(-signal))
    end = np.full(len(signal), np.inf)
    np.divide(rng.exponential(size=len(signal)) * (1 - share), share, out=end, where=share > 0)
    if "visits" in when:
        end = np.floor(4 * end) / 4
    if when == "ties":  # both, so that censored rows have seen all of their last quarter
        time, end = np.ceil(4 * time) / 4, np.ceil(4 * end) / 4
    return np.column_stack([np.minimum(time, end), time <= end])


def drawn(cell, n: int, rng) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw a table with its columns in an order drawn at random, and times of events."""
    columns, signal = {}, np.zeros(n)
    if cell["signal"] == "beside a signal":
        for name, effect in EFFECTS.items():
            columns[name] = pd.Series(rng.normal(size=n))
            signal = signal + effect * columns[name].to_numpy()
    share = np.full(n, 0.0)
    if cell["censored"] == OF_GROUP:
        columns[GROUP] = pd.Series(rng.integers(2, size=n) * 1.0)
        share = np.where(columns[GROUP] == 1, 0.9, 0.1)
    else:
        share[:] = cell["censored"]
    for kind in KINDS:
        columns |= noise_columns(kind, n, 3, rng)
    X = pd.DataFrame({name: columns[name] for name in rng.permutation(list(columns))})
    return X, known(cell, censored(signal, share, cell["ties"], rng))


def known(cell, times) -> np.ndarray:
    """Return targets as the cell's loss takes them: times and events, or bounds."""
    if cell["ties"] not in AFT:
        return times
    lower, upper = bounds_of(times).T
    if "visits" in cell["ties"]:  # where censored times already are
        lower, upper = np.floor(4 * lower) / 4, np.ceil(4 * upper) / 4
    return np.column_stack([lower, upper])


def fitted(cell, X, y, size):
    """Fit the cell's loss."""
    return Target(censored, AFT.get(cell["ties"], "cox")).model(size).fit(X, y)


def experiment(cell, rng, size):
    """Fit one model, and count what is found, and how many columns of noise lie below the weak."""
    n = cell["rows"]
    X, y = drawn(cell, 2 * n, rng)
    model = fitted(cell, X[:n], y[:n], size)
    result = held_out_gain(model, X[n:], y[n:], n_jobs=1)
    shuffled = None
    if "weak" in X:
        seed = int(rng.integers(2**31))
        shuffled = permutation(model, X[n:], y[n:], n_jobs=1, random_state=seed)
    for kind in (*KINDS, GROUP, "weak"):
        is_kind = X.columns.str.startswith(kind)
        if is_kind.any():
            row = {"kind": kind, **counted(result, is_kind)}
            if kind == "weak":
                row |= {"above": above(result, X), "above_shuffled": above(shuffled, X)}
            yield {"above": 0.0, "above_shuffled": 0.0, **row}


def above(result, X) -> float:
    """Return the share of normal columns of noise below the weak one."""
    noise = result.values[X.columns.str.startswith("continuous")]
    weak = result.values[list(X.columns).index("weak")]
    return float(np.mean((weak > noise) + 0.5 * (weak == noise)))


def summary(rows, by=BY) -> list[dict]:
    """Add counts of replications up, and average how often the weak column lies above noise."""
    cells = added_up(rows, by)
    for cell in cells:
        own = chosen(rows, **{name: cell[name] for name in by})
        for name in ("above", "above_shuffled"):
            cell[name] = round(float(np.mean([row[name] for row in own])), 4)
    return cells


def table(cells) -> str:
    """List a line a design and number of rows."""
    lines = []
    for design in product(*(values_of(cells, name) for name in BY[:4])):
        of_line = chosen(cells, **dict(zip(BY[:4], design, strict=True)))
        share = design[0] if design[0] == OF_GROUP else f"{100 * float(design[0]):.0f} %"
        lines.append([share, *design[1:], *rates(of_line, GROUP)])
    return markdown(["censored", "times", "null", "rows", *heads(GROUP)], lines)


def rates(of_line, other: str) -> list[str]:
    """Return how often columns of each kind are found, the other kind and the weak one."""
    kinds = [chosen(of_line, kind=kind) for kind in (*KINDS, other)]
    weak = chosen(of_line, kind="weak")
    found = [
        f"{weak[0]['found'] / weak[0]['n']:.2f}",
        f"{weak[0]['above']:.2f}, {weak[0]['above_shuffled']:.2f}",
    ] if weak else ["-", "-"]  # fmt: skip
    return [*(rate_text(kind) if kind else "-" for kind in kinds), *found]


def heads(other: str) -> list[str]:
    """Return the heads of `rates`."""
    return [*KINDS, other, "weak, found", "weak above noise: held-out gain, permutation"]


PART = Part(
    "censoring",
    tuple(
        {"censored": share, "ties": ties, "signal": signal, "rows": rows}
        for share, ties, signal, rows in product(
            SHARES, ("no ties", "ties"), ("complete null", "beside a signal"), (300, 1000)
        )
    ),
    experiment,
    20,
    table,
    summary=summary,
)


def intervals(cell, rng, size):
    """Fit one model to 500 rows, and judge it by draws of a population that judges it, too."""
    design = {"signal": "beside a signal", "ties": "no ties", **cell}

    def draw(n):
        X, y = drawn(design, n, rng)
        return X[sorted(name for name in X if "levels" not in name)], y

    model = fitted(design, *draw(500), size)
    yield from judged_again(model, draw, 30_000, size == "full")


def table_of_intervals(rows, by=("censored",), unit="rows") -> str:
    """List a line a design and a kind of column."""
    lines, sizes = [], values_of(rows, "rows")
    for *design, name in product(*(values_of(rows, name) for name in by), COLUMNS):
        of_design = chosen(rows, **dict(zip(by, design, strict=True)))
        own = [row for row in of_design if row["feature"].startswith(name)]
        cells = [cell_texts(chosen(own, rows=n)) for n in sizes]
        if by == ("censored",):
            design = [f"{100 * float(design[0]):.0f} %"]
        lines.append([*design, name, *(text for cell in cells for text in cell)])
    asked = product(sizes, ("coverage", "reliable", "spread / error"))
    return markdown([*by, "column", *(f"{what}, {n} {unit}" for n, what in asked)], lines)


INTERVALS = Part(
    "censoring-intervals",
    tuple({"censored": share} for share in (0.0, 0.5, 0.8)),
    intervals,
    6,
    table_of_intervals,
)
OF_AFT = Part(
    "failure-time",
    tuple(
        {"censored": share, "ties": law, "signal": signal, "rows": rows}
        for share, law, signal, rows in product(
            SHARES, AFT, ("complete null", "beside a signal"), (300, 1000)
        )
    ),
    experiment,
    20,
    table,
    summary=summary,
)
INTERVALS_OF_AFT = Part(
    "failure-time-intervals",
    tuple({"censored": share, "ties": "normal law"} for share in (0.0, 0.5, 0.8)),
    intervals,
    6,
    table_of_intervals,
)


GIVEN = ("starts", "weights", "starts, two classes")


def exposed(cell, rng, size):
    """Fit counts, or rates, and count how often the exposure, and noise beside it, are found."""
    n = cell["rows"]
    exposure = rng.lognormal(size=2 * n)
    X = pd.DataFrame(rng.normal(size=(2 * n, 2)), columns=["rate", "noise"])
    X["exposure"] = exposure
    signal, start, target = 0.6 * X["rate"], np.log(exposure), TARGETS["Poisson"]
    if "classes" in cell["exposure"]:
        start, target = start - 2, TARGETS["two classes"]
        y = target.draw(start + signal, rng)
    else:
        y = rng.poisson(exposure * np.exp(signal)).astype(float)
    beside = {"init_score": start}
    if cell["exposure"] == "weights":
        y, beside = y / exposure, {"sample_weight": exposure}
    model = target.model(size, reg_lambda=cell["lambda"])
    model.fit(X[:n], y[:n], **{name: of[:n] for name, of in beside.items()})
    judging = {name: of[n:] for name, of in beside.items()}
    result = held_out_gain(model, X[n:], y[n:], n_jobs=1, **judging)
    for column in ("exposure", "noise", "rate"):
        yield {"column": column, **counted(result, X.columns == column)}


def table_of_exposures(cells) -> str:
    """List a line a way to give exposures, a number of rows and a penalty."""
    lines = []
    for line in product(*(values_of(cells, name) for name in ("exposure", "rows", "lambda"))):
        own = chosen(cells, exposure=line[0], rows=line[1], **{"lambda": line[2]})
        found = [rate_text(chosen(own, column=c)) for c in ("exposure", "noise", "rate")]
        lines.append([*line, *found])
    heads = ["exposures are", "rows", "lambda", "exposure, found", "noise, found", "rate, found"]
    return markdown(heads, lines)


EXPOSURES = Part(
    "exposures",
    tuple(
        {"exposure": given, "rows": rows, "lambda": reg_lambda}
        for given, rows, reg_lambda in product(GIVEN, (300, 1000), (0, 1, 10))
    ),
    exposed,
    100,
    table_of_exposures,
    summary=lambda rows: added_up(rows, ("exposure", "rows", "lambda", "column")),
)
