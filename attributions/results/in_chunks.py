"""Attributions of rows that lie in chunks: as lazy as the rows, which may not fit into memory.

Nothing is computed until something is asked for: a mean, some rows, a file for every chunk. Then
each chunk is explained by the worker that holds it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from attributions.names import find_feature
from attributions.results.per_row import LocalAttribution
from gbt.parallel.chunks import Chunk, each_chunk, is_in_chunks

Explain = Callable[[Chunk], LocalAttribution]


@dataclass(frozen=True, eq=False, repr=False)
class ChunkedAttribution:
    """Contributions of every feature to every row's prediction, not computed yet.

    Parameters
    ----------
    values : dask.array of shape (n, p), or (n, p, K)
        Contributions as in ``LocalAttribution.values``. For a frame n is nan: Dask does not know
        how many rows it has.
    base_values : dask.array of shape (n,), or (n, K)
        Where the contributions start from.
    feature_names, method, output_names
        As for `LocalAttribution`.
    parts : list of dask.delayed.Delayed
        The `LocalAttribution` of every chunk, with rows and index: to be written chunk by chunk.
    """

    values: Any
    base_values: Any
    feature_names: tuple[str, ...]
    method: str
    output_names: tuple | None
    parts: list[Any]

    def __repr__(self) -> str:
        n_chunks, name = len(self.parts), type(self).__name__
        return f"<{name} of {self.method}: values {self.values.shape}, {n_chunks} chunks>"

    def __getitem__(self, name: str) -> Any:
        """Return what the feature called ``name`` contributed to each row, a dask.array."""
        return self.values[:, find_feature(name, self.feature_names)]

    def compute(self) -> LocalAttribution:
        """Compute all chunks and return one `LocalAttribution` of all rows, in this process.

        It takes 8 bytes for each row, feature and output. Where that is too much, reduce
        ``values`` while they are lazy, or write each of ``parts`` where its chunk is.
        """
        import dask

        parts = dask.compute(*self.parts)
        parts = [part for part in parts if len(part)] or list(parts[:1])
        index = parts[0].index
        return replace(
            parts[0],
            values=np.concatenate([part.values for part in parts]),
            base_values=np.concatenate([part.base_values for part in parts]),
            data=None if parts[0].data is None else np.concatenate([part.data for part in parts]),
            index=None if index is None else index.append([part.index for part in parts[1:]]),
        )


def explain_rows(explain: Explain, rows: Chunk, of_none: LocalAttribution) -> Any:
    """Return the attribution of rows in memory, or a `ChunkedAttribution` of rows of Dask.

    ``explain`` takes a `Chunk` of at least one row, and is sent to the workers. ``of_none``, the
    attribution of no rows, has shapes and names, and is the part of an empty chunk.
    """
    if not any(map(is_in_chunks, rows)):
        return explain(rows)
    import dask.array

    parts, sizes = each_chunk(partial(_explained, explain, of_none), rows, with_empty=True)

    def array(name: str) -> Any:
        shape = getattr(of_none, name).shape[1:]
        attribute = dask.delayed(getattr, pure=False)
        chunks = [
            dask.array.from_delayed(attribute(part, name), (size, *shape), dtype=np.float64)
            for part, size in zip(parts, sizes, strict=True)
        ]
        return dask.array.concatenate(chunks, allow_unknown_chunksizes=True)

    return ChunkedAttribution(
        array("values"),
        array("base_values"),
        of_none.feature_names,
        of_none.method,
        of_none.output_names,
        parts,
    )


def _explained(explain: Explain, of_none: LocalAttribution, chunk: Chunk) -> LocalAttribution:
    """Explain a chunk, which may have no rows."""
    return explain(chunk) if len(chunk.X) else of_none
