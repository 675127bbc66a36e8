"""Rows that judge splits by their sums of w g, w h, w and 1, at the prediction before the tree.

Training and validation rows are added up at the nodes, which makes the gain and its derivatives by
a row; then a validation row's effect on the gain is added up along its paths, feature by feature
(`SplitRows.spread`). So chunks give what all rows in one table give.
"""

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attributions.held_out.constant_loss import Targets
from attributions.rows import AllRows, Intake
from attributions.statistics.row_sums import RowSums, sum_over_rows
from attributions.walk.layout_of_steps import along_paths
from attributions.walk.rows_at_spots import NodeTotals, RowsAtSpots
from gbt.kernels.rows.derivatives import HALF_SQUARED_ERROR
from gbt.model.statistics import add_up_trees
from gbt.parallel.chunks import Chunk


class SplitRows(RowsAtSpots):
    """Rows that judge splits."""

    def targets(self) -> Targets | None:
        """Return the targets where all of them may be of one class."""
        return Targets(self.y, self.weight) if self.are_odds else None

    def spread(self, n_jobs: int | None, part: np.ndarray) -> RowSums:
        """Return how much the effects of rows, or of groups of rows, vary.

        ``part`` (n_nodes, 3) has what w g, w h and w of a row bring in the step to a node.
        """
        if self.ensemble.loss.kind == HALF_SQUARED_ERROR:  # h is 1, so b h + d is b + d
            part = part + [0.0, 0.0, 1.0] * part[:, 1:2]
        parts = along_paths(self.ensemble, part)

        def parts_of(rows: slice) -> tuple[np.ndarray, None]:
            return self.parts_along(parts, rows).T, None

        return sum_over_rows(parts_of, len(self.y), n_jobs, self.groups)


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

    def at_nodes(self, totals: NodeTotals) -> np.ndarray:
        """Return the sums of all rows at the nodes, (4, n_nodes); refuse rows of one class."""
        if totals.targets is not None and np.ptp(totals.targets.y) == 0:
            raise ValueError(
                f"y_{self.which} holds one class only, so that gradients differ between the"
                " children of a split only by the model's own predictions. Give rows of both"
                " classes."
            )
        return add_up_trees(self.model.ensemble, totals.of_node).T

    def over(self, part_of: Callable[..., Any], merge: Callable[..., Any] = operator.add) -> Any:
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
