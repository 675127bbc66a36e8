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
    from attributions.changes.by_label import AttributionByLabel
    from attributions.changes.differences import Differences
    from attributions.changes.for_whom import ForWhom, for_whom
    from attributions.changes.loss_change import LossChange, compare, loss_change
    from attributions.classic.absolute import absolute
    from attributions.classic.partial_dependence import partial_dependence
    from attributions.classic.permutation import permutation
    from attributions.classic.total_gain import total_gain
    from attributions.held_out.gain import held_out_gain, held_out_gain_rows
    from attributions.held_out.pairs import tree_inner_pairs
    from attributions.held_out.single_rows import partial_inner_rows, tree_inner_rows
    from attributions.held_out.tree_inner import (
        LevelWarning,
        forest_inner,
        partial_inner,
        tree_inner,
    )
    from attributions.inputs import SeenRowsWarning
    from attributions.mdi.local_mdi import LocalMDI, local_mdi
    from attributions.mdi.mdi_plus import mdi_oob, mdi_plus
    from attributions.per_row import predecomp, saabas, tree_shap, tree_shap_pairs
    from attributions.refits.cross_fit import cross_fit
    from attributions.refits.given_others import given_others
    from attributions.refits.selector import HeldOutSelector
    from attributions.results import (
        FeatureCurve,
        GlobalAttribution,
        LocalAttribution,
        LocalPairAttribution,
        PairAttribution,
    )
    from attributions.results.in_chunks import ChunkedAttribution
    from attributions.statistics.groups import FewGroupsWarning
    from attributions.unbiased.gain import unbiased_gain

_ROOMS = {
    "changes.by_label": "AttributionByLabel",
    "changes.differences": "Differences",
    "changes.for_whom": "ForWhom for_whom",
    "changes.loss_change": "LossChange compare loss_change",
    "classic.absolute": "absolute",
    "classic.partial_dependence": "partial_dependence",
    "classic.permutation": "permutation",
    "classic.total_gain": "total_gain",
    "held_out.gain": "held_out_gain held_out_gain_rows",
    "held_out.pairs": "tree_inner_pairs",
    "held_out.single_rows": "partial_inner_rows tree_inner_rows",
    "held_out.tree_inner": "LevelWarning forest_inner partial_inner tree_inner",
    "inputs": "SeenRowsWarning",
    "mdi.local_mdi": "LocalMDI local_mdi",
    "mdi.mdi_plus": "mdi_oob mdi_plus",
    "per_row": "predecomp saabas tree_shap tree_shap_pairs",
    "refits.cross_fit": "cross_fit",
    "refits.given_others": "given_others",
    "refits.selector": "HeldOutSelector",
    "results": "FeatureCurve GlobalAttribution LocalAttribution LocalPairAttribution"
    " PairAttribution",
    "results.in_chunks": "ChunkedAttribution",
    "statistics.groups": "FewGroupsWarning",
    "unbiased.gain": "unbiased_gain",
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
        return getattr(import_module(f"attributions.{_HOME[name]}"), name)
    if name == "plots":
        return import_module("attributions.plots")
    raise AttributeError(f"module 'attributions' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
