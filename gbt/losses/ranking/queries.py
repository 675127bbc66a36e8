"""Rows by query: the targets of a loss of an order, and how they are given.

Such a target is two numbers, the grade of a row and its query, so that whatever draws, drops or
hands on rows need not know of queries. Queries are given beside the grades, as ``groups``, one
label a row in any order. Where a function takes no ``groups``, targets are these two columns.

A weight belongs to a query, which counts as so many queries: its rows must all have the same.
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np

from gbt.tables.cells import is_missing
from gbt.tables.names import counted

PAIRS_OF_THREAD = 30_000  # some 50 microseconds
LARGEST_EXACT = 2.0**53  # larger whole numbers may become equal as float64


@dataclass(frozen=True, eq=False)
class Queries:
    """Rows sorted by query, and within a query from the best grade down.

    Where a query has no rows of lower grades, these begin at its end.
    """

    order: np.ndarray  # (n,) int, the row at each place
    grade: np.ndarray  # (n,) float64, of that row, as its weight
    weight: np.ndarray
    first: np.ndarray  # (Q,) int, the first place of each query
    below: np.ndarray  # (n,) int, where the rows of lower grades begin in the query of each place
    n_jobs: int | None = 1  # threads that may work on them

    @classmethod
    def of(cls, y: np.ndarray, weight: Any = 1.0, n_jobs: int | None = 1) -> "Queries":
        """Sort grades and queries, (n, 2)."""
        order = np.lexsort((-y[:, 0], y[:, 1]))
        grade, query = y[order].T
        weight = np.broadcast_to(weight, len(y))[order]
        is_first = np.append(True, query[1:] != query[:-1])
        differs = ~is_first[1:] & (weight[1:] != weight[:-1])
        if differs.any():
            i = int(np.argmax(differs))
            raise ValueError(
                f"sample_weight is {weight[i]:g} in row {order[i]} and {weight[i + 1]:g} in row"
                f" {order[i + 1]} of the same query: a query is weighted as a whole. Give all of"
                " its rows the same weight, and leave out rows that are not to count."
            )
        is_lower = is_first[1:] | (grade[1:] != grade[:-1])
        ends = np.append(np.flatnonzero(is_lower) + 1, len(y))  # of runs of equal grades
        below = ends[np.searchsorted(ends, np.arange(len(y)), side="right")]
        return cls(order, grade, weight, np.flatnonzero(is_first), below, n_jobs)

    def __len__(self) -> int:
        return len(self.order)

    @cached_property
    def size(self) -> np.ndarray:
        """How many rows each query has."""
        return np.diff(self.edges)

    def to_rows(self, of_queries: np.ndarray) -> np.ndarray:
        """Return the number of its query for the row at each place."""
        return np.repeat(of_queries, self.size)

    @cached_property
    def edges(self) -> np.ndarray:
        """Where queries begin, and the last one ends."""
        return np.append(self.first, len(self))

    @cached_property
    def queries_of_thread(self) -> int:
        """Of how many queries the pairs are worth a thread."""
        n_pairs = int((self.end - self.below).sum())
        return 1 + len(self.first) * PAIRS_OF_THREAD // max(n_pairs, 1)

    @cached_property
    def known_of_places(self) -> dict:
        """What ``gbt.losses.ranking.places`` has found out."""
        return {}

    @cached_property
    def end(self) -> np.ndarray:
        """Where the query of each place ends."""
        return self.to_rows(self.first + self.size)

    @cached_property
    def rank(self) -> np.ndarray:
        """Each place counted from the first of its query."""
        return np.arange(len(self)) - self.to_rows(self.first)

    @cached_property
    def has_order(self) -> np.ndarray:
        """Whether each query has rows of different grades; others say nothing."""
        return self.grade[self.first] > self.grade[self.first + self.size - 1]

    def given_order(self, numbers: np.ndarray) -> np.ndarray:
        """Return numbers of places in the order in which the rows were given."""
        of_rows = np.empty(len(self))
        of_rows[self.order] = numbers
        return of_rows


def with_queries(loss: Any, y: Any, groups: Any, name: str = "groups") -> Any:
    """Return targets with the queries of their rows, (n, 2); without ``groups`` as they are."""
    if groups is None:
        return y
    if not loss.has_queries:
        raise ValueError(
            f"{name} says which rows are ordered against each other, which only the losses"
            f" 'pairwise' and 'ndcg' do; got loss={loss.name!r}. Leave {name} out."
        )
    labels, grades = np.asarray(groups), np.asarray(y)
    if grades.ndim == 2 and grades.shape[1] == 1:
        grades = grades[:, 0]
    if grades.ndim != 1:
        raise ValueError(
            f"y has shape {grades.shape} beside {name}; it needs one grade for each row."
        )
    if labels.shape != grades.shape:
        raise ValueError(
            f"{name} has shape {labels.shape}; it needs the label of its query for each row,"
            f" {grades.shape}. Sizes of queries become labels by np.repeat(np.arange(len(sizes)),"
            " sizes)."
        )
    missing = np.array([is_missing(label) for label in labels.tolist()], bool)
    if missing.any():
        raise ValueError(f"{name} is missing in row {np.argmax(missing)}; every row needs one.")
    return np.column_stack([_as_numbers(grades), _codes(labels)])


def as_grades(loss_name: str, y: Any) -> np.ndarray:
    """Return grades and queries, given as two columns, as float64 of shape (n, 2)."""
    given = np.asarray(y)
    if given.ndim != 2 or given.shape[1] != 2:
        raise ValueError(
            f"y has shape {given.shape}, and under the {loss_name} loss rows are ordered within"
            " their query: give groups=, a label for each row (eval_groups= for evaluation sets);"
            " or, where a function takes no groups, y as two columns, the grade and the number of"
            " the query: np.column_stack([y, query])."
        )
    return _as_numbers(given)


def check_grades(y: np.ndarray, most: float | None) -> None:
    """Raise ValueError unless grades are such, and some query has an order.

    With ``most`` grades must be whole numbers up to that.
    """
    grade, query = y.T
    is_wrong = ~np.isfinite(grade)
    allowed = "must be finite"
    if most is not None:
        is_wrong |= (grade < 0) | (grade > most) | (grade % 1 != 0)
        allowed = f"are whole numbers from 0 to {most:g}, more for better rows"
    if is_wrong.any():
        row = int(np.argmax(is_wrong))
        raise ValueError(f"y has in row {row} the grade {grade[row]:g}; grades {allowed}.")
    if not np.isfinite(query).all():
        raise ValueError(f"The query of row {np.argmax(~np.isfinite(query))} is missing.")
    rows = Queries.of(y)
    if (rows.size == 1).any():
        row = rows.order[rows.first[np.argmax(rows.size == 1)]]
        raise ValueError(
            f"Row {row} is alone in its query, where there is nothing to be ordered. Leave out what"
            f" is alone, {counted(int((rows.size == 1).sum()), 'row')} of {len(y):,}; or do groups"
            " hold something else?"
        )
    if not rows.has_order.any():
        raise ValueError(
            f"None of the {len(rows.first)} queries has rows of different grades: there is no order"
            " to be learned or judged."
        )


def _as_numbers(grades: np.ndarray) -> np.ndarray:
    try:
        return grades.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError("y holds grades, which are numbers, more for better rows.") from error


def _codes(labels: np.ndarray) -> np.ndarray:
    """Return a number for each label, the same in every table, for a row to be known again."""
    if labels.dtype.kind in "iufb" and (np.abs(labels.astype(np.float64)) < LARGEST_EXACT).all():
        return labels.astype(np.float64)
    try:
        distinct, which = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError("Groups must be labels of one type, all words or all numbers.") from error
    texts = distinct.astype(str)
    digests = (blake2b(text.encode(), digest_size=6).digest() for text in texts)
    return np.array([float(int.from_bytes(digest)) for digest in digests])[which]
