"""Total gain: what a feature's splits promised on the training rows.

The gain of a split (Sun 2022, Definition 2) is how much it lowered the training objective,

    gain(t) = G_l^2/(H_l + lambda) + G_r^2/(H_r + lambda) - G_t^2/(H_t + lambda)

without a factor 1/2, and the total gain of k is its sum over the nodes that split on k. Training
rows chose the splits, so gain also counts what was fitted to noise, and the more so the more
distinct values a feature has to cut at. `attributions.held_out_gain` on other rows is the remedy.
`attributions.tree_inner` on the training rows themselves, with PreDecomp, is this very number
(Proposition 3), unless monotone constraints held values back.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from attributions.inputs import trees_of
from attributions.results import GlobalAttribution
from gbt.model.ensemble import Ensemble
from gbt.model.statistics import gain_by_feature
from gbt.model.tree import Nodes


def total_gain(
    model: Any, *, per_tree: bool = False, per_output: bool = False, columns: str = "given"
) -> GlobalAttribution:
    """Sum the gains of the splits on each feature.

    Parameters
    ----------
    model : estimator, Ensemble or foreign model
        Any fitted model that ``gbt.formats.as_ensemble`` takes.
    per_tree : bool
        Also return the (M, p) gains of the trees.
    per_output : bool
        Also return the (K, p) gains of the trees of each output.
    columns : {"given", "transformed"}
        As for `held_out_gain`.

    Returns
    -------
    GlobalAttribution
        Without standard errors: the rows that chose the splits cannot say what these are worth on
        others. ``n_samples`` is the number of training rows of the largest tree.
    """
    ensemble = trees_of(model, columns=columns)
    ensemble.require("gradients", "hessians", what="total_gain")
    roots = ensemble.tree_offset[:-1]
    return GlobalAttribution(
        values=_of_each([ensemble], ensemble)[0],
        standard_error=None,
        n_samples=int(ensemble.n_samples[roots].max(initial=0)),
        feature_names=ensemble.credited_names,
        method="total_gain",
        per_tree=_of_each(ensemble.trees, ensemble) if per_tree else None,
        per_output=_of_each(ensemble.outputs, ensemble) if per_output else None,
    )


def _of_each(parts: Iterable[Nodes], ensemble: Ensemble) -> np.ndarray:
    """Return the gains by feature of each part of a model, of shape (parts, n_credited)."""
    p, credit = ensemble.n_features, ensemble.credit
    by_column = np.reshape([gain_by_feature(part, p) for part in parts], (-1, p))
    if credit is None:
        return by_column
    return credit.add_up(by_column.T, np.zeros((ensemble.n_credited, len(by_column)))).T
