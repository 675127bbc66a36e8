r"""Tables whose rows are judged at splits, in memory or in chunks of Dask.

Unbiased gain is no sum over rows, but all that it needs of rows are two sums, one after the other::

    chunks of X_train  ->  sums of nodes  \
                                           splits  ->  gain, and its derivatives by a row
    chunks of X_valid  ->  sums of nodes  /                          |
    chunks of X_valid  ->  effect of each row on the gain   <--------+
                           their squares add up  ->  standard error

So chunks give what all rows in one table give. A chunk is checked and converted for every walk over
it, rows in memory once.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from attributions.results import GlobalAttribution
from attributions.rows import AllRows, Intake
from attributions.statistics.groups import labels_of
from attributions.unbiased.node_sums import SplitRows
from gbt.model.seen_rows import SeenRows
from gbt.parallel.chunks import Chunk


@dataclass(frozen=True, eq=False)
class SplitTotals:
    """The sums of some rows at the nodes, and what only all rows together can tell.

    Parameters
    ----------
    of_node : float64 array of shape (4, n_nodes)
        Sums of w g, w h, w and 1 over the rows of every node.
    n_rows : int
    n_seen : int
        Rows among them that the model has seen, as far as that is known.
    targets : tuple of two floats
        The least and the largest.
    groups : array or None
        The distinct labels of rows that belong together.
    """

    of_node: np.ndarray
    n_rows: int
    n_seen: int
    targets: tuple[float, float]
    groups: np.ndarray | None

    @classmethod
    def of(
        cls, seen: SeenRows | None, keep: bool, rows: SplitRows, n_jobs: int | None
    ) -> "SplitTotals":
        """Send rows down all trees; for ``keep`` see `SplitRows.node_sums`."""
        return cls(
            rows.node_sums(n_jobs, keep and not rows.is_part),  # chunks are taken in anew
            len(rows.y),
            0 if seen is None else seen.count(rows.X, rows.y, n_jobs),
            (float(rows.y.min()), float(rows.y.max())),
            labels_of(rows.groups),
        )

    def merge(self, other: "SplitTotals") -> "SplitTotals":
        """Return the totals of the rows of both."""
        (least, largest), (least_other, largest_other) = self.targets, other.targets
        groups = None
        if self.groups is not None and other.groups is not None:
            groups = np.union1d(self.groups, other.groups)
        return SplitTotals(
            self.of_node + other.of_node,
            self.n_rows + other.n_rows,
            self.n_seen + other.n_seen,
            (min(least, least_other), max(largest, largest_other)),
            groups,
        )


@dataclass(frozen=True, eq=False)
class SplitTable(AllRows):
    """Training or validation rows; ``which`` of them, "train" or "valid", is named in errors."""

    which: str = ""

    @classmethod
    def named(cls, which: str, model: Intake, given: Chunk, n_jobs: int | None) -> "SplitTable":
        """Take in the rows if they are in memory."""
        with _named(which):
            return replace(cls.of(SplitRows, model, given, n_jobs), which=which)

    def in_memory(self) -> SplitRows:
        """Return the rows, for forms of gain that look at all rows of a node together."""
        if self.rows is None:
            raise ValueError(
                f"X_{self.which} is a table of Dask, and this form of gain needs all rows of a node"
                ' together, in memory. Use form="symmetric", which takes chunks.'
            )
        return self.rows

    def node_totals(
        self, seen: SeenRows | None = None, standard_error: bool = False
    ) -> SplitTotals:
        """Add the rows up, and count those that were ``seen``; `standard_error` may follow."""
        totals = self.over(partial(SplitTotals.of, seen, standard_error), SplitTotals.merge)
        least, largest = totals.targets
        if self.model.ensemble.loss.name == "half_logistic" and least == largest:
            raise ValueError(
                f"y_{self.which} holds one class only, so that gradients differ between the"
                " children of a split only by the model's own predictions. Give rows of both"
                " classes."
            )
        return totals

    def standard_error(self, feature: np.ndarray, part: np.ndarray) -> np.ndarray | None:
        """Return the standard error of the sums of parts, see `SplitRows.sum_parts`."""
        moved = self.over(partial(_moved, feature, part), GlobalAttribution.merge)
        return moved.standard_error

    def over(self, part_of: Callable[..., Any], merge: Callable[..., Any]) -> Any:
        """Return the part of all rows, or the merged parts of all chunks; errors name the rows."""
        with _named(self.which) if self.rows is None else nullcontext():
            return super().over(part_of, merge)


@contextmanager
def _named(which: str) -> Iterator[None]:
    """Name the table in errors, since `Chunk` calls either X, y and sample_weight."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"Of X_{which}, y_{which}, sample_weight_{which}: {error}") from error


def _moved(
    feature: np.ndarray, part: np.ndarray, rows: SplitRows, n_jobs: int | None
) -> GlobalAttribution:
    """Return the summed first-order effects of rows on the gain; only their error is used."""
    sums = rows.sum_parts(feature, part, n_jobs)
    return GlobalAttribution(
        values=sums.total,
        standard_error=sums.standard_error,
        n_samples=len(rows.y),
        feature_names=rows.ensemble.credited_names,
        method="first-order moves",
        groups=labels_of(rows.groups),
        contributions=sums.by_group,
    )
