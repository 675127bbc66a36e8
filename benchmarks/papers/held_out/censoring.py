"""Times to an event: noise beside censored times, a weak column beside permutation's, intervals.

Hazards are e^signal. Times of censoring are drawn beside, so that a share of the events is not
seen: 0, 50 or 80 % of all; or 90 % of the rows of a group and 10 % of the others, where the group,
half of the rows, is a column without effect on the hazard. With ties the times of events and those
of censoring are rounded up to quarters of the mean time to an event. There are three columns of
noise of each kind, 50 trees of depth 3, and as many rows to judge on as to fit on.

The part of accelerated failure time has the same tables. With the normal law its noise is not
that of the times, which is the extreme law's; "visits" are at quarters of the mean time, and an
event is known to lie between two of them, or not to have come by the last.

Counts of rows that were seen for unequal times ask the same: does a column that tells for how long,
and nothing of the rate, look useful? The logarithm of the exposure is where their predictions
start, or rates have exposures for weights, which is the same likelihood. Two classes of which one
is rare start from log-odds that are the logarithm of the exposure, less 2.
"""

import numpy as np
import pandas as pd

from attributions import held_out_gain, permutation
from benchmarks.papers.held_out import noise
from benchmarks.papers.held_out.coverage import heads_of, judged_again, of_sizes
from benchmarks.papers.held_out.targets import TARGETS, Target
from benchmarks.study import Part, crossed
from benchmarks.study.tables import by_values, chosen, column, listed, markdown, values_of
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


def useful(cell, signal, rng) -> tuple[dict[str, pd.Series], np.ndarray]:
    """Draw the columns that matter, none in a complete null, and add what they do to a signal."""
    effects = EFFECTS if cell["signal"] == "beside a signal" else {}
    columns = {}
    for name, effect in effects.items():
        columns[name] = pd.Series(rng.normal(size=len(signal)))
        signal = signal + effect * columns[name].to_numpy()
    return columns, signal


def drawn(cell, n: int, rng) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw a table with its columns in an order drawn at random, and times of events."""
    columns, signal = useful(cell, np.zeros(n), rng)
    if cell["censored"] == OF_GROUP:
        columns[GROUP] = pd.Series(rng.integers(2, size=n) * 1.0)
        share = np.where(columns[GROUP] == 1, 0.9, 0.1)
    else:
        share = np.full(n, cell["censored"])
    X = noise.in_any_order(columns | noise.of_all_kinds(n, 3, rng), rng)
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
    """Fit one model and count what is found."""
    n = cell["rows"]
    X, y = drawn(cell, 2 * n, rng)
    yield from found_beside_weak(fitted(cell, X[:n], y[:n], size), X[n:], y[n:], GROUP, rng)


def found_beside_weak(model, X, y, other: str, rng, **options):
    """Count what is found of each kind, and how many columns of noise lie below the weak one."""
    result = held_out_gain(model, X, y, n_jobs=1, **options)
    shares = {}
    if "weak" in X:
        seed = int(rng.integers(2**31))
        shuffled = permutation(model, X, y, n_jobs=1, random_state=seed, **options)
        shares = {"above": above(result, X), "above_shuffled": above(shuffled, X)}
    for row in noise.by_kind(result, X, (*noise.KINDS, other, "weak")):
        of_weak = shares if row["kind"] == "weak" else {}
        yield {"above": 0.0, "above_shuffled": 0.0, **row, **of_weak}


def above(result, X) -> float:
    """Return the share of normal columns of noise below the weak one."""
    noise = result.values[X.columns.str.startswith("continuous")]
    weak = result.values[list(X.columns).index("weak")]
    return float(np.mean((weak > noise) + 0.5 * (weak == noise)))


def summary(rows, by=BY) -> list[dict]:
    """Add counts of replications up, and average how often the weak column lies above noise."""
    cells = noise.added_up(rows, by)
    for cell in cells:
        own = chosen(rows, **{name: cell[name] for name in by})
        for name in ("above", "above_shuffled"):
            cell[name] = round(float(column(own, name).mean()), 4)
    return cells


def in_per_cent(share) -> str:
    """Return which rows are censored, in words."""
    return share if share == OF_GROUP else f"{100 * float(share):.0f} %"


def table(cells) -> str:
    """List a line a design and number of rows."""
    lines = [
        [in_per_cent(share), *design, *rates(own, GROUP)]
        for (share, *design), own in by_values(cells, *BY[:4])
    ]
    return markdown(["censored", "times", "null", "rows", *heads(GROUP)], lines)


def rates(of_line, other: str) -> list[str]:
    """Return how often columns of each kind are found, the other kind and the weak one."""
    found = [noise.rate_text(chosen(of_line, kind=kind)) for kind in (*noise.KINDS, other)]
    weak = chosen(of_line, kind="weak")
    if not weak:
        return [*found, "-", "-"]
    both = f"{weak[0]['above']:.2f}, {weak[0]['above_shuffled']:.2f}"
    return [*found, f"{weak[0]['found'] / weak[0]['n']:.2f}", both]


def heads(other: str) -> list[str]:
    """Return the heads of `rates`."""
    return [*noise.KINDS, other, "weak, found", "weak above noise: held-out gain, permutation"]


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
    for design, there in by_values(rows, *by):
        shown = [in_per_cent(*design)] if by == ("censored",) else design
        for name in COLUMNS:
            own = [row for row in there if row["feature"].startswith(name)]
            lines.append([*shown, name, *of_sizes(own, sizes)])
    return markdown([*by, "column", *heads_of(sizes, unit)], lines)


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
    for name in ("exposure", "noise", "rate"):
        yield {"column": name, **noise.counted(result, X.columns == name)}


def table_of_exposures(cells) -> str:
    """List a line a way to give exposures, a number of rows and a penalty."""
    names = ("exposure", "noise", "rate")
    return listed(
        cells, OF_EXPOSURE, ["exposures are", "rows", "lambda", *(f"{n}, found" for n in names)],
        lambda own: [noise.rate_text(chosen(own, column=name)) for name in names],
    )  # fmt: skip


def designs(ties) -> tuple[dict, ...]:
    """Return the cells of the parts that count."""
    return crossed(
        censored=SHARES, ties=ties, signal=("complete null", "beside a signal"), rows=(300, 1000)
    )


OF_EXPOSURE = ("exposure", "rows", "lambda")
GIVEN = crossed(
    exposure=("starts", "weights", "starts, two classes"),
    rows=(300, 1000),
    **{"lambda": (0, 1, 10)},
)
PARTS = (
    Part("censoring", designs(("no ties", "ties")), experiment, 20, table, summary=summary),
    Part("censoring-intervals", crossed(censored=SHARES[:3]), intervals, 6, table_of_intervals),
    Part("failure-time", designs(AFT), experiment, 20, table, summary=summary),
    Part(
        "exposures", GIVEN, exposed, 100, table_of_exposures,
        summary=lambda rows: noise.added_up(rows, (*OF_EXPOSURE, "column")),
    ),
)  # fmt: skip
