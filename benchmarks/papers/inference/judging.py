"""What every part shares: models, the tests of a model, and how false positives are counted."""

import scipy.stats

from attributions import held_out_gain, partial_inner, permutation, tree_inner
from benchmarks.study import ours

P_VALUE = 0.05
FALSE_DISCOVERY_RATE = 0.1

MEASURES = {
    "tree_inner": tree_inner,
    "partial_inner": partial_inner,
    "permutation": permutation,
    "held_out_gain": held_out_gain,
}


def model(size: str, is_class: bool = False, n_estimators: int = 300, **options):
    """Return a model; a quick one has few trees."""
    return ours(is_class, n_estimators=n_estimators if size == "full" else 5, **options)


def measured(name: str, model, X, y, rng, **options):
    """Return a measure's result."""
    if name == "permutation":
        options["random_state"] = int(rng.integers(2**31))
    return MEASURES[name](model, X, y, n_jobs=1, **options)


def discovered(p_values):
    """Return what Benjamini and Hochberg's procedure finds."""
    return scipy.stats.false_discovery_control(p_values) <= FALSE_DISCOVERY_RATE


def counted(result, is_null) -> dict[str, float]:
    """Count what is found falsely, and where the features without effect lie.

    Features that no tree uses count: they are never found.
    """
    p = result.p_values()
    found = discovered(p)
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
