"""Differences of what features are worth: a table of labels by features, with errors and p-values.

``attributions.changes.contrasts`` says how they are made, and what "together" means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attributions.changes.contrasts import Difference, chances, half_widths
from attributions.options import check_one_of, check_share, imported, whole
from attributions.results import tables
from attributions.results.per_row import check_shape

if TYPE_CHECKING:
    import pandas

N_SHOWN = 12
IN_UNIT = {"percent": "per cent of the constant's loss", "loss": "loss a row"}


@dataclass(frozen=True, eq=False, repr=False)
class Differences(tables.ShownAsTable):
    """How much more features are worth here than there.

    Parameters
    ----------
    values : float64 array of shape (L, p)
        Below 0 where a feature is worth less than it was; nan where rows are too few to judge.
    standard_error : float64 array of shape (L, p)
    degrees : float64 array of shape (L, p)
        Degrees of freedom of Student's distribution.
    labels : tuple of str
        What is compared with what, as in ``"May - April"``.
    about : tuple of int
        The numbers of the labels that are compared with another.
    feature_names : tuple of str
    unit : {"percent", "loss"}
        Per cent of the loss of the best constant, or loss a row.
    adjust : {"joint", None}
        Whether p-values and intervals hold for all labels and features together.
    """

    values: np.ndarray
    standard_error: np.ndarray
    degrees: np.ndarray
    labels: tuple[str, ...]
    feature_names: tuple[str, ...]
    unit: str
    adjust: str | None = "joint"
    about: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_one_of(("joint", None), adjust=self.adjust)
        for name in ("values", "standard_error", "degrees"):
            check_shape(name, getattr(self, name), (len(self.labels), len(self.feature_names)))

    def p_values(self) -> np.ndarray:
        """Return two-sided p-values against "it is worth as much here as there", (L, p).

        With ``adjust="joint"`` one result in twenty at most has any below 0.05 where nothing has
        changed. 1 for a feature that is worth nothing to either, nan where rows are too few.
        """
        return np.where(self._is_still, 1.0, chances(self._t, self.degrees, self._is_joint))

    def confidence_interval(self, level: float = 0.95) -> np.ndarray:
        """Return intervals of differences, (L, p, 2); all hold together if ``adjust`` says so."""
        check_share(0.95, level=level)
        reach = half_widths(self._t, self.degrees, level, self._is_joint) * self.standard_error
        reach = np.where(self._is_still, 0.0, reach)
        return np.stack([self.values - reach, self.values + reach], axis=-1)

    def changed(self, level: float = 0.95) -> np.ndarray:
        """Return which differences are beyond chance, bool of shape (L, p)."""
        return self.p_values() <= 1 - level

    def to_frame(self, *, level: float = 0.95) -> "pandas.DataFrame":
        """Return a pandas.DataFrame with a row for every comparison and feature.

        Indexed by ``label`` and ``feature``, it has ``difference``, ``standard_error``, ``p_value``
        and the ends of the interval of a ``level``, ``lower`` and ``upper``.
        """
        pandas = imported("pandas", "to_frame", ", or use .values, .labels and .feature_names")
        lower, upper = np.moveaxis(self.confidence_interval(level), -1, 0)
        columns = {
            "difference": self.values,
            "standard_error": self.standard_error,
            "lower": lower,
            "upper": upper,
            "p_value": self.p_values(),
        }
        index = pandas.MultiIndex.from_product(
            [self.labels, self.feature_names], names=["label", "feature"]
        )
        return pandas.DataFrame({k: v.ravel() for k, v in columns.items()}, index=index)

    def head(self, n: int = N_SHOWN) -> tables.ShownTable:
        """Return the ``n`` differences of the smallest p-values as a table to look at."""
        p = self.p_values().ravel()
        order = np.lexsort((-np.abs(self._t.ravel()), np.where(np.isnan(p), 2.0, p)))
        order = order[: whole(0, n=n)]
        label, feature = np.unravel_index(order, self.values.shape)
        ends = np.moveaxis(self.confidence_interval(), -1, 0)
        shown = [of_all.ravel()[order] for of_all in (self.values, *ends)]
        columns = [
            tables.words("", [self.labels[j] for j in label]),
            tables.words("feature", [self.feature_names[k] for k in feature]),
            *tables.of_one_unit(("difference", "from", "to"), shown),
            tables.p_values("p-value", p[order]),
        ]
        together = ", 95 % intervals of all together" if self._is_joint else ", 95 % intervals"
        title = f"Differences in {IN_UNIT[self.unit]}{together}"
        return tables.ShownTable(
            title, columns, tables.more(self.values.size - len(order), "difference")
        )

    @property
    def _is_joint(self) -> bool:
        return self.adjust == "joint"

    @property
    def _is_still(self) -> np.ndarray:
        """Which features are worth nothing to either, as those that no tree uses."""
        return (self.values == 0) & (self.standard_error == 0)

    @property
    def _t(self) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self._is_still, np.nan, self.values / self.standard_error)


def stacked(found: Sequence[Difference], **about: Any) -> Differences:
    """Make one result of the differences of several comparisons."""
    values, errors, degrees = (np.array(of_all) for of_all in zip(*found, strict=True))
    return Differences(values, errors, degrees, **about)
