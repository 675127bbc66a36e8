"""The kernels that take longest to compile, compiled by two processes before the tests begin.

    python -m tests.first_calls

Where tests run in two processes, both would need the same kernels at the same time, and both would
compile them. So pytest lets this run before it starts the two (``tests/conftest.py``): two
processes make the calls below, each takes the next call when it is done with one, and what they
compile is then on disk for the tests. The calls that compile longest come first. Kernels that
take a second or two are left to the tests.
"""

import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

import attributions
from gbt import GBTClassifier, GBTRegressor
from tests.tree_cases import example_1

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.integers(5, size=60), RNG.normal(size=(60, 2))])
Y = X[:, 1] + (X[:, 0] % 2)
FITTED, NEW = slice(None, 40), slice(40, None)


def greedy_fits():
    for estimator, y in ((GBTRegressor, Y), (GBTClassifier, Y > 0)):
        estimator(n_estimators=2, splitter="greedy").fit(X, y).predict(X)


def judged_fits():
    GBTRegressor(n_estimators=2, splitter="unbiased").fit(X, Y).predict(X)


def of_levels():
    model = HistGradientBoostingRegressor(
        max_iter=2, min_samples_leaf=5, categorical_features=[0], early_stopping=False
    )
    return model.fit(X[FITTED], Y[FITTED])


def shapley_values():
    ensemble, rows, _ = example_1(split_on=0)
    attributions.tree_shap(ensemble, rows)


def shapley_values_of_levels():
    attributions.tree_shap(of_levels(), X)


def shapley_values_of_pairs():
    ensemble, rows, _ = example_1(split_on=0)
    attributions.tree_shap_pairs(ensemble, rows)


def measures_of_new_rows():
    model = HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=5, early_stopping=False)
    for each in (model.fit(X[FITTED], Y[FITTED]), of_levels()):
        attributions.held_out_gain(each, X[NEW], Y[NEW])
        attributions.tree_inner(each, X[NEW], Y[NEW])
        attributions.unbiased_gain(each, X[FITTED], Y[FITTED], X[NEW], Y[NEW])


def stump_models():
    forest = RandomForestRegressor(2, max_depth=3, random_state=0).fit(X, Y)
    for linear_model in ("ridge", "elastic_net"):
        attributions.local_mdi(forest, X, Y, linear_model=linear_model)
    attributions.mdi_plus(forest, X, Y)


LONGEST_FIRST = (
    greedy_fits, shapley_values, shapley_values_of_levels, judged_fits, stump_models,
    measures_of_new_rows, shapley_values_of_pairs,
)  # fmt: skip


def _silently(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows that are few; nobody reads these results
        call()


def compile_in_two_processes():
    """Make all calls in two processes, and wait for them; what fails here, a test reports."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        for call in LONGEST_FIRST:
            processes.submit(_silently, call)


if __name__ == "__main__":
    compile_in_two_processes()
