"""Targets and weights as people have them: numbers or labels, one weight a row or a class.

The functions return float64 arrays: targets, with labels as 0 and 1, or 0 .. K - 1 for K classes,
and the weight of every row.
"""

import warnings
from typing import Any

import numpy as np
from sklearn.utils import check_array, column_or_1d

from gbt.tables.cells import ADVICE, is_missing, kind_of_dtype, kind_of_value


def as_column(y: Any) -> Any:
    """Return targets in one column, as of ``y.to_frame()``, as one a row; others as they are.

    scikit-learn's `DataConversionWarning` tells of it.
    """
    is_column = getattr(y, "shape", ())[1:] == (1,)
    return column_or_1d(y, warn=True) if is_column else y


def refuse_other_targets(y: Any, name: str = "y", *, may_be_text: bool = False) -> None:
    """Raise ValueError if there is not one value a row: dates, text, a mask, nan, infinity or NA.

    Labels ``may_be_text``.
    """
    if isinstance(y, str):
        raise ValueError(f"{name}={y!r} is one word. If it names a column of X, give X[{y!r}].")
    values = np.asarray(y)
    _refuse_gaps(y, name)
    if values.dtype.names is not None:
        raise ValueError(
            f"{name} has the fields {', '.join(values.dtype.names)}, as times of events have, which"
            " GBTRegressor takes with loss='cox' or 'aft'; else it must be one column."
        )
    kind, shown = kind_of_dtype(str(values.dtype)), str(values.dtype)
    if values.dtype.kind == "O" and values.ndim == 1:
        for row, value in enumerate(values):
            found = kind_of_value(value)
            if found == "other" and value is not None and is_missing(value):
                raise ValueError(
                    f"{name} is {value} in row {row}. Leave out the rows without a value."
                )
            if found == "date" or (found == "text" and not may_be_text):
                kind, shown = found, f"{value!r} in row {row}"
                break
    if kind == "date":
        raise ValueError(f"{name} holds dates ({shown}). {ADVICE['date']}")
    if kind == "text" and not may_be_text:
        raise ValueError(f"{name} must be numbers, and holds text ({shown}). {ADVICE['text']}")


def _refuse_gaps(y: Any, name: str) -> None:
    """Raise ValueError if numbers are masked, nan or infinite."""
    values = np.asarray(y)
    is_masked = np.zeros(values.shape, dtype=bool)
    if isinstance(y, np.ma.MaskedArray):
        is_masked = np.ma.getmaskarray(y)
    without = is_masked | (~np.isfinite(values) if values.dtype.kind == "f" else False)
    if without.any():
        row, first = np.argwhere(np.atleast_1d(without))[0, 0], np.argmax(without)
        what = "masked" if is_masked.flat[first] else values.flat[first]
        raise ValueError(
            f"{name} is {what} in row {row}. Leave out the rows without a finite value."
        )


def warn_of_other_order(X: Any, y: Any, stacklevel: int, name: str = "y") -> None:
    """Warn if targets have other labels than a frame's rows, or these in another order.

    Labels of another kind, words beside numbers, are other names and say nothing of the order. Nor
    do numbers from 0 on in order, as of a series that was made of an array, unless the other side
    has the same ones in another order.
    """
    of_X: Any = getattr(X, "index", None)
    of_y: Any = getattr(y, "index", None)
    if not (hasattr(of_X, "equals") and hasattr(of_y, "equals")) or len(of_X) != len(of_y):
        return  # a list has an index, too, its method, and a table of Dask one that is not known
    if of_X.equals(of_y):
        return
    are_same = of_X.isin(of_y).all() and of_y.isin(of_X).all()
    labels, others = of_X.tolist(), of_y.tolist()
    differ = (i for i in range(len(labels)) if labels[i] != others[i])
    if (row := next(differ, None)) is None:  # as 1 and 1.0
        return
    is_other_kind = type(labels[row]) is not type(others[row])
    if not are_same and (is_other_kind or any(map(_are_places, (of_X, of_y)))):
        return
    how = "other labels than the rows of X"
    then = f"If they belong together as they stand, {name}.to_numpy() says so."
    if are_same:
        how = "the labels of X's rows in another order"
        then = f"{name}.loc[X.index] brings {name} into the order of X."
    warnings.warn(
        f"{name} has {how}: row {row} of X is {labels[row]!r}, of {name} {others[row]!r}. Rows go"
        f" together by their places, not by their labels. {then}",
        UserWarning,
        stacklevel=stacklevel + 1,
    )


def _are_places(index: Any) -> bool:
    """Say whether an index only counts rows, from 0 on."""
    return index.dtype.kind in "iu" and index.tolist() == [*range(len(index))]


def distinct_labels(y: Any) -> np.ndarray:
    """Return the distinct labels, sorted; they must be of one kind, so None is refused."""
    try:
        return np.unique(y)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in y})
        raise ValueError(
            f"The labels in y must be of one type; got {' and '.join(kinds)}. Missing labels are"
            " not allowed."
        ) from error


def as_target(model: Any, ensemble: Any, y: Any, n_rows: int) -> np.ndarray:
    """Return the targets as a model's loss takes them, float64 of shape (n,), or (n, K) for K.

    Labels of a classifier's ``classes_`` become their numbers, 0 and 1. For a model without
    ``classes_`` labels must be 0 and 1 themselves, or 0 .. K - 1. In a forest every class is a
    target, 1 for the rows of the class.
    """
    loss = ensemble.loss
    if loss.has_pairs:
        return as_pairs(loss, y, n_rows)
    classes = getattr(model, "classes_", None)  # a forest has them too, with a squared loss
    has_labels = classes is not None and len(classes) > 0  # CatBoost's regressors have no class
    if not has_labels:
        classes = {"half_logistic": (0, 1), "softmax": range(loss.n_outputs)}.get(loss.name)
    y = as_column(y)
    refuse_other_targets(y, may_be_text=classes is not None)
    y = np.asarray(y)
    shape: tuple[int, ...] = (n_rows,)
    is_several = loss.name == "several_targets"
    if is_several and y.ndim == 2:  # a number for each of the K targets
        classes, shape = None, (n_rows, loss.n_outputs)
    elif is_several and classes is None:  # one class for each row
        classes = range(loss.n_outputs)
    if y.shape != shape:
        raise ValueError(f"y has shape {y.shape}; it needs one target for each row of X, {shape}.")
    if classes is not None:
        labels = np.asarray(classes).tolist()
        is_class = np.array([y == label for label in labels])
        unknown = ~is_class.any(axis=0)
        if unknown.any():
            columns = (n_rows, len(labels)) if is_several and not has_labels else None
            _refuse_label(y[unknown].tolist()[0], labels, has_labels, columns)
        if is_several:  # a forest: K targets, each 1 for the rows of a class
            return is_class.T.astype(np.float64)
        return is_class.argmax(axis=0).astype(np.float64)
    y = y.astype(np.float64)
    _refuse_gaps(y, "y")
    loss.check_target(y)
    return y


def _refuse_label(
    label: Any, labels: list[Any], are_own: bool, columns: tuple[int, int] | None
) -> None:
    """Raise ValueError for a target that is no label, or beside which ``columns`` are missing."""
    if columns is not None:
        raise ValueError(
            f"y has one column, and the model has {len(labels)} targets: y needs a column for each,"
            f" {columns}."
        )
    told = f"has the classes {labels}"
    told = f"tells {labels[0]!r} from {labels[1]!r}" if len(labels) == 2 else told
    numbers = " It knows no others: give each label's place in classes_ of the fit."
    raise ValueError(
        f"y holds {label!r}; the model {told}, so y must hold these labels only."
        f"{'' if are_own else numbers}"
    )


def as_pairs(loss: Any, y: Any, n_rows: int) -> np.ndarray:
    """Return targets of two numbers, such as a time and whether it is an event's, (n, 2)."""
    pairs = loss.as_pairs(y)
    if len(pairs) != n_rows:
        raise ValueError(f"y has {len(pairs)} targets; it needs one for each row of X, {n_rows}.")
    loss.check_target(pairs)
    return pairs


def refuse_weights(loss: Any, pairs: np.ndarray, weight: np.ndarray) -> None:
    """Raise ValueError unless rows of positive weight alone are targets of a loss of pairs.

    All events may have the weight 0, or some rows of a query.
    """
    is_seen = weight > 0
    if not is_seen.all():
        loss.prepared(pairs, weight)  # refuses 0 for some rows of a query
        loss.check_target(pairs[is_seen])


def as_weight(sample_weight: Any, n_rows: int, *, may_be_zero: bool = False) -> np.ndarray:
    """Return the sample weights as float64, ones if None.

    ``may_be_zero`` allows weights that are all 0, which those of one chunk may be.
    """
    if sample_weight is None:
        return np.broadcast_to(1.0, n_rows)  # a read-only view of a single 1
    if isinstance(sample_weight, str):
        raise ValueError(
            f"sample_weight={sample_weight!r} is not one number for each row. Weights of"
            " classes are a"
            ' parameter, GBTClassifier(class_weight="balanced"); elsewhere they are'
            " sklearn.utils.class_weight.compute_sample_weight('balanced', y)."
        )
    if isinstance(sample_weight, list) and any(isinstance(part, tuple) for part in sample_weight):
        raise ValueError(
            "sample_weight is a list of tuples, which evaluation sets would be: name them,"
            " fit(X, y, eval_set=[(X_valid, y_valid)])."
        )
    weight = as_floats(sample_weight, "sample_weight")
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; it needs one weight for each row,"
            f" ({n_rows},)."
        )
    if (weight < 0).any():
        raise ValueError(
            f"sample_weight must not be negative; row {weight.argmin()} has {weight.min()}."
        )
    if not (may_be_zero or weight.any()):
        raise ValueError("sample_weight is zero for every row; at least one must be positive.")
    return weight


def as_floats(given: Any, name: str) -> np.ndarray:
    """Return finite numbers as float64, in whatever shape they are given."""
    refuse_other_targets(given, name)
    return check_array(
        given, dtype=np.float64, ensure_2d=False, ensure_min_samples=0, input_name=name
    )


def as_init_score(init_score: Any, n_rows: int, n_outputs: int) -> np.ndarray:
    """Return starting values of rows as float64 of shape (n, K): a raw prediction an output."""
    start = as_floats(init_score, "init_score")
    shape = (n_rows,) if n_outputs == 1 else (n_rows, n_outputs)
    if start.shape not in (shape, (n_rows, n_outputs)):
        raise ValueError(
            f"init_score has shape {start.shape}; it needs one raw prediction for each row"
            f"{' and class' * (n_outputs > 1)}, {shape}."
        )
    return start.reshape(n_rows, n_outputs)


def weigh_classes(
    weight: np.ndarray, target: np.ndarray, classes: np.ndarray, class_weight: Any
) -> np.ndarray:
    """Return the weights of rows times those of their classes; targets are numbers of classes.

    As in scikit-learn, "balanced" gives one of K classes the weight n / (K n_c), where n_c counts
    its rows, whatever they weigh; a class that a dict does not name has the weight 1.
    """
    which = target.astype(np.intp)
    if isinstance(class_weight, str):
        return weight * (len(which) / (len(classes) * np.bincount(which)))[which]
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    if unknown:
        raise ValueError(f"class_weight names {unknown}; the classes in training are {labels}.")
    return weight * np.array([float(class_weight.get(label, 1.0)) for label in labels])[which]
