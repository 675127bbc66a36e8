"""The study of the command: its page, its files and a small run."""

import numpy as np
import pytest

from benchmarks.papers.report.__main__ import STUDY, main
from benchmarks.papers.report.belonging import WITHOUT, panel
from benchmarks.papers.report.reading import READING, Reading, mistakes, run_on, unreadable
from benchmarks.papers.report.thirty_drawn import DRAWN
from benchmarks.papers.report.thirty_real import NEEDED, REAL
from benchmarks.papers.report.truths import Truth
from benchmarks.study.data import is_there


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


def table_of(**known):
    return Truth("a table", {"id": [], "x": [], "z": [], "y": []}, **known)


def printed(*warnings, **verdicts):
    return Reading(0, "\nWarnings\n" + "".join(f"  {text}\n" for text in warnings), verdicts)


def test_what_is_known_of_a_table_is_held_against_what_is_printed():
    """Each mistake that a reader can be led to is seen, and its opposite is none."""
    fine = printed(x="helps", z="cannot be told")
    assert list(mistakes(table_of(matter=("x",), noise=("z",)), fine)) == []
    assert list(mistakes(table_of(noise=("x",)), fine)) == ["x is said to help"]
    assert list(mistakes(table_of(matter=("z",)), fine)) == ["of z none is said to help"]
    hurt = printed(x="helps", z="hurts")
    assert list(mistakes(table_of(matter=("x", "z")), hurt)) == ["z is said to hurt"]
    panel = printed("Rows with the same 'id' belong together.", x="helps")
    assert list(mistakes(table_of(groups="id"), panel)) == []
    assert list(mistakes(table_of(), panel)) == ["rows are said to belong together"]
    assert list(mistakes(table_of(groups="id"), fine)) == ["id is not said to hold rows together"]
    leak = printed("x alone predicts. Ask whether it is", "  known at the time.", x="helps")
    assert list(mistakes(table_of(leaks=("x",)), leak)) == []
    assert list(mistakes(table_of(leaks=("z",)), leak)) == ["no warning of z"]
    assert list(mistakes(table_of(), leak)) == ["warned of a leak"]
    twin = printed("Not used: z (as x).", x="helps", z="not used")
    assert list(mistakes(table_of(twins={"z": "x"}), twin)) == []
    assert list(mistakes(table_of(twins={"z": "x"}), fine)) == ["z is not said to repeat x"]
    assert list(mistakes(table_of(), Reading(2, "", {}))) == ["refused"]
    assert list(mistakes(table_of(said=("twice",)), fine)) == ["'twice' is missing"]


@pytest.mark.parametrize(
    "text", ["9.9e+01", "+- 5.2e-15", "0.1  +- 0.000 helps", "x alone brings 108 % of all"]
)
def test_what_nobody_can_read_is_seen(text):
    assert len([*unreadable(text)]) == 1


def test_what_can_be_read_is_not_complained_of():
    assert [
        *unreadable("41.2 +- 3.1 helps; 0.000 +- <0.001; brings 80 % of; +- 0.05 ; 12e, e5")
    ] == []


def test_there_are_thirty_drawn_tables_and_thirty_real_ones():
    assert len(DRAWN) == len(REAL) == 30


@pytest.mark.parametrize("name", ["panel_of_nothing", "leak_copy"])
def test_a_reader_of_a_small_table_is_not_misled(name):
    truth = DRAWN[name](240, np.random.default_rng(1))
    assert list(mistakes(truth, run_on(truth))) == []


@pytest.mark.slow
def test_readers_of_sixty_small_tables_are_hardly_ever_misled(capsys):
    """The study itself in its small setting: 55 of 60 with all tables, of 240 rows each."""
    cells = [
        k for k, cell in enumerate(READING.cells) if cell["kind"] == "drawn" or is_there(NEEDED)
    ]
    rows = [row for cell in cells for row in READING.run(cell, 0, "quick")]
    wrong = [(row["table"], row["why"]) for row in rows if not row["right"]]
    assert len(wrong) <= len(rows) // 12, wrong
