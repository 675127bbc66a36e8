"""What must be true of the site that was built: ``python -m tests.site docs/_build/html``.

Every link to another page, part of a page, picture or program leads somewhere; no page fetches
anything from the web, so that the site can be read from disk; and the search has words that readers
look for.
"""

import json
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

WANTED = {"tree_inner": "tree_inn", "noise": "nois", "categories": "categori"}  # word, its stem
FETCHING = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src")}
SAID = {"canonical", "author", "license", "help"}  # relations that a browser does not fetch


class Page(HTMLParser):
    """The links of one page, the names of its parts, and what it fetches from the web."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.parts: set[str] = set()
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Note one element."""
        named = {name: value or "" for name, value in attributes}
        self.parts.update(named[name] for name in ("id", "name") if name in named)
        for attribute in {"href", "src"} & named.keys():
            address = named[attribute]
            if not urlsplit(address).netloc and not urlsplit(address).scheme:
                self.links.append(address)
            elif (tag, attribute) in FETCHING and not (
                named.get("rel") in SAID or address.startswith("data:")
            ):
                self.fetched.append(address)


def pages_of(folder: Path) -> list[Path]:
    """Return the pages of a site; templates of the theme lie in ``_static`` and are none."""
    return [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]


def faults(folder: Path) -> list[str]:
    """Return what is wrong with a site, in words."""
    pages = {path: Page(path.read_text()) for path in pages_of(folder)}
    found = [] if pages else [f"{folder} has no pages"]
    for path, page in pages.items():
        name = path.relative_to(folder)
        found += [f"{name} fetches {address}" for address in page.fetched]
        for link in page.links:
            split = urlsplit(link)
            target = (path.parent / unquote(split.path)).resolve() if split.path else path
            if not target.exists():
                found.append(f"{name} links to {link}, which is not there")
            elif target in pages and unquote(split.fragment) not in {"", *pages[target].parts}:
                found.append(f"{name} links to {link}, a page without that part")
    return found + [f"the search does not know {word!r}" for word in unknown_words(folder)]


def unknown_words(folder: Path) -> list[str]:
    """Return the words that readers look for and the search does not have."""
    index = folder / "searchindex.js"
    if not index.exists():
        return list(WANTED)
    text = index.read_text()
    terms = json.loads(text[text.index("(") + 1 : text.rindex(")")])["terms"]
    return [word for word, stem in WANTED.items() if stem not in terms]


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]).resolve())
    sys.exit("\n".join(wrong) if wrong else 0)
