"""What a reader who knows no statistics takes away from sixty tables, and whether it is so.

The command runs on each table as anybody runs it, and its text and its table of verdicts are read
for what such a reader concludes: which columns help, which hurt, which rows belong together, what
gives the answer away, what repeats another column. Each conclusion is held against what is known
of the table, and the text against what nobody can read: exponents, errors of 0, more than 100 %.
"""

import csv
import re
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from attributions.command.printed import FEATURES
from attributions.command.run import main
from benchmarks.papers.report.thirty_drawn import DRAWN
from benchmarks.papers.report.thirty_real import NEEDED, REAL
from benchmarks.papers.report.truths import Truth
from benchmarks.study import Part, crossed
from benchmarks.study.tables import count_of, listed

N_ROWS = {"full": 700, "quick": 240}
LEAK, GROUPS = "known at the time", "belong together"
UNREADABLE = {
    "an exponent": re.compile(r"\d[eE][+-]?\d{1,3}\b"),
    "an error of 0": re.compile(r"\+- 0(\.0*)?\s"),
    "more than all": re.compile(r"brings (\d{3,}) %"),
}
PAIR = re.compile(r"([^\s(,:][^(,:]*) \(as ([^)]+)\)")


@dataclass(frozen=True)
class Reading:
    """What the command printed, and its verdict on every feature."""

    exit_code: int
    text: str
    verdicts: dict[str, str]

    def told(self, verdict: str) -> list[str]:
        """Return the features with a verdict, as they are listed."""
        return [name for name, said in self.verdicts.items() if said == verdict]

    @property
    def sentences(self) -> list[str]:
        """The warnings, each on one line."""
        _, _, warnings = self.text.partition("\nWarnings\n")
        return [" ".join(part.split()) for part in re.split(r"\n  (?=\S)", "\n" + warnings)]

    def warned(self, sign: str) -> str:
        """Return the warnings with some words in them, or nothing."""
        return " ".join(s for s in self.sentences if sign in s)

    @property
    def on_one_line(self) -> str:
        """The text without its line breaks."""
        return " ".join(self.text.split())


def run_on(truth: Truth) -> Reading:
    """Write a table to a file, run the command on it and read what it says."""
    with tempfile.TemporaryDirectory() as name:
        folder, text = Path(name), StringIO()
        path = folder / "table.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=truth.separator)
            writer.writerow(truth.columns)
            writer.writerows(zip(*truth.columns.values(), strict=True))
        arguments = ["--data", str(path), "--target", truth.target, "--out", str(folder / "out")]
        with redirect_stdout(text), redirect_stderr(text):
            exit_code = main([*arguments, *truth.options])
        verdicts = {}
        if (results := folder / "out" / FEATURES).exists():
            with results.open(encoding="utf-8", newline="") as file:
                verdicts = {row["feature"]: row["verdict"] for row in csv.DictReader(file)}
    return Reading(exit_code, text.getvalue().replace(name, "a folder"), verdicts)


def mistakes(truth: Truth, reading: Reading) -> Iterator[str]:
    """Yield what a reader would take away wrongly, or would have to know and is not told."""
    if reading.exit_code or not reading.verdicts:
        yield "refused"
        return
    helps, hurts = reading.told("helps"), reading.told("hurts")
    yield from (f"{name} is said to help" for name in truth.noise if name in helps)
    if truth.matter and not set(truth.matter) & set(helps):
        yield f"of {', '.join(truth.matter)} none is said to help"
    yield from (f"{name} is said to hurt" for name in truth.matter if name in hurts)
    together = reading.warned(GROUPS)
    if truth.groups and f"'{truth.groups}'" not in together:
        yield f"{truth.groups} is not said to hold rows together"
    if not truth.groups and together and not any(f"'{n}'" in together for n in truth.may_group):
        yield "rows are said to belong together"
    leak = reading.warned(LEAK)
    if truth.leaks and not any(name in leak for name in truth.leaks):
        yield f"no warning of {' or '.join(truth.leaks)}"
    if not truth.leaks and leak and not truth.may_leak:
        yield "warned of a leak"
    pairs = {frozenset(pair) for pair in PAIR.findall(" ".join(reading.sentences))}
    yield from (
        f"{one} is not said to repeat {other}"
        for one, other in truth.twins.items()
        if frozenset((one, other)) not in pairs
    )
    yield from (f"{said!r} is missing" for said in truth.said if said not in reading.on_one_line)
    yield from unreadable(reading.text)


def unreadable(text: str) -> Iterator[str]:
    """Yield what no reader without statistics can make sense of."""
    for what, pattern in UNREADABLE.items():
        if found := pattern.search(text):
            yield f"{what}: {found.group()}"


def concluded(reading: Reading) -> str:
    """Say in one line what a reader takes away."""
    parts = [
        f"{verdict}: {', '.join(names)}"
        for verdict in ("helps", "hurts")
        if (names := reading.told(verdict))
    ] or ["no column is said to help or to hurt"]
    if "no better than the constant" in reading.on_one_line:
        parts.append("the model is worth nothing")
    if found := re.search(r"Rows with the same '([^']*)'", reading.warned(GROUPS)):
        parts.append(f"rows of one {found.group(1)} belong together")
    if reading.warned(LEAK):
        parts.append("the answer may be given away")
    if pairs := PAIR.findall(" ".join(reading.sentences)):
        parts.append("repeats: " + ", ".join(f"{one} as {other}" for one, other in pairs))
    return "; ".join(parts)


def experiment(cell, rng, size):
    """Run the command on one table and hold what is read against what is known."""
    truth = TABLES[cell["kind"]][cell["table"]](N_ROWS[size], rng)
    reading = run_on(truth)
    wrong = list(mistakes(truth, reading))
    said = {"what": truth.what, "concluded": concluded(reading)}
    yield {**said, "right": int(not wrong), "why": "; ".join(wrong)}


def table(rows) -> str:
    """Return how many tables are read rightly, and the ones that are not."""

    def cells(own):
        wrong = [f"{row['table']} ({row['why']})" for row in own if not row["right"]]
        return [count_of(own, "right"), "; ".join(wrong)]

    return listed(rows, ("kind",), ["tables", "read rightly", "read wrongly"], cells)


TABLES = {"drawn": DRAWN, "real": REAL}
CELLS = tuple(cell for kind, of in TABLES.items() for cell in crossed(kind=(kind,), table=of))
READING = Part("reading", CELLS, experiment, 1, table, needs=NEEDED)
