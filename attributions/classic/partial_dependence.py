r"""Partial dependence: the mean prediction as a function of one feature, exactly.

Friedman 2001, "Greedy function approximation: a gradient boosting machine", section 8. Over some
rows z_1 ... z_n, with the value of feature k replaced,

    pd_k(x) = 1/n sum_i f(z_i with x in place of z_ik)

Trees cut the feature at finitely many places, so pd_k is a step function, of which every step can
be computed. A leaf is reached only by x between the cuts on feature k on its path. How often it is
reached there depends on the other features alone: it is the share of the rows that take the path's
other edges. So no prediction is made anew, and no grid is needed::

     x1 <= 3             leaf a   x0 <= 5,  for the rows with x1 <= 3
      /    \             leaf b   x0 >  5,  for the same rows
  x0 <= 5   c            leaf c   all x0,   for the other rows
   /    \
  a      b               pd_0(x) = P(x1 <= 3) (x <= 5 ? a : b) + P(x1 > 3) c

Without rows, the share of rows is the product of the path's shares of cover, one for each of the
other edges (scikit-learn's method "recursion"): the mean is then over the training rows, as if
features were independent given the splits above.

In an additive model, ``interaction_constraints="no_interactions"``, the curve of a feature is, up
to a constant, its part of every prediction, whatever the rows.

The cost is a walk of all rows down all trees or, without rows, a visit to each node.

*In front of a pipeline* the feature is a column of the user's table, of which steps may make
anything. There one of its values after the other is put into all rows, and they are predicted: all
values of words, up to a hundred of numbers. Between two of these the curve changes half way.
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from attributions.classic.shuffled_tables import with_column_in
from attributions.inputs import as_numbers, as_rows, refuse_credit, trees_of
from attributions.names import find_feature
from attributions.per_row.bound import features_of_trees
from attributions.per_row.individual import names_of_outputs, node_cover
from attributions.results import FeatureCurve
from gbt.model.ensemble import Ensemble
from gbt.tables.names import shown
from gbt.tables.sparse_rows import with_zeros
from gbt.tables.table import Table, as_given

N_QUANTILES = 1001
MOST_VALUES = 100  # of a column of numbers in front of a pipeline
LARGEST = np.finfo(np.float64).max  # the threshold between all present and all missing rows
BEYOND_ALL_SETS = 2.0**31  # no column has so many levels


def partial_dependence(
    model: Any, feature: Any, X: Any = None, *, cover: str | None = None
) -> FeatureCurve:
    """Return the mean raw prediction as a function of one feature, exactly.

    Parameters
    ----------
    model : estimator, Ensemble or foreign model
        Any fitted model that ``gbt.formats.as_ensemble`` takes. A pipeline needs X.
    feature : str or int
        Its name, or the number of its column; of a pipeline, in the table that it is given.
        ``(model, X, feature)``, in scikit-learn's order, is the same.
    X : array of shape (n, p), optional
        Rows over which the mean is taken, and from which the feature's distribution comes. Without
        them the children of a node are weighted by their covers.
    cover : {None, "hessian", "count"}
        As for `tree_shap`; not used with X. scikit-learn's ``method="recursion"`` weights by what
        is "count" here for histogram trees, and for its other trees by "hessian", which for them is
        the weight of the rows.

    Returns
    -------
    FeatureCurve
        ``curve.at(x)`` is the mean at any values; ``curve.plot()`` draws all of it.
    """
    if len(np.shape(feature)) == 2:  # scikit-learn has the table first
        feature, X = X, feature
    ensemble = trees_of(model, X)
    steps = ensemble.preparation
    if steps is None:
        refuse_credit(ensemble, "partial_dependence")
    names = ensemble.feature_names if steps is None else steps.names
    k = find_feature(feature, names) if isinstance(feature, str) else _as_column(feature, names)
    if steps is not None:
        return _by_values(model, ensemble, k, X)
    rows = None if X is None else with_zeros(as_rows(ensemble, X))
    levels = None if ensemble.categories is None else ensemble.categories[k]
    is_cut = (ensemble.feature == k) & (ensemble.left >= 0) & (ensemble.threshold < LARGEST)
    cuts = np.unique(ensemble.threshold[is_cut]) if levels is None else np.empty(0)
    columns = []
    for output in ensemble.outputs:
        weight = _shares_of_cover(output, k, cover) if rows is None else _shares(output, k, rows)
        curve = _curve(output, k, weight, cuts, levels)
        columns.append(curve + output.base_score)
    curves = np.stack(columns, axis=-1) if ensemble.n_outputs > 1 else columns[0]
    return FeatureCurve(
        feature_name=names[k],
        cuts=cuts,
        values=curves[:-1] if levels is None else curves[:-2],
        missing=curves[-1],
        levels=levels,
        # A root that splits on k is above all other splits of its tree, and so is another.
        is_additive=all(k not in own or len(own) == 1 for own in features_of_trees(ensemble)),
        method="partial_dependence",
        output_names=names_of_outputs(model, ensemble),
        input_dtype=ensemble.input_dtype,
        zero_is_missing=ensemble.zero_is_missing,
        unseen=None if levels is None or ensemble.unseen_is_missing else curves[-2],
        **({"shares": None} if rows is None else distribution(rows[:, k], cuts, levels)),
    )


def _as_column(feature: Any, names: tuple[str, ...]) -> int:
    if isinstance(feature, bool) or not isinstance(feature, int | np.integer):
        raise ValueError(f"A feature is asked for by its name or its number; got {shown(feature)}.")
    if not 0 <= feature < len(names):
        raise ValueError(f"feature={feature}; the model has the columns 0 to {len(names) - 1}.")
    return int(feature)


def _children(ensemble: Ensemble) -> tuple[np.ndarray, np.ndarray]:
    """Return the children of every node as numbers in the model; meaningless at leaves."""
    root = np.repeat(ensemble.tree_offset[:-1], np.diff(ensemble.tree_offset))
    return root + ensemble.left, root + ensemble.right


def _shares_of_cover(ensemble: Ensemble, k: int, cover: str | None) -> np.ndarray:
    """Return for every node the product of the shares of its path's edges, splits on k left out.

    A child of a node without cover has share 0.
    """
    weight, of_node = np.ones(len(ensemble.value)), node_cover(ensemble, cover)
    left, right = _children(ensemble)
    nodes = ensemble.tree_offset[:-1]
    while len(nodes := nodes[ensemble.left[nodes] >= 0]):
        is_free = ensemble.feature[nodes] == k
        for child in (left[nodes], right[nodes]):
            share = np.divide(
                of_node[child], of_node[nodes], out=np.zeros(len(nodes)), where=of_node[nodes] > 0
            )
            weight[child] = weight[nodes] * np.where(is_free, 1.0, share)
        nodes = np.concatenate([left[nodes], right[nodes]])
    return weight


def _shares(ensemble: Ensemble, k: int, rows: np.ndarray) -> np.ndarray:
    """Return for every node the share of the rows that take its path's edges, splits on k left out.

    Rows go down both sides of a split on k.
    """
    counts = np.zeros(len(ensemble.value), dtype=np.int64)
    left, right = _children(ensemble)
    for root in ensemble.tree_offset[:-1]:
        node, row = np.full(len(rows), root), np.arange(len(rows))
        while len(node):
            first, size = node.min(), node.max() - node.min() + 1
            counts[first : first + size] += np.bincount(node - first, minlength=size)
            is_split = ensemble.left[node] >= 0
            node, row = node[is_split], row[is_split]
            is_free = ensemble.feature[node] == k
            is_left = _goes_left(ensemble, node, rows[row, ensemble.feature[node]])
            goes = is_free | is_left, is_free | ~is_left
            node = np.concatenate([left[node[goes[0]]], right[node[goes[1]]]])
            row = np.concatenate([row[side] for side in goes])
    return counts / len(rows)


def _goes_left(ensemble: Ensemble, node: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Say of each value of ``x`` whether it goes left at its node."""
    is_left = np.where(np.isnan(x), ensemble.missing_left[node], x <= ensemble.threshold[node])
    if ensemble.level_sets is None:
        return is_left
    level = np.minimum(x, BEYOND_ALL_SETS)  # inf is a level that training has not seen
    return ensemble.level_sets.takes_left(node, level, is_left)


def _curve(
    ensemble: Ensemble, k: int, weight: np.ndarray, cuts: np.ndarray, levels: Any
) -> np.ndarray:
    """Return sums of leaf weights times values by interval or level, and last for missing.

    Behind the levels there is that of all which training has not seen.
    """
    n_nodes = len(ensemble.value)
    all_levels = np.empty(0) if levels is None else np.append(np.arange(len(levels)), np.inf)
    steps, of_levels, of_missing = np.zeros(len(cuts) + 2), np.zeros(len(all_levels)), 0.0
    left, right = _children(ensemble)
    gives = weight * ensemble.value
    # What gets to a node: numbers above low and up to high, whether missing ones do, which levels.
    low, high = np.full(n_nodes, -np.inf), np.full(n_nodes, np.inf)
    has_missing, has_level = np.ones(n_nodes, bool), np.ones((n_nodes, len(all_levels)), bool)
    nodes = ensemble.tree_offset[:-1]
    while len(nodes):
        is_leaf = ensemble.left[nodes] < 0
        leaf, nodes = nodes[is_leaf], nodes[~is_leaf]
        start = np.searchsorted(cuts, low[leaf], side="right")
        start[low[leaf] == LARGEST] = len(cuts) + 1
        stop = np.searchsorted(cuts, high[leaf], side="left") + 1
        some = start < stop
        np.add.at(steps, start[some], gives[leaf[some]])
        np.add.at(steps, stop[some], -gives[leaf[some]])
        of_levels += gives[leaf] @ has_level[leaf]
        of_missing += gives[leaf] @ has_missing[leaf]
        for reached in (low, high, has_missing, has_level):
            reached[left[nodes]] = reached[right[nodes]] = reached[nodes]
        own = nodes[ensemble.feature[nodes] == k]
        l, r, threshold = left[own], right[own], ensemble.threshold[own]
        high[l], low[r] = np.minimum(high[l], threshold), np.maximum(low[r], threshold)
        has_missing[l] &= ensemble.missing_left[own]
        has_missing[r] &= ~ensemble.missing_left[own]
        for j, level in enumerate(all_levels):
            goes_left = _goes_left(ensemble, own, np.full(len(own), level))
            has_level[l, j] &= goes_left
            has_level[r, j] &= ~goes_left
        nodes = np.concatenate([left[nodes], right[nodes]])
    of_values = np.cumsum(steps)[:-1] if levels is None else of_levels
    return np.append(of_values, of_missing)


def _by_values(model: Any, ensemble: Ensemble, k: int, X: Any) -> FeatureCurve:
    """Return the curve of a column of the table in front of steps, at values that it has."""
    steps: Any = ensemble.preparation
    if X is None:
        raise ValueError(
            "The partial dependence of a pipeline is the mean over rows of its table; give X."
        )
    table = Table(steps.in_order(X.toarray() if issparse(X) else X))
    given, (x, levels) = as_given(table.given), as_numbers(table, k)
    cuts = np.empty(0)
    at = np.unique(x[~np.isnan(x)])
    if not len(at):
        raise ValueError(
            f"All values of {steps.names[k]!r} are missing in X; partial_dependence of a pipeline"
            " sets a column to the values that it has. Give rows that have some."
        )
    if levels is None:
        if len(at) > MOST_VALUES:
            shares = np.linspace(0, 1, MOST_VALUES)
            at = np.unique(np.nanquantile(x, shares, method="inverted_cdf"))
        cuts = (at[1:] + at[:-1]) / 2
    rows = [*(int(np.argmax(x == value)) for value in at), *np.flatnonzero(np.isnan(x))[:1]]
    of_one_row = (with_column_in(np.full(len(x), row), given, k) for row in rows)
    means = [ensemble.raw_predict(of_value).mean(axis=0) for of_value in of_one_row]
    if len(means) == len(at):  # nothing is missing, and steps need not take what is
        means.append(np.full_like(means[0], np.nan))
    values = np.array(means[:-1])
    if levels is None:  # steps may make the same of different numbers
        is_step = (values[1:] != values[:-1]).reshape(len(cuts), ensemble.n_outputs).any(axis=1)
        cuts, values = cuts[is_step], values[np.append(True, is_step)]
    return FeatureCurve(
        feature_name=steps.names[k],
        cuts=cuts,
        values=values,
        missing=means[-1],
        levels=levels,
        is_additive=False,  # as far as is known
        method="partial_dependence",
        output_names=names_of_outputs(model, ensemble),
        unseen=np.full_like(means[0], np.nan),
        **distribution(x, cuts, levels),
    )


def distribution(x: np.ndarray, cuts: np.ndarray, levels: Any) -> dict[str, Any]:
    """Return the fields of a `FeatureCurve` that say where rows are."""
    n = len(cuts) + 1 if levels is None else len(levels)
    where = np.searchsorted(cuts, x, side="left") if levels is None else np.nan_to_num(x, nan=n)
    where = np.where(np.isnan(x), n, where).astype(np.int64)
    shares = np.bincount(np.minimum(where, n), minlength=n + 1) / len(x)
    known, at = x[np.isfinite(x)], np.linspace(0, 1, N_QUANTILES)
    is_drawn = levels is None and len(known) > 0
    quantiles = np.quantile(known, at, method="inverted_cdf") if is_drawn else None
    return {"shares": shares, "quantiles": quantiles}
