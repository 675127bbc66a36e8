"""What every part shares: the tests of a model, and how false positives are counted."""

import time

import scipy.stats

from attributions import held_out_gain, partial_inner, permutation, tree_inner
from gbt import GBTClassifier, GBTRegressor

P_VALUE = 0.05
FALSE_DISCOVERY_RATE = 0.1

MEASURES = {
    "tree_inner": tree_inner,
    "partial_inner": partial_inner,
    "permutation": permutation,
    "held_out_gain": held_out_gain,
}


def regressor(size: str, **options) -> GBTRegressor:
    """Return a model of one thread, of greedy splits; a quick one has few trees."""
    return GBTRegressor(**_at_size(size, options))


def classifier(size: str, **options) -> GBTClassifier:
    """Return a model of one thread, of greedy splits; a quick one has few trees."""
    return GBTClassifier(**_at_size(size, options))


def _at_size(size, options):
    n_trees = options.pop("n_estimators", 300)
    n_trees = n_trees if size == "full" else 5
    return {"n_estimators": n_trees, "n_jobs": 1, "splitter": "greedy", **options}


def measured(name: str, model, X, y, rng, **options):
    """Return a measure's result, and the seconds that it took."""
    if name == "permutation":
        options["random_state"] = int(rng.integers(2**31))
    start = time.perf_counter()
    result = MEASURES[name](model, X, y, n_jobs=1, **options)
    return result, time.perf_counter() - start


def counted(result, is_null) -> dict[str, float]:
    """Count what is found falsely, and where the features without effect lie.

    Features that no tree uses count: they are never found.
    """
    p = result.p_values()
    found = scipy.stats.false_discovery_control(p) <= FALSE_DISCOVERY_RATE
    used = is_null & (result.standard_error > 0)
    z = result.values[used] / result.standard_error[used]
    return {
        "n_null": int(is_null.sum()),
        "false": int((p[is_null] < P_VALUE).sum()),
        "false_bh": int(found[is_null].sum()),
        "n_other": int((~is_null).sum()),
        "true": int((p[~is_null] < P_VALUE).sum()),
        "true_bh": int(found[~is_null].sum()),
        "sum_z": float(z.sum()),
        "n_used": int(used.sum()),
    }


def as_code(method: str) -> str:
    """Return a method as tables show it: its function in code, then how that was called."""
    function, comma, rest = method.partition(",")
    return f"`{function}`{comma}{rest}"
