"""Attributions of boosted trees: what each feature did, per sample and per feature.

=========================================================  =========================================
``predecomp``, ``saabas``, ``tree_shap``                   why each row got its prediction
``local_mdi``                                              the same, from linear models of the trees
``held_out_gain``, ``held_out_gain_rows``                  which features help on new rows
``tree_inner``, ``partial_inner``, ``forest_inner``        the same by the paper and its relatives
``tree_inner_rows``, ``partial_inner_rows``                for which rows a feature helped or hurt
``tree_inner_pairs``                                       below splits on which other it helped
``total_gain``, ``absolute``, ``permutation``              the classics
``unbiased_gain``, ``mdi_plus``, ``mdi_oob``               gain without its bias
``cross_fit``, ``HeldOutSelector``                         over several fits, to choose features
``given_others``                                           what a column says that others do not
``LocalAttribution``, ``LocalMDI``, ``GlobalAttribution``  what the above return
``PairAttribution``                                        the same for pairs of features
``ChunkedAttribution``                                     the first of these, of rows of Dask
``SeenRowsWarning``                                        rows for judging were trained on
``FewGroupsWarning``                                       intervals come from few groups
``plots``                                                  pictures of results and trees
``testing``, to be imported by that name                   checks for attributions of your own
=========================================================  =========================================

Names are imported when they are first used: ``import attributions`` alone loads neither Numba nor
Matplotlib.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attributions import plots
    from attributions.absolute import absolute
    from attributions.cross_fit import cross_fit
    from attributions.given_others import given_others
    from attributions.groups import FewGroupsWarning
    from attributions.held_out_gain import held_out_gain, held_out_gain_rows
    from attributions.inner import forest_inner, partial_inner, tree_inner
    from attributions.inner_pairs import tree_inner_pairs
    from attributions.inner_rows import partial_inner_rows, tree_inner_rows
    from attributions.inputs import SeenRowsWarning
    from attributions.local_mdi import LocalMDI, local_mdi
    from attributions.mdi_plus import mdi_oob, mdi_plus
    from attributions.permutation import permutation
    from attributions.predecomp import predecomp
    from attributions.results import GlobalAttribution, LocalAttribution, PairAttribution
    from attributions.results.in_chunks import ChunkedAttribution
    from attributions.saabas import saabas
    from attributions.selector import HeldOutSelector
    from attributions.total_gain import total_gain
    from attributions.tree_shap import tree_shap
    from attributions.unbiased_gain import unbiased_gain

_HOME = {
    "predecomp": "attributions.predecomp",
    "saabas": "attributions.saabas",
    "tree_shap": "attributions.tree_shap",
    "local_mdi": "attributions.local_mdi",
    "held_out_gain": "attributions.held_out_gain",
    "held_out_gain_rows": "attributions.held_out_gain",
    "tree_inner": "attributions.inner",
    "tree_inner_rows": "attributions.inner_rows",
    "partial_inner_rows": "attributions.inner_rows",
    "tree_inner_pairs": "attributions.inner_pairs",
    "partial_inner": "attributions.inner",
    "forest_inner": "attributions.inner",
    "absolute": "attributions.absolute",
    "permutation": "attributions.permutation",
    "mdi_plus": "attributions.mdi_plus",
    "mdi_oob": "attributions.mdi_plus",
    "total_gain": "attributions.total_gain",
    "unbiased_gain": "attributions.unbiased_gain",
    "cross_fit": "attributions.cross_fit",
    "given_others": "attributions.given_others",
    "HeldOutSelector": "attributions.selector",
    "LocalAttribution": "attributions.results",
    "GlobalAttribution": "attributions.results",
    "PairAttribution": "attributions.results",
    "ChunkedAttribution": "attributions.results.in_chunks",
    "FewGroupsWarning": "attributions.groups",
    "SeenRowsWarning": "attributions.inputs",
    "LocalMDI": "attributions.local_mdi",
}
_MODULES = ("plots",)
__all__ = [  # noqa: RUF022  per sample, per feature, over fits, results, pictures
    "predecomp",
    "saabas",
    "tree_shap",
    "local_mdi",
    "held_out_gain",
    "held_out_gain_rows",
    "tree_inner",
    "tree_inner_rows",
    "partial_inner_rows",
    "tree_inner_pairs",
    "partial_inner",
    "forest_inner",
    "absolute",
    "permutation",
    "mdi_plus",
    "mdi_oob",
    "total_gain",
    "unbiased_gain",
    "cross_fit",
    "given_others",
    "HeldOutSelector",
    "LocalAttribution",
    "GlobalAttribution",
    "PairAttribution",
    "ChunkedAttribution",
    "FewGroupsWarning",
    "SeenRowsWarning",
    "LocalMDI",
    "plots",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _MODULES:
        return import_module(f"attributions.{name}")
    raise AttributeError(f"module 'attributions' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]


class _Package(ModuleType):
    """Keeps ``attributions.predecomp`` a function although a module has the same name.

    Importing a module makes it an attribute of its package, where it would hide the function.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
