"""Tables in chunks: arrays and frames of Dask, whose rows lie on disk or on several machines.

Sums over rows are computed chunk by chunk, by the workers that hold the rows, and the parts are
merged a few at a time until one is left. Only that one travels to the caller::

    rows      X_0 y_0    X_1 y_1    X_2 y_2    X_3 y_3    X_4 y_4
    parts       P_0        P_1        P_2        P_3        P_4       one task a chunk
    merged      P_0 + P_1 + ... + P_7 + ...                           ``FAN_IN`` parts a task

A worker holds the chunks on which its threads work and some parts, whatever the number of rows. The
parts are merged in an order that depends on the chunks alone, so the same chunks give the same
result to the last bit, on one thread or on a cluster.

A table in memory is a single chunk, so that one line of code sums over either kind of table. Dask
is imported only for tables of Dask, which are recognised by the module of their class.
"""

from collections.abc import Callable, Sequence
from math import isnan
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

import numpy as np

FAN_IN = 8
BESIDE = ("y", "sample_weight", "groups", "init_score")  # one entry a row
Part = TypeVar("Part")


class Chunk(NamedTuple):
    """Some rows of a table, with targets, weights, groups and starting values, one a row."""

    X: Any
    y: Any = None
    sample_weight: Any = None
    groups: Any = None
    init_score: Any = None
    number: int = 0  # which chunk of the table it is, from 0
    is_part: bool = False  # whether it is a chunk of a table of Dask, of which there may be others

    def n_jobs(self, asked: int | None) -> int | None:
        """Return how many threads to use: 1 in a worker, whose other threads have tasks, too."""
        return 1 if asked is None and self.is_part else asked


def is_in_chunks(table: Any) -> bool:
    """Say whether a table is one of Dask."""
    return type(table).__module__.split(".")[0] == "dask"


def in_memory(given: Any) -> Any:
    """Return an array of one entry a row, computed if it is one of Dask."""
    return given.compute() if is_in_chunks(given) else given


def refuse_chunks(table: Any) -> None:
    """Raise ValueError for a table of Dask where rows in memory are needed."""
    if is_in_chunks(table):
        raise ValueError(
            f"X is a {type(table).__name__} of Dask, and rows in memory are needed here. The guide"
            " (docs/guide/dask.md) lists the functions that take such tables; X.map_blocks and"
            " X.map_partitions predict; X.compute() returns all rows in memory."
        )


def over_chunks(
    part_of: Callable[[Chunk], Part | None], merge: Callable[[Part, Part], Part], rows: Chunk
) -> Part:
    """Return the merged parts of all chunks of some rows, without chunks that have none.

    ``part_of`` takes a `Chunk` of at least one row; it may return None if no row counts. It is sent
    to the workers, so it must be picklable. Rows in memory are handed to it as they are. ``merge``
    takes two parts and returns the part of the rows of both.
    """
    part = _merged(part_of, merge, rows) if any(map(is_in_chunks, rows)) else part_of(rows)
    if part is None:
        raise ValueError("X has no rows, or sample_weight is zero for every row; one must count.")
    return part


def _merged(
    part_of: Callable[[Chunk], Part | None], merge: Callable[[Part, Part], Part], rows: Chunk
) -> Part | None:
    """Return the merged parts of all chunks, made and merged by the workers."""
    from dask import delayed

    parts, _ = each_chunk(part_of, rows)
    join = delayed(merge_chunks, pure=False)
    while len(parts) > 1:
        parts = [join(merge, parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    of_all: Part | None = parts[0].compute()
    return of_all


def each_chunk(
    part_of: Callable[[Chunk], Any], rows: Chunk, with_empty: bool = False
) -> tuple[list[Any], list[float]]:
    """Return the parts of all chunks, ``dask.delayed``, and the chunks' numbers of rows.

    The number is nan where Dask does not know it. The part of a chunk without rows is None, unless
    ``with_empty``.
    """
    from dask import delayed

    X, sizes = chunks_of_table(rows.X)
    beside = [_chunks_beside(name, getattr(rows, name), X, sizes) for name in BESIDE]
    shared = delayed(part_of, name=f"measure-{uuid4().hex}", traverse=False)
    measure = delayed(measure_chunk, pure=False)
    chunks = zip(X, *beside, strict=True)
    parts = [measure(shared, with_empty, chunk, number) for number, chunk in enumerate(chunks)]
    return parts, sizes


def measure_chunk(
    part_of: Callable[[Chunk], Any], with_empty: bool, chunk: tuple[Any, ...], number: int
) -> Any:
    """Return the part of one chunk: a task of Dask."""
    rows = Chunk(*chunk)._replace(number=number, is_part=True)
    X = rows.X
    for name in BESIDE:
        given = getattr(rows, name)
        if given is not None and len(given) != len(X):
            raise ValueError(
                f"Chunk {number} of X has {len(X)} rows, and that of {name} has {len(given)}: their"
                " rows must be cut at the same places. Take both from one table."
            )
    if not (len(X) or with_empty):
        return None
    try:
        return part_of(rows)
    except ValueError as error:
        raise ValueError(f"In chunk {number}, counted from 0: {error}") from error


def merge_chunks(merge: Callable[[Part, Part], Part], parts: Sequence[Part | None]) -> Part | None:
    """Merge some parts in their order: a task of Dask."""
    merged: Part | None = None
    for part in parts:
        if part is not None:
            merged = part if merged is None else merge(merged, part)
    return merged


def map_chunks(function: Callable[[Any], np.ndarray], X: Any, dtype: Any, width: int | None) -> Any:
    """Return the results of a function for every chunk of a table as an array of Dask.

    The function takes the rows of a chunk, at least one, and returns ``dtype``, one entry a row, of
    ``width`` numbers each; None stands for single numbers.
    """
    import dask.array

    beside = () if width is None else (width,)

    def of_chunk(rows: Chunk) -> np.ndarray:
        return function(rows.X) if len(rows.X) else np.empty((0, *beside), dtype)

    parts, sizes = each_chunk(of_chunk, Chunk(X), with_empty=True)
    arrays = [
        dask.array.from_delayed(part, (size, *beside), dtype)
        for part, size in zip(parts, sizes, strict=True)
    ]
    return dask.array.concatenate(arrays, allow_unknown_chunksizes=True)


def chunks_of_table(X: Any) -> tuple[list[Any], list[float]]:
    """Return the chunks of a table, each with all columns, and their numbers of rows."""
    if not is_in_chunks(X):
        raise ValueError(
            f"X is in memory, a {type(X).__name__}, and y or another argument with a value for each"
            " row is Dask's. Give all of them in memory, y.compute(), or X as an array or a frame"
            " of Dask, too."
        )
    if isinstance(getattr(X, "npartitions", None), int) and hasattr(X, "columns"):
        return _chunks_of_frame(X), [float("nan")] * X.npartitions
    if not isinstance(getattr(X, "ndim", None), int):  # a Delayed has attributes of any name
        raise ValueError(
            f"X is a {type(X).__name__} of Dask, which is no table; give an array or a frame, such"
            " as dask.array.from_delayed makes."
        )
    if X.ndim != 2:
        raise ValueError(
            f"X has shape {X.shape}; it needs one row for each sample and one column for each"
            " feature."
        )
    return _chunks_of_array(X), list(X.chunks[0])


def _chunks_of_array(array: Any) -> list[Any]:
    """Return the chunks of rows of an array; what several chunks are made from is made once."""
    if array.ndim == 2 and array.numblocks[1] > 1:
        array = array.rechunk({1: -1})
    return list(array.to_delayed(optimize_graph=False).ravel())


def _chunks_of_frame(frame: Any) -> list[Any]:
    """Return the partitions of a frame, or of a column of one.

    Dask optimises a frame that reads files to read only the columns asked for. For a column or two
    it then makes fewer, larger partitions, which no longer match those of the other columns. Such
    partitions are taken without that optimisation.
    """
    chunks = list(frame.to_delayed())
    is_cut_alike = len(chunks) == frame.npartitions
    return chunks if is_cut_alike else list(frame.to_delayed(optimize_graph=False))


def _chunks_beside(name: str, given: Any, X: list[Any], sizes: list[float]) -> list[Any]:
    """Cut an array of one entry a row where the rows are cut."""
    if given is None:
        return [None] * len(X)
    if not is_in_chunks(given):
        return _pieces(name, given, _known_sizes(X, sizes))
    if isinstance(getattr(given, "chunks", None), tuple):
        n_given = sum(given.chunks[0])
        if not (isnan(n_given) or isnan(sum(sizes))):
            if n_given != sum(sizes):
                raise ValueError(f"{name} has {n_given} rows and X has {sum(sizes)}.")
            if given.chunks[0] != tuple(sizes):
                given = given.rechunk({0: tuple(sizes)})
        chunks = _chunks_of_array(given)
    else:
        chunks = _chunks_of_frame(given)
    if len(chunks) != len(X):
        raise ValueError(
            f"X has {len(X)} chunks and {name} has {len(chunks)}, and how many rows each has is not"
            " known, so they cannot be cut alike. Take both from one table, or let Dask count:"
            " compute_chunk_sizes() of an array, to_dask_array(lengths=True) of a frame."
        )
    return chunks


def _known_sizes(X: list[Any], sizes: list[float]) -> list[int]:
    """Return the numbers of rows of all chunks; where Dask does not know them they are counted."""
    if isnan(sum(sizes)):
        import dask

        count = dask.delayed(len, pure=False)
        sizes = dask.compute(*[count(chunk) for chunk in X])
    return [int(size) for size in sizes]


def _pieces(name: str, given: Any, sizes: list[int]) -> list[Any]:
    """Cut an array in memory into pieces of the given sizes."""
    if len(given) != sum(sizes):
        raise ValueError(f"{name} has {len(given)} rows and X has {sum(sizes)}.")
    pieces, start = [], 0
    by_place = getattr(given, "iloc", given)
    for size in sizes:
        pieces.append(by_place[start : start + size])
        start += size
    return pieces
