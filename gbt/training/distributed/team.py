"""Teams: who holds the shares of the rows, and how all of them are asked at once.

Members are in this process, one a thread, or actors of Dask, one a worker, each of which keeps its
share from question to question. A question that needs no answer waits until the next is asked and
travels with it, which spares a round.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from gbt.parallel.threads import run_all
from gbt.training.distributed.member import Member


class LostMemberError(RuntimeError):
    """A member of a team is gone, and its rows with it."""


class Members(Protocol):
    """Who holds the shares; ``chunks`` says which chunks of the table each has."""

    chunks: list[list[int]]

    def ask(self, questions: list[list[tuple[str, tuple]]]) -> list[list[Any]]:
        """Ask every member its own questions; return the answers of every member."""
        ...

    def close(self) -> None:
        """Let the members go."""
        ...


class Team:
    """Members that are asked the same."""

    def __init__(self, members: Members):
        self.members = members
        self._waiting: list[list[tuple[str, tuple]]] = [[] for _ in members.chunks]

    def ask(self, name: str, *arguments: Any) -> list[Any]:
        """Ask all members the same question; return the answer of each."""
        return self.ask_each(name, [arguments] * len(self.members.chunks))

    def ask_each(self, name: str, arguments: Sequence[tuple]) -> list[Any]:
        """Ask every member a question with arguments of its own."""
        self.tell_each(name, arguments)
        return [answers[-1] for answers in self._ask()]

    def ask_both(self, first: tuple, second: tuple) -> tuple[list[Any], list[Any]]:
        """Ask all members two questions in one round; each is a name with its arguments."""
        self.tell(*first)
        self.tell(*second)
        answers = self._ask()
        return [of_member[-2] for of_member in answers], [of_member[-1] for of_member in answers]

    def _ask(self) -> list[list[Any]]:
        questions, self._waiting = self._waiting, [[] for _ in self._waiting]
        return self.members.ask(questions)

    def tell(self, name: str, *arguments: Any) -> None:
        """Let all members do something before the next question."""
        self.tell_each(name, [arguments] * len(self.members.chunks))

    def tell_each(self, name: str, arguments: Sequence[tuple]) -> None:
        """Let every member do something, with arguments of its own."""
        for waiting, own in zip(self._waiting, arguments, strict=True):
            waiting.append((name, tuple(own)))


class Threads:
    """Members in this process, one a thread; each computes its own chunks, one after the other."""

    def __init__(self, check: Callable[[Any], Any], chunks: Sequence[Any], n_members: int):
        n_members = max(min(n_members, len(chunks)), 1)
        self.chunks = dealt_out(len(chunks), n_members)
        self._members = []
        for own in self.chunks:
            blocks = [check(chunks[i].compute()) for i in own]
            each = (blocks.pop(0) for _ in own)  # and forgotten as soon as it is copied
            self._members.append(Member(each, sum(map(len, blocks))))

    def ask(self, questions: list[list[tuple[str, tuple]]]) -> list[list[Any]]:
        """Ask all members side by side."""
        answers: list[Any] = [None] * len(self._members)

        def answer(i: int) -> None:
            answers[i] = self._members[i].ask(questions[i])

        run_all([lambda i=i: answer(i) for i in range(len(self._members))])  # type: ignore[misc]
        return answers

    def close(self) -> None:
        """Forget the rows."""
        self._members = []


def dealt_out(n_chunks: int, n_members: int) -> list[list[int]]:
    """Return which chunks every member has, neighbours together."""
    edges = [n_chunks * i // n_members for i in range(n_members + 1)]
    return [list(range(edges[i], edges[i + 1])) for i in range(n_members)]
