r"""Names of features and rows: which number a name stands for, and how it is printed.

A name is any text. It is written on one line, since a line break or a control character would tear
the table or the picture in which it stands. Characters that turn the direction of letters are
written by their codes, such as ``\u202e``: unseen, they would make one name look like another,
and reorder what stands beside it. Everything else is written as it is.
"""

import re
import unicodedata
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from attributions.options import whole_number
from gbt.tables.names import counted, shown, without_blanks

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
N_NAMED = 5  # names that an error lists
NAME_WIDTH = 32  # columns that a name takes in a sentence or a line of numbers
SIGNS = "<\N{LESS-THAN OR EQUAL TO}= ~$\N{GREATER-THAN OR EQUAL TO}>"  # in their order
NUMBER = r"((?:^-)?\d+(?:,\d{3})*(?:\.\d+)?)"
# Marks, embeddings and overrides, isolates (Unicode Standard Annex 9, section 2).
DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
AS_WRITTEN = {code: f"\\u{code:04x}" for code in DIRECTIONS}


class UnknownFeatureError(KeyError, ValueError):
    """A name that no feature has; the message names the nearest."""

    __str__ = Exception.__str__  # KeyError would show the message in quotes


def find_feature(name: str, feature_names: Sequence[str]) -> int:
    """Return the number of the feature called ``name``; the error for an unknown name is a hint."""
    if not isinstance(name, str):
        raise UnknownFeatureError(
            f"Features are asked for by name; got {shown(name)}. Take columns by number from"
            " values."
        )
    found = [k for k, known in enumerate(feature_names) if known == name]
    if not found:  # a name of the table, where only LightGBM's are known, or the other way round
        short = without_blanks([name])
        found = [k for k, own in enumerate(feature_names) if without_blanks([own]) == short]
    if len(found) == 1:
        return found[0]
    if found:
        raise UnknownFeatureError(
            f"{len(found)} features are called {name!r}, the columns {found}; take yours from"
            " values by its number."
        )
    by_spelling = {known.casefold(): known for known in reversed(feature_names)}
    near = get_close_matches(name.casefold(), by_spelling, n=1)
    meant = f"; did you mean {by_spelling[near[0]]!r}?" if near else "."
    listed = first_of([*map(repr, feature_names)], N_NAMED)
    raise UnknownFeatureError(f"No feature is called {name!r}{meant} There are {listed}.")


def find_pair(names: Any, feature_names: Sequence[str]) -> list[int]:
    """Return the numbers of two features, given by their names."""
    if not (isinstance(names, tuple) and len(names) == 2):
        raise ValueError(f"A pair is asked for by two names; got {shown(names)}.")
    return [find_feature(name, feature_names) for name in names]


def first_of(texts: Sequence[str], most: int) -> str:
    """List texts for a sentence: the first of many, and how many more there are."""
    more = f" and {len(texts) - most} more" * (len(texts) > most)
    return ", ".join(texts[:most]) + more


def first_difference(names: Sequence[str], others: Sequence[str]) -> str:
    """Say where two lists of feature names first differ."""
    if len(names) != len(others):
        return f"{len(names)} and the other {len(others)}"
    k = next(k for k in range(len(names)) if names[k] != others[k])
    return f"{names[k]!r} as feature {k} and the other {others[k]!r}"


def find_row(row: Any, n_rows: int, index: Any = None) -> int:
    """Return the number of the row that a result calls ``row``.

    Rows of a frame are called by the labels of its index, as in ``frame.loc``: 362 is the row whose
    label is 362, wherever it stands. Rows without labels are called by their numbers.
    """
    return row_of_number(row, n_rows) if index is None else row_of_label(row, list(index))


def row_of_number(row: Any, n_rows: int) -> int:
    """Return the number of a row from 0, for one that may be counted from the end."""
    number = whole_number(row)
    if number is None:
        raise ValueError(
            f"row={shown(row)}, but the rows that were explained have no labels, which those of a"
            f" pandas frame have; give a row's number, 0 to {n_rows - 1}."
        )
    if not -n_rows <= number < n_rows:
        raise ValueError(
            f"row={row}, but the attribution has {counted(n_rows, 'row')}: 0 to {n_rows - 1}, or"
            f" {-n_rows} to -1 from the end."
        )
    return number % n_rows


def row_of_label(row: Any, labels: list[Any]) -> int:
    """Return the number of the row that has a label; an unknown or repeated one is refused."""
    is_text = isinstance(row, str)  # which labels are written like, or else equal to
    found = [i for i, own in enumerate(labels) if (str(own) if is_text else own) == row]
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError(
            f"row={row!r} is the label of {len(found)} rows. Explain them under labels of their"
            " own: X.reset_index(drop=True) calls them 0, 1, 2, ..."
        )
    first = ", ".join(map(repr, labels[:N_NAMED]))
    message = f"row={row!r}, but no row has this label; the first labels are {first}."
    if isinstance(row, int) and -len(labels) <= row < len(labels):
        message += f" (Labels are meant, not positions: X.index[{row}] is {labels[row]!r}.)"
    raise ValueError(message)


def on_one_line(name: Any) -> str:
    """Return a name without what would break its line: line breaks, tabs, control characters."""
    return "".join(map(_printed, without_directions(str(name))))


def without_directions(text: str) -> str:
    """Return a text with characters that turn the direction of letters made visible."""
    return text.translate(AS_WRITTEN)


def by_numbers(text: str) -> tuple:
    """Return by what a text is sorted among others: 2 is before 10, and < 10 before 10 to 49.

    Letters are compared with letters and numbers with numbers. Signs such as "<" before a number
    count at last.
    """
    bare = text.lstrip(SIGNS)
    pieces = re.split(NUMBER, bare)  # letters and numbers in turn
    pieces[1::2] = [float(piece.replace(",", "")) for piece in pieces[1::2]]
    return pieces, SIGNS.find(text[:1] if len(bare) < len(text) else "="), text


def elided(name: Any, width: int = NAME_WIDTH) -> str:
    """Return a name on one line of at most ``width`` columns, cut in the middle if need be."""
    text = on_one_line(name)
    if printed_width(text) <= width:
        return text
    kept = width - 1
    while printed_width(cut := cut_in_the_middle(text, kept)) > width and kept > 0:
        kept -= 1
    return cut


def cut_in_the_middle(text: str, n_kept: int, mark: str = ELLIPSIS) -> str:
    """Return ``n_kept`` characters of a text, from both ends, with a mark between them."""
    n_last = n_kept // 2
    return text[: n_kept - n_last] + mark + text[len(text) - n_last :]


def printed_width(text: str) -> int:
    """Return how many columns a text takes: two a Chinese character, none an accent."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def _printed(character: str) -> str:
    """Return a character, or what is printed in place of one that would break the line."""
    if character.isprintable() or unicodedata.category(character) == "Cf":  # Cf joins letters
        return character
    return " " if character.isspace() else character.encode("unicode_escape").decode()
