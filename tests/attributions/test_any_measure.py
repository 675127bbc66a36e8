"""What holds for every measure: threads change nothing, nor do float32 and names of classes."""

from dataclasses import replace

import numpy as np
import pytest

from gbt import GBTClassifier, GBTRegressor
from gbt.parallel.in_order import ROWS_PER_BLOCK
from tests.asserts import assert_same
from tests.attributions.measures import JUDGING, MEASURES, all_but, judging

N, N_NEW = 300, 3 * ROWS_PER_BLOCK + 7
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N + N_NEW, 4)).astype(np.float32).astype(np.float64)
X[::7, 0] = np.nan
Y = np.nan_to_num(X[:, 0]) + RNG.normal(size=len(X))
TARGETS = {"numbers": Y, "two classes": (Y > 0) * 1, "counts": np.floor(np.exp(Y))}
GROUPS = np.arange(N_NEW) % 41
ASKED = {
    **{name: MEASURES[name] for name in all_but("given_others", "tree_shap_pairs")},
    **{f"{name}, groups": judging(name, groups=GROUPS) for name in ("held_out_gain", "tree_inner")},
    "held_out_gain, moments": judging("held_out_gain", second_moments=True, per_tree=True),
    "tree_inner, trees": judging("tree_inner", ifa="saabas", per_tree=True),
    "tree_inner by leaf": judging("tree_inner", per_tree=True, standard_error=False),
    "partial_inner, trees": judging("partial_inner", per_tree=True),
}
ARRAYS = ("values", "per_tree", "standard_error", "base_values", "second_moments", "kurtosis")


def fitted(kind):
    estimator = GBTClassifier() if "classes" in kind else GBTRegressor()
    loss = {"loss": "poisson"} if kind == "counts" else {}
    asked = {"n_estimators": 4, "max_depth": 4, "splitter": "greedy", **loss}
    return estimator.set_params(**asked).fit(X[:N], TARGETS[kind][:N])


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("name", ASKED)
@pytest.mark.filterwarnings("ignore::attributions.LevelWarning")
def test_threads_and_float32_change_nothing(name, kind, monkeypatch):
    monkeypatch.setattr("attributions.walk.rows_at_spots.BLOCKS_PER_SUM", 1)
    if name == "local_mdi" and kind == "counts":
        pytest.skip("its trees are of the squared error or of classes")
    model, y, rows = fitted(kind), TARGETS[kind], X[N:]
    one, two, seven = (
        ASKED[name](model, table, y[N:], (X[:N], y[:N]), n_jobs=n_jobs)
        for table, n_jobs in ((rows, 1), (rows, 2), (rows.astype(np.float32), 7))
    )
    for other in (two, seven):
        for array in ARRAYS:
            assert_same(getattr(other, array, None), getattr(one, array, None))


@pytest.mark.parametrize("name", [*JUDGING, "unbiased_gain"])
def test_labels_are_those_of_the_classifier(name):
    of, y, words = MEASURES[name], TARGETS["two classes"], np.where(Y > 0, "yes", "no")
    model, rows = fitted("two classes"), X[N : 2 * N]
    ensemble = replace(model.ensemble_, seen_rows=None)
    named = GBTClassifier(**model.get_params()).fit(X[:N], words[:N])
    expected = of(ensemble, rows, y[N : 2 * N], (X[:N], y[:N])).values
    for one, labels in ((ensemble, y.astype(bool)), (named, words)):
        assert_same(of(one, rows, labels[N : 2 * N], (X[:N], labels[:N])).values, expected)
    maybe = np.where(Y > 0, "yes", "maybe")[N : 2 * N]
    for one, labels, message in (
        (named, maybe, r"'maybe'.*'no' from 'yes'"),
        (ensemble, 2 * y[N : 2 * N] - 1, "-1"),
        (ensemble, words[N : 2 * N], "'no'"),
    ):
        training = X[:N], (words if one is named else y)[:N]
        with pytest.raises(ValueError, match=message):
            of(one, rows, labels, training)
