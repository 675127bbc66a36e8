"""The rows that a measure is given: how they are checked, and what only all together can tell.

All measures take rows in the same way, from a table in memory or, by chunks, from one of Dask::

    model  ->  Intake  --.                    the trees, and the labels of their targets
                          }-->  Rows          checked and converted: X, y, weight, ...
    Chunk of a table   --'       |
                                 +-> Tally    how many, and how many of them were seen

`AllRows` stands for either kind of table: rows in memory are checked once, chunks by the workers
that hold them, at every walk. `RowsInBatches` are read from a file at every walk. A measure that
needs more of its model than `Intake` has inherits from it, and so does one that needs more of its
rows than `Rows` has.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from math import nan
from typing import Any, ClassVar, Self

import numpy as np

from attributions.inputs import as_rows, as_weight, trees_of, warn_of_seen_rows
from attributions.statistics.groups import Groups
from gbt.formats import labels_of, target_encoder
from gbt.losses.loss import Loss
from gbt.losses.ranking.queries import with_queries
from gbt.model.ensemble import Ensemble
from gbt.model.known_by_leaves import (
    LeafCells,
    amount_at_root,
    are_training_rows,
    may_be_training_rows,
)
from gbt.model.stages import start_of
from gbt.model.starting_values import checked_init_score
from gbt.parallel.chunks import Chunk, is_in_chunks, over_chunks
from gbt.tables.sparse_rows import take
from gbt.tables.targets import as_target, refuse_weights, warn_of_other_order


@dataclass(frozen=True, eq=False)
class Intake:
    """A model as rows need it: trees and labels. It holds no rows, and is sent to workers that do.

    ``encode`` makes the targets that the trees see of those that are given, see `target_encoder`.
    """

    ensemble: Ensemble
    classes_: Any  # the labels of a classifier, else None
    encode: Callable[[Any], Any] | None = field(default=None, kw_only=True)

    @classmethod
    def of_model(cls, model: Any, X: Any, training: Any = None, columns: str = "given") -> "Intake":
        """Take the model and the table that a public function was given.

        The table may name the features, ``training`` supplies lost sums, and ``columns`` says whose
        columns are credited, see `trees_of`.
        """
        ensemble = trees_of(model, X, training, columns)
        return Intake(ensemble, labels_of(model), encode=target_encoder(model))


@dataclass(eq=False)
class Rows:
    """Rows that weigh something, checked and converted for a model, an `Intake`; maybe none."""

    model: Any
    X: Any  # (n, p), or SparseRows
    y: np.ndarray  # (n,), or (n, K) for K targets; (n, 0) where no target is needed
    weight: np.ndarray  # (n,)
    groups: Groups | None = None
    init_score: np.ndarray | None = None  # (n, K) if the model has ``gbt.model.starting_values``
    is_part: bool = False  # a chunk, which is checked and converted anew for every walk

    need_targets: ClassVar[bool] = True
    keep_all: ClassVar[bool] = False  # those of weight 0, too
    # Whether a row's loss may depend on all other rows, or on those of its query.
    asks_all_at_once: ClassVar[bool] = False
    asks_queries_at_once: ClassVar[bool] = False

    @classmethod
    def of(cls, model: Any, given: Chunk) -> Self:
        """Check and convert the rows, with all that is given beside, before any are left out."""
        X = as_rows(model.ensemble, given.X)
        n, y, groups = len(X), np.empty((len(X), 0)), given.groups
        for name in ("y", "sample_weight", "groups", "init_score"):
            beside = getattr(given, name)
            warn_of_other_order(given.X, beside, stacklevel=4, name=name)  # at the measure's call
        if cls.need_targets:
            cls._refuse_loss_of_all(model.ensemble.loss, given)
            y = given.y if model.encode is None else model.encode(given.y)
            if model.ensemble.loss.has_queries and np.shape(y)[1:] in ((), (1,)):
                y = with_queries(model.ensemble.loss, y, groups)
            y = as_target(model, model.ensemble, y, n)
            if model.ensemble.loss.has_queries and groups is None:
                groups = y[:, 1]  # queries are the draws
        weight = as_weight(given.sample_weight, n, may_be_zero=given.is_part)
        groups = None if groups is None else Groups.of(groups, n)
        if cls.need_targets and model.ensemble.loss.has_pairs:
            refuse_weights(model.ensemble.loss, y, weight)
            if groups is not None and model.ensemble.loss.has_queries:
                groups.refuse_to_cut(y[:, 1])
        start = None
        if cls.need_targets:
            start = checked_init_score(model.ensemble, given.init_score, n)
        rows, counts = cls(model, X, y, weight, groups, start, given.is_part), weight > 0
        return rows if cls.keep_all or counts.all() else rows.at(np.flatnonzero(counts))

    @classmethod
    def _refuse_loss_of_all(cls, loss: Loss, given: Chunk) -> None:
        """Refuse a loss of rows that depend on each other where they are looked at in parts."""
        at_once = cls.asks_all_at_once or (cls.asks_queries_at_once and loss.has_queries)
        if loss.is_by_row or (at_once and not given.is_part):
            return
        raise ValueError(
            f"Under the {loss.name} loss rows depend on each other, and here they are looked at"
            f" {'in chunks of Dask: X.compute()' if given.is_part else 'one by one'}."
            " held_out_gain and permutation take such models, with rows in memory."
        )

    @property
    def ensemble(self) -> Ensemble:
        """The trees."""
        return self.model.ensemble

    @cached_property
    def prepared(self) -> Any:
        """The targets as the loss takes them, see ``Loss.prepared``."""
        return self.ensemble.loss.prepared(self.y, self.weight)

    def start(self, rows: slice) -> np.ndarray:
        """Return the raw predictions at which the first trees are judged, (K, n); a new array."""
        init_score = None if self.init_score is None else self.init_score[rows]
        return start_of(self.ensemble, rows.stop - rows.start, init_score)

    def at(self, places: np.ndarray) -> Self:
        """Return the rows at some places."""
        groups = None if self.groups is None else self.groups.at(places)
        X, y, weight = take(self.X, places), self.y[places], self.weight[places]
        start = None if self.init_score is None else self.init_score[places]
        return replace(self, X=X, y=y, weight=weight, groups=groups, init_score=start)

    def for_leaves(self) -> Chunk:
        """Return the rows for the tests of `known_by_leaves`."""
        return Chunk(self.X, self.y, self.weight, init_score=self.init_score)

    @property
    def at_root(self) -> float:
        """What the rows add to the root of the first tree, see `amount_at_root`."""
        return amount_at_root(self.ensemble, self.y, self.weight, self.init_score)

    def count_seen(self, n_jobs: int | None) -> int:
        """Return how many of the rows the model was trained or tuned on.

        Models remember a hash of each row that they have seen (``gbt.model.seen_rows``). Models
        from a file or from another library do not. For them the answer is all rows or none: all, if
        the rows together fill the leaves as the training rows did (``gbt.model.known_by_leaves``).
        """
        ensemble, n_rows = self.ensemble, len(self.X)
        if not self.need_targets:
            return 0
        if ensemble.seen_rows is not None:
            return ensemble.seen_rows.count(self.X, self.y, n_jobs)
        if not may_be_training_rows(ensemble, self.at_root):
            return 0
        rows = self.for_leaves()
        return n_rows * are_training_rows(ensemble, lambda part_of, merge: part_of(rows))

    def warn_if_seen(self, n_jobs: int | None) -> None:
        """Warn if the model has seen some of them."""
        warn_of_seen_rows(self.count_seen(n_jobs), len(self.X))


@dataclass(frozen=True)
class Tally:
    """What only all rows together can tell, added up over chunks.

    ``at_root`` is what they add to the root of the model's first tree; nan where it is not needed.
    """

    n_rows: int
    n_seen: int
    at_root: float

    @classmethod
    def of(cls, rows: Rows, n_jobs: int | None) -> "Tally":
        """Count some rows."""
        ensemble, at_root = rows.ensemble, nan
        if rows.is_part and rows.need_targets and ensemble.seen_rows is None:
            at_root = rows.at_root
        return cls(len(rows.X), rows.count_seen(n_jobs), at_root)

    def __add__(self, other: "Tally") -> "Tally":
        """Return the tally of the rows of both."""
        return Tally(*map(operator.add, vars(self).values(), vars(other).values()))


@dataclass(frozen=True, eq=False)
class AllRows:
    """All rows that a public function was given, and how many threads may look at them."""

    kind: type[Rows]  # what a measure makes of rows
    model: Any  # an `Intake`
    given: Any  # a `Chunk`, as the caller gave them
    rows: Any  # of that kind; None if they are of Dask
    n_jobs: int | None

    @classmethod
    def of(cls, kind: type[Rows], model: Any, given: Chunk, n_jobs: int | None) -> Self:
        """Take in the rows if they are in memory."""
        rows = None if any(map(is_in_chunks, given)) else kind.of(model, given)
        return cls(kind, model, given, rows, n_jobs)

    def over(self, part_of: Callable[..., Any], merge: Callable[..., Any] = operator.add) -> Any:
        """Return ``part_of(rows, n_jobs)`` of all rows, or the merged parts of all chunks."""
        if self.rows is not None:
            return part_of(self.rows, self.n_jobs)
        of_chunk = partial(_part_of_chunk, self.kind, self.model, part_of, self.n_jobs)
        return over_chunks(of_chunk, merge, self.given)

    def sum(self, sums_of: Callable[..., Any]) -> tuple[Any, int]:
        """Return the sums of all rows, and how many there are; `check` them on the way."""
        sums, tally = self.over(partial(_counted, sums_of), _merged)
        self.check(tally)
        return sums, tally.n_rows

    def check(self, tally: Tally) -> None:
        """Warn of rows that the model has seen."""
        n_seen = tally.n_seen or tally.n_rows * self.are_those_of_training(tally.at_root)
        warn_of_seen_rows(n_seen, tally.n_rows)

    def are_those_of_training(self, at_root: float) -> bool:
        """Say whether chunks are the training rows together, which no single chunk can tell."""

        def fold(part_of: Callable, merge: Callable) -> LeafCells:
            return self.over(partial(_of_leaves, part_of), merge)

        ensemble = self.model.ensemble
        return may_be_training_rows(ensemble, at_root) and are_training_rows(ensemble, fold)


class RowsInBatches(AllRows):
    """Rows that ``given``, a function, yields some at a time, as a `Chunk` each, at every walk."""

    def over(self, part_of: Callable[..., Any], merge: Callable[..., Any] = operator.add) -> Any:
        """Return the merged parts of all batches."""
        batches = (self.kind.of(self.model, batch) for batch in self.given())
        return reduce(merge, (part_of(rows, self.n_jobs) for rows in batches))


def _part_of_chunk(
    kind: type[Rows], model: Any, part_of: Callable, n_jobs: int | None, chunk: Chunk
) -> Any:
    """Return the part of a chunk; None if it has no rows that count."""
    rows = kind.of(model, chunk)
    return part_of(rows, chunk.n_jobs(n_jobs)) if len(rows.X) else None


def _counted(sums_of: Callable, rows: Rows, n_jobs: int | None) -> tuple[Any, Tally]:
    """Return the sums of some rows, and their tally."""
    return sums_of(rows, n_jobs), Tally.of(rows, n_jobs)


def _merged(one: tuple[Any, Tally], other: tuple[Any, Tally]) -> tuple[Any, Tally]:
    """Return the sums and the tally of two sets of rows."""
    return one[0] + other[0], one[1] + other[1]


def _of_leaves(part_of: Callable, rows: Rows, n_jobs: int | None) -> LeafCells:
    """Return a part of `known_by_leaves` of some rows."""
    return part_of(rows.for_leaves())
