"""What the tests ask of a page without a browser: sound HTML, and that all can be read aloud."""

from html.parser import HTMLParser
from itertools import pairwise

VOID = {"br", "hr", "img", "input", "link", "meta", "wbr"}
NAMED_CONTROLS = {"input", "select"}


class Page(HTMLParser):
    """Reads a page; ``problems`` lists what is wrong with it.

    Attributes
    ----------
    problems : list of str
    elements : list of (tag, dict of attributes, list of the tags around it)
    text : str
        What is written outside of scripts and styles.
    """

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.problems, self.elements, self.text = [], [], ""
        self._open = []
        self.feed(source)
        self.close()
        self.problems += [f"<{tag}> is not closed" for tag in self._open]
        self._check()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if len(attributes) != len(attrs):
            self.problems.append(f"<{tag}> has an attribute twice")
        self.elements.append((tag, attributes, [*self._open]))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        if not self._open or self._open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self._open[-1:]} ({self.getpos()})")
        else:
            self._open.pop()

    def handle_data(self, data):
        if not {"script", "style"} & set(self._open):
            self.text += data

    def all(self, tag):
        """Return the attributes of all elements of a kind."""
        return [attributes for found, attributes, _ in self.elements if found == tag]

    def _check(self):
        ids = [a["id"] for _, a, _ in self.elements if "id" in a]
        self.problems += [f"id {i!r} is there twice" for i in set(ids) if ids.count(i) > 1]
        labels = {a.get("for") for a in self.all("label")}
        for tag, attributes, around in self.elements:
            self.problems += self._of_an_address(tag, attributes, ids)
            self.problems += self._of_what_is_read_aloud(tag, attributes, around, labels)
        if len(self.all("table")) != len(self.all("caption")):
            self.problems.append("a table has no caption")
        if not any("lang" in a for a in self.all("html")):
            self.problems.append("<html> names no language")
        levels = [int(tag[1]) for tag, _, _ in self.elements if tag in ("h1", "h2", "h3", "h4")]
        if levels.count(1) != 1 or any(b - a > 1 for a, b in pairwise(levels)):
            self.problems.append(f"headings leave a level out: {levels}")

    @staticmethod
    def _of_an_address(tag, attributes, ids):
        """Yield what leads nowhere, or out of the page, or runs."""
        inside = attributes.get("aria-labelledby")
        if attributes.get("href", "").startswith("#"):
            inside = attributes["href"][1:]
        if inside and inside not in ids:
            yield f"<{tag}> refers to {inside!r}, which is not there"
        if any(key.startswith("on") for key in attributes):
            yield f"<{tag}> has a script of its own: {attributes}"
        for key in ("src", "href", "action", "data"):
            if not attributes.get(key, "#").startswith(("#", "data:")):
                yield f"<{tag}> needs {attributes[key]}"

    @staticmethod
    def _of_what_is_read_aloud(tag, attributes, around, labels):
        """Yield what a screen reader could not say."""
        if tag in ("svg", "img") and attributes.get("aria-hidden") != "true":
            said = attributes.get("aria-label") or attributes.get("alt")
            if not said or (tag == "svg" and attributes.get("role") != "img"):
                yield f"<{tag}> has no text alternative"
        if tag in NAMED_CONTROLS and attributes.get("id") not in labels:
            yield f"<{tag}> {attributes} has no label"
        if tag == "th" and "scope" not in attributes:
            yield "<th> without scope"
        if tag == "caption" and around[-1] != "table":
            yield "<caption> outside of a table"
