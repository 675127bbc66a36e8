"""What a model is: trees as flat arrays of nodes that remember their gradient sums.

This is all that passes between the two packages: ``gbt`` grows an `Ensemble`, ``attributions``
reads it. Read ``tree`` (nodes in preorder, and what a node keeps), then ``ensemble`` (all trees end
to end), then ``predictor`` (how rows go down them). ``preparation`` has the steps of a pipeline
that come before the trees, ``credit`` says which feature a column is credited to, and ``soundness``
whether a model can be walked. ``stages`` replays boosting for the derivatives of rows before each
tree, ``statistics`` has sums of nodes and the formulas for what follows from them,
``starting_values`` has the raw predictions at which boosting begins, and ``seen_rows`` remembers
the rows that the model was trained on; ``known_by_leaves`` recognises these rows, where nothing
remembers them, by the leaves that they fill.
"""

from gbt.model.ensemble import Ensemble
from gbt.model.tree import Tree

__all__ = ["Ensemble", "Tree"]
