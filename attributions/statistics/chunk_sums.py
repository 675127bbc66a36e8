"""Measures that are sums over rows, of a table in memory or of one in chunks.

A measure returns what a chunk adds as a `ChunkSum`, whose result is whatever can be merged with
that of other rows, such as a `GlobalAttribution`. `sum_over_chunks` merges these. What only all
rows together can tell, that every weight is 0 or that the model has seen some of the rows, it looks
at in the end: an error or a warning for the caller.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from attributions.inputs import warn_of_seen_rows
from gbt.model.ensemble import Ensemble
from gbt.model.known_by_leaves import Cells, Rows, are_training_rows, may_be_training_rows
from gbt.parallel.chunks import Chunk, over_chunks

Merge = Callable[[Any, Any], Any]


@dataclass(frozen=True, eq=False)
class ChunkSum:
    """What some rows add to a measure.

    Parameters
    ----------
    result : GlobalAttribution
        Of these rows.
    n_seen : int
        Rows among them that the model has seen.
    has_weight : bool
        Whether any of them weighs something.
    at_root : float
        What they add to the root of the model's first tree; nan where this is not asked.
    """

    result: Any
    n_seen: int = 0
    has_weight: bool = True
    at_root: float = float("nan")

    def merge(self, other: "ChunkSum", of_results: Merge) -> "ChunkSum":
        """Return what the rows of both add."""
        return ChunkSum(
            of_results(self.result, other.result),
            self.n_seen + other.n_seen,
            self.has_weight or other.has_weight,
            self.at_root + other.at_root,
        )


def sum_over_chunks(
    measure: Callable[[Chunk], ChunkSum],
    rows: Chunk,
    merge: Merge,
    ensemble: Ensemble | None = None,
    taken_in: Callable[[Chunk], Rows] | None = None,
    stacklevel: int = 3,
) -> Any:
    """Return the measure of all rows, for a public function whose caller is to be warned.

    Parameters
    ----------
    measure : callable
        Takes a `Chunk` of at least one row; is sent to where the rows are.
    rows : Chunk
        All rows, in memory or of Dask.
    merge : callable
        Takes the results of some rows and of the next, returns that of both.
    ensemble, taken_in : Ensemble and callable, optional
        What a chunk is to the model. They tell whether all chunks together are the training rows,
        which no chunk knows (``gbt.model.known_by_leaves``); sums of chunks then have ``at_root``.
    stacklevel : int
        Of the warning: how far up the caller to be warned is.
    """
    total = over_chunks(measure, partial(ChunkSum.merge, of_results=merge), rows)
    if not total.has_weight:
        raise ValueError("sample_weight is 0 for all rows; at least one must weigh something.")
    n_seen, n_rows = total.n_seen, total.result.n_samples
    if ensemble is not None and taken_in is not None:
        n_seen = n_seen or n_rows * are_training_chunks(ensemble, total.at_root, rows, taken_in)
    warn_of_seen_rows(n_seen, n_rows, stacklevel)
    return total.result


def are_training_chunks(
    ensemble: Ensemble, at_root: float, rows: Chunk, taken_in: Callable[[Chunk], Rows]
) -> bool:
    """Say whether chunks are, all together, the rows that a model was trained on.

    Parameters
    ----------
    ensemble : Ensemble
    at_root : float
        What they add to the root of its first tree, or nan, which is never enough.
    rows : Chunk
        All rows, which are asked for again if they may be those of training.
    taken_in : callable
        Returns a `Chunk` as the model takes it.
    """

    def fold(part_of: Callable[[Rows], Cells], merge: Callable[[Cells, Cells], Cells]) -> Cells:
        return over_chunks(partial(_part_of, taken_in, part_of), merge, rows)

    return may_be_training_rows(ensemble, at_root) and are_training_rows(ensemble, fold)


def _part_of(
    taken_in: Callable[[Chunk], Rows], part_of: Callable[[Rows], Cells], chunk: Chunk
) -> Cells:
    return part_of(taken_in(chunk))
