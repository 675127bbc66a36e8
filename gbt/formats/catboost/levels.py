"""Levels of CatBoost's categorical columns, found from rows: the model keeps only their hashes.

A split of a column of few levels (``one_hot_max_size``) asks whether x is one level, of which the
model has 32 bits of a hash. Rows have levels, CatBoost computes their hashes, and so levels are
found by value. They need not be the training rows, but must have every level that the model splits.
A level whose hash the model does not have, such as one that training has not seen, is not split: it
goes right everywhere, as in CatBoost. So do missing values, which CatBoost does not allow in
columns of categories.

Two levels can have one hash. CatBoost takes them for one, and so the sets here have both.
"""

from typing import Any

import numpy as np

from gbt.formats.catboost.binary import Model
from gbt.formats.listed_levels import Listed
from gbt.parallel.chunks import refuse_chunks
from gbt.tables.categories import Categories, Level, learn
from gbt.tables.names import refuse_number, refuse_other_columns
from gbt.tables.table import Table

Hashed = dict[int, np.ndarray]  # by column: the number of each level's hash in the model


def levels_of(model: Model, X: Any) -> Categories | None:
    """Return the levels of the categorical columns in some rows; unsplit columns need none.

    If the model splits levels, and there are no rows, a ValueError is raised.
    """
    if not model.categorical:
        return None
    names = model.feature_names
    if X is not None:
        refuse_chunks(X)
        refuse_number(np.shape(X), names)
        table = Table(X)
        refuse_other_columns(table, names)
        levels, _ = learn(table, [*model.categorical], names)
        return levels
    split = [names[k] for k in model.categorical if (model.feature[model.level >= 0] == k).any()]
    if split:
        raise ValueError(
            f"This CatBoost model splits levels of {', '.join(map(repr, split))} and keeps only"
            " their hashes. Give rows that have these levels, such as those that it was trained"
            " on, once, gbt.formats.as_ensemble(model, X=X_train): from then on the model can be"
            " read, and so can what this returns, which does not know labels of classes."
        )
    return tuple(() if k in model.categorical else None for k in range(len(names)))


def hashed(model: Model, booster: Any, categories: Categories | None) -> Hashed:
    """Return the numbers of the hashes of each column's levels in the model."""
    found: Hashed = {}
    for place, k in enumerate(model.categorical):
        n_hashes = int((model.feature[model.level >= 0] == k).sum())
        if not n_hashes:
            continue
        levels = (categories or ())[k] or ()
        has = [
            booster._calc_cat_feature_perfect_hash(text_of_level(level), place) for level in levels
        ]
        found[k] = np.array(has, dtype=np.int64)
        n_absent = n_hashes - len({*has} & {*range(n_hashes)})
        if n_absent:
            raise ValueError(
                f"This CatBoost model splits {n_hashes} levels of {model.feature_names[k]!r}, and"
                f" the rows lack {n_absent} of them. Give the rows that it was trained on."
            )
    return found


def text_of_level(level: Level) -> str:
    """Return a level as the text that CatBoost hashes; booleans are 0 and 1 there."""
    return level if isinstance(level, str) else str(int(level))


def listed(model: Model, split: np.ndarray, levels: Hashed) -> Listed:
    """Return the level that goes left at each node that splits one; ``split`` is of nodes."""
    of_split = [
        np.flatnonzero(levels[k] == number) if number >= 0 else np.empty(0, np.int64)
        for k, number in zip(model.feature.tolist(), model.level.tolist(), strict=True)
    ]
    has_list = np.append(model.level, -1)[split] >= 0
    node = np.flatnonzero(has_list)
    own = [of_split[s] for s in split[node].tolist()]  # one level, but for those of one hash
    level = np.concatenate([np.empty(0, np.int64), *own])
    return Listed(has_list, np.repeat(node, [*map(len, own)]), level)
