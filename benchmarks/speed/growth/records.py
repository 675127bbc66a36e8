"""Measured numbers as records, (part, series, size, repeat, quantity, value), and their tables."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[3]


def median(values) -> float:
    """Return the median as a plain float."""
    return float(np.median(values))


def select(records, part, series=None, quantity=None, size=None) -> list[float]:
    """Return the values of the records (part, series, size, repeat, quantity, value) asked for."""
    asked = part, series, size, quantity
    return [
        record[-1]
        for record in records
        if all(a in (None, r) for a, r in zip(asked, (*record[:3], record[4]), strict=True))
    ]


def run(*arguments: str, python=sys.executable, cwd=ROOT, **environment: str) -> str:
    """Return what a Python process prints."""
    how = {"stdout": subprocess.PIPE, "text": True, "check": True}
    done = subprocess.run([python, *arguments], cwd=cwd, env=os.environ | environment, **how)
    return done.stdout


def number(value: float) -> str:
    """Write three significant digits."""
    return f"{value:#.3g}".rstrip(".") if value >= 1e-3 else f"{value:.1e}"
