"""Attributions of rows by pairs of features: for each row a square of numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from attributions.names import find_pair
from attributions.results import tables
from attributions.results.per_row import check_shape

N_SHOWN = 10  # pairs in the text of a result


@dataclass(frozen=True, eq=False, repr=False)
class LocalPairAttribution(tables.ShownAsTable):
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

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.values)

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
        order = np.argsort(-size[below], kind="stable")[: tables.as_count(n)]
        first, second = (side[order] for side in below)
        columns = [
            tables.words("feature", [names[j] for j in first]),
            tables.words(
                "with",
                ["(alone)" if j == k else names[k] for j, k in zip(first, second, strict=True)],
            ),
            tables.numbers("mean |value|", size[first, second]),
        ]
        title = f"{self.method}, {len(self):,} rows"
        return tables.ShownTable(title, columns, note=tables.more(n_pairs - len(order), "pair"))
