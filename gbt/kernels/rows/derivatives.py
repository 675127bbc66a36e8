"""Derivatives: gradient and hessian of a loss in one pass over the rows; see ``gbt.losses``.

NumPy would take several passes, and a thread would wait for Python before each of them.
"""

import math

import numpy as np

from gbt.kernels.platform.compiling import kernel

GIVEN, HALF_SQUARED_ERROR, HALF_LOGISTIC = -1, 0, 1  # GIVEN: computed by the caller


@kernel
def write_derivatives(kind, y, f, gradient, hessian):
    """Write f - y and 1, or p - y and p q with p = 1 / (1 + exp(-f)) and q = 1 - p.

    The larger of p and q is 1 / (1 + e), e = exp(-|f|), and the smaller is e times that: at f = 40
    q is 4e-18, where 1 - p would be 0.

    kind                  int64     IN    of the loss, not ``GIVEN``
    y           (n,)      float64   IN    targets
    f           (T n,)    float64   IN    raw predictions, those before each of T trees end to end
    gradient    (T n,)    float64   OUT
    hessian     (T n,)    float64   OUT   (1,) where one number stands for all
    """
    n = np.uint64(y.shape[0])
    if kind == HALF_SQUARED_ERROR:
        hessian[:] = 1.0
    for first in range(np.uint64(0), np.uint64(f.shape[0]), n):
        if kind == HALF_SQUARED_ERROR:
            for i in range(n):
                gradient[first + i] = f[first + i] - y[i]
        elif kind == HALF_LOGISTIC:
            for i in range(n):
                raw = f[first + i]
                e = math.exp(-abs(raw))
                larger = 1.0 / (1.0 + e)
                smaller = e * larger
                p, q = (larger, smaller) if raw >= 0.0 else (smaller, larger)
                gradient[first + i] = (1.0 - y[i]) * p - y[i] * q
                hessian[first + i] = p * q
        else:
            raise ValueError("no loss of this kind")
