"""What a model is: trees as flat arrays of nodes that remember their gradient sums.

This is all that passes between the two packages: ``gbt`` grows an `Ensemble`, ``attributions``
reads it. Read ``tree`` (nodes in preorder, and what a node keeps), then ``ensemble`` (all trees end
to end), then ``predictor`` (how rows go down them). ``stages`` takes rows through boosting once
more for their derivatives before each tree, ``statistics`` says which sums of nodes are known and
what follows from them, ``starts`` where boosting begins, and ``seen_rows`` remembers which rows the
model was trained on; ``known_by_leaves`` tells these rows by the leaves that they fill, where
nothing remembers them.
"""

from gbt.model.ensemble import Ensemble
from gbt.model.tree import Tree

__all__ = ["Ensemble", "Tree"]
