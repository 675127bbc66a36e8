"""Attributions of pairs of features: what one earned below splits on the other.

Only pairs that occur are kept, since trees over many features meet few of all pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attributions.names import find_pair
from attributions.results import tables
from attributions.results.per_row import check_shape

if TYPE_CHECKING:
    from attributions.plots import PairsDisplay

N_SHOWN = 10  # pairs in the text of a result


@dataclass(frozen=True, eq=False, repr=False)
class PairAttribution(tables.ShownAsTable):
    """One number per pair of features, with its standard error.

    Parameters
    ----------
    values : float64 array of shape (P,)
        What the first feature of the pair earned below splits on the second; where both are the
        same feature, what it earned with no other feature above.
    standard_error : float64 array of shape (P,) or None
        As in `GlobalAttribution`; None for a single row.
    pairs : int64 array of shape (P, 2)
        Numbers of features. Pairs that are not listed have the value 0.
    n_samples : int
        Rows that were summed over.
    feature_names : tuple of str
        One name for each column of the model, which ``pairs`` counts from 0.
    method : str
        What was computed, for captions and messages.
    """

    values: np.ndarray
    standard_error: np.ndarray | None
    pairs: np.ndarray
    n_samples: int
    feature_names: tuple[str, ...]
    method: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        check_shape("pairs", self.pairs, (len(self.values), 2))

    def __len__(self) -> int:
        """Return the number of pairs that occur."""
        return len(self.values)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Return the pairs that occur, by their names."""
        names = self.feature_names
        return ((names[k], names[below]) for k, below in self.pairs)

    def __getitem__(self, names: tuple[str, str]) -> float:
        """Return what the first feature earned below splits on the second, by their names."""
        wanted = find_pair(names, self.feature_names)
        return float(self.values[(self.pairs == wanted).all(axis=1)].sum())

    def importance(self) -> np.ndarray:
        """Return the sums over all second features, of shape (p,): `tree_inner` of the first."""
        return np.bincount(self.pairs[:, 0], self.values, minlength=len(self.feature_names))

    def matrix(self) -> np.ndarray:
        """Return all pairs, (p, p): what the feature of the row earned below that of the column."""
        p = len(self.feature_names)
        matrix = np.zeros((p, p))
        matrix[self.pairs[:, 0], self.pairs[:, 1]] = self.values
        return matrix

    def ranking(self) -> np.ndarray:
        """Return the numbers of pairs, best first; equal values in their order."""
        return np.argsort(-self.values, kind="stable")

    def head(self, n: int = N_SHOWN) -> tables.ShownTable:
        """Return the best ``n`` pairs as a table to look at."""
        shown = self.ranking()[: tables.as_count(n)]
        columns = [
            tables.ShownColumn("rank", [str(rank) for rank in range(1, len(shown) + 1)]),
            tables.words("feature", self._names(0)[shown]),
            tables.words(
                "below", ["(no other)" if b is None else b for b in self._names(1)[shown]]
            ),
            tables.numbers("value", self.values[shown]),
        ]
        if self.standard_error is not None:
            columns.append(tables.numbers("standard error", self.standard_error[shown]))
        title = f"{self.method}, {len(self)} pairs, sum over {self.n_samples:,} rows"
        return tables.ShownTable(title, columns, note=tables.more(len(self) - len(shown), "pair"))

    def to_frame(self) -> Any:
        """Return a pandas.DataFrame of all pairs that occur, best first.

        Its columns are ``feature``, ``below`` (missing where no other feature was above), ``value``
        and, where there is one, ``standard_error``.
        """
        pandas = tables.import_pandas(".values and .pairs")
        columns = {"feature": self._names(0), "below": self._names(1), "value": self.values}
        if self.standard_error is not None:
            columns["standard_error"] = self.standard_error
        return pandas.DataFrame(columns).iloc[self.ranking()].reset_index(drop=True)

    def plot(
        self,
        *,
        max_display: int | None = 10,
        ax: Any = None,
        title: Any = None,
        figsize: Any = None,
    ) -> "PairsDisplay":
        """Draw pairs as squares, blue for help, vermilion for harm; those too small are left out.

        Parameters are those of `GlobalAttribution.plot`. The display has ``squares_``.
        """
        from attributions.plots import PairsDisplay

        return PairsDisplay(self, max_display=max_display).plot(ax, title=title, figsize=figsize)

    def _names(self, side: int) -> np.ndarray:
        """Return the names of the first or the second features; None where both are the same."""
        names = np.array([*self.feature_names, None], dtype=object)
        column = self.pairs[:, side]
        if side == 1:
            column = np.where(column == self.pairs[:, 0], len(self.feature_names), column)
        return names[column]
