"""Times of events as people have them, as a table of two columns.

For `Cox` they are the time and 1 if it is an event's, else 0; for `Aft` the bounds between which
the event came: equal if it was seen, infinity above if it has not come yet, 0 below if it had come
when one first looked. Both read the structured array of scikit-survival, with a field of booleans
(whether the event came) and one of numbers (when it came, or when observation ended), and
XGBoost's one column, in which the time of a censored row is negative.
"""

from typing import Any

import numpy as np

FORMS = (
    "give a structured array with a field of booleans and one of times, as scikit-survival's Surv;"
    " two columns, time and event (1 or 0); or one column, negative where a row is censored"
)


def as_times(y: Any) -> np.ndarray:
    """Return times of events as float64 of shape (n, 2): time, and 1 for an event or 0."""
    given = np.asarray(y)
    if given.dtype.names is not None:
        return _of_fields(given)
    try:
        numbers = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y holds times of events, which are numbers: {FORMS}.") from error
    if numbers.ndim == 1 or numbers.shape[1:] == (1,):
        signed = numbers.reshape(-1)
        if (signed == 0).any():
            raise ValueError(
                f"y is 0 in row {np.argmax(signed == 0)}: a time of 0 has no sign that could say"
                " whether the event came. Give two columns, time and event."
            )
        return np.column_stack([np.abs(signed), signed > 0])
    if numbers.ndim != 2 or numbers.shape[1] != 2:
        raise ValueError(f"y has shape {numbers.shape}, and holds times of events: {FORMS}.")
    return numbers


def as_bounds(y: Any) -> np.ndarray:
    """Return bounds of times of events as float64 of shape (n, 2); -1 above is CatBoost's infinity.

    Two columns are bounds already.
    """
    times = as_times(y)
    if np.asarray(y).dtype.names is not None or np.shape(y)[1:] != (2,):
        return bounds_of(times)
    return np.where([False, True] & (times == -1), np.inf, times)


def bounds_of(times: np.ndarray) -> np.ndarray:
    """Turn times with events into bounds: after a censored time all is open."""
    return np.column_stack([times[:, 0], np.where(times[:, 1] == 1, times[:, 0], np.inf)])


def _of_fields(y: np.ndarray) -> np.ndarray:
    """Read a structured array, whatever the names and the order of its two fields."""
    assert y.dtype.names is not None
    flags = [name for name in y.dtype.names if y.dtype[name] == np.bool_]
    others = [name for name in y.dtype.names if name not in flags]
    if len(flags) != 1 or len(others) != 1 or y.ndim != 1:
        raise ValueError(f"y has the fields {y.dtype}, and holds times of events: {FORMS}.")
    return np.column_stack([y[others[0]].astype(np.float64), y[flags[0]]])


def _refuse_rows(y: np.ndarray, is_wrong: np.ndarray, what: str) -> None:
    """Raise ValueError for the first wrong row; ``what`` is filled with its two numbers."""
    if is_wrong.any():
        row = int(np.argmax(is_wrong))
        raise ValueError(f"y has in row {row} {what.format(*y[row])}.")


def check_times(y: np.ndarray) -> None:
    """Raise ValueError unless times and events are such, and there is an event among them."""
    time, event = y.T
    advice = ". The columns seem to be swapped" * bool(np.isin(time, (0, 1)).all())
    if np.isin(event, (1, 2)).all():
        advice = ". If 2 is an event and 1 is none, subtract 1"
    _refuse_rows(y, ~np.isfinite(time), "the time {0:g}; times must be finite")
    _refuse_rows(
        y, time < 0, "the time {0:g}; times must not be negative beside a column of events"
    )
    _refuse_rows(
        y,
        (event != 0) & (event != 1),
        "{1:g} for whether the event came, which is 1 or 0: its columns are the time and the"
        f" event{advice}",
    )
    if not event.any():
        raise ValueError(
            f"y has no event: all {len(y)} rows are censored, and nothing can be learned of when"
            " events come. Is the coding 1 for an event and 0 for a censored row?"
        )


def check_bounds(y: np.ndarray) -> None:
    """Raise ValueError unless bounds of times are such."""
    lower, upper = y.T
    what = "the bounds {0:g} and {1:g}; "
    _refuse_rows(y, np.isnan(y).any(axis=1), what + "a bound that is not known is 0 or infinity")
    _refuse_rows(y, (lower < 0) | (upper < 0), what + "times must not be negative")
    _refuse_rows(y, ~(lower < np.inf), what + "the lower one must be finite")
    _refuse_rows(
        y,
        lower > upper,
        what + "the lower one must not be above the upper. If the columns are times and events, say"
        " so: np.column_stack([time, np.where(event == 1, time, np.inf)])",
    )
    _refuse_rows(y, upper == 0, "an event at time 0, which has no logarithm; add a little to it")
