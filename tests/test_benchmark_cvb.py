"""Cross-validated boosting in the paper's simulations: draws, tables on known answers, files."""

import numpy as np
import pytest

from benchmarks.cvb import methods, real, simulations
from benchmarks.cvb.__main__ import STUDY, main
from benchmarks.cvb.methods import CROSS_VALIDATED, GREEDY, TREE_INNER, numbers, scaled, words
from benchmarks.study.tables import chosen


@pytest.fixture(scope="module")
def published():
    return STUDY.read()


def test_the_page_says_what_the_files_say(published):
    page = STUDY.page.read_text()
    assert STUDY.page_with(published, page) == page


def test_the_published_run_is_as_large_as_promised(published):
    for case in ("null", "power"):
        assert len({row["replication"] for row in published[case]}) == 100
    folds = {(row["data"], row["fold"]) for row in published["real"]}
    assert len(folds) == 30 + 5 * 10


def test_the_published_numbers_are_the_papers(published):
    """What an independent implementation of the paper found, and the paper's text."""

    def of(case, method, what):
        rows = [row for row in published[case] if row["method"] == method]
        return np.array([numbers(row[what]) for row in rows])

    for case, of_paper in simulations.PAPER.items():
        for method, (loss, shares, permuted) in of_paper.items():
            allowed = 0.0005 if method == CROSS_VALIDATED and case == "null" else 0.004
            assert abs(of(case, method, "loss").mean() - float(loss.split()[0])) < allowed
            if case == "power":
                assert abs(of(case, method, "gain")[:, 1].mean() - float(shares[1])) < 0.03
                assert abs(of(case, method, "permuted")[:, 1].mean() - float(permuted)) < 0.005
    assert 0.05 <= of("null", CROSS_VALIDATED, "gain").any(axis=1).mean() <= 0.25
    assert 0.88 < of("null", GREEDY, "gain")[:, 3:].sum(axis=1).mean() < 0.94
    assert abs(of("power", CROSS_VALIDATED, "loss").mean() - 0.6126) < 0.003
    assert abs(of("power", CROSS_VALIDATED, "gain")[:, 1].mean() - 0.995) < 0.003


def test_losses_of_real_tables_are_within_a_standard_deviation_of_the_papers(published):
    for name, of_paper in real.PAPER.items():
        for method, cell in zip(real.COMPARED, of_paper, strict=True):
            mean, deviation = (float(word.strip("()")) for word in cell.split())
            losses = [row["loss"] for row in chosen(published["real"], data=name, method=method)]
            away = (np.mean(losses) - mean) / deviation
            if (name, method) == ("adult", CROSS_VALIDATED):
                assert -2 < away < -1  # the page says why
            else:
                assert abs(away) < 1, (name, method)


def test_what_the_page_says_of_amazon(published):
    rows = chosen(published["real"], data=real.AMAZON, method=CROSS_VALIDATED)
    ours = np.array([numbers(row["gain"]) for row in rows])
    figure = np.array(real.PAPER_SHARES[CROSS_VALIDATED], dtype=float)
    assert np.abs(ours.mean(axis=0) - figure).max() < 0.031  # of MGR_ID; the next is .025
    another_program = [0, 0.509, 0.011, 0.048, 0.154, 0.055, 0.164, 0.017, 0.043]
    assert np.abs(ours.mean(axis=0) - another_program).max() < 0.02
    assert (ours[:, 0] > 0).sum() == 2  # of RESOURCE, in thirty folds
    assert ours[:, 0].max() < 0.0275
    assert abs(np.mean([row["loss"] for row in rows]) - 0.1716) < 0.003


def test_a_quick_run(capsys):
    assert main(["--quick", "null", "power", "--jobs", "1"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("| cross-validated, the paper's | 0.6") == 2
    for method in (CROSS_VALIDATED, GREEDY, TREE_INNER):
        assert printed.count(f"| {method} |") == 2


def test_the_simulation_is_the_papers():
    X, y = simulations.draw(False, 60_000, np.random.default_rng(0))
    assert [X[name].nunique() for name in X][1:] == [10, 20, 50, 100]
    low = X["x1"].astype(int) <= 5
    assert abs(y[low].mean() - 0.7) < 0.01
    assert abs(y[~low].mean() - 0.3) < 0.01
    X, y = simulations.draw(True, 60_000, np.random.default_rng(1))
    assert abs(y[X["x1"].astype(int) <= 5].mean() - 0.5) < 0.01


def test_shares_and_cells_by_hand():
    assert scaled(np.array([3.0, -1.0, 1.0])).tolist() == [0.75, 0.0, 0.25]
    assert scaled(np.array([-1.0, 0.0])).tolist() == [0.0, 0.0]
    assert numbers(words(np.array([0.5, 0.0]))).tolist() == [0.5, 0.0]


def test_losses_by_hand():
    class Model:
        def predict(self, X):
            return np.array([1.0, 3.0])

        def predict_proba(self, X):
            return np.array([[0.5, 0.5], [0.75, 0.25]])

    y = np.array([1.0, 0.0])
    assert methods.loss_of(Model(), None, y, False) == 9 / 2
    assert methods.loss_of(Model(), None, y, True) == pytest.approx(-np.log(0.5 * 0.75) / 2)
