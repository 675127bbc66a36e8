"""The study of the command: its page, its files and a small run."""

import numpy as np
import pytest

from benchmarks.papers.report.__main__ import STUDY, main
from benchmarks.papers.report.belonging import WITHOUT, panel


def test_the_page_says_what_the_files_say():
    page = STUDY.page.read_text()
    assert STUDY.page_with(STUDY.read(), page) == page


def test_all_parts_are_published():
    assert set(STUDY.read()) == set(STUDY.parts)


def test_a_quick_run(capsys):
    assert main(["--quick", "apart", "--jobs", "1", "--replications", "1"]) == 0
    printed = capsys.readouterr().out
    for name in WITHOUT:
        assert f"| {name} | " in printed


@pytest.mark.parametrize("kind", ["plain", "bare", "unnamed"])
def test_subjects_share_what_the_cell_says(kind):
    """The effect's variance is icc: 2000 subjects leave it a standard error of .011 * 1.4."""
    table = panel(kind, 2000, 0.5, np.random.default_rng(0))
    subject = table["v1" if kind == "unnamed" else "id"]
    _, place, sizes = np.unique(subject, return_inverse=True, return_counts=True)
    left = table["y"] - table["x"]
    means = np.bincount(place, weights=left) / sizes
    within = (left - means[place]) @ left / (len(left) - 2000)
    assert abs(within - 0.5) < 0.03
    assert abs(means.var() - 0.5 * (1 / sizes).mean() - 0.5) < 0.06
    assert sizes.min() == 3
    assert sizes.max() == 12
