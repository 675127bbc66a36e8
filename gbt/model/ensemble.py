"""The model: boosted trees as flat arrays of nodes that remember their gradient sums.

This is the one thing that passes between growing trees and attributing predictions. Each node t
keeps what the training rows in it added up to,

    sum_gradient  G_t = sum of w g        sum_hessian  H_t = sum of w h        n_samples

with g and h taken at the predictions before the tree was grown. From them follow

    value  p(t)    = -learning_rate * G_t / (H_t + reg_lambda)                  at every node
    gain   (Sun 2022, Definition 2)
                   = G_l^2/(H_l + reg_lambda) + G_r^2/(H_r + reg_lambda) - G_t^2/(H_t + reg_lambda)

The value of an inner node is what it would predict had growth stopped there; a leaf is a node where
the walk stops, nothing more. Gain has no factor 1/2, unlike the XGBoost paper's equation 7. Under
monotone constraints values are kept within bounds and may differ from this formula
(``gbt.splitting.monotone``); gains do not. Learning rates that callbacks have set show in values.

A row goes left where ``x <= threshold``; nan goes left where ``missing_left``. Where a categorical
column is split, x is the number of a level (``gbt.tables.categories``) and goes left if it is in
the node's set (``gbt.tables.level_sets``). The raw prediction is ``base_score`` plus the values of
the leaves reached, added tree by tree in boosting order.
"""

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from gbt.files.saving import save
from gbt.losses.loss import Loss
from gbt.losses.several_outputs import OneOutput
from gbt.model.credit import Credit
from gbt.model.description import described, frame_of_nodes
from gbt.model.predictor import Predictor
from gbt.model.preparation import Preparation
from gbt.model.seen_rows import SeenRows
from gbt.model.soundness import STATISTICS, refuse_unsound
from gbt.model.starting_values import checked_init_score, raw_before
from gbt.model.statistics import gain_by_feature, node_step, refit
from gbt.model.tree import NODE_DTYPES, Nodes, Tree, Trees, sealed
from gbt.parallel.chunks import Chunk, refuse_chunks
from gbt.tables.categories import Categories, EncodedRows, encode
from gbt.tables.level_sets import LevelSets
from gbt.tables.names import counted, refuse_number, refuse_other_columns
from gbt.tables.sparse_rows import SparseRows, as_type, with_zeros_missing
from gbt.tables.table import Table

if TYPE_CHECKING:
    import pandas

ZERO_WITHIN = float(np.float32(1e-35))  # what LightGBM takes for 0


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(Nodes):
    """The trees of a model, end to end in flat arrays; see the module's docstring.

    Parameters
    ----------
    feature, threshold, left, right, missing_left, sum_gradient, sum_hessian, n_samples, gain, value
        One flat array each, of the dtypes in ``NODE_DTYPES``, every tree in preorder.
    tree_offset : int64 array of shape (n_trees + 1,)
        Tree m owns the nodes ``tree_offset[m]:tree_offset[m + 1]``.
    base_score : float, or float64 array of shape (n_outputs,)
        Raw prediction before the first tree, in link space; of each output if there are several.
    learning_rate, reg_lambda : float
        Those of all trees.
    loss : Loss
        See ``gbt.losses``.
    feature_names : tuple of str
        One name for each column.
    input_dtype : numpy.float64 or numpy.float32
        Rows are rounded to this dtype before they are compared with thresholds: float32 for models
        imported from libraries that compare float32 values.
    statistics : frozenset of str
        Which statistics of nodes are known, some of ``STATISTICS``: "gradients" (sum_gradient, and
        gain with the hessians), "hessians" (sum_hessian), "counts" (n_samples) and "values" (value
        of inner nodes; that of leaves is always known). Arrays of unknown ones hold 0.
    is_forest : bool
        Whether all trees were grown on the gradients at the base score, as in a forest, and not
        each at the predictions of the trees before it. They are judged at what the forest predicts
        before any split, see ``gbt.model.stages``.
    zero_is_missing : bool
        Whether 0 is a missing value, too, as libraries for sparse tables can be told.
    unstored_is_missing : bool or None
        Whether what a sparse matrix does not store is missing, as in XGBoost, and not 0. None: it
        is missing to some of the trees, as in an average of unlike models, which refuses it.
    has_init_score : bool or None
        Whether the trees start from a value of each row (``gbt.model.starting_values``) and not
        from the base score, which is then 0. None is unknown, as for models of other libraries.
    seen_rows : SeenRows or None
        Fingerprints of the rows that the model has seen, see ``gbt.model.seen_rows``; None is
        unknown, as for imported models and those read from a file.
    about_gradients : str or None
        For an imported model, why G is unknown or may be that of another loss. Not part of files.
    categories : tuple or None
        The levels of every categorical column, None for the others; see ``gbt.tables.categories``.
        None if all columns are numbers.
    level_sets : LevelSets or None
        Which levels go left where a categorical column is split; given if and only if there are
        categories. The thresholds of these nodes are 0.
    unseen_is_missing : bool
        Whether a level that training has not seen is a missing value, as in our own models. If not,
        it is in no set, and goes right where a categorical column is split.
    credit : Credit or None
        Which feature every column is credited to, see ``gbt.model.credit``; None if columns are the
        features. Not part of files.
    preparation : Preparation or None
        The steps of a pipeline that come before the trees, see ``gbt.model.preparation``: rows are
        then given as the first step takes them. Not part of files.
    """

    tree_offset: np.ndarray
    base_score: Any
    learning_rate: float
    reg_lambda: float
    loss: Loss
    feature_names: tuple[str, ...]
    input_dtype: type = np.float64
    statistics: frozenset[str] = frozenset(STATISTICS)
    is_forest: bool = False
    zero_is_missing: bool = False
    unstored_is_missing: bool | None = False
    has_init_score: bool | None = False
    seen_rows: SeenRows | None = None
    about_gradients: str | None = None
    categories: Categories | None = None
    unseen_is_missing: bool = True
    credit: Credit | None = None
    preparation: Preparation | None = None

    def __post_init__(self) -> None:
        for name, dtype in {**NODE_DTYPES, "tree_offset": np.int64}.items():
            object.__setattr__(self, name, sealed(np.array(getattr(self, name), dtype=dtype)))
        if self.n_outputs > 1:
            base_score = sealed(np.array(self.base_score, dtype=np.float64))
            object.__setattr__(self, "base_score", base_score)

    def __repr__(self) -> str:
        base_score = ", ".join(f"{score:.6g}" for score in np.atleast_1d(self.base_score))
        return (
            f"<Ensemble of {counted(self.n_trees, 'tree')}, {counted(len(self.feature), 'node')},"
            f" on {counted(self.n_features, 'feature')}; {self.loss.name}, base_score={base_score},"
            f" learning_rate={self.learning_rate:.6g}, reg_lambda={self.reg_lambda:.6g}>"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # makes the arrays read-only again, which pickle does not keep

    @classmethod
    def from_trees(cls, trees: Sequence[Tree], **others: Any) -> "Ensemble":
        """Lay trees end to end; ``others`` are the fields that are not node arrays."""
        for name, dtype in NODE_DTYPES.items():
            of_trees = [getattr(tree, name) for tree in trees]
            others[name] = np.concatenate([np.empty(0, dtype), *of_trees])
        sets = [tree.level_sets for tree in trees if tree.level_sets is not None]
        if sets:
            others["level_sets"] = LevelSets.end_to_end(sets)
        return cls(tree_offset=np.cumsum([0, *(tree.n_nodes for tree in trees)]), **others)

    def validate(self) -> None:
        """Raise `InvalidModelError` unless the arrays describe trees in preorder."""
        refuse_unsound(self)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.tree_offset) - 1

    @property
    def n_outputs(self) -> int:
        """Number of raw predictions a row: classes if there are three or more, targets, or 1."""
        return self.loss.n_outputs

    @property
    def n_rounds(self) -> int:
        """Number of rounds, in each of which every output gets a tree."""
        return self.n_trees // self.n_outputs

    @property
    def tree_output(self) -> np.ndarray:
        """Output that each tree adds to, int32 of shape (n_trees,): 0 .. K - 1 in every round."""
        return np.arange(self.n_trees, dtype=np.int32) % np.int32(self.n_outputs)

    @cached_property
    def outputs(self) -> tuple["Ensemble", ...]:
        """The trees of each output as a model that predicts and explains it; the loss needs all."""
        if self.n_outputs == 1:
            return (self,)
        return tuple(self._output(k) for k in range(self.n_outputs))

    def _output(self, k: int) -> "Ensemble":
        sizes = np.diff(self.tree_offset)
        own = np.flatnonzero(np.repeat(self.tree_output == k, sizes))
        return replace(
            self,
            **self.some(own),
            tree_offset=np.cumsum([0, *sizes[k :: self.n_outputs]]),
            base_score=float(self.base_score[k]),
            loss=OneOutput(self.loss, k),
        )

    @property
    def n_features(self) -> int:
        """Number of columns that the model was fitted on."""
        return len(self.feature_names)

    @property
    def credited(self) -> np.ndarray:
        """Number of the feature that every split is credited to, int32; -1 at a leaf."""
        return self.feature if self.credit is None else self.credit.of_splits(self.feature)

    @property
    def credited_names(self) -> tuple[str, ...]:
        """Names of the features that splits are credited to."""
        return self.feature_names if self.credit is None else self.credit.names

    @property
    def n_credited(self) -> int:
        """Number of features that splits are credited to."""
        return len(self.credited_names)

    @property
    def trees(self) -> Trees:
        """The trees as a sequence of `Tree`, views into the flat arrays."""
        return Trees(self, self.tree_offset)

    def save(self, path: str | os.PathLike) -> None:
        """Write the model to a JSON file, to be read by ``gbt.load``.

        An existing file keeps its permissions and is replaced once the new one is complete.
        """
        if "gradients" in self.statistics:  # the file will not know that they are doubtful
            self.require("gradients", what="A file")
        if self.credit is not None or self.preparation is not None:
            raise ValueError(
                "A file has the trees and the columns that they read, but neither a table of credit"
                " nor the steps of a pipeline: save the model itself, from which this one was made."
            )
        save("Ensemble", {"ensemble": described(self)}, path)

    def require(self, *statistics: str, what: str) -> None:
        """Raise ValueError unless the model has these statistics; ``what`` needs them.

        Warn of gradients that may be another loss's.
        """
        about = f" {self.about_gradients}." if self.about_gradients else ""
        ask = (
            f"{about} Take them from the rows that it was trained on, and explain the model that"
            " this returns: gbt.formats.as_ensemble(model, X=X_train, y=y_train)."
        )
        missing = [name for name in STATISTICS if name in set(statistics) - self.statistics]
        if missing:
            known = [name for name in STATISTICS if name in self.statistics]
            raise ValueError(
                f"{what} needs the {' and '.join(missing)} of the model's nodes, which this model"
                f" does not have ({'it has ' + ', '.join(known) if known else 'it has none'}).{ask}"
            )
        if about and "gradients" in statistics:
            warnings.warn(f"{what} needs the gradients of the model's nodes.{ask}", stacklevel=3)

    def truncate(self, n_rounds: int) -> "Ensemble":
        """Return the model of the first ``n_rounds`` rounds: of one output, as many trees."""
        if not 0 <= n_rounds <= self.n_rounds:
            raise ValueError(f"n_rounds={n_rounds}: the model has {self.n_rounds} rounds.")
        offset = self.tree_offset[: n_rounds * self.n_outputs + 1]
        return replace(self, **self.some(np.arange(offset[-1])), tree_offset=offset)

    def as_input(self, X: Any) -> Any:
        """Return ``X`` as C-contiguous rows whose numbers the trees compare with their thresholds.

        They are float32 if the model compares float32 or the table holds it, else float64; what
        is computed from them is float64 either way. Levels of categorical columns are looked up by
        value and become their numbers. Such rows are marked, as `EncodedRows`: given once more,
        they are not looked up again, nor prepared again by steps that come before the trees. Sparse
        matrices become `SparseRows`.
        """
        refuse_chunks(X)
        if self.preparation is not None and not isinstance(X, EncodedRows | SparseRows):
            X = self.preparation.rows(X)
        table = Table(X)
        refuse_other_columns(table, self.feature_names)
        table = encode(table, self.categories, self.feature_names, self.unseen_is_missing)
        rows = table.as_floats({True: np.nan, False: 0.0, None: None}[self.unstored_is_missing])
        refuse_number(rows.shape, self.feature_names)
        single = np.float32 in (self.input_dtype, rows.dtype)
        rows = as_type(rows, np.float32 if single else np.float64)
        rows = with_zeros_missing(rows, ZERO_WITHIN) if self.zero_is_missing else rows
        return EncodedRows.of(rows, self.categories, self.preparation is not None)

    @cached_property
    def predictor(self) -> Predictor:
        """The trees as rows go down them, see ``gbt.model.predictor``."""
        return Predictor(self)

    def raw_predict(
        self, X: Any, n_jobs: int | None = None, init_score: ArrayLike | None = None
    ) -> np.ndarray:
        """Return the raw prediction of every row, float64 of shape (n,), or (n, n_outputs).

        Rows of a model that was fitted with starting values have theirs in ``init_score``.
        """
        X = self.as_input(X)
        start = self._start(len(X), init_score)
        raw = [
            output.predictor.raw_predict(X, of_output, n_jobs)
            for output, of_output in zip(self.outputs, start, strict=True)
        ]
        return raw[0] if self.n_outputs == 1 else np.column_stack(raw)

    def staged_raw_predict(
        self, X: Any, n_jobs: int | None = None, init_score: ArrayLike | None = None
    ) -> Iterator[np.ndarray]:
        """Yield the raw prediction after each round in turn, each time a new array."""
        X = as_type(self.as_input(X), np.float64)
        out = self._start(len(X), init_score)
        for m, tree in enumerate(self.trees):
            tree.add_values(X, out[m % self.n_outputs], n_jobs)
            if (m + 1) % self.n_outputs == 0:
                yield out[0].copy() if self.n_outputs == 1 else out.T.copy()

    def _start(self, n_rows: int, init_score: ArrayLike | None) -> np.ndarray:
        """Return the raw predictions before the first tree, (K, n)."""
        return raw_before(self.base_score, n_rows, checked_init_score(self, init_score, n_rows))

    def apply(self, X: Any, n_jobs: int | None = None) -> np.ndarray:
        """Return the number, within its tree, of every leaf reached: int32 of shape (n, M)."""
        return self.predictor.apply(self.as_input(X), n_jobs)

    def total_gain(self) -> np.ndarray:
        """Return, for every feature, the gains of its splits on training rows, added up: (p,)."""
        self.require("gradients", "hessians", what="total_gain")
        return gain_by_feature(self, self.n_features)

    def to_frame(self) -> "pandas.DataFrame":
        """Return a pandas.DataFrame of one row a node: where it is, how it splits, what it knows.

        ``feature`` is the name of a column; it and ``threshold`` are missing at a leaf. ``node``,
        ``left`` and ``right`` count from the root of the tree, -1 where there is no child. A model
        with categories has a column ``levels_left``, tuples of levels, where others have
        thresholds, and one of several outputs a column ``output``.
        """
        return frame_of_nodes(self)

    @property
    def has_set(self) -> np.ndarray:
        """Mark the nodes that split a categorical column."""
        if self.level_sets is None:
            return np.zeros(len(self.feature), dtype=bool)
        return self.level_sets.of_node >= 0

    def refit_statistics(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        init_score: ArrayLike | None = None,
    ) -> "Ensemble":
        """Return a copy whose G, H, counts and gains are of these rows, by its own predictions.

        ``y`` is as the loss takes it: numbers; 0 and 1 for two classes, 0 to K - 1 for K. Splits
        and values stay, so values are no longer -learning_rate G/(H + lambda); only values of inner
        nodes that the model does not know are set to this. Rows of weight 0 are not counted. A
        model fitted with starting values needs ``init_score``. Rows may be Dask's.
        """
        statistics: dict[str, Any] = refit(self, Chunk(X, y, sample_weight, None, init_score))
        if "values" not in self.statistics:
            step = node_step(statistics["sum_gradient"], statistics["sum_hessian"], self.reg_lambda)
            statistics["value"] = np.where(self.left < 0, self.value, self.learning_rate * step)
        known = frozenset(STATISTICS)
        return replace(self, **statistics, statistics=known, about_gradients=None)
