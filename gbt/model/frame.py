"""The nodes of a model as a table to look at, one row a node."""

from typing import TYPE_CHECKING, Any

import numpy as np

from gbt.model.tree import NODE_DTYPES
from gbt.tables.categories import level_names

if TYPE_CHECKING:
    import pandas


def frame_of_nodes(model: Any) -> "pandas.DataFrame":
    """Return what `Ensemble.to_frame` says."""
    import pandas as pd

    is_inner, sizes = model.left >= 0, np.diff(model.tree_offset)
    depths = [tree.depth for tree in model.trees]
    of_categories = {}
    if model.categories is not None:
        of_categories["levels_left"] = [
            level_names(model.categories, model.level_sets, k, t) if has_set else None
            for t, (k, has_set) in enumerate(zip(model.feature, model.has_set, strict=True))
        ]
    return pd.DataFrame(
        {
            "tree": np.repeat(np.arange(model.n_trees), sizes),
            **({"output": np.repeat(model.tree_output, sizes)} if model.n_outputs > 1 else {}),
            "node": np.arange(len(model.feature)) - np.repeat(model.tree_offset[:-1], sizes),
            "depth": np.concatenate([np.empty(0, np.int64), *depths]),
            "feature": np.where(
                is_inner, np.array(model.feature_names, dtype=object)[model.feature], None
            ),
            "threshold": np.where(is_inner & ~model.has_set, model.threshold, np.nan),
            **of_categories,
            **{name: getattr(model, name) for name in [*NODE_DTYPES][2:]},
        }
    )
