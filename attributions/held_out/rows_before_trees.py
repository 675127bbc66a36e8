"""What each row adds to TreeInner and its relatives, block by block.

A `BoundModel` is a model with an individual attribution that is bound to it. `RowsBeforeTrees`
compute, for a block of rows and some trees at a time, the gradients before each tree, and call the
attribution once with these as weights. Changes along paths need no call: rows climb from their
spots (``attributions.walk``). The equations stand in ``attributions.held_out.tree_inner``.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from attributions.kernels.paths import add_partial_terms
from attributions.per_row.bound import BoundModel
from attributions.per_row.predecomp import PathChanges
from attributions.walk.layout_of_steps import lower_of
from attributions.walk.rows_at_spots import RowsAtSpots
from gbt.model import statistics
from gbt.model.ensemble import Ensemble
from gbt.model.predictor import transposed
from gbt.model.stages import TREES_AT_ONCE, values_in_start

ByRowAndTree = tuple[np.ndarray, np.ndarray | None]  # the second summed over rows, if wanted


@dataclass(frozen=True)
class Wanted:
    """Which parts a result is to have beside its values."""

    per_tree: bool = False
    per_output: bool = False
    second_moments: bool | None = False  # None: where they cost little
    standard_error: bool = True

    def __post_init__(self) -> None:
        if self.second_moments and not self.standard_error:
            raise ValueError(
                "second_moments=True is for standard errors of sums over features; leave out"
                " standard_error=False."
            )

    def beside(self, ensemble: Ensemble, by_tree: Any) -> dict[str, Any]:
        """Return what is wanted of the contributions of trees, (M, p), as fields of a result."""
        of_output = None
        if self.per_output:
            shape = (ensemble.n_rounds, ensemble.n_outputs, by_tree.shape[1])
            of_output = by_tree.reshape(shape).sum(axis=0)
        return {"per_tree": by_tree if self.per_tree else None, "per_output": of_output}


class RowsBeforeTrees(RowsAtSpots):
    """Rows whose model is a `BoundModel`."""

    model: BoundModel

    asks_queries_at_once = True  # which are the draws of an order: their rows depend on no others

    @property
    def have_paths(self) -> bool:
        """Whether the rows of a leaf share their contributions, so that gradients can be summed."""
        return all(isinstance(bound, PathChanges) for bound in self.model.attributions)

    @cached_property
    def changes(self) -> PathChanges:
        """The changes along the paths of the trees of all outputs; see `have_paths`."""
        attributions: Any = self.model.attributions
        of_outputs = [np.split(b.node_value, b.ensemble.tree_offset[1:-1]) for b in attributions]
        of_trees = [tree for of_round in zip(*of_outputs, strict=True) for tree in of_round]
        return PathChanges(self.ensemble, np.concatenate(of_trees))

    def by_tree(self, sums: np.ndarray) -> np.ndarray:
        """Return sums over rows of r_mk w_i (-g_im), (M, p), from sums of w g by leaf, (n_nodes,).

        All rows that take a step meet the same change of value, which multiplies their sum.
        """
        sums = statistics.add_up_trees(self.ensemble, -sums[:, np.newaxis])[:, 0]
        splits = np.flatnonzero(self.ensemble.left >= 0)
        right, left = (self.changes.step * sums)[lower_of(self.ensemble)[splits]].T
        return self.per_unit_of_step(statistics.by_tree(self.ensemble, splits, right + left))

    def tree_inner(self, rows: slice, per_tree: bool = False) -> ByRowAndTree:
        """Return w_i q_ik of TreeInner, and with ``per_tree`` its sum over the rows by tree."""
        if self.have_paths and self.ensemble.loss.is_by_row:
            q, sums = -self.parts_along(self.changes.parts, rows), None
            if per_tree:
                at_spots = self.sums_at_spots([(rows, self.spots(rows))])
                sums = self.by_tree(self.of_nodes(at_spots[:, :1])[:, 0])
            return self.by_row(q), sums
        block, weight = transposed(self.X[rows]), self.weight[rows]
        n_outputs = self.ensemble.n_outputs
        q, r = np.zeros((2, self.ensemble.n_credited, len(weight)))
        by_tree = np.zeros((self.ensemble.n_trees, len(q)))
        for output, trees, gradient, _ in self.stages(rows, self.spots(rows, block=block)):
            row_weight = -weight * gradient
            self.model.attributions[output].add(block, trees, row_weight, q)
            for j, m in enumerate(trees if per_tree else ()):
                k = self.model.put_tree(output, m, block, row_weight[j : j + 1], r)
                by_tree[m * n_outputs + output, k] = r[k].sum(axis=1)
        return self.by_row(q), self.per_unit_of_step(by_tree) if per_tree else None

    def partial_inner(self, rows: slice, per_tree: bool = False) -> ByRowAndTree:
        """Return w_i q_ik of the partial form, and with ``per_tree`` its sum over rows by tree."""
        block, weight = transposed(self.X[rows]), self.weight[rows]
        n_outputs = self.ensemble.n_outputs
        q, step, *earlier = np.zeros((2 + n_outputs, self.ensemble.n_credited, len(weight)))
        ones = np.ones((1, len(weight)))
        by_tree = np.zeros((self.ensemble.n_trees, len(q)))
        for output, trees, gradient, hessian in self.stages(rows, self.spots(rows, block=block)):
            for m, g, h in zip(trees, gradient, hessian, strict=True):
                k = self.model.put_tree(output, m, block, ones, step)
                add_partial_terms(k, g, h, weight, step, earlier[output], q)
                if per_tree:
                    by_tree[m * n_outputs + output, k] = step[k].sum(axis=1)
        return self.by_row(q), self.per_unit_of_step(by_tree) if per_tree else None

    def forest_inner(self, rows: slice, variant: str) -> ByRowAndTree:
        """Return w_i q_ik of ForestInner."""
        block, y, weight = transposed(self.X[rows]), self.y[rows], self.weight[rows]
        n_outputs = self.ensemble.n_outputs
        forests = np.zeros((n_outputs, self.ensemble.n_credited, len(y)))
        others, ones = np.zeros((n_outputs, len(y))), np.ones((TREES_AT_ONCE, len(y)))
        for output, trees, gradient, _ in self.stages(rows, self.spots(rows, block=block)):
            self.model.attributions[output].add(block, trees, ones[: len(trees)], forests[output])
            for g in gradient:
                others[output] -= g
        if variant == "target":
            is_class = y.ndim == 1 and n_outputs > 1
            others = y == np.arange(n_outputs)[:, np.newaxis] if is_class else np.atleast_2d(y.T)
        products = [
            forest * (weight * other) for forest, other in zip(forests, others, strict=True)
        ]
        return self.by_row(sum(products[1:], start=products[0])), None

    def base_values(self, rows: slice) -> np.ndarray:
        """Return -(1/alpha) sum_m b_m g_im, the share of the trees' base values b_m.

        A forest's start already contains its root values, so that of a tree only base value minus
        root value counts.
        """
        share = np.zeros(rows.stop - rows.start)
        moves = [
            bound.base_values - values_in_start(output)
            for bound, output in zip(self.model.attributions, self.ensemble.outputs, strict=True)
        ]
        for output, trees, gradient, _ in self.stages(rows, self.spots(rows)):
            for m, g in zip(trees, gradient, strict=True):
                share -= moves[output][m] * g
        return self.per_unit_of_step(share)

    def by_row(self, products: np.ndarray) -> np.ndarray:
        """Return products of shape (p, n) as (n, p), in units of the step."""
        return np.ascontiguousarray(self.per_unit_of_step(products).T)

    def per_unit_of_step(self, products: np.ndarray) -> np.ndarray:
        """Divide by alpha: products of shrunk steps become comparable with total gain."""
        return products / self.ensemble.learning_rate
