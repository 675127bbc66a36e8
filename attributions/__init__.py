"""Attributions of boosted trees: what each feature did, per sample and per feature.

=========================================================  =========================================
``predecomp``, ``saabas``, ``tree_shap``                   why each row got its prediction
``local_mdi``                                              why, by linear models of the trees
``held_out_gain``, ``held_out_gain_rows``                  which features help on new rows
``loss_change``, ``compare``, ``for_whom``                 what changed, between models, for whom
``tree_inner``, ``partial_inner``, ``forest_inner``        the measures of Sun (2022)
``tree_inner_rows``, ``partial_inner_rows``                for which rows a feature helped or hurt
``tree_shap_pairs``                                        which features act together on a row
``partial_dependence``                                     predictions by the value of one feature
``tree_inner_pairs``                                       below which splits a feature helped
``total_gain``, ``absolute``, ``permutation``              the usual importances
``unbiased_gain``, ``mdi_plus``, ``mdi_oob``               gain without its bias
``cross_fit``, ``HeldOutSelector``                         over several fits, to choose features
``given_others``                                           what a column says that others do not
``LocalAttribution``, ``LocalMDI``, ``GlobalAttribution``  results by row, and by feature
``PairAttribution``                                        results by pair of features
``LocalPairAttribution``                                   results by row and pair of features
``AttributionByLabel``, ``Differences``, ``LossChange``    results by month or region, and changes
``ForWhom``                                                results by group of rows
``FeatureCurve``                                           results by the value of one feature
``ChunkedAttribution``                                     results by row, for rows in Dask
``SeenRowsWarning``                                        rows that judge took part in the fit
``LevelWarning``                                           p-values of a measure are too small
``FewGroupsWarning``                                       intervals come from few groups
``plots``                                                  pictures of results and trees
``testing``, to be imported by that name                   checks for attributions of your own
=========================================================  =========================================

Names are imported when they are first used: ``import attributions`` alone loads neither Numba nor
Matplotlib.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attributions import plots
    from attributions.changes import (
        AttributionByLabel,
        Differences,
        ForWhom,
        LossChange,
        compare,
        for_whom,
        loss_change,
    )
    from attributions.classic import absolute, partial_dependence, permutation, total_gain
    from attributions.held_out import (
        LevelWarning,
        forest_inner,
        held_out_gain,
        held_out_gain_rows,
        partial_inner,
        partial_inner_rows,
        tree_inner,
        tree_inner_pairs,
        tree_inner_rows,
    )
    from attributions.inputs import SeenRowsWarning
    from attributions.mdi import LocalMDI, local_mdi, mdi_oob, mdi_plus
    from attributions.per_row import predecomp, saabas, tree_shap, tree_shap_pairs
    from attributions.refits import HeldOutSelector, cross_fit, given_others
    from attributions.results import (
        FeatureCurve,
        GlobalAttribution,
        LocalAttribution,
        LocalPairAttribution,
        PairAttribution,
    )
    from attributions.results.in_chunks import ChunkedAttribution
    from attributions.statistics import FewGroupsWarning
    from attributions.unbiased import unbiased_gain

_ROOMS = {
    "attributions.per_row": "predecomp saabas tree_shap tree_shap_pairs",
    "attributions.mdi": "local_mdi mdi_plus mdi_oob LocalMDI",
    "attributions.held_out": "held_out_gain held_out_gain_rows tree_inner tree_inner_rows"
    " tree_inner_pairs partial_inner partial_inner_rows forest_inner LevelWarning",
    "attributions.changes": "loss_change compare for_whom"
    " AttributionByLabel Differences LossChange ForWhom",
    "attributions.classic": "absolute partial_dependence permutation total_gain",
    "attributions.unbiased": "unbiased_gain",
    "attributions.refits": "cross_fit given_others HeldOutSelector",
    "attributions.results": "LocalAttribution GlobalAttribution FeatureCurve"
    " PairAttribution LocalPairAttribution",
    "attributions.results.in_chunks": "ChunkedAttribution",
    "attributions.statistics": "FewGroupsWarning",
    "attributions.inputs": "SeenRowsWarning",
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names.split()}
__all__ = [  # noqa: RUF022  per sample, per feature, over fits, results, warnings, pictures
    "predecomp", "saabas", "tree_shap", "tree_shap_pairs", "local_mdi",
    "held_out_gain", "held_out_gain_rows", "loss_change", "compare", "for_whom",
    "tree_inner", "tree_inner_rows", "partial_inner_rows", "tree_inner_pairs", "partial_inner",
    "forest_inner", "absolute", "permutation", "partial_dependence", "mdi_plus", "mdi_oob",
    "total_gain", "unbiased_gain",
    "cross_fit", "given_others", "HeldOutSelector",
    "LocalAttribution", "GlobalAttribution", "PairAttribution", "LocalPairAttribution",
    "FeatureCurve", "AttributionByLabel", "Differences", "LossChange", "ForWhom",
    "ChunkedAttribution", "LocalMDI",
    "FewGroupsWarning", "SeenRowsWarning", "LevelWarning",
    "plots",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name == "plots":
        return import_module("attributions.plots")
    raise AttributeError(f"module 'attributions' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
