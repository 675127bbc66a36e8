"""Check an installed wheel with machine code: it compiles nothing, and computes what others do.

    python compiled_wheel.py

The program below runs twice: with an empty folder for machine code, so that there is only what came
with the package, and without that, with what is compiled for this processor, now or by an earlier
process of this user.
"""

import os
import subprocess
import sys
import tempfile

from gbt.kernels.platform.shipping import SHIPPED

PROGRAM = """
import hashlib
import numpy as np
import attributions, gbt
from gbt.kernels.platform.announcement import announcer

rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 8))
X[::7, 2] = np.nan
targets = np.nan_to_num(X[:, 0] * X[:, 1]) + rng.normal(size=2000), X[:, 3] > rng.normal(size=2000)
digest = hashlib.sha256()
for rows in (X, X.astype(np.float32)):
    for estimator, y in zip((gbt.GBTRegressor, gbt.GBTClassifier), targets):
        for splitter in ("unbiased", "greedy"):
            model = estimator(n_estimators=20, splitter=splitter, random_state=0)
            model.fit(rows[:1000], y[:1000])
            digest.update(model.predict(rows))
            found = attributions.held_out_gain(model, rows[1000:], y[1000:])
            digest.update(found.values), digest.update(found.standard_error)
            digest.update(np.ascontiguousarray(attributions.tree_shap(model, rows[1000:]).values))
print(digest.hexdigest(), announcer.n_compiled)
"""


def outcome(**folder):
    """Return a digest of all numbers, and how many kernels were compiled."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        env=os.environ | folder, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    digest, n_compiled = run.stdout.split()
    return digest, int(n_compiled)


with tempfile.TemporaryDirectory() as empty:
    shipped, n_compiled = outcome(NUMBA_CACHE_DIR=empty)
assert n_compiled == 0, f"{n_compiled} kernels were compiled although code came with the package"
aside = SHIPPED.rename(SHIPPED.with_name("aside"))
native, _ = outcome()
aside.rename(SHIPPED)
assert shipped == native, "shipped code computes other numbers"
