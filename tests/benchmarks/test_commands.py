"""One small run of every other command, and the pages whose numbers it keeps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from attributions import saabas
from attributions.per_row.aggregates import aggregate_trees
from benchmarks.accuracy import ours, report
from benchmarks.papers.inference import training_rows
from benchmarks.papers.local_mdi_study.methods import Explained
from benchmarks.papers.local_mdi_study.models import fitted
from benchmarks.papers.local_mdi_study.simulated import numbers
from benchmarks.speed import sparse_rows
from benchmarks.study.files import DOCS, RESULTS
from gbt import GBTRegressor
from gbt.estimators.defaults import LARGEST_UNBIASED, chosen
from tests.asserts import peer


def test_sparse_rows():
    X, y = sparse_rows.data_of(sparse_rows.Case(500, 200, 2.0))
    assert 0.018 < X.nnz / X.shape[0] / X.shape[1] <= 0.02
    assert np.corrcoef(X.toarray()[:, :20].sum(axis=1), y)[0, 1] > 0.3
    page = (RESULTS / "sparse_rows.md").read_text()
    assert page in (DOCS / "performance.md").read_text()
    of_first = page.splitlines()[2].split(" | ")
    assert float(of_first[5].removesuffix(" GB")) <= sparse_rows.MOST_GIGABYTES == 1.5


def test_the_study_puts_trees_together_as_the_library_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    table = numbers(X, X[:, 0] + 0.1 * rng.normal(size=60))
    model = fitted("boosted", table.rows(slice(40)), "quick", 0)
    explained = Explained(model, table.rows(slice(40)), 0, "quick")
    for method in ("saabas", "predecomp", "tree_shap"):
        scores = explained.scores(method, X[40:])
        for how in ("sum", "rank", "rank_where_used"):
            found = aggregate_trees(model.ensemble_, X[40:], method, how, 1)
            assert_allclose(scores.by(how.replace("_", " ")), np.abs(found))
    whole = np.abs(saabas(model, X[40:]).values).mean(axis=0)
    assert_allclose(explained.scores("saabas", X[40:]).by("global"), np.tile(whole, (20, 1)))


@pytest.mark.slow
def test_none_of_the_rows_that_a_model_has_seen_passes_for_new():
    peer("xgboost")
    peer("lightgbm")
    cells = range(len(training_rows.LIBRARIES))
    rows = [row for cell in cells for r in range(4) for row in training_rows.PART.run(cell, r, "")]
    assert sum(row["told_seen"] for row in rows) >= 8
    assert sum(row["told_new"] for row in rows) == 0


def test_settings_say_all_that_has_a_default_of_its_own():
    """So that a result does not change with the defaults."""
    for parameters in ours.settings().values():
        assert {"splitter", "min_child_weight", "min_samples_leaf"} <= set(parameters)
        assert "categorical_smoothing" in parameters
    assert set(ours.MAIN) <= set(ours.settings())


@pytest.mark.parametrize("n_rows", [300, LARGEST_UNBIASED, LARGEST_UNBIASED + 1])
def test_what_the_page_calls_our_default_is_our_default(n_rows):
    name, _ = report.settings_of_default(n_rows)
    ours_alone = GBTRegressor().get_params()
    said = chosen({**ours_alone, **ours.settings()[name]}, n_rows)
    assert said == chosen(ours_alone, n_rows)
