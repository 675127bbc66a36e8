"""What numbers depend on beside the seed: versions of this library and of all that studies fit."""

import platform
from importlib.metadata import PackageNotFoundError, version

import gbt

OTHERS = (
    "numpy", "scipy", "numba", "scikit-learn", "pandas", "xgboost", "lightgbm", "catboost", "shap",
    "shapiq", "lime", "imodels", "chimeraboost", "perpetual",
)  # fmt: skip


def versions() -> dict[str, str]:
    """Return the version of each program that is installed."""
    found = {"gbt": gbt.__version__}
    for name in OTHERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a peer, which studies then leave out
            continue
    return {**found, "Python": platform.python_version()}
