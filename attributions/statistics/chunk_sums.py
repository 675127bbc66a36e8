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
    """

    result: Any
    n_seen: int = 0
    has_weight: bool = True

    def merge(self, other: "ChunkSum", of_results: Merge) -> "ChunkSum":
        """Return what the rows of both add."""
        return ChunkSum(
            of_results(self.result, other.result),
            self.n_seen + other.n_seen,
            self.has_weight or other.has_weight,
        )


def sum_over_chunks(
    measure: Callable[[Chunk], ChunkSum],
    rows: Chunk,
    merge: Merge,
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
    """
    total = over_chunks(measure, partial(ChunkSum.merge, of_results=merge), rows)
    if not total.has_weight:
        raise ValueError("sample_weight is 0 for all rows; at least one must weigh something.")
    warn_of_seen_rows(total.n_seen, total.result.n_samples, stacklevel=3)
    return total.result
