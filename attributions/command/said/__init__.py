"""What is said of findings, sentence by sentence; the terminal and the page say the same.

`sections` lists all of it: ``in_short`` has the result, ``next_steps`` what to do, and ``cautions``
what to mistrust.
"""

from attributions.command.judging.findings import Findings
from attributions.command.said.cautions import cautions
from attributions.command.said.in_short import changes, in_short
from attributions.command.said.next_steps import next_steps

IN_SHORT, CHANGED, NEXT, WARNINGS = "In short", "What changed", "What to do next", "Warnings"


def sections(found: Findings) -> dict[str, list[str]]:
    """Return the sentences by their heading, in the order of reading; a section may be empty."""
    return {
        IN_SHORT: [*in_short(found)],
        CHANGED: [*changes(found)],
        NEXT: next_steps(found),
        WARNINGS: cautions(found),
    }
