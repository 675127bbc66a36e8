"""Rows of weight 0 are as if they were not given, whatever is measured."""

from inspect import isfunction, signature

import numpy as np
import pytest

import attributions
from attributions import GlobalAttribution, tree_inner_rows
from tests.asserts import assert_same
from tests.greedy import GreedyClassifier, GreedyRegressor

RNG = np.random.default_rng(0)
N = 800
TRAINING, X = RNG.normal(size=(2, N, 3))
BY, GROUPS, WEIGHT = RNG.integers(0, 3, N), RNG.integers(0, 80, N), RNG.integers(0, 3, N) * 0.5
WEIGHT[GROUPS == 7] = 0.0  # a group that goes
FIT, NEW = (Z[:, 0] * (Z[:, 1] > 0) + Z[:, 2] + 0.5 * RNG.normal(size=N) for Z in (TRAINING, X))
SHALLOW = {"n_estimators": 8, "max_depth": 3}
MODELS = {
    "squares": GreedyRegressor(**SHALLOW).fit(TRAINING, FIT),
    "odds": GreedyClassifier(**SHALLOW).fit(TRAINING, FIT > 0),
    "a loss in NumPy": GreedyRegressor(loss="pseudo_huber", **SHALLOW).fit(TRAINING, FIT),
}


def by_label(model, X, y, by, **beside):
    result = attributions.held_out_gain(model, X, y, by=by, **beside)
    return [*result.results, result.changes(0), result.trend()]


def halves(by, *rows, **beside):
    return [
        (*(of[half] for of in rows), {name: of[half] for name, of in beside.items()})
        for half in (by == 0, by > 0)
    ]


def loss_change(model, X, y, by, **beside):
    before, after = ((*rows, *own.values()) for *rows, own in halves(by, X, y, **beside))
    return attributions.loss_change(model, before, after)


def unbiased_gain(model, X, y, by, **beside):
    (*training, of_fit), (*rows, own) = halves(by, X, y, **beside)
    beside = {f"{name}_valid": of for name, of in own.items()}
    beside["sample_weight_train"] = of_fit["sample_weight"]
    return attributions.unbiased_gain(model, *training, *rows, **beside)


MEASURES = {
    "by_label": by_label,
    "loss_change": loss_change,
    "unbiased_gain": unbiased_gain,
    "absolute": lambda model, X, y, by, **beside: attributions.absolute(model, X, **beside),
    "compare": lambda model, X, y, by, **beside: attributions.compare(
        model, model.ensemble_.truncate(5), X, y, **beside
    ),
    "for_whom": lambda model, X, y, by, **beside: attributions.for_whom(
        model, X, y, "x0", **beside
    ),
    "from_rows": lambda model, X, y, by, **beside: GlobalAttribution.from_rows(
        tree_inner_rows(model, X, y), **beside
    ),
}
OF_FITS = {"local_mdi", "mdi_plus", "cross_fit"}  # whose rows are those that are fitted
for name in set(attributions.__all__) - OF_FITS - set(MEASURES):
    measure = getattr(attributions, name)
    if isfunction(measure) and "sample_weight" in signature(measure).parameters:
        MEASURES[name] = lambda model, X, y, by, measure=measure, **beside: measure(
            model, X, y, **beside
        )


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("name", sorted(MEASURES))
def test_what_is_measured_is_that_of_the_other_rows(name, kind):
    model, y = MODELS[kind], NEW > 0 if kind == "odds" else NEW

    def asked(places, **beside):
        beside = {name: of[places] for name, of in beside.items()}
        result = MEASURES[name](model, X[places], y[places], BY[places], **beside)
        return result if isinstance(result, list) else [result]

    for beside in ({"sample_weight": WEIGHT}, {"sample_weight": WEIGHT, "groups": GROUPS}):
        results = asked(slice(None), **beside), asked(WEIGHT > 0, **beside)
        for given, expected in zip(*results, strict=True):
            for field, value in numbers_of(expected).items():
                assert_same(numbers_of(given)[field], value)


def numbers_of(result):
    """Return all numbers of a result, those of the results in it, too."""
    found = {}
    for name, value in vars(result).items():
        if hasattr(value, "values") and hasattr(value, "__dict__"):
            found |= {f"{name}.{own}": of for own, of in numbers_of(value).items()}
        elif np.asarray(value).dtype.kind in "bifU":
            found[name] = value
    return found
