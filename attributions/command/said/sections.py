"""All that is said of findings, in the order in which it is read."""

from attributions.command.judging.findings import Findings
from attributions.command.said.about_changes import about_changes
from attributions.command.said.cautions import cautions
from attributions.command.said.in_short import in_short
from attributions.command.said.next_steps import next_steps

IN_SHORT, CHANGED, NEXT, WARNINGS = "In short", "What changed", "What to do next", "Warnings"


def sections(found: Findings) -> dict[str, list[str]]:
    """Return the sentences by their heading; a section may be empty."""
    return {
        IN_SHORT: [*in_short(found)],
        CHANGED: [*about_changes(found)],
        NEXT: next_steps(found),
        WARNINGS: cautions(found),
    }
