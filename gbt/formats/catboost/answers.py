r"""Models that count levels: CatBoost itself says how each row answers the questions of the splits.

A counter (CTR) replaces the levels of a column, or of a combination of columns, by a statistic of
the training targets. Its value for a row is CatBoost's business, and need not be known here: what
matters is on which side of each border it lies, and the leaves that a row reaches tell that.
`calc_leaf_indexes` gives them, and a leaf is all answers on the way to it::

                 count(city) > 0.4                  leaf 2 of this tree  =  no, yes
                /                 \
           x > 1                   leaf 3           a column of answers for each question:
          /     \                                       count(city): 0 borders exceeded
     leaf 1      leaf 2                                 x:           2, if 1 is its second border

So the rows of such a model are a table of answers. A *question* is a number, a single level, or a
counter, and its answer is how many of its borders, in order, are exceeded as far as any tree has
asked. That sends each row to its leaf in each tree. A question on several columns is credited to
the group of these.

The library checks the answers: the values of the leaves, added up, are what it predicts.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from gbt.formats.catboost.binary import Model
from gbt.formats.catboost.trees import CatBoostNodes, read_trees

N_CHECKED = 16  # rows whose predictions are compared
WITHIN = 1e-9  # of the sum of the largest values


class Questions(NamedTuple):
    """What the splits of a model ask.

    Parameters
    ----------
    of_split : int64 array
        The question of every split.
    rank : int64 array
        Which border of its question, from 0 on.
    origins : tuple of tuples of int
        The columns that each question is on.
    """

    of_split: np.ndarray
    rank: np.ndarray
    origins: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, model: Model) -> "Questions":
        """Find the questions, in the order of the model's splits."""
        keys = np.column_stack([model.feature, model.level, model.counter])
        is_new = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
        question = np.cumsum(is_new) - 1
        first = np.flatnonzero(is_new)
        if (np.diff(model.border)[~is_new[1:]] <= 0).any():
            raise misread("borders of a question are not in ascending order")
        origins = tuple(
            model.counted[model.counter[s]] if model.counter[s] >= 0 else (int(model.feature[s]),)
            for s in first.tolist()
        )
        return cls(question, np.arange(len(question)) - first[question], origins)

    def of_model(self, model: Model) -> Model:
        """Return a model whose splits ask for answers, as if these were columns of numbers."""
        n = len(self.of_split)
        names = (" x ".join(model.feature_names[k] for k in origin) for origin in self.origins)
        return model._replace(
            feature=self.of_split,
            border=(self.rank + 0.5).astype(np.float32),
            nan_is_large=np.ones(n, dtype=bool),
            level=np.full(n, -1),
            feature_names=tuple(names),
            categorical=(),
        )


@dataclass(frozen=True, eq=False)
class Answers:
    """A model of CatBoost as the step that turns a table into answers.

    Parameters
    ----------
    state : bytes
        The model, as CatBoost writes it.
    n_questions : int
    by_leaf : list of (questions, answers)
        For each tree: int arrays of shape (q,) and (n_leaves, q).
    values : list of arrays
        For each tree: the values of its leaves, (n_leaves, K).
    start : float64 array of shape (K,)
    """

    state: bytes
    n_questions: int
    by_leaf: list[tuple[np.ndarray, np.ndarray]]
    values: list[np.ndarray]
    start: np.ndarray

    @classmethod
    def of(cls, model: Model, state: bytes, questions: Questions) -> "Answers":
        """List the answers on the way to every leaf."""
        nodes = read_trees(questions.of_model(model))
        K = model.n_outputs
        offset = nodes.tree.tree_offset
        trees = [slice(*offset[m : m + 2].tolist()) for m in range(len(offset) - 1)]
        leaf = _leaves_in_trees(nodes, K)
        values = [
            np.column_stack([_of_leaves(nodes, leaf, tree) for tree in trees[m : m + K]])
            for m in range(0, len(trees), K)
        ]
        by_leaf = [_on_the_way(nodes, leaf, questions, tree) for tree in trees[::K]]
        return cls(state, len(questions.origins), by_leaf, values, np.asarray(model.bias))

    def transform(self, X: Any) -> np.ndarray:
        """Return the answers of rows, float32 of shape (n, n_questions)."""
        table = X.to_pandas() if hasattr(X, "to_pandas") else X  # of polars and pyarrow
        model = import_module("catboost").CatBoost().load_model(blob=self.state)
        leaves = model.calc_leaf_indexes(table)
        self._check(model, table, leaves)
        answers = np.zeros((len(leaves), self.n_questions), dtype=np.float32)
        for m, (asked, of_leaf) in enumerate(self.by_leaf):
            answers[:, asked] = np.maximum(answers[:, asked], of_leaf[leaves[:, m]])
        return answers

    def _check(self, model: Any, table: Any, leaves: np.ndarray) -> None:
        """Raise MisreadModelError unless the leaves' values add up to what CatBoost predicts."""
        # By place: before version 3, pandas slices an index of floats by its labels.
        some = table.iloc[:N_CHECKED] if hasattr(table, "iloc") else table[:N_CHECKED]
        expected = np.asarray(model.predict(some, prediction_type="RawFormulaVal"))
        got = self.start + sum(
            of_leaf[leaves[:N_CHECKED, m]] for m, of_leaf in enumerate(self.values)
        )
        terms = np.abs(self.start).max() + sum(np.abs(of).max() for of in self.values)
        if np.abs(got - expected.reshape(got.shape)).max(initial=0.0) > WITHIN * terms:
            raise misread("its leaves do not add up to what it predicts")


def misread(what: str) -> ValueError:
    """Return the error of a model that is written otherwise than is known here."""
    from gbt.formats.checking import MisreadModelError

    return MisreadModelError(
        f"This CatBoost model was misread: {what}. Train it with a version of CatBoost that is"
        " known to be read (docs/models.md)."
    )


def _leaves_in_trees(nodes: CatBoostNodes, n_outputs: int) -> np.ndarray:
    """Return CatBoost's number of each leaf in its tree; 0 at inner nodes."""
    offset, is_leaf = nodes.tree.tree_offset, nodes.tree.is_leaf
    place = np.where(is_leaf, nodes.place, np.iinfo(np.int64).max)
    first = np.repeat(np.minimum.reduceat(place, offset[:-1]), np.diff(offset))
    return np.where(is_leaf, (place - first) // n_outputs, 0)


def _of_leaves(nodes: CatBoostNodes, leaf: np.ndarray, tree: slice) -> np.ndarray:
    """Return values of a tree's leaves in CatBoost's order; a leaf of no node has 0."""
    is_leaf = nodes.tree.is_leaf[tree]
    ordered = np.zeros(leaf[tree].max() + 1)
    ordered[leaf[tree][is_leaf]] = nodes.value[tree][is_leaf]
    return ordered


def _on_the_way(
    nodes: CatBoostNodes, leaf: np.ndarray, questions: Questions, tree: slice
) -> tuple[np.ndarray, np.ndarray]:
    """Return the questions of a tree, and their answers at each leaf in CatBoost's order.

    Nodes are in preorder, so the rows that exceed a node's border are all from its right child on
    to the end of its branch, which is where the right branch ends.
    """
    split, is_leaf = nodes.split[tree], nodes.tree.is_leaf[tree]
    right = nodes.tree.right[tree] - tree.start
    n = len(split)
    inner = np.flatnonzero(~is_leaf)
    asked, which = np.unique(questions.of_split[split[inner]], return_inverse=True)
    n_leaves = leaf[tree].max() + 1
    answers = np.zeros((n_leaves, len(asked)), dtype=np.float32)
    end = np.arange(1, n + 1)  # after the branch of each node
    for t in inner[::-1].tolist():
        end[t] = end[right[t]]
    for t, q in zip(inner.tolist(), which.tolist(), strict=True):
        below = slice(right[t], end[t])
        leaves = leaf[tree][below][is_leaf[below]]
        n_exceeded = questions.rank[split[t]] + 1
        answers[leaves, q] = np.maximum(answers[leaves, q], n_exceeded)
    return asked, answers
