"""Why each row got its prediction: attributions with one row of numbers a sample.

Read ``individual`` first: what an individual attribution is, and how one of your own is written.
``predecomp``, ``saabas`` and ``tree_shap`` are three of them; as objects with options they are
called `PreDecomp`, `Saabas` and `TreeShap`. ``tree_shap_pairs`` divides the last among pairs of
features. ``bound`` has a model with an attribution that is bound to it, for measures of many rows,
and ``aggregates`` combines contributions of single trees.
"""

from attributions.per_row.predecomp import PreDecomp, predecomp
from attributions.per_row.saabas import Saabas, saabas
from attributions.per_row.tree_shap import TreeShap, tree_shap
from attributions.per_row.tree_shap_pairs import tree_shap_pairs

__all__ = ["PreDecomp", "Saabas", "TreeShap", "predecomp", "saabas", "tree_shap", "tree_shap_pairs"]
