"""Random parts: the rows of every node, divided at random into parts of equal size."""

import numpy as np

from gbt.splitting.frontier import Frontier


def random_parts(frontier: Frontier, n_parts: int, n_columns: int | None = None) -> np.ndarray:
    """Return which part every row of an open node is in, anew for every node.

    Sizes differ by one row at most. The result is uint8 of shape (n,), by row of the table, or
    (n_columns, n), each column with parts of its own.
    """
    parts = np.zeros((n_columns or 1, frontier.columns.n_rows), dtype=np.uint8)
    for of_column in parts:
        for j in range(len(frontier)):
            rows = frontier.rows_of(j)
            in_turn = np.arange(len(rows)) % n_parts
            of_column[rows] = frontier.random.permutation(in_turn.astype(np.uint8))
    return parts if n_columns else parts[0]
