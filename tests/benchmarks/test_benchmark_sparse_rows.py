"""The benchmark of sparse rows: its tables, its page, and what documentation says of it."""

from pathlib import Path

import numpy as np

from benchmarks.speed import sparse_rows
from benchmarks.speed.sparse_rows import CASES, MOST_GIGABYTES, Case

ROOT = Path(__file__).parents[2]


def test_tables_are_as_sparse_as_they_are_said_to_be():
    case = Case(500, 200, 2.0)
    X, y = sparse_rows.data_of(case)
    assert X.shape == (500, 200)
    assert 0.018 < X.nnz / X.shape[0] / X.shape[1] <= 0.02
    assert np.corrcoef(X.toarray()[:, :20].sum(axis=1), y)[0, 1] > 0.3


def test_a_page_by_hand():
    page = sparse_rows.page_of([(CASES[0], {"before": 0.3, "fit": 0.9, "predict": 1.0})])
    assert page.splitlines()[-1] == (
        "| 200,000 x 5,000 | 1 % | greedy | 8.0 GB | 0.30 GB | 0.90 GB | 1.00 GB |"
    )


def test_the_promise_of_the_documentation_was_kept():
    page = (ROOT / "benchmarks/results/sparse_rows.md").read_text()
    of_first = page.splitlines()[2].split(" | ")
    assert of_first[0] == "| 200,000 x 5,000"
    assert float(of_first[5].removesuffix(" GB")) <= MOST_GIGABYTES == 1.5
    assert page in (ROOT / "docs/performance.md").read_text()
