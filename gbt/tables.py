"""Tables as people have them: arrays and frames, their columns' names, columns of other things.

What gets through is rows of floats, nan where a value is missing.
"""

import numpy as np
from sklearn.utils import check_array

# How the names of dtypes that are not numbers begin in pandas, pyarrow and polars, in lower case.
_NOT_NUMBERS = (
    "category", "categorical", "enum", "dictionary", "str", "large_str", "utf8",
    "date", "time", "duration", "period", "interval",
)  # fmt: skip


def as_floats(X) -> np.ndarray:
    """Return a table as rows of float64, or of float32 if it holds these."""
    if isinstance(X, np.ndarray) and X.dtype in (np.float64, np.float32):
        return X
    try:
        return check_array(
            X,
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
            ensure_2d=False,
            ensure_min_samples=0,
            input_name="X",
        )
    except (TypeError, ValueError):
        refuse_categories(X)  # names them
        raise


def refuse_categories(X) -> None:
    """Raise ValueError if a data frame has columns that are not numbers; name them."""
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        return
    by_place = getattr(X, "iloc", X)  # names may occur twice
    refused = [
        f"{name!r} ({dtype})"
        for k, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True))
        if str(dtype).lower().startswith(_NOT_NUMBERS)
        or (str(dtype).lower() == "object" and any(isinstance(v, str) for v in by_place[:, k]))
    ]
    if refused:
        raise ValueError(
            f"X has columns that are not numbers: {', '.join(refused)}. Categories are not"
            " supported yet: encode them, for instance with sklearn.preprocessing.OrdinalEncoder or"
            " OneHotEncoder, or drop them; categorical_features=None reads every column as numbers."
        )


def refuse_other_columns(X, feature_names: tuple[str, ...]) -> None:
    """Raise ValueError if a frame has a model's columns in another order, or other columns.

    Other names are as good as none where either side has them only by number: x0, x1, ...
    """
    names = tuple(map(str, getattr(X, "columns", feature_names)))
    if names == feature_names:
        return
    if set(names) == set(feature_names):
        raise ValueError(
            f"X has the columns of the model in another order: {list(names[:5])}... instead of"
            f" {list(feature_names[:5])}... Select them in the order of feature_names."
        )
    if not (_are_numbered(names) or _are_numbered(feature_names)):
        k = next(k for k, name in enumerate(names) if name != feature_names[k])
        raise ValueError(
            f"X has other columns than the model: column {k} is {names[k]!r} instead of"
            f" {feature_names[k]!r}. Select them by feature_names, or give an array."
        )


def _are_numbered(names: tuple[str, ...]) -> bool:
    """Say whether names are one word, or none, and the number of the column."""
    prefix = names[0].rstrip("0123456789")
    return all(name == f"{prefix}{k}" for k, name in enumerate(names))
