"""Numbers whose squares do not fit into float64, in a unit in which they do.

Contributions grow with the square of the targets, and their squares with the fourth power: of
targets of 1e80 they would be infinite, of 1e-90 they would be 0, and with them standard errors. So
numbers of extreme size are divided by a power of two, column by column, before they are squared. A
power of two changes no digit: targets of 1e-100 have the p-values of targets of 1. Numbers of
ordinary size are left as they are.
"""

from typing import Any

import numpy as np

# Powers up to the fourth of numbers in between, and sums of very many of them, fit into float64.
SMALLEST, LARGEST = 2.0**-200, 2.0**200
OF_ZERO = -1200  # below that of every float64: zeros fit into the unit of any other numbers


def exponent_of(magnitude: Any) -> Any:
    """Return for each magnitude the e whose 2^e is its unit: 0, unless it is of extreme size."""
    magnitude = np.asarray(magnitude)
    _, exponent = np.frexp(magnitude)
    is_ordinary = (magnitude > SMALLEST) & (magnitude < LARGEST)
    return np.where(is_ordinary, 0, np.where(magnitude == 0, OF_ZERO, exponent))


def exponent_of_columns(table: np.ndarray) -> np.ndarray:
    """Return the exponent of the largest magnitude in each column."""
    return exponent_of(np.maximum(table.max(axis=0), -table.min(axis=0)))


def exponent_of_squares(columns: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Return the same, for columns whose sums of squares tell which of them are ordinary."""
    exponent = np.zeros(len(squares), dtype=np.int64)
    is_extreme = ~((squares > SMALLEST**2) & (squares < LARGEST**2))
    if is_extreme.any():
        exponent[is_extreme] = exponent_of_columns(columns[:, is_extreme])
    return exponent
