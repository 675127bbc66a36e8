"""Attributions of pairs of features.

`PairAttribution` has what one feature earned below splits on the other. Only pairs that occur are
kept, since trees over many features meet few of all pairs. `LocalPairAttribution` has a square of
numbers for each row.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from attributions.names import find_pair
from attributions.options import imported, whole
from attributions.plots import PairsDisplay
from attributions.results import tables
from attributions.results.per_row import check_shape
from gbt.tables.names import counted

N_SHOWN = 10  # pairs in the text of a result


class DrawnAsSquares(tables.ShownAsTable):
    """A result of pairs."""

    def plot(
        self,
        *,
        max_display: int | None = 10,
        ax: Any = None,
        title: Any = None,
        figsize: Any = None,
    ) -> PairsDisplay:
        """Draw pairs as squares; those too small to be seen are left out.

        Blue helped and vermilion hurt; the numbers of `LocalPairAttribution.importance` are dark.
        Parameters are those of `GlobalAttribution.plot`. The display has ``squares_``.
        """
        return PairsDisplay(self, max_display=max_display).plot(ax, title=title, figsize=figsize)


@dataclass(frozen=True, eq=False, repr=False)
class PairAttribution(DrawnAsSquares):
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
        shown = self.ranking()[: whole(0, n=n)]
        errors = None if self.standard_error is None else self.standard_error[shown]
        columns = [
            tables.ShownColumn("rank", [str(rank) for rank in range(1, len(shown) + 1)]),
            tables.words("feature", self._names(0)[shown]),
            tables.words(
                "below", ["(no other)" if b is None else b for b in self._names(1)[shown]]
            ),
            *tables.with_errors(self.values[shown], errors),
        ]
        title = f"{self.method}, {counted(len(self), 'pair')}, sum over"
        title += f" {counted(self.n_samples, 'row')}"
        return tables.ShownTable(title, columns, note=tables.more(len(self) - len(shown), "pair"))

    def to_frame(self) -> Any:
        """Return a pandas.DataFrame of all pairs that occur, best first.

        Its columns are ``feature``, ``below`` (missing where no other feature was above), ``value``
        and, where there is one, ``standard_error``.
        """
        pandas = imported("pandas", "to_frame", ", or use .values and .pairs")
        columns = {"feature": self._names(0), "below": self._names(1), "value": self.values}
        if self.standard_error is not None:
            columns["standard_error"] = self.standard_error
        return pandas.DataFrame(columns).iloc[self.ranking()].reset_index(drop=True)

    def _names(self, side: int) -> np.ndarray:
        """Return the names of the first or the second features; None where both are the same."""
        names = np.array([*self.feature_names, None], dtype=object)
        column = self.pairs[:, side]
        if side == 1:
            column = np.where(column == self.pairs[:, 0], len(self.feature_names), column)
        return names[column]


@dataclass(frozen=True, eq=False, repr=False)
class LocalPairAttribution(DrawnAsSquares):
    """A symmetric matrix of numbers per row, which adds up to the prediction.

    Parameters
    ----------
    values : float64 array of shape (n, p, p), or (n, p, p, K) for K outputs
        Main effects of the features on the diagonal; off it, in both places of a pair of features,
        half of their joint effect.
    base_values : float64 array of shape (n,) or (n, K)
        The prediction before any feature is known.
    feature_names : tuple of str
    method : str
    output_names : tuple or None
        What K outputs are called.
    index : pandas.Index or None
        Labels of the rows.
    """

    values: np.ndarray
    base_values: np.ndarray
    feature_names: tuple[str, ...]
    method: str
    output_names: tuple | None = None
    index: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        n, p, *outputs = len(self.values), len(self.feature_names), *self.base_values.shape[1:]
        check_shape("values", self.values, (n, p, p, *outputs))
        check_shape("base_values", self.base_values, (n, *outputs))

    def __getitem__(self, names: tuple[str, str]) -> np.ndarray:
        """Return half of two features' joint effect on every row, or a feature's main effect."""
        one, other = find_pair(names, self.feature_names)
        return self.values[:, one, other]

    def main_effects(self) -> np.ndarray:
        """Return the diagonals, of shape (n, p) or (n, p, K)."""
        p = np.arange(len(self.feature_names))
        return self.values[:, p, p]

    def contributions(self) -> np.ndarray:
        """Return the sums over the second feature, (n, p) or (n, p, K): `tree_shap`."""
        return self.values.sum(axis=2)

    def residual(self, raw_prediction: np.ndarray) -> np.ndarray:
        """Return raw predictions less base values and all contributions: 0 but for rounding."""
        return raw_prediction - self.base_values - self.values.sum(axis=(1, 2))

    def importance(self) -> np.ndarray:
        """Return mean absolute main effects and joint effects, over rows and outputs, (p, p).

        A joint effect, both halves together, stands in both places of its pair.
        """
        size = np.abs(np.moveaxis(self.values, (1, 2), (-2, -1)))
        mean = size.reshape(-1, *size.shape[-2:]).mean(axis=0)
        return mean * (2 - np.eye(len(mean)))

    def head(self, n: int = N_SHOWN) -> tables.ShownTable:
        """Return the ``n`` largest effects, main and joint, as a table to look at."""
        size = self.importance()
        below = np.tril_indices(len(size))
        n_pairs, names = len(below[0]), self.feature_names
        order = np.argsort(-size[below], kind="stable")[: whole(0, n=n)]
        first, second = (side[order] for side in below)
        columns = [
            tables.words("feature", [names[j] for j in first]),
            tables.words(
                "with",
                ["(alone)" if j == k else names[k] for j, k in zip(first, second, strict=True)],
            ),
            tables.numbers("mean |value|", size[first, second]),
        ]
        title = f"{self.method}, {counted(len(self), 'row')}"
        return tables.ShownTable(title, columns, note=tables.more(n_pairs - len(order), "pair"))
