r"""Unbiased gain: of a split's gain, one of two factors comes from rows that did not choose it.

With no regularisation the gain of a split of node t into l and r is, for one hessian h, a square,

    gain(t) = n_l n_r / n_t  *  (mean g_l - mean g_r)  *  (mean g_l - mean g_r) / h

and a square is above 0 also where both children have the same expectation: that is the bias. Zhang,
Zhang and Li (2023) take one factor from the training rows, which chose the split, and the other
from validation rows (marked '). The forms differ in that other factor:

==============  ====================================================================================
``symmetric``   n_l n_r / n_t * (mean g_l - mean g_r) * (mean g'_l - mean g'_r) / mean h'_t
``paper``       G_l U'_l + G_r U'_r - G_t U'_t, with U' the mean of sum g' / sum h' over *all*
                subsets of k = min(n'_l, n'_r) validation rows of the node (equations 5 and 7)
``sampled``     the same with the mean over 100 random subsets, as in the authors' code
==============  ====================================================================================

All are without the paper's factor 1 / (2 n), in the units of total gain. If, within a node, the
pairs (g', h') of the validation rows are exchangeable, that is, do not depend on which child a row
goes to, all have the expectation 0. The first and second have it exactly, over the orders in which
the pairs may be dealt out: mean g'_l and mean g'_r have one expectation and h' is pooled, or U' of
random subsets averages to U' of the node (equal sizes matter: a ratio of sums depends on them). The
symmetric form is the default because it also does not change when a constant is added to every g.
Away from exchangeability its mean is that of the gain of a population whose hessian is that of the
parent everywhere. From the second tree on this no longer holds, see docs/unbiased_gain.md.

The cost is one pass of training and validation rows down the trees, in which leaves add up their
rows, and another of the validation rows for standard errors.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from attributions.groups import Groups, labels_of
from attributions.inputs import (
    as_rows,
    as_target,
    as_weight,
    count_seen_rows,
    warn_of_seen_rows,
)
from attributions.kernels.contrasts import (
    MAX_ODDS,
    N_SUMS,
    N_TERMS,
    add_parts,
    add_up_rows,
    mean_ratio_of_subsets,
)
from attributions.kernels.paths import add_up_leaves
from attributions.results import GlobalAttribution
from attributions.row_sums import (
    ROWS_PER_BLOCK,
    merge_blocks,
    row_blocks,
    sum_over_rows,
)
from gbt.formats import as_ensemble
from gbt.kernels.derivatives import GIVEN, HALF_LOGISTIC
from gbt.model import Ensemble
from gbt.predictor import columns_of, transposed
from gbt.seen_rows import SeenRows
from gbt.stages import stages
from gbt.statistics import along_rounds

FORMS = ("symmetric", "paper", "sampled")
ROWS_PER_SUM = 16 * ROWS_PER_BLOCK  # the sums of a block are four numbers a node of all trees
N_DRAWS = 100  # of the authors' code
LARGEST_EXACT = 32  # rows in a subset; beyond that the error of the expansion is below 1 / 1000
STEP = 0.25  # of log t in the integral: its error is below 1e-15
BEGIN, END = 1e-8, 40.0  # of t times the sum of hessians


def unbiased_gain(
    model: Any,
    X_train: Any,
    y_train: Any,
    X_valid: Any,
    y_valid: Any,
    form: str = "symmetric",
    *,
    sample_weight_train: Any = None,
    sample_weight_valid: Any = None,
    groups_valid: Any = None,
    min_samples: int = 5,
    per_tree: bool = False,
    standard_error: bool = True,
    random_state: int | None = None,
    n_jobs: int | None = None,
) -> GlobalAttribution:
    """Sum, over the splits on each feature, the gain that validation rows confirm.

    Parameters
    ----------
    model : estimator, Ensemble or foreign model
        Whatever ``gbt.formats.as_ensemble`` takes. Its splits and predictions are used; sums of
        gradients and hessians are those of the given rows, along its predictions.
    X_train, y_train : arrays of shape (n, p) and (n,)
        The rows that the model was fitted on; nan is a missing value. Targets, or labels of
        ``model.classes_``; 0 and 1 for a bare Ensemble with logistic loss.
    X_valid, y_valid : arrays of shape (n', p) and (n',)
        Rows that were not used for fitting, tuning or early stopping. A `SeenRowsWarning` is given
        if they are found among the training rows.
    form : {"symmetric", "paper", "sampled"}
        See the module's docstring. ``"paper"`` takes long unless all hessians and weights are
        equal; ``"sampled"`` always does, and is there to check the other two.
    sample_weight_train, sample_weight_valid : arrays of shape (n,) and (n',), optional
        Not negative; rows of weight 0 are left out. In the symmetric form a weight of 2 is a row
        given twice. The others draw rows, and a row's g' and h' are multiplied by its weight.
    groups_valid : array of shape (n',), optional
        Labels of validation rows that belong together, such as those of one patient. Standard
        errors then count groups as independent, not rows; values do not change.
    min_samples : int
        Validation rows that either child needs, or the split counts 0; 5 in the authors' code. A
        rule that looks at sizes alone leaves expectations of 0 as they are.
    per_tree : bool
        Also return the (M, p) contributions of the trees. Only the first is promised an expectation
        of 0 for a feature without effect.
    standard_error : bool
        Whether to return standard errors, at the cost of a second walk of the validation rows.
    random_state : int, optional
        Of the random subsets of ``"sampled"``.
    n_jobs : int, optional
        Threads; None for all cores. The result does not depend on it.

    Returns
    -------
    GlobalAttribution
        In the units of total gain. Standard errors are over draws of the validation rows, with
        model and training rows held fixed, to first order in them (the delta method); there are
        none for ``"sampled"``. ``n_samples`` counts validation rows. Results of chunks of rows
        cannot be merged, since ratios of sums are not sums over rows.

    Notes
    -----
    A feature without effect has the expectation 0 in the first tree only, so there are no p-values;
    ``attributions.partial_inner`` is made for tests.
    """
    if form not in FORMS:
        raise ValueError(f"form must be one of {FORMS}; got {form!r}.")
    if not min_samples >= 1:
        raise ValueError(f"min_samples={min_samples!r}; either child needs at least 1 row.")
    ensemble = as_ensemble(model)
    train = _Rows.of(model, ensemble, X_train, y_train, sample_weight_train, "train")
    valid = _Rows.of(model, ensemble, X_valid, y_valid, sample_weight_valid, "valid", groups_valid)
    if ensemble.seen_rows is None:
        seen = replace(ensemble, seen_rows=SeenRows.of((train.X, train.y), None, n_jobs))
    else:
        seen = ensemble  # it also knows the rows that stopped it
    n_seen = count_seen_rows(seen, valid.X, valid.y, n_jobs)
    warn_of_seen_rows(n_seen, len(valid.y), stacklevel=2)

    splits = _Splits.of(ensemble, train.node_sums(n_jobs), valid.node_sums(n_jobs), min_samples)
    if form == "symmetric":
        gain = splits.symmetric_gain()
    elif form == "paper" and valid.have_one_hessian:
        gain = splits.ratio_gain()
    elif form == "paper":
        gain = _gain_of_subsets(splits, valid, _mean_ratio)
    else:
        gain = _gain_of_subsets(splits, valid, _Sampler(random_state).mean_ratio)
    by_tree = splits.by_tree(gain)
    errors = None
    if standard_error and form != "sampled":
        part = splits.symmetric_parts() if form == "symmetric" else splits.ratio_parts()
        errors = valid.standard_error(splits.feature, part, n_jobs)
    return GlobalAttribution(
        values=by_tree.sum(axis=0),
        standard_error=errors,
        n_samples=len(valid.y),
        feature_names=ensemble.feature_names,
        method=f"unbiased_gain({form})",
        per_tree=by_tree if per_tree else None,
        groups=labels_of(valid.groups),
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows that go down the trees of a model, and what is added up of them."""

    ensemble: Ensemble
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    groups: Groups | None

    @classmethod
    def of(
        cls,
        model: Any,
        ensemble: Ensemble,
        X: Any,
        y: Any,
        sample_weight: Any,
        which: str,
        groups: Any = None,
    ) -> "_Rows":
        """Check the arguments of the public function; ``which`` is "train" or "valid"."""
        try:
            X = as_rows(ensemble, X)
            y = as_target(model, ensemble, y, len(X))
            weight = np.array(as_weight(sample_weight, len(X)))  # others' memory is another type
            together = Groups.of(groups, len(X))
        except ValueError as error:
            raise ValueError(f"Of X_{which}, y_{which}, sample_weight_{which}: {error}") from error
        if not weight.all():
            kept = weight > 0
            X, y, weight = X[kept], y[kept], weight[kept]
            if together is not None:
                together = Groups.of(together.labels[together.of_row[kept]], len(X))
        if ensemble.loss.name == "half_logistic" and len(np.unique(y)) < 2:
            raise ValueError(
                f"y_{which} holds one class only; how gradients differ between the children of a"
                " split would then be the model's doing alone. Give rows of both classes."
            )
        return cls(ensemble, X, y, weight, together)

    @property
    def have_one_hessian(self) -> bool:
        """Whether w h is the same for all rows, so that all ratios are means."""
        return self.ensemble.loss.has_one_hessian and np.ptp(self.weight) == 0

    def node_sums(self, n_jobs: int | None) -> np.ndarray:
        """Return the sums of w g, w h, w and 1 over the rows of every node, (4, n_nodes)."""
        predictor = self.ensemble.predictor

        def sums_of(rows: slice) -> np.ndarray:
            sums = np.zeros((len(predictor.reached_value), N_SUMS))
            if self.ensemble.loss.kind == GIVEN:
                self._add_up_given(rows, sums)
                return sums
            for own in row_blocks(rows.stop - rows.start):
                block = slice(rows.start + own.start, rows.start + own.stop)
                self._walk(add_up_rows, block, sums)
            return sums

        sums = merge_blocks(
            sums_of, lambda a, b: np.add(a, b, out=a), len(self.y), n_jobs, ROWS_PER_SUM
        )
        lower = predictor.links.lower[: len(self.ensemble.feature)]
        of_nodes = [predictor.of_nodes(column) for column in sums.T]
        for column in of_nodes:
            add_up_leaves(lower, column)
        return np.array(of_nodes)

    def standard_error(
        self, feature: np.ndarray, part: np.ndarray, n_jobs: int | None
    ) -> np.ndarray | None:
        """Return the standard error of sums to which every row brings its parts, (p,).

        ``feature`` and ``part`` are of the nodes, see ``attributions.kernels.contrasts.add_parts``.
        """
        node = self.ensemble.predictor.links.node
        edges = feature[node], part[node]

        def parts_of(rows: slice) -> tuple[np.ndarray, None]:
            out = np.zeros((self.X.shape[1], rows.stop - rows.start))
            if self.ensemble.loss.kind == GIVEN:
                self._add_given_parts(rows, edges, out)
            else:
                self._walk(add_parts, rows, edges, out)
            return np.ascontiguousarray(out.T), None

        return sum_over_rows(parts_of, len(self.y), n_jobs, self.groups).standard_error

    def _add_up_given(self, rows: slice, sums: np.ndarray) -> None:
        """Do what the kernel `add_up_rows` does, for a loss that kernels do not know."""
        block, weight = transposed(self.X[rows]), self.weight[rows]
        for m, g, h in self._by_tree(block, rows):
            (leaves,) = self.ensemble.predictor.find_leaves(block, range(m, m + 1))
            for j, terms in enumerate((weight * g, weight * h, weight, np.ones(len(g)))):
                sums[:, j] += np.bincount(leaves.astype(np.int64), terms, minlength=len(sums))

    def _add_given_parts(
        self, rows: slice, edges: tuple[np.ndarray, np.ndarray], out: np.ndarray
    ) -> None:
        """Do what the kernel `add_parts` does, for a loss that kernels do not know."""
        block, weight = transposed(self.X[rows]), self.weight[rows]
        (feature, part), each = edges, np.arange(len(weight))
        predictor = self.ensemble.predictor
        lower = predictor.links.lower[: len(self.ensemble.feature)].astype(np.int64)
        node = np.arange(len(lower))
        parent, side = node.copy(), np.zeros(len(lower), dtype=np.int64)
        for s in (0, 1):
            inner = lower[:, s] != node  # a leaf leads to itself
            parent[lower[inner, s]], side[lower[inner, s]] = node[inner], s
        for m, g, h in self._by_tree(block, rows):
            of_row = weight * np.array([g, h, np.ones(len(g))])
            at = predictor.find_leaves(block, range(m, m + 1))[0].astype(np.int64)
            for _ in range(predictor.links.levels[m]):  # up, from the leaves to the root
                up, taken = parent[at], side[at]
                is_root = up == at
                moved = np.einsum("ij,ji->i", part[up, taken], of_row)
                out[feature[up], each] += np.where(is_root, 0.0, moved)
                at = up

    def _by_tree(
        self, block: np.ndarray, rows: slice
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield the derivatives of some rows before each tree, with its number."""
        for output, trees, gradient, hessian in stages(self.ensemble, block, self.y[rows]):
            for t, g, h in zip(trees, gradient, hessian, strict=True):
                yield t * self.ensemble.n_outputs + output, g, h

    def _walk(self, kernel: Callable[..., None], rows: slice, *others: Any) -> None:
        """Call a kernel that takes rows down all trees and their derivatives on the way."""
        ensemble, predictor = self.ensemble, self.ensemble.predictor
        block = transposed(self.X[rows], dtype=self.X.dtype)
        y = self.y[rows]
        state = np.full(len(y), ensemble.base_score)
        if ensemble.loss.kind == HALF_LOGISTIC:
            state = _odds(state)
        kernel(
            columns_of(block),
            predictor.links_for(block),
            self._step,
            ensemble.loss.kind,
            y,
            self.weight[rows],
            state,
            *others,
        )

    @cached_property
    def _step(self) -> np.ndarray:
        """What every node and place does to the state of a row, see `add_up_rows`; float64."""
        ensemble = self.ensemble
        # The trees of a forest all have the gradients at the base score.
        value = ensemble.predictor.reached_value * (not ensemble.is_forest)
        return _odds(value) if ensemble.loss.kind == HALF_LOGISTIC else value


def _odds(log_odds: np.ndarray) -> np.ndarray:
    """Return e to the power of log-odds, cut off at +-230, where float64 is certain anyway."""
    most = np.log(MAX_ODDS)
    return np.exp(np.clip(log_odds, -most, most))


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums over the rows of one node of each split: arrays of one number a split."""

    gradient: np.ndarray
    hessian: np.ndarray
    weight: np.ndarray
    n_rows: np.ndarray

    @property
    def mean_gradient(self) -> np.ndarray:
        """Mean of g."""
        return self.gradient / self.weight

    @property
    def ratio(self) -> np.ndarray:
        """The Newton step, but for its sign."""
        return self.gradient / self.hessian


@dataclass(frozen=True, eq=False)
class _Splits:
    """The splits that count, with what training (G) and validation rows (V) add up to around them.

    Of a split, ``l``, ``r`` and ``t`` are the children and the node itself.
    """

    ensemble: Ensemble
    feature: np.ndarray
    node: np.ndarray
    left: np.ndarray
    right: np.ndarray
    train: tuple[_Sums, ...]
    valid: tuple[_Sums, ...]

    @classmethod
    def of(
        cls, ensemble: Ensemble, train: np.ndarray, valid: np.ndarray, min_samples: int
    ) -> "_Splits":
        """Find the splits with enough rows on either side."""
        lower = ensemble.predictor.links.lower[: len(ensemble.feature)].astype(np.int64)
        right, left = lower.T
        _, _, train_weight, _ = train
        _, hessian, _, n_rows = valid
        fewest = np.minimum(n_rows[left], n_rows[right])
        lightest = np.minimum(hessian[left], hessian[right])
        counts = (left != right) & (fewest >= min_samples) & (lightest > 0) & (train_weight > 0)
        node = np.flatnonzero(counts)
        places = left[node], right[node], node
        return cls(
            ensemble=ensemble,
            feature=np.maximum(ensemble.feature, 0).astype(np.uint64),
            node=node,
            left=left[node],
            right=right[node],
            train=tuple(_Sums(*train[:, place]) for place in places),
            valid=tuple(_Sums(*valid[:, place]) for place in places),
        )

    def by_tree(self, gain: np.ndarray) -> np.ndarray:
        """Return the gains of the splits added up by tree and feature, (M, p)."""
        ensemble = self.ensemble
        shape = (ensemble.n_trees, ensemble.n_features)
        tree = np.searchsorted(ensemble.tree_offset, self.node, side="right") - 1
        cell = tree * ensemble.n_features + ensemble.feature[self.node]
        return np.bincount(cell, gain, minlength=shape[0] * shape[1]).reshape(shape)

    @property
    def training_contrast(self) -> np.ndarray:
        """n_l n_r / n_t * (mean g_l - mean g_r), which also holds where a child is empty."""
        l, r, t = self.train
        return (l.gradient * r.weight - r.gradient * l.weight) / t.weight

    def symmetric_gain(self) -> np.ndarray:
        """Training contrast times validation contrast over the pooled hessian."""
        l, r, t = self.valid
        contrast = l.mean_gradient - r.mean_gradient
        return self.training_contrast * contrast * t.weight / t.hessian

    def symmetric_parts(self) -> np.ndarray:
        """Differentiate the symmetric gain in a row's w g, w h and w; see `_on_edges`."""
        l, r, t = self.valid
        scale = self.training_contrast * t.weight / t.hessian
        gain = self.symmetric_gain()
        hessian, weight = -gain / t.hessian, gain / t.weight
        to_left = scale / l.weight, hessian, weight - scale * l.mean_gradient / l.weight
        to_right = -scale / r.weight, hessian, weight + scale * r.mean_gradient / r.weight
        return self._on_edges(to_left, to_right)

    def ratio_gain(self) -> np.ndarray:
        """Training sums times ratios of validation sums; the paper's where all w h are equal."""
        gain = [train.gradient * valid.ratio for train, valid in self._pairs]
        return gain[0] + gain[1] - gain[2]

    def ratio_parts(self) -> np.ndarray:
        """Differentiate the gain by ratios in a row's w g, w h and w; see `_on_edges`."""
        step = [train.gradient / valid.hessian for train, valid in self._pairs]
        bend = [-a * valid.ratio for a, valid in zip(step, self.valid, strict=True)]
        none = np.zeros(len(self.node))
        return self._on_edges(
            (step[0] - step[2], bend[0] - bend[2], none),
            (step[1] - step[2], bend[1] - bend[2], none),
        )

    @property
    def _pairs(self) -> list[tuple["_Sums", "_Sums"]]:
        return list(zip(self.train, self.valid, strict=True))

    def _on_edges(
        self, to_left: tuple[np.ndarray, ...], to_right: tuple[np.ndarray, ...]
    ) -> np.ndarray:
        """Lay out three derivatives a side as (n_nodes, 2, 3), right before left."""
        part = np.zeros((len(self.feature), 2, N_TERMS))
        part[self.node, 1] = np.transpose(to_left)
        part[self.node, 0] = np.transpose(to_right)
        return part


def _gain_of_subsets(
    splits: _Splits, valid: _Rows, mean_ratio: Callable[[np.ndarray, np.ndarray, int], float]
) -> np.ndarray:
    """Return the paper's gain of every split, U' made by ``mean_ratio(a, b, k)`` of w g and w h.

    Nodes are in preorder, so the rows of a node are those of consecutive leaves.
    """
    ensemble, offset = valid.ensemble, valid.ensemble.tree_offset
    X = np.asarray(valid.X, dtype=np.float64)
    gain = np.zeros(len(splits.node))
    rounds = along_rounds(
        ensemble.trees, X, valid.y, ensemble.loss, ensemble.base_score, ensemble.is_forest
    )
    for m, (tree, leaves, gradient, hessian) in enumerate(rounds):
        order = np.argsort(leaves, kind="stable")
        first = np.searchsorted(leaves[order], np.arange(tree.n_nodes))  # row of every node
        wg, wh = (valid.weight * gradient)[order], (valid.weight * hessian)[order]
        of_tree = (splits.node >= offset[m]) & (splits.node < offset[m + 1])
        for s in np.flatnonzero(of_tree):
            n_l, n_r, n_t = (int(part.n_rows[s]) for part in splits.valid)
            start = first[splits.node[s] - offset[m]]
            middle, stop = start + n_l, start + n_t
            U_l, U_r, U_t = (
                mean_ratio(wg[i:j], wh[i:j], min(n_l, n_r))
                for i, j in ((start, middle), (middle, stop), (start, stop))
            )
            G_l, G_r, G_t = (part.gradient[s] for part in splits.train)
            gain[s] = G_l * U_l + G_r * U_r - G_t * U_t
    return gain


def _mean_ratio(a: np.ndarray, b: np.ndarray, k: int) -> float:
    """Return the mean of sum a / sum b over all subsets of k rows.

    Large subsets have it expanded around the ratio of the means r, with the variance of b and the
    covariance of a and b (denominators n - 1): r + (1/k - 1/n) (r S_bb - S_ab) / (mean b)^2, whose
    error is of the order of 1 / k^2.
    """
    n = len(a)
    if k == n:
        return a.sum() / b.sum()
    if k <= LARGEST_EXACT:
        # A subset without any curvature has no ratio; this bounds that of one with hardly any.
        largest, least = b.max(), max(b.min(), 1e-12 * b.max())
        n_steps = int(np.log(END * largest / (BEGIN * least)) / STEP) + 1
        return mean_ratio_of_subsets(a, b, k, BEGIN / (k * largest), STEP, n_steps)
    mean_a, mean_b = a.mean(), b.mean()
    ratio = mean_a / mean_b
    skew = (b - mean_b) @ (ratio * (b - mean_b) - (a - mean_a)) / (n - 1)
    return ratio + (1 / k - 1 / n) * skew / mean_b**2


class _Sampler:
    """The mean ratio over random subsets, from one stream of random numbers."""

    def __init__(self, random_state: int | None):
        self._rng = np.random.default_rng(random_state)

    def mean_ratio(self, a: np.ndarray, b: np.ndarray, k: int) -> float:
        """Return the mean of sum a / sum b over `N_DRAWS` random subsets of k rows."""
        ratios = []
        for _ in range(N_DRAWS):
            drawn = self._rng.choice(len(a), k, replace=False)
            ratios.append(a[drawn].sum() / b[drawn].sum())
        return float(np.mean(ratios))
