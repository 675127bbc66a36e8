"""How sentences name features and columns: on one line, the first of many, fit for a shell."""

import shlex
from collections.abc import Sequence
from textwrap import TextWrapper

from attributions.names import cut_in_the_middle, elided, on_one_line

N_NAMED = 8
NAME_WIDTH = 40
WIDTH = 100  # of a line in the terminal
ABOVE_100 = (
    "A gain above 100 % is no mistake: each tree is credited by the slope of the loss, and slopes"
    " add up to more than the loss that they save together. Compare features with each other."
)


def shown_names(names: Sequence[str]) -> str:
    """Return names for a sentence, the first of many; long ones without their middle."""
    names = [on_one_line(name) for name in names]
    shown = [n if len(n) <= NAME_WIDTH else cut_in_the_middle(n, NAME_WIDTH - 1) for n in names]
    more = f" and {len(shown) - N_NAMED} more" * (len(shown) > N_NAMED)
    return ", ".join(shown[:N_NAMED]) + more


def elided_apart(names: Sequence[str]) -> list[str]:
    """Return names cut to the width of a table's column; those that would be alike stay whole."""
    cut = [elided(name) for name in names]
    whole = {text for text in cut if cut.count(text) > 1}
    return [on_one_line(n) if c in whole else c for n, c in zip(names, cut, strict=True)]


def option(name: str, column: str) -> str:
    """Return an option with a column's name as a shell takes it."""
    return f"{name} {shlex.quote(on_one_line(column))}"


def lines_of(text: str, first: str = "", others: str = "") -> list[str]:
    """Return a text as lines of the terminal; options and names are not cut at their hyphens."""
    wrapper = TextWrapper(
        WIDTH, initial_indent=first, subsequent_indent=others, break_on_hyphens=False
    )
    return wrapper.wrap(text)
