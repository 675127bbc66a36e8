"""Models and rows as text, for messages about what fails: short, and exact to the last digit."""

import numpy as np

from gbt.model.ensemble import Ensemble
from gbt.model.tree import Tree

__all__ = ["model_as_text", "tree_as_text"]


def model_as_text(ensemble: Ensemble) -> str:
    """Return the numbers of a model and its trees, a line a node."""
    numbers = (
        f"base_score {ensemble.base_score!r}, learning_rate {ensemble.learning_rate!r},"
        f" reg_lambda {ensemble.reg_lambda!r}, {ensemble.loss.name}"
    )
    trees = [
        f"tree {m}\n{tree_as_text(tree, ensemble.feature_names)}"
        for m, tree in enumerate(ensemble.trees)
    ]
    return "\n".join([numbers, *trees])


def tree_as_text(tree: Tree, feature_names: tuple[str, ...]) -> str:
    """Return a line a node, children below their parent and indented, the left one first."""
    rules = ["leaf" for _ in tree.left]
    for t in np.flatnonzero(~tree.is_leaf):
        side = "left" if tree.missing_left[t] else "right"
        name = feature_names[tree.feature[t]]
        rules[t] = f"{name} <= {float(tree.threshold[t])!r}, missing {side}"
    rules = ["  " * (1 + int(level)) + rule for level, rule in zip(tree.depth, rules, strict=True)]
    width = max(map(len, rules))
    return "\n".join(
        f"{rule:<{width}}  value {float(tree.value[t])!r}, G {float(tree.sum_gradient[t])!r},"
        f" H {float(tree.sum_hessian[t])!r}, n {int(tree.n_samples[t])}"
        for t, rule in enumerate(rules)
    )


def rows_as_text(X: np.ndarray, **by_row: np.ndarray) -> str:
    """Return a line a row of a table, with what else is known of it: its target, its weight."""
    others = [
        "".join(f"  {name} {float(array[i])!r}" for name, array in by_row.items())
        for i in range(len(X))
    ]
    return "\n".join(f"row {i}  {x.tolist()}{others[i]}" for i, x in enumerate(X))
