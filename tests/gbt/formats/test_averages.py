"""Averages of models, and models side by side, are one sum of trees; what is none is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import (
    ColumnTransformer,
    TransformedTargetRegressor,
    make_column_transformer,
)
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import Ridge
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor, RegressorChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from attributions import SeenRowsWarning, held_out_gain, predecomp, total_gain, tree_shap
from gbt.formats import Average, ScaleWarning, as_ensemble
from gbt.losses import Quantile
from gbt.losses.amounts import Poisson
from tests.gbt.formats.read_models import rows_beside_thresholds
from tests.greedy import GreedyClassifier, GreedyRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = X[:, 0] + X[:, 1] ** 2 + 0.3 * RNG.normal(size=120)
SEVERAL = np.column_stack([Y, X[:, 2] - Y])
LABELS = np.where(Y > 0.5, "yes", "no")
THREE = np.digitize(Y, [0, 1.5])
X_NEW = RNG.normal(size=(50, 4))
Y_NEW = X_NEW[:, 0] + X_NEW[:, 1] ** 2
LABELS_NEW = np.where(Y_NEW > 0.5, "yes", "no")
NEW_SEVERAL = np.column_stack([Y_NEW, X_NEW[:, 2] - Y_NEW])


def boosted(**others):
    return GreedyRegressor(n_estimators=3, **others)


def classifier(n_estimators=3):
    return GreedyClassifier(n_estimators=n_estimators)


def mixed_regressors():
    return [
        ("ours", boosted(learning_rate=0.3)),
        ("forest", RandomForestRegressor(4, max_depth=4, random_state=0)),
        ("histograms", HistGradientBoostingRegressor(max_iter=5)),
        ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
        ("boosted", GradientBoostingRegressor(n_estimators=2, random_state=0)),
    ]


def forests():
    return [
        ("forest", RandomForestClassifier(3, max_depth=3, random_state=0)),
        ("extra", ExtraTreesClassifier(5, max_depth=3, random_state=0)),
        ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ]


def bag(of, cls=BaggingRegressor, **others):
    return cls(of, n_estimators=3, random_state=0, **others)


AVERAGES = {
    "voting": (VotingRegressor(mixed_regressors(), weights=[1, 2, 0.5, 1, 3]), Y),
    "votes of classes": (VotingClassifier(forests(), voting="soft", weights=[1, 2, 1]), LABELS),
    "votes of three": (VotingClassifier(forests(), voting="soft"), THREE),
    "bag of trees": (bag(DecisionTreeRegressor()), Y),
    "bag of some columns": (bag(boosted(), max_features=2), Y),
    "bag of columns drawn twice": (
        bag(HistGradientBoostingRegressor(max_iter=3), max_features=0.8, bootstrap_features=True),
        Y,
    ),
    "bag of classes": (bag(DecisionTreeClassifier(max_depth=3), BaggingClassifier), THREE),
    "targets": (MultiOutputRegressor(HistGradientBoostingRegressor(max_iter=3)), SEVERAL),
}


@pytest.mark.parametrize(("model", "y"), AVERAGES.values(), ids=AVERAGES)
def test_the_trees_add_up_to_what_the_whole_predicts(model, y):
    model = model.fit(X, y)
    ensemble = as_ensemble(model)
    rows = rows_beside_thresholds(ensemble, X_NEW)
    expected = model.predict(rows)
    if hasattr(model, "predict_proba"):
        expected = model.predict_proba(rows)
        expected = expected[:, 1] if expected.shape[1] == 2 else expected
    raw = ensemble.raw_predict(rows)
    np.testing.assert_allclose(raw, expected, rtol=0, atol=1e-12)
    cover = "hessian" if "hessians" in ensemble.statistics else "count"
    shap = tree_shap(model, rows, cover=cover)
    given = shap.values.sum(axis=1) + shap.base_values
    np.testing.assert_allclose(given, expected, rtol=0, atol=1e-10)
    assert as_ensemble(model) is ensemble  # is kept


def stumps(model, weight):
    """Return a boosted model's stumps: the share of its rounds, column, threshold, leaves, H."""
    trees = [tree.tree_ for tree in model.estimators_[:, 0]]
    for m, tree in enumerate(trees):
        leaves = weight * model.learning_rate * tree.value[1:, 0, 0]
        share = (m + 1) / len(trees)
        yield share, tree.feature[0], tree.threshold[0], leaves, tree.weighted_n_node_samples[1:]


def test_held_out_gain_judges_every_tree_at_what_the_average_predicts_before_it():
    makes = GradientBoostingRegressor
    one = makes(n_estimators=2, max_depth=1, learning_rate=0.5, random_state=0)
    other = makes(n_estimators=4, max_depth=1, learning_rate=0.3, random_state=0)
    voting = VotingRegressor([("one", one), ("other", other)], weights=[1, 3]).fit(X, Y)
    trees = [*stumps(voting.estimators_[0], 0.25), *stumps(voting.estimators_[1], 0.75)]
    f = np.full(len(X_NEW), Y.mean())
    work, gain = np.zeros((4, len(X_NEW))), np.zeros(4)
    for _, k, threshold, leaves, H in sorted(trees, key=lambda tree: tree[0]):
        goes_right = (X_NEW[:, k] > threshold).astype(int)
        residual = Y_NEW - (f - work[k])
        step = (leaves - leaves @ H / H.sum())[goes_right]
        gain[k] += (step - step.mean()) @ residual
        f = f + leaves[goes_right]
        work[k] += step
    np.testing.assert_allclose(f, voting.predict(X_NEW))
    rate = (2 * 0.25 * 0.5 + 4 * 0.75 * 0.3) / 6
    np.testing.assert_allclose(held_out_gain(voting, X_NEW, Y_NEW).values, gain / rate)


def test_a_bag_of_trees_is_a_forest():
    trees = bag(DecisionTreeRegressor(max_depth=4)).fit(X, Y)
    forest = RandomForestRegressor(3, random_state=0).fit(X, Y)
    forest.estimators_ = trees.estimators_
    for measure in (lambda m: held_out_gain(m, X_NEW, Y_NEW), total_gain):
        np.testing.assert_allclose(measure(trees).values, measure(forest).values)


def test_lists_are_averages_of_raw_predictions():
    of_bins = HistGradientBoostingClassifier(max_iter=2)
    models = [classifier().fit(X, LABELS), of_bins.fit(X, LABELS)]
    raw = [model.decision_function(X_NEW) for model in models]
    np.testing.assert_allclose(as_ensemble(models).raw_predict(X_NEW), np.mean(raw, axis=0))
    weighted = Average(models, weights=[3, 1])
    expected = 0.75 * raw[0] + 0.25 * raw[1]
    np.testing.assert_allclose(as_ensemble(weighted).raw_predict(X_NEW), expected)
    held_out_gain(weighted, X_NEW, LABELS_NEW)  # by the labels of the models
    twice = held_out_gain([models[0], models[0]], X_NEW, LABELS_NEW)
    assert np.argmax(twice.values) == np.argmax(held_out_gain(models[0], X_NEW, LABELS_NEW).values)
    with pytest.warns(SeenRowsWarning, match="^60 of the 60 rows"):
        held_out_gain([classifier().fit(X[s], LABELS[s]) for s in (slice(40), slice(60))],
                      X[:60], LABELS[:60])  # fmt: skip


def test_gains_of_unlike_steps_have_no_total():
    models = [boosted(learning_rate=rate).fit(X, Y) for rate in (0.1, 0.3)]
    with pytest.raises(ValueError, match="differ in the length of their steps or in lambda"):
        total_gain(models)
    whole = as_ensemble(models, X, Y)
    raw = whole.base_score + np.zeros(len(X))
    first = whole.trees[0]
    np.testing.assert_allclose(first.sum_gradient[0], (raw - Y).sum(), atol=1e-12)
    alike = [boosted(max_depth=depth).fit(X, Y) for depth in (1, 3)]
    expected = total_gain(alike[0]).values + total_gain(alike[1]).values
    np.testing.assert_allclose(total_gain(alike).values, expected)


def test_training_rows_complete_every_member_by_the_rows_that_it_drew():
    model = bag(GradientBoostingRegressor(n_estimators=2, loss="absolute_error"), max_features=3)
    whole = as_ensemble(model.fit(X, Y), X, Y)
    weight = np.bincount(model.estimators_samples_[0], minlength=len(X))
    rows = X[:, model.estimators_features_[0]]
    part = as_ensemble(model.estimators_[0], rows, Y, weight.astype(float))
    np.testing.assert_array_equal(whole.trees[0].sum_gradient, part.trees[0].sum_gradient)
    weights = np.exp(X[:, 3])  # by which scikit-learn draws rows
    bagged = bag(GradientBoostingRegressor(n_estimators=2), max_features=3).fit(X, Y, weights)
    whole, kept = as_ensemble(bagged, X, Y, weights), as_ensemble(bagged)
    assert whole.statistics == kept.statistics
    np.testing.assert_array_equal(whole.sum_hessian, kept.sum_hessian)


@pytest.mark.parametrize("model", [bag(DecisionTreeClassifier(), BaggingClassifier),
                                   VotingClassifier(forests(), voting="soft")])  # fmt: skip
def test_labels_that_no_member_knows_are_refused_in_the_words_of_the_user(model):
    other = np.where(np.arange(len(X)) < 9, "perhaps", LABELS)  # between "no" and "yes"
    told = "y holds 'perhaps'; the model tells 'no' from 'yes'"
    with pytest.raises(ValueError, match=told):
        as_ensemble(model.fit(X, LABELS), X, other)


def test_transformed_targets_are_judged_on_the_scale_of_the_trees():
    model = TransformedTargetRegressor(boosted(), func=np.exp, inverse_func=np.log).fit(X, Y)
    expected = held_out_gain(model.regressor_, X_NEW, np.exp(Y_NEW))
    with pytest.warns(ScaleWarning, match="add up to transformed targets"):
        result = held_out_gain(model, X_NEW, Y_NEW)
    np.testing.assert_array_equal(result.values, expected.values)
    np.testing.assert_array_equal(result.standard_error, expected.standard_error)
    with pytest.raises(ValueError, match="models of transformed targets"):
        as_ensemble(VotingRegressor([("one", model)]).fit(X, Y))


def test_calibrated_models_are_the_average_below_the_calibration():
    model = CalibratedClassifierCV(classifier(), cv=3).fit(X, LABELS)
    below = [part.estimator for part in model.calibrated_classifiers_]
    with pytest.warns(ScaleWarning, match="the trees below the calibration"):
        values = predecomp(model, X_NEW).values
    np.testing.assert_allclose(values, np.mean([predecomp(m, X_NEW).values for m in below], axis=0))


@pytest.mark.parametrize("of_labels", [False, True])
def test_targets_side_by_side_are_outputs(of_labels):
    if of_labels:
        fitted = MultiOutputClassifier(classifier()).fit(X, np.where(SEVERAL > 0, "b", "a"))
        targets = np.where(NEW_SEVERAL > 0, "b", "a")
    else:
        fitted = MultiOutputRegressor(boosted()).fit(X, SEVERAL)
        targets = NEW_SEVERAL
    # A model that stopped early has fewer rounds.
    fitted.estimators_[1].ensemble_ = fitted.estimators_[1].ensemble_.truncate(2)
    result = held_out_gain(fitted, X_NEW, targets, per_output=True)
    for k, model in enumerate(fitted.estimators_):
        alone = held_out_gain(model, X_NEW, targets[:, k])
        np.testing.assert_allclose(result.per_output[k], alone.values, rtol=1e-12, atol=1e-12)


REFUSED = {
    "votes of log odds": (
        VotingClassifier([("one", classifier())], voting="soft"),
        LABELS,
        "averages probabilities, and those of its GBTClassifier are no sums of trees",
    ),
    "bag of log odds": (bag(classifier(), BaggingClassifier), LABELS, "averages probabilities"),
    "hard votes": (VotingClassifier(forests()), LABELS, "voting='hard'"),
    "amounts": (
        VotingRegressor([("one", boosted(loss="poisson"))]),
        np.abs(Y),
        "averages predictions.* under the poisson loss",
    ),
    "three labels a target": (
        MultiOutputClassifier(RandomForestClassifier(2)),
        np.column_stack([THREE, THREE]),
        r"have \[3, 3\] classes",
    ),
    "a line": (
        VotingRegressor([("trees", boosted()), ("line", Ridge())]),
        Y,
        "The Ridge in this VotingRegressor is no model of trees .* or fit the VotingRegressor with",
    ),
    "chain": (RegressorChain(boosted()), SEVERAL, "RegressorChain is no model of trees"),
}


@pytest.mark.parametrize(("model", "y", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_sum_of_trees_is_refused_by_name(model, y, message):
    model = model.fit(X, y)
    with pytest.raises((ValueError, TypeError), match=message):
        held_out_gain(model, X_NEW, y[:50])


WORDS = np.array(["Bern", "Lima", "Oslo", "Rome"], dtype=object)


def table_of(rows):
    """Return a frame of words and numbers."""
    table = pd.DataFrame(rows, columns=["city", "age", "height", "weight"])
    table["city"] = WORDS[np.clip(rows[:, 0].round() + 1, 0, 3).astype(int)]
    return table


def hot(model, **others):
    words = OneHotEncoder(handle_unknown="ignore", **others)
    return make_pipeline(make_column_transformer((words, [0]), remainder="passthrough"), model)


BINS = HistGradientBoostingRegressor(max_iter=4)
PIPELINES = [
    ("hot", hot(BINS, sparse_output=False)),
    ("drop", hot(boosted(), drop="first")),
    ("words", boosted()),
]
OWN_TABLES = {
    "votes": (VotingRegressor(PIPELINES, weights=[1, 2, 3]), Y),
    "bag of words, some columns": (bag(boosted(), max_features=3), Y),
    "bag of pipelines": (bag(hot(boosted())), Y),
    "forests": (VotingClassifier([("1", hot(forests()[0][1]))], voting="soft"), LABELS),
    "targets": (MultiOutputRegressor(hot(boosted())), SEVERAL),
}


@pytest.mark.parametrize(("model", "y"), OWN_TABLES.values(), ids=OWN_TABLES)
def test_models_that_read_tables_of_their_own_add_up_by_the_columns_of_the_user(model, y):
    model.fit(table_of(X), y)
    table = table_of(X_NEW)
    expected = model.predict_proba(table)[:, 1] if y is LABELS else model.predict(table)
    for ensemble in as_ensemble(model), as_ensemble(model, table_of(X), y):
        np.testing.assert_allclose(ensemble.raw_predict(table), expected, rtol=0, atol=1e-12)
    shap = tree_shap(ensemble, table)
    assert shap.feature_names == tuple(table)
    np.testing.assert_allclose(shap.values.sum(axis=1) + shap.base_values, expected, atol=1e-10)


def test_tables_of_their_own_are_refused_in_another_order():
    model = as_ensemble(OWN_TABLES["bag of pipelines"][0].fit(table_of(X), Y))
    table = table_of(X_NEW)
    with pytest.raises(ValueError, match="in another order"):
        model.raw_predict(table[table.columns[::-1]])
    with pytest.raises(ValueError, match="X has 3 columns; the model needs 4"):
        model.raw_predict(table.iloc[:, 1:])


def test_tables_of_their_own_may_be_sparse():
    words = table_of(X)[["city"]]
    pipelines = [(name, make_pipeline(OneHotEncoder(), boosted())) for name in "ab"]
    model = VotingRegressor(pipelines).fit(words, Y)
    np.testing.assert_allclose(as_ensemble(model).raw_predict(words), model.predict(words))


def test_steps_that_change_nothing_change_no_result():
    own = mixed_regressors()
    behind = [(name, make_pipeline(FunctionTransformer(), model)) for name, model in own]
    for kind in (VotingRegressor, lambda models: MultiOutputRegressor(models[0][1])):
        y, y_new = (Y, Y_NEW) if kind is VotingRegressor else (SEVERAL, NEW_SEVERAL)
        without, result = (
            held_out_gain(kind(models).fit(X, y), X_NEW, y_new) for models in (own, behind)
        )
        np.testing.assert_allclose(result.values, without.values, rtol=1e-12)
        np.testing.assert_allclose(result.standard_error, without.standard_error, rtol=1e-12)


def test_models_of_parts_of_the_rows_know_other_levels():
    table, new = table_of(X), table_of(X_NEW)
    parts = [table["city"] != word for word in WORDS[:2]]
    models = [boosted().fit(table[part], Y[part]) for part in parts]
    expected = np.mean([model.predict(new) for model in models], axis=0)
    np.testing.assert_allclose(as_ensemble(models).raw_predict(new), expected)
    with_numbers = [*models, boosted().fit(table.assign(city=1.0), Y)]
    message = r"has words such as 'Bern'|could not convert string to float|not numbers: 'city'"
    with pytest.raises(ValueError, match=message):
        as_ensemble(with_numbers).raw_predict(new)


def test_steps_come_before_the_whole_and_not_before_its_members():
    steps = ColumnTransformer([("pair", StandardScaler(), [0, 1])], remainder="passthrough")
    behind = make_pipeline(steps, bag(boosted())).fit(X, Y)
    whole = as_ensemble(behind, X, Y)
    for ensemble in (whole, as_ensemble(behind)):
        np.testing.assert_allclose(ensemble.raw_predict(X_NEW), behind.predict(X_NEW))
    alone = held_out_gain(behind[-1], steps.transform(X_NEW), Y_NEW)
    np.testing.assert_array_equal(held_out_gain(whole, X_NEW, Y_NEW).values, alone.values)


def test_lists_that_do_not_go_together():
    own = boosted().fit(X, Y)
    for models, message in (
        (Average([]), "at least one fitted model"),
        ([own, GreedyRegressor(n_estimators=2, loss=Poisson()).fit(X, Y**2)],
         "different losses, half_squared_error and poisson"),
        ([boosted(loss=Quantile(alpha)).fit(X, Y) for alpha in (0.1, 0.9)],
         "different losses, quantile with other parameters"),
        ([own, boosted().fit(X[:, :2], Y)], "have other columns"),
        (Average([own, own], weights=[1, -1]), r"weights=\[1.0, -1.0\]"),
        ([classifier().fit(X, LABELS), classifier().fit(X, LABELS == "yes")], "same classes_"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            as_ensemble(models)


def test_one_column_of_targets_is_too_few_for_several():
    model = MultiOutputRegressor(GradientBoostingRegressor(n_estimators=1)).fit(X, SEVERAL)
    with pytest.raises(ValueError, match=r"one column, and the model has \d targets: y needs"):
        held_out_gain(model, X_NEW, Y_NEW + 0.5)
