"""Elements of HTML and SVG as text; whatever is not markup is escaped, so no text is trusted.

A name of a column may be ``<script>``, hold quotation marks, or letters that run from right to
left. It gets into the page as a plain string, and `element` escapes every string that is not
`Markup`. Characters that turn the direction of letters are shown as what they are, wherever they
come from (``attributions.names``).
"""

import json
import re
from collections.abc import Iterable
from html import escape
from typing import Any

from attributions.names import AS_WRITTEN, on_one_line, without_directions

AS_WRITTEN_IN_JSON = {code: "\\" + written for code, written in AS_WRITTEN.items()}
LONG_WORD = 18  # letters that do not fit beside other columns of a table on a phone


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, *children: Any, **attributes: Any) -> Markup:
    """Return an element; children that are no `Markup` are escaped.

    ``class_`` stands for ``class``, ``aria_label`` for ``aria-label``. Attributes that are None or
    False are left out, True is one without a value.
    """
    given = "".join(_attribute(name, value) for name, value in attributes.items())
    return Markup(f"<{tag}{given}>{join(*children)}</{tag}>")


def join(*children: Any) -> Markup:
    """Return children one after the other, None as nothing."""
    return Markup("".join(map(_escaped, children)))


def name(text: str) -> Markup:
    """Return a name as text; letters that run from right to left do not reorder what is beside it.

    It may break behind signs that join words, and anywhere if it has long words.
    """
    words = re.split(r"(?<=[_./ -])", on_one_line(text))
    is_long = max(map(len, words)) > LONG_WORD
    pieces = [piece for word in words for piece in (Markup("<wbr>"), word)][1:]
    return element("bdi", *pieces, class_="long" if is_long else None)


def with_options(text: str, arguments: Iterable[str]) -> Markup:
    """Return a sentence in which options are code, each with its argument, to be copied whole.

    ``arguments`` are those that options may have: whatever else follows belongs to the sentence.
    """
    known = "|".join(map(re.escape, sorted(arguments, key=len, reverse=True)))
    pieces = re.split(rf"(?<![\w-])(--[a-z]+(?:-[a-z]+)*(?: (?:{known})(?!\w))?)", text)
    return join(*(element("code", p) if k % 2 else p for k, p in enumerate(pieces)))


def data(identifier: str, content: Any) -> Markup:
    """Return data for the page's script: JSON in which no letter can end the element."""
    seen = json.dumps(content, ensure_ascii=False).translate(AS_WRITTEN_IN_JSON)
    text = json.dumps(json.loads(seen), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(f'<script type="application/json" id="{identifier}">{text}</script>')


def _escaped(child: Any) -> str:
    if child is None:
        return ""
    return child if isinstance(child, Markup) else escape(without_directions(str(child)))


def _attribute(key: str, value: Any) -> str:
    """Return an attribute with the blank before it."""
    if value is None or value is False:
        return ""
    key = key.rstrip("_").replace("_", "-")
    return f" {key}" if value is True else f' {key}="{escape(without_directions(str(value)))}"'
