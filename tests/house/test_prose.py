"""Pages and public docstrings keep to plain English: riddles that were mended do not come back.

Whether a sentence is clear only a reader can say. What can be looked for are phrases that readers
stumbled over, numbers that begin with a point, and American spelling, as the rest is British. Nor
do pages grow longer than somebody reads.
"""

import inspect
import re
from pathlib import Path

import pytest

import attributions
import gbt
from tests.house.words import prose, words_by_page

ROOT = Path(__file__).parents[2]
GENERATED = {"_build", "gallery", "generated"}
PAGES = [
    ROOT / "README.md",
    *sorted(path for path in ROOT.glob("docs/**/*.md") if not GENERATED & {*path.parts}),
]
EXAMPLES = sorted(ROOT.glob("docs/examples/*/*.py"))
PUBLIC = {
    f"{package.__name__}.{name}": getattr(package, name)
    for package in (gbt, attributions)
    for name in package.__all__
}

# What readers stumbled over, and what to say instead.
RIDDLES = {
    r"come(s)? for free": "without refitting",
    r"gain (importance )?lies": "gain misleads; which features really help",
    r"put(s)? them last": "the noise ranks last",
    r"chosen by rows that did not": "a less biased choice of splits",
    r"all rows to judge": "cross-validated importances",
    r"who is who": "group membership",
    r"come(s)? out again": "we reproduce",
    r"allow(s)? no verdict": "cannot be distinguished from zero",
    r"\bprais(e|es|ed)\b": "every used feature looks good",
    r"[Ww]hatever takes a model": "every function accepts fitted models",
    r"too little rather than too much": "is conservative",
    r"thereby noise": "this does not prove that it is noise",
    r"[Hh]ow fast, beside what": "benchmarks and how to reproduce them",
    r"saved of the loss|part in every boosting step": "how much it reduced the loss",
    r"\bask(s|ed)? (any |new |the |these |training )*rows\b": "is computed on rows",
    r"\bspeaks? of (this|the|one) (fitted )?model": "describes the model",
    r"\b(is|are) the one to use\b": "we recommend",
    r"\bmakes? what follows\b": "makes the tables below",
    r"\bon the average\b": "on average",
    r"\b[Oo]ne (number|fit|value|verdict|output|curve|point) an? "
    r"(row|feature|column|class|pair|model|table)\b": "one number per row",
    r"cannot be expressed": "unsupported models raise an error that names what is in the way",
    r"target(s)? (that we set ourselves|is reached|are reached)": "say what was measured",
}
BARE = r"(?<![\w.`/\\*$~)\]'\"])-?\.\d"  # .05, for 0.05 or 5 %
JOINED = r"[.:)] \* (?=[*A-Z`\[])"  # a list whose points were wrapped into one paragraph
AMERICAN = r"\b(behavior|favor|neighbor|center(ed)?|gray|analyze|color(ed|s)?)\b"
CODE = re.compile(
    r"^```.*?^```|^ {4}.*?$|^\|.*?$|`+[^`]*`+|\]\([^)]*\)|<[^>]*>", re.DOTALL | re.MULTILINE
)


def faults(text):
    """Return what a text says that it should not, outside of code, tables and addresses."""
    prose = CODE.sub(" ", text)
    joined = " ".join(prose.split())
    found = [match[0] for riddle in RIDDLES for match in re.finditer(riddle, joined)]
    # Line by line, because joined lines of a list look so, too.
    found += [match[0] for line in text.splitlines() for match in re.finditer(JOINED, line)]
    found += re.findall(rf"{BARE}\d*", joined)
    return found + [match[0] for match in re.finditer(AMERICAN, joined)]


def docstrings(thing):
    """Return the docstrings of a function, or of a class and its public members."""
    members = [thing]
    if inspect.isclass(thing):
        members += [member for name, member in vars(thing).items() if not name.startswith("_")]
    return [inspect.getdoc(member) or "" for member in members]


def said_in(example):
    """Return the docstring of a program and its comments."""
    text = example.read_text()
    first = re.findall(r'\A"""(.*?)"""', text, flags=re.DOTALL)
    return [*first, *re.findall(r"^# (.*)$", text, re.M)]


def test_nothing_that_is_read_has_riddles():
    """Pages, examples and public docstrings; of these only code between backticks is left out."""
    texts = {page: [page.read_text()] for page in PAGES}
    texts |= {example: said_in(example) for example in EXAMPLES}
    texts |= {name: map(inspect.cleandoc, docstrings(thing)) for name, thing in PUBLIC.items()}
    found = {where: [f for text in said for f in faults(text)] for where, said in texts.items()}
    assert {where: riddles for where, riddles in found.items() if riddles} == {}


@pytest.mark.parametrize(
    "text",
    [
        "Attributions come for free.", "p is below .05 there",
        "a neighbor", "one point of a list. * Another point",
    ],
)  # fmt: skip
def test_a_riddle_is_noticed(text):
    assert len(faults(f"Before. {text} And after, `alpha=.1`.")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "`x = .5`", "    x = .5", "```python\nx = .5\n```",
        "| .5 | .7 |", "0.05 or 5 %, tests/house/x.py",
    ],
)  # fmt: skip
def test_code_and_tables_are_no_prose(text):
    assert faults(f"Before.\n\n{text}\n") == []


LONGEST = {
    "attributions.md": 2_200,
    "held_out_gain.md": 2_470,
    "inference.md": 2_400,
    "local_mdi.md": 2_200,
}
MOST_WORDS = 42_000  # of all pages


def test_pages_are_short_enough_to_be_read():
    counted = words_by_page()
    assert {page: counted[page] for page in LONGEST if counted[page] > LONGEST[page]} == {}
    assert sum(counted.values()) <= MOST_WORDS


def test_words_of_prose_are_counted():
    page = "# Two words\n\nThree [more here](x.md#y), 42.\n\n| no | - |\n\n    none\n"
    assert prose(page) == 5
