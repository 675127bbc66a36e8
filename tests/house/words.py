"""How many words of prose each page has: ``python -m tests.house.words``.

Code, tables and addresses do not count, nor do ``docs/results``, whose pages are tables that
commands write, and pages that Sphinx makes.
"""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
NOT_READ = {"_build", "gallery", "generated", "results"}
NO_PROSE = re.compile(
    r"^```.*?^```|^:::.*?$|^<!--.*?-->$|^\|.*?$|^ {4}\S.*?$|\]\([^)]*\)", re.DOTALL | re.MULTILINE
)


def prose(text: str) -> int:
    """Count the words of a page that a reader has to read."""
    words = NO_PROSE.sub(" ", text).split()
    return sum(any(letter.isalpha() for letter in word) for word in words)


def words_by_page(folder: Path = DOCS) -> dict[str, int]:
    """Return the words of every page, by its name below the folder."""
    pages = [path.relative_to(folder) for path in sorted(folder.rglob("*.md"))]
    return {
        page.as_posix(): prose((folder / page).read_text())
        for page in pages
        if not NOT_READ & {*page.parts}
    }


if __name__ == "__main__":
    counted = words_by_page()
    for page, n in sorted(counted.items(), key=lambda item: -item[1]):
        print(f"{n:6,} {page}")  # noqa: T201
    print(f"{sum(counted.values()):6,} in all")  # noqa: T201
