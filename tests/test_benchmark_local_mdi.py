"""The benchmark of local MDI: its parts on known answers, its files, and that it can go on."""

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks import local_mdi
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
        found = [*local_mdi.all_scores(kind, model, X, y, X[:9] + 1e-3, y[:9])]
        assert len({(method, aggregate) for method, aggregate, _ in found}) == len(found)
        for _, _, scores in found:
            assert scores.shape == (9, 4)
            assert (scores >= 0).all()
        assert {method for method, _, _ in found} <= set(local_mdi.METHODS)


def test_an_experiment_goes_on_where_it_stopped(tmp_path, monkeypatch):
    calls = []

    def experiment():
        for setting in ("a", "b"):

            def run(seed, setting=setting):
                calls.append((setting, seed))
                yield "saabas", "sum", "AUC", 0.5 + seed

            yield setting, "forest", run

    monkeypatch.setattr(local_mdi, "RESULTS", tmp_path)
    monkeypatch.setitem(local_mdi.EXPERIMENTS, "ranking", experiment)
    local_mdi.run_experiment("ranking", n_seeds=1, minutes=1.0)
    local_mdi.run_experiment("ranking", n_seeds=2, minutes=1.0)
    assert calls == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    local_mdi.run_experiment("ranking", n_seeds=3, minutes=0.0)
    assert len(calls) == 4
    table = local_mdi.table_of("ranking")
    assert "| Saabas | sum | 1.000 (0.500) | 1.000 (0.500) |" in table
    assert "*forest*, 2 seeds" in table
