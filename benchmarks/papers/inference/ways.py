"""Ways to ask whether a column says something about y that the others do not say.

Each takes a `Table` and a Generator and returns a result with one-sided p-values. The first five
ask one fitted model, or several, about its use of a column; the others try to ask about the column:

shadows         every column's values in other rows, whole blocks of correlated columns moved
                together, are fitted along; a column must do better than its own shadow
copies along    the same with copies that are drawn given the other columns
copies put in   one model; the column is replaced by such copies in the rows that judge, and the
                loss must rise (Candes, Fan, Janson and Lv 2018; Watson and Wright 2021)
left out        a model without the column; the loss must be higher (Lei et al. 2018)
given_others    what the column contributes to the model, less what the others say of it, times y
                less what a model without the column says (Lundborg, Kim, Shah and Samworth 2024)
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata

import attributions
from attributions import GlobalAttribution, LocalAttribution, cross_fit
from benchmarks.papers.inference.conditional import LinearThenTrees, Redrawn, linear
from benchmarks.papers.inference.judging import MEASURES, measured

N_COPIES = 5
CORRELATED = 0.3  # rank correlation above which two columns are of one block


class Table(NamedTuple):
    """Rows to fit on, rows to judge on, how to make a model, and one fitted to the former."""

    X_fit: np.ndarray
    y_fit: np.ndarray
    X: np.ndarray
    y: np.ndarray
    make: Callable[[], Any]
    model: Any

    @classmethod
    def of(cls, X, y, make):
        """Cut rows in two, and fit the model."""
        half = len(X) // 2
        return cls(X[:half], y[:half], X[half:], y[half:], make, make().fit(X[:half], y[:half]))


def of_one_model(name):
    """Return the way of a measure."""
    return lambda table, rng: measured(name, table.model, table.X, table.y, rng)


def cross_fitted(table, rng):
    """Let all rows judge, those to fit on included."""
    X, y = np.concatenate([table.X_fit, table.X]), np.concatenate([table.y_fit, table.y])
    return cross_fit(table.make(), X, y, random_state=int(rng.integers(2**31)))


def blocks_of_columns(X) -> np.ndarray:
    """Return the number of every column's block; blocks are joined by any correlated pair."""
    ranks = np.apply_along_axis(rankdata, 0, np.nan_to_num(X))
    is_alike = np.abs(np.corrcoef(ranks.T)) > CORRELATED
    return connected_components(is_alike, directed=False)[1]


def shadows(table, rng):
    """Compare columns with themselves in the order of other rows."""
    block = blocks_of_columns(table.X_fit)

    def moved(X):
        order = np.array([rng.permutation(len(X)) for _ in range(block.max() + 1)])
        return np.take_along_axis(X, order[block].T, axis=0)

    return against(table, moved(table.X_fit), moved(table.X))


def copies_along(table, rng):
    """Compare columns with copies that are drawn given the other columns."""
    redrawn = [Redrawn(table.X_fit, k, LinearThenTrees(), rng) for k in range(table.X_fit.shape[1])]
    return against(
        table,
        np.column_stack([one.for_own_rows(table.X_fit) for one in redrawn]),
        np.column_stack([one.for_new_rows(table.X, 1)[0] for one in redrawn]),
    )


def against(table, other_fit, other):
    """Fit columns and others beside them, and return by how much the columns do better."""
    p = table.X.shape[1]
    model = table.make().fit(np.hstack([table.X_fit, other_fit]), table.y_fit)
    q = attributions.tree_inner_rows(model, np.hstack([table.X, other]), table.y, n_jobs=1).values
    return of_rows(q[:, :p] - q[:, p:])


def copies_put_in(column_model):
    """Return the way that replaces columns in the rows that judge, with a model of columns."""

    def ask(table, rng):
        before = row_losses(table.model, table.X, table.y)
        rise = np.zeros(table.X.shape)
        for k in range(table.X.shape[1]):
            X = table.X.copy()
            redrawn = Redrawn(table.X_fit, k, column_model, rng)
            for X[:, k] in redrawn.for_new_rows(table.X, N_COPIES):
                rise[:, k] += row_losses(table.model, X, table.y) - before
        return of_rows(rise / N_COPIES)

    return ask


def left_out(table, rng):
    """Fit without each column in turn."""
    before = row_losses(table.model, table.X, table.y)
    rise = np.zeros(table.X.shape)
    for k in range(table.X.shape[1]):
        X_fit, X = (np.delete(rows, k, axis=1) for rows in (table.X_fit, table.X))
        rise[:, k] = row_losses(table.make().fit(X_fit, table.y_fit), X, table.y) - before
    return of_rows(rise)


def rid_of_others(table, rng):
    """Rid contributions and y of what the others say, and multiply what is left."""
    training = table.X_fit, table.y_fit
    return attributions.given_others(
        table.model, table.X, table.y, training=training, regressor=LinearThenTrees(), n_jobs=1
    )


def row_losses(model, X, y) -> np.ndarray:
    """Return the loss of every row."""
    return model.ensemble_.loss.value(y, model.ensemble_.raw_predict(X, 1))


def of_rows(values) -> GlobalAttribution:
    """Sum over rows; the sum of a column without effect is expected to be 0 or less."""
    names = tuple(map(str, range(values.shape[1])))
    rows = LocalAttribution(values, np.zeros(len(values)), names, "permutation(given the others)")
    return GlobalAttribution.from_rows(rows)


WAYS = {
    **{name: of_one_model(name) for name in MEASURES},
    "cross_fit": cross_fitted,
    "shadows": shadows,
    "copies along": copies_along,
    "copies put in, linear": copies_put_in(linear()),
    "copies put in": copies_put_in(LinearThenTrees()),
    "left out": left_out,
    "given_others": rid_of_others,
}
