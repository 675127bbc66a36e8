"""Kernels compile wherever the package is installed, also where nothing can be written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config
from numba.core import caching

from gbt.kernels.compiling import kernel


def halve(x):
    return x / 2


def test_a_kernel_without_a_place_for_its_cache_still_works(monkeypatch):
    """A read-only installation and no home folder: no locator of Numba's finds a folder."""
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert kernel(halve)(3.0) == 1.5


def test_division_by_zero_gives_infinity():
    if not config.DISABLE_JIT:  # uncompiled, Python raises
        assert kernel(halve_of_inverse)(np.float64(0.0)) == np.inf


CALL_A_KERNEL = (
    "import numpy as np; from gbt.kernels.ranking import bin_rows;"
    " nothing = np.empty(0, dtype=np.int32), np.zeros(2, dtype=np.int64), 0;"
    " [bin_rows(*nothing, np.empty(n, dtype=np.uint8)[::step]) for n, step in {calls}]"
)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_compilation_is_announced_once_a_process_and_reading_from_disk_is_not(tmp_path):
    def said(calls):
        run = subprocess.run(
            [sys.executable, "-c", CALL_A_KERNEL.format(calls=calls)],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parent.parent,
        )
        assert run.stdout == ""
        return run.stderr

    both = "[(0, 1), (4, 2)]"  # two layouts, each compiled by itself
    assert re.fullmatch(r"gbt compiles its kernels, once .*gbt\.warmup.*\n", said(both))
    assert said(both) == ""


def halve_of_inverse(x):
    return 0.5 / x
