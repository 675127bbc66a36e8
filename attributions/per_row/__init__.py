"""Why each row got its prediction: attributions with one row of numbers a sample.

Read ``individual`` first: what an individual attribution is, and how one of your own is written.
``predecomp``, ``saabas`` and ``tree_shap`` are three of them. As objects with options they are
`PreDecomp`, `Saabas` and `TreeShap`. ``tree_shap_pairs`` divides the last among pairs of features.
``bound`` holds one that is bound to a model, for measures
that ask it about many rows; ``aggregates`` puts contributions of single trees together.
"""

from attributions.per_row.predecomp import PreDecomp, predecomp
from attributions.per_row.saabas import Saabas, saabas
from attributions.per_row.tree_shap import TreeShap, tree_shap
from attributions.per_row.tree_shap_pairs import tree_shap_pairs

__all__ = ["PreDecomp", "Saabas", "TreeShap", "predecomp", "saabas", "tree_shap", "tree_shap_pairs"]
