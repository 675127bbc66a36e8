"""The study of local MDI+: measures by hand, LIME of trees, and every part in a small setting."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from attributions import held_out_gain, held_out_gain_rows, saabas
from attributions.per_row.aggregates import aggregate_trees
from benchmarks.papers.local_mdi_study import (
    __main__ as study,
)
from benchmarks.papers.local_mdi_study import (
    claims,
    cost,
    counterfactuals,
    lime_by_tree,
    methods,
    picture,
    selection,
    simulated,
    subgroups,
    tables,
)
from benchmarks.papers.local_mdi_study.models import KINDS, fitted
from gbt.formats import as_ensemble
from tests.asserts import assert_close, assert_same


def numbers(n=60, p=4, is_class=False):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    y = X[:, 0] + (X[:, 1] > 0) + 0.1 * rng.normal(size=n)
    y = (y > 0.5) * 1.0 if is_class else y
    return tables.Table(X, y, np.zeros(p, dtype=bool), is_class)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of what lime imports
@pytest.mark.parametrize("is_class", [False, True])
def test_lime_of_the_trees_adds_up_to_lime(is_class):
    pytest.importorskip("lime")
    from lime.lime_tabular import LimeTabularExplainer

    table = numbers(is_class=is_class)
    model = fitted("boosted", table, "quick", 0)
    ensemble = as_ensemble(model)
    explainer = LimeTabularExplainer(
        table.X, mode="regression", feature_selection="none", random_state=7
    )
    found = lime_by_tree.lime_by_tree(ensemble, table.X, table.is_word, table.X[:3], 7, 50)
    assert found.shape == (4, 3, 4)
    for i, row in enumerate(table.X[:3]):
        of_lime = explainer.explain_instance(
            row, ensemble.raw_predict, num_features=4, num_samples=50
        )
        expected = [weight for _, weight in sorted(of_lime.as_map()[1])]
        assert_close(found[:, i].sum(axis=0), expected, 10.0)


@pytest.mark.parametrize("kind", ["forest", "boosted"])
def test_the_held_out_gain_of_trees_adds_up_over_trees_and_over_rows(kind):
    table = numbers()
    model = fitted(kind, table, "quick", 0)
    X, y = table.X + 1e-3, table.y
    found = methods.held_out_by_tree(model, X, y)
    expected = held_out_gain_rows(model, X, y).values
    assert_close(found.sum(axis=0), expected, np.abs(found).sum())
    per_tree = held_out_gain(model, X, y, per_tree=True).per_tree
    assert_close(found.sum(axis=1), per_tree, np.abs(found).sum())


def test_trees_are_put_together_by_hand():
    by_tree = np.array([[[1.0, -2.0, 0.0]], [[0.0, 3.0, 0.0]]])  # two trees, a row, three features
    scores = methods.Scores.of(by_tree)
    assert_same(scores.by("sum"), [[1.0, 1.0, 0.0]])
    assert_same(scores.by("absolute"), [[1.0, 5.0, 0.0]])
    # Ranks 1, 2, 0 and then 0.5, 2, 0.5: what a tree does not use shares the lowest.
    assert_same(scores.by("rank"), [[0.75, 2.0, 0.25]])
    both = methods.Scores.of(np.tile(by_tree, (1, 2, 1)))
    assert_same(both.by("global"), [[1.0, 1.0, 0.0]] * 2)


def test_what_the_public_code_averages_is_not_the_mean_rank():
    rng = np.random.default_rng(0)
    scores = np.array([rng.permutation(100) for _ in range(3)]) * 1.0
    ranks, code = {g: [] for g in simulated.GROUPS}, {g: [] for g in simulated.GROUPS}
    for row in scores:
        best_first = sorted(range(100), key=lambda k: -row[k])
        for group, columns in simulated.GROUPS.items():
            members = range(100)[columns]
            ranks[group] += [best_first.index(k) + 1 for k in members]
            code[group] += [best_first[place] + 1 for place in members]
    found = simulated.both_numbers(scores)
    for group in simulated.GROUPS:
        assert found[f"rank {group}"] == pytest.approx(np.mean(ranks[group]), abs=5e-4)
        assert found[f"code {group}"] == pytest.approx(np.mean(code[group]), abs=5e-4)
    assert found["rank signal"] != found["code signal"]


def test_tables_have_standardised_numbers_and_words_as_codes(monkeypatch):
    frame = pd.DataFrame({"a": [3.0, np.nan, 5.0, 7.0], "b": ["x", None, "x", "c"]})
    assert_same(tables.as_codes(frame["b"].astype("category")), [2.0, 1.0, 2.0, 0.0])
    assert_same(tables.as_numbers(frame["a"]), [3.0, 5.0, 5.0, 7.0])
    X = np.column_stack([np.arange(8.0) * 3, np.arange(8.0) % 3])
    whole = tables.Table(X, np.arange(8.0), np.array([False, True]), False)
    monkeypatch.setattr(tables, "whole", lambda name: whole)
    fit, new = tables.halves("any", np.random.default_rng(0), "full", 8, 0.75)
    assert (len(fit.y), len(new.y)) == (6, 2)
    assert_close(fit.X[:, 0].mean(), 0.0, 10.0)
    assert_close(fit.X[:, 0].std(), 1.0, 10.0)
    assert_same(fit.X[:, 1], X[fit.y.astype(int), 1])
    assert_same(new.X[:, 1], X[new.y.astype(int), 1])
    spread = np.std(3 * fit.y)
    assert_close(np.diff(new.X[:, 0]), np.diff(new.y) * 3 / spread, 10.0)
    columns = tables.with_columns_of_words(whole, whole)
    assert_same(columns[:3], [[0, 1, 0, 0], [3, 0, 1, 0], [6, 0, 0, 1]])


def test_half_of_at_least_twelve_tables_are_of_numbers():
    assert len(tables.NUMBERS) == len(tables.CLASSES) == 6
    assert set(tables.NEEDED) == {*tables.NUMBERS, *tables.CLASSES} - {"diabetes", "breast_cancer"}


def test_the_most_frequent_value_of_a_column():
    assert_same(selection.most_frequent(np.array([[1.0, 5.0], [2.0, 5.0], [2.0, 4.0]])), [2.0, 5.0])


def test_a_model_of_what_is_kept_is_judged_on_whole_rows():
    table = numbers(200)
    nothing = selection.again(table, table, np.zeros((200, 4), bool), np.zeros(4), "quick")
    assert nothing == pytest.approx(0.0, abs=0.05)
    relevant = np.tile([True, True, False, False], (200, 1))
    others = np.tile([False, False, True, True], (200, 1))
    kept = selection.again(table, table, relevant, np.zeros(4), "quick")
    assert kept > 0.8
    assert selection.again(table, table, others, np.zeros(4), "quick") < kept - 0.5


def test_words_that_differ_are_one_apart():
    words = np.array([False, True])
    fit = tables.Table(np.array([[0.0, 3.0], [2.0, 1.0]]), np.array([0.0, 1.0]), words, True)
    new = tables.Table(np.array([[1.5, 1.0]]), np.array([1.0]), words, True)
    assert_same(counterfactuals.differences(fit, new), [[[1.5, 0.5]], [[1.0, 0.0]]])


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_no_counterfactual_is_nearer_than_the_nearest_row():
    rng = np.random.default_rng(1)
    cell = {"data": counterfactuals.SYNTHETIC, "model": "boosted"}
    rows = list(counterfactuals.experiment(cell, rng, "quick"))
    least = rows[0]
    assert least["method"] == counterfactuals.COLUMNS
    assert all(row["distance"] >= least["distance"] for row in rows[1:])
    assert any(row["distance"] > least["distance"] for row in rows[1:])


@pytest.mark.parametrize("n", [3, 40])
def test_a_ridge_in_either_form_is_that_of_scikit_learn(n):
    rng = np.random.default_rng(0)
    X, y, X_new = rng.normal(size=(n, 6)), rng.normal(size=n), rng.normal(size=(5, 6))
    expected = Ridge(alpha=subgroups.PENALTY).fit(X, y).predict(X_new)
    assert_close(subgroups.ridge(X, y, X_new), expected, 1000.0)


def test_two_lines_have_a_smaller_error_than_one():
    x = np.linspace(-3, 3, 80)
    group = (x > 0).astype(int)
    draws = [np.random.default_rng(m).random(80) for m in range(3)]
    apart = subgroups.error_within(x[:, np.newaxis], np.abs(x), group, draws)
    together = subgroups.error_within(x[:, np.newaxis], np.abs(x), 0 * group, draws)
    assert apart < 0.05 * together
    alone = np.where(np.arange(80) == 5, 1, 0)  # a group of one row is judged by the others
    assert np.isfinite(subgroups.error_within(x[:, np.newaxis], x, alone, draws))


def test_an_error_within_groups_is_weighted_by_their_rows():
    """Constant columns: a model is the mean of the half with the lower numbers."""
    y, group = np.array([0.0, 2.0, 5.0, 5.0, 8.0, 8.0]), np.array([0, 0, 1, 1, 1, 1])
    found = subgroups.error_within(np.zeros((6, 1)), y, group, [np.arange(6.0)])
    assert found == pytest.approx((2 * 4 + 4 * 9) / 6)


def test_claims_are_paired():
    rows = [
        {"replication": m, "method": method, "aggregate": "sum", "auc": base + gain}
        for m, base in enumerate((0.2, 0.6, 0.9))
        for method, gain in (("a", 0.05), ("b", 0.0))
    ]
    claim = claims.comparison(
        "a beats b", "here", rows, "replication", lambda r: r["auc"], ("a", "sum"), ("b", "sum")
    )
    assert claim.margin == pytest.approx(0.05)
    assert claim.error == pytest.approx(0.0, abs=1e-12)
    assert claim.holds
    args = ("a beats c", "here", rows, "replication", lambda r: r["auc"], ("a", "sum"))
    assert claims.comparison(*args, ("c", "sum")) is None


def test_the_power_of_splits_is_found():
    rows = [
        {"program": "elastic net", "rows": 10, "depth": d, "splits a tree": s,
         "seconds a tree": 0.01 * s**1.5}
        for d, s in ((5, 31), (10, 400), (15, 900))
    ]  # fmt: skip
    assert cost.slopes(rows) == {("elastic net", 10): pytest.approx(1.5)}
    assert not claims.cost(rows)[0].holds


def test_least_squares_of_a_forest_are_saabas():
    """Which is why the study does not have both."""
    table = numbers()
    model = fitted("forest", table, "quick", 0)
    found = methods.Explained(model, table, 0, "quick").scores("ols", table.X)
    assert_close(found.signed, saabas(model, table.X).values, np.abs(table.y).max())


@pytest.fixture(scope="module")
def small_results():
    """Run the last setting of every part for every kind of model; of cost, the first two."""
    found = {}
    kinds = [kind for kind in KINDS if kind != "lightgbm" or _is_installed(kind)]
    with warnings.catch_warnings():  # what lime imports warns
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        for name, part in study.PARTS.items():
            last = [c for c, cell in enumerate(part.cells) if cell.get("model") in kinds]
            cells = (0, 1) if name == "cost" else last[-len(kinds) :]
            repetitions = 2 if name == "ranking" else 1
            found[name] = [
                row for c in cells for m in range(repetitions) for row in part.run(c, m, "quick")
            ]
    return found


def _is_installed(name):
    try:
        __import__(name)
    except ImportError:
        return False
    return True


@pytest.mark.slow
def test_every_part_runs_and_has_a_table(small_results):
    sections = study.sections(study.PARTS, small_results)
    assert {f"study {name}" for name in study.PARTS} < set(sections)
    for text in sections.values():
        lines = [line for line in text.splitlines() if line.startswith("|")]
        assert len(lines) > 2
        assert {line.count("|") for line in lines} == {lines[0].count("|")}
        assert "nan" not in text
    for name in ("ranking", "selection", "counterfactuals", "subgroups"):
        of_boosted = [row for row in small_results[name] if row["model"] == "boosted"]
        left_out = () if name in ("ranking", "selection") else ["held_out"]
        asked = methods.methods_of("boosted", left_out)
        assert set(asked) <= {row["method"] for row in of_boosted}
        assert set(methods.AGGREGATES) <= {row["aggregate"] for row in of_boosted}


@pytest.mark.slow
def test_claims_speak_of_every_part(small_results):
    checked = claims.check(small_results)
    statements = " ".join(claim.statement for claim in checked)
    for words in ("ranks", "before correlated", "keeps", "nearer", "groups", "splits"):
        assert words in statements
    assert any(claim.error is not None for claim in checked)


@pytest.mark.slow
def test_the_picture_is_drawn(small_results, tmp_path):
    picture.draw(small_results, tmp_path)
    for name in ("local_mdi.svg", "local_mdi_dark.svg"):
        text = (tmp_path / name).read_text()
        assert "TreeSHAP" in text
        assert "signed sums" in text


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_ranks_where_used_are_those_of_the_library():
    table = numbers()
    model = fitted("boosted", table, "quick", 0)
    explained = methods.Explained(model, table, 0, "quick")
    found = explained.scores("saabas", table.X).by(methods.WHERE_USED)
    expected = aggregate_trees(explained.ensemble, table.X, "saabas", "rank_where_used")
    assert_same(found, expected)
