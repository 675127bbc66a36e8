"""Rows that belong together: visits of one patient, hours of one day, products of one order.

Standard errors count independent draws. Where rows share something that the model does not know,
such as a patient's noise, their contributions are not independent, but those of different groups
are. So contributions are summed within groups first, and the sums z_1k, ..., z_Gk take the place of
rows in every formula of ``attributions.statistics.row_sums``. A model must not have been fitted on
other rows of the groups that judge it (``sklearn.model_selection.GroupKFold`` keeps groups whole).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from attributions.inputs import warn_caller
from gbt.tables.cells import is_missing

ENOUGH_GROUPS = 30  # for the normal tail; with 30, Student's p of 2.0 errors is 0.027, not 0.023


class FewGroupsWarning(UserWarning):
    """Standard errors come from so few groups that intervals and p-values are too small."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Which rows belong together."""

    labels: np.ndarray  # (G,) the distinct labels, sorted
    of_row: np.ndarray  # (n,) the number of each row's label

    @classmethod
    def of(cls, groups: Any, n_rows: int, name: str = "groups") -> "Groups":
        """Take one label a row; refuse missing ones."""
        given = np.asarray(groups)
        if given.shape != (n_rows,):
            got = f" has shape {given.shape}" if given.ndim else f"={groups!r} is a single value"
            advice = f" Of a column of X, give X[{str(groups)!r}]." * isinstance(groups, str)
            raise ValueError(
                f"{name}{got}; it needs one label for each row of X, ({n_rows},).{advice}"
            )
        if any(map(is_missing, given)) if given.dtype.hasobject else (given != given).any():
            raise ValueError(
                f"{name} has missing labels; every row needs one. In pandas, fillna('missing')"
                " makes a label of them."
            )
        try:
            labels, of_row = np.unique(given, return_inverse=True)
        except TypeError as error:
            raise ValueError(
                f"{name} mixes labels that cannot be compared, such as numbers and strings; give"
                " labels of one kind."
            ) from error
        return cls(labels, of_row.reshape(-1))

    def at(self, places: np.ndarray) -> "Groups":
        """Return the groups of some rows."""
        return Groups.of(self.labels[self.of_row[places]], len(places))

    def refuse_to_cut(self, queries: np.ndarray) -> None:
        """Raise ValueError unless all rows of each query, (n,), are in one group."""
        _, of_row = np.unique(queries, return_inverse=True)
        group = np.empty(of_row.max() + 1, dtype=np.intp)
        group[of_row] = self.of_row
        if len(rows := np.flatnonzero(group[of_row] != self.of_row)):
            raise ValueError(
                f"Row {rows[0]} is in another group than other rows of its query, which are ordered"
                " against each other: groups must be of whole queries, such as the users who made"
                " them."
            )

    def within(self, rows: slice, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which groups a block of rows has, and the sums of its ``values`` by group."""
        order = np.argsort(self.of_row[rows], kind="stable")
        present, first = np.unique(self.of_row[rows][order], return_index=True)
        return present, np.add.reduceat(values[order], first, axis=0)


def warn_of_few_groups(labels: np.ndarray | None) -> None:
    """Warn if normal intervals or p-values are made from the errors of few groups."""
    if labels is not None and len(labels) < ENOUGH_GROUPS:
        warn_caller(
            f"The standard errors come from {len(labels)} groups. With fewer than"
            f" {ENOUGH_GROUPS} or so, normal intervals are too narrow and p-values too small: judge"
            " by more groups, or take neither at face value.",
            FewGroupsWarning,
        )


def check_apart(
    labels: np.ndarray | None, others: np.ndarray | None, may_share: bool = False
) -> None:
    """Refuse to merge results if only one has groups, or if they share a group.

    They may share groups where the sums of groups are kept, or where no error is asked for.
    """
    if labels is None and others is None:
        return
    if labels is None or others is None:
        raise ValueError(
            "Only one of the attributions was computed with groups; compute both with them or both"
            " without."
        )
    shared = np.intersect1d(labels, others)
    if len(shared) and not may_share:
        raise ValueError(
            f"{len(shared)} groups have rows in both attributions, {shared[0]!r} for one. Cut the"
            " rows so that every group lies in one piece."
        )
