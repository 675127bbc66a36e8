"""A model in other forms: as JSON has it, and its nodes as a table to look at.

``gbt.estimators.loading`` makes a model of the JSON again.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from gbt.losses.by_name import describe_loss
from gbt.model.soundness import STATISTICS
from gbt.model.tree import NODE_DTYPES
from gbt.tables.categories import level_names

if TYPE_CHECKING:
    import pandas

NUMBERS = ("learning_rate", "reg_lambda")
FLAGS = (
    "is_forest", "zero_is_missing", "unstored_is_missing", "has_init_score", "unseen_is_missing",
)  # fmt: skip


def described(ensemble: Any) -> dict[str, Any]:
    """Return every field that files hold, having checked them all."""
    ensemble.validate()
    levels, sets = ensemble.categories, ensemble.level_sets
    return {
        "base_score": np.asarray(ensemble.base_score, dtype=np.float64).tolist(),
        **{name: float(getattr(ensemble, name)) for name in NUMBERS},
        "loss": describe_loss(ensemble.loss),
        "feature_names": list(ensemble.feature_names),
        "input_dtype": np.dtype(ensemble.input_dtype).name,
        "statistics": [name for name in STATISTICS if name in ensemble.statistics],
        **{name: getattr(ensemble, name) for name in FLAGS},
        "categories": None if levels is None else [of if of is None else list(of) for of in levels],
        "level_sets": sets and {name: part.tolist() for name, part in vars(sets).items()},
        **{name: getattr(ensemble, name).tolist() for name in (*NODE_DTYPES, "tree_offset")},
    }


def frame_of_nodes(model: Any) -> "pandas.DataFrame":
    """Return what `Ensemble.to_frame` says, one row a node."""
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
