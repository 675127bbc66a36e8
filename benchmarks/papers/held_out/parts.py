"""All parts by name, in the order of the page."""

from benchmarks.papers.held_out import (
    censoring,
    coverage,
    dependence,
    nulls,
    pipelines,
    planted,
    power,
    queries,
    ranking,
)
from benchmarks.study.command import own_table
from benchmarks.study.part import Part

PARTS: dict[str, Part] = {
    part.name: part
    for part in (
        nulls.PART,
        planted.PART,
        coverage.PART,
        power.PART,
        power.SECONDS,
        dependence.PART,
        pipelines.PART,
        ranking.PART,
        censoring.PART,
        censoring.INTERVALS,
        censoring.OF_AFT,
        censoring.INTERVALS_OF_AFT,
        censoring.EXPOSURES,
        queries.PART,
    )
}


def sections(parts, tables: dict[str, list[dict]]) -> dict[str, str]:
    """Return the table of every part that was run, and what the nulls say over all losses."""
    found = own_table(parts, tables)
    if "nulls" in tables:
        found["nulls summary"] = nulls.summary_table(tables["nulls"])
    return found


def verdict(tables: dict[str, list[dict]]) -> tuple[list[str], int]:
    """Return the cells in which noise is found too often."""
    lines = nulls.missed(tables.get("nulls", []))
    return [f"noise found too often: {line}" for line in lines], 0
