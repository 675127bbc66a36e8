"""Thirty drawn tables, each with something that misleads whoever explains a model of it."""

from collections.abc import Callable

import numpy as np

from benchmarks.papers.report.belonging import panel
from benchmarks.papers.report.leaks import honest, leak
from benchmarks.papers.report.truths import Truth

NOISE_NAMES = ("noise1", "noise2", "noise3")


def noise(n: int, rng) -> dict[str, np.ndarray]:
    """Draw three columns that say nothing: numbers, few whole numbers, words."""
    return {
        "noise1": rng.normal(size=n).round(3),
        "noise2": rng.integers(1, 6, n),
        "noise3": np.array(["red", "green", "blue", "white"])[rng.integers(4, size=n)],
    }


def signal(n: int, rng) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Draw two columns that matter beside noise, and the mean of a target, with variance 1."""
    age, score = rng.integers(18, 80, n), rng.normal(size=n).round(3)
    mean = (age - 49) / 18 * 0.7 + 0.7 * score
    return {"age": age, **noise(n, rng), "score": score}, mean


MATTER = ("age", "score")


def numbers(n, rng) -> Truth:
    """Draw two columns that matter, and a number."""
    columns, mean = signal(n, rng)
    y = (50 + 10 * (mean + rng.normal(size=n))).round(1)
    return Truth("two columns matter", {**columns, "y": y}, matter=MATTER, noise=NOISE_NAMES)


def two_classes(n, rng) -> Truth:
    """Draw two columns that matter, and two classes."""
    columns, mean = signal(n, rng)
    y = np.where(mean + rng.logistic(size=n) * 0.5 > 0, "yes", "no")
    return Truth("two classes", {**columns, "y": y}, matter=MATTER, noise=NOISE_NAMES)


def words(n, rng) -> Truth:
    """Draw towns that differ."""
    town = rng.integers(12, size=n)
    y = (rng.normal(size=12)[town] + 0.7 * rng.normal(size=n)).round(3)
    columns = {"town": np.char.add("town ", town.astype(str)), **noise(n, rng), "y": y}
    return Truth("towns matter", columns, matter=("town",), noise=NOISE_NAMES, may_group=("town",))


def missing(n, rng) -> Truth:
    """Draw a column that says most by being empty."""
    columns, mean = signal(n, rng)
    asked = rng.random(n) < 0.6
    y = (mean + 1.2 * asked + 0.7 * rng.normal(size=n)).round(3)
    answer = np.where(asked, rng.integers(1, 8, n).astype(str), "")
    return Truth(
        "that a cell is missing matters",
        {**columns, "answer": answer, "y": y},
        matter=(*MATTER, "answer"),
        noise=NOISE_NAMES,
    )


def counts(n, rng) -> Truth:
    """Draw counts with a thin tail."""
    columns, mean = signal(n, rng)
    y = rng.poisson(np.exp(0.8 * mean - 0.5))
    return Truth(
        "counts with a thin tail",
        {**columns, "visits": y},
        "visits",
        matter=MATTER,
        noise=NOISE_NAMES,
        said=("regression of 'visits'",),
    )


def few_rows(n, rng) -> Truth:
    """Draw sixty rows."""
    columns, mean = signal(60, rng)
    y = (2 * mean + rng.normal(size=60)).round(2)
    return Truth(
        "sixty rows, two columns matter",
        {**columns, "y": y},
        noise=NOISE_NAMES,
        said=("Only 30 rows are held out",),
    )


def only_noise(n, rng) -> Truth:
    """Draw noise alone, and a number."""
    columns = {**noise(n, rng), "noise4": rng.normal(size=n).round(3), "noise5": rng.poisson(3, n)}
    y = rng.normal(size=n).round(3)
    return Truth("noise alone", {**columns, "y": y}, noise=tuple(columns))


def only_noise_of_classes(n, rng) -> Truth:
    """Draw noise alone, and two classes."""
    columns = {**noise(n, rng), "noise4": rng.normal(size=n).round(3), "noise5": rng.poisson(3, n)}
    y = np.where(rng.random(n) < 0.5, "sick", "well")
    return Truth("noise alone, two classes", {**columns, "y": y}, noise=tuple(columns))


def only_words(n, rng) -> Truth:
    """Draw noise alone, of which a column has a hundred words."""
    names = np.char.add("street ", rng.integers(100, size=n).astype(str))
    columns = {"street": names, **noise(n, rng)}
    y = np.where(rng.random(n) < 0.15, "yes", "no")
    return Truth("noise of a hundred words", {**columns, "y": y}, noise=tuple(columns))


def _panel(kind: str, n: int, rng, x_matters: bool) -> Truth:
    table = panel(kind, n // 7, 0.7, rng)
    subjects = "v1" if kind == "unnamed" else "id"
    if not x_matters:
        table["y"] = (table["y"] - table["x"]).round(3)
    fixed = tuple(name for name in ("born", "height") if name in table)
    what = {"plain": "persons and years", "bare": "persons, no years", "unnamed": "words, years"}
    return Truth(
        f"panel of {what[kind]}" + ", nothing matters for others" * (not x_matters),
        table,
        matter=("x",) if x_matters else (),
        noise=("z", *fixed) if x_matters else ("x", "z", *fixed),
        groups=subjects,
    )


def panel_plain(n, rng) -> Truth:
    """Draw persons and years, of which one column matters."""
    return _panel("plain", n, rng, True)


def panel_of_nothing(n, rng) -> Truth:
    """Draw persons and years, of which nothing matters for other persons."""
    return _panel("plain", n, rng, False)


def panel_bare(n, rng) -> Truth:
    """Draw persons in any order, without years."""
    return _panel("bare", n, rng, True)


def panel_unnamed(n, rng) -> Truth:
    """Draw persons who are words in a column v1."""
    return _panel("unnamed", n, rng, True)


def panel_of_classes(n, rng) -> Truth:
    """Draw patients who are seen several times, and are sick or well all the time."""
    n_patients = n // 6
    patient = np.repeat(np.arange(n_patients), 6)
    sick = rng.random(n_patients) < 0.4
    changes = rng.random(len(patient)) < 0.1
    y = np.where(sick[patient] ^ changes, "sick", "well")
    weight = (75 + 12 * rng.normal(size=n_patients)).round(1)[patient]
    columns = {"patient": patient + 101, "visit": np.tile(np.arange(1, 7), n_patients)}
    columns |= {"weight": weight, "pulse": rng.integers(50, 100, len(patient)), "y": y}
    return Truth(
        "patients, six visits each, nothing matters for others",
        columns,
        noise=("weight", "pulse", "visit"),
        groups="patient",
    )


def _leak(kind: str, is_class: bool, rng, what: str) -> Truth:
    columns, y = honest(is_class, 0.3, rng)
    columns["status"] = leak(kind, y, is_class, rng)
    named = np.array(["no", "yes"])[y] if is_class else y.round(3)
    return Truth(what, {**columns, "y": named}, matter=("status",), leaks=("status",))


def leak_copy(n, rng) -> Truth:
    """Plant the target with a little noise."""
    return _leak("copy", False, rng, "a column is the target with a little noise")


def leak_code(n, rng) -> Truth:
    """Plant a code of two classes."""
    return _leak("code", True, rng, "a column is a code of the two classes")


def leak_of_two(n, rng) -> Truth:
    """Draw two columns that add up to the target."""
    columns, _ = signal(n, rng)
    men, women = (np.exp(4 + 0.5 * rng.normal(size=n)).round() for _ in range(2))
    table = {**columns, "men": men, "women": women, "total": men + women}
    return Truth(
        "two columns add up to the target",
        table,
        "total",
        matter=("men", "women"),
        noise=NOISE_NAMES,
        leaks=("men", "women"),
    )


def no_leak(n, rng) -> Truth:
    """Draw four columns of which none gives the answer away."""
    x = rng.normal(size=(n, 4)).round(3)
    y = (x.sum(axis=1) + 0.6 * rng.normal(size=n)).round(3)
    columns = {f"x{k + 1}": x[:, k] for k in range(4)}
    return Truth(
        "four columns explain nearly all, none alone",
        {**columns, **noise(n, rng), "y": y},
        matter=tuple(columns),
        noise=NOISE_NAMES,
    )


def money(n, rng) -> Truth:
    """Draw an income such as $23,456."""
    columns, _ = signal(n, rng)
    income = np.exp(10 + 0.6 * rng.normal(size=n)).round()
    y = (np.log(income) - 10 + 0.4 * rng.normal(size=n)).round(3)
    dressed = [f"${value:,.0f}" for value in income]
    return Truth(
        "an income such as $23,456",
        {"income": dressed, **columns, "y": y},
        matter=("income",),
        noise=("age", "score", *NOISE_NAMES),
        said=("Numbers were read between their signs and commas in: income",),
    )


def money_as_target(n, rng) -> Truth:
    """Draw a target such as $123,456."""
    columns, mean = signal(n, rng)
    price = [
        f"${dollars:,.0f}" for dollars in 100_000 * np.exp(0.4 * mean + 0.2 * rng.normal(size=n))
    ]
    return Truth(
        "a price such as $123,456 is the target",
        {**columns, "price": price},
        "price",
        matter=MATTER,
        noise=NOISE_NAMES,
        said=("regression of 'price'", "price (such as"),
    )


def decimal_commas(n, rng) -> Truth:
    """Draw numbers such as 1.234,50."""
    columns, mean = signal(n, rng)
    weight = (1000 + 300 * rng.normal(size=n)).round(1)
    y = mean + (weight - 1000) / 300 + 0.5 * rng.normal(size=n)

    def comma(values):
        return [f"{v:,.2f}".translate(str.maketrans(",.", ".,")) for v in values]

    table = {**columns, "score": comma(columns["score"]), "weight": comma(weight), "y": comma(y)}
    return Truth(
        "1.234,50 between semicolons",
        table,
        matter=(*MATTER, "weight"),
        noise=NOISE_NAMES,
        said=("Decimal commas were read in",),
        separator=";",
    )


def codes(n, rng) -> Truth:
    """Draw codes such as 00501, and shares such as 45%."""
    columns, mean = signal(n, rng)
    zips = np.array([f"{k:05d}" for k in rng.choice(np.arange(501, 9999), 15, replace=False)])
    place = rng.integers(15, size=n)
    share = rng.integers(0, 101, n)
    y = mean + rng.normal(size=15)[place] + (share - 50) / 30 + 0.5 * rng.normal(size=n)
    table = {"zip": zips[place], **columns, "share": [f"{s}%" for s in share], "y": y.round(3)}
    return Truth(
        "postal codes with leading zeros, and 45%",
        table,
        matter=(*MATTER, "zip", "share"),
        noise=NOISE_NAMES,
        said=("zip (15)", "share (such as"),
    )


def twin(n, rng) -> Truth:
    """Draw a column, and a hundred times it."""
    columns, mean = signal(n, rng)
    y = (mean + 0.7 * rng.normal(size=n)).round(3)
    table = {**columns, "score_in_percent": (100 * columns["score"]).round(1), "y": y}
    return Truth(
        "a column is another one times 100",
        table,
        matter=("age",),
        noise=NOISE_NAMES,
        twins={"score_in_percent": "score"},
    )


def region(n, rng) -> Truth:
    """Draw a city and its code."""
    city = rng.integers(10, size=n)
    y = (2 * (city % 3) + 0.5 * rng.normal(size=10)[city] + 0.7 * rng.normal(size=n)).round(3)
    table = {
        "city": np.char.add("c", city.astype(str)),
        "city_code": city + 100,
        **noise(n, rng),
        "y": y,
    }
    return Truth(
        "a city and its code",
        table,
        matter=("city",),
        noise=NOISE_NAMES,
        may_group=("city",),
        twins={"city_code": "city"},
        may_leak=True,
    )


def lone_class(n, rng) -> Truth:
    """Draw two classes, and a third of one row."""
    columns, mean = signal(n, rng)
    y = np.where(mean + 0.5 * rng.normal(size=n) > 0, "up", "down").astype(object)
    y[17] = "sideways"
    return Truth(
        "a class has one row",
        {**columns, "y": y},
        matter=MATTER,
        noise=NOISE_NAMES,
        said=("sideways", "one row alone"),
    )


def thin_class(n, rng) -> Truth:
    """Draw two classes, and a third of six rows."""
    columns, mean = signal(n, rng)
    y = np.where(mean > 0.3, "high", "low").astype(object)
    y[rng.permutation(n)[:6]] = "unknown"
    return Truth(
        "a class has six rows",
        {**columns, "y": y},
        matter=MATTER,
        noise=NOISE_NAMES,
        said=("classes have fewer than 30 held-out rows",),
    )


def rare_event(n, rng) -> Truth:
    """Draw an event in two rows of a hundred, which nothing tells."""
    columns = noise(n, rng)
    y = np.zeros(n, dtype=int)
    y[rng.permutation(n)[: max(n // 50, 4)]] = 1
    return Truth(
        "two rows in a hundred have the event, nothing tells which",
        {**columns, "y": y},
        noise=tuple(columns),
        said=("The rarer class has only",),
    )


def saved_twice(n, rng) -> Truth:
    """Draw a table that was saved with its index, twice."""
    columns, mean = signal(n, rng)
    y = (mean + 0.7 * rng.normal(size=n)).round(3)
    rows = np.arange(n)
    return Truth(
        "saved twice with its index",
        {"": rows, "Unnamed: 0": rows + 1, **columns, "y": y},
        matter=MATTER,
        noise=NOISE_NAMES,
        said=("no name",),
    )


def dates(n, rng) -> Truth:
    """Draw days in their order, and a target that drifts."""
    columns, mean = signal(n, rng)
    day = np.datetime64("2019-01-01") + np.arange(n)
    drift = np.cumsum(rng.normal(size=n)) / 8
    y = (mean + drift + 0.5 * rng.normal(size=n)).round(3)
    return Truth(
        "days in order, the target drifts",
        {"day": day.astype(str), **columns, "y": y},
        matter=MATTER,
        noise=NOISE_NAMES,
        said=("--time day",),
    )


def one_value(n, rng) -> Truth:
    """Draw a column of one value, and one that is nearly empty."""
    columns, mean = signal(n, rng)
    y = (mean + 0.7 * rng.normal(size=n)).round(3)
    empty = np.where(rng.random(n) < 0.1, "7", "")
    return Truth(
        "a column of one value, one nearly empty",
        {"country": ["Norway"] * n, "remark": empty, **columns, "y": y},
        matter=MATTER,
        noise=(*NOISE_NAMES, "country", "remark"),
        said=("one value alone", "country"),
    )


DRAWN: dict[str, Callable[..., Truth]] = {
    function.__name__: function
    for function in (
        numbers, two_classes, words, missing, counts, few_rows,
        only_noise, only_noise_of_classes, only_words, rare_event,
        panel_plain, panel_of_nothing, panel_bare, panel_unnamed, panel_of_classes,
        leak_copy, leak_code, leak_of_two, no_leak,
        money, money_as_target, decimal_commas, codes,
        twin, region, lone_class, thin_class, saved_twice, dates, one_value,
    )
}  # fmt: skip
