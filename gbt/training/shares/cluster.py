"""Members on a cluster of Dask: an actor a worker, which holds the chunks that lie there."""

import platform
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from hashlib import sha256
from importlib.metadata import version
from typing import Any
from uuid import uuid4

import numpy as np

from gbt.training.shares.packing import packed, unpacked
from gbt.training.shares.share import Share
from gbt.training.shares.team import LostMemberError

SECONDS_BETWEEN_LOOKS = 1.0  # at whether all members are still there


def client_in_use() -> Any:
    """Return the client of Dask in use, None if there is none."""
    try:
        from distributed import get_client
    except ImportError:
        return None
    try:
        return get_client()
    except ValueError:
        return None


class Cluster:
    """Actors, one a worker.

    Parameters
    ----------
    check : callable
        See `Share`.
    chunks : list of delayed tables
    client : distributed.Client
    """

    def __init__(self, check: Callable[[Any], Any], chunks: Sequence[Any], client: Any):
        self.client = client
        addresses = sorted(client.scheduler_info(n_workers=-1)["workers"])
        if not addresses:
            raise LostMemberError("The cluster has no workers.")
        futures = client.compute(list(chunks))
        try:
            self.chunks = _where_they_lie(client, futures, addresses)
            kept = [(a, own) for a, own in zip(addresses, self.chunks, strict=True) if own]
            self.addresses, self.chunks = [a for a, _ in kept], [own for _, own in kept]
            self._futures = [
                client.submit(
                    Member, check, [futures[i] for i in own], key=f"gbt-share-{uuid4().hex}",
                    actor=True, workers=[address], allow_other_workers=False,
                )
                for address, own in kept
            ]  # fmt: skip
            self._actors = [self._wait(future) for future in self._futures]
            self._refuse_mixed_machines()
        except BaseException:
            self.close()
            raise
        finally:
            for future in futures:  # now, not when somebody collects garbage: members have copies
                future.release()

    def _wait(self, future: Any) -> Any:
        """Wait for an actor."""
        from distributed import TimeoutError as Later

        while True:
            try:
                return future.result(timeout=SECONDS_BETWEEN_LOOKS)
            except Later:
                self._refuse_lost()
            except (CancelledError, OSError) as error:
                raise LostMemberError(f"A worker was lost: {error}") from error

    def ask(self, questions: list[list[tuple[str, tuple]]]) -> list[list[Any]]:
        """Ask every actor; raise `LostMemberError` if one is gone."""
        try:
            told = [packed(own) for own in questions]
            futures = [a.ask(own) for a, own in zip(self._actors, told, strict=True)]
        except RuntimeError as error:  # Dask's, of an actor whose worker is known to be lost
            raise LostMemberError(str(error)) from error
        return [self._answer(future) for future in futures]

    def _answer(self, future: Any) -> list[Any]:
        while True:
            try:
                is_error, answer = future.result(timeout=SECONDS_BETWEEN_LOOKS)
            except TimeoutError:
                self._refuse_lost()
                continue
            except (OSError, CancelledError, KeyError, RuntimeError) as error:
                raise LostMemberError(f"A worker was lost: {error}") from error
            if is_error:
                raise answer
            unwrapped: list[Any] = unpacked(answer)
            return unwrapped

    def _refuse_lost(self) -> None:
        """Raise `LostMemberError` if a worker that has a share is gone."""
        there = self.client.scheduler_info(n_workers=-1)["workers"]
        lost = [a for a in getattr(self, "addresses", []) if a not in there]
        statuses = {future.status for future in getattr(self, "_futures", [])}
        if lost or statuses & {"lost", "cancelled"}:
            raise LostMemberError(f"Workers were lost: {', '.join(lost)}.")

    def _refuse_mixed_machines(self) -> None:
        """Raise ValueError unless all members compute alike."""
        told = self.ask([[("machine", ())] for _ in self._actors])
        alike = {str(answers[-1]) for answers in told} | {str(machine())}
        if len(alike) > 1:
            raise ValueError(
                "The workers and this process differ, so that a model would depend on who computes"
                f" what: {'; '.join(sorted(alike))}. Use the same versions and processors."
            )

    def close(self) -> None:
        """Let the actors go."""
        self._actors = []
        if futures := getattr(self, "_futures", []):
            self.client.cancel(futures)  # actors that answers still refer to end, too
        self._futures = []


class Member(Share):
    """A share as an actor: errors are answers, for a question has either."""

    def __init__(self, check: Callable[[Any], Any], chunks: Sequence[Any]):
        super().__init__(check, chunks, sum(map(len, chunks)))

    def ask(self, questions: Sequence[tuple[str, tuple]]) -> Any:
        """Answer some questions, or return the error that one ended in."""
        try:
            return False, packed(super().ask(unpacked(questions)))
        except Exception as error:
            return True, error

    def machine(self) -> tuple:
        """Return what must be the same on all machines."""
        return machine()


def machine() -> tuple:
    """Return versions, and what functions give for some numbers, as a hash."""
    x = np.random.default_rng(0).uniform(0, 20, 4096)
    numbers = [np.exp(-x), np.log(x), np.log1p(x), np.hypot(x, 1.0)]
    versions = [f"{name} {version(name)}" for name in ("numpy", "scipy", "numba")]
    functions = sha256(b"".join(part.tobytes() for part in numbers)).hexdigest()[:12]
    return f"Python {platform.python_version()}", *versions, f"functions {functions}"


def _where_they_lie(client: Any, futures: Sequence[Any], addresses: list[str]) -> list[list[int]]:
    """Return which chunks every worker takes: those that lie there, as they are computed."""
    from distributed import wait

    wait(futures)
    places = client.who_has(futures)
    order = {address: i for i, address in enumerate(addresses)}
    own: list[list[int]] = [[] for _ in addresses]
    for i, future in enumerate(futures):
        if future.status == "error":
            future.result()  # raises it
        holders = sorted(order[a] for a in places.get(future.key, ()) if a in order)
        if not holders:
            raise LostMemberError("Chunks were lost while they were computed.")
        own[holders[0]].append(i)
    return own
