"""Importing XGBoost models: by hand, against XGBoost, and drawn trees there and back."""

import gc
import json
import warnings
import weakref

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from attributions import predecomp, saabas, total_gain, tree_inner, tree_shap
from gbt import GBTRegressor
from gbt.files.documents import InvalidModelError
from gbt.formats import as_ensemble
from gbt.formats.xgboost.model import from_xgboost
from tests.asserts import EPS_32, assert_close, assert_same, assert_valid_ensemble, peer

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


def hand_json(objective="reg:squarederror", base_score="[2.5E-1]"):
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
    return json_model([tree], ["age", "height"], objective, base_score)


def json_model(trees, feature_names, objective, base_score):
    """Return what of XGBoost's JSON an import needs."""
    return {
        "learner": {
            "feature_names": list(feature_names),
            "gradient_booster": {
                "name": "gbtree",
                "model": {"gbtree_model_param": {"num_parallel_tree": "1"}, "trees": trees},
            },
            "learner_model_param": {
                "base_score": base_score,
                "num_class": "0",
                "num_target": "1",
                "num_feature": str(len(feature_names)),
            },
            "objective": {"name": objective},
        }
    }


@pytest.mark.parametrize("learning_rate", [0.5, None], ids=["given", "read off the leaves"])
def test_hand_example(learning_rate):
    ensemble = from_xgboost(hand_json(), reg_lambda=2, learning_rate=learning_rate)

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


def test_hand_example_goes_left_below_the_threshold_in_float32():
    """The float32 before 0.5 is 0.5 - 2^-25; a float64 between them goes with the nearer one."""
    ensemble = from_xgboost(hand_json(), reg_lambda=2)
    x0 = [0.5, 0.5 - 2**-27, 0.5 - 7 * 2**-28, 0.5 - 2**-25, np.nan]
    assert_same(ensemble.apply(np.column_stack([x0, [9.0] * 5]))[:, 0], [4, 4, 3, 3, 3])


@pytest.mark.parametrize(
    ("objective", "base_score", "raw"),
    [
        ("reg:squarederror", "[2.5E-1]", 0.25),
        ("reg:squarederror", "2.5E-1", 0.25),  # before version 3.1
        ("binary:logistic", "[7.5E-1]", np.log(3.0)),
        ("binary:logistic", "5E-1", 0.0),
        ("reg:logistic", "[7.5E-1]", np.log(3.0)),
        ("binary:logitraw", "[7.5E-1]", 0.75),
    ],
)
def test_base_score_is_in_prediction_space(objective, base_score, raw):
    ensemble = from_xgboost(hand_json(objective, base_score), reg_lambda=2)
    assert_close(ensemble.base_score, raw, terms=abs(raw))


def test_nodes_that_were_pruned_are_left_out():
    model = hand_json()
    tree = model["learner"]["gradient_booster"]["model"]["trees"][0]
    for name, pruned in {"left_children": [-1] * 2, "base_weights": [np.nan] * 2}.items():
        tree[name] = tree[name] + pruned
    for name in tree:
        tree[name] = (tree[name] + [2**31 - 1] * 2)[:7]
    whole = from_xgboost(hand_json(), reg_lambda=2)
    assert_same(from_xgboost(model, reg_lambda=2).sum_gradient, whole.sum_gradient)


def test_without_lambda_the_hand_example_predicts_but_has_no_gradients():
    ensemble = imported_without_gradients(
        hand_json(), "reg_lambda is in no file, and several would do"
    )
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


# ------------------------------------------------------------------------------------- malformed


def first_tree(model):
    return model["learner"]["gradient_booster"]["model"]["trees"][0]


GONE = object()


def planted(path, value):
    """Return the hand example with something else under a path of keys."""
    model = hand_json()
    at = model
    for key in path[:-1]:
        at = at[key]
    if value is GONE:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return model


TREES = ("learner", "gradient_booster", "model", "trees")
SHAPE = ("learner", "learner_model_param")
MALFORMED = {
    "no booster": (planted(("learner", "gradient_booster"), GONE), "gradient_booster"),
    "an array is short": (planted((*TREES, 0, "sum_hessian"), [6.0]), "lengths"),
    "nan": (planted((*TREES, 0, "sum_hessian", 0), np.nan), "infinite or nan sum_hessian"),
    "negative hessians": (planted((*TREES, 0, "sum_hessian"), [-6.0, -4, -2, -2, -2]), "sum_hess"),
    "cycle": (planted((*TREES, 0, "left_children", 1), 0), "Node 0 of tree 0.*twice"),
    "child out of range": (planted((*TREES, 0, "right_children", 0), 5), "Node 5 of tree 0"),
    "one child": (planted((*TREES, 0, "right_children", 0), -1), "Node 0 of tree 0.*one child"),
    "unknown column": (
        planted((*TREES, 0, "split_indices", 1), 2),
        "Tree 0 .* column that is none of 2 at node 1",
    ),
    "no probability": (hand_json("binary:logistic", "[1.5E0]"), "not one prediction"),
    "a bomb of columns": (planted((*SHAPE, "num_feature"), "2000000000"), "num_feature|columns"),
    "a column without a name": (planted(("learner", "feature_names"), ["age"]), "feature_names"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed(case):
    model, message = MALFORMED[case]
    with pytest.raises(InvalidModelError, match=message):
        from_xgboost(model, reg_lambda=2, learning_rate=0.5)


def paths_in(value, way=()):
    """Yield the path to every key and every element of a document."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*way, key)
        if isinstance(item, dict | list):
            yield from paths_in(item, (*way, key))


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
            ensemble = from_xgboost(planted(path, value), reg_lambda=2)
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
        with pytest.raises(
            InvalidModelError, match=r"is not (UB)?JSON.*save_model\('model\.json'\)"
        ):
            from_xgboost(path, reg_lambda=2)


# ------------------------------------------------------------------------------- against XGBoost

OBJECTIVES = ("reg:squarederror", "binary:logistic", "binary:logitraw")
N_ROUNDS = 8


def training_data(objective):
    """Return rows (float32, some missing), targets and weights."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    X[:, 1] = rng.integers(0, 5, size=300)
    X[:, 2] = (X[:, 2] * 10).round() / 10
    X[rng.random(X.shape) < 0.1] = np.nan
    signal = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1] * X[:, 2])
    y = signal + rng.normal(size=300)
    return X, np.float32(y if objective == "reg:squarederror" else y > 0), rng.gamma(1, size=300)


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


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("asked", [{}, {"eta": 1.0, "max_depth": 3}, {"reg_lambda": 0}], ids=str)
def test_a_file_gives_the_same_model_and_its_leaves_the_learning_rate(objective, asked, tmp_path):
    booster = train(asked, objective)
    expected = as_ensemble(booster)
    rate, given_lambda = expected.learning_rate, {"reg_lambda": expected.reg_lambda}
    booster.save_model(tmp_path / "model.json")
    for model in (json_of(booster), tmp_path / "model.json"):
        again = from_xgboost(model, learning_rate=rate, **given_lambda)
        assert_same(again.sum_gradient, expected.sum_gradient)
        assert_same(again.value, expected.value)
        assert_close(from_xgboost(model, **given_lambda).learning_rate, rate, rate, k=8, eps=EPS_32)


@pytest.mark.parametrize("start", [-5, 200], ids=["below -1", "too large to be curved"])
def test_far_from_all_targets_squared_log_errors_are_those_of_xgboost(start):
    asked = {"base_score": start, "min_child_weight": 0}
    booster = train(asked, "reg:squaredlogerror", n_rounds=1)
    kept = as_ensemble(booster)
    of_rows = kept.refit_statistics(*training_data("reg:squaredlogerror"))
    for sums in ("sum_gradient", "sum_hessian"):
        of_root = getattr(of_rows, sums)[0]
        assert_close(getattr(kept, sums)[0], of_root, np.abs(of_root), eps=EPS_32)


def test_learning_rate_of_stumps_with_roots_of_no_gradient_must_be_given():
    """The base score is the mean, so the first root has G = 0, and lambda 0 leaves it at 0."""
    model = json_of(train({"max_depth": 1, "reg_lambda": 0}))
    imported_without_gradients(model, r"cannot be read off.*learning_rate=\.\.\.", reg_lambda=0)
    assert from_xgboost(model, reg_lambda=0, learning_rate=0.3).n_trees == N_ROUNDS


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_booster_has_all_trees_and_an_estimator_those_that_it_predicts_with(n_classes):
    xgboost = peer("xgboost")
    X, y, _ = training_data("reg:squarederror")
    y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    asked = {"n_estimators": 100, "early_stopping_rounds": 3, "eta": 0.5, "verbosity": 0}
    model = xgboost.XGBClassifier(n_jobs=1, **asked)
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
    booster, n_rounds = model.get_booster(), model.get_booster().num_boosted_rounds()
    assert 0 < model.best_iteration < n_rounds - 1
    for given, n_taken, margin in (
        (model, model.best_iteration + 1, model.predict(X, output_margin=True)),
        (booster, n_rounds, booster.predict(xgboost.DMatrix(X), output_margin=True)),
    ):
        ensemble = as_ensemble(given)
        assert ensemble.n_rounds == n_taken
        terms = np.abs(ensemble.base_score).max() + n_taken * np.abs(ensemble.value).max()
        assert_close(ensemble.raw_predict(X), margin, terms, k=8, eps=EPS_32)


# -------------------------------------------------------------------------------------- refusals


REFUSED = {
    "gblinear": ({"booster": "gblinear"}, "booster='gblinear'"),
    "trees a round": ({"num_parallel_tree": 3}, "num_parallel_tree=3.*several rounds"),
    "eta 0": ({"eta": 0}, "learning_rate must be more than 0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_parameters(case):
    parameters, message = REFUSED[case]
    booster = train(parameters)
    with pytest.raises(ValueError, match=message):
        as_ensemble(booster)


def own_objective(y, f):
    """Return derivatives of the squared error that count twice where it predicts too much."""
    weight = np.where(f > y, 2.0, 1.0)
    return weight * (f - y), weight


def by_rows(y, f):
    return f - y, np.ones_like(f)


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
WITHOUT_GRADIENTS = {
    "reg_alpha": (lambda: train({"reg_alpha": 0.5}), "reg_alpha=0.5", VALUED),
    "max_delta_step": (lambda: train({"max_delta_step": 0.5}), "max_delta_step=0.5", VALUED),
    "monotone": (
        lambda: train({"monotone_constraints": "(0,-1,0,0)"}),
        r"monotone_constraints=\(0,-1,0,0\)",
        VALUED,
    ),
    "a rate that changes": (
        lambda: changing_rates([0.3, 0.2, 0.2]),
        "learning_rate or reg_lambda that changed",
        ("hessians",),
    ),
    "another lambda later": (
        lambda: train({"reg_lambda": 3}, xgb_model=train()),
        "learning_rate or reg_lambda that changed",
        ("hessians",),
    ),
    "values of other rows": (  # statistics of these under the values of the first training
        lambda: train(
            {"process_type": "update", "updater": "refresh", "refresh_leaf": False},
            "binary:logistic",
            xgb_model=train(),
        ),
        "do not add up",
        ("hessians",),
    ),
    "a margin": (train_with_margin, "the mean of the targets, but the gradients add", VALUED),
    "a margin, logistic": (
        lambda: train_with_margin("binary:logistic"), "gradients (add|is larger)", VALUED
    ),
    "a margin, logitraw": (
        lambda: train_with_margin("binary:logitraw"), "gradients (add|is larger)", VALUED
    ),
    "an objective": (
        train_with_own_objective, "weigh differently, which half the squared error", VALUED
    ),
    "an objective, with a base score": (
        lambda: train_with_own_objective(base_score=0.25), "weigh differently", VALUED
    ),
    "an objective of the same hessians": (
        lambda: train_with_own_objective(function=lambda y, f: (np.tanh(f - y), np.ones_like(f))),
        "do not follow from the tree before it",
        VALUED,
    ),
    "an objective, rows sampled": (
        lambda: train_with_own_objective(subsample=0.5), "was to be estimated and never was", VALUED
    ),
    "an objective, logistic": (
        lambda: train_with_own_objective("binary:logistic"),
        "larger than the logistic loss|never was",
        VALUED,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WITHOUT_GRADIENTS)
def test_gradients_that_cannot_be_found_out_are_unknown(case):
    """The rows' own gradients, whatever the booster was trained with."""
    make, message, known = WITHOUT_GRADIENTS[case]
    booster = make()
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
    assert "gradients" in as_ensemble(train_with_own_objective(function=by_rows)).statistics


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
    if subsample == 1:
        total_gain(as_ensemble(booster, *training_data(objective)))  # and without a warning


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_unweighted_rows_vouch_for_the_logistic_loss(objective):
    xgboost = peer("xgboost")
    X, y, _ = training_data(objective)
    rows = xgboost.DMatrix(X, y)
    booster = xgboost.train({"objective": objective, "base_score": 0.25}, rows, 3)
    assert as_ensemble(booster).about_gradients is None


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_training_rows_supply_counts_and_check_the_rest(objective):
    booster = train({}, objective)
    X, y, weight = training_data(objective)
    kept = as_ensemble(booster)
    ensemble = as_ensemble(booster, X, y, weight)
    assert ensemble.statistics == {"gradients", "hessians", "counts", "values"}
    for name in ("sum_gradient", "sum_hessian", "gain", "value"):
        assert_same(getattr(ensemble, name), getattr(kept, name))
    assert_same(ensemble.n_samples[ensemble.tree_offset[:-1]], [len(X)] * N_ROUNDS)
    assert_valid_ensemble(ensemble)

    for others in ((X[:-9], y[:-9], weight[:-9]), (X, y, None), (X, 1 - y, weight)):
        with pytest.warns(
            UserWarning, match=r"not what these rows make of it: at node 0 of tree 0"
        ):
            ensemble = as_ensemble(booster, *others)
        expected = kept.refit_statistics(*others)
        for name in ("sum_gradient", "sum_hessian", "n_samples", "gain"):
            assert_same(getattr(ensemble, name), getattr(expected, name))


def test_training_rows_must_fit():
    booster = train()
    X, y, weight = training_data("reg:squarederror")
    for rows, message in [
        ((X,), "need both X and y"),
        ((None, y), "need both X and y"),
        ((None, None, weight), "need both X and y"),
        ((X, y[:-1]), r"y has shape \(299,\)"),
        (
            (X, y, weight[:-1]),
            r"sample_weight has shape \(299,\); it needs one weight for each row",
        ),
        ((X, y, -weight), "sample_weight must not be negative"),
        ((X, np.full(len(y), np.nan)), "targets must be finite"),
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


@pytest.mark.parametrize(
    ("objective", "others", "message"),
    [
        ("binary:hinge", {}, "objective='binary:hinge' cannot be imported, only"),
        ("multi:softprob", {"num_class": 2, "num_parallel_tree": 2}, "with 2 outputs"),
        ("reg:quantileerror", {"quantile_alpha": [0.1, 0.9]}, "several targets, here 2"),
        ("reg:tweedie", {"num_parallel_tree": 2}, "num_parallel_tree=2.*several rounds"),
    ],
)  # fmt: skip
def test_refused_objectives(objective, others, message):
    xgboost = peer("xgboost")
    X, y, _ = training_data("binary:logistic")
    rows = xgboost.DMatrix(X, y, label_lower_bound=y + 1, label_upper_bound=y + 2)
    booster = xgboost.train({"objective": objective, **others}, rows, 2)
    with pytest.raises(ValueError, match=message):
        as_ensemble(booster)


def test_trees_of_several_targets_are_refused():
    xgboost = peer("xgboost")
    X, y, weight = training_data("reg:squarederror")
    model = xgboost.XGBRegressor(
        n_jobs=1, n_estimators=2, multi_strategy="multi_output_tree", tree_method="hist"
    )
    model.fit(X, np.column_stack([y, weight]))
    with pytest.raises(ValueError, match=r"multi_output_tree.* its leaves have several values"):
        as_ensemble(model)


@pytest.mark.parametrize("subsample", [1.0, 0.8])
@pytest.mark.parametrize("kind", ["Regressor", "Classifier"])
def test_a_random_forest(kind, subsample):
    """One round of trees; if they saw all rows, Proposition 3 holds of each of them."""
    asked = {"n_jobs": 1, "n_estimators": 5, "random_state": 0, "subsample": subsample}
    X, y, _ = training_data("reg:squarederror" if kind == "Regressor" else "binary:logistic")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # deprecated from 3.4 on
        model = getattr(peer("xgboost"), f"XGBRF{kind}")(**asked).fit(X, y)
    ensemble = as_ensemble(model)
    assert (ensemble.n_trees, ensemble.is_forest) == (5, True)
    assert ensemble.statistics == {"gradients", "hessians", "values"}
    margin = model.predict(X, output_margin=True)
    assert_close(ensemble.raw_predict(X), margin, np.full(len(X), 10.0), eps=EPS_32)
    assert_valid_ensemble(ensemble)
    if subsample == 1:
        inner = tree_inner(as_ensemble(model, X, y), X, y).values
        gain = total_gain(ensemble).values
        assert_close(inner, gain, gain.sum(), k=1024, eps=EPS_32)


def test_another_marker_for_missing_values_is_refused():
    xgboost = peer("xgboost")
    X, y, _ = training_data("reg:squarederror")
    model = xgboost.XGBRegressor(n_jobs=1, n_estimators=2, missing=-1).fit(
        np.nan_to_num(X, nan=-1), y
    )
    with pytest.raises(ValueError, match=r"missing=-1.*get_booster\(\)"):
        as_ensemble(model)
    as_ensemble(model.get_booster())


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


# -------------------------------------------------------------------------------------- one door


def test_an_ensemble_is_its_own_ensemble():
    ensemble = from_xgboost(hand_json(), reg_lambda=2)
    assert as_ensemble(ensemble) is ensemble


def test_our_estimators():
    X, y, _ = training_data("reg:squarederror")
    model = GBTRegressor(n_estimators=2, splitter="greedy")
    with pytest.raises(NotFittedError):
        as_ensemble(model)
    assert as_ensemble(model.fit(X, y)) is model.ensemble_


def test_an_estimator_of_xgboost_that_is_not_fitted():
    xgboost = peer("xgboost")
    with pytest.raises(NotFittedError):
        as_ensemble(xgboost.XGBRegressor())


@pytest.mark.parametrize("model", [None, 3, "model.json", [], LinearRegression(), GBTRegressor])
def test_anything_else_is_a_type_error(model):
    with pytest.raises(TypeError, match=r"an Ensemble.*GBTRegressor.*xgboost\.Booster.*got "):
        as_ensemble(model)


def test_other_classes_of_xgboost_are_a_type_error():
    xgboost = peer("xgboost")
    with pytest.raises(TypeError, match="got DMatrix"):
        as_ensemble(xgboost.DMatrix(np.zeros((2, 2))))


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
