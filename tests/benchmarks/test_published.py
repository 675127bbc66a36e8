"""What pages say of committed results."""

import numpy as np

from benchmarks.papers.comparison import parts
from benchmarks.papers.comparison.__main__ import STUDY as COMPARISON
from benchmarks.papers.cvb import simulations
from benchmarks.papers.cvb.__main__ import STUDY as CVB
from benchmarks.papers.cvb.measures import numbers
from benchmarks.papers.cvb.methods import CROSS_VALIDATED, GREEDY
from benchmarks.papers.unbiased import notebook
from benchmarks.papers.unbiased.__main__ import STUDY as UNBIASED


def test_the_published_numbers_are_the_papers():
    """What an independent implementation of the paper found, and the paper's text."""

    def of(case, method, what):
        rows = [row for row in CVB.read()[case] if row["method"] == method]
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


def test_the_notebooks_ranks():
    """Rank 5 from rho .4 (regression) and .2 (binary) by unbiased gain."""
    rows = {(r["task"], r["method"], r["rho"], r["feature"]): r for r in UNBIASED.read()["ranks"]}
    for task, start in (("regression", 0.4), ("binary", 0.2)):
        for rho in notebook.RHO:
            mean_rank = rows[task, "unbiased", rho, "x2"]["mean_rank"]
            assert mean_rank > 4.99 or rho < start
            assert mean_rank >= rows[task, "gain", rho, "x2"]["mean_rank"]


def test_what_the_page_says_of_rankings():
    """By design: who is first, and who is never far behind."""
    aucs: dict[str, dict[str, list[float]]] = {}
    for part, rows in COMPARISON.read().items():
        for row in rows:
            if row["n useful"]:
                design = parts.design_of(row["data"]) if part == "simulated" else part
                aucs.setdefault(design, {}).setdefault(row["method"], []).append(row["auc"])
    means = {
        design: {method: np.mean(values) for method, values in of_design.items()}
        for design, of_design in aucs.items()
    }
    assert list(means) == ["mixed", "Sun (2022)", "Sun, any columns", "real"]
    first = {design: max(found, key=found.get) for design, found in means.items()}
    assert first["mixed"] == "mean absolute SHAP"
    assert first["Sun (2022)"] in ("tree_inner", "partial_inner")
    assert first["Sun, any columns"] in ("partial_inner", "held_out_gain")
    assert first["real"] == "cross-validated boosting, gain"
    never_far = [
        method
        for method in next(iter(means.values()))
        if all(max(found.values()) - found[method] < 0.025 for found in means.values())
    ]
    assert never_far == ["partial_inner", "held_out_gain"]
