"""Derivatives: gradient and hessian of a loss in one pass over the rows; see ``gbt.losses``.

NumPy would take several passes, and between them a thread would wait for Python each time.
"""

import math

from gbt.kernels.compiling import kernel

HALF_SQUARED_ERROR, HALF_LOGISTIC = 0, 1


@kernel
def write_derivatives(kind, y, f, gradient, hessian):
    """Write f - y and 1, or p - y and p q with p = 1 / (1 + exp(-f)) and q = 1 - p.

    Of p and q the larger is 1 / (1 + e), e = exp(-|f|), and the smaller e times that: at f = 40 q
    is 4e-18, where 1 - p would be 0.

    kind                int64     IN    of the loss, one of the two constants
    y         (n,)      float64   IN    targets
    f         (T, n)    float64   IN    raw predictions, those before each of T trees
    gradient  (T, n)    float64   OUT
    hessian   (T, n)    float64   OUT
    """
    for m in range(f.shape[0]):
        if kind == HALF_SQUARED_ERROR:
            for i in range(y.shape[0]):
                gradient[m, i] = f[m, i] - y[i]
                hessian[m, i] = 1.0
        else:
            for i in range(y.shape[0]):
                e = math.exp(-abs(f[m, i]))
                larger = 1.0 / (1.0 + e)
                smaller = e * larger
                p, q = (larger, smaller) if f[m, i] >= 0.0 else (smaller, larger)
                gradient[m, i] = (1.0 - y[i]) * p - y[i] * q
                hessian[m, i] = p * q
