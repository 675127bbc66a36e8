"""A table of Dask as the estimators see it: rows that stay where they are.

It has a shape and a type, gives rows by number, and can be cut down to some of its rows; all else
is asked of the members that hold them. Should one of them be lost, the others take its chunks.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gbt.parallel.chunks import chunks_of_table
from gbt.parallel.threads import effective_n_jobs
from gbt.tables.bins import standing_rows
from gbt.training.distributed.cluster import Cluster, client_in_use
from gbt.training.distributed.edges import SAMPLED, Edges, choose_edges
from gbt.training.distributed.team import LostMemberError, Members, Team, Threads

MOST_LOSSES = 3  # in a row, before a fit gives up


class SharedRows:
    """The rows of a table of Dask, in shares.

    ``check`` makes rows of floats of a chunk, or raises ValueError; it travels to the workers.
    Without a cluster there are ``n_jobs`` members. ``n_levels`` is 0 where a column has numbers.
    """

    def __init__(
        self, X: Any, check: Callable[[Any], np.ndarray], n_jobs: int | None, n_levels: np.ndarray
    ):
        self.n_levels = n_levels
        self._chunks, _ = chunks_of_table(X)
        self._check, self._n_jobs = check, n_jobs
        self._kept: np.ndarray | None = None  # of the rows of the table; None is all
        self.edges: Edges | None = None
        self._is_open = False
        self.despite_losses(lambda: None)

    def despite_losses(self, work: Callable[[], Any]) -> Any:
        """Return what some work returns; if a member is lost, let those who are left do it anew."""
        for _ in range(MOST_LOSSES):
            try:
                if not self._is_open:
                    self._open()
                return work()
            except LostMemberError as error:
                lost = error
                self.close()
            except BaseException:
                self.close()
                raise
        raise LostMemberError(
            f"Workers were lost {MOST_LOSSES} times in a row, the last time so: {lost}"
            " Give them more memory, or more workers; the fit has left nothing behind."
        ) from lost

    def _open(self) -> None:
        client = client_in_use()
        members: Members
        if client is None:
            members = Threads(self._check, self._chunks, effective_n_jobs(self._n_jobs))
        else:
            members = Cluster(self._check, self._chunks, client)
        self.team, self._is_open = Team(members), True
        told = self.team.ask("describe")
        sizes = np.zeros(len(self._chunks), dtype=np.int64)
        for own, (of_chunks, _, _) in zip(members.chunks, told, strict=True):
            sizes[own] = of_chunks
        self._starts = np.cumsum([0, *sizes])
        filled = [answer for answer in told if sum(answer[0])]
        self.n_columns = filled[0][1] if filled else 0
        self.dtype = np.result_type(*[np.dtype(answer[2]) for answer in filled], np.float32)
        self.team.tell("as_type", self.dtype.str)
        self._set_ranges(self._starts)
        if self._kept is not None:
            self._keep(self._kept)

    def close(self) -> None:
        """Let the members go."""
        if self._is_open:
            self.team.members.close()
        self._is_open = False

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, self.n_columns

    def __len__(self) -> int:
        return self.n_rows

    def _set_ranges(self, starts: np.ndarray) -> None:
        """Set which numbers the rows of every member have, by chunk."""
        self.n_rows = int(starts[-1])
        self.ranges = [
            [(int(starts[i]), int(starts[i + 1])) for i in own] for own in self.team.members.chunks
        ]

    def refuse_divided(self, query: np.ndarray) -> None:
        """Raise ValueError unless all rows of each query lie in one chunk, for who holds that."""
        chunk = np.searchsorted(self._starts, np.arange(self.n_rows), side="right") - 1
        order = np.argsort(query, kind="stable")
        is_divided = (np.diff(query[order]) == 0) & (np.diff(chunk[order]) > 0)
        if is_divided.any():
            i, j = order[np.argmax(is_divided) :][:2]
            raise ValueError(
                f"Rows {i} and {j} are of one query, but lie in chunks {chunk[i]} and {chunk[j]} of"
                " X, counted from 0. Rows are ordered where they lie: put each query into one"
                " chunk, frame.shuffle('query').persist() of a frame, X.rechunk((sizes, -1)) of"
                " sorted rows, and take y and groups from that table; or fit in memory:"
                " X.compute()."
            )

    def numbers(self) -> list[np.ndarray]:
        """Return for every member which numbers its rows have, ascending."""
        nothing = np.empty(0, dtype=np.int64)
        return [np.concatenate([nothing, *(np.arange(*run) for run in own)]) for own in self.ranges]

    def each(self, of_rows: np.ndarray) -> list[np.ndarray]:
        """Return for every member what belongs to its rows."""
        return [of_rows[own] for own in self.numbers()]

    def __getitem__(self, which: np.ndarray) -> Any:
        """Return rows by their numbers, in memory, or cut the table down to a mask's, once."""
        if which.dtype == bool:
            self._kept = which
            self._keep(which)
            return self
        return self.despite_losses(lambda: self._gathered(which))

    def _gathered(self, which: np.ndarray) -> np.ndarray:
        rows = np.empty((len(which), self.n_columns), dtype=self.dtype)
        places = [np.flatnonzero(np.isin(which, own)) for own in self.numbers()]
        asked = [
            (np.searchsorted(own, which[place]),)
            for own, place in zip(self.numbers(), places, strict=True)
        ]
        for place, part in zip(places, self.team.ask_each("rows", asked), strict=True):
            rows[place] = part
        return rows

    def in_memory(self) -> np.ndarray:
        """Return all rows."""
        return self[np.arange(self.n_rows)]

    def _keep(self, is_kept: np.ndarray) -> None:
        self.team.tell_each("keep", [(part,) for part in self.each(is_kept)])
        self._set_ranges(np.append(0, np.cumsum(is_kept))[self._starts])

    def hash_rows(self, y: np.ndarray) -> np.ndarray:
        """Return a hash for every row with its target, as ``gbt.model.seen_rows`` does."""
        return self.despite_losses(lambda: self._hash_rows(y))

    def _hash_rows(self, y: np.ndarray) -> np.ndarray:
        hashes = np.empty(self.n_rows, dtype=np.uint64)
        answers = self.team.ask_each("hash_rows", [(part,) for part in self.each(y)])
        for own, answer in zip(self.numbers(), answers, strict=True):
            hashes[own] = answer
        return hashes

    def find_bins(self, max_bins: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Let all members find the bins of their values; say inside which ones cuts are looked for.

        Of coarse bins, those of missing values included, and of fine ones.
        """
        if self.edges is None and max_bins is None:
            self.edges = choose_edges(self.team.ask("sample", SAMPLED), self.n_levels)
        elif self.edges is None:
            standing = self._gathered(standing_rows(self.n_rows))
            has_missing = np.any(self.team.ask("has_missing"), axis=0)
            self.edges = choose_edges(
                [(standing.T, len(standing))], self.n_levels, max_bins, has_missing
            )
        told = self.team.ask("find_bins", self.edges)
        low = np.min([answer[0] for answer in told], axis=0)
        high = np.max([answer[1] for answer in told], axis=0)
        edges = self.edges
        is_open = np.zeros(edges.first_bin[-1], dtype=bool)
        has_values = np.delete(np.arange(len(is_open)), edges.first_bin[1:] - 1)
        first = edges.fine_of_bin[has_values]
        if max_bins is None:
            is_open[has_values] = np.minimum.reduceat(low, first) < np.maximum.reduceat(high, first)
        return is_open.astype(np.uint8), (low < high).astype(np.uint8)
