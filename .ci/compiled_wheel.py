"""Check an installed wheel with machine code: it compiles nothing, and computes what others do.

    python compiled_wheel.py

The program below runs twice, each time with an empty folder for machine code: with the code that
came with the package, and with what is compiled here for this processor.
"""

import os
import subprocess
import sys
import tempfile

from llvmlite import binding

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


def outcome(**processor):
    """Return a digest of all numbers, and how many kernels were compiled."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", PROGRAM],
            env=os.environ | processor | {"NUMBA_CACHE_DIR": folder},
            stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
    digest, n_compiled = run.stdout.split()
    return digest, int(n_compiled)


# Who asks for a processor by name gets the code of that and none that was shipped.
this_processor = {
    "NUMBA_CPU_NAME": binding.get_host_cpu_name(),
    "NUMBA_CPU_FEATURES": binding.get_host_cpu_features().flatten(),
}
shipped, native = outcome(), outcome(**this_processor)
assert shipped[1] == 0, f"{shipped[1]} kernels were compiled although code came with the package"
assert native[1] > 20, "nothing was compiled, so nothing was compared"
assert shipped[0] == native[0], "shipped code computes other numbers"
