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
from gbt.formats.checking import MisreadModelError

N_CHECKED = 16  # rows whose predictions are compared
WITHIN = 1e-9  # of the sum of the largest values


class Questions(NamedTuple):
    """What the splits of a model ask."""

    of_split: np.ndarray  # the question of every split
    rank: np.ndarray  # which border of its question, from 0 on
    origins: tuple[tuple[int, ...], ...]  # the columns that each question is on

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
    """A model of CatBoost as the step that turns a table into answers."""

    state: bytes  # the model, as CatBoost writes it
    n_questions: int
    start: np.ndarray  # (K,)
    values: list[np.ndarray]  # of each tree's leaves, (n_leaves, K)
    by_leaf: list[tuple[np.ndarray, np.ndarray]]  # each tree's questions, its leaves' answers

    @classmethod
    def of(cls, model: Model, state: bytes, questions: Questions) -> "Answers":
        """List the answers on the way to every leaf, from the leaves up to the roots."""
        nodes = read_trees(questions.of_model(model))
        K, offset = model.n_outputs, nodes.tree.tree_offset
        parent, left, right = nodes.tree.families
        above = np.arange(len(nodes.split))  # a root itself
        question, n_exceeded = np.zeros_like(above), np.zeros(len(above), dtype=np.float32)
        for child in (left, right):
            above[child], question[child] = parent, questions.of_split[nodes.split[parent]]
        n_exceeded[right] = questions.rank[nodes.split[parent]] + 1
        values, by_leaf = [], []
        for start, stop in zip(offset[:-1:K].tolist(), offset[1::K].tolist(), strict=True):
            node = _nodes_of_leaves(nodes, start, stop, K)
            # Trees of other outputs follow, node by node the same.
            values.append(nodes.value[node[:, np.newaxis] + (stop - start) * np.arange(K)])
            asked, column = np.unique(question[start:stop], return_inverse=True)
            answers = np.zeros((len(node), len(asked)), dtype=np.float32)
            while (above[node] != node).any():
                cell = np.arange(len(node)), column[node - start]
                answers[cell] = np.maximum(answers[cell], n_exceeded[node])
                node = above[node]
            by_leaf.append((asked, answers))
        return cls(state, len(questions.origins), np.asarray(model.bias), values, by_leaf)

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
    return MisreadModelError(
        f"This CatBoost model was misread: {what}. Train it with a version of CatBoost that is"
        " known to be read (docs/models.md)."
    )


def _nodes_of_leaves(nodes: CatBoostNodes, start: int, stop: int, n_outputs: int) -> np.ndarray:
    """Return the nodes of a tree's leaves in CatBoost's order; its root for a leaf of no node."""
    leaf = start + np.flatnonzero(nodes.tree.is_leaf[start:stop])
    number = (nodes.place[leaf] - nodes.place[leaf].min()) // n_outputs
    ordered = np.full(number.max() + 1, start)
    ordered[number] = leaf
    return ordered
