"""What a run of this study prints and writes beside the tables of its parts: gates, the picture."""

from benchmarks.papers.inference import gates
from benchmarks.papers.inference.parts import PARTS
from benchmarks.papers.inference.picture import draw
from benchmarks.study.command import Study, own_table
from benchmarks.study.files import DOCS

PICTURE = DOCS / "inference.svg"
PAPER = ("coverage", "tests")


def sections(parts, tables: dict[str, list[dict]]) -> dict[str, str]:
    """Return the tables of the page that the given parts can fill."""
    found = own_table(parts, tables)
    if "coverage" in tables:
        found["kurtosis"] = gates.kurtosis_table(tables)
    if set(PAPER) <= set(tables):
        found["gates"] = gates.gates_table(tables)
    return found


def verdict(tables: dict[str, list[dict]]) -> tuple[list[str], int]:
    """Return every gate with its margin, and 1 if one of them does not hold."""
    if not set(PAPER) <= set(tables):
        return [], 0
    found = gates.gates(tables)
    lines = [
        f"{gate.holds!s:5} margin {gate.margin:7.4f}  {gate.kind}: {gate.case}" for gate in found
    ]
    return lines, 0 if all(gate.holds for gate in found) else 1


def study(description: str) -> Study:
    """Return the study as the command line runs it."""
    return Study(
        "inference", description, PARTS, sections, verdict, lambda tables: draw(tables, PICTURE)
    )
