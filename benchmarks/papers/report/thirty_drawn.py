"""Thirty drawn tables, each with something that misleads whoever explains a model of it.

What a function's docstring says is the table in words; the columns that it returns end with the
target.
"""

from collections.abc import Callable

import numpy as np

from benchmarks.papers.report.belonging import panel
from benchmarks.papers.report.leaks import honest, leak
from benchmarks.papers.report.truths import Truth

NOISE_NAMES = ("noise1", "noise2", "noise3")
MATTER = ("age", "score")
DRAWN: dict[str, Callable[..., Truth]] = {}


def known(**truth):
    """Return a decorator that puts a function's table among the thirty, with what is known of it.

    Unless something else is said, the columns of `signal` matter, and those of `noise` do not.
    """

    def of(draw):
        what = draw.__doc__[0].lower() + draw.__doc__[1:].removesuffix(".")
        given = {"matter": MATTER, "noise": NOISE_NAMES} | truth

        def drawn(n, rng) -> Truth:
            columns = draw(n, rng)
            return Truth(what, columns, target=[*columns][-1], **given)

        DRAWN[draw.__name__] = drawn
        return draw

    return of


def noise(n: int, rng) -> dict[str, np.ndarray]:
    """Draw three columns that say nothing: numbers, few whole numbers, words."""
    return {
        "noise1": rng.normal(size=n).round(3),
        "noise2": rng.integers(1, 6, n),
        "noise3": np.array(["red", "green", "blue", "white"])[rng.integers(4, size=n)],
    }


def noise_alone(n: int, rng) -> dict[str, np.ndarray]:
    """Draw five columns that say nothing."""
    return {**noise(n, rng), "noise4": rng.normal(size=n).round(3), "noise5": rng.poisson(3, n)}


FIVE = (*NOISE_NAMES, "noise4", "noise5")


def signal(n: int, rng) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Draw two columns that matter beside noise, and the mean of a target, with variance 1."""
    age, score = rng.integers(18, 80, n), rng.normal(size=n).round(3)
    mean = (age - 49) / 18 * 0.7 + 0.7 * score
    return {"age": age, **noise(n, rng), "score": score}, mean


@known()
def numbers(n, rng):
    """Two columns matter."""
    columns, mean = signal(n, rng)
    return {**columns, "y": (50 + 10 * (mean + rng.normal(size=n))).round(1)}


@known()
def two_classes(n, rng):
    """Two classes."""
    columns, mean = signal(n, rng)
    return {**columns, "y": np.where(mean + rng.logistic(size=n) * 0.5 > 0, "yes", "no")}


@known(matter=("town",), may_group=("town",))
def words(n, rng):
    """Towns matter."""
    town = rng.integers(12, size=n)
    y = (rng.normal(size=12)[town] + 0.7 * rng.normal(size=n)).round(3)
    return {"town": np.char.add("town ", town.astype(str)), **noise(n, rng), "y": y}


@known(matter=(*MATTER, "answer"))
def missing(n, rng):
    """That a cell is missing matters."""
    columns, mean = signal(n, rng)
    asked = rng.random(n) < 0.6
    y = (mean + 1.2 * asked + 0.7 * rng.normal(size=n)).round(3)
    answer = np.where(asked, rng.integers(1, 8, n).astype(str), "")
    return {**columns, "answer": answer, "y": y}


@known(said=("regression of 'visits'",))
def counts(n, rng):
    """Counts with a thin tail."""
    columns, mean = signal(n, rng)
    return {**columns, "visits": rng.poisson(np.exp(0.8 * mean - 0.5))}


@known(matter=(), said=("Only 30 rows are held out",))
def few_rows(n, rng):
    """Sixty rows, two columns matter."""
    columns, mean = signal(60, rng)
    return {**columns, "y": (2 * mean + rng.normal(size=60)).round(2)}


@known(matter=(), noise=FIVE)
def only_noise(n, rng):
    """Noise alone."""
    return {**noise_alone(n, rng), "y": rng.normal(size=n).round(3)}


@known(matter=(), noise=FIVE)
def only_noise_of_classes(n, rng):
    """Noise alone, two classes."""
    return {**noise_alone(n, rng), "y": np.where(rng.random(n) < 0.5, "sick", "well")}


@known(matter=(), noise=("street", *NOISE_NAMES))
def only_words(n, rng):
    """Noise of a hundred words."""
    names = np.char.add("street ", rng.integers(100, size=n).astype(str))
    columns = {"street": names, **noise(n, rng)}
    return {**columns, "y": np.where(rng.random(n) < 0.15, "yes", "no")}


@known(matter=(), said=("The rarer class has only",))
def rare_event(n, rng):
    """Two rows in a hundred have the event, nothing tells which."""
    columns, y = noise(n, rng), np.zeros(n, dtype=int)
    y[rng.permutation(n)[: max(n // 50, 4)]] = 1
    return {**columns, "y": y}


FIXED = ("born", "height")  # within a subject


@known(matter=("x",), noise=("z", *FIXED), groups="id")
def panel_plain(n, rng):
    """Panel of persons and years."""
    return panel("plain", n // 7, 0.7, rng)


@known(matter=(), noise=("x", "z", *FIXED), groups="id")
def panel_of_nothing(n, rng):
    """Panel of persons and years, nothing matters for others."""
    table = panel("plain", n // 7, 0.7, rng)
    return {**table, "y": (table["y"] - table["x"]).round(3)}


@known(matter=("x",), noise=("z",), groups="id")
def panel_bare(n, rng):
    """Panel of persons, no years."""
    return panel("bare", n // 7, 0.7, rng)


@known(matter=("x",), noise=("z", *FIXED), groups="v1")
def panel_unnamed(n, rng):
    """Panel of words, years."""
    return panel("unnamed", n // 7, 0.7, rng)


@known(matter=(), noise=("weight", "pulse", "visit"), groups="patient")
def panel_of_classes(n, rng):
    """Patients, six visits each, nothing matters for others."""
    n_patients = n // 6
    patient = np.repeat(np.arange(n_patients), 6)
    sick = rng.random(n_patients) < 0.4
    changes = rng.random(len(patient)) < 0.1
    y = np.where(sick[patient] ^ changes, "sick", "well")
    weight = (75 + 12 * rng.normal(size=n_patients)).round(1)[patient]
    columns = {"patient": patient + 101, "visit": np.tile(np.arange(1, 7), n_patients)}
    return columns | {"weight": weight, "pulse": rng.integers(50, 100, len(patient)), "y": y}


def leaking(kind: str, is_class: bool, rng) -> dict[str, np.ndarray]:
    """Draw a table that gives the answer away."""
    columns, y = honest(is_class, 0.3, rng)
    columns["status"] = leak(kind, y, is_class, rng)
    return {**columns, "y": np.array(["no", "yes"])[y] if is_class else y.round(3)}


@known(matter=("status",), noise=(), leaks=("status",))
def leak_copy(n, rng):
    """A column is the target with a little noise."""
    return leaking("copy", False, rng)


@known(matter=("status",), noise=(), leaks=("status",))
def leak_code(n, rng):
    """A column is a code of the two classes."""
    return leaking("code", True, rng)


@known(matter=("men", "women"), leaks=("men", "women"))
def leak_of_two(n, rng):
    """Two columns add up to the target."""
    columns, _ = signal(n, rng)
    men, women = (np.exp(4 + 0.5 * rng.normal(size=n)).round() for _ in range(2))
    return {**columns, "men": men, "women": women, "total": men + women}


@known(matter=("x1", "x2", "x3", "x4"))
def no_leak(n, rng):
    """Four columns explain nearly all, none alone."""
    x = rng.normal(size=(n, 4)).round(3)
    y = (x.sum(axis=1) + 0.6 * rng.normal(size=n)).round(3)
    return {**{f"x{k + 1}": x[:, k] for k in range(4)}, **noise(n, rng), "y": y}


@known(
    matter=("income",), noise=(*MATTER, *NOISE_NAMES),
    said=("Numbers were read between their signs and commas in: income",),
)  # fmt: skip
def money(n, rng):
    """An income such as $23,456."""
    columns, _ = signal(n, rng)
    income = np.exp(10 + 0.6 * rng.normal(size=n)).round()
    y = (np.log(income) - 10 + 0.4 * rng.normal(size=n)).round(3)
    return {"income": [f"${value:,.0f}" for value in income], **columns, "y": y}


@known(said=("regression of 'price'", "price (such as"))
def money_as_target(n, rng):
    """A price such as $123,456 is the target."""
    columns, mean = signal(n, rng)
    price = 100_000 * np.exp(0.4 * mean + 0.2 * rng.normal(size=n))
    return {**columns, "price": [f"${dollars:,.0f}" for dollars in price]}


@known(matter=(*MATTER, "weight"), said=("Decimal commas were read in",), separator=";")
def decimal_commas(n, rng):
    """1.234,50 between semicolons."""
    columns, mean = signal(n, rng)
    weight = (1000 + 300 * rng.normal(size=n)).round(1)
    y = mean + (weight - 1000) / 300 + 0.5 * rng.normal(size=n)

    def comma(values):
        return [f"{v:,.2f}".translate(str.maketrans(",.", ".,")) for v in values]

    return {**columns, "score": comma(columns["score"]), "weight": comma(weight), "y": comma(y)}


@known(matter=(*MATTER, "zip", "share"), said=("zip (15)", "share (such as"))
def codes(n, rng):
    """Postal codes with leading zeros, and 45%."""
    columns, mean = signal(n, rng)
    zips = np.array([f"{k:05d}" for k in rng.choice(np.arange(501, 9999), 15, replace=False)])
    place = rng.integers(15, size=n)
    share = rng.integers(0, 101, n)
    y = mean + rng.normal(size=15)[place] + (share - 50) / 30 + 0.5 * rng.normal(size=n)
    return {"zip": zips[place], **columns, "share": [f"{s}%" for s in share], "y": y.round(3)}


@known(matter=("age",), twins={"score_in_percent": "score"})
def twin(n, rng):
    """A column is another one times 100."""
    columns, mean = signal(n, rng)
    y = (mean + 0.7 * rng.normal(size=n)).round(3)
    return {**columns, "score_in_percent": (100 * columns["score"]).round(1), "y": y}


@known(matter=("city",), may_group=("city",), twins={"city_code": "city"}, may_leak=True)
def region(n, rng):
    """A city and its code."""
    city = rng.integers(10, size=n)
    y = (2 * (city % 3) + 0.5 * rng.normal(size=10)[city] + 0.7 * rng.normal(size=n)).round(3)
    named = {"city": np.char.add("c", city.astype(str)), "city_code": city + 100}
    return {**named, **noise(n, rng), "y": y}


@known(said=("sideways", "one row alone"))
def lone_class(n, rng):
    """A class has one row."""
    columns, mean = signal(n, rng)
    y = np.where(mean + 0.5 * rng.normal(size=n) > 0, "up", "down").astype(object)
    y[17] = "sideways"
    return {**columns, "y": y}


@known(said=("classes have fewer than 30 held-out rows",))
def thin_class(n, rng):
    """A class has six rows."""
    columns, mean = signal(n, rng)
    y = np.where(mean > 0.3, "high", "low").astype(object)
    y[rng.permutation(n)[:6]] = "unknown"
    return {**columns, "y": y}


@known(said=("no name",))
def saved_twice(n, rng):
    """Saved twice with its index."""
    columns, mean = signal(n, rng)
    y = (mean + 0.7 * rng.normal(size=n)).round(3)
    return {"": np.arange(n), "Unnamed: 0": np.arange(n) + 1, **columns, "y": y}


@known(said=("--time day",))
def dates(n, rng):
    """Days in order, the target drifts."""
    columns, mean = signal(n, rng)
    day = np.datetime64("2019-01-01") + np.arange(n)
    drift = np.cumsum(rng.normal(size=n)) / 8
    y = (mean + drift + 0.5 * rng.normal(size=n)).round(3)
    return {"day": day.astype(str), **columns, "y": y}


@known(noise=(*NOISE_NAMES, "country", "remark"), said=("one value alone", "country"))
def one_value(n, rng):
    """A column of one value, one nearly empty."""
    columns, mean = signal(n, rng)
    y = (mean + 0.7 * rng.normal(size=n)).round(3)
    empty = np.where(rng.random(n) < 0.1, "7", "")
    return {"country": ["Norway"] * n, "remark": empty, **columns, "y": y}
