"""One line on standard error while a long fit runs: round, metric, time spent and time left."""

import sys
import time

SECONDS_BETWEEN_LINES = 0.5


class Progress:
    """A context that rewrites one line, at most twice a second, if ``verbose`` is not 0."""

    def __init__(self, n_rounds: int, verbose: int):
        self.n_rounds = n_rounds
        self.verbose = verbose
        self.line = ""

    def __enter__(self):
        self.started = self.shown = time.monotonic()
        return self

    def __exit__(self, *exception):
        if self.line:
            sys.stderr.write("\n")

    def show(self, m: int, loss: float | None, metric: str) -> None:
        """Say that round ``m``, counted from 0, is done."""
        now = time.monotonic()
        is_last = m + 1 == self.n_rounds
        if not self.verbose or (now - self.shown < SECONDS_BETWEEN_LINES and not is_last):
            return
        self.shown = now
        spent = now - self.started
        left = spent / (m + 1) * (self.n_rounds - m - 1)
        score = "" if loss is None else f"  {metric} {loss:.6g}"
        line = f"round {m + 1}/{self.n_rounds}{score}  {spent:.1f} s, {left:.1f} s left"
        sys.stderr.write(f"\r{line:<{len(self.line)}}")
        sys.stderr.flush()
        self.line = line
