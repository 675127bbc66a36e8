"""Members on a cluster of Dask: an actor a worker, which holds the chunks that lie there."""

import pickle
import platform
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from hashlib import sha256
from importlib.metadata import version
from typing import Any
from uuid import uuid4

import numpy as np

from gbt.training.distributed.member import Member
from gbt.training.distributed.packing import packed
from gbt.training.distributed.team import LostMemberError

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
    """Actors, one a worker, which hold shares of delayed chunks; see `Member`."""

    def __init__(self, check: Callable[[Any], Any], chunks: Sequence[Any], client: Any):
        from distributed import wait

        self.client, self.addresses, self._futures = client, [], []
        futures = client.compute(list(chunks))
        try:
            wait(futures)  # Dask computes lost chunks anew, and waits for workers if there are none
            own = _where_they_lie(client, futures)
            self.addresses, self.chunks = list(own), list(own.values())
            for address, numbers in own.items():
                key, mine = f"gbt-share-{uuid4().hex}", [futures[i] for i in numbers]
                made = client.submit(Actor, check, mine, key=key, actor=True, workers=[address])
                self._futures.append(made)
            self._actors = self._made()
            self._refuse_mixed_machines()
        except BaseException:
            self.close()
            raise
        finally:
            for future in futures:  # now, not when somebody collects garbage: members have copies
                future.release()

    def _made(self) -> list[Any]:
        """Wait until all actors are made, and fetch the handles by which they are asked.

        Only the waiting has a time limit. Handles may come late from workers that are busy with
        another fit; with a limit they would be asked for again and again, and never come. Dask
        would even cut short what another thread fetches together with them.
        """
        from distributed import TimeoutError as Later
        from distributed import wait

        while True:
            try:
                wait(self._futures, timeout=SECONDS_BETWEEN_LOOKS)
                return list(self.client.gather(self._futures))
            except Exception as error:
                self._refuse_lost()  # if a worker is gone, then that is why
                if not isinstance(error, Later):
                    raise

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
            unwrapped: list[Any] = pickle.loads(answer)
            return unwrapped

    def _refuse_lost(self) -> None:
        """Raise `LostMemberError` if a worker that has a share is gone."""
        there = self.client.scheduler_info(n_workers=-1)["workers"]
        lost = [address for address in self.addresses if address not in there]
        statuses = {future.status for future in self._futures}
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
        if self._futures:
            self.client.cancel(self._futures)  # actors that answers still refer to end, too
        self._futures, self._actors = [], []


class Actor(Member):
    """A member as an actor: errors are answers, for a question has either."""

    def __init__(self, check: Callable[[Any], Any], chunks: Sequence[Any]):
        super().__init__(map(check, chunks), sum(map(len, chunks)))

    def ask(self, questions: bytes) -> Any:  # type: ignore[override]
        """Answer some questions, or return the error that one ended in."""
        try:
            return False, packed(super().ask(pickle.loads(questions)))
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


def _where_they_lie(client: Any, futures: Sequence[Any]) -> dict[str, list[int]]:
    """Return which chunks every worker takes: those that lie there, as they were computed."""
    places = client.who_has(futures)
    own: dict[str, list[int]] = {}
    for i, future in enumerate(futures):
        if future.status == "error":
            future.result()  # raises it
        if not (holders := places.get(future.key)):
            raise LostMemberError("Chunks were lost while they were computed.")
        own.setdefault(min(holders), []).append(i)
    return dict(sorted(own.items()))
