"""Rows that belong together: the columns that show it, and the signs by which they do.

Ten years of one person are not ten persons. Where rows of a person stand in both halves, a model
can know the person again, and everything looks better than it is for persons not in the table.
Four signs in a table point to such a column, each if chance would not produce it:

*constant*    other columns never change within its values, as a birth year does not
*times*       no value has the same year, day or visit twice, although years come many times
*in a row*    the rows of a value follow each other in the file
*alike*       every value occurs in equally many rows

A fifth is its name, if it is that of a person (``PERSONS``) or of a place or group (``PLACES``).
A last one are the errors of a model, which may agree within its values. A person's rows have errors
in common that a model cannot learn from other persons. For errors r of rows in G groups the
analysis of variance compares the variance between groups with that within them:

    F = B / W      B = sum_g n_g (mean_g - mean)^2 / (G - 1)      W = sum (r - mean_g)^2 / (n - G)

and (B - W) / (B + (m - 1) W), m rows a group, is the share of the errors' variance that rows of a
group have in common. The rows must be of groups that the model has not seen: on those that it has
seen it may have learned the persons.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import norm

from attributions.command.rules.columns import NAME_PARTS, Column
from attributions.names import elided, first_of

PERSONS = {
    "id", "ident", "idcode", "pid", "uid", "hhid", "subject", "subj", "person", "patient",
    "participant", "respondent", "individual", "child", "infant", "mother", "father", "twin",
    "twins", "pair", "couple", "family", "household", "hh", "animal", "rat", "mouse", "dog",
    "cow", "pig", "sheep", "bird", "fish", "chick", "monkey", "tree", "customer", "client",
    "user", "worker", "employee", "student", "pupil", "player", "driver", "doctor", "teacher",
    "litter",
}  # fmt: skip
PLACES = {
    "state", "country", "county", "city", "town", "village", "province", "district", "region",
    "municipality", "school", "classroom", "hospital", "clinic", "center", "centre", "site",
    "station", "well", "borehole", "mine", "plot", "block", "farm", "field", "pond", "lake",
    "river", "firm", "company",
    "industry", "plant", "bank", "store", "shop", "branch", "airline", "team", "club", "batch",
    "lot", "cluster", "group", "grp", "psu", "ward", "department", "precinct", "neighborhood",
    "neighbourhood", "judge", "product",
}  # fmt: skip
TIMES = {
    "year", "yr", "month", "date", "day", "week", "quarter", "time", "wave", "round", "period",
    "visit", "hour", "occasion", "trial",
}  # fmt: skip
NUMBERS = {"no", "nr", "num", "number", "code", "name", "key", "label"}
# What makes a name one of a number or a duration, or of a time at which no row was taken.
NUMBERED = {
    "years", "months", "weeks", "days", "hours", "times", "n", "count", "total", "mean", "per",
    "of", "at", "in", "since", "last", "next",
}  # fmt: skip
NO_TIMES = NUMBERED | {"birth", "born", "model", "built", "num", "number", "visits", "average"}
FEWEST_VALUES = 10
FEWEST_SHARING = 0.1  # of rows that have a value which other rows have, too
LEAST_CHANCE = 20  # if chance makes fewer collisions than this, their absence proves nothing
NEARLY_ALL_CONSTANT, RARE_BY_CHANCE = 0.98, 0.3
N_SHOWN = 3
CHANCE = 1e-3  # larger p-values of errors that agree are taken for chance
LEAST_SHARE = 0.03  # a smaller share of their variance does no visible harm
FEWEST_GROUPS = 5
TINY = 1e-12  # of the errors' variance is what rounding leaves of it within groups


@dataclass(frozen=True)
class Agreement:
    """How far errors agree: the common share of their variance, and its p-value."""

    share: float = 0.0
    p_value: float = 1.0

    @property
    def is_clear(self) -> bool:
        """Whether it is there beyond chance, and large enough to matter."""
        return self.p_value < CHANCE and self.share >= LEAST_SHARE


@dataclass(frozen=True)
class Belonging:
    """A column whose values may hold rows together."""

    name: str
    n_values: int
    n_rows: int  # that have one of them
    is_person: bool = False  # as its name says
    is_place: bool = False
    constant: tuple[str, ...] = ()  # columns that never change within its values
    times: str = ""  # the column of times of which no value has one twice, or nothing
    is_in_a_row: bool = False
    is_alike: bool = False
    are_words: bool = False  # where their rows stand below each other, somebody sorted by them
    agreement: Agreement = Agreement()  # of a model's errors within its values
    is_heeded: bool = False  # the rows of a value were kept in one half, and count as one draw
    is_asked: bool = False

    @property
    def is_built(self) -> bool:
        """Whether the table itself shows it; without a telling name the table must show more."""
        if self.is_person or self.is_place:
            return bool(self.constant or self.times or self.is_in_a_row or self.is_alike)
        return bool(self.constant or self.times or (self.is_in_a_row and self.are_words))

    @property
    def strength(self) -> tuple[int, int, int]:
        """How strong the evidence is, for choosing among several."""
        signs = bool(self.constant) + bool(self.times) + self.is_in_a_row + self.is_alike
        return 2 * self.is_person + self.is_place + signs, len(self.constant), self.n_values

    @property
    def is_strong(self) -> bool:
        """Whether rows are judged by groups unasked: errors agree, and the column explains it.

        A place is no sufficient explanation: towns share what a model has not learned of a region.
        """
        is_panel = bool(self.times) and (self.is_place or bool(self.constant))
        return self.agreement.is_clear and (self.is_person or is_panel)

    @property
    def is_worth_saying(self) -> bool:
        """Whether a reader should know: a person's name, a panel's shape, or errors that agree.

        That towns lie in one region is not enough: their rows may be as independent as others.
        """
        if self.is_person or (self.constant and self.times):
            return True
        return self.agreement.is_clear and (self.is_place or self.is_built)

    @property
    def reasons(self) -> str:
        """The evidence in words."""
        each = self.n_rows / self.n_values
        rows = f"{each:.1f}".removesuffix(".0")
        said = [
            f"each of its {self.n_values:,} values stands in {rows} rows"
            if self.is_alike
            else f"its {self.n_values:,} values stand in {rows} rows each on average"
        ]
        if self.constant:
            change = "changes" if len(self.constant) == 1 else "change"
            names = first_of([*map(elided, self.constant)], N_SHOWN)
            said.append(f"{names} never {change} within one")
        if self.times:
            said.append(f"none has the same {elided(self.times)} twice")
        if self.is_in_a_row:
            said.append("the rows of one stand below each other")
        if self.agreement.is_clear:
            share = 100 * self.agreement.share
            said.append(f"the model's errors agree within one ({share:.0f} % of their variance)")
        return "; ".join(said)


def belonging(columns: Mapping[str, Column], target: str) -> list[Belonging]:
    """Return the columns that may hold rows together, the most telling first.

    Their values are many, whole numbers or words, and shared by several rows.
    """
    others = {name: _places(column) for name, column in columns.items() if name != target}
    of_time, found = columns_of_time(columns, target), []
    for name, values in others.items():
        column, n_rows = columns[name], int((values >= 0).sum())
        sizes = np.bincount(values[values >= 0])
        if (
            not FEWEST_VALUES <= len(sizes) < n_rows
            or column.kind == "dates"
            or (column.kind == "numbers" and not _are_whole(column))
            or sizes[sizes > 1].sum() < FEWEST_SHARING * len(values)
            or _is_time_by_name(name)
        ):
            continue
        is_person = _ends_with(name, PERSONS)
        may_be_coded = column.kind == "numbers" and not is_person
        candidate = Belonging(
            name,
            n_values=len(sizes),
            n_rows=n_rows,
            is_person=is_person,
            is_place=_ends_with(name, PLACES),
            constant=tuple(_constant_within(others, name, may_be_coded=may_be_coded)),
            times=next(_times_within(others, name, of_time), ""),
            is_in_a_row=1 + (np.diff(values) != 0).sum() <= 1.1 * len(sizes),
            is_alike=bool(sizes.max() == sizes.min()),
            are_words=bool(column.words),
        )
        if candidate.is_person or candidate.is_place or candidate.is_built:
            found.append(candidate)
    return sorted(found, key=lambda c: c.strength, reverse=True)


def columns_of_time(columns: Mapping[str, Column], target: str) -> list[str]:
    """Return the columns by which rows may be in the order of time: dates, years, days."""
    return [
        name
        for name, column in columns.items()
        if name != target
        and column.n_distinct >= FEWEST_VALUES // 2
        and (
            column.kind == "dates"
            or (column.kind == "numbers" and _is_time_by_name(name) and _are_whole(column))
        )
    ]


def _parts(name: str) -> list[str]:
    """Return the words of a name, such as firm and size of FirmSize."""
    return [part.casefold() for part in NAME_PARTS.findall(name)]


def _ends_with(name: str, words: set[str]) -> bool:
    """Say whether a name ends with one of some words, numbers aside: FirmNr, but no FirmSize."""
    parts = _parts(name)
    while parts and parts[-1] in NUMBERS:
        parts.pop()
    return bool(parts) and parts[-1] in words and not set(parts) & NUMBERED


def _is_time_by_name(name: str) -> bool:
    """Say whether a name is that of a time at which rows were taken: no birth year, no duration."""
    parts = _parts(name)
    if not parts or parts[-1] not in TIMES or set(parts) & NO_TIMES:
        return False
    return parts == ["time"] or parts[-1] != "time"


def labels_of_groups(column: Column) -> np.ndarray:
    """Return a number a row, shared by rows that belong together, not by missing cells."""
    values = _places(column)
    alone = values < 0
    values[alone] = values.max(initial=-1) + 1 + np.arange(alone.sum())
    return values


def _are_whole(column: Column) -> bool:
    return bool((column.known == np.floor(column.known)).all())


def _places(column: Column) -> np.ndarray:
    """Return the place of every row's value among the sorted ones; -1 where it is missing."""
    import pandas as pd

    return pd.factorize(column.numbers, sort=True)[0]


def _constant_within(
    others: Mapping[str, np.ndarray], name: str, may_be_coded: bool
) -> Iterator[str]:
    """Yield columns that are constant within the values of one, where chance would not make them.

    A column of numbers may be coded again in another one, as ages are in age classes. Such a
    column, each of whose values has an interval of the numbers, is no evidence; nor is a twin.
    """
    values = others[name]
    order = np.argsort(values, kind="stable")
    order = order[values[order] >= 0]
    starts = np.flatnonzero(np.append(True, np.diff(values[order]) > 0))
    sizes = np.diff(np.append(starts, len(order)))
    is_shared = sizes > 1
    for other, codes in others.items():
        n_codes = int(codes.max(initial=0)) + 1
        if other == name or n_codes < 2:
            continue
        lowest = np.minimum.reduceat(codes[order], starts)
        is_constant = lowest == np.maximum.reduceat(codes[order], starts)
        if is_constant[is_shared].mean() < NEARLY_ALL_CONSTANT:
            continue
        shares = np.bincount(codes + 1) / len(codes)
        different, n_of_size = np.unique(sizes[is_shared], return_counts=True)
        by_chance = (shares ** different[:, np.newaxis]).sum(axis=1) @ n_of_size / is_shared.sum()
        is_twin = len(np.unique(lowest)) == len(lowest)
        n_runs = 1 + (np.diff(lowest) != 0).sum()
        is_coded = may_be_coded and n_runs <= len(np.unique(lowest))
        if by_chance <= RARE_BY_CHANCE and not is_twin and not is_coded:
            yield other


def _times_within(
    others: Mapping[str, np.ndarray], name: str, of_time: Sequence[str]
) -> Iterator[str]:
    """Yield columns of times that no value has twice, although chance would repeat many."""
    values = others[name]
    for other in (other for other in of_time if other != name):
        times = others[other]
        known = (values >= 0) & (times >= 0)
        both = values[known] * (times.max() + 1) + times[known]
        by_chance = _pairs(values[known]) * _pairs(times[known]) / max(known.sum() ** 2 / 2, 1)
        if by_chance >= LEAST_CHANCE and _pairs(both) <= 0.02 * by_chance:
            yield other


def _pairs(values: np.ndarray) -> float:
    """Return how many pairs of rows have the same value."""
    sizes = np.unique(values, return_counts=True)[1].astype(np.float64)
    return float((sizes * (sizes - 1)).sum() / 2)


def agreement_within(errors: np.ndarray, groups: np.ndarray) -> Agreement:
    """Return how far errors agree within groups; of several outputs those that agree most."""
    places = np.unique(groups, return_inverse=True)[1].reshape(-1)
    sizes = np.bincount(places).astype(np.float64)
    n, n_groups = len(places), len(sizes)
    if n_groups < FEWEST_GROUPS or n <= n_groups:
        return Agreement()
    r = errors - errors.mean(axis=0)
    squares = (r**2).sum(axis=0)
    of_means = np.array([(np.bincount(places, own) ** 2 / sizes).sum() for own in r.T])
    within = np.maximum((squares - of_means) / (n - n_groups), TINY * squares + TINY)
    between = of_means / (n_groups - 1)
    mean_size = (n - (sizes**2).sum() / n) / (n_groups - 1)
    shares = (between - within) / (between + (mean_size - 1) * within)
    return _clearest(shares, f_distribution.sf(between / within, n_groups - 1, n - n_groups))


def agreement_along(errors: np.ndarray, order: np.ndarray) -> Agreement:
    """Return how far errors of neighbours agree, where rows are put in ascending ``order``."""
    n = len(order)
    if n < 10 * FEWEST_GROUPS:
        return Agreement()
    r = (errors - errors.mean(axis=0))[np.argsort(order, kind="stable")]
    shares = (r[1:] * r[:-1]).sum(axis=0) / np.maximum((r**2).sum(axis=0), TINY)
    return _clearest(shares, norm.sf(shares * np.sqrt(n)))


def _clearest(shares: np.ndarray, p_values: np.ndarray) -> Agreement:
    """Return the agreement of the output that shows it best, allowing for the number of outputs."""
    k = np.lexsort((-shares, p_values))[0]
    return Agreement(float(shares[k]), min(1.0, float(p_values[k]) * len(p_values)))
