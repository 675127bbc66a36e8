"""What users of other libraries ask for by the names they know, and what they are told."""

import inspect
import re
from importlib import import_module

import numpy as np
import pytest
from sklearn.metrics import get_scorer_names

from gbt import GBTClassifier, GBTRegressor
from gbt.estimators.other_names import (
    OTHER_ARGUMENTS,
    OTHER_LOSSES,
    OTHER_METRICS,
    OTHER_NAMES,
    says_what_serves,
)
from tests.greedy import GreedyClassifier, GreedyRegressor

X = np.random.default_rng(0).normal(size=(60, 3))
y = X[:, 0]
BOTH = pytest.mark.parametrize("estimator", [GBTRegressor, GBTClassifier])

OF_FIT = {
    "base_margin": "The nearest here is init_score",
    "xgb_model": "warm_start=True, a parameter of the constructor, adds trees",
    "group": "The nearest here is groups",
    "callbacks": "callbacks is a parameter of the constructor",
    "eval_metric": r"eval_metric is .* and set_params\(eval_metric=\.\.\.\) changes it",
    "cat_features": "categorical_features is a parameter of the constructor",
    "sample_weights": r"(Did you mean|The nearest here is) sample_weight",
    "sample_weight_eval_set": r"weights of an evaluation set stand behind its targets: eval_set=\[",
    "X_valid": "(Did you mean|The nearest here is) X_val",
    "nonsense": "It takes X, y, sample_weight, eval_set, init_score",
}
OF_PREDICT = {
    "output_margin": r"ensemble_\.raw_predict\(X\), or decision_function\(X\) of a classifier",
    "pred_contribs": r"attributions\.tree_shap\(model, X\)",
    "base_margin": "(The nearest here is init_score|it is an argument of fit)",
    "thread_count": "n_jobs is a parameter of the constructor",
    "sample_weight": "it is an argument of fit",
    "nonsense": "It takes X",
}


@pytest.mark.parametrize(("name", "hint"), OF_FIT.items())
@BOTH
def test_fit_says_what_serves_in_place_of_an_argument(estimator, name, hint):
    told = rf"^{estimator.__name__}\.fit takes no '{name}'\. (Here )?{hint}.*[.?]$"
    with pytest.raises(TypeError, match=told):
        estimator().fit(X, y > 0, **{name: y})


@pytest.mark.parametrize(("name", "hint"), OF_PREDICT.items())
@pytest.mark.parametrize(
    ("estimator", "method"),
    [(GBTRegressor, "predict"), (GBTRegressor, "apply"), (GBTClassifier, "staged_predict_proba")],
)
def test_predictions_say_what_serves_in_place_of_an_argument(estimator, method, name, hint):
    told = rf"^{estimator.__name__}\.{method} takes no '{name}'\. (Here )?{hint}.*[.?]$"
    with pytest.raises(TypeError, match=told):
        getattr(estimator(), method)(X, **{name: 3})


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: GreedyRegressor().fit(X), "GBTRegressor.fit(X, y, sample_weight, eval_set"),
        (
            lambda: GreedyClassifier().fit(X, y, None, [], None, X, y, y, None, None, 3),
            "GBTClassifier.fit(X, y, sample_w",
        ),
        (lambda: GreedyRegressor().predict(), "GBTRegressor.predict(X, init_score): missing a"),
        (lambda: GreedyRegressor().save(), "GBTRegressor.save(path): missing a required"),
    ],
)
def test_arguments_too_many_or_too_few_are_those_of_the_users_class(call, told):
    with pytest.raises(TypeError, match="^" + re.escape(told)):
        call()


def test_methods_show_their_own_signature_and_their_own_words():
    @says_what_serves
    def fit(self, X, y=3):
        """Fit."""

    assert str(inspect.signature(fit)) == "(self, X, y=3)"
    assert (fit.__name__, fit.__doc__) == ("fit", "Fit.")
    assert list(inspect.signature(GBTRegressor.fit).parameters) == [
        "self", "X", "y", "sample_weight", "eval_set", "init_score", "X_val", "y_val",
        "sample_weight_val", "groups", "eval_groups",
    ]  # fmt: skip


def test_every_public_method_says_what_serves():
    for estimator in (GBTRegressor, GBTClassifier):
        for name, method in inspect.getmembers(estimator, inspect.isfunction):
            if not name.startswith("_") and method.__module__.startswith("gbt."):
                has_arguments = len(inspect.signature(method).parameters) > 1
                is_of_parameters = name in ("get_params", "set_params")
                assert hasattr(method, "__wrapped__") == has_arguments or is_of_parameters


@pytest.mark.parametrize(
    "name", ["mape", "smape", "mase", "mean_absolute_percentage_error", "log_loss", "xauc"]
)
def test_losses_that_are_no_loss_here_are_told_no_other(name):
    with pytest.raises(ValueError, match=rf"^loss must be None, one of .*; got '{name}'\.$"):
        GreedyRegressor(loss=name).fit(X, y)


@pytest.mark.parametrize(
    ("name", "here"), [(other, here) for here, others in OTHER_METRICS.items() for other in others]
)
def test_metrics_of_other_libraries_are_told_what_scikit_learn_calls_them(name, here):
    assert here in get_scorer_names()
    told = rf"^eval_metric must be None, .*; got '{name}'\. The nearest here is '{here}'\.$"
    with pytest.raises(ValueError, match=told):
        GreedyRegressor(eval_metric=name).fit(X, y)


@pytest.mark.parametrize("table", [OTHER_NAMES, OTHER_ARGUMENTS, OTHER_LOSSES, OTHER_METRICS])
def test_every_name_of_others_is_told_one_thing_and_is_none_of_ours(table):
    others = [name for names in table.values() for name in names]
    assert len(others) == len(set(others))
    if table is not OTHER_METRICS:
        assert not {*others} & {*GreedyClassifier().get_params(), "loss"}


def test_whatever_a_sentence_names_is_there():
    """Names with a dot, names that are called, and parameters that are set."""
    sentences = " ".join(here for here in [*OTHER_NAMES, *OTHER_ARGUMENTS] if " " in here)
    dotted = set(re.findall(r"\b((?:gbt|attributions)(?:\.\w+)+)", sentences))
    assert {"attributions.tree_shap", "attributions.tree_inner", "gbt.losses.Quantile"} <= dotted
    for name in dotted:
        module, _, thing = name.rpartition(".")
        assert callable(getattr(import_module(module), thing)), name
    for call in re.findall(r"gbt\.[\w.]+\(\w+=[\d.]+\)", sentences):
        module, name, argument, value = re.fullmatch(r"(.*)\.(\w+)\((\w+)=(.*)\)", call).groups()
        loss = getattr(import_module(module), name)(**{argument: float(value)})
        assert GreedyRegressor(1, loss=loss).fit(X, y - y.min() + 1).n_features_in_ == 3

    model = GreedyClassifier(n_estimators=2).fit(X, y > 0)
    for method in ("ensemble_.truncate", "ensemble_.raw_predict", "staged_predict_proba", "apply"):
        assert f"{method}(" in sentences
    plain = re.sub(r"(gbt|attributions)\.[\w.]+(\([^)]*\))?", "", sentences)
    for chain in re.findall(r"(?<!\.)\b((?:ensemble_\.)?\w+)\(", plain):
        thing = model
        for part in chain.split("."):
            thing = getattr(thing, part)
        assert callable(thing), chain
    set_here = {*re.findall(r"\b(\w+)=", plain)}
    assert {"warm_start", "splitter"} <= set_here
    assert set_here <= {*model.get_params(), "loss", "eval_set"}


def test_a_classifier_says_whose_loss_a_name_is():
    with pytest.raises(ValueError, match=r"got 'cox'\. 'cox' is a loss of GBTRegressor\.$"):
        GBTClassifier(loss="cox").fit([[0.0], [1.0]], [0, 1])
