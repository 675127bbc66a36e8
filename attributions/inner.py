"""TreeInner and its relatives: what each feature's work is worth on given rows (Sun 2022).

Boosting adds one tree m at a time, each a step against the gradients g_im = dL(y_i, f)/df taken at
the prediction before it, f_[m-1](x_i). An individual attribution says how much feature k moved row
i in that step, r_mk(x_i). A move against the gradient lowers the loss, a move along it raises it:

    q_ik          = -(1/alpha) sum_m r_mk(x_i) g_im             alpha = learning_rate
    TreeInner(k)  = sum_i w_i q_ik

On the training rows, with PreDecomp, this is the total gain exactly (Proposition 3), as long as
every tree was grown on all of them. On rows that the model has not seen it says how much of that
gain holds up: about 0 or less for a feature that was used for noise. One pass over the trees gives
three measures:

==================  ================================================================================
``tree_inner``      Did the feature's steps lower the loss?
``partial_inner``   Is the feature's learned shape right, given the others? Its own earlier
                    contributions F_imk = sum_{q<m} r_qk(x_i) are added back to the residual:
                    q_ik = (1/alpha) sum_m r_mk(x_i) (-g_im + h_im F_imk)
``forest_inner``    The whole forest at once: q_ik = (1/alpha) F_ik sum_m -g_im    Definition 5
==================  ================================================================================

On new rows the TreeInner of a feature without effect is on average below 0, not around it: what its
earlier steps learned of the training noise is an error in the predictions that later steps start
from, and the later steps add to it. Adding the feature's own work back to the residual, as
``partial_inner`` does, takes most of this away, and weak features are found more often. Both are
first-order measures of one fitted model.

All are sums over rows, so standard errors come for free (``attributions.row_sums``). Rows are taken
in blocks: for some trees at a time the predictions before each, their gradients, and one call of
the attribution with the gradients as weights. Memory does not grow with the number of rows.

TreeInner of a path attribution is faster still where no standard error is wanted: the rows of a
leaf share one r_mk, so only the sum of their gradients is needed (``PathChanges.sum_by_tree``). On
training rows that every tree has seen not even that: the model keeps those sums, and ``total_gain``
reads them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from attributions.groups import Groups, labels_of
from attributions.individual import BoundAttribution, IndividualAttribution, as_individual
from attributions.inputs import as_rows, as_target, as_weight, warn_of_seen_rows
from attributions.kernels.paths import judge_shape
from attributions.kurtosis import kurtosis_over_rows
from attributions.predecomp import PathChanges
from attributions.results import GlobalAttribution
from attributions.row_sums import merge_blocks, sum_over_rows
from gbt.formats import as_ensemble
from gbt.kernels.derivatives import GIVEN
from gbt.model import Ensemble
from gbt.predictor import transposed
from gbt.stages import Stage, stages

Contributions = tuple[np.ndarray, np.ndarray | None]  # of rows, and their sums by tree
FOREST_VARIANTS = ("residual", "target")


def tree_inner(
    model: Any,
    X: Any,
    y: Any,
    *,
    ifa: Any = "predecomp",
    sample_weight: Any = None,
    groups: Any = None,
    training: Any = None,
    per_tree: bool = False,
    per_output: bool = False,
    standard_error: bool = True,
    n_jobs: int | None = None,
) -> GlobalAttribution:
    """Sum over rows and trees of each feature's move against the gradient.

    ``tree_inner(model, X_held_out, y_held_out)`` ranks features by how much their part of every
    boosting step lowered the loss of rows that the model has not seen. On the training rows, with
    the default ``ifa`` and without ``subsample``, it is the total gain.

    Parameters
    ----------
    model : estimator, Ensemble or foreign model
        Whatever ``gbt.formats.as_ensemble`` takes.
    X : array of shape (n, p)
        Rows; nan is a missing value. For an honest ranking they must not have been used for
        fitting, tuning or early stopping. A `SeenRowsWarning` says how many a model of ours has
        been fitted or stopped on.
    y : array of shape (n,)
        Targets, or labels of ``model.classes_``; 0 and 1 for a bare Ensemble with logistic loss.
    ifa : {"predecomp", "saabas", "tree_shap"}, attribution, or callable
        The individual attribution r_mk; see ``attributions.individual``. A callable takes
        ``(ensemble, m, X)`` and returns an array of shape (n, p).
    sample_weight : array of shape (n,), optional
        Not negative; multiplies a row's contribution.
    groups : array of shape (n,), optional
        Labels of rows that belong together, such as those of one patient or of one day. Standard
        errors then count groups as independent, not rows; values do not change. With fewer than
        some 30 groups normal intervals are too narrow.
    training : pair (X, y), optional
        The rows that the model was fitted on. They tell whether a few rows may carry a feature's
        sum, so that its interval and p-value are not to be relied on: the result then has
        ``is_reliable``. Costs a pass over these rows.
    per_tree : bool
        Also return the (M, p) contributions of the trees: importance along boosting.
    per_output : bool
        Also return the (K, p) parts of the K outputs, of which values are the sum: for which
        classes a feature helps.
    standard_error : bool
        Whether to return standard errors. They mean nothing on training rows. Without them
        PreDecomp and Saabas take a fifth to a half of the time, and values may differ in the
        last bits: gradients are added up by leaf before they are multiplied.
    n_jobs : int, optional
        Threads; None for all cores. The result does not depend on it.

    Returns
    -------
    GlobalAttribution
        In the units of total gain: the loss that the feature saved to first order, divided by the
        learning rate, summed over rows. Positive means helped.

    Notes
    -----
    The measure is first order: it asks in which direction a step went, not whether it went too far.
    It speaks of this fitted model, not of the data's mechanism. Correlated features share credit
    in the way in which the trees happened to use them.

    Examples
    --------
    Benjamini-Hochberg on the one-sided p-values, with scipy's own function::

        result = tree_inner(model, X_held_out, y_held_out)
        keep = scipy.stats.false_discovery_control(result.p_values()) <= 0.1
    """
    rows = JudgedRows.of(model, X, y, ifa, sample_weight, groups)
    rows.warn_of_seen(n_jobs)
    if rows.have_paths and not standard_error:
        result = rows.sum_by_leaf("tree_inner", n_jobs)
        return _parts(result, rows.ensemble, per_tree, per_output)
    result = rows.sum(
        partial(rows.tree_inner, per_tree=per_tree or per_output),
        "tree_inner",
        standard_error,
        n_jobs,
    )
    result = _parts(result, rows.ensemble, per_tree, per_output)
    return _guarded(result, model, training, ifa, JudgedRows.tree_inner, n_jobs)


def partial_inner(
    model: Any,
    X: Any,
    y: Any,
    *,
    ifa: Any = "saabas",
    sample_weight: Any = None,
    groups: Any = None,
    training: Any = None,
    per_tree: bool = False,
    per_output: bool = False,
    standard_error: bool = True,
    n_jobs: int | None = None,
) -> GlobalAttribution:
    """TreeInner with each feature's own earlier contributions added back to the residual.

    q_ik = (1/alpha) sum_m r_mk(x_i) (-g_im + h_im F_imk), with F_imk the sum of r_qk(x_i) over the
    trees q before m and h_im the hessian. Where TreeInner asks whether the feature's steps lowered
    the loss, this asks whether its learned shape points the right way given all other features: a
    step that repeats what earlier steps of the same feature have already achieved is not held
    against it.

    Parameters
    ----------
    model, X, y, sample_weight, groups, training, per_tree, per_output, standard_error, n_jobs
        As for `tree_inner`.
    ifa : {"saabas", "predecomp", "tree_shap"}, attribution, or callable
        As for `tree_inner`, but Saabas unless asked otherwise, because its steps average 0 over the
        training rows of every node and PreDecomp's do not; see the notes.

    Returns
    -------
    GlobalAttribution
        In the units of `tree_inner`; not a decomposition of the total gain on any rows.

    Notes
    -----
    With a penalty lambda both children of a node are shrunk more than the node itself, so even a
    split on noise moves its rows towards 0 on average by PreDecomp's count. Where the node's value
    was overfitted that is a move in the right direction, and the feature of the split is paid for
    it. Saabas starts from the mean of the leaves below the node, so what the leaves share is the
    node's and not the feature's (docs/attributions.md, section 7).

    At weak signals the test finds several times as many features as that of `tree_inner`, but it is
    not conservative: docs/inference.md has its false positives and false discoveries, simulated
    with independent features. Nothing is promised for correlated ones.
    """
    rows = JudgedRows.of(model, X, y, ifa, sample_weight, groups)
    rows.warn_of_seen(n_jobs)
    if rows.ensemble.is_forest:
        raise ValueError(
            "partial_inner adds a feature's earlier contributions back to the residual; the trees"
            " of a forest have no earlier ones in theirs. Use tree_inner."
        )
    result = rows.sum(
        partial(rows.partial_inner, per_tree=per_tree or per_output),
        "partial_inner",
        standard_error,
        n_jobs,
    )
    result = _parts(result, rows.ensemble, per_tree, per_output)
    return _guarded(result, model, training, ifa, JudgedRows.partial_inner, n_jobs)


def forest_inner(
    model: Any,
    X: Any,
    y: Any,
    *,
    ifa: Any = "predecomp",
    variant: str = "residual",
    sample_weight: Any = None,
    groups: Any = None,
    training: Any = None,
    standard_error: bool = True,
    n_jobs: int | None = None,
) -> GlobalAttribution:
    """Inner product of a feature's whole contribution F_ik = sum_m r_mk(x_i) with the residuals.

    Definition 5 of Sun 2022 has two lines that are not equal; both are offered:

    * ``"residual"``: (1/alpha) sum_i F_ik sum_m -g_im, the first line, which made the paper's
      Table 4;
    * ``"target"``: (1/alpha) sum_i F_ik y_i, where the second line has the target in place of the
      second bracket. The factor 1/alpha is kept; it changes no ranking. y is not centred, so a
      feature whose contributions do not average 0 is credited with the mean of y.

    Parameters
    ----------
    model, X, y, ifa, sample_weight, groups, training, standard_error, n_jobs
        As for `tree_inner`.
    variant : {"residual", "target"}
        Which line.

    Returns
    -------
    GlobalAttribution

    Notes
    -----
    In the population, with independent features, a feature without effect has the value 0
    (Proposition 4). A model fitted to finitely many rows is another matter: on new rows the first
    line is below 0 for such a feature, as `tree_inner` is, because its own work is part of the
    residuals; the second is centred on 0 if y averages 0. Over 20 of the paper's simulated data
    sets noise features averaged -.44 (classification) and -.51 (regression) standard errors by the
    first line, -.06 and .02 by the second with y centred.
    """
    if variant not in FOREST_VARIANTS:
        raise ValueError(f"variant must be one of {FOREST_VARIANTS}; got {variant!r}.")
    rows = JudgedRows.of(model, X, y, ifa, sample_weight, groups)
    rows.warn_of_seen(n_jobs)
    contributions = partial(JudgedRows.forest_inner, variant=variant)
    result = rows.sum(
        partial(contributions, rows), "forest_inner", standard_error, n_jobs, detail=variant
    )
    return _guarded(result, model, training, ifa, contributions, n_jobs)


def _parts(
    result: GlobalAttribution, ensemble: Ensemble, per_tree: bool, per_output: bool
) -> GlobalAttribution:
    """Keep of the sums by tree what was asked for: themselves, or their sums by output."""
    by_tree = result.per_tree
    return replace(
        result,
        per_tree=by_tree if per_tree else None,
        per_output=None if by_tree is None or not per_output else sum_by_output(ensemble, by_tree),
    )


def _guarded(
    result: GlobalAttribution,
    model: Any,
    training: Any,
    ifa: Any,
    contributions: Callable,
    n_jobs: int | None,
) -> GlobalAttribution:
    """Add to a result the kurtosis of what the training rows contribute, if they are given."""
    if training is None:
        return result
    if not (isinstance(training, tuple | list) and len(training) == 2):
        raise ValueError(
            f"training must be the pair (X, y) of rows that the model was fitted on; got a"
            f" {type(training).__name__}."
        )
    X, y = training
    rows = JudgedRows.of(model, X, y, ifa)
    kurtosis = kurtosis_over_rows(partial(contributions, rows), len(rows.X), n_jobs)
    return replace(result, kurtosis=kurtosis)


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """A model, an attribution bound to it, and the rows on which its steps are judged."""

    ensemble: Ensemble
    ifa_name: str
    bounds: list[BoundAttribution]  # one an output
    touched: list[list[np.ndarray]]
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    groups: Groups | None

    @classmethod
    def of(
        cls, model: Any, X: Any, y: Any, ifa: Any, sample_weight: Any = None, groups: Any = None
    ) -> "JudgedRows":
        """Check the arguments of the public functions."""
        ensemble = as_ensemble(model)
        individual = as_individual(ifa)
        X = as_rows(ensemble, X)
        return cls(
            ensemble,
            individual.name,
            [individual.bind(output) for output in ensemble.outputs],
            [touched_features(output, individual) for output in ensemble.outputs],
            X,
            as_target(model, ensemble, y, len(X)),
            as_weight(sample_weight, len(X)),
            Groups.of(groups, len(X)),
        )

    @property
    def have_paths(self) -> bool:
        """Whether the rows of a leaf share their contributions, so that gradients can be summed."""
        return all(isinstance(bound, PathChanges) for bound in self.bounds)

    def warn_of_seen(self, n_jobs: int | None) -> None:
        """Warn whoever called a public function if the model has seen some of the rows."""
        warn_of_seen_rows(self.ensemble, self.X, self.y, n_jobs, stacklevel=3)

    def sum(
        self,
        contributions: Callable,
        name: str,
        standard_error: bool,
        n_jobs: int | None,
        detail: str = "",
    ) -> GlobalAttribution:
        """Add up the contributions of all rows."""
        sums = sum_over_rows(contributions, len(self.X), n_jobs, self.groups)
        return GlobalAttribution(
            values=sums.total,
            standard_error=sums.standard_error if standard_error else None,
            n_samples=len(self.X),
            feature_names=self.ensemble.feature_names,
            method=f"{name}({', '.join(filter(None, [self.ifa_name, detail]))})",
            per_tree=sums.per_tree,
            groups=labels_of(self.groups),
        )

    def sum_by_leaf(self, name: str, n_jobs: int | None) -> GlobalAttribution:
        """Add up gradients by leaf, and multiply at the end; see `PathChanges.sum_by_tree`."""

        def sums_of(rows: slice) -> list[np.ndarray]:
            return self.sum_gradients(transposed(self.X[rows], dtype=self.X.dtype), rows)

        def merge(sums: list[np.ndarray], others: list[np.ndarray]) -> list[np.ndarray]:
            return [np.add(one, other, out=one) for one, other in zip(sums, others, strict=True)]

        by_tree = self.by_tree(merge_blocks(sums_of, merge, len(self.X), n_jobs))
        by_tree = self.per_unit_of_step(by_tree)
        return GlobalAttribution(
            values=by_tree.sum(axis=0),
            standard_error=None,
            n_samples=len(self.X),
            feature_names=self.ensemble.feature_names,
            method=f"{name}({self.ifa_name})",
            per_tree=by_tree,
            groups=labels_of(self.groups),
        )

    def by_tree(self, sums: list[np.ndarray]) -> np.ndarray:
        """Return what sums of gradients by leaf are worth, of shape (M, p)."""
        of_outputs = [
            bound.sum_by_tree(-output.predictor.of_nodes(of_output))  # type: ignore[attr-defined]
            for bound, output, of_output in zip(
                self.bounds, self.ensemble.outputs, sums, strict=True
            )
        ]
        return np.stack(of_outputs, axis=1).reshape(self.ensemble.n_trees, self.ensemble.n_features)

    def sum_gradients(self, block: np.ndarray, rows: slice) -> list[np.ndarray]:
        """Return, for each output, the sum of w g over the rows that reach each node or place."""
        ensemble, y, weight = self.ensemble, self.y[rows], self.weight[rows]
        if ensemble.loss.kind != GIVEN:
            base_score, kind = ensemble.base_score, ensemble.loss.kind
            return [ensemble.predictor.sum_gradients(block, base_score, kind, y, weight)]
        predictors = [output.predictor for output in ensemble.outputs]
        sums = [np.zeros(len(predictor.reached_value)) for predictor in predictors]
        for k, trees, gradient, _ in self.steps(block, rows):
            leaves = predictors[k].find_leaves(block, trees).astype(np.int64)
            terms = (weight * gradient).ravel()
            sums[k] += np.bincount(leaves.ravel(), terms, minlength=len(sums[k]))
        return sums

    def steps(self, block: np.ndarray, rows: slice) -> Iterator[Stage]:
        """Yield the derivatives of the rows of a transposed block *before* each tree."""
        return stages(self.ensemble, block, self.y[rows])

    def tree_inner(self, rows: slice, per_tree: bool = False) -> Contributions:
        """Return w_i q_ik of TreeInner, and with ``per_tree`` its sum over the rows by tree."""
        block, weight = transposed(self.X[rows]), self.weight[rows]
        n_outputs = self.ensemble.n_outputs
        q, r = np.zeros((2, *block.shape[1:]))
        by_tree = np.zeros((self.ensemble.n_trees, len(q)))
        for output, trees, gradient, _ in self.steps(block, rows):
            bound = self.bounds[output]
            row_weight = -weight * gradient
            bound.add(block, trees, row_weight, q)
            if per_tree and not self.have_paths:
                touched = self.touched[output][trees.start : trees.stop]
                for m, k in zip(trees, touched, strict=True):
                    r[k] = 0.0
                    bound.add(block, range(m, m + 1), row_weight[m - trees.start :][:1], r)
                    by_tree[m * n_outputs + output, k] = r[k].sum(axis=1)
        if per_tree and self.have_paths:
            by_tree = self.by_tree(self.sum_gradients(block, rows))
        return self.by_row(q), self.per_unit_of_step(by_tree) if per_tree else None

    def partial_inner(self, rows: slice, per_tree: bool = False) -> Contributions:
        """Return w_i q_ik of the partial form, and with ``per_tree`` its sum by tree."""
        block, weight = transposed(self.X[rows]), self.weight[rows]
        n_outputs = self.ensemble.n_outputs
        q, step, *earlier = np.zeros((2 + n_outputs, *block.shape[1:]))
        ones = np.ones((1, len(weight)))
        by_tree = np.zeros((self.ensemble.n_trees, len(q)))
        for output, trees, gradient, hessian in self.steps(block, rows):
            for m, g, h in zip(trees, gradient, hessian, strict=True):
                k = self.touched[output][m]
                step[k] = 0.0
                self.bounds[output].add(block, range(m, m + 1), ones, step)
                judge_shape(k, g, h, weight, step, earlier[output], q)
                if per_tree:
                    by_tree[m * n_outputs + output, k] = step[k].sum(axis=1)
        return self.by_row(q), self.per_unit_of_step(by_tree) if per_tree else None

    def forest_inner(self, rows: slice, variant: str) -> Contributions:
        """Return w_i q_ik of ForestInner."""
        block, y, weight = transposed(self.X[rows]), self.y[rows], self.weight[rows]
        n_outputs = self.ensemble.n_outputs
        forests = np.zeros((n_outputs, *block.shape[1:]))
        others = np.zeros((n_outputs, len(y)))
        for output, trees, gradient, _ in self.steps(block, rows):
            self.bounds[output].add(block, trees, np.ones(gradient.shape), forests[output])
            for g in gradient:
                others[output] -= g
        if variant == "target":
            is_class = y.ndim == 1 and n_outputs > 1
            others = y == np.arange(n_outputs)[:, np.newaxis] if is_class else np.atleast_2d(y.T)
        products = [
            forest * (weight * other) for forest, other in zip(forests, others, strict=True)
        ]
        return self.by_row(sum(products[1:], start=products[0])), None

    def base_share(self, rows: slice) -> np.ndarray:
        """Return -(1/alpha) sum_m b_m g_im, the share of the trees' base values b_m."""
        share = np.zeros(rows.stop - rows.start)
        block = transposed(self.X[rows])
        for output, trees, gradient, _ in self.steps(block, rows):
            for m, g in zip(trees, gradient, strict=True):
                share -= self.bounds[output].base_values[m] * g
        return self.per_unit_of_step(share)

    def by_row(self, products: np.ndarray) -> np.ndarray:
        """Return products of shape (p, n) as (n, p), in units of the step."""
        return np.ascontiguousarray(self.per_unit_of_step(products).T)

    def per_unit_of_step(self, products: np.ndarray) -> np.ndarray:
        """Divide by alpha: products of shrunk steps become comparable with total gain."""
        return products / self.ensemble.learning_rate


def sum_by_output(ensemble: Ensemble, by_tree: np.ndarray) -> np.ndarray:
    """Return sums by output, (K, p), of what every tree brings, (M, p)."""
    shape = (ensemble.n_rounds, ensemble.n_outputs, by_tree.shape[1])
    return by_tree.reshape(shape).sum(axis=0)


def touched_features(ensemble: Ensemble, individual: IndividualAttribution) -> list[np.ndarray]:
    """Return, tree by tree, the columns that an attribution may fill.

    An attribution that says so credits features that the tree splits on and no others, so a wide
    table costs no more than a narrow one. Anything else may fill any column.
    """
    n_trees, p = ensemble.n_trees, ensemble.n_features
    if not getattr(individual, "credits_splits_only", False):
        return [np.arange(p)] * n_trees
    tree = np.repeat(np.arange(n_trees), np.diff(ensemble.tree_offset))
    pairs = np.unique((tree * p + ensemble.feature)[ensemble.left >= 0])
    return np.split(pairs % p, np.searchsorted(pairs, p * np.arange(1, n_trees)))[:n_trees]
