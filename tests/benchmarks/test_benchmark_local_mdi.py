"""The benchmark of local MDI: its parts on known answers, its files, and that it can go on."""

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from attributions.reference import definitions as reference
from benchmarks.papers import local_mdi
from tests.asserts import assert_close, assert_same


def test_auc_of_rows_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, size=(20, 7)) * 1.0
    matters = np.array([rng.permutation([1, 1, 1, 0, 0, 0, 0]) for _ in range(20)], dtype=bool)
    expected = [roc_auc_score(truth, row) for truth, row in zip(matters, scores, strict=True)]
    assert_close(local_mdi.mean_auc(matters, scores), np.mean(expected), 1.0)


def test_which_features_matter_may_differ_between_rows():
    X = np.array([[1.0, 1, 2, 3, 10, 20, 30, 0], [-1.0, 1, 2, 3, 10, 20, 30, 0]])
    f, matters = local_mdi.signal("switch", X)
    assert_same(f, [6.0, 60.0])
    assert_same(matters, [[1, 1, 1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 1, 1, 1, 0]])
    f, matters = local_mdi.signal("interactions", X)
    assert_same(f, [1 + 6 + 200, -1 + 6 + 200])
    assert_same(matters, [[1] * 6 + [0] * 2] * 2)


def test_noise_explains_the_rest():
    f = np.random.default_rng(0).normal(size=100_000)
    y = local_mdi.noisy(f, 0.1, np.random.default_rng(1))
    assert abs(np.corrcoef(f, y)[0, 1] ** 2 - 0.1) < 0.01


def test_correlated_features_are():
    X = local_mdi.equicorrelated(20_000, 0.9, np.random.default_rng(0))
    correlation = np.corrcoef(X, rowvar=False)
    assert abs(correlation[0, 1] - 0.9) < 0.01
    assert abs(correlation[0, 99]) < 0.04
    assert abs(X.std() - 1) < 0.01


def test_best_features_of_a_row():
    scores = np.array([[0.0, 3.0, 1.0, 2.0], [5.0, 0.0, 0.0, 1.0]])
    assert_same(local_mdi.top(scores, 0.5), [[0, 1, 0, 1], [1, 0, 0, 1]])
    assert_same(local_mdi.top(scores, 0.01).sum(axis=1), [1, 1])


def test_every_method_scores_every_row():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    for kind in ("forest", "boosted"):
        model = local_mdi.fit(kind, X, y, seed=0)
        wanted = local_mdi.pairs_of(kind)
        found = [*local_mdi.all_scores(model, X, y, X[:9] + 1e-3, y[:9], wanted)]
        assert sorted((method, aggregate) for method, aggregate, _ in found) == sorted(wanted)
        for _, _, scores in found:
            assert scores.shape == (9, 4)
            assert (scores >= 0).all()


def test_tree_inner_is_added_up_from_its_trees():
    """By the definition, from the page of plain loops and the predictions before every tree."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    model = local_mdi.fit("boosted", X, y, seed=0)
    ensemble = model.ensemble_
    predicted = [np.full(60, ensemble.base_score), *model.staged_predict(X)]
    parts = np.array(
        [
            [reference.predecomp(tree, x) for x in X] * (before - y)[:, np.newaxis] / 0.1
            for tree, before in zip(ensemble.trees, predicted[:-1], strict=True)
        ]
    )
    sums, terms = np.abs(parts.sum(axis=0)), np.abs(parts).sum(axis=0)
    wanted = {("tree_inner", aggregate) for aggregate in ("sum", "absolute", "global")}
    found = {a: scores for _, a, scores in local_mdi.all_scores(model, X, y, X[:9], y[:9], wanted)}
    assert_close(found["sum"], sums[:9], terms[:9])
    assert_close(found["absolute"], terms[:9], terms[:9])
    assert_close(found["global"], np.tile(sums.mean(axis=0), (9, 1)), terms.max())


def test_ranks_of_tree_inner_would_be_those_of_predecomp():
    """In a row g multiplies all features of a tree alike, so it has none of its own."""
    r = np.array([[0.5, -2.0, 1.0], [3.0, 0.0, -1.0]])
    g = np.array([-0.3, 7.0])
    assert_same(rankdata(np.abs(r * g[:, np.newaxis]), axis=1), rankdata(np.abs(r), axis=1))
    assert ("tree_inner", "rank") not in local_mdi.pairs_of("boosted")


def test_an_experiment_goes_on_where_it_stopped(tmp_path, monkeypatch):
    calls, of_forests = [], {"saabas", "tree_shap", "ridge", "elastic_net"}

    def experiment():
        for setting in ("a", "b"):

            def run(seed, wanted, setting=setting):
                calls.append((setting, seed, {method for method, _ in wanted}))
                for method, aggregate in sorted(wanted):
                    yield method, aggregate, "AUC", 0.5 + seed

            yield setting, "forest", run

    monkeypatch.setattr(local_mdi, "RESULTS", tmp_path)
    monkeypatch.setitem(local_mdi.EXPERIMENTS, "ranking", experiment)
    local_mdi.run_experiment("ranking", n_seeds=1, minutes=1.0)
    local_mdi.run_experiment("ranking", n_seeds=2, minutes=1.0)
    assert calls == [(setting, seed, of_forests) for seed in (0, 1) for setting in ("a", "b")]
    local_mdi.run_experiment("ranking", n_seeds=3, minutes=0.0)
    assert len(calls) == 4
    table = local_mdi.table_of("ranking")
    assert "| Saabas | sum | 1.000 (0.500) | 1.000 (0.500) |" in table
    assert "*forest*, 2 seeds" in table
    monkeypatch.setitem(local_mdi.METHODS, "new", "a new method")
    local_mdi.run_experiment("ranking", n_seeds=2, minutes=1.0)
    assert calls[4:] == [(setting, seed, {"new"}) for seed in (0, 1) for setting in ("a", "b")]
    table = local_mdi.table_of("ranking")
    assert "| a new method | rank | 1.000 (0.500) | 1.000 (0.500) |" in table
    lines = (tmp_path / "local_mdi_ranking.csv").read_text().splitlines()
    heads = [line for line in lines if line.startswith("#")]
    assert len(set(heads)) == 1
    assert heads[0].startswith(
        "# python -m benchmarks.papers.local_mdi ranking; seeds from 0; gbt "
    )
    assert len(heads) == 3  # two runs that were stopped or asked for less, and the new method's
    assert lines.count(",".join(local_mdi.COLUMNS)) == 1
