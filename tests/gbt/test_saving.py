"""Model files: exact round trips, one layout for good, and no damaged file that loads."""

import copy
import json
import math
import os
import pickle
import re
import signal
import stat
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions.testing import ensembles, rows_for
from gbt import Ensemble, GBTClassifier, GBTRegressor
from gbt.estimators.loading import load
from gbt.files.documents import InvalidModelError
from gbt.losses import Quantile
from gbt.model.soundness import STATISTICS
from gbt.model.tree import NODE_DTYPES
from gbt.splitting.cross_validated import CrossValidated
from gbt.splitting.greedy import Greedy
from tests.asserts import (
    assert_close,
    assert_preorder,
    assert_same,
    assert_same_ensemble,
    assert_valid_ensemble,
)
from tests.greedy import GreedyClassifier, GreedyRegressor
from tests.spoilt import GONE, paths_in, put

# Two files of version 1. From the first release on they must load for ever.
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
    '"statistics": ["gradients", "hessians", "counts", "values"], "is_forest": false, '
    '"zero_is_missing": false, "unstored_is_missing": false, "has_init_score": false, '
    '"unseen_is_missing": true, "categories": null, "level_sets": null, '
    '"feature": [0, -1, 1, -1, -1, -1], "threshold": [2.5, 0.0, -1.0, 0.0, 0.0, 0.0], '
    '"left": [1, -1, 3, -1, -1, -1], "right": [2, -1, 4, -1, -1, -1], '
    '"missing_left": [true, false, false, false, false, false], '
    '"sum_gradient": [1.0, 3.0, -2.0, -1.0, -1.0, 0.1], '
    '"sum_hessian": [5.0, 2.0, 3.0, 1.0, 2.0, 5.0], "n_samples": [5, 2, 3, 1, 2, 5], '
    '"gain": [3.8333333333333335, 0.0, 0.25, 0.0, 0.0, 0.0], '
    '"value": [0.0, -0.5, 0.25, 0.125, 1.0, 0.0625], "tree_offset": [0, 5, 6]}, '
    '"estimator": {"parameters": {"base_score": 10, "callbacks": null, '
    '"categorical_features": "from_dtype", "categorical_smoothing": 20.0, "colsample": 1.0, '
    '"colsample_bylevel": 1.0, "colsample_bynode": 1.0, "early_stopping_rounds": 2, '
    '"eval_metric": null, "interaction_constraints": null, "learning_rate": 0.5, "loss": null, '
    '"max_bins": null, "max_depth": null, "max_leaves": 3, "min_child_weight": 1.0, '
    '"min_delta": 0.0, '
    '"min_samples_leaf": 1, "min_split_gain": 0.0, "monotone_constraints": null, '
    '"n_estimators": 9, "n_jobs": null, "random_state": 4, "refit": false, "reg_lambda": 1.0, '
    '"splitter": "greedy", "subsample": 0.5, "train_score": false, "validation_fraction": 0.1, '
    '"verbose": 0, "warm_start": false}, '
    '"has_feature_names": true, "evals_result": {"eval_0": [1.5, 1e-17, 0.3, 2.0]}, '
    '"sampling": {"seed": 7, "subsample": 0.5, "n_rows": 12, "left_out": [0, 11]}, '
    '"held_up": null, "split_scores": null}}'
)


def as_classifier(regressor):
    """Return the file of a classifier with the same trees."""
    document = json.loads(regressor)
    document["kind"], document["ensemble"]["loss"] = "GBTClassifier", "half_logistic"
    document["estimator"]["parameters"] |= {"base_score": None, "class_weight": None}
    document["estimator"]["classes"] = {"dtype": "str", "values": ["no", "yes"]}
    return json.dumps(document)


CLASSIFIER = as_classifier(REGRESSOR)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("models") / "model.json"


def through_file(model, path):
    model.save(path)
    return load(path)


def load_text(text, path):
    path.write_text(text, encoding="utf-8")
    return load(path)


def load_document(document, path):
    return load_text(json.dumps(document), path)


# The layout -----------------------------------------------------------------------------------


def test_a_regressor(path):
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
    model.save(path)
    assert path.read_text() == REGRESSOR


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_classifier(path):
    document = json.loads(CLASSIFIER)
    document["ensemble"]["base_score"] = math.log(3) - 0.0625
    model = load_document(document, path)
    assert type(model) is GBTClassifier
    raw = math.log(3) + np.array([-0.5, 0.125])
    X = [[2.5, 0.0], [3.0, -1.0]]
    assert_close(model.decision_function(X), raw, terms=4.0)
    assert_close(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-raw)), terms=1.0)
    assert_same(model.predict(X), ["yes", "yes"])
    model.save(path)
    assert json.loads(path.read_text()) == document


def test_an_ensemble_has_the_same_layout(path):
    ensemble = load_text(REGRESSOR, path).ensemble_
    ensemble.save(path)
    document = json.loads(REGRESSOR)
    del document["estimator"]
    assert path.read_text() == json.dumps({**document, "kind": "Ensemble"})
    assert isinstance(load(path), Ensemble)


def test_a_table_of_nodes(path):
    ensemble = load_text(REGRESSOR, path).ensemble_
    frame, arrays = ensemble.to_frame(), json.loads(REGRESSOR)["ensemble"]
    assert list(frame.columns) == ["tree", "node", "depth", *NODE_DTYPES]
    assert frame["tree"].tolist() == [0, 0, 0, 0, 0, 1]
    assert frame["node"].tolist() == [0, 1, 2, 3, 4, 0]
    assert frame["depth"].tolist() == [0, 1, 1, 2, 2, 0]
    assert frame["feature"].dropna().to_dict() == {0: "a", 2: "b"}
    assert_same(frame["threshold"], [2.5, np.nan, -1.0, np.nan, np.nan, np.nan])
    for name in [*NODE_DTYPES][2:]:
        assert frame[name].tolist() == arrays[name]
    assert len(ensemble.truncate(0).to_frame()) == 0


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


def changed(ensemble, **changes):
    fields = {name: getattr(ensemble, name) for name in ensemble.__dataclass_fields__}
    return Ensemble(**{**fields, **changes})


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
def test_labels_of_any_two_classes_are_predicted_and_come_back(labels, path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    expected = GreedyClassifier(n_estimators=9).fit(X, y).predict(X)
    ascending = labels[::-1]  # as classes_ has them
    model = GreedyClassifier(n_estimators=9).fit(X, ascending[y])
    for same in (model, through_file(model, path)):
        assert_same(same.classes_, ascending)
        assert same.classes_.dtype == labels.dtype
        assert_same(same.predict(X), ascending[expected])


ASKED = {
    "numbers of numpy": GBTRegressor(
        n_estimators=np.int64(4), learning_rate=np.float32(0.1), max_depth=2, subsample=0.5
    ),
    "a scorer": GBTClassifier(2, eval_metric="roc_auc", early_stopping_rounds=1),
    "balanced": GBTClassifier(2, class_weight="balanced", eval_metric="f1"),
    "weights of labels": GBTClassifier(2, class_weight={0: 2.5, np.int64(1): 1.0}),
    "several metrics": GBTRegressor(
        20, early_stopping_rounds=2, min_delta=0.5, train_score=True, refit=True,
        eval_metric=["r2", "neg_max_error"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_parameters_come_back_and_a_further_fit_gives_the_same_model(asked, path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] > 0) * 1
    model = asked.set_params(random_state=3, splitter="greedy", warm_start=not asked.refit)
    again = through_file(model.fit(X, y), path)
    assert again.get_params() == model.get_params()
    assert type(again.n_estimators) is int
    assert again.evals_result_ == model.evals_result_
    assert again.best_score_ == model.best_score_
    assert_same_ensemble(again.set_params(warm_start=False).fit(X, y).ensemble_, model.ensemble_)


# Saving ---------------------------------------------------------------------------------------


@pytest.fixture
def model(path):
    return load_text(REGRESSOR, path)


def test_what_cannot_be_saved(model, path):
    path.write_text("as it was")

    class OfOnesOwn(Greedy):
        pass

    with pytest.raises(ValueError, match="not fitted"):
        GreedyRegressor().save(path)
    with pytest.raises(ValueError, match=r"splitter=.* cannot be saved.*set_params\(splitter="):
        copy.copy(model).set_params(splitter=OfOnesOwn()).save(path)
    with pytest.raises(ValueError, match="reg_lambda must be"):
        copy.copy(model).set_params(reg_lambda=-1).save(path)
    with pytest.raises(ValueError, match=r"loss=.absolute. was set after the fit.*ensemble_.save"):
        copy.copy(model).set_params(loss="absolute").save(path)
    for constraints in ([1, 0], {0: -1}):
        with pytest.raises(ValueError, match=r"monotone_constraints=.* was set after the fit"):
            copy.copy(model).set_params(monotone_constraints=constraints).save(path)
    diverged = copy.copy(model)
    diverged.evals_result_ = {"eval_0": [1.0, np.inf]}
    with pytest.raises(ValueError, match=r"evals_result_\['eval_0'\] is not finite"):
        diverged.save(path)
    classifier = load_text(CLASSIFIER, path.with_name("other.json"))
    for labels in (np.array([0, 1], dtype=object), np.array([0, 1], dtype="m8[s]")):
        classifier.classes_ = labels
        with pytest.raises(ValueError, match=r"Labels of dtype .* cannot be saved"):
            classifier.save(path)
    with pytest.raises(InvalidModelError, match="value inf"):
        changed(model.ensemble_, value=np.full(6, np.inf)).save(path)
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
        model.save(path)
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
    model.save(path)
    assert steps == ["fsync", "replace"]
    assert os.listdir(tmp_path) == ["model.json"]


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_new_file_has_the_permissions_of_any_new_file(umask, model, tmp_path):
    before = os.umask(umask)
    try:
        model.save(tmp_path / "model.json")
        (tmp_path / "other").write_text("")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "model.json") == mode_of(tmp_path / "other")


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o440])
def test_a_file_that_is_replaced_keeps_its_permissions(mode, model, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    path.write_text("as it was")
    path.chmod(mode)

    def fsync(descriptor, original=os.fsync):
        assert stat.S_IMODE(os.fstat(descriptor).st_mode) == mode  # before others might read it
        original(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    model.save(path)
    assert mode_of(path) == mode
    assert path.read_text() == REGRESSOR


@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_stays_and_its_file_is_replaced(exists, model, tmp_path):
    (tmp_path / "models").mkdir()
    target, link = tmp_path / "models" / "of_today.json", tmp_path / "model.json"
    if exists:
        target.write_text("as it was")
        target.chmod(0o600)
    link.symlink_to("models/of_today.json")
    model.save(link)
    assert link.is_symlink()
    assert target.read_text() == REGRESSOR
    assert mode_of(target) == 0o600 or not exists
    assert sorted(os.listdir(tmp_path)) == ["model.json", "models"]
    assert os.listdir(tmp_path / "models") == ["of_today.json"]


KILLED = """
import os, signal, gbt.estimators.loading
model = gbt.load({source!r})
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
model.save({target!r})
"""


@pytest.mark.slow
def test_what_a_killed_save_left_behind_is_removed_by_the_next(model, tmp_path):
    source, target = tmp_path / "source.json", tmp_path / "model.json"
    model.save(source)
    program = KILLED.format(source=str(source), target=str(target))
    killed = subprocess.run([sys.executable, "-c", program], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = set(os.listdir(tmp_path)) - {"source.json"}
    assert left.startswith(".model.json.")
    os.utime(tmp_path / left, (0, 0))  # long ago
    others = [".model.json.unfinished", f".other{left[11:]}", left + ".txt"]
    for name in others:
        (tmp_path / name).write_text("of somebody else")
    model.save(target)
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "model.json", "source.json"])


def test_two_saves_at_once_do_not_remove_each_other(model, tmp_path, monkeypatch):
    """The first one pauses with its file complete; the second one comes and goes meanwhile."""
    path = tmp_path / "model.json"

    def replace(source, target, original=os.replace):
        monkeypatch.setattr(os, "replace", original)
        model.save(path)
        assert os.path.exists(source)
        original(source, target)

    monkeypatch.setattr(os, "replace", replace)
    model.save(path)
    assert os.listdir(tmp_path) == ["model.json"]
    assert path.read_text() == REGRESSOR


def test_paths(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model.save("model.json")  # no folder in the path
    model.save("m" * 200 + ".json")
    assert type(load("model.json")) is GBTRegressor
    with pytest.raises(FileNotFoundError):
        load("no file")


def test_places_where_no_file_can_be(model, tmp_path):
    (tmp_path / "file").write_text("as it was")
    os.mkfifo(tmp_path / "pipe")
    for error, path, message in [
        (FileNotFoundError, tmp_path / "none" / "model.json", r"no folder '.*/none' .*make it"),
        (NotADirectoryError, tmp_path / "file" / "model.json", r"'.*/file' is not a folder"),
        (IsADirectoryError, tmp_path, "is a folder; add the name of a file"),
        (OSError, tmp_path / "pipe", r"'.*/pipe' is not a file that can be replaced"),
    ]:
        with pytest.raises(error, match=message):
            model.save(path)
    assert sorted(os.listdir(tmp_path)) == ["file", "pipe"]
    assert (tmp_path / "file").read_text() == "as it was"


# What the nodes are known by ----------------------------------------------------------------


def unknown_but(ensemble, *known):
    """Return a model of which these statistics are known, and 0 stands for the others."""
    zeros = np.zeros(len(ensemble.feature))
    arrays = {} if "gradients" in known else {"sum_gradient": zeros, "gain": zeros}
    arrays |= {} if "hessians" in known else {"sum_hessian": zeros}
    arrays |= {} if "counts" in known else {"n_samples": zeros}
    if "values" not in known:
        arrays["value"] = np.where(ensemble.left < 0, ensemble.value, 0.0)
    return changed(ensemble, **arrays, statistics=frozenset(known))


@pytest.mark.parametrize("known", [(), ("hessians", "values"), ("counts",), STATISTICS])
def test_what_is_known_of_the_nodes_is_kept(known, path):
    ensemble = unknown_but(load_text(REGRESSOR, path).ensemble_, *known)
    ensemble = changed(ensemble, is_forest=True, zero_is_missing=True, unstored_is_missing=True)
    assert_same_ensemble(through_file(ensemble, path), ensemble)
    ensemble.require(*known, what="Nothing")
    for name in set(STATISTICS) - set(known):
        with pytest.raises(ValueError, match=rf"It needs the {name} .*does not have.*X=X_train"):
            ensemble.require(name, what="It")


@pytest.mark.parametrize(
    ("array", "statistic"),
    [("n_samples", "counts"), ("sum_hessian", "hessians"), ("gain", "gradients"),
     ("sum_gradient", "gradients"), ("value", "values")],
)  # fmt: skip
def test_what_is_not_known_is_0(array, statistic, path):
    document = json.loads(REGRESSOR)
    document["ensemble"]["statistics"].remove(statistic)
    if array == "gain":
        document["ensemble"]["sum_gradient"] = [0.0] * 6
    with pytest.raises(InvalidModelError, match=f"has {array} .*know"):
        load_document(document, path)


def test_pickles_of_another_version_predict_and_are_neither_continued_nor_saved(path):
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20.0)
    told = GBTRegressor(n_estimators=2, warm_start=True, random_state=0).fit(X, y)
    for changed in ({"_held_up": np.zeros((1, 2, 3))}, *dict.fromkeys(["_sampling", "_held_up"])):
        model = pickle.loads(pickle.dumps(told))
        if isinstance(changed, str):
            del vars(model)[changed]
        else:
            vars(model).update(changed)
        assert_same(model.predict(X), told.predict(X))
        for use in (lambda model=model: model.set_params(n_estimators=3).fit(X, y),
                    lambda model=model: model.save(path)):  # fmt: skip
            with pytest.raises(ValueError, match=r"pickled by another version.*Fit it anew"):
                use()
        model.ensemble_.save(path)
        assert_same(load(path).raw_predict(X), told.predict(X))
        assert model.set_params(warm_start=False).fit(X, y).ensemble_.n_trees == 3


def test_files_whose_parts_have_changed_are_to_be_made_again(path):
    model = GBTRegressor(n_estimators=2).fit(np.arange(40.0).reshape(20, 2), np.arange(20.0))
    model.save(path)
    document = json.loads(path.read_text())
    document["estimator"]["held_up"] = [0.0] * 7
    path.write_text(json.dumps(document))
    with pytest.raises(InvalidModelError, match=r"held_up has 7 numbers.* is to be made again"):
        load(path)


# Damaged files --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "is not JSON, or not a whole file: .* A pickle, or a file of another library"),
        (b'{"format": NaN}', "NaN is not a number that JSON has"),
        (b'{"format": "gbt", "version": 2, "news": 1}', "version 2, .* reads version 1: a newer"),
        (b'{"format": "gbt", "version": 1, "kind": "os.system"}', 'kind must be one of.*"os.syst'),
        (b'{"format": "gbt", "version": 1, "kind": "Ensemble"}', "the file lacks ensemble"),
    ],
)
def test_files_of_another_kind(text, message, path):
    path.write_bytes(text)
    with pytest.raises(InvalidModelError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_no_beginning_of_a_file_is_a_model(path):
    for length in range(len(REGRESSOR)):
        with pytest.raises(InvalidModelError, match="not a whole file"):
            load_text(REGRESSOR[:length], path)


DAMAGE = [  # one of each kind of message: where, and what stands there instead
    (REGRESSOR, "version", True, "version true"),
    (REGRESSOR, "comment", "hello", "the file has unknown keys.*comment"),
    (REGRESSOR, "ensemble.gain.0", "0.5", r"ensemble.gain must be a list of float or int; got \["),
    (REGRESSOR, "ensemble.gain.0", 10**400, "ensemble.gain has numbers that do not fit into float"),
    (REGRESSOR, "ensemble.feature.0", 2, r"node 0 of tree 0 has feature 2: an inner node has one"),
    (REGRESSOR, "ensemble.left.0", 0, "node 0 of tree 0 has left 0: in preorder"),  # a cycle
    (REGRESSOR, "ensemble.loss", "hinge", 'ensemble.loss must be one of .*"hinge"'),
    (REGRESSOR, "ensemble.loss", "half_logistic", "a GBTRegressor cannot have the loss half_log"),
    (REGRESSOR, "estimator.parameters.max_depth", 0, "estimator.parameters: max_depth must be"),
    (REGRESSOR, "estimator.evals_result.eval_0", [1.0], "eval_0 has 1 losses for 2 rounds"),
    (REGRESSOR, "estimator.sampling.n_rows", 14, "n_rows is 14, of which a tree saw 6, .* with 5"),
    (REGRESSOR, "estimator.sampling.left_out", [3, 3], "left_out must be some of the 12 rows, asc"),
    (CLASSIFIER, "estimator.classes.dtype", "datetime64[s]", "classes.dtype must be one of"),
    (CLASSIFIER, "estimator.classes.values", ["yes", "no"], "two labels or more, sorted"),
]


@pytest.mark.parametrize(("text", "where", "value", "message"), DAMAGE)
def test_damage(text, where, value, message, path):
    way = [int(key) if key.isdigit() else key for key in where.split(".")]
    with pytest.raises(InvalidModelError, match=message):
        load_document(put(json.loads(text), way, value), path)


def of_words():
    """Return a model with words, and with a loss that has a number."""
    size, color = np.arange(60.0) / 1000, np.array(["red", "blue", "green"] * 20, dtype=object)
    rows = np.column_stack([size.astype(object), color])
    y = 0.1 * (color == "red") + size
    return GreedyRegressor(loss=Quantile(0.8), n_estimators=3).fit(rows, y).ensemble_


def of_classes():
    """Return a model of three classes, whose policy has a number."""
    x = np.arange(60.0)[:, np.newaxis]
    return GBTClassifier(2, splitter=CrossValidated(3), random_state=0).fit(x, [*"cab"] * 20)


EDITED = [
    ('"blue", "green"', '"green", "blue"', "sorted"),
    ('"blue", "green"', '"blue", 7', "one kind"),
    ('"categories": [null, ', '"categories": [', "categories"),
    ('"start": [0, ', '"start": [1, ', "level_sets"),
    ('"of_node": [', '"of_node": [3, ', "level_sets"),
    ('"alpha": 0.8', '"alpha": 1.5', "alpha must be"),
    ('"alpha": 0.8', '"beta": 0.8', "lacks alpha"),
    ('"alpha": 0.8', '"alpha": "x"', "must be float or int"),
    ('"name": "quantile"', '"name": "hinge"', "must be one of"),
    ('{"name": "quantile", "alpha": 0.8}', "3", "must be a name"),
    ('"n_outputs": 3', '"n_outputs": 4', "base_score must be finite, one an output"),
    ('"n_outputs": 3', '"n_outputs": 1', "two classes or more"),
    ('"base_score": [', '"base_score": ["a", ', "ensemble.base_score must be"),
    ('"values": ["a", "b", "c"]', '"values": ["a", "b"]', "cannot have the loss softmax"),
    ('"values": ["a", "b", "c"]', '"values": ["a", "c", "b"]', "sorted"),
    ('"n_folds", 3', '"n_folds", 1', r"not a sound model: estimator\.parameters"),
    ('"n_folds", 3', '"n_fold", 3', r"not a sound model: estimator\.parameters"),
    ('["cross_validated"', '["crossvalidated"', r"not a sound model: estimator\.parameters"),
]


@pytest.mark.parametrize(("old", "new", "message"), EDITED)
def test_edited_texts(old, new, message, path):
    texts = []
    for make in (of_words, of_classes):
        make().save(path)
        texts.append(path.read_text())
    (text,) = (text for text in texts if old in text)
    with pytest.raises(InvalidModelError, match=message):
        load_text(text.replace(old, new, 1), path)


def test_an_estimator_has_trees(path):
    document = json.loads(CLASSIFIER)
    document["ensemble"].update({name: [] for name in NODE_DTYPES}, tree_offset=[0])
    with pytest.raises(InvalidModelError, match="a GBTClassifier has at least one tree"):
        load_document(document, path)


def assert_harmless(document, path):
    """Check that a document is refused, or else is a model that does all that models do."""
    try:
        model = load_document(document, path)
    except InvalidModelError:
        return False
    ensemble = model if isinstance(model, Ensemble) else model.ensemble_
    for tree in ensemble.trees:
        assert_preorder(tree.left, tree.right)
    X = np.array([[value] * ensemble.n_features for value in (-1e300, 0.0, np.nan, 2.5)])
    start = np.zeros(4) if ensemble.has_init_score else None
    assert np.isfinite(ensemble.raw_predict(X, init_score=start)).all()
    assert ensemble.apply(X).shape == (4, ensemble.n_trees)
    if model is not ensemble:
        assert hasattr(model, "feature_names_in_") or len(model.predict(X, start)) == 4
        assert len(model.feature_importances_) == ensemble.n_features
        if model._sampling.n_rows < 10**6:
            model.sampled_rows(0)
    model.save(path)
    return True


OTHER_VALUES = [GONE, None, True, "", "a", [], {}, [[]], -1, 0, 1, 3, 0.5, -2.5, 1e300, 10**30]


@pytest.mark.slow
@pytest.mark.parametrize("text", [REGRESSOR, CLASSIFIER], ids=["regressor", "classifier"])
def test_every_single_change_is_harmless(text, path):
    document = json.loads(text)
    accepted = 0
    for way in list(paths_in(document)):
        for value in OTHER_VALUES:
            accepted += assert_harmless(put(document, way, value), path)
    assert accepted > 0  # other values, gains, parameters are other models


@given(data=st.data())
def test_several_changes_are_harmless(data, path):
    document = json.loads(data.draw(st.sampled_from([REGRESSOR, CLASSIFIER])))
    for _ in range(data.draw(st.integers(2, 4))):
        way = data.draw(st.sampled_from(list(paths_in(document))))
        document = put(document, way, data.draw(st.sampled_from(OTHER_VALUES)))
    assert_harmless(document, path)


# Ensemble.validate ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"base_score": np.nan}, r"base_score must be finite, one an output; got nan"),
        ({"learning_rate": np.nan}, "learning_rate must be in"),
        ({"input_dtype": np.int64}, "input_dtype must be float64 or float32"),
        ({"value": np.zeros((6, 1))}, re.escape("'value': (6, 1)")),
        ({"tree_offset": [[0, 6]]}, "tree_offset must rise"),
        *[
            ({name: np.full(6, np.nan)}, f"node [01] of tree 0 has {name} nan")
            for name in ("threshold", "gain", "sum_gradient", "sum_hessian", "value")
        ],
    ],
)
def test_what_json_cannot_say(changes, message, path):
    ensemble = load_text(CLASSIFIER, path).ensemble_
    with pytest.raises(InvalidModelError, match=message):
        changed(ensemble, **changes).validate()


# What a file does not hold ----------------------------------------------------------------------


def nearness(y, prediction):
    return -float(np.abs(y - prediction).mean())


@pytest.mark.parametrize(
    "objects",
    [
        {"eval_metric": nearness},
        {"eval_metric": ["r2", nearness]},
        {"callbacks": [lambda told: None]},
        {"random_state": np.random.RandomState(0)},
        {"eval_metric": nearness, "callbacks": [lambda told: None]},
    ],
)
def test_what_only_a_fit_asks_for_is_left_out_and_named(objects, path):
    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40.0)
    model = GreedyRegressor(n_estimators=20, early_stopping_rounds=2, **objects).fit(X, y)
    told = " and ".join(re.escape(f"{name}={value!r}") for name, value in objects.items())
    with pytest.warns(UserWarning, match=f"so it is without {told}") as caught:
        model.save(path)
    assert caught[0].filename == __file__
    read = load(path)
    assert read.get_params() == {**model.get_params(), **dict.fromkeys(objects)}
    assert read.evals_result_ == model.evals_result_
    assert read.best_score_ == model.best_score_
    assert_same(read.predict(X), model.predict(X))
