"""Blocks of rows, worked on by several threads and merged in the order of the rows."""

from collections.abc import Callable
from threading import Condition
from typing import TypeVar

from gbt.parallel.threads import effective_n_jobs, run_all

ROWS_PER_BLOCK = 1008  # 50 columns of a transposed block are 800 kB; see gbt.kernels.rows.descent


Part = TypeVar("Part")


def merge_blocks(
    part_of: Callable[[slice], Part],
    merge: Callable[[Part, Part], Part],
    n_rows: int,
    n_jobs: int | None,
    rows_per_block: int = ROWS_PER_BLOCK,
) -> Part:
    """Return the merged parts of all blocks of rows, made in several threads, merged in row order.

    ``part_of`` takes a slice of row numbers, in several threads at once. ``merge`` takes the part
    of the rows so far, which it may reuse, and that of the next block. A block should have more
    rows where its part is large, and takes long to make and merge.
    """
    blocks = row_blocks(n_rows, rows_per_block)
    n_threads = min(effective_n_jobs(n_jobs), len(blocks))
    waiting: dict[int, Part] = {}  # parts that wait for those of earlier rows
    merged: Part
    n_begun = n_merged = 0
    turn = Condition()

    def may_go_on() -> bool:
        return n_begun == len(blocks) or n_begun - n_merged < 2 * n_threads

    def work() -> None:
        nonlocal merged, n_begun, n_merged
        try:
            while True:
                with turn:
                    turn.wait_for(may_go_on)  # lest many parts pile up behind a slow thread
                    if n_begun == len(blocks):
                        return
                    b = n_begun
                    n_begun += 1
                part = part_of(blocks[b])
                with turn:
                    waiting[b] = part
                    while n_merged in waiting:
                        part = waiting.pop(n_merged)
                        merged = part if n_merged == 0 else merge(merged, part)
                        n_merged += 1
                    turn.notify_all()
        except BaseException:
            with turn:
                n_begun = len(blocks)  # no thread needs to begin another
                turn.notify_all()
            raise

    run_all([work] * n_threads)
    return merged


def row_blocks(n_rows: int, rows_per_block: int = ROWS_PER_BLOCK) -> list[slice]:
    """Cut ``range(n_rows)`` into blocks, the last one shorter."""
    return [
        slice(start, min(start + rows_per_block, n_rows))
        for start in range(0, n_rows, rows_per_block)
    ]
