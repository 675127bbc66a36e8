"""All parts by name, in the order of the page."""

from benchmarks.papers.inference import (
    crossed,
    dependence,
    few_rows,
    gates,
    guard,
    nulls,
    paper,
    real,
    selector_cuts,
    shadows,
    training_rows,
)
from benchmarks.papers.inference.paper import SETTINGS
from benchmarks.study.part import NumberedPart, Part

COVERAGE = NumberedPart(
    "coverage",
    tuple({"setting": setting.name} for setting in SETTINGS),
    paper.coverage_of_model,
    1,
    lambda rows: gates.coverage_table({"coverage": rows}),
)
TESTS = NumberedPart(
    "tests",
    tuple({"setting": setting.name} for setting in SETTINGS if setting.is_gated),
    paper.tests_of_data_set,
    80,
    lambda rows: gates.tests_table({"tests": rows}),
)
PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        COVERAGE,
        TESTS,
        guard.PART,
        guard.OTHER,
        nulls.PART,
        real.PART,
        dependence.COPIES,
        dependence.ROWS,
        crossed.PART,
        crossed.ELSEWHERE,
        shadows.SIMULATED,
        shadows.REAL,
        few_rows.PART,
        training_rows.PART,
        selector_cuts.PART,
    )
}
