"""The rows that the trees of a model were grown on: their leaves, responses and weights.

A boosted tree has the response -g/h with the weight h, at the predictions before it, so that a
node's mean response is -G/H. In a forest no tree builds on another, and the response is y itself.
Rows that a tree did not see are *out of bag*. The given rows are checked, tree by tree: in every
leaf they must add up to the G, H and counts that the model keeps or, if it keeps no G, their steps
must be the values of the leaves.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from attributions.inputs import named_as, refuse_credit
from attributions.mdi.stump_problem import TreeRows
from attributions.options import check_one_of
from attributions.rows import Intake, Rows
from gbt.formats import import_model, labels_of, several_of, target_encoder
from gbt.formats.imported import STEPS
from gbt.formats.training_rows import discrepancy
from gbt.model.ensemble import Ensemble
from gbt.model.starting_values import raw_before
from gbt.model.tree import Tree
from gbt.parallel.chunks import Chunk
from gbt.tables.sparse_rows import with_zeros

ROWS = ("all", "inbag", "oob", "uniform")
# Sums over the rows may differ from the model's by this share of the sum of their absolute terms:
# our own trainer stores float64 sums; other libraries add up float32 gradients, also those that
# compare rows in float64 (LightGBM, HistGradientBoosting).
OWN, FOREIGN = 1e-9, 1e-4


class TrainingRows(Rows):
    """All rows of a fit, as they were drawn by number, and some libraries count all."""

    keep_all = True


@dataclass(frozen=True, eq=False)
class TrainingTrees:
    """A model with the rows that it was fitted on."""

    model: Any
    ensemble: Ensemble
    X: np.ndarray
    y: np.ndarray  # (n,), or (n, K) for K targets or classes of a forest
    weight: np.ndarray
    rows: str  # which of them a linear model is fitted to, one of `ROWS`
    n_jobs: int | None = None  # threads that find the leaves of rows
    init_score: np.ndarray | None = None  # (n, K) starting values of a model that had such

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        rows: str = "all",
        n_jobs: int | None = None,
        init_score: Any = None,
    ) -> "TrainingTrees":
        """Check the arguments of a public function, and return them as a record."""
        check_one_of(ROWS, rows=rows)
        if several_of(model) is not None:
            raise ValueError(
                f"The MDI of single rows asks which rows each tree was grown on, and"
                f" {type(model).__name__} has several models, each with rows of its own. Give one"
                " of them."
            )
        imported = import_model(model)
        ensemble = named_as(imported.ensemble, X)
        refuse_credit(ensemble, "MDI+ (local_mdi, mdi_plus and mdi_oob)")
        intake = Intake(ensemble, labels_of(model), encode=target_encoder(model))
        given = TrainingRows.of(intake, Chunk(X, y, sample_weight, None, init_score))
        X, target, weight = with_zeros(given.X), given.y, given.weight
        if STEPS in imported.compared:
            of_rows = ensemble.refit_statistics(X, target, weight, given.init_score)
            _refuse_other_rows(discrepancy(ensemble, of_rows, np.abs(target).max(), {STEPS}))
        found = cls(model, ensemble, X, target, weight, rows, n_jobs, given.init_score)
        if rows == "oob" and not found.has_fresh_rows:
            raise ValueError(
                "rows='oob' needs rows that a tree did not see, and every tree saw all of them: the"
                " model was fitted without bootstrap or subsample, or does not keep which rows it"
                " drew. Use rows='inbag'."
            )
        return found

    @property
    def is_forest(self) -> bool:
        """Whether trees are averaged, each grown on y: forests and extra trees of scikit-learn."""
        return hasattr(type(self.model), "estimators_samples_")

    @property
    def labels(self) -> np.ndarray:
        """Number of every row's class, where targets are labels."""
        return self.y if self.y.ndim == 1 else self.y.argmax(axis=1)

    @property
    def has_fresh_rows(self) -> bool:
        """Whether some tree did not see some row."""
        return any((drawn == 0).any() for drawn in self.drawn())

    def __iter__(self) -> Iterator[tuple[Tree, TreeRows]]:
        loss, n_outputs = self.ensemble.loss, self.ensemble.n_outputs
        start = raw_before(self.ensemble.base_score, len(self.X), self.init_score)
        raw_prediction = np.ascontiguousarray(start.T)
        # Forests that keep the weights of the fit draw by them; in older versions trees used them.
        is_in_draws = (
            self.is_forest and self.model.bootstrap and hasattr(self.model, "_sample_weight")
        )
        for m, (tree, drawn) in enumerate(zip(self.ensemble.trees, self.drawn(), strict=True)):
            k = m % n_outputs
            if k == 0:  # all trees of a round were grown on the derivatives before the round
                before = raw_prediction if n_outputs > 1 else raw_prediction[:, 0]
                derivatives = loss.gradient_hessian(self.y, before)
            gradient, hessian = (of if of.ndim == 1 else of[:, k] for of in derivatives)
            leaves = tree.find_leaves(np.asarray(self.X, dtype=np.float64), self.n_jobs)
            response = np.divide(-gradient, hessian, out=np.zeros_like(gradient), where=hessian > 0)
            grown_on = drawn if is_in_draws else self.weight * drawn
            if not self.ensemble.is_forest:
                raw_prediction[:, k] += tree.value[leaves]
            is_fresh = drawn == 0
            in_model = {
                "all": np.where(is_fresh, self.weight, grown_on),
                "inbag": grown_on,
                "oob": self.weight * is_fresh,
                "uniform": self.weight,
            }
            grown, weight = hessian * grown_on, hessian * in_model[self.rows]
            rows = TreeRows(leaves, response, grown, weight)
            self._check(m, tree, rows, grown_on)
            yield tree, rows

    def drawn(self) -> Iterator[np.ndarray]:
        """Yield how often each tree saw every row."""
        if self.is_forest:
            for rows in self.model.estimators_samples_:
                # Each tree of a forest counts once for each output.
                yield from [self._times_seen(rows)] * self.ensemble.n_outputs
        elif hasattr(self.model, "sampled_rows"):
            for m in range(self.ensemble.n_trees):
                yield self._times_seen(self.model.sampled_rows(m))
        else:
            yield from [np.ones(len(self.X))] * self.ensemble.n_trees

    def _times_seen(self, rows: np.ndarray) -> np.ndarray:
        """Return how often every row is among the numbers of rows that a tree saw."""
        times = np.bincount(rows, minlength=len(self.X)).astype(np.float64)
        if len(times) > len(self.X):
            raise ValueError(
                f"The model was fitted on {len(times)} rows or more, and X_train has"
                f" {len(self.X)}; give all rows that it was fitted on, in their order."
            )
        return times

    def _check(self, m: int, tree: Tree, rows: TreeRows, count: np.ndarray) -> None:
        """Refuse rows that do not add up to the sums that a tree's leaves keep."""
        is_own = hasattr(self.model, "ensemble_") or self.ensemble.seen_rows is not None
        size = np.abs(self.y).reshape(len(self.y), -1).max(axis=1)
        terms = rows.grown * (np.abs(rows.response) + size + 1.0)
        allowed = (OWN if is_own else FOREIGN) * np.bincount(rows.leaves, terms, tree.n_nodes)
        response = rows.grown * rows.response
        facts = {
            "counts": ("number of rows", tree.n_samples, (count > 0) * 1.0, 0.0),
            "gradients": ("sum of gradients", -tree.sum_gradient, response, allowed),
            "hessians": ("sum of hessians", tree.sum_hessian, rows.grown, allowed),
        }
        for statistic in sorted(self.ensemble.statistics & facts.keys()):
            name, kept, of_rows, most = facts[statistic]
            found = np.bincount(rows.leaves, of_rows, tree.n_nodes)
            wrong = (tree.left < 0) & (np.abs(found - kept) > most)
            if wrong.any():
                node = int(np.argmax(wrong))
                _refuse_other_rows(
                    f"leaf {node} of tree {m} keeps a {name} of {kept[node]:.9g}, and these rows"
                    f" give {found[node]:.9g}"
                )


def _refuse_other_rows(wrong: str | None) -> None:
    """Raise ValueError if ``wrong`` says where rows contradict the model."""
    if wrong is not None:
        raise ValueError(
            f"X_train and y_train are not what the model was fitted on: {wrong}. Give all training"
            " rows with their targets and weights, in their order. Boosted models that do not keep"
            " which rows they sampled are not supported."
        )
