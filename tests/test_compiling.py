"""Kernels compile wherever the package is installed, also where nothing can be written."""

import numpy as np
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


def halve_of_inverse(x):
    return 0.5 / x
