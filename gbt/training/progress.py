"""Progress on standard error while a long fit runs: round, metric, time spent and time left."""

import sys
import time

SECONDS_BETWEEN_LINES = 0.5


class Progress:
    """A context that prints how far a fit is, at most twice a second, if ``verbose`` is not 0.

    On a terminal it rewrites one line; in a file or a notebook every message is a line of its own.
    The last round is always printed, whatever ended the fit.
    """

    def __init__(self, n_rounds: int, verbose: int):
        self.n_rounds = n_rounds
        self.verbose = verbose
        self._line = self._written = ""

    def __enter__(self) -> "Progress":
        self._started = self._shown = time.monotonic()
        self._is_terminal = sys.stderr.isatty()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._line != self._written:
            self._write()
        if self._written and self._is_terminal:
            sys.stderr.write("\n")

    def show(self, m: int, scores: str) -> None:
        """Print that round ``m``, counted from 0, is done, followed by the text ``scores``."""
        if not self.verbose:
            return
        now = time.monotonic()
        spent = now - self._started
        left = spent / (m + 1) * (self.n_rounds - m - 1)
        self._line = f"round {m + 1}/{self.n_rounds}{scores}  {spent:.1f} s, {left:.1f} s left"
        if now - self._shown >= SECONDS_BETWEEN_LINES:
            self._shown = now
            self._write()

    def _write(self) -> None:
        if self._is_terminal:
            sys.stderr.write(f"\r{self._line:<{len(self._written)}}")
        else:
            sys.stderr.write(f"{self._line}\n")
        sys.stderr.flush()
        self._written = self._line
