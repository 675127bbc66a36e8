"""Importing XGBoost models: by hand, against XGBoost, and drawn trees there and back."""

import gc
import json
import warnings
import weakref
from contextlib import nullcontext

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import VotingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from attributions import held_out_gain, predecomp, saabas, total_gain, tree_shap
from gbt import GBTRegressor, load
from gbt.files.documents import InvalidModelError
from gbt.formats import as_ensemble, import_model, to_xgboost
from gbt.formats.xgboost.model import from_xgboost
from tests.asserts import EPS_32, assert_close, assert_same, assert_valid_ensemble, peer
from tests.gbt.formats.read_models import table
from tests.greedy import GreedyRegressor
from tests.spoilt import GONE, paths_in, put

# Propositions 1 and 3 are about training rows, of which held-out measures warn.
pytestmark = pytest.mark.filterwarnings("ignore::attributions.SeenRowsWarning")


def imported_without_gradients(model, message, known=("hessians",), **given):
    """Import a model whose gradient sums cannot be found out, which a refusal says."""
    ensemble = from_xgboost(model, **given) if given else as_ensemble(model)
    assert ensemble.statistics == set(known)
    assert not ensemble.sum_gradient.any()
    reason = f"G of the nodes of this XGBoost model is unknown.*({message})"
    asked = r"X=X_train, y=y_train"
    with pytest.raises(ValueError, match=f"total_gain needs the gradients .*{reason}.*{asked}"):
        total_gain(ensemble)
    return ensemble


# --------------------------------------------------------------------------------------- by hand
#
# lambda 2, eta 1/2, XGBoost's numbers of nodes; every number is a dyadic fraction:
#
#             0                       node     G    H   w = -G/(H + 2)   s = w/2
#   x0 < 0.5 / \               0     4    6       -1/2
#           1   2                     1     0    4         0
#  x1 < 2  / \                2     4    2        -1            -1/2
#         3   4                       3    -2    2       1/2             1/4
#                                     4     2    2      -1/2            -1/4


TREE = ("learner", "gradient_booster", "model", "trees", 0)


def hand_json(base_score="[2.5E-1]"):
    """Return what of XGBoost's JSON an import needs."""
    tree = {
        "left_children": [1, 3, -1, -1, -1],
        "right_children": [2, 4, -1, -1, -1],
        "split_indices": [0, 1, 0, 0, 0],
        "split_conditions": [0.5, 2.0, -0.5, 0.25, -0.25],
        "split_type": [0, 0, 0, 0, 0],
        "default_left": [1, 0, 0, 0, 0],
        "base_weights": [-0.5, 0.0, -0.5, 0.25, -0.25],  # of leaves as tree_method="hist" has them
        "sum_hessian": [6.0, 4.0, 2.0, 2.0, 2.0],
    }
    shape = {"base_score": base_score, "num_class": "0", "num_target": "1", "num_feature": "2"}
    model = {"gbtree_model_param": {"num_parallel_tree": "1"}, "trees": [tree]}
    return {
        "learner": {
            "feature_names": ["age", "height"],
            "gradient_booster": {"name": "gbtree", "model": model},
            "learner_model_param": shape,
            "objective": {"name": "reg:squarederror"},
        }
    }


@pytest.mark.parametrize("learning_rate", [0.5, None], ids=["given", "read off the leaves"])
@pytest.mark.parametrize("base_score", ["[2.5E-1]", "2.5E-1"], ids=["a list", "before 3.1"])
def test_hand_example(learning_rate, base_score):
    model = hand_json(base_score=base_score)
    ensemble = from_xgboost(model, reg_lambda=2, learning_rate=learning_rate)

    # preorder: 0, 1, 3, 4, 2
    assert_same(ensemble.left, [1, 2, -1, -1, -1])
    assert_same(ensemble.right, [4, 3, -1, -1, -1])
    assert_same(ensemble.feature, [0, 1, -1, -1, -1])
    assert_same(ensemble.threshold, [0.5 - 2**-25, 2 - 2**-23, 0, 0, 0])
    assert_same(ensemble.missing_left, [True, False, False, False, False])
    assert_same(ensemble.sum_gradient, [4, 0, -2, 2, 4])
    assert_same(ensemble.sum_hessian, [6, 4, 2, 2, 2])
    assert_same(ensemble.value, [-1 / 4, 0, 1 / 4, -1 / 4, -1 / 2])
    assert_same(ensemble.gain, [0 + 4 - 2, 1 + 1 - 0, 0, 0, 0])  # scores G^2/(H + 2)
    assert_same(ensemble.n_samples, np.zeros(5))
    assert_same(ensemble.tree_offset, [0, 5])
    assert (ensemble.learning_rate, ensemble.reg_lambda, ensemble.base_score) == (0.5, 2.0, 0.25)
    assert ensemble.loss.name == "half_squared_error"
    assert ensemble.feature_names == ("age", "height")
    assert ensemble.input_dtype == np.float32
    assert_valid_ensemble(ensemble)


def test_without_lambda_the_hand_example_predicts_but_has_no_gradients():
    ensemble = imported_without_gradients(hand_json(), "reg_lambda is in no file, and several")
    expected = from_xgboost(hand_json(), reg_lambda=2)
    X = [[0.0, 0.0], [0.0, 3.0], [1.0, 0.0]]
    assert_same(ensemble.raw_predict(X), expected.raw_predict(X))
    assert_same(tree_shap(ensemble, X).values, tree_shap(expected, X).values)
    assert_same(saabas(ensemble, X).values, saabas(expected, X).values)
    with pytest.raises(ValueError, match="predecomp needs the values of the model's nodes"):
        predecomp(ensemble, X)


def test_a_learning_rate_that_no_leaf_tells_must_be_given():
    model = hand_json()
    stump = {name: array[2:3] for name, array in first_tree(model).items()}
    model["learner"]["gradient_booster"]["model"]["trees"] = [stump]
    imported_without_gradients(model, "learning rate cannot be read off", reg_lambda=2)
    ensemble = from_xgboost(model, reg_lambda=2, learning_rate=0.5)
    assert_same(ensemble.sum_gradient, [4])


@pytest.mark.parametrize("parameters", [{"reg_lambda": 2.001}, {"learning_rate": 0.501}])
def test_sums_that_do_not_add_up_are_refused(parameters):
    with pytest.raises(ValueError, match="do not add up at node 0 with reg_lambda=2"):
        from_xgboost(hand_json(), **{"reg_lambda": 2, "learning_rate": 0.5, **parameters})


def test_hessians_that_do_not_add_up_are_refused():
    model = hand_json()
    first_tree(model).update(sum_hessian=[6.0, 4.0, 2.0, 2.5, 2.5])
    first_tree(model).update(split_conditions=[0.5, 2.0, -0.5, 1 / 4.5, -1 / 4.5])
    with pytest.raises(InvalidModelError, match=r"sum_hessian .* do not add up"):
        from_xgboost(model, reg_lambda=2, learning_rate=0.5)


@pytest.mark.parametrize("end", [-np.inf, np.inf])
def test_a_threshold_without_end_parts_missing_rows_from_all_others(end, tmp_path):
    """XGBoost 3.4 writes such; no number is below -inf, and all are below inf."""
    model = put(hand_json(), (*TREE, "split_conditions", 0), end)
    ensemble = from_xgboost(model, reg_lambda=2, learning_rate=0.5)
    X = np.array([[-1e38, 0], [0, 0], [1e38, 0], [np.nan, 0]])
    on_the_right = X[:, 0] >= end  # not nan, of which the default is left
    assert_same(ensemble.raw_predict(X), 0.25 + np.where(on_the_right, -0.5, 0.25))
    assert_valid_ensemble(ensemble)
    to_xgboost(ensemble, tmp_path / "model.json")
    again = from_xgboost(json.loads((tmp_path / "model.json").read_text()))
    assert_same(again.raw_predict(X), ensemble.raw_predict(X))


# ------------------------------------------------------------------------------------- malformed


def first_tree(model):
    return model["learner"]["gradient_booster"]["model"]["trees"][0]


SHAPE = ("learner", "learner_model_param")
MALFORMED = [
    (("learner", "gradient_booster"), GONE, "gradient_booster"),
    ((*TREE, "sum_hessian"), [6.0], "lengths"),
    ((*TREE, "sum_hessian", 0), np.nan, "infinite or nan sum_hessian"),
    ((*TREE, "split_conditions", 0), np.nan, "infinite or nan split_conditions"),
    ((*TREE, "split_conditions", 2), np.inf, "infinite or nan split_conditions"),  # of a leaf
    ((*TREE, "sum_hessian"), [-6.0, -4, -2, -2, -2], "sum_hess"),
    ((*TREE, "left_children", 1), 0, "Node 0 of tree 0.*twice"),  # a cycle
    ((*TREE, "right_children", 0), 5, "Node 5 of tree 0"),
    ((*TREE, "right_children", 0), -1, "Node 0 of tree 0.*one child"),
    ((*TREE, "split_indices", 1), 2, "Tree 0 .* column that is none of 2 at node 1"),
    (("learner", "objective", "name"), "binary:logistic", "not one prediction"),  # of 1.5
    ((*SHAPE, "num_feature"), "2000000000", "num_feature|columns"),
    (("learner", "feature_names"), ["age"], "feature_names"),
]


@pytest.mark.parametrize(("path", "value", "message"), MALFORMED)
def test_malformed(path, value, message):
    model = put(hand_json(base_score="[1.5E0]"), path, value)
    with pytest.raises(InvalidModelError, match=message):
        from_xgboost(model, reg_lambda=2, learning_rate=0.5)


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [GONE, None, True, "", "1", "x", [], {}, [[]], -1, 0, 2**40, 0.5, -2.5, 1e300, 10**400, np.nan,
     "1e400", "-1", nested(5000)],
    ids=lambda value: "deep" if isinstance(value, list) and value and value[0] else str(value)[:20],
)  # fmt: skip
def test_every_single_change_is_a_model_or_an_error(value):
    for path in list(paths_in(hand_json())):
        if path[-1] in ("gradient_booster", "name", "objective") and value == "":
            continue
        try:
            ensemble = from_xgboost(put(hand_json(), path, value), reg_lambda=2)
        except ValueError:  # InvalidModelError is one
            continue
        assert np.isfinite(ensemble.raw_predict([[0.0, 0.0], [1.0, 9.0], [np.nan] * 2])).all()


def test_files(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(hand_json()))
    for name in (path, str(path)):
        assert_same(from_xgboost(name, reg_lambda=2).sum_gradient, [4, 0, -2, 2, 4])
    for damaged in (path.read_bytes()[:-9], b"{L\x00\x00\xff", b""):
        path.write_bytes(damaged)
        with pytest.raises(InvalidModelError, match=r"is not (UB)?JSON.*save_model\('model\.json'"):
            from_xgboost(path, reg_lambda=2)


# ------------------------------------------------------------------------------- against XGBoost

OBJECTIVES = ("reg:squarederror", "binary:logistic", "binary:logitraw")
N_ROUNDS = 8


def training_data(objective):
    """Return rows with gaps and targets, both of float32, and weights."""
    X, y = table("gaps")
    y = y - 1.5 if objective == "reg:squarederror" else y > 2  # with a mean between 0 and 1
    return np.float32(X), np.float32(y), np.random.default_rng(7).gamma(1, size=300)


def train(parameters=(), objective="reg:squarederror", n_rounds=N_ROUNDS, **others):
    """Train a booster without words."""
    xgboost = peer("xgboost")
    X, y, weight = training_data(objective)
    rows = xgboost.DMatrix(X, y, weight=weight)
    parameters = {"objective": objective, "verbosity": 0, "nthread": 1, **dict(parameters)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of deprecated parameters that are to be refused
        return xgboost.train(parameters, rows, n_rounds, **others)


def json_of(booster):
    return json.loads(booster.save_raw("json"))


@pytest.mark.parametrize("start", [-5, 200], ids=["below -1", "too large to be curved"])
def test_far_from_all_targets_squared_log_errors_are_those_of_xgboost(start):
    asked = {"base_score": start, "min_child_weight": 0}
    booster = train(asked, "reg:squaredlogerror", n_rounds=1)
    kept = as_ensemble(booster)
    of_rows = kept.refit_statistics(*training_data("reg:squaredlogerror"))
    for sums in ("sum_gradient", "sum_hessian"):
        of_root = getattr(of_rows, sums)[0]
        assert_close(getattr(kept, sums)[0], of_root, np.abs(of_root), eps=EPS_32)


# -------------------------------------------------------------------------------------- refusals


def own_objective(y, f):
    """Return derivatives of the squared error that count twice where it predicts too much."""
    weight = np.where(f > y, 2.0, 1.0)
    return weight * (f - y), weight


def train_with_margin(objective="reg:squarederror", **parameters):
    xgboost = peer("xgboost")
    X, y, _ = training_data(objective)
    rows = xgboost.DMatrix(X, y, base_margin=np.nan_to_num(X[:, 0]))
    return xgboost.train({"objective": objective, "nthread": 1, **parameters}, rows, 3)


def train_with_own_objective(objective="reg:squarederror", function=own_objective, **parameters):
    xgboost = peer("xgboost")
    X, y, _ = training_data(objective)
    parameters = {"objective": objective, "nthread": 1, **parameters}
    return xgboost.train(
        parameters, xgboost.DMatrix(X, y), 3, obj=lambda f, rows: function(rows.get_label(), f)
    )


VALUED = ("hessians", "values")
ADD = "gradients (add|is larger)"
NOT_VALUED = {
    "a rate that changes": (lambda: changing_rates([0.3, 0.2, 0.2]), "reg_lambda that changed"),
    "another lambda later": (
        lambda: train({"reg_lambda": 3}, xgb_model=train()), "learning_rate or reg_lambda that chan"
    ),
    "values of other rows": (  # statistics of these under the values of the first training
        lambda: train(
            {"process_type": "update", "updater": "refresh", "refresh_leaf": False},
            "binary:logistic", xgb_model=train(),
        ),
        "do not add up",
    ),
}  # fmt: skip
WITHOUT_GRADIENTS = NOT_VALUED | {
    "reg_alpha": (lambda: train({"reg_alpha": 0.5}), "reg_alpha=0.5"),
    "max_delta_step": (lambda: train({"max_delta_step": 0.5}), "max_delta_step=0.5"),
    "monotone": (
        lambda: train({"monotone_constraints": "(0,-1,0,0)"}),
        r"monotone_constraints=\(0,-1,0,0\)",
    ),
    "a margin": (train_with_margin, "the mean of the targets, but the gradients add"),
    "a margin, logistic": (lambda: train_with_margin("binary:logistic"), ADD),
    "a margin, logitraw": (lambda: train_with_margin("binary:logitraw"), ADD),
    "an objective": (train_with_own_objective, "weigh differently, which half the squared error"),
    "an objective, with a base score": (
        lambda: train_with_own_objective(base_score=0.25), "weigh differently"
    ),
    "an objective of the same hessians": (
        lambda: train_with_own_objective(function=lambda y, f: (np.tanh(f - y), np.ones_like(f))),
        "do not follow from the tree before it",
    ),
    "an objective, rows sampled": (
        lambda: train_with_own_objective(subsample=0.5), "was to be estimated and never was"
    ),
    "an objective, logistic": (
        lambda: train_with_own_objective("binary:logistic"),
        "larger than the logistic loss|never was",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WITHOUT_GRADIENTS)
def test_gradients_that_cannot_be_found_out_are_unknown(case):
    """The rows' own gradients, whatever the booster was trained with."""
    make, message = WITHOUT_GRADIENTS[case]
    booster = make()
    known = ("hessians",) if case in NOT_VALUED else VALUED
    unknown = imported_without_gradients(booster, message, known)
    X, y, weight = training_data("reg:squarederror")
    margin = booster.predict(peer("xgboost").DMatrix(X), output_margin=True)
    terms = 1 + abs(unknown.base_score) + unknown.n_trees * np.abs(unknown.value).max()
    assert_close(unknown.raw_predict(X), margin, terms, k=8, eps=EPS_32)
    for explain in (tree_shap, saabas, *[predecomp] * ("values" in unknown.statistics)):
        explain(unknown, X)
    y = (y > 0).astype(float) if unknown.loss.name == "half_logistic" else y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some hessians are others', too
        ensemble = as_ensemble(booster, X, y, weight)
    expected = unknown.refit_statistics(X, y, weight)
    for array in ("sum_gradient", "n_samples", "gain"):
        assert_same(getattr(ensemble, array), getattr(expected, array))
    leaf = ensemble.left < 0
    assert_same(ensemble.value[leaf], unknown.value[leaf])
    total_gain(ensemble)


def test_an_objective_of_ones_own_that_is_the_squared_error_is_one():
    model = train_with_own_objective(function=lambda y, f: (f - y, np.ones_like(f)))
    assert "gradients" in as_ensemble(model).statistics


def test_another_objective_than_softmax_is_found_out():
    """Gradients of one's own, whose classes do not add up to 0."""
    xgboost = peer("xgboost")
    X, y, _ = training_data("reg:squarederror")
    y = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))

    def objective(f, rows):
        gradient = np.tanh(f.reshape(300, 3)) + (y[:, None] != np.arange(3)) * 0.5
        return gradient, np.ones((300, 3))

    asked = {"objective": "multi:softprob", "num_class": 3, "base_score": 0.25}
    ensemble = as_ensemble(xgboost.train(asked, xgboost.DMatrix(X, y), 3, obj=objective))
    assert "classes do not add up to 0" in ensemble.about_gradients
    assert "gradients" not in ensemble.statistics


def test_an_estimator_with_an_objective_of_its_own():
    xgboost = peer("xgboost")
    X, y, _ = training_data("reg:squarederror")
    model = xgboost.XGBRegressor(n_jobs=1, n_estimators=2, objective=own_objective).fit(X, y)
    imported_without_gradients(model, "function of your own", VALUED)
    imported_without_gradients(model.get_booster(), "differently|do not follow", VALUED)


@pytest.mark.parametrize("subsample", [1, 0.5])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_sums_that_nothing_vouches_for_are_of_unknown_origin(objective, subsample):
    """The base score is given, rows are sampled or weighted: own objectives leave no trace."""
    booster = train({"base_score": 0.25, "subsample": subsample}, objective)
    ensemble = as_ensemble(booster)
    assert "gradients" in ensemble.statistics
    if objective == "reg:squarederror" and subsample == 1:  # which vouches for them
        assert ensemble.about_gradients is None
        return
    with pytest.warns(UserWarning, match=r"G and H .* unknown origin: .*X=X_train, y=y_train"):
        total_gain(ensemble)
    X, y, weight = training_data(objective)
    sampled = pytest.warns(UserWarning, match="not what these rows make of it")  # all of them
    with nullcontext() if subsample == 1 else sampled:
        completed = as_ensemble(booster, X, y, weight)
    total_gain(completed)  # and without a warning
    total_gain(ensemble.refit_statistics(X, y))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_unweighted_rows_vouch_for_the_logistic_loss(objective):
    xgboost = peer("xgboost")
    X, y, _ = training_data(objective)
    rows = xgboost.DMatrix(X, y)
    booster = xgboost.train({"objective": objective, "base_score": 0.25}, rows, 3)
    assert as_ensemble(booster).about_gradients is None


def test_training_rows_must_fit():
    booster = train()
    X, y, _ = training_data("reg:squarederror")
    for rows, message in [
        ((None, y), "need both X and y"),
        ((X, y[:-1]), r"y has shape \(299,\)"),
        ((X[:, :2], y), "4 columns"),
    ]:
        with pytest.raises(ValueError, match=message):
            as_ensemble(booster, *rows)


def test_a_model_is_imported_once_while_it_stays_as_it_is():
    xgboost = peer("xgboost")
    booster = train()
    ensemble = as_ensemble(booster)
    assert as_ensemble(booster) is ensemble
    X, y, weight = training_data("reg:squarederror")
    booster.update(xgboost.DMatrix(X, y, weight=weight), N_ROUNDS)
    longer = as_ensemble(booster)
    assert (longer.n_trees, ensemble.n_trees) == (N_ROUNDS + 1, N_ROUNDS)
    kept, gone = weakref.ref(ensemble), weakref.ref(longer)
    del ensemble, longer, booster
    gc.collect()
    assert kept() is None
    assert gone() is None


def test_what_a_sparse_matrix_does_not_store_is_missing():
    rng = np.random.default_rng(0)
    X = sparse.random_array((200, 4), density=0.5, rng=rng, format="csr")
    X.data[::5] = 0.0  # a stored 0 is a number
    is_stored = sparse.csr_array((np.ones(X.nnz), X.indices, X.indptr)).toarray() > 0
    written_out = np.where(is_stored, X.toarray(), np.nan)
    y = np.nan_to_num(written_out, nan=2.0).sum(axis=1)
    model = peer("xgboost").XGBRegressor(n_estimators=5, n_jobs=1).fit(X[:100], y[:100])
    raw = as_ensemble(model).raw_predict(X)
    np.testing.assert_allclose(raw, model.predict(X), rtol=1e-6)
    for measure in (held_out_gain, lambda model, X, y: tree_shap(model, X)):
        of_sparse = measure(model, X[100:], y[100:])
        assert_same(of_sparse.values, measure(model, written_out[100:], y[100:]).values)


def test_what_is_missing_to_some_models_of_an_average_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    X = sparse.random_array((200, 4), density=0.5, rng=rng, format="csr")
    y = X.sum(axis=1)
    of_xgboost = peer("xgboost").XGBRegressor(n_estimators=3, n_jobs=1)
    voting = VotingRegressor([("a", of_xgboost), ("b", DecisionTreeRegressor(max_depth=3))])
    voting.fit(X, y)
    with pytest.raises(ValueError, match=r"missing to some .* XGBoost's, and 0 to others.*toarray"):
        held_out_gain(voting, X, y)
    as_ensemble(voting).save(tmp_path / "model.json")
    for model in (as_ensemble(voting), load(tmp_path / "model.json")):
        assert model.unstored_is_missing is None
        raw = model.raw_predict(X.toarray())
        np.testing.assert_allclose(raw, voting.predict(X.toarray()), rtol=1e-6)


def changing_rates(rates, objective="reg:squarederror"):
    """Train with 0.3 in the first round; the callback sets a rate after each round."""
    xgboost = peer("xgboost")
    schedule = xgboost.callback.LearningRateScheduler(list(rates))
    return train({}, objective, n_rounds=len(rates), callbacks=[schedule])


@pytest.mark.parametrize("parameters", [{"reg_alpha": 5}, {"max_delta_step": 0.2}])
def test_files_do_not_tell_penalties_but_their_sums_do_not_add_up(parameters):
    with pytest.raises(ValueError, match="reg_alpha, max_delta_step or monotone constraints"):
        from_xgboost(json_of(train(parameters)), reg_lambda=1)


def test_a_booster_that_was_read_from_a_file_has_forgotten_lambda_and_eta(tmp_path):
    xgboost = peer("xgboost")
    booster = train({"reg_lambda": 5, "eta": 0.1})
    booster.save_model(tmp_path / "model.ubj")
    read = xgboost.Booster(model_file=tmp_path / "model.ubj")
    imported_without_gradients(read, "read from a file has forgotten both")
    for model in (read, tmp_path / "model.ubj"):
        again = from_xgboost(model, reg_lambda=5, learning_rate=0.1)
        assert_same(again.sum_gradient, as_ensemble(booster).sum_gradient)


REFUSED = [  # parameters and the marker of missing values of an estimator on labels, and the reason
    ({"booster": "gblinear"}, "booster='gblinear'"),
    ({"num_parallel_tree": 3}, "num_parallel_tree=3.*several rounds"),
    ({"learning_rate": 0}, "learning_rate must be more than 0"),
    ({"objective": "binary:hinge"}, "objective='binary:hinge' cannot be imported, only"),
    ({"objective": "multi:softprob", "num_class": 2, "num_parallel_tree": 2}, "with 2 outputs"),
    ({"objective": "reg:quantileerror", "quantile_alpha": [0.1, 0.9]}, "several targets, here 2"),
    ({"objective": "reg:tweedie", "num_parallel_tree": 2}, "num_parallel_tree=2.*several rounds"),
    ({"multi_strategy": "multi_output_tree"}, "multi_output_tree.* its leaves have several values"),
    ({"missing": -1}, r"missing=-1.*get_booster\(\)"),
]


@pytest.mark.parametrize(("asked", "message"), REFUSED)
def test_refused(asked, message):
    X, y, weight = training_data("binary:logistic")
    y = np.column_stack([y, weight]) if "multi_strategy" in asked else y
    estimator = peer("xgboost").XGBRegressor(n_jobs=1, n_estimators=2, verbosity=0, **asked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is deprecated
        model = estimator.fit(np.nan_to_num(X, nan=-1), y)
    with pytest.raises(ValueError, match=message):
        as_ensemble(model)
    if "missing" in asked:
        as_ensemble(model.get_booster())


# -------------------------------------------------------------------------------------- one door


def test_ensembles_and_our_estimators():
    model = GreedyRegressor(n_estimators=2)
    with pytest.raises(NotFittedError):
        as_ensemble(model)
    ensemble = model.fit([[0.0], [1.0]], [0.0, 1.0]).ensemble_
    assert as_ensemble(model) is as_ensemble(ensemble) is ensemble


@pytest.mark.parametrize("model", [None, 3, "model.json", [], LinearRegression(), GBTRegressor])
def test_anything_else_is_a_type_error(model):
    with pytest.raises(TypeError, match=r"an Ensemble.*GBTRegressor.*xgboost\.Booster.*got "):
        as_ensemble(model)


def test_a_dict_is_the_json_of_xgboost():
    imported_without_gradients(hand_json(), "reg_lambda is in no file")

    model = json_of(train())  # whose many splits leave but one lambda, the default
    assert_same(as_ensemble(model).sum_gradient, from_xgboost(model, reg_lambda=1).sum_gradient)
    imported_without_gradients(json_of(train({"reg_lambda": 3})), "do not add up .*reg_lambda=1")


@pytest.mark.parametrize(
    "objective",
    ["reg:squarederror", "binary:logistic", "binary:logitraw", "count:poisson", "multi:softprob"],
)
def test_a_booster_of_no_rounds(objective):
    """No training has replaced XGBoost's default start, 1/2, which is then its raw prediction."""
    X, y, _ = training_data("binary:logistic")
    xgboost = peer("xgboost")
    asked = {"objective": objective, **({"num_class": 2} if "multi" in objective else {})}
    booster = xgboost.train(asked, xgboost.DMatrix(X, y), 0)
    raw = booster.predict(xgboost.DMatrix(X), output_margin=True)
    assert_same(as_ensemble(booster).raw_predict(X), raw)
    given = xgboost.train({**asked, "base_score": 0.25}, xgboost.DMatrix(X, y), 0)
    raw = given.predict(xgboost.DMatrix(X), output_margin=True)
    assert_close(as_ensemble(given).raw_predict(X), raw, np.abs(raw), eps=EPS_32)


def test_rows_far_from_their_predictions_may_be_those_of_training_under_aft():
    """A censored row that survives with p = 4e-16 has H = 15 here, and 1e-16 in XGBoost."""
    xgboost, rng = peer("xgboost"), np.random.default_rng(0)
    X, low = rng.normal(size=(300, 3)), np.append(np.full(299, 0.5), 35.45)
    high = np.append(np.full(299, 0.6), np.inf)
    rows = xgboost.DMatrix(X)
    rows.set_float_info("label_lower_bound", low)
    rows.set_float_info("label_upper_bound", high)
    asked = {"objective": "survival:aft", "aft_loss_distribution": "extreme", "base_score": 1.0}
    booster = xgboost.train(asked | {"aft_loss_distribution_scale": 1.0}, rows, 1)
    with pytest.warns(UserWarning, match=r"they give .* or rows far from their predictions got"):
        ensemble = as_ensemble(booster, X, np.column_stack([low, high]))
    kept = import_model(booster).ensemble.sum_hessian[0]
    assert_close(ensemble.sum_hessian[0] - kept, 15.0, ensemble.sum_hessian[0], eps=EPS_32)
