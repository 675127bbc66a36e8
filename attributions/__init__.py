"""Attributions of boosted trees: what each feature did, per sample and per feature.

Names are imported when they are first used: ``import attributions`` alone loads neither Numba nor
Matplotlib.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attributions.absolute import absolute
    from attributions.cross_fit import cross_fit
    from attributions.inner import forest_inner, partial_inner, tree_inner
    from attributions.inner_rows import partial_inner_rows, tree_inner_rows
    from attributions.inputs import SeenRowsWarning
    from attributions.local_mdi import LocalMDI, local_mdi
    from attributions.mdi_plus import mdi_oob, mdi_plus
    from attributions.permutation import permutation
    from attributions.predecomp import predecomp
    from attributions.results import GlobalAttribution, LocalAttribution
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
    "tree_inner": "attributions.inner",
    "tree_inner_rows": "attributions.inner_rows",
    "partial_inner_rows": "attributions.inner_rows",
    "partial_inner": "attributions.inner",
    "forest_inner": "attributions.inner",
    "absolute": "attributions.absolute",
    "permutation": "attributions.permutation",
    "mdi_plus": "attributions.mdi_plus",
    "mdi_oob": "attributions.mdi_plus",
    "total_gain": "attributions.total_gain",
    "unbiased_gain": "attributions.unbiased_gain",
    "cross_fit": "attributions.cross_fit",
    "HeldOutSelector": "attributions.selector",
    "LocalAttribution": "attributions.results",
    "GlobalAttribution": "attributions.results",
    "SeenRowsWarning": "attributions.inputs",
    "LocalMDI": "attributions.local_mdi",
}
__all__ = [  # noqa: RUF022  per sample, per feature, over fits, results
    "predecomp",
    "saabas",
    "tree_shap",
    "local_mdi",
    "tree_inner",
    "tree_inner_rows",
    "partial_inner_rows",
    "partial_inner",
    "forest_inner",
    "absolute",
    "permutation",
    "mdi_plus",
    "mdi_oob",
    "total_gain",
    "unbiased_gain",
    "cross_fit",
    "HeldOutSelector",
    "LocalAttribution",
    "GlobalAttribution",
    "SeenRowsWarning",
    "LocalMDI",
]


def __getattr__(name):
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'attributions' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_HOME})


class _Package(ModuleType):
    """Keeps ``attributions.predecomp`` a function although a module has the same name.

    Importing a module makes it an attribute of its package, where it would hide the function.
    """

    def __setattr__(self, name, value):
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
