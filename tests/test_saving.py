"""Model files: exact round trips, one layout for good, and no damaged file that loads."""

import copy
import json
import math
import os
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gbt
from gbt import Ensemble, GBTClassifier, GBTRegressor
from gbt.losses import LOSSES
from gbt.model import NODE_DTYPES, InvalidModelError, Tree
from gbt.saving import load, save
from gbt.splitting.greedy import Greedy
from tests.asserts import assert_close, assert_same, assert_valid_ensemble
from tests.strategies import ensembles, rows_for

# Two files as version 1 writes them. They must load, and be written, the same for ever.
#
#        a <= 2.5 or missing                  0.0625
#          /          \
#       -0.5        b <= -1.0
#                    /     \
#                 0.125    1.0
REGRESSOR = (
    '{"format": "gbt", "version": 1, "kind": "GBTRegressor", '
    '"ensemble": {"base_score": 10.0, "learning_rate": 0.5, "reg_lambda": 1.0, '
    '"loss": "half_squared_error", "feature_names": ["a", "b"], "input_dtype": "float64", '
    '"feature": [0, -1, 1, -1, -1, -1], "threshold": [2.5, 0.0, -1.0, 0.0, 0.0, 0.0], '
    '"left": [1, -1, 3, -1, -1, -1], "right": [2, -1, 4, -1, -1, -1], '
    '"missing_left": [true, false, false, false, false, false], '
    '"sum_gradient": [1.0, 3.0, -2.0, -1.0, -1.0, 0.1], '
    '"sum_hessian": [5.0, 2.0, 3.0, 1.0, 2.0, 5.0], "n_samples": [5, 2, 3, 1, 2, 5], '
    '"gain": [3.8333333333333335, 0.0, 0.25, 0.0, 0.0, 0.0], '
    '"value": [0.0, -0.5, 0.25, 0.125, 1.0, 0.0625], "tree_offset": [0, 5, 6]}, '
    '"estimator": {"parameters": {"base_score": 10, "categorical_features": "from_dtype", '
    '"colsample": 1.0, "early_stopping_rounds": 2, "learning_rate": 0.5, "max_depth": null, '
    '"max_leaves": 3, "min_child_weight": 1.0, "min_samples_leaf": 1, "min_split_gain": 0.0, '
    '"n_estimators": 9, "n_jobs": null, "random_state": 4, "reg_lambda": 1.0, '
    '"splitter": "greedy", "subsample": 0.5, "validation_fraction": 0.1, "verbose": 0}, '
    '"has_feature_names": true, "evals_result": {"eval_0": [1.5, 1e-17, 0.3, 2.0]}, '
    '"sampling": {"seed": 7, "subsample": 0.5, "n_rows": 12, "left_out": [0, 11]}}}'
)
# One split, x0 <= 0.1, with log-odds of -log 3 to its left and log 3 to its right.
CLASSIFIER = (
    '{"format": "gbt", "version": 1, "kind": "GBTClassifier", '
    '"ensemble": {"base_score": -0.0, "learning_rate": 0.1, "reg_lambda": 0.0, '
    '"loss": "half_logistic", "feature_names": ["x0"], "input_dtype": "float64", '
    '"feature": [0, -1, -1], "threshold": [0.1, 0.0, 0.0], '
    '"left": [1, -1, -1], "right": [2, -1, -1], "missing_left": [false, false, false], '
    '"sum_gradient": [0.0, 1.0, -1.0], "sum_hessian": [1.0, 0.5, 0.5], "n_samples": [4, 2, 2], '
    '"gain": [4.0, 0.0, 0.0], "value": [0.0, -1.0986122886681098, 1.0986122886681098], '
    '"tree_offset": [0, 3]}, '
    '"estimator": {"parameters": {"base_score": null, "categorical_features": "from_dtype", '
    '"colsample": 1.0, "early_stopping_rounds": null, "learning_rate": 0.1, "max_depth": 6, '
    '"max_leaves": null, "min_child_weight": 1.0, "min_samples_leaf": 1, "min_split_gain": 0.0, '
    '"n_estimators": 1, "n_jobs": null, "random_state": null, "reg_lambda": 0.0, '
    '"splitter": "greedy", "subsample": 1.0, "validation_fraction": 0.1, "verbose": 0}, '
    '"has_feature_names": false, "evals_result": {}, '
    '"sampling": {"seed": 0, "subsample": 1.0, "n_rows": 4, "left_out": []}, '
    '"classes": {"dtype": "str", "values": ["no", "yes"]}}}'
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("models") / "model.json"


def through_file(model, path):
    save(model, path)
    return load(path)


def load_text(text, path):
    path.write_text(text, encoding="utf-8")
    return load(path)


def load_document(document, path):
    return load_text(json.dumps(document), path)


def assert_same_ensemble(actual, expected):
    for name in [*NODE_DTYPES, "tree_offset"]:
        assert_same(getattr(actual, name), getattr(expected, name))
        assert getattr(actual, name).dtype == getattr(expected, name).dtype
    for name in ("base_score", "learning_rate", "reg_lambda", "loss", "feature_names"):
        assert getattr(actual, name) == getattr(expected, name)
    assert actual.input_dtype == expected.input_dtype


# The layout -----------------------------------------------------------------------------------


def test_a_regressor_of_version_1(path):
    model = load_text(REGRESSOR, path)
    X = [[2.5, 0.0], [3.0, -1.0], [3.0, 0.0], [np.nan, 0.0], [3.0, np.nan]]
    names = np.array(["a", "b"], dtype=object)
    assert type(model) is GBTRegressor
    assert_same(model.feature_names_in_, names)
    assert_same(model.ensemble_.raw_predict(X), [9.5625, 10.1875, 11.0625, 9.5625, 11.0625])
    assert_same(model.ensemble_.apply(X), [[1, 0], [3, 0], [4, 0], [1, 0], [4, 0]])
    assert model.n_features_in_ == 2
    assert model.best_iteration_ == 1
    assert model.evals_result_ == {"eval_0": [1.5, 1e-17, 0.3, 2.0]}
    assert model.max_depth is None
    assert model.early_stopping_rounds == 2
    assert set(model.sampled_rows(1)) < set(range(1, 11))
    assert len(model.sampled_rows(1)) == 5
    save(model, path)
    assert path.read_text() == REGRESSOR


def test_a_classifier_of_version_1(path):
    model = load_text(CLASSIFIER, path)
    assert type(model) is GBTClassifier
    X = [[0.1], [np.nextafter(0.1, 1)], [np.nan]]
    assert_same(model.predict(X), ["no", "yes", "yes"])
    assert_same(model.decision_function(X), [-math.log(3), math.log(3), math.log(3)])
    assert_close(model.predict_proba(X), [[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]], terms=1.0)
    assert not hasattr(model, "feature_names_in_")
    assert_same(model.sampled_rows(0), np.arange(4))
    save(model, path)
    assert path.read_text() == CLASSIFIER


def test_an_ensemble_has_the_same_layout(path):
    ensemble = load_text(REGRESSOR, path).ensemble_
    save(ensemble, path)
    document = json.loads(REGRESSOR)
    del document["estimator"]
    assert path.read_text() == json.dumps({**document, "kind": "Ensemble"})
    assert isinstance(load(path), Ensemble)


# Round trips ----------------------------------------------------------------------------------


@given(data=st.data())
def test_ensembles_come_back_to_the_last_bit(data, path):
    ensemble = data.draw(ensembles())
    again = through_file(ensemble, path)
    assert_valid_ensemble(again)
    assert_same_ensemble(again, ensemble)
    X = data.draw(rows_for(ensemble))
    assert_same(again.raw_predict(X), ensemble.raw_predict(X))
    assert_same(again.apply(X), ensemble.apply(X))


@given(ensemble=ensembles(), others=st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_every_float_comes_back(ensemble, others, path):
    numbers = np.resize([*others, np.finfo(float).max, 5e-324], len(ensemble.value))
    ensemble = changed(ensemble, value=numbers, base_score=float(numbers[0]))
    again = through_file(ensemble, path)
    assert again.value.tobytes() == numbers.tobytes()
    assert again.base_score == numbers[0]


def changed(ensemble, **changes):
    fields = {name: getattr(ensemble, name) for name in ensemble.__dataclass_fields__}
    return Ensemble(**{**fields, **changes})


def test_an_ensemble_of_float32_comparisons(path):
    ensemble = changed(load_text(REGRESSOR, path).ensemble_, input_dtype=np.float32)
    again = through_file(ensemble, path)
    assert again.input_dtype is np.float32
    barely_above = np.array([[2.5 + 1e-9, 0.0]])
    assert_same(again.raw_predict(barely_above), [9.5625])


def test_an_ensemble_without_trees(path):
    ensemble = load_text(REGRESSOR, path).ensemble_.truncate(0)
    again = through_file(ensemble, path)
    assert again.n_trees == 0
    assert_same(again.raw_predict([[0.0, 0.0]]), [10.0])


def test_refitted_statistics(path):
    ensemble = load_text(REGRESSOR, path).ensemble_
    refitted = ensemble.refit_statistics([[1.0, 0.0], [3.0, 4.0]], [1.0, 2.0])
    assert_same_ensemble(through_file(refitted, path), refitted)


LABELS = [
    np.array(["b", "a\u00e9\U0001f600 \ud800"], dtype=object),  # the last one is half a character
    np.array(["b", "a"]),
    np.array([True, False]),
    np.array([7, -3]),
    np.array([2**64 - 1, 2**63], dtype=np.uint64),
    np.array([7, -3], dtype=np.int8),
    np.array([2.0, -0.0], dtype=np.float32),
    np.array([2.0, 1.0]),
]


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: f"{labels.dtype}")
def test_classifiers_come_back(labels, path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    weight = rng.integers(0, 3, 60)
    model = GBTClassifier(n_estimators=9, early_stopping_rounds=4, subsample=0.7, random_state=1)
    model.fit(X, labels[rng.integers(0, 2, 60)], weight)
    again = through_file(model, path)
    assert_same_ensemble(again.ensemble_, model.ensemble_)
    assert again.get_params() == model.get_params()
    assert again.evals_result_ == model.evals_result_
    assert again.best_iteration_ == model.best_iteration_
    assert_same(again.classes_, model.classes_)
    assert again.classes_.dtype == model.classes_.dtype
    assert_same(again.predict_proba(X), model.predict_proba(X))
    assert_same(again.predict(X), model.predict(X))
    assert again.n_features_in_ == 3
    assert_same(again.sampled_rows(0), model.sampled_rows(0))
    assert_same(again.feature_importances_, model.feature_importances_)


def test_a_loaded_estimator_can_be_fitted_again(path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    model = GBTRegressor(
        n_estimators=np.int64(4), learning_rate=np.float32(0.1), max_depth=2, subsample=0.5,
        random_state=3,
    ).fit(X, y)  # fmt: skip
    model.save(path)
    again = gbt.load(path)
    assert type(again.n_estimators) is int
    assert again.learning_rate == np.float32(0.1)
    assert_same_ensemble(again.fit(X, y).ensemble_, model.ensemble_)


# Saving ---------------------------------------------------------------------------------------


@pytest.fixture
def model(path):
    return load_text(REGRESSOR, path)


def test_what_cannot_be_saved(model, path):
    path.write_text("as it was")
    with pytest.raises(ValueError, match=r"Only an Ensemble.*got a dict.*as_ensemble"):
        save({}, path)

    class Subclass(GBTRegressor):
        pass

    with pytest.raises(ValueError, match=r"Only an Ensemble.*got a Subclass"):
        save(Subclass(), path)
    with pytest.raises(ValueError, match="not fitted"):
        save(GBTRegressor(), path)
    for name, value in {"splitter": Greedy(), "random_state": np.random.RandomState(0)}.items():
        with pytest.raises(ValueError, match=rf"{name}=.* cannot be saved.*set_params\({name}="):
            save(copy.copy(model).set_params(**{name: value}), path)
    with pytest.raises(ValueError, match="reg_lambda must be"):
        save(copy.copy(model).set_params(reg_lambda=-1), path)
    diverged = copy.copy(model)
    diverged.evals_result_ = {"eval_0": [1.0, np.inf]}
    with pytest.raises(ValueError, match=r"evals_result_\['eval_0'\] is not finite"):
        save(diverged, path)
    classifier = load_text(CLASSIFIER, path.with_name("other.json"))
    for labels in (np.array([0, 1], dtype=object), np.array([0, 1], dtype="m8[s]")):
        classifier.classes_ = labels
        with pytest.raises(ValueError, match=r"Labels of dtype .* cannot be saved"):
            save(classifier, path)
    with pytest.raises(InvalidModelError, match="value inf"):
        save(changed(model.ensemble_, value=np.full(6, np.inf)), path)
    assert path.read_text() == "as it was"


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_interrupted_save_leaves_the_old_file(model, tmp_path, monkeypatch, step, error):
    path = tmp_path / "model.json"
    path.write_text("as it was")

    def fail(*_):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        save(model, path)
    assert path.read_text() == "as it was"
    assert os.listdir(tmp_path) == ["model.json"]


def test_the_file_is_complete_on_disk_before_it_gets_its_name(model, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    steps = []

    def fsync(descriptor, original=os.fsync):
        assert os.fstat(descriptor).st_size == len(REGRESSOR)
        steps.append("fsync")
        original(descriptor)

    def replace(source, target, original=os.replace):
        assert os.path.dirname(source) == os.path.dirname(target)  # one file system
        steps.append("replace")
        original(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    save(model, path)
    assert steps == ["fsync", "replace"]
    assert os.listdir(tmp_path) == ["model.json"]


def test_a_saved_file_has_the_rights_of_any_new_file(model, tmp_path):
    save(model, tmp_path / "model.json")
    (tmp_path / "other").write_text("")
    assert (tmp_path / "model.json").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_paths(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(model, "model.json")  # no folder in the path
    assert type(load("model.json")) is GBTRegressor
    with pytest.raises(FileNotFoundError):
        save(model, tmp_path / "no folder" / "model.json")
    with pytest.raises(FileNotFoundError):
        load("no file")


# Damaged files --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "is not JSON, or not a whole file"),
        (b"\x80\x04\x95pickle", "is not JSON"),
        (b"\xff\xfe\x00", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b'{"format": NaN}', "NaN is not a number that JSON has"),
        (b'{"format": -Infinity}', "-Infinity is not a number that JSON has"),
        (b"1" * 5000, "is not JSON"),
        (b"[]", '"format": "gbt"'),
        (b'{"learner": {}, "version": [3, 2, 0]}', '"format": "gbt"'),
        (b'{"format": "gbt", "version": 2, "news": 1}', "version 2, .* reads version 1; a newer"),
        (b'{"format": "gbt", "version": "1"}', "version '1'"),
        (b'{"format": "gbt"}', "version None"),
        (b'{"format": "gbt", "version": 1, "kind": "os.system"}', 'kind must be one of.*"os.syst'),
        (b'{"format": "gbt", "version": 1, "kind": ["Ensemble"]}', "kind must be one of"),
        (b'{"format": "gbt", "version": 1, "kind": "Ensemble"}', "the file lacks ensemble"),
    ],
)
def test_files_of_another_kind(text, message, path):
    path.write_bytes(text)
    with pytest.raises(InvalidModelError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("text", [REGRESSOR, CLASSIFIER], ids=["regressor", "classifier"])
def test_no_beginning_of_a_file_is_a_model(text, path):
    for length in range(len(text)):
        with pytest.raises(InvalidModelError, match="not a whole file"):
            load_text(text[:length], path)


GONE = object()

DAMAGE = [
    # (where, what stands there instead, message)
    ("version", True, "version True"),
    ("version", 1.0, "version 1.0"),
    ("comment", "hello", "the file has unknown keys.*comment"),
    ("ensemble", [], "ensemble must be an object"),
    ("ensemble.gain", GONE, "ensemble lacks gain"),
    ("ensemble.gain", 0.5, "ensemble.gain must be a list of float or int; got 0.5"),
    ("ensemble.gain", {}, "ensemble.gain must be a list"),
    ("ensemble.gain.0", "0.5", r"ensemble.gain must be a list of float or int; got \["),
    ("ensemble.gain.0", True, "ensemble.gain must be a list of float or int"),
    ("ensemble.gain.0", None, "ensemble.gain must be a list of float or int"),
    ("ensemble.gain.0", [1.0], "ensemble.gain must be a list of float or int"),
    ("ensemble.gain.0", 10**400, "ensemble.gain has numbers that do not fit into float64"),
    ("ensemble.gain.1", 1.0, "node 1 of tree 0 has gain 1.0: a leaf has 0"),
    ("ensemble.cover", [1.0], "ensemble has unknown keys.*cover"),
    ("ensemble.value", [0.0], r"one length; got the shapes .*'value': \(1,\)"),
    ("ensemble.value", [], r"one length; got the shapes .*'value': \(0,\)"),
    ("ensemble.threshold.1", 2.0, "node 1 of tree 0 has threshold 2.0: a leaf has 0"),
    ("ensemble.missing_left.1", True, "node 1 of tree 0 has missing_left True: a leaf has False"),
    ("ensemble.missing_left.0", 1, "ensemble.missing_left must be a list of bool"),
    ("ensemble.n_samples.0", -1, "node 0 of tree 0 has n_samples -1: it cannot be negative"),
    ("ensemble.n_samples.0", 5.0, "ensemble.n_samples must be a list of int"),
    ("ensemble.n_samples.0", 2**63, "ensemble.n_samples has numbers that do not fit into int64"),
    ("ensemble.sum_hessian.5", -1.0, "node 0 of tree 1 has sum_hessian -1.0: it cannot be neg"),
    ("ensemble.feature.0", 2, r"node 0 of tree 0 has feature 2: an inner node has one in \[0, 2\)"),
    ("ensemble.feature.0", -1, "node 0 of tree 0 has feature -1: an inner node"),
    ("ensemble.feature.1", 0, "node 1 of tree 0 has feature 0: .* a leaf -1"),
    ("ensemble.feature.0", 2**31, "ensemble.feature has numbers that do not fit into int32"),
    ("ensemble.left.0", 0, "node 0 of tree 0 has left 0: in preorder"),  # a cycle
    ("ensemble.left.2", 0, "node 2 of tree 0 has left 0: in preorder"),  # a longer cycle
    ("ensemble.left.2", 1, "node 2 of tree 0 has left 1: in preorder"),  # a second parent
    ("ensemble.left.0", 99, "node 0 of tree 0 has left 99: in preorder"),
    ("ensemble.left.1", -2, "node 1 of tree 0 has left -2: in preorder.* -1 at a leaf"),
    ("ensemble.left.0", -1, "tree 0 lacks nodes, or has some that no walk reaches"),
    ("ensemble.left.1", 2, "tree 0 lacks nodes"),
    ("ensemble.right.0", 3, "node 0 of tree 0 has right 3: in preorder"),
    ("ensemble.right.0", 0, "node 0 of tree 0 has right 0: in preorder"),
    ("ensemble.right.2", 1, "node 2 of tree 0 has right 1: in preorder"),
    ("ensemble.right.2", 5, "node 2 of tree 0 has right 5: in preorder"),  # in another tree
    ("ensemble.right.1", 4, "node 1 of tree 0 has right 4: in preorder"),
    ("ensemble.right.5", -7, "node 0 of tree 1 has right -7: in preorder"),
    ("ensemble.tree_offset.0", 1, "tree_offset must rise from 0 to the number of nodes, 6"),
    ("ensemble.tree_offset.1", 0, "tree_offset must rise"),
    ("ensemble.tree_offset.1", 7, "tree_offset must rise"),
    ("ensemble.tree_offset.1", 4, "tree 0 lacks nodes"),
    ("ensemble.tree_offset.2", 5, "tree_offset must rise"),
    ("ensemble.tree_offset", [], "tree_offset must rise"),
    ("ensemble.base_score", [10.0], "ensemble.base_score must be float or int; got"),
    ("ensemble.base_score", "10", 'ensemble.base_score must be float or int; got "10"'),
    ("ensemble.learning_rate", 0.0, r"learning_rate must be in \(0, inf\); got 0.0"),
    ("ensemble.reg_lambda", -1, r"reg_lambda must be in \[0, inf\); got -1.0"),
    ("ensemble.loss", "poisson", 'ensemble.loss must be one of .*"poisson"'),
    ("ensemble.loss", "half_logistic", "a GBTRegressor cannot have the loss half_logistic"),
    ("ensemble.input_dtype", "object", "ensemble.input_dtype must be one of"),
    ("ensemble.feature_names", [], "feature_names must name at least one column"),
    ("ensemble.feature_names", "ab", "ensemble.feature_names must be a list of strings"),
    ("ensemble.feature_names", ["a"], r"has feature 1: an inner node has one in \[0, 1\)"),
    ("ensemble.feature_names.0", 0, "ensemble.feature_names must be a list of strings"),
    ("estimator", GONE, "the file lacks estimator"),
    ("estimator.classes", {"dtype": "str", "values": ["a", "b"]}, "estimator has unknown keys"),
    ("estimator.parameters.max_depth", 0, "estimator.parameters: max_depth must be"),
    ("estimator.parameters.max_depth", {}, "estimator.parameters: max_depth must be"),
    ("estimator.parameters.n_jobs", 0, "estimator.parameters: n_jobs=0 is not allowed"),
    ("estimator.parameters.verbose", GONE, "estimator.parameters lacks verbose"),
    ("estimator.parameters.gamma", 1, "estimator.parameters has unknown keys.*gamma"),
    ("estimator.parameters.splitter", "__import__('os')", "parameters: splitter must be"),
    ("estimator.has_feature_names", 1, "has_feature_names must be bool; got 1"),
    ("estimator.evals_result", [1.0], "evals_result must be an object"),
    ("estimator.evals_result.eval_0", [1.0], "evals_result.eval_0 has 1 losses for 2 trees"),
    ("estimator.evals_result.eval_0.0", "low", "evals_result.eval_0 must be a list of float"),
    ("estimator.sampling.seed", -1, "sampling.seed has numbers that do not fit into uint32"),
    ("estimator.sampling.seed", 2**32, "sampling.seed has numbers that do not fit into uint32"),
    ("estimator.sampling.seed", 0.5, "sampling.seed must be int; got 0.5"),
    ("estimator.sampling.subsample", 0, r"sampling.subsample must be in \(0, 1\]; got 0"),
    ("estimator.sampling.subsample", 1.5, r"sampling.subsample must be in \(0, 1\]; got 1.5"),
    ("estimator.sampling.n_rows", 11, "left_out must be some of the 11 rows"),
    ("estimator.sampling.n_rows", 0, "left_out must be some of the 0 rows"),
    ("estimator.sampling.left_out", [3, 3], "left_out must be some of the 12 rows, ascending"),
    ("estimator.sampling.left_out", [-1], "left_out must be some of the 12 rows"),
    ("estimator.sampling.left_out", list(range(12)), "left_out .* and not all of them"),
]

CLASSIFIER_DAMAGE = [
    ("kind", "GBTRegressor", "estimator has unknown keys.*classes"),
    ("kind", "Ensemble", "the file has unknown keys.*estimator"),
    ("ensemble.loss", "half_squared_error", "a GBTClassifier cannot have the loss half_squared"),
    ("estimator.classes", GONE, "estimator lacks classes"),
    ("estimator.classes.dtype", "datetime64[s]", "classes.dtype must be one of"),
    ("estimator.classes.dtype", "int64", "classes.values must be a list of int"),
    ("estimator.classes.values", ["yes", "no"], "two labels, sorted"),
    ("estimator.classes.values", ["no", "no"], "two labels, sorted"),
    ("estimator.classes.values", ["a", "b", "c"], "two labels, sorted"),
    ("estimator.classes", {"dtype": "int8", "values": [0, 128]}, "do not fit into int8"),
    ("estimator.classes", {"dtype": "float32", "values": [0, 1e300]}, "do not fit into float32"),
    ("estimator.classes", {"dtype": "object", "values": [0, 1]}, "must be a list of strings"),
    ("estimator.classes", {"dtype": "bool", "values": [0, 1]}, "must be a list of bool"),
]


def put(document, where, value):
    """Return a copy of a document with something else at a path like "ensemble.left.0"."""
    document = copy.deepcopy(document)
    *way, last = [int(key) if key.isdigit() else key for key in where.split(".")]
    place = document
    for key in way:
        place = place[key]
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    return document


@pytest.mark.parametrize(
    ("text", "where", "value", "message"),
    [
        *((REGRESSOR, *damage) for damage in DAMAGE),
        *((CLASSIFIER, *damage) for damage in CLASSIFIER_DAMAGE),
    ],
)
def test_damage(text, where, value, message, path):
    with pytest.raises(InvalidModelError, match=message):
        load_document(put(json.loads(text), where, value), path)


def test_an_estimator_has_trees(path):
    document = json.loads(CLASSIFIER)
    document["ensemble"].update({name: [] for name in NODE_DTYPES}, tree_offset=[0])
    with pytest.raises(InvalidModelError, match="a GBTClassifier has at least one tree"):
        load_document(document, path)


def test_infinite_numbers(path):
    text = REGRESSOR.replace('"gain": [3.8333333333333335', '"gain": [1e999')
    assert text != REGRESSOR
    with pytest.raises(InvalidModelError, match=r"ensemble.gain has numbers that do not fit"):
        load_text(text, path)


def paths_in(value, way=()):
    """Yield the path to every key and every element of a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*way, key)
        if isinstance(item, dict | list):
            yield from paths_in(item, (*way, key))


def assert_harmless(document, path):
    """Check that a document is refused, or else is a model that does all that models do."""
    try:
        model = load_document(document, path)
    except InvalidModelError:
        return False
    ensemble = model if isinstance(model, Ensemble) else model.ensemble_
    for tree in ensemble.trees:
        assert preorder_walk(tree.left, tree.right) == list(range(tree.n_nodes))
    X = np.array([[value] * ensemble.n_features for value in (-1e300, 0.0, np.nan, 2.5)])
    assert np.isfinite(ensemble.raw_predict(X)).all()
    assert ensemble.apply(X).shape == (4, ensemble.n_trees)
    if model is not ensemble:
        assert hasattr(model, "feature_names_in_") or len(model.predict(X)) == 4
        assert len(model.feature_importances_) == ensemble.n_features
        if model._sampling.n_rows < 10**6:
            model.sampled_rows(0)
    save(model, path)
    return True


def preorder_walk(left, right):
    """Return the nodes in the order of a walk root, left, right; it ends when it is too long."""
    seen, waiting = [], [0]
    while waiting and len(seen) <= len(left):
        node = waiting.pop()
        seen.append(node)
        if left[node] >= 0:
            waiting += [right[node], left[node]]
    return seen


OTHER_VALUES = [GONE, None, True, "", "a", [], {}, [[]], -1, 0, 1, 3, 0.5, -2.5, 1e300, 10**30]


@pytest.mark.parametrize("text", [REGRESSOR, CLASSIFIER], ids=["regressor", "classifier"])
def test_every_single_change_is_harmless(text, path):
    document = json.loads(text)
    accepted = 0
    for way in list(paths_in(document)):
        for value in OTHER_VALUES:
            accepted += assert_harmless(put_at(document, way, value), path)
    assert accepted > 0  # other values, gains, parameters are other models


def put_at(document, way, value):
    return put(document, ".".join(map(str, way)), value)


@given(data=st.data())
def test_several_changes_are_harmless(data, path):
    document = json.loads(data.draw(st.sampled_from([REGRESSOR, CLASSIFIER])))
    for _ in range(data.draw(st.integers(2, 4))):
        way = data.draw(st.sampled_from(list(paths_in(document))))
        document = put_at(document, way, data.draw(st.sampled_from(OTHER_VALUES)))
    assert_harmless(document, path)


@given(data=st.data())
def test_changed_bytes_are_harmless(data, path):
    text = data.draw(st.sampled_from([REGRESSOR, CLASSIFIER]))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        text = text[:at] + data.draw(st.sampled_from('0123456789-+.e,:[]{}"tn ')) + text[at + 1 :]
    try:
        document = json.loads(text)
    except ValueError:
        with pytest.raises(InvalidModelError, match="is not JSON"):
            load_text(text, path)
    else:
        assert_harmless(document, path)


# Ensemble.validate ----------------------------------------------------------------------------


@given(ensemble=ensembles())
def test_drawn_ensembles_are_valid(ensemble):
    ensemble.validate()


@given(data=st.data())
def test_links_are_accepted_exactly_when_a_walk_meets_the_nodes_in_order(data):
    tree = data.draw(ensembles(max_trees=1, max_depth=3)).trees[0]
    n_nodes = tree.n_nodes
    left, right = tree.left.tolist(), tree.right.tolist()
    for _ in range(data.draw(st.integers(0, 2))):
        links = data.draw(st.sampled_from([left, right]))
        links[data.draw(st.integers(0, n_nodes - 1))] = data.draw(st.integers(-1, n_nodes - 1))
    is_leaf = np.array(left) < 0
    sound = (
        preorder_walk(left, right) == list(range(n_nodes))
        and ((np.array(right) < 0) == is_leaf).all()
    )
    assert is_valid(links_only(left, right)) == sound


def links_only(left, right):
    """Return an ensemble of one tree that has links and nothing else of interest."""
    n_nodes = len(left)
    columns = {name: np.zeros(n_nodes) for name in NODE_DTYPES}
    feature = np.where(np.array(left) < 0, -1, 0)
    tree = Tree(
        **{**columns, "left": left, "right": right, "feature": feature},
    )
    arrays = {name: getattr(tree, name) for name in NODE_DTYPES}
    return Ensemble(
        **arrays,
        tree_offset=[0, n_nodes],
        base_score=0.0,
        learning_rate=1.0,
        reg_lambda=0.0,
        loss=LOSSES["half_squared_error"],
        feature_names=("x0",),
    )


def is_valid(ensemble):
    try:
        ensemble.validate()
    except InvalidModelError:
        return False
    return True


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([1, 2, -1, -1, -1], [3, 4, -1, -1, -1]),  # one parent each, but not in preorder
        ([1, -1, -1, 4, -1, -1], [2, -1, -1, 5, -1, -1]),  # two trees
        ([1, -1, 3, -1, -1], [3, -1, 4, -1, -1]),  # a shared child
        ([-1, 2, -1, -1], [-1, 3, -1, -1]),  # the first leaf is all of the tree
        ([-1, 2, -1], [-1, 0, -1]),  # the same, and promises come out even
    ],
)
def test_links_that_are_no_tree_in_preorder(left, right):
    assert not is_valid(links_only(left, right))


@pytest.mark.parametrize("name", ["threshold", "gain", "sum_gradient", "sum_hessian", "value"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_of_nodes_are_finite(name, value, path):
    ensemble = load_text(CLASSIFIER, path).ensemble_
    array = getattr(ensemble, name).copy()
    array[0] = value
    with pytest.raises(InvalidModelError, match=f"node 0 of tree 0 has {name} {value}"):
        changed(ensemble, **{name: array}).validate()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"base_score": np.nan}, "base_score must be finite; got nan"),
        ({"learning_rate": np.nan}, "learning_rate must be in"),
        ({"reg_lambda": np.inf}, "reg_lambda must be in"),
        ({"input_dtype": np.int64}, "input_dtype must be float64 or float32"),
        ({"value": np.zeros((3, 1))}, re.escape("'value': (3, 1)")),
        ({"tree_offset": [[0, 3]]}, "tree_offset must rise"),
        ({"tree_offset": 3}, "tree_offset must rise"),
    ],
)
def test_what_trees_have_in_common(changes, message, path):
    ensemble = load_text(CLASSIFIER, path).ensemble_
    with pytest.raises(InvalidModelError, match=message):
        changed(ensemble, **changes).validate()
